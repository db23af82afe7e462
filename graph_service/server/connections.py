"""HTTP connections with an end: none is kept for a client that does not go on.

uvicorn closes a connection that idles between two requests. It waits for ever for the head of a
request, for a body that nobody reads any more and for a client that takes no answer, so that a
few hundred silent clients use up all descriptors of the process. Here each of these has a time
limit, and there are only so many connections, in all and from one address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import sys
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from graph_service.server.framing import StrictConnection
from graph_service.server.metrics import count_refused
from graph_service.server.refusals import refusal_body
from graph_service.settings import Settings

LEAST_TAKEN_BYTES = 65_536
"""What a client must take of an answer within ``write_timeout_s``, or all that is left of it."""

PROBE_S = 0.25
"""How often a client that sends no more is looked for while it waits for an answer."""

_BODY_GRACE_S = 1.0
"""The application answers a body that is late; this ends the connection if it can't."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of connections; see the settings of the same names."""

    head_timeout_s: float
    body_timeout_s: float
    write_timeout_s: float
    keep_alive_s: float
    max_connections: int
    max_connections_per_address: int

    @classmethod
    def of(cls, settings: Settings, /) -> ConnectionLimits:
        """Returns the limits that the settings say."""
        return cls(
            head_timeout_s=settings.head_timeout_s,
            body_timeout_s=settings.body_timeout_s,
            write_timeout_s=settings.write_timeout_s,
            keep_alive_s=settings.keep_alive_s,
            max_connections=settings.max_connections,
            max_connections_per_address=settings.max_connections_per_address,
        )


class Over(IntEnum):
    """Which limit a connection is over."""

    NONE = 0
    ALL = 1
    ADDRESS = 2


def refusal_of(limits: ConnectionLimits, over: Over, /) -> str:
    """Returns why a connection may not stay, or nothing."""
    if over is Over.ALL:
        return f"this server has {limits.max_connections} connections, which is all it keeps"
    if over is Over.ADDRESS:
        return (
            f"this server keeps at most {limits.max_connections_per_address} connections of one "
            "address"
        )
    return ""


class Gate(Protocol):
    """What lets a connection in, and hears when it is gone."""

    @property
    def limits(self) -> ConnectionLimits:
        """The limits that connections are counted against."""

    def enter(self, address: str, /) -> str:
        """Returns why a connection may not stay, or nothing."""

    def leave(self, address: str, /) -> None:
        """Hears that a connection is gone."""


class ConnectionGate:
    """Counts the connections of one server, and says whether one more may come in."""

    def __init__(self, limits: ConnectionLimits, /) -> None:
        self.limits = limits
        self._count = 0
        self._of_address: Counter[str] = Counter()

    def enter(self, address: str, /) -> str:
        """Counts a connection; returns why it may not stay, or nothing."""
        return refusal_of(self.limits, self.count_in(address))

    def count_in(self, address: str, /) -> Over:
        """Counts a connection; returns which limit it is over."""
        self._count += 1
        self._of_address[address] += 1
        if self._count > self.limits.max_connections:
            return Over.ALL
        if self._of_address[address] > self.limits.max_connections_per_address:
            return Over.ADDRESS
        return Over.NONE

    def leave(self, address: str, /) -> None:
        """Counts a connection out that has ended."""
        self._count -= 1
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]


