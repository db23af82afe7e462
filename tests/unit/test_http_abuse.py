"""What one client must not do to the others: each attack against a server process of its own."""

from __future__ import annotations

import json
import re
import resource
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from demo_graph import MARIA, copy_store
from error_texts import check_text
from server_process import ServerProcess, answer_of, server_process
from waiting import PATIENCE_S, wait_until

from graph_service.cli.serving import RESERVED_DESCRIPTORS, raise_descriptor_limit

QUERY = b'{"query": "{ graphs { nodes { name } } }"}'
HEAD = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(QUERY) + QUERY
STUCK = """
import time
from graph_service.store.sqlite.store import SqliteStore
def stuck(*_):
    with open({marks!r}, "a") as file:
        file.write("x")
    time.sleep(1e6)
SqliteStore.entities = stuck
import graph_service.server.app
graph_service.server.readiness.PING_TIMEOUT_S = 0.3
from graph_service.server.server import Server
begin = Server.__init__
def begin_with_time_to_answer(self, *arguments, **options):
    begin(self, *arguments, **options)
    self._margin_s = 2 * (self._shutdown_timeout_s - 1)
Server.__init__ = begin_with_time_to_answer
"""
ASK_STUCK = {"query": f'{{ item(itemId: "{MARIA}") {{ id }} }}'}


