"""A server that is asked again: where it refuses for a while, or does not answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from graph_service.client.errors import error_of
from graph_service.client.transport import Transport
from graph_service.errors import DeadlineError, GraphServiceError, StoreUnavailableError

FIRST_WAIT_S = 0.5
MAX_WAIT_S = 30.0
"""The longest wait between two tries, where the server asks for none."""


class RetryingTransport:
    """Carries operations that only read, and carries them again while a server can't answer.

    It waits as long as the server asks (``Retry-After``), else half a second, doubled each time.
    Safe to use from several threads.

    Args:
        inner: Carries one operation.
        retry_window_s: For how long one operation is asked again, in seconds.
        say: Told why it waits, once until an operation succeeds.
        sleep, clock: Those of ``time``.
    """

    def __init__(
        self,
        inner: Transport,
        /,
        *,
        retry_window_s: float,
        say: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._retry_window_s = retry_window_s
        self._say = say
        self._sleep = sleep
        self._clock = clock
        self._lock = threading.Lock()
        self._is_reported = False

    def send(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        """Returns the response of the first try that the server does not refuse for a while.

        Raises:
            GraphServiceError: The server can't be reached, or asks to wait, for longer than the
                retry window lasts; the hint says what to do.
        """
        until = self._clock() + self._retry_window_s
        wait = FIRST_WAIT_S
        while True:
            try:
                response = self._inner.send(document, variables)
                error = _transient_error(response)
            except (StoreUnavailableError, DeadlineError) as unanswered:
                error = unanswered
            if error is None:
                self._is_reported = False
                return response
            retry_after_s = error.retry_after_s
            left = until - self._clock()
            if left <= 0 or (retry_after_s is not None and retry_after_s > left):
                raise _final_error(error, self._retry_window_s) from error
            self._tell(error, left)
            self._sleep(min(wait if retry_after_s is None else retry_after_s, left))
            wait = min(2 * wait, MAX_WAIT_S)

    def _tell(self, error: GraphServiceError, left: float) -> None:
        with self._lock:
            if not self._is_reported:
                self._is_reported = True
                self._say(f"{error.message}; asking again for up to {left:.0f} s")

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        """Does the same without blocking the event loop; nothing here asks so."""
        return await self._inner.send_async(document, variables)

    def close(self) -> None:
        """Closes the connections to the server."""
        self._inner.close()

    async def close_async(self) -> None:
        """Does the same inside an event loop."""
        await self._inner.close_async()


def _transient_error(response: Mapping[str, Any]) -> GraphServiceError | None:
    """The error of a response that may be another one later; None for any other response."""
    errors = response.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    if not isinstance(first, Mapping):
        return None
    error = error_of(str(first.get("message", "")), first.get("extensions") or {})
    return error if error.retryable or error.retry_after_s is not None else None


def _final_error(error: GraphServiceError, retry_window_s: float) -> GraphServiceError:
    final = type(error)(
        f"{error.message} (asked again for {retry_window_s:g} s)",
        argument=error.argument,
        hint="What was answered is written. Once the server answers, run the same command: it "
        "goes on. --patience SECONDS waits longer.",
    )
    final.retryable = True
    return final
