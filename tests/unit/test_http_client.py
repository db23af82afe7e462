"""The one HTTP client: its bounds, its proxies, and that nothing is sent past it."""

from __future__ import annotations

import contextlib
import gc
import gzip
import re
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from error_texts import raises
from openai_stand_in import Scripted, completion, embeddings, stand_in
from raw_server import OK, at_once, scripted, slowly

from graph_service.embed.endpoint import EndpointEmbedder
from graph_service.errors import SetupError
from graph_service.http import connection, openai_client
from graph_service.http.connection import (
    AnswerTooLargeError,
    RedirectRefusedError,
    bounds_of,
    open_client,
)
from graph_service.http.retry import RetryPolicy
from queries.llm import OpenAIChat
from queries.llm.chat import Message, ReplyError

ROOT = Path(connection.__file__).parents[2]
ZEROS = bytes(10_000_000)
NO_RETRY = RetryPolicy(max_retries=0)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def body(coding: str, content: bytes) -> bytes:
    head = f"Content-Encoding: {coding}\r\nContent-Length: {len(content)}\r\n\r\n"
    return OK + head.encode() + content


def get(address: str, *, timeout_s: float = 600, max_bytes: int = 100_000) -> httpx.Response:
    with open_client(timeout_s=timeout_s, max_bytes=max_bytes) as client:
        return client.get(address)


def test_nothing_is_sent_past_it() -> None:
    """The client of our own server is apart: it loads no part of the service.

    So are the benchmarks that ask a server which they have begun themselves, on this machine.
    """
    sends = re.compile(
        r"\bhttpx\.(?:(?:Async)?(?:Client|HTTPTransport)|get|post|request|stream)\("
        r"|\b(?:urlopen|build_opener)\(|^\s*(?:import|from) (?:http\.client|requests|urllib3)\b",
        re.MULTILINE,
    )
    found = {
        str(path.relative_to(ROOT))
        for package in ("graph_service", "loaders", "queries", "benchmarks")
        for path in (ROOT / package).rglob("*.py")
        if sends.search(path.read_text())
    }
    assert found == {
        "graph_service/http/connection.py",
        "graph_service/client/http.py",
        "benchmarks/cold_burst.py",
        "benchmarks/serving.py",
        "benchmarks/soak/asking.py",
        "benchmarks/soak/beside.py",
        "benchmarks/soak/watching.py",
    }


def test_gzip_is_unpacked_up_to_the_size() -> None:
    fits = ZEROS[:100_000]
    with scripted(at_once(body("gzip", gzip.compress(fits)))) as address:
        assert get(address).content == fits
    with (
        scripted(at_once(body("gzip", gzip.compress(ZEROS)))) as address,
        pytest.raises(AnswerTooLargeError, match="larger than 100000 bytes"),
    ):
        get(address)


@pytest.mark.parametrize("coding", ["deflate", "br", "gzip, gzip", "zstd"])
def test_no_other_coding_is_unpacked(coding: str) -> None:
    """httpx would unpack them, and would not stop at any size."""
    bomb = zlib.compress(ZEROS)
    with scripted(at_once(body(coding, bomb))) as address:
        assert get(address).content == bomb


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(bytes(range(200)))[:-9],
        b"no gzip at all",
    ],
)
def test_damaged_gzip_is_no_answer(content: bytes) -> None:
    with scripted(at_once(body("gzip", content))) as address, raises(httpx.RequestError):  # fmt: skip
        get(address)


def test_an_answer_of_its_own_time() -> None:
    """A request's own limit comes first, and whoever reads may move the end."""
    with (
        scripted(slowly(OK + b"\r\n", b"x")) as address,
        open_client(timeout_s=600, max_bytes=100_000) as client,
    ):
        with pytest.raises(httpx.TimeoutException):
            client.get(address, timeout=0.2)
        with client.stream("GET", address) as response:
            bounds_of(response).deadline = 0
            with pytest.raises(httpx.TimeoutException):
                response.read()


def test_a_kept_connection_serves_each_request_in_its_own_bounds() -> None:
    with (
        stand_in(Scripted(200, {"pad": "x" * 900})) as server,
        open_client(timeout_s=600, max_bytes=1_000) as client,
    ):
        sent = [client.post(f"{server.url}/chat/completions", json={}) for _ in range(3)]
    assert [reply.status_code for reply in sent] == [200] * 3
    assert len({id(bounds_of(reply)) for reply in sent}) == 3
    assert max(bounds_of(reply).received for reply in sent) < 1_500


def test_a_client_that_nobody_closed_leaves_no_connection() -> None:
    """A socket that is open when it is collected is a warning, and so an error here."""
    with stand_in(embeddings) as server:
        embedder = EndpointEmbedder("m", base_url=server.url)
        assert embedder.dimension == 8
        del embedder
        gc.collect()


