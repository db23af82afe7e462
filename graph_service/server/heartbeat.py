"""Whether a process makes progress: its event loop beats, and another process looks.

A process that is stopped or stuck does not beat. Nor does one that gets no processor, as on a
machine that is far too busy, or whose memory is on a disk. So silence is measured in time that the
process could have used: all of it where none of its threads wants a processor, else the
processor time that it got.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BEAT_S = 0.5
"""How often an event loop beats."""
LOOK_S = 1.0
"""How often the other process looks."""
SILENT_S = 3.0
"""A process that is silent for so long gets no new connections."""

_WAITS_FOR_MACHINE = frozenset("RD")
"""States of a thread that wants a processor or a disk."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What a process does.

    Attributes:
        wants_machine: Whether a thread of it runs, or waits for a processor or a disk.
        processor_s: Processor time that it has used.
    """

    wants_machine: bool
    processor_s: float


def activity_of(pid: int, /) -> Activity | None:
    """Returns what a process does; None where the system does not say, or it has ended."""
    folder = Path(f"/proc/{pid}")
    try:
        states = {_fields(path / "stat")[0] for path in (folder / "task").iterdir()}
        fields = _fields(folder / "stat")
    except OSError:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return Activity(not states.isdisjoint(_WAITS_FOR_MACHINE), ticks / os.sysconf("SC_CLK_TCK"))


def _fields(path: Path) -> list[str]:
    """Returns the fields of a ``stat`` file behind the name, which may hold anything."""
    return path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


class Pulse:
    """The silence of one process, as another sees it.

    Args:
        pid: Of the process.
        look: Returns what the process does.
    """

    def __init__(
        self, pid: int, /, *, look: Callable[[int], Activity | None] = activity_of
    ) -> None:
        self._pid = pid
        self._look = look
        self._beats: int | None = None
        self._before: Activity | None = None
        self.silent_s = 0.0
        """Seconds since its last beat that it could have used."""

    @property
    def is_silent(self) -> bool:
        """Whether it should get no new connections."""
        return self.silent_s >= SILENT_S

    def feel(self, beats: int, /) -> None:
        """Notes the count of its beats, ``LOOK_S`` after the time before."""
        if beats != self._beats:
            self._beats, self._before, self.silent_s = beats, None, 0.0
            return
        now, before = self._look(self._pid), self._before
        self._before = now
        if now is None or not now.wants_machine:
            self.silent_s += LOOK_S
        elif before is not None:
            self.silent_s += min(LOOK_S, now.processor_s - before.processor_s)
