"""Each thing that a connection waits for has its limit, by a clock and a wire that the test holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import h11
import pytest
import uvicorn
from error_texts import check_text
from uvicorn.server import ServerState

from graph_service.server.connections import (
    LEAST_TAKEN_BYTES,
    PROBE_S,
    BoundedProtocol,
    ConnectionGate,
    ConnectionLimits,
    Gate,
    address_of,
)
from graph_service.settings import Settings

LIMITS = ConnectionLimits(
    head_timeout_s=2.0, body_timeout_s=3.0, write_timeout_s=5.0, keep_alive_s=7.0,
    max_connections=2, max_connections_per_address=1,
)  # fmt: skip
HEAD = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n"


@dataclass
class Timer:
    """A timer that rings when the test says so."""

    delay: float
    call: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Wire:
    """A transport and a clock.

    Attributes:
        left: Bytes that the client has not taken.
        ended: How the connection was ended: ``close`` or ``abort``.
    """

    peer: tuple[str, int] | None = ("192.0.2.7", 5)
    sent: bytes = b""
    left: int = 0
    ended: str = ""
    timers: list[Timer] = field(default_factory=list)

    def get_extra_info(self, name: str) -> Any:
        return {"peername": self.peer, "sockname": ("127.0.0.1", 80)}.get(name)

    def write(self, data: bytes) -> None:
        self.sent += data

    def get_write_buffer_size(self) -> int:
        return self.left

    def is_closing(self) -> bool:
        return self.ended != ""

    def close(self) -> None:
        self.ended = self.ended or "close"

    def abort(self) -> None:
        self.ended = "abort"

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading

    def create_task(self, running: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return asyncio.get_running_loop().create_task(running)

    def call_later(self, delay: float, call: Callable[..., None], *given: Any) -> Timer:
        self.timers.append(Timer(delay, lambda: call(*given)))
        return self.timers[-1]

    @property
    def waits(self) -> list[float]:
        """The limits that run now."""
        return [timer.delay for timer in self.timers if not timer.cancelled]

    def ring(self) -> None:
        """Lets the only limit that runs end."""
        (timer,) = [timer for timer in self.timers if not timer.cancelled]
        timer.cancelled = True
        timer.call()


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the body and answers ``ok``."""
    while (await receive()).get("more_body"):
        pass
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


def connect(wire: Wire, gate: Gate) -> BoundedProtocol:
    config = uvicorn.Config(answer, lifespan="off", timeout_keep_alive=7, log_level="critical")
    protocol = BoundedProtocol(
        gate, config=config, server_state=ServerState(), app_state={}, _loop=wire
    )
    protocol.connection_made(wire)  # type: ignore[arg-type]
    return protocol


def running(test: Callable[[BoundedProtocol, Wire], Coroutine[Any, Any, None]]) -> None:
    """Runs a test in an event loop, over a fresh connection."""

    async def run() -> None:
        wire = Wire()
        await asyncio.wait_for(test(connect(wire, ConnectionGate(LIMITS)), wire), 600)

    asyncio.run(run())


async def answered(wire: Wire, count: int = 1) -> None:
    while wire.sent.count(b"\r\n\r\nok") < count:
        await asyncio.sleep(0)


def refusal_of(wire: Wire) -> tuple[bytes, str, str]:
    """Status line, code and message of an answer, whose head is checked."""
    head, _, body = wire.sent.partition(b"\r\n\r\n")
    status, *headers = head.split(b"\r\n")
    assert headers == [
        b"content-type: application/json",
        b"content-length: %d" % len(body),
        b"connection: close",
    ]
    (error,) = json.loads(body)["errors"]
    return status, error["extensions"]["code"], error["message"]


def test_each_limit_is_the_setting_of_its_name() -> None:
    settings = replace(
        Settings(), head_timeout_s=1.0, body_timeout_s=2.0, write_timeout_s=3.0, keep_alive_s=4.0,
        max_connections=5, max_connections_per_address=6,
    )  # fmt: skip
    assert ConnectionLimits.of(settings) == ConnectionLimits(1.0, 2.0, 3.0, 4.0, 5, 6)


