"""How much each client may ask for in a time: a token bucket for each, filled at a steady rate.

A client is an address, or what a proxy says is one (``client_of``). A request takes its cost out of
the client's bucket before it runs, and is settled when it has run.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import HTTPConnection

from graph_service.api.meter import DECIMALS
from graph_service.server.connections import address_of

MAX_CLIENTS = 10_000
"""Of whom buckets are kept; who was away longest begins anew with a full one."""


def client_of(request: HTTPConnection, address_header: str = "", /) -> str:
    """Returns whose request it is: the address that it came from.

    Args:
        request: Of the client.
        address_header: The header in which a proxy names the address that it was called from; ""
            where there is no proxy. Its last address counts, which the nearest proxy has written:
            those before it may be the client's own invention.
    """
    connected = request.client.host if request.client is not None else ""
    if address_header:
        address = ",".join(request.headers.getlist(address_header)).rpartition(",")[2].strip()
        try:
            return address_of(str(ipaddress.ip_address(address)))
        except ValueError:
            pass
    return address_of(connected)


@dataclass(slots=True)
class Bucket:
    """What a client has left, and when that was so.

    Attributes:
        available: Cost.
        at: Seconds of the clock.
    """

    available: float
    at: float


class Buckets(Protocol):
    """Where the buckets of clients are."""

    def held(self, client: str, most: float, now: float) -> AbstractContextManager[Bucket]:
        """Gives a client's bucket, which nobody else has in the block.

        Args:
            client: Whose it is.
            most: What the bucket of a new client holds.
            now: Seconds of the clock.
        """


class OwnBuckets:
    """The buckets of one process, those used last. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    @contextmanager
    def held(self, client: str, most: float, now: float) -> Iterator[Bucket]:
        """Gives a client's bucket; see ``Buckets``."""
        with self._lock:
            bucket = self._buckets.pop(client, None)
            if bucket is None:
                bucket = Bucket(most, now)
                if len(self._buckets) >= MAX_CLIENTS:
                    self._buckets.popitem(last=False)
            self._buckets[client] = bucket
            yield bucket


class Rates:
    """The buckets of all clients. Thread-safe.

    Args:
        per_second: Cost that comes back to a client in a second.
        most: Cost that a bucket holds.
        clock: Seconds, growing.
        buckets: Where they are; in this process where it is not given.
    """

    def __init__(
        self,
        per_second: float,
        most: float,
        /,
        *,
        clock: Callable[[], float] = time.monotonic,
        buckets: Buckets | None = None,
    ) -> None:
        self.per_second = per_second
        self.most = most
        self._clock = clock
        self._buckets = buckets or OwnBuckets()

    def take(self, client: str, cost: float, /) -> float:
        """Takes a cost out of a client's bucket; returns the seconds to wait if it has too little.

        Nothing is taken in that case.
        """
        with self._filled(client) as bucket:
            if cost <= bucket.available:
                bucket.available -= cost
                return 0.0
            return (cost - bucket.available) / self.per_second

    def settle(self, client: str, taken: float, used: float, /) -> None:
        """Puts back what was taken and not used, or takes what was used beyond it.

        So a bucket may hold less than nothing; it fills from there.
        """
        with self._filled(client) as bucket:
            bucket.available = min(self.most, bucket.available + taken - used)

    def status(self, client: str, /) -> dict[str, float]:
        """Returns what a client's bucket holds, as ``extensions.cost.throttleStatus`` says it."""
        with self._filled(client) as bucket:
            available = bucket.available
        return {
            "maximumAvailable": self.most,
            "currentlyAvailable": round(available, DECIMALS),
            "restoreRate": self.per_second,
        }

    @contextmanager
    def _filled(self, client: str) -> Iterator[Bucket]:
        # Clients of other limits have buckets of their own, though they lie in one place.
        name = f"{self.per_second:g} {self.most:g} {client}"
        now = self._clock()
        with self._buckets.held(name, self.most, now) as bucket:
            # Another process may have looked at the clock later and come first.
            passed = max(0.0, now - bucket.at)
            bucket.available = min(self.most, bucket.available + passed * self.per_second)
            bucket.at += passed
            yield bucket
