"""``serve --workers``: several processes that are one server to its clients and its operator (B9)."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from demo_graph import copy_store
from error_texts import check_line
from server_process import ServerProcess, answer_of, server_process
from waiting import PATIENCE_S
from waiting import wait_until as until

from graph_service.server.connections import ConnectionLimits, Over
from graph_service.server.metrics import MULTIPROCESS_FOLDER
from graph_service.server.processes import _environment
from graph_service.server.shared_folder import SharedFolder, forget_metrics
from graph_service.server.shared_state import SharedState
from graph_service.server.socket_passing import DRAIN, END, OPEN, Channel, ConnectionSender
from graph_service.settings import Settings

MAX_CONNECTIONS = 12
CONNECT = "{ graphs { nodes { name } } }"
COSTLY = '{ a: triplets(input: {question: "zorblax", prove: true}) { text } }'
COST = 11.0005
MANY = "{ " + " ".join(f'a{n}: item(itemId: "Q42") {{ label }}' for n in range(20)) + " }"


def children(pid: int) -> list[int]:
    said = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(one) for one in said.split()]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def ready(server: ServerProcess) -> bool:
    return httpx.get(f"{server.url}/health/ready").status_code == 200


def post(server: ServerProcess, document: str) -> httpx.Response:
    return httpx.post(f"{server.url}/graphql", json={"query": document})


@pytest.fixture(scope="module")
def server(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Two processes with one bucket of 24 for a client, and twelve connections."""
    store = copy_store(demo_file, tmp_path_factory.mktemp("workers"))
    options = ("--workers", "2", "--rate", "1e-6", "--max-cost", "24", "--warm", "demo")
    # Connections are held without a request for as long as a test takes.
    limits: dict[str, Any] = {"max_connections": MAX_CONNECTIONS, "head_timeout_s": PATIENCE_S}
    with server_process(store, *options, **limits) as server:
        yield server


def test_it_is_ready_when_every_process_is(server: ServerProcess) -> None:
    until(lambda: ready(server))
    parts = children(server.process.pid)
    assert len(parts) == 2
    os.kill(parts[0], signal.SIGSTOP)
    try:
        # The one that still runs answers, whichever comes first in its turn.
        with ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(post, server, CONNECT) for _ in range(2)]
            until(lambda: any(one.done() for one in asked))
            os.kill(parts[0], signal.SIGCONT)
            assert all(one.result(timeout=600).status_code == 200 for one in asked)
    finally:
        os.kill(parts[0], signal.SIGCONT)


def test_a_client_has_one_bucket_whichever_process_it_asks(server: ServerProcess) -> None:
    until(lambda: ready(server))
    # Each request is a connection of its own, and connections go to the processes in turn.
    statuses = [post(server, f"{COSTLY} # {number}").status_code for number in range(4)]
    assert statuses == [200, 200, 429, 429]
    left = post(server, CONNECT).json()["extensions"]["cost"]["throttleStatus"]
    assert left["currentlyAvailable"] == pytest.approx(24 - 2 * COST, abs=0.1)


