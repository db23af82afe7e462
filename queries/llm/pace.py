"""How fast a model is asked: requests at once, requests and tokens a minute."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graph_service.errors import InputError

_MINUTE_S = 60.0


@dataclass(slots=True)
class Slot:
    """One request's place in the minute; ``tokens`` is an estimate until ``charge``."""

    moment: float
    tokens: int

    def charge(self, tokens: int, /) -> None:
        """Puts the tokens that the request really took in the place of the estimate."""
        self.tokens = tokens


class Pace:
    """Holds requests back so that an endpoint's limits are kept. Safe between threads.

    The minute slides: what was sent in the last 60 seconds counts. A request that alone is
    larger than the tokens of a minute is sent once nothing else counts.

    Args:
        concurrency: Requests at once at most; None for no limit.
        requests_a_minute: At most; None for no limit.
        tokens_a_minute: Of requests and replies, at most; None for no limit.
        clock: Seconds that only rise.
        sleep: Waits some seconds.
    """

    def __init__(
        self,
        *,
        concurrency: int | None = None,
        requests_a_minute: int | None = None,
        tokens_a_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        for name, value in (
            ("concurrency", concurrency),
            ("requests_a_minute", requests_a_minute),
            ("tokens_a_minute", tokens_a_minute),
        ):
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, got {value}", argument=name)
        self._slots = threading.BoundedSemaphore(concurrency) if concurrency else None
        self._requests = requests_a_minute
        self._tokens = tokens_a_minute
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._sent: deque[Slot] = deque()
        self._not_before = float("-inf")

    def hold(self, seconds: float, /) -> None:
        """Sends nothing more for some seconds: an endpoint that is overrun asked for it."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)

    @contextlib.contextmanager
    def slot(self, tokens: int, /) -> Iterator[Slot]:
        """Waits for a place, and keeps it while the request is under way.

        Args:
            tokens: What the request and its reply may take.
        """
        if self._slots is not None:
            self._slots.acquire()
        try:
            while True:
                wait, taken = self._take(tokens)
                if taken is not None:
                    break
                self._sleep(wait)
            yield taken
        finally:
            if self._slots is not None:
                self._slots.release()

    def _take(self, tokens: int) -> tuple[float, Slot | None]:
        with self._lock:
            now = self._clock()
            while self._sent and self._sent[0].moment <= now - _MINUTE_S:
                self._sent.popleft()
            if now < self._not_before:
                return self._not_before - now, None
            many = self._requests is not None and len(self._sent) >= self._requests
            used = sum(slot.tokens for slot in self._sent)
            much = self._tokens is not None and bool(self._sent) and used + tokens > self._tokens
            if many or much:
                return max(self._sent[0].moment + _MINUTE_S - now, 0.001), None
            slot = Slot(now, tokens)
            # Without limits nothing needs to be remembered, however long the run.
            if self._requests is not None or self._tokens is not None:
                self._sent.append(slot)
            return 0.0, slot
