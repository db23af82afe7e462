"""What is noted of one operation while it runs, for the log, the metrics and the traces.

Whoever runs an operation begins an observation in its thread. What does the work notes there what
it does, and knows nothing of who reads that. Without an observation nothing is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

TOTAL = "total"
"""The stage that is the sum of the others."""


@dataclass(slots=True, eq=False)
class Observation:
    """What is known of one operation.

    Attributes:
        type: ``query`` or ``mutation``; "" as long as the document was not read.
        fields: Names of the root fields that are asked for, each once, as the schema has them.
        editions: Editions of graphs that were read or written, each once.
        stages: Each stage of each retrieval, and the milliseconds that it took.
        on_stages: Called with the stages of a retrieval when it ends; None if nobody asks.
    """

    type: str = ""
    fields: tuple[str, ...] = ()
    editions: dict[str, None] = field(default_factory=dict)
    stages: list[tuple[str, float]] = field(default_factory=list)
    on_stages: Callable[[Mapping[str, float]], None] | None = None

    def stages_ms(self) -> dict[str, float]:
        """Returns the milliseconds of each stage, over all retrievals of the operation."""
        sums: dict[str, float] = {}
        for name, ms in self.stages:
            sums[name] = sums.get(name, 0.0) + ms
        return sums


_current: ContextVar[Observation | None] = ContextVar("observation", default=None)


@contextmanager
def observed(observation: Observation, /) -> Iterator[Observation]:
    """Lets what this thread does in the block be noted."""
    token = _current.set(observation)
    try:
        yield observation
    finally:
        _current.reset(token)


def note_operation(type_: str, fields: tuple[str, ...], /) -> None:
    """Notes what kind of operation it is; see ``Observation``."""
    observation = _current.get()
    if observation is not None:
        observation.type, observation.fields = type_, fields


def note_edition(edition: str, /) -> None:
    """Notes an edition that is read or written."""
    observation = _current.get()
    if observation is not None:
        observation.editions[edition] = None


def note_stages(timings_ms: Mapping[str, float], /) -> None:
    """Notes the stages of one retrieval, in the order in which they were done."""
    observation = _current.get()
    if observation is None:
        return
    observation.stages.extend((name, ms) for name, ms in timings_ms.items() if name != TOTAL)
    if observation.on_stages is not None:
        observation.on_stages(timings_ms)