@pytest.fixture(scope="module")
def store(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return copy_store(demo_file, tmp_path_factory.mktemp("abused"))


@pytest.fixture(scope="module")
def strict(store: str) -> Iterator[ServerProcess]:
    """A server that gives a client no time for a head, a body or an answer."""
    limits: dict[str, Any] = {"head_timeout_s": 0.6, "body_timeout_s": 0.6, "write_timeout_s": 0.6}
    with server_process(store, **limits) as server:
        yield server


@pytest.fixture(scope="module")
def crowded(store: str) -> Iterator[ServerProcess]:
    """A server for thirty connections, which may take their time, but for a body."""
    limits: dict[str, Any] = {"head_timeout_s": 600, "body_timeout_s": 0.6, "write_timeout_s": 600}
    with server_process(
        store, **limits, max_connections=30, max_connections_per_address=20, keep_alive_s=0.5
    ) as server:
        yield server


def refused(answer: bytes) -> tuple[int, str]:
    """The status and the code of an answer, which must be of the documented form."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\ncontent-type: application/json" in head.lower(), answer
    payload = json.loads(body)
    assert "data" not in payload
    (error,) = payload["errors"]
    assert error["message"]
    assert re.fullmatch("[0-9a-f]{32}", error["extensions"]["requestId"])
    return int(head.split()[1]), error["extensions"]["code"]


def is_served(server: ServerProcess) -> bool:
    answer = httpx.post(f"{server.url}/graphql", json={"query": "{ graphs { nodes { name } } }"})
    return bool(answer.json().get("data") == {"graphs": {"nodes": [{"name": "demo"}]}})


# Connections


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n",
        WHOLE + b"POST /graphql HTTP/1.1\r\nHost: loc",
        b"",
    ],
    ids=["head", "second-head", "nothing"],
)
def test_a_head_that_does_not_come_ends_the_connection(strict: ServerProcess, sent: bytes) -> None:
    with strict.connect() as connection:
        connection.sendall(sent)
        answer = answer_of(connection)
    last = answer[answer.rfind(b"HTTP/1.1 ") :]
    if sent:
        assert refused(last) == (408, "TIMEOUT")
    else:
        assert answer == b""


def test_a_head_byte_by_byte_gains_no_time(strict: ServerProcess) -> None:
    with strict.connect() as connection:

        def is_ended() -> bool:
            try:
                connection.sendall(b"G")
            except OSError:
                return True
            return False

        wait_until(is_ended)


@pytest.mark.parametrize(
    ("path", "status"), [(b"/graphql", 408), (b"/version", 405), (b"/none", 404)]
)
def test_a_body_that_does_not_come_ends_the_connection(
    crowded: ServerProcess, path: bytes, status: int
) -> None:
    """Also where the answer was given without it: 64 bytes a minute once kept it open for ever."""
    with crowded.connect() as connection:
        connection.sendall(HEAD.replace(b"/graphql", path) + b"Content-Length: 1000000\r\n\r\n{")
        answer = answer_of(connection)
    assert refused(answer)[0] == status


def test_a_client_that_takes_no_answer_is_left(
    strict: ServerProcess, crowded: ServerProcess
) -> None:
    page = httpx.get(f"{crowded.url}/graphql", headers={"Accept": "text/html"}).text
    (script,) = re.findall(r"graphiql/[0-9a-f]{16}/graphiql\.min\.js", page)
    request = f"GET /{script} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", strict.port))
        # A hundred times a megabyte: more than the kernel takes for a client that reads none.
        connection.sendall(request * 100)
        wait_until(lambda: not _connections(strict))


def _connections(server: ServerProcess) -> int:
    """How many connections the server process holds."""
    links = Path(f"/proc/{server.process.pid}/fd").iterdir()
    named = []
    for link in links:
        try:
            named.append(str(link.readlink()))
        except OSError:
            continue
    # The one that listens, and the two of the event loop's own pair.
    return sum(name.startswith("socket:") for name in named) - 3


def test_there_is_room_for_other_addresses(crowded: ServerProcess) -> None:
    wait_until(lambda: not _connections(crowded))
    held = [crowded.connect("127.0.0.2") for _ in range(20)]
    with crowded.connect("127.0.0.2") as one_more:
        assert refused(answer_of(one_more)) == (503, "LIMIT_EXCEEDED")
    wait_until(lambda: is_served(crowded))
    for connection in held:
        connection.close()


def test_there_is_an_end_to_all_connections(crowded: ServerProcess) -> None:
    wait_until(lambda: not _connections(crowded))
    held = [crowded.connect(f"127.0.0.{3 + i // 10}") for i in range(30)]
    with crowded.connect() as one_more:
        assert refused(answer_of(one_more)) == (503, "LIMIT_EXCEEDED")
    for connection in held:
        connection.close()
    wait_until(lambda: is_served(crowded))


def test_a_connection_that_idles_is_closed(crowded: ServerProcess) -> None:
    with crowded.connect() as connection:
        connection.sendall(WHOLE)
        assert answer_of(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"nonsense\r\n\r\n", (400, "BAD_INPUT")),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", (400, "BAD_INPUT")),
        (b"GET / HTTP/1.1\r\n\r\n", (400, "BAD_INPUT")),
        (b"POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", (400, "BAD_INPUT")),
        (b"POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n", (501, "BAD_INPUT")),
        (b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"a" * 99_000, (431, "LIMIT_EXCEEDED")),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", (400, "BAD_INPUT")),
    ],
)
def test_what_is_no_http_is_answered_in_the_form_of_every_error(
    crowded: ServerProcess, sent: bytes, expected: tuple[int, str]
) -> None:
    with crowded.connect() as connection:
        connection.sendall(sent)
        assert refused(answer_of(connection)) == expected


def test_descriptors_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (300, 1000))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    assert raise_descriptor_limit(40) == 40
    assert raise_descriptor_limit(500) == 500
    assert asked == [(500 + RESERVED_DESCRIPTORS, 1000)]
    assert raise_descriptor_limit(5000) == 1000 - RESERVED_DESCRIPTORS


# Stuck workers, and the end


def test_stuck_workers_are_not_ready_and_end_with_the_server(store: str, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    before = STUCK.format(marks=str(marks))
    # Its queries are given up a second after it was asked to end. On a busy machine their answers
    # take longer than the time that is left for them by default.
    with server_process(store, before=before, threads=2, shutdown_timeout_s=PATIENCE_S) as server:
        with ThreadPoolExecutor(3) as pool:
            stuck = [
                # Equal ones would wait for one answer.
                pool.submit(
                    httpx.post,
                    f"{server.url}/graphql",
                    json={"query": f"{ASK_STUCK['query']} # {number}"},
                )
                for number in range(2)
            ]
            wait_until(lambda: marks.exists() and marks.stat().st_size == 2)
            ready = httpx.get(f"{server.url}/health/ready")
            assert ready.status_code == 503
            check_text(ready.json()["status"])
            assert httpx.get(f"{server.url}/health/live").status_code == 200
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(600)
            for answer in stuck:
                one = answer.result()
                assert one.status_code == 503
                assert one.json()["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
        _, err = server.process.communicate(timeout=600)
    assert server.process.returncode == 1
    assert err.count("abandoned: ") == 2
    assert "Traceback" not in err


def test_a_stuck_event_loop_ends_too(store: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    block = "import graph_service.server.app as app, pathlib, time\n"
    block += (
        f"async def ready(self, request): pathlib.Path({str(mark)!r}).touch(); time.sleep(1e6)\n"
    )
    block += "app._Endpoint.ready = ready\n"
    with server_process(store, before=block, shutdown_timeout_s=1) as server:
        with server.connect() as connection:
            connection.sendall(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_until(mark.exists)
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(600)
        _, err = server.process.communicate(timeout=600)
    assert server.process.returncode == 1
    assert "in ready" in err, "the stacks say where"