def test_chat_models_and_embedders_end_in_their_time_and_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = [Message("user", "?")]
    bomb = Scripted(200, gzip.compress(ZEROS), {"Content-Encoding": "gzip"})
    drip = Scripted(200, completion("a long answer"), drip_s=0.05)
    monkeypatch.setattr(openai_client, "_MAX_ANSWER_BYTES", 100_000)
    for fault, said in ((drip, r"no answer in 0\.3 s"), (bomb, "larger than 100000 bytes")):
        # The bomb is unpacked in far less.
        limit_s = 0.3 if fault is drip else 600.0
        with stand_in(fault, fault) as server:
            with (
                OpenAIChat("m", base_url=server.url, timeout_s=limit_s, retry=NO_RETRY) as model,
                pytest.raises(ReplyError, match=said),
            ):
                model.complete(ask)
            embedder = EndpointEmbedder("m", base_url=server.url, timeout_s=limit_s, retry=NO_RETRY)
            with contextlib.closing(embedder), pytest.raises(SetupError, match=said):
                embedder.encode(["a"])


def test_a_host_of_several_addresses_is_asked_at_the_one_that_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve = socket.getaddrinfo

    def found(host: str, *rest: Any, **named: Any) -> list[Any]:
        places = ("127.0.0.9", "127.0.0.1") if host == "two.example" else (host,)
        return [one for place in places for one in resolve(place, *rest, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    with scripted(at_once(OK + b"\r\nhere")) as address:
        assert get(address.replace("127.0.0.1", "two.example")).content == b"here"


def test_a_kept_connection_knows_what_kind_of_place_it_leads_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A redirect from one local address to another is followed there as on a new one."""
    resolve = socket.getaddrinfo

    def found(host: str, *rest: Any, **named: Any) -> list[Any]:
        return resolve("127.0.0.1" if host == "near.example" else host, *rest, **named)

    def script(client: socket.socket, _: object) -> None:
        client.sendall(OK + b"Content-Length: 4\r\n\r\nhere")
        if client.recv(1 << 16):
            moved = f"HTTP/1.1 302 Found\r\nLocation: {address}\r\nContent-Length: 0\r\n\r\n"
            client.sendall(moved.encode())

    monkeypatch.setattr(socket, "getaddrinfo", found)
    with scripted(script) as address, open_client(timeout_s=600, max_bytes=1_000) as client:
        named = address.replace("127.0.0.1", "near.example")
        answers = [client.get(named) for _ in range(2)]
    assert [one.text for one in answers] == ["here", "here"]
    assert [len(one.history) for one in answers] == [0, 1]


def test_a_redirect_is_refused_before_it_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads into a private network costs no connection there."""
    connected: list[str] = []
    resolve, connect = socket.getaddrinfo, socket.create_connection

    def found(host: str, *rest: Any, **named: Any) -> list[Any]:
        return resolve("10.0.0.1" if host == "inside.example" else host, *rest, **named)

    def to(place: tuple[str, int], *rest: Any, **named: Any) -> socket.socket:
        connected.append(place[0])
        return connect(place, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", found)
    monkeypatch.setattr(socket, "create_connection", to)
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://inside.example/x\r\nContent-Length: 0\r\n\r\n"
    with (
        scripted(at_once(moved)) as address,
        pytest.raises(RedirectRefusedError, match=r"to 10\.0\.0\.1, a private address"),
    ):
        get(address)
    assert connected == ["127.0.0.1"]


def test_a_name_that_no_resolver_takes_is_an_error_of_the_connection() -> None:
    with pytest.raises(httpx.ConnectError):
        get(f"http://{'a' * 70}.invalid/")


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The heads of the requests that a proxy was sent; it redirects the first into a network."""
    heads: list[bytes] = []
    replies = iter(
        (
            OK + b"Content-Length: 4\r\n\r\nhere",
            b"HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/x\r\nContent-Length: 0\r\n\r\n",
        )
    )

    with scripted(lambda client, _: client.sendall(next(replies)), heads=heads) as address:
        monkeypatch.setenv("HTTP_PROXY", address.replace("http://", "http://me:secret@"))
        yield heads


def test_proxies_of_the_environment(proxied: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    assert get("http://far.example/x?y").content == b"here"
    assert proxied[0].startswith(b"GET http://far.example/x?y HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in proxied[0]
    with raises(RedirectRefusedError):
        get("http://far.example/x")
    monkeypatch.setenv("NO_PROXY", "near.invalid")
    with pytest.raises(httpx.ConnectError):
        get("http://near.invalid/x")
    assert len(proxied) == 2


@pytest.mark.parametrize("proxy", ["gopher://127.0.0.1:1", "http://[::1"])
def test_proxies_that_cannot_be_used_are_told(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with raises(SetupError):
        get("http://far.example/")
