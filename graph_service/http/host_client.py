"""Pauses between requests, retries, and when to give up."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from graph_service.http.address import is_local, split_address, user_agent
from graph_service.http.cache import AnswerCache
from graph_service.http.faults import EndpointError, Fault, RequestFailedError, StoppedError

FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 1.0, 60.0
# So many failed requests without one that worked: it is the endpoint, not the requests.
FAILURES_IN_A_ROW = 12
# A host that never answered anything is not worth more.
ATTEMPTS_WHILE_UNREACHED = 2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """How a host is asked.

    Attributes:
        contact: A mail address or URL for the user agent.
        interval_s: Seconds between the end of a request and the next; None for 1, or for 0 where
            the host is this machine.
        timeout_s: Seconds, whole, that one request may take.
        max_attempts: How often a request is sent before it counts as failed.
        max_wait_s: The longest pause that is waited where the host asks for one.
        max_answer_bytes: Size limit of an answer, unpacked.
        max_total_bytes: Bytes of all answers together, as they came; None for no limit.
        max_total_s: Seconds of all requests together; None for no limit.
        cache_dir: Where answers are kept; None not to keep them.
        cache_days: How long they are good.
    """

    contact: str | None = None
    interval_s: float | None = None
    timeout_s: int = 70
    max_attempts: int = 5
    max_wait_s: float = 300.0
    max_answer_bytes: int = 1 << 28
    max_total_bytes: int | None = None
    max_total_s: float | None = None
    cache_dir: Path | None = None
    cache_days: float = 7.0


@dataclass(slots=True)
class Traffic:
    """What was exchanged so far."""

    requests: int = 0
    retries: int = 0
    from_cache: int = 0
    bytes_read: int = 0


class HostClient:
    """One host, asked one request at a time.

    Args:
        address: http or https.
        manners: Timeouts, pauses, contact, cache.
        stop: When set, waiting ends with ``StoppedError``.
        jitter: Gives a number from 0 to 1 for each pause.

    Raises:
        InputError: The address is no http address, or is Wikimedia's and no contact is given.
    """

    def __init__(
        self,
        address: str,
        /,
        *,
        manners: RequestPolicy,
        stop: threading.Event | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        self.parts = split_address(address)
        host = self.parts.hostname or ""
        self.address = address
        self.agent = user_agent(host, manners.contact)
        self.manners = manners
        self.traffic = Traffic()
        interval = manners.interval_s
        self._interval_s = (0.0 if is_local(host) else 1.0) if interval is None else interval
        self._stop = stop or threading.Event()
        self._jitter = jitter or random.Random().random
        self._ended_at: float | None = None
        self._failures = 0
        self._reached = False
        self._began_at = time.monotonic()
        self.cache: AnswerCache | None = None
        if manners.cache_dir is not None:
            self.cache = AnswerCache(
                manners.cache_dir, days=manners.cache_days, max_bytes=manners.max_answer_bytes
            )

    def go_on(self) -> None:
        """Raises ``StoppedError`` where the load was told to stop."""
        if self._stop.is_set():
            raise StoppedError

    def run(self, attempt: Callable[[], T | Fault], /) -> T:
        """Returns what an attempt gives, trying again where that may help.

        Raises:
            RequestFailedError: This request failed (time, size, an error of the server's).
            EndpointError: The endpoint refuses, is away or asks to come back much later.
            StoppedError: The load was stopped.
        """
        fault = Fault("", of_query=False)
        attempts = 1
        waited = 0.0
        while True:
            waited += self._pause(attempts, fault)
            self._check_totals()
            self.traffic.requests += 1
            result = attempt()
            self._ended_at = time.monotonic()
            if not isinstance(result, Fault):
                self._failures = 0
                self._reached = True
                return result
            fault = result
            self._reached = self._reached or not fault.unreachable
            if not (fault.patient and waited < self.manners.max_wait_s):
                attempts += 1
            most = self.manners.max_attempts
            if not self._reached:
                most = min(most, ATTEMPTS_WHILE_UNREACHED)
            if not fault.retry or attempts > most:
                break
        self._failures += 1
        if fault.of_query and self._failures < FAILURES_IN_A_ROW:
            raise RequestFailedError(fault.reason)
        hint = "What was read is kept: the same command goes on from there."
        if fault.unreachable and not self._reached:
            hint = self._way_out()
        raise EndpointError(
            f"{self.address} can't be read: {fault.reason}", argument="endpoint", hint=hint
        )

    def _check_totals(self) -> None:
        manners = self.manners
        most, longest = manners.max_total_bytes, manners.max_total_s
        problem = ""
        if most is not None and self.traffic.bytes_read >= most:
            problem = f"more than {most:,} bytes came in all (--max-bytes)"
        elif longest is not None and time.monotonic() - self._began_at >= longest:
            problem = f"it was asked for more than {longest:,.0f} seconds in all (--max-seconds)"
        if problem:
            raise EndpointError(
                f"{self.address} is not asked any more: {problem}",
                argument="endpoint",
                hint="What was read is kept: the same command goes on from there.",
            )

    def _way_out(self) -> str:
        name = "HTTPS_PROXY" if self.parts.scheme == "https" else "HTTP_PROXY"
        proxy = os.environ.get(name) or os.environ.get(name.lower())
        setting = f"{name} is {'set' if proxy else 'not set'}"
        return (
            f"Check the address, the network and its proxy ({setting}). With no way out, load a dump "
            "or a file, or from a mirror that can be reached (--endpoint URL, --entity-data URL). "
            "What was read is kept: the same command goes on."
        )

    def _pause(self, attempt: int, fault: Fault) -> float:
        """Waits as long as manners ask; returns the seconds that the fault cost."""
        wait = 0.0
        if self._ended_at is not None:
            wait = max(0.0, self._ended_at + self._interval_s - time.monotonic())
        if fault.reason:
            self.traffic.retries += 1
            backoff = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** max(0, attempt - 2))
            # Half of it at random, so that clients turned away together don't return together.
            wait = max(wait, backoff * (0.5 + self._jitter() / 2))
        if fault.retry_after_s is not None:
            if fault.retry_after_s > self.manners.max_wait_s:
                raise EndpointError(
                    f"{self.address} asks to wait {fault.retry_after_s:.0f} seconds "
                    f"({fault.reason}); at most {self.manners.max_wait_s:.0f} are waited",
                    argument="endpoint",
                    hint="What was read is kept: run the same command later to go on.",
                )
            wait = max(wait, fault.retry_after_s)
        if self._stop.wait(wait):
            raise StoppedError
        return wait if fault.reason else 0.0
