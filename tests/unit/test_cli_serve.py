"""The verb serve: who is served, on which address, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from cli_runs import Cli
from demo_graph import copy_store
from error_texts import check_error, raises
from waiting import PATIENCE_S

from graph_service.cli.options import read_options
from graph_service.cli.parser import make_parser
from graph_service.cli.serve_options import ServeOptions
from graph_service.cli.serving import server_options
from graph_service.errors import (
    InputError,
    SetupError,
)
from graph_service.server.options import ServerOptions
from graph_service.settings import Settings

PATIENT = {
    f"GRAPH_SERVICE_{name}_TIMEOUT_S": f"{PATIENCE_S:g}" for name in ("HEAD", "BODY", "SHUTDOWN")
}


@pytest.fixture
def store(cli: Cli, monkeypatch: pytest.MonkeyPatch, demo_file: Path, tmp_path: Path) -> str:
    """A store of the test's own with graph ``demo``, named by the environment."""
    url = copy_store(demo_file, tmp_path)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", url)
    return url


def test_who_may_be_served() -> None:
    def options(*arguments: str, **settings: Any) -> ServerOptions:
        parsed = make_parser().parse_args(["serve", *arguments])
        return server_options(read_options(ServeOptions, parsed), Settings(**settings))

    local = ("127.0.0.1", "localhost", "[::1]")
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.9"):
        assert set(options("--host", host).hosts) == {*local, host}
    for host in ("0.0.0.0", "::", "192.168.1.2", "graph.example"):
        with pytest.raises(SetupError, match="GRAPH_SERVICE_API_KEY"):
            options("--host", host)
        for open_ in (options("--host", host, "--insecure"), options("--host", host, api_key="k")):
            assert (set(open_.hosts), open_.addresses) == ({*local, host}, True)
        assert options("--host", host, api_key="k").api_key == "k"
    named = options("--host", "0.0.0.0", "--insecure", "--allow-host", "graph.example")
    assert set(named.hosts) == {*local, "0.0.0.0", "graph.example"}
    assert not options("--allow-host", "graph.example").addresses
    with pytest.raises(SetupError, match="GRAPH_SERVICE_API_KEY"):
        options("--host", "0.0.0.0", "--insecure", "--allow-host", "*")
    assert options("--host", "0.0.0.0", "--allow-host", "*", api_key="k").hosts[-1] == "*"
    for unheard in ("http://graph.example", "graph.example:80", "graph.example/", ""):
        with pytest.raises(InputError, match="--allow-host"):
            options("--allow-host", unheard)
    for unheard in (
        "graph.example",
        "https://graph.example/",
        "https://a.example,https://b.example",
    ):
        with pytest.raises(InputError, match="--allow-origin"):
            options("--allow-origin", unheard)
    assert options("--allow-host", "graph.example").hosts[-1] == "graph.example"
    assert not options().writable
    assert options("--writable").writable
    assert not options("--no-graphiql").graphiql
    assert options("--allow-origin", "https://a.example").origins == ("https://a.example",)
    sent = options("--allow-origin", "HTTPS://A.Example:443", "--allow-origin", "http://b:80")
    assert sent.origins == ("https://a.example", "http://b")
    assert not options().any_origin
    with pytest.raises(SetupError, match="--allow-any-origin"):
        options("--allow-any-origin")
    assert options("--allow-any-origin", "--insecure").any_origin
    assert options("--allow-any-origin", api_key="k").any_origin
    assert options(threads=3).threads == 3


def test_how_much_each_client_may_ask_for() -> None:
    def options(*arguments: str, **settings: Any) -> ServerOptions:
        parsed = make_parser().parse_args(["serve", *arguments])
        return server_options(read_options(ServeOptions, parsed), Settings(**settings))

    assert (options().max_cost, options().rate, options().address_header) == (1000.0, 0.0, "")
    # Other machines may call without a key: each has its share, unless the operator says another.
    everyone = ("--host", "0.0.0.0", "--insecure")
    assert options(*everyone).rate == 10.0
    assert options(*everyone, "--rate", "0").rate == 0.0
    assert options("--host", "0.0.0.0", api_key="k").rate == 0.0
    assert options("--rate", "2.5", "--max-cost", "50").rate == 2.5
    assert options("--max-cost", "50").max_cost == 50.0
    assert options("--address-header", "X-Forwarded-For").address_header == "X-Forwarded-For"
    for wrong in ("a:b", "a b", "a\r\nb"):
        with raises(InputError):
            options("--address-header", wrong)
    for name, wrong in (
        ("rate", "-1"), ("rate", "nan"), ("rate", "inf"), ("rate", "1e7"),
        ("max-cost", "0"), ("max-cost", "-5"), ("max-cost", "1e9"), ("max-cost", "nan"),
    ):  # fmt: skip
        with raises(InputError):
            options(f"--{name}={wrong}")


