"""A deadline that counts: how often it is looked at, and how much is done between two looks."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from graph_service.errors import DeadlineError
from graph_service.model.limits import Deadline


class CountedDeadline(Deadline):
    """Comes at its n-th look, whatever the clock says, and counts calls between looks.

    Calls are those of functions, Python's and C's: as many on every machine. What one call of
    numpy does over arrays counts as one.

    Attributes:
        looks: How often it was looked at.
        most: Most calls between two looks; ``watched`` counts them.
        where: After which look that was: what was said there.
    """

    looks: int
    most: int
    where: str

    def __init__(self, comes_at: int | None = None) -> None:
        super().__init__()
        for name, value in (
            ("comes_at", comes_at), ("looks", 0), ("most", 0), ("where", ""), ("calls", 0),
            ("since", "the beginning"), ("paused", False),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def passed(self) -> bool:
        """Counts a look; True from the n-th on."""
        return self._look("a look without a name")

    def check(self, what: str, /) -> None:
        """Counts a look; raises from the n-th on."""
        if self._look(what):
            raise DeadlineError(what)

    def _look(self, what: str) -> bool:
        found = self.__dict__
        # The message of the error names the work: "walking the graph".
        assert re.match("[a-z]", what), what
        if found["calls"] > found["most"]:
            found["most"], found["where"] = found["calls"], f"{found['since']} .. {what}"
        found["calls"], found["since"] = 0, what
        found["looks"] += 1
        return found["comes_at"] is not None and found["looks"] >= found["comes_at"]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Counts calls in its block, the last ones too."""
        found = self.__dict__

        def count(frame: FrameType, event: str, argument: object) -> None:
            if event in ("call", "c_call") and not found["paused"]:
                found["calls"] += 1

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            yield
        finally:
            sys.setprofile(before)
            self._look("the end")
            found["looks"] -= 1

    @contextmanager
    def not_counted(self) -> Iterator[None]:
        """Leaves out the calls of its block: of what has limits of its own."""
        self.__dict__["paused"] = True
        try:
            yield
        finally:
            self.__dict__["paused"] = False