def address_of(host: str, /) -> str:
    """Returns what counts as one address: of IPv6 the network that one client has to itself.

    >>> address_of("2001:db8:1:2:3:4:5:6"), address_of("192.0.2.7")
    ('2001:db8:1:2::/64', '192.0.2.7')
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4:
        return host
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.ip_network((address, 64), strict=False))


class BoundedProtocol(H11Protocol):
    """One connection: uvicorn's, with an end to each thing that it waits for.

    Args:
        gate: Counts it.
        options: What uvicorn gives its protocols.
    """

    def __init__(self, gate: Gate, /, **options: Any) -> None:
        super().__init__(**options)
        self.conn = StrictConnection(h11.SERVER)
        self._gate = gate
        self._address = ""
        self._waits_for = ""
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._probing: asyncio.TimerHandle | None = None
        self._sends_no_more = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes a connection in, or answers that there are too many."""
        super().connection_made(transport)
        self._address = address_of(self.client[0] if self.client else "")
        refused = self._gate.enter(self._address)
        if refused:
            self._refuse(503, "LIMIT_EXCEEDED", refused)
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts the connection out and ends what waits for it."""
        self._gate.leave(self._address)
        for timer in (self._timer, self._writing, self._probing):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handles what came, and sees what is to come next."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._watch()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Returns whether the connection stays, for the answer to what a client sent before."""
        self._sends_no_more = self._owes_answer
        if self._sends_no_more and self._probing is None:
            self._probe()
        return self._sends_no_more

    def on_response_complete(self) -> None:
        """Sees that the answer is taken, and what is to come next."""
        super().on_response_complete()
        if self._sends_no_more and not self._owes_answer:
            self.transport.close()
        self._watch()
        self._watch_writing()

    def pause_writing(self) -> None:
        """Sees that the client takes more of an answer."""
        super().pause_writing()
        self._watch_writing()

    def send_400_response(self, _msg: str) -> None:
        """Answers what is no HTTP in the form of every other error."""
        status = getattr(sys.exc_info()[1], "error_status_hint", 400)
        code = "LIMIT_EXCEEDED" if status == 431 else "BAD_INPUT"
        self._refuse(status, code, "this is no HTTP request that the server can read")

    @property
    def _owes_answer(self) -> bool:
        """Whether a whole request has come whose answer has not begun."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_started

    def _probe(self) -> None:
        """Finds out whether a client that sends no more still reads.

        One that has gone looks the same until something is sent to it: its machine then says so,
        and the next write ends the connection. Every client of HTTP/1.1 reads past a
        ``100 Continue``; one of HTTP/1.0 is not sent any, and its work ends with its time limit.
        """
        if self.transport.is_closing():
            return
        if self._owes_answer and self.conn.their_http_version != b"1.0":
            event = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
            self.transport.write(self.conn.send(event) or b"")
        self._probing = self.loop.call_later(PROBE_S, self._probe)

    def _watch(self) -> None:
        """Starts or ends the clock of what the client has to send."""
        theirs = self.conn.their_state
        waits_for, limit = "", 0.0
        if theirs is h11.IDLE and self.conn.trailing_data[0]:
            self._unset_keepalive_if_required()
        if theirs is h11.IDLE and self.timeout_keep_alive_task is None:
            waits_for, limit = "head", self._gate.limits.head_timeout_s
        elif theirs is h11.SEND_BODY:
            waits_for, limit = "body", self._gate.limits.body_timeout_s + _BODY_GRACE_S
        if self.transport.is_closing():
            waits_for = ""
        if waits_for == self._waits_for:
            return
        self._waits_for = waits_for
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if waits_for:
            self._timer = self.loop.call_later(limit, self._is_late)

    def _is_late(self) -> None:
        begun = bool(self.conn.trailing_data[0])
        if self._waits_for == "head" and begun and self.conn.our_state is h11.IDLE:
            limit = self._gate.limits.head_timeout_s
            self._refuse(408, "TIMEOUT", f"the head of the request did not come within {limit:g} s")
        else:
            self.transport.abort()

    def _watch_writing(self) -> None:
        """Starts the clock of a client that has to take an answer."""
        left = self.transport.get_write_buffer_size()
        if left and self._writing is None:
            limit = self._gate.limits.write_timeout_s
            self._writing = self.loop.call_later(limit, self._see_taken, left)

    def _see_taken(self, before: int) -> None:
        self._writing = None
        left = self.transport.get_write_buffer_size()
        if left and before - left < LEAST_TAKEN_BYTES:
            self.transport.abort()
        else:
            self._watch_writing()

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answers with an error, where nothing was answered yet, and ends the connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            # The application hears that the client is gone, and says nothing more.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        count_refused(status, code)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = refusal_body(code, message)
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
                (b"connection", b"close"),
            ]
            for event in (
                h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status]),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._watch_writing()