def test_a_port_that_is_taken(cli: Cli, store: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = cli("serve", "--port", port, "--json")
    assert done.code == 4
    assert port in done.json["error"]["message"]
    assert cli("serve", "--port", "99999").code == 4
    assert "warning" not in done.err
    wrong = cli("serve", "--port", "99999", "--graph", "nope")
    check_error(wrong.err)


@pytest.mark.parametrize("verb", ["serve", "mcp"])
def test_an_embedder_that_is_none_is_refused_at_the_start(
    verb: str, cli: Cli, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    run = cli(verb, "--embedder", "nosuch")
    assert run.code == 2
    check_error(run.err)
    monkeypatch.setenv("GRAPH_SERVICE_EMBEDDER", "openai:")
    check_error(cli(verb).err)


def test_a_model_that_was_not_fetched_is_refused_and_missing_weights_of_the_default_are_said(
    cli: Cli, store: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Statements are shown without weights; a port that is none ends the server here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run = cli("serve", "--embedder", "e5-small", "--port", "99999")
    assert run.code == 4
    check_error(run.err)
    assert "99999" not in run.err
    monkeypatch.setenv("GRAPH_SERVICE_MODEL_DIR", str(tmp_path))
    run = cli("serve", "--port", "99999")
    check_error(run.err)
    assert "99999" in run.err


def test_a_server_has_its_own_embedder(cli: Cli) -> None:
    server = ("--server", "http://127.0.0.1:1", "--embedder", "e5-small")
    for verb in (("mcp",), ("answer", "Q?")):
        run = cli(*verb, *server)
        assert run.code == 2
        check_error(run.err)


@contextmanager
def serving(store: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    # Where the tests run in the background they are deaf to SIGINT, and so would the server be.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    server = subprocess.Popen(
        [sys.executable, "-m", "graph_service.cli", "serve", "--port", "0", "--writable"],
        env={**os.environ, **PATIENT, "GRAPH_SERVICE_STORE": store},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    try:
        assert server.stderr is not None
        assert server.stderr.readline() == f"store {store}\n"
        said = server.stderr.readline()
        assert "reading and writing" in said
        found = re.search(r"http://127\.0\.0\.1:\d+/graphql", said)
        assert found is not None
        url = found[0]
        limit = time.monotonic() + 600
        while True:
            try:
                answer = httpx.post(url, json={"query": "{ graphs { nodes { name } } }"})
                break
            except httpx.ConnectError:
                assert time.monotonic() < limit
                time.sleep(0.05)
        assert answer.json()["data"] == {"graphs": {"nodes": [{"name": "demo"}]}}
        yield server, url
    finally:
        server.kill()
        server.communicate()


def test_serve_answers_until_it_is_interrupted(store: str) -> None:
    with serving(store) as (server, _):
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=600)
        assert (server.returncode, out) == (130, "")
        assert "Traceback" not in err


class Asking:
    """A query that the server has begun to read: it has asked for the body."""

    def __init__(self, url: str, length: int) -> None:
        address = urlsplit(url)
        self._connection = socket.create_connection(
            (address.hostname or "", address.port or 0), timeout=600
        )
        self._reply = self._connection.makefile("rb")
        lines = (
            f"POST {address.path} HTTP/1.1",
            f"Host: {address.netloc}",
            "Content-Type: application/json",
            f"Content-Length: {length}",
            "Expect: 100-continue",
        )
        self._connection.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        assert self._status() == 100

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._reply.close()
        self._connection.close()

    def _status(self) -> int:
        status = int(self._reply.readline().split()[1])
        while self._reply.readline().strip():
            pass
        return status

    def finish(self, body: bytes) -> tuple[int, Any]:
        """Sends the body; returns the status and what was answered."""
        self._connection.sendall(body)
        return self._status(), json.loads(self._reply.read())


def wait_until_refused(url: str) -> None:
    """Waits until the server takes no further connection."""
    until = time.monotonic() + 600
    while True:
        try:
            httpx.get(url, timeout=600)
        except httpx.TransportError:
            return
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_server_asked_to_end_answers_what_is_under_way(store: str) -> None:
    """Exit code 0, whatever connections are open and idle; the queries are sent to their end."""
    query = json.dumps({"query": "{ graphs { nodes { name } } }"}).encode()
    with serving(store) as (server, url), httpx.Client() as idle, ExitStack() as stack:
        idle.post(url, json={"query": "{ graphs { nodes { name } } }"})
        asked = [stack.enter_context(Asking(url, len(query))) for _ in range(3)]
        server.send_signal(signal.SIGTERM)
        wait_until_refused(url)
        answers = [(status, body["data"]) for status, body in (one.finish(query) for one in asked)]
        out, err = server.communicate(timeout=600)
    assert answers == [(200, {"graphs": {"nodes": [{"name": "demo"}]}})] * 3
    assert (server.returncode, out) == (0, "")
    assert "Traceback" not in err