@pytest.mark.parametrize(
    ("host", "counts_as"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::1", "::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_what_counts_as_one_address(host: str, counts_as: str) -> None:
    assert address_of(host) == counts_as


def test_a_door_counts_in_and_out() -> None:
    gate = ConnectionGate(replace(LIMITS, max_connections=3, max_connections_per_address=2))
    each = "this server keeps at most 2 connections of one address"
    every = "this server has 3 connections, which is all it keeps"
    assert [gate.enter(address) for address in ("a", "a", "a")] == ["", "", each]
    assert gate.enter("b") == every
    for address in ("a", "a", "b"):
        gate.leave(address)
    assert [gate.enter(address) for address in ("a", "b", "c")] == ["", "", every]
    for address in ("a", "a", "b", "c"):
        gate.leave(address)
    assert not gate._of_address, "an address that went is forgotten"
    assert [gate.enter("a") for _ in range(3)] == ["", "", each]


def test_the_head_the_body_and_the_next_head_have_their_limits() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        assert wire.waits == [2.0]
        protocol.data_received(HEAD)
        assert wire.waits == [2.0]
        assert len(wire.timers) == 1, "the clock of a head goes on from its first byte"
        protocol.data_received(b"\r\n")
        assert wire.waits == [3.0 + 1.0], "the application answers first"
        protocol.data_received(b"{")
        assert len(wire.timers) == 2
        protocol.data_received(b"}")
        assert wire.waits == []
        await answered(wire)
        assert wire.waits == [7.0], "uvicorn's, for what idles between two requests"
        protocol.data_received(b"P")
        assert wire.waits == [2.0]
        protocol.data_received(HEAD[1:] + b"\r\n{}")
        await answered(wire, 2)
        assert wire.waits == [7.0]
        assert wire.ended == ""

    running(test)


def test_a_second_request_that_has_begun_already_does_not_idle() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol.data_received(HEAD + b"\r\n{}PO")
        await answered(wire)
        assert wire.waits == [2.0]
        wire.sent = b""
        wire.ring()
        status, code, message = refusal_of(wire)
        assert (status, code) == (b"HTTP/1.1 408 Request Timeout", "TIMEOUT")
        check_text(message, "2 s")
        assert wire.ended == "close"

    running(test)


def test_who_sends_nothing_is_left_without_an_answer() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        wire.ring()
        assert (wire.sent, wire.ended, wire.waits) == (b"", "abort", [])

    running(test)


def test_who_sends_half_a_body_is_left_when_the_application_has_not_ended_it() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol.data_received(HEAD + b"\r\n{")
        wire.ring()
        assert (wire.sent, wire.ended) == (b"", "abort")
        protocol.data_received(b"}")
        assert wire.waits == [], "what comes after the end is not looked at"

    running(test)


@pytest.mark.parametrize(
    ("taken", "goes_on"), [(LEAST_TAKEN_BYTES, True), (LEAST_TAKEN_BYTES - 1, False), (0, False)]
)
def test_a_client_must_take_its_share_of_an_answer_in_time(taken: int, goes_on: bool) -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol._watch = lambda: None  # type: ignore[method-assign]
        for timer in wire.timers:
            timer.cancel()
        wire.left = 300_000
        protocol.pause_writing()
        protocol.pause_writing()
        assert wire.waits == [5.0], "one clock, however often the buffer fills"
        wire.left -= taken
        wire.ring()
        assert (wire.waits, wire.ended) == (([5.0], "") if goes_on else ([], "abort"))
        if not goes_on:
            return
        wire.left -= LEAST_TAKEN_BYTES
        wire.ring()
        assert (wire.waits, wire.ended) == ([5.0], "")
        wire.left = 0
        wire.ring()
        assert (wire.waits, wire.ended) == ([], ""), "all is taken"
        wire.left = 10
        protocol.pause_writing()
        assert wire.waits == [5.0]
        wire.left = 1
        wire.ring()
        assert wire.ended == "abort", "the last bytes have to be taken too"

    running(test)


def test_an_answer_that_is_not_taken_at_once_is_watched_to_its_end() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        wire.left = 10
        protocol.data_received(HEAD + b"\r\n{}")
        await answered(wire)
        assert sorted(wire.waits) == [5.0, 7.0]

    running(test)


def test_a_connection_too_many_is_told_so_and_watched_until_it_took_that() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        other = Wire(left=10)
        refused = connect(other, protocol._gate)
        status, code, message = refusal_of(other)
        assert (status, code) == (b"HTTP/1.1 503 Service Unavailable", "LIMIT_EXCEEDED")
        check_text(message, "1 connections")
        assert (other.ended, other.waits) == ("close", [5.0])
        refused.connection_lost(None)
        assert other.waits == []
        elsewhere = Wire(peer=("192.0.2.8", 5))
        connect(elsewhere, protocol._gate)
        assert (elsewhere.sent, elsewhere.waits) == (b"", [2.0])
        wires = [Wire(peer=("192.0.2.9", 5)), Wire(peer=None)]
        for one in wires:
            connect(one, protocol._gate)
        check_text([refusal_of(one)[2] for one in wires], "2 connections")

    running(test)


def test_a_connection_that_is_lost_is_counted_out_and_waits_for_nothing() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        wire.left = 10
        protocol.pause_writing()
        assert sorted(wire.waits) == [2.0, 5.0]
        protocol.connection_lost(None)
        assert wire.waits == []
        again = Wire()
        connect(again, protocol._gate)
        assert again.sent == b""

    running(test)


def test_a_client_that_sends_no_more_gets_its_answers_and_the_connection_ends() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol.data_received(2 * (HEAD + b"\r\n{}"))
        assert protocol.eof_received()
        await answered(wire, 2)
        assert wire.ended == "close"

    running(test)


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD, HEAD + b"\r\n{"])
def test_a_client_that_sends_no_more_of_half_a_request_has_gone(sent: bytes) -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        if sent:
            protocol.data_received(sent)
        # The transport closes then.
        assert not protocol.eof_received()

    running(test)


