"""The time that the stages of an operation take."""

from __future__ import annotations

import time
from collections.abc import Mapping

from graph_service.observation import TOTAL, note_stages


class Stopwatch:
    """Milliseconds by stage, counted from its making on."""

    def __init__(self) -> None:
        self._started = self._at = time.perf_counter()
        self._stages: dict[str, float] = {}

    def stage(self, name: str, /) -> None:
        """Books the time since the last stage ended."""
        now = time.perf_counter()
        self._stages[name] = 1000 * (now - self._at)
        self._at = now

    def skip(self) -> None:
        """Leaves out the time since the last stage ended."""
        now = time.perf_counter()
        self._started += now - self._at
        self._at = now

    def stages(self, timings_ms: Mapping[str, float], /) -> None:
        """Books stages that were measured elsewhere since the last one ended."""
        self._stages.update(timings_ms)
        self._at = time.perf_counter()

    def finish(self) -> dict[str, float]:
        """Returns all stages, and ``total``; the operation under way notes them."""
        timings_ms = {**self._stages, TOTAL: 1000 * (time.perf_counter() - self._started)}
        note_stages(timings_ms)
        return timings_ms