def test_connections_are_counted_over_all_processes(server: ServerProcess) -> None:
    until(lambda: ready(server))
    held = []
    try:
        # Those of earlier requests may still be on their way out.
        until(lambda: post(server, CONNECT).status_code == 200)
        held = [server.connect() for _ in range(MAX_CONNECTIONS)]
        with server.connect() as over:
            said = answer_of(over)
        assert b" 503 " in said.partition(b"\r\n")[0]
        assert b"12 connections, which is all it keeps" in said
        for one in held[: MAX_CONNECTIONS // 2]:
            one.close()
        until(lambda: post(server, CONNECT).status_code == 200)
    finally:
        for one in held:
            one.close()


def test_one_that_is_killed_is_replaced(server: ServerProcess) -> None:
    until(lambda: ready(server))
    before = children(server.process.pid)
    os.kill(before[0], signal.SIGKILL)
    until(lambda: before[0] not in children(server.process.pid))
    # The other one answers meanwhile, and says that not all are there.
    assert post(server, CONNECT).status_code == 200
    until(lambda: len(children(server.process.pid)) == 2)
    after = children(server.process.pid)
    # A signal to all processes of a service is the first one's affair, from the beginning.
    for one in after:
        os.kill(one, signal.SIGTERM)
    until(lambda: ready(server))
    assert children(server.process.pid) == after
    assert before[1] in after
    assert before[0] not in after


def test_asked_to_end_all_answer_what_they_have_and_end(demo_file: Path, tmp_path: Path) -> None:
    store = copy_store(demo_file, tmp_path)
    # Asked again, it ends the drain: these are over when the test says so.
    patient: dict[str, Any] = {"body_timeout_s": PATIENCE_S, "shutdown_timeout_s": PATIENCE_S}
    with server_process(store, "--workers", "2", "--drain-s", "600", **patient) as server:
        until(lambda: ready(server))
        parts = children(server.process.pid)
        body = json.dumps({"query": MANY}).encode()
        head = (
            f"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nexpect: 100-continue\r\n\r\n"
        ).encode()
        asking = [server.connect() for _ in range(4)]
        for one in asking:
            one.sendall(head)
            assert one.recv(65_536).startswith(b"HTTP/1.1 100 ")
        server.process.send_signal(signal.SIGTERM)
        until(lambda: not ready(server))
        server.process.send_signal(signal.SIGTERM)
        until(lambda: not server.listens())
        # What came before the end of the drain is answered after it.
        for one in asking:
            one.sendall(body)
        for one in asking:
            assert b" 200 " in one.recv(65_536).partition(b"\r\n")[0]
            one.close()
        assert server.process.wait(600) == 0
        assert not any(map(is_running, parts))


def test_asked_to_end_while_one_is_warmed_it_ends_as_it_should(
    demo_file: Path, tmp_path: Path
) -> None:
    store = copy_store(demo_file, tmp_path)
    options = ("--workers", "2", "--warm", "demo")
    with server_process(store, *options, shutdown_timeout_s=PATIENCE_S) as server:
        until(lambda: len(children(server.process.pid)) == 2)
        # Both are told before they have begun to serve: they end while they open the graph.
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(600) == 0


def test_none_outlives_the_one_that_listens(
    demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = copy_store(demo_file, tmp_path)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    with server_process(store, "--workers", "2") as server:
        until(lambda: ready(server))
        parts = children(server.process.pid)
        assert list(folder.iterdir())
        server.process.kill()
        until(lambda: not any(map(is_running, parts)))
    assert not list(folder.iterdir())


@contextmanager
def log_of(server: ServerProcess) -> Iterator[list[str]]:
    """Gives the lines that a server writes to its log, and ends it with the block."""
    lines: list[str] = []
    assert server.process.stderr is not None
    reading = Thread(target=lines.extend, args=(server.process.stderr,))
    reading.start()
    try:
        yield lines
    finally:
        server.process.kill()
        reading.join(600)


def test_one_that_hangs_gets_no_connections_until_it_goes_on(
    demo_file: Path, tmp_path: Path
) -> None:
    store = copy_store(demo_file, tmp_path)
    with (
        server_process(store, "--workers", "2", worker_timeout_s=100_000) as server,
        log_of(server) as log,
    ):
        until(lambda: ready(server))
        parts = children(server.process.pid)
        os.kill(parts[0], signal.SIGSTOP)
        try:
            until(lambda: any(f"pid {parts[0]}) makes no progress" in line for line in log))
            # They went to both in turn: of ten, five would wait for ever.
            assert [post(server, CONNECT).status_code for _ in range(10)] == [200] * 10
        finally:
            os.kill(parts[0], signal.SIGCONT)
        until(lambda: any(f"pid {parts[0]}) makes progress again" in line for line in log))
        assert children(server.process.pid) == parts


def test_when_all_hang_clients_wait(demo_file: Path, tmp_path: Path) -> None:
    store = copy_store(demo_file, tmp_path)
    with (
        server_process(store, "--workers", "2", worker_timeout_s=100_000) as server,
        log_of(server) as log,
    ):
        until(lambda: ready(server))
        parts = children(server.process.pid)
        for one in parts:
            os.kill(one, signal.SIGSTOP)
        until(lambda: sum("makes no progress" in line for line in log) == 2)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(post, server, CONNECT)
            os.kill(parts[1], signal.SIGCONT)
            assert asked.result(timeout=600).status_code == 200
        os.kill(parts[0], signal.SIGCONT)


def test_one_that_hangs_for_long_is_replaced(demo_file: Path, tmp_path: Path) -> None:
    store = copy_store(demo_file, tmp_path)
    with (
        server_process(store, "--workers", "2", worker_timeout_s=4) as server,
        log_of(server) as log,
    ):
        until(lambda: ready(server))
        parts = children(server.process.pid)
        os.kill(parts[0], signal.SIGSTOP)
        until(lambda: not is_running(parts[0]))
        until(lambda: ready(server))
        after = children(server.process.pid)
        assert len(after) == 2
        assert parts[0] not in after
        assert parts[1] in after
        assert any(f"pid {parts[0]})" in line and "no progress" in line for line in log)


def test_the_folder_of_a_killed_server_goes_when_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import sys; from graph_service.server.shared_folder import SharedFolder\n"
        "with SharedFolder(): print('made', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        (folder,) = tmp_path.iterdir()
        # A folder that another program made stays.
        (tmp_path / "graph-service-mine").mkdir()
        with SharedFolder():
            assert folder.is_dir(), "its server runs"
        other.kill()
    assert folder.is_dir()
    with SharedFolder():
        assert not folder.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["graph-service-mine"]


def test_what_the_processes_share_goes_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MULTIPROCESS_FOLDER, raising=False)
    with SharedFolder() as shared:
        assert SharedState(shared.state, 2).count_cold() == 2
        counted = Path(os.environ[MULTIPROCESS_FOLDER])
        assert counted.is_dir()
        # What a process that has ended had open is no longer counted; what it did is.
        for name in ("gauge_livesum_17.db", "counter_17.db", "gauge_livesum_18.db"):
            (counted / name).touch()
        forget_metrics(17)
        left = sorted(one.name for one in counted.iterdir())
        assert left == ["counter_17.db", "gauge_livesum_18.db"]
    assert not counted.exists()
    assert MULTIPROCESS_FOLDER not in os.environ


def test_the_processes_share_the_cores_for_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    said = [_environment(count) for count in (2, 3, 16)]
    assert [one["OPENBLAS_NUM_THREADS"] for one in said] == ["4", "2", "1"]
    assert said[0]["OMP_NUM_THREADS"] == "5"


LIMITS = ConnectionLimits.of(Settings())


@pytest.fixture
def ends() -> Iterator[tuple[ConnectionSender, Channel]]:
    ours, theirs = socket.socketpair()
    sender, channel = ConnectionSender(ours), Channel(theirs, LIMITS)
    yield sender, channel
    sender.close()
    channel.close()


def test_connections_and_words_come_in_order(ends: tuple[ConnectionSender, Channel]) -> None:
    sender, channel = ends
    channel.say(OPEN)
    assert sender.hear() == [OPEN]
    pairs = [socket.socketpair() for _ in range(3)]
    for number, (mine, other) in enumerate(pairs[:2], 1):
        assert sender.send(number, f"address {number}", Over(number - 1), other)
        other.close()
        mine.sendall(b"%d" % number)
    sender.tell(DRAIN)
    mine, other = pairs[2]
    assert sender.send(3, "address 3", Over.ADDRESS, other)
    other.close()
    sender.tell(END)
    come = list(channel.take())
    assert [one if isinstance(one, int) else one[0].number for one in come] == [1, 2, DRAIN, 3, END]
    handed = [one for one in come if not isinstance(one, int)]
    assert handed[0][1].recv(10) == b"1"
    assert handed[1][1].recv(10) == b"2"
    said = [one[0].enter("") for one in handed]
    assert said[0] == ""
    check_line(said[1], "which is all")
    assert "of one address" in said[2]
    handed[0][0].leave("")
    assert sender.hear() == [1]
    for _, connection in handed:
        connection.close()
    for mine, _ in pairs:
        mine.close()


def test_the_end_of_either_side_is_heard(ends: tuple[ConnectionSender, Channel]) -> None:
    sender, channel = ends
    sender.close()
    with pytest.raises(EOFError):
        list(channel.take())
    # Nobody hears it any more, and that is no error.
    channel.say(1)


def test_what_can_be_handed_no_more_is_left(ends: tuple[ConnectionSender, Channel]) -> None:
    sender, _ = ends
    mine, other = socket.socketpair()
    with mine, other:
        given = 0
        while sender.send(given, "", Over.NONE, other):
            given += 1
            assert given < 100_000
        assert len(sender.addresses) == given