@pytest.mark.parametrize(("version", "probes"), [(b"1.1", 2), (b"1.0", 0)])
def test_a_client_that_sends_no_more_is_looked_for(version: bytes, probes: int) -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol.data_received(HEAD.replace(b"1.1", version) + b"\r\n{}")
        assert protocol.eof_received()
        assert wire.waits == [PROBE_S]
        wire.ring()
        assert wire.sent == probes * b"HTTP/1.1 100 Continue\r\n\r\n"
        await answered(wire)
        sent = wire.sent
        for timer in list(wire.timers):
            if timer.delay == PROBE_S and not timer.cancelled:
                timer.call()
        assert wire.sent == sent, "nothing comes between the answer and the end"

    running(test)


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"nonsense\r\n\r\n", b"HTTP/1.1 400 Bad Request", "BAD_INPUT"),
        (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 400 Bad Request", "BAD_INPUT"),
        (b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: x\r\n\r\n",
         b"HTTP/1.1 501 Not Implemented", "BAD_INPUT"),
        (b"GET / HTTP/1.1\r\nhost: a\r\na: " + b"a" * 99_000,
         b"HTTP/1.1 431 Request Header Fields Too Large", "LIMIT_EXCEEDED"),
    ],
)  # fmt: skip
def test_what_is_no_http_is_told_and_ends(sent: bytes, status: bytes, code: str) -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol.data_received(sent)
        message = "this is no HTTP request that the server can read"
        assert refusal_of(wire) == (status, code, message)
        assert (wire.ended, wire.waits) == ("close", [])

    running(test)


@pytest.mark.parametrize(
    "fields",
    [
        b"content-length: 3\r\ntransfer-encoding: chunked\r\n",
        b"transfer-encoding: chunked\r\nx: y\r\nContent-Length: 0\r\n",
        b"content-length: 2\r\ncontent-length: 3\r\n",
        b"content-length: 2, 3\r\n",
        b"content-length: +2\r\n",
        b"content-length : 2\r\n",
        b"transfer-encoding\t: chunked\r\n",
        b"x: y\r\n transfer-encoding: chunked\r\n",
        b"transfer-encoding:\r\n\tchunked\r\n",
        b"x: y\ntransfer-encoding: chunked\r\n",
        b"x: y\rtransfer-encoding: chunked\r\n",
        b"content-length: 2\n",
        b"x: y\x00\r\n",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 9999])
def test_a_head_that_a_proxy_may_read_otherwise_is_refused(fields: bytes, size: int) -> None:
    """Nothing behind it is read as a request of its own."""

    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        head = b"POST / HTTP/1.1\r\nhost: a\r\n" + fields + b"\r\n"
        sent = head + b"0\r\n\r\n" + b"GET /other HTTP/1.1\r\nhost: a\r\n\r\n"
        for begin in range(0, len(sent), size):
            protocol.data_received(sent[begin : begin + size])
        for _ in range(20):
            await asyncio.sleep(0)
        status, code, _ = refusal_of(wire)
        assert (status, code) == (b"HTTP/1.1 400 Bad Request", "BAD_INPUT")
        assert wire.sent.count(b"HTTP/1.1 ") == 1
        assert wire.ended == "close"

    running(test)


def test_chunks_of_the_first_version_are_refused() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol.data_received(b"POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")
        assert wire.sent.startswith(b"HTTP/1.1 400 Bad Request")
        assert wire.ended == "close"

    running(test)


def test_a_refused_head_behind_an_answered_request_ends_the_connection() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        both = b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
        protocol.data_received(
            HEAD + b"\r\n{}" + b"POST / HTTP/1.1\r\nhost: a\r\n" + both + HEAD + b"\r\n{}"
        )
        for _ in range(40):
            await asyncio.sleep(0)
        answers = [part[:3] for part in wire.sent.split(b"HTTP/1.1 ")[1:]]
        assert answers == [b"200", b"400"]
        assert wire.ended == "close"

    running(test)


@pytest.mark.parametrize(
    "rest",
    [
        b"content-length: 2\r\ncontent-length: 2\r\n\r\n{}",
        b"transfer-encoding: Chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nx: y\r\n\r\n",
        b"x: y\t z \r\ncontent-length: 2\r\n\r\n\n ",
    ],
)
def test_a_head_with_one_reading_is_answered(rest: bytes) -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        for byte in b"POST / HTTP/1.1\r\nhost: a\r\n" + rest:
            protocol.data_received(bytes([byte]))
        await answered(wire)
        assert wire.sent.startswith(b"HTTP/1.1 200"), wire.sent

    running(test)


def test_an_application_whose_client_breaks_the_protocol_hears_that_it_is_gone() -> None:
    async def test(protocol: BoundedProtocol, wire: Wire) -> None:
        protocol.data_received(
            b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
        )
        status, code, _ = refusal_of(wire)
        assert (status, code) == (b"HTTP/1.1 400 Bad Request", "BAD_INPUT")
        assert protocol.cycle.disconnected
        assert protocol.cycle.message_event.is_set()
        sent = wire.sent
        for _ in range(20):
            await asyncio.sleep(0)
        assert wire.sent == sent, "nothing is answered twice"
        assert protocol.conn.our_state is h11.MUST_CLOSE

    running(test)
