"""Deadlines, and what was cut because of a limit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from graph_service.errors import DeadlineError


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment after which work gives up; ``Deadline.none()`` never comes.

    Attributes:
        at: ``time.monotonic()`` of the moment, in seconds; None for never.
    """

    at: float | None = None

    @classmethod
    def after(cls, seconds: float, /) -> Deadline:
        """Returns the moment ``seconds`` from now."""
        return cls(time.monotonic() + seconds)

    @classmethod
    def none(cls) -> Deadline:
        """Returns a deadline that never comes."""
        return cls(None)

    def left(self) -> float:
        """Returns the seconds left, 0.0 when past, infinity for none."""
        return float("inf") if self.at is None else max(0.0, self.at - time.monotonic())

    def passed(self) -> bool:
        """Returns whether the moment is past."""
        return self.at is not None and time.monotonic() >= self.at

    def check(self, what: str, /) -> None:
        """Raises ``DeadlineError`` naming the stage, if the moment is past."""
        if self.passed():
            raise DeadlineError(
                f"the time allowed ran out while {what}",
                hint="Ask for fewer hops or edges, or raise the time limit.",
            )


class CutReason(StrEnum):
    """Why something was left out.

    ``DUPLICATE``: what stayed says the same, in a language asked for or of the same entity.
    ``PARALLEL``: under preset ``okgqa`` one statement of each head and value stays.
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


@dataclass(frozen=True, slots=True)
class Cut:
    """Something that a limit left out.

    Attributes:
        what: ``edges``, ``nodes``, ``hubs``, ``embedded``, ``items``, ``paths``, ``statements``,
            ``entities``.
        limit: The limit that was met.
        kept: How many stayed.
        total: How many there were, where known.
    """

    what: str
    reason: CutReason
    limit: float
    kept: int
    total: int | None = None
