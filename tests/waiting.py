"""Waiting for what a test means, on a machine however busy.

No test may pass or fail by the clock: it waits for an event, or until a condition holds. Whatever
has a time limit in a test has ``PATIENCE_S``, so that only what hangs meets it.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable

import httpx

from graph_service.model.limits import Deadline
from graph_service.settings import Settings

PATIENCE_S = 600.0
"""Far longer than anything takes that a test waits for, on a machine twenty times as busy."""


def wait_until(holds: Callable[[], object], /, *, message: str = "") -> None:
    """Waits until something holds.

    Raises:
        AssertionError: It does not within ``PATIENCE_S``.
    """
    limit = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < limit, message or f"it does not hold within {PATIENCE_S:g} s"
        time.sleep(0.01)


def be_patient_over_http() -> None:
    """Lets calls of httpx that name no time limit wait for ``PATIENCE_S``, not for 5 s."""
    default = inspect.signature(httpx.get).parameters["timeout"].default
    for part in ("connect", "read", "write", "pool"):
        setattr(default, part, PATIENCE_S)


def be_patient_with_queries() -> None:
    """Lets queries of this process that have the default time limit take ``PATIENCE_S``."""
    default_s = Settings().read_timeout_s
    after = Deadline.after

    def patient(seconds: float, /) -> Deadline:
        return after(PATIENCE_S if seconds == default_s else seconds)

    Deadline.after = patient  # type: ignore[method-assign]
