"""Clients that ask: as fast as they are answered, or at a rate whatever the answers."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from queue import SimpleQueue

from benchmarks.soak.answers import LATE, WRONG, Editions, Outcome, outcome_of
from benchmarks.soak.records import Records
from benchmarks.soak.traffic import Request, Traffic

IDLE_S = 60.0
"""A connection that was not used for so long is opened anew: the server may be closing it."""
_WAIT_S = 1.0
"""Before a client that could not connect tries again."""


@dataclass(frozen=True, slots=True)
class Server:
    """Whom clients ask, and how.

    Attributes:
        port: On 127.0.0.1.
        keys: One a client; "" for none.
        limit_s: How long a client waits for an answer: longer than the server may take for one.
    """

    port: int
    keys: Sequence[str]
    limit_s: float


class Tally:
    """Counts outcomes while they come. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def add(self, kind: str, /) -> None:
        """Counts one."""
        with self._lock:
            self._counts[kind] += 1

    def counts(self) -> dict[str, int]:
        """Returns how often each came."""
        with self._lock:
            return dict(self._counts)


class Crowd:
    """Clients, each with an address and a key of its own, whose answers are written down.

    Args:
        server: Whom they ask.
        traffic: What they ask.
        editions: What is known of editions.
        records: Where a line for each request goes.
    """

    def __init__(
        self, server: Server, traffic: Traffic, editions: Editions, records: Records, /
    ) -> None:
        self._server = server
        self._traffic = traffic
        self._editions = editions
        self._records = records
        self._numbers = count()
        self.tally = Tally()

    def ask_in_turn(self, seconds: float, connections: int, /) -> float:
        """Asks as fast as answers come; returns the answers a second.

        Args:
            seconds: How long to begin requests.
            connections: That ask at once.
        """
        end = time.monotonic() + seconds
        answered = [0] * connections

        def ask(place: int) -> None:
            line = _Line(self._server, place % len(self._server.keys))
            while time.monotonic() < end:
                request = self._traffic.request(next(self._numbers))
                answered[place] += self._ask(line, request, "capacity", 0.0).kind == "answered"
            line.close()

        began = time.monotonic()
        threads = [threading.Thread(target=ask, args=(place,)) for place in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(answered) / (time.monotonic() - began)

    def ask_at(
        self, rate: float, seconds: float, connections: int, stop: threading.Event, /
    ) -> None:
        """Begins so many requests a second, whether or not those before are answered.

        Args:
            rate: Requests a second.
            seconds: How long to begin them.
            connections: Of each client. Where none is free a request waits here, and its line says
                how long.
            stop: Ends it sooner.
        """
        clients = len(self._server.keys)
        due: list[SimpleQueue[tuple[Request, float] | None]] = [
            SimpleQueue() for _ in range(clients)
        ]

        def ask(client: int) -> None:
            line = _Line(self._server, client)
            while (one := due[client].get()) is not None:
                request, at = one
                self._ask(line, request, "request", time.monotonic() - at)
            line.close()

        threads = [
            threading.Thread(target=ask, args=(place % clients,))
            for place in range(connections * clients)
        ]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        try:
            for place in count():
                at = began + place / rate
                if place / rate >= seconds or stop.wait(max(0.0, at - time.monotonic())):
                    break
                request = self._traffic.request(next(self._numbers))
                due[request.client].put((request, at))
        finally:
            for place in range(len(threads)):
                due[place % clients].put(None)
            for thread in threads:
                thread.join()

    def _ask(self, line: _Line, request: Request, what: str, lag_s: float) -> Outcome:
        began = time.monotonic()
        outcome = line.ask(request, self._editions)
        took_s = time.monotonic() - began
        self.tally.add(outcome.kind)
        self._records.add(
            what,
            kind=request.kind,
            outcome=outcome.kind,
            ms=round(1000 * took_s, 1),
            lag_ms=round(1000 * lag_s, 1),
            repeat=outcome.is_repeat,
            mixed=outcome.mixed,
            note=outcome.note,
        )
        return outcome


class _Line:
    """A connection that is opened again when it ends."""

    def __init__(self, server: Server, client: int) -> None:
        self._server = server
        self._used = time.monotonic()
        self._connection = http.client.HTTPConnection(
            "127.0.0.1",
            server.port,
            timeout=server.limit_s,
            # The server counts connections by address.
            source_address=(f"127.0.0.{2 + client}", 0),
        )
        self._headers = {"content-type": "application/json"}
        if server.keys[client]:
            self._headers["authorization"] = f"Bearer {server.keys[client]}"

    def ask(self, request: Request, editions: Editions) -> Outcome:
        if time.monotonic() - self._used > IDLE_S:
            self._connection.close()
        try:
            self._connection.request("POST", "/graphql", request.body, self._headers)
            response = self._connection.getresponse()
            body = response.read()
        except TimeoutError:
            self._connection.close()
            return Outcome(LATE, note=f"no answer within {self._server.limit_s:g} s")
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            time.sleep(_WAIT_S)
            return Outcome(WRONG, note=repr(error))
        self._used = time.monotonic()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return outcome_of(request, response.status, headers, body, editions)

    def close(self) -> None:
        self._connection.close()
