"""Deadlines, and what was cut because of a limit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum, StrEnum

from graph_service.errors import DeadlineError


@dataclass(slots=True)
class Stop:
    """Whether nobody waits for some work any more, so that it may end; any thread may say so."""

    requested: bool = False


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment after which work gives up; ``Deadline.none()`` never comes.

    Attributes:
        at: ``time.monotonic()`` of the moment, in seconds; None for never.
        stop: Ends the work before that moment, where it is given.
        waited_s: Seconds of the time allowed that went by before the work began.
    """

    at: float | None = None
    stop: Stop | None = None
    waited_s: float = 0.0

    @classmethod
    def after(cls, seconds: float, /) -> Deadline:
        """Returns the moment ``seconds`` from now."""
        return cls(time.monotonic() + seconds)

    @classmethod
    def none(cls) -> Deadline:
        """Returns a deadline that never comes."""
        return cls(None)

    def left(self) -> float:
        """Returns the seconds left, 0.0 when past or stopped, infinity for none."""
        if self.stop is not None and self.stop.requested:
            return 0.0
        return float("inf") if self.at is None else max(0.0, self.at - time.monotonic())

    def passed(self) -> bool:
        """Returns whether the moment is past, or the work was stopped."""
        if self.stop is not None and self.stop.requested:
            return True
        return self.at is not None and time.monotonic() >= self.at

    def check(self, what: str, /) -> None:
        """Raises ``DeadlineError`` naming the stage, if the moment is past."""
        if not self.passed():
            return
        if self.stop is not None and self.stop.requested:
            raise DeadlineError(f"the query was given up while {what}")
        waited = f", {self.waited_s:.1f} s of it before the query began" if self.waited_s else ""
        raise DeadlineError(
            f"the time allowed ran out while {what}{waited}",
            hint=DeadlineError.read_hint,
        )


class CutReason(StrEnum):
    """Why something was left out.

    ``DUPLICATE``: what stayed says the same, in a language asked for or of the same entity.
    ``PARALLEL``: under preset ``okgqa`` one statement of each head and value stays.
    ``STORE_AWAY``: the store did not answer, and the result is from memory.
    """

    HUB = "hub"
    LIMIT = "limit"
    MASS = "mass"
    TOKEN_BUDGET = "token-budget"
    DEADLINE = "deadline"
    MIN_SCORE = "min-score"
    WORK_BUDGET = "work-budget"
    DUPLICATE = "duplicate"
    PARALLEL = "parallel"
    STORE_AWAY = "store-away"


class CutKind(Enum):
    """What a limit left out."""

    EDGES = "edges"
    NODES = "nodes"
    HUBS = "hubs"
    EMBEDDED = "embedded"
    ITEMS = "items"
    PATHS = "paths"
    STATEMENTS = "statements"
    ENTITIES = "entities"
    SEQUENCES = "sequences"
    PASSAGES = "passages"
    UPDATES = "updates"


@dataclass(frozen=True, slots=True)
class Cut:
    """Something that a limit left out.

    Attributes:
        what: Value of a ``CutKind``.
        limit: The limit that was met; of a result from memory its age, seconds.
        kept: How many stayed.
        total: How many there were, where known.
    """

    what: str
    reason: CutReason
    limit: float
    kept: int
    total: int | None = None

    def text(self) -> str:
        """Returns what a person is told.

        >>> Cut("items", CutReason.TOKEN_BUDGET, 500, 3, 12).text()
        'left out: 9 of 12 items (token budget 500)'
        >>> Cut("items", CutReason.LIMIT, 5, 5).text()
        'left out: items after the first 5 (limit 5)'
        >>> Cut("updates", CutReason.STORE_AWAY, 30.2, 0).text()
        'the store does not answer: answered from memory, as the store was 30.2 s before'
        """
        if self.reason is CutReason.STORE_AWAY:
            age = f"{self.limit:g} s before"
            return f"the store does not answer: answered from memory, as the store was {age}"
        why = f"{self.reason.value.replace('-', ' ')} {self.limit:g}"
        if self.total is None:
            return f"left out: {self.what} after the first {self.kept:,} ({why})"
        return f"left out: {self.total - self.kept:,} of {self.total:,} {self.what} ({why})"
