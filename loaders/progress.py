"""How far a load is: told at most ten times a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

PROGRESS_INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is.

    Attributes:
        done: Bytes taken from disk, of all files so far; articles, of page views that are
            fetched.
        total: Of all that is read; 0 where that is not known, as of a pipe.
        counts: What was read so far, by kind: ``statements``, ``entities``, ``documents``,
            ``passages``.
        rejected: Pieces that could not be read.
        seconds: Since this run began.
        file: The file that is read; ``format`` its format.
        line: Line reached in the file; ``note`` is where a source without lines stands.
    """

    done: int
    total: int
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    rejected: int = 0
    file: str = ""
    format: str = ""
    line: int = 0
    note: str = ""


class SizedFile(Protocol):
    """A file of a source."""

    @property
    def size(self) -> int:
        """Bytes on disk, 0 for a pipe."""


class Counts(Protocol):
    """What a load has counted so far."""

    rejected: int

    def read(self) -> Mapping[str, int]:
        """Returns how much was read, by kind."""


class ProgressReporter:
    """Reports how far one run of a load is.

    Args:
        report: Called with each report; None for no reports.
        files: What is read, in order.
        counts: What is counted.
    """

    def __init__(
        self,
        report: Callable[[Progress], None] | None,
        files: Sequence[SizedFile],
        counts: Counts,
        /,
    ) -> None:
        self._report = report
        self._files = files
        self._counts = counts
        self._began = time.monotonic()
        self._reported_at = 0.0
        self._total = total_bytes(files) if all(file.size for file in files) else 0

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return time.monotonic() - self._began

    def show(
        self, index: int, done: int, /, *, file: str, format_: str, line: int = 0, note: str = ""
    ) -> None:
        """Reports how far a file is, unless a report was made just now.

        Args:
            index: Of the file, among the load's.
            done: Bytes of it that are read.
            file: Its name.
            format_: Its format.
            line: The line reached.
            note: Where a source without lines stands.
        """
        if self._report is None:
            return
        now = time.monotonic()
        if now - self._reported_at < PROGRESS_INTERVAL_S:
            return
        self._reported_at = now
        self._report(
            Progress(
                done=total_bytes(self._files[:index]) + done,
                total=self._total,
                seconds=now - self._began,
                counts=self._counts.read(),
                rejected=self._counts.rejected,
                file=file,
                format=format_,
                line=line,
                note=note,
            )
        )


def total_bytes(files: Sequence[SizedFile], /) -> int:
    """Returns the bytes that files have on disk."""
    return sum(file.size for file in files)
