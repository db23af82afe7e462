"""A clock that a test sets forward: a time limit is over when the test says so, and at once."""

from __future__ import annotations

import time


class JumpingClock:
    """Stands in for the module ``time`` where a module of ours asks for the monotonic clock."""

    sleep = staticmethod(time.sleep)

    def __init__(self) -> None:
        self._ahead_s = 0.0

    def monotonic(self) -> float:
        """Returns the moment, seconds."""
        return time.monotonic() + self._ahead_s

    def jump(self, seconds: float = 1e6) -> None:
        """Sets the clock forward."""
        self._ahead_s += seconds
