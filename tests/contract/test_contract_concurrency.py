"""Loads and readers at once, and processes that are killed, over both stores."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from graphs import load_graph, statement
from waiting import wait_until

from graph_service.errors import LoadInProgressError
from graph_service.model.graph_info import GraphInfo
from graph_service.store.protocol import Batch, LoadSession, Store

TESTS = Path(__file__).resolve().parent.parent

KILLS = int(os.environ.get("GRAPH_SERVICE_TEST_KILLS", "4"))

PRELUDE = """
import os, signal, sys, time
from graph_service.store import open_store
from graph_service.store.protocol import Batch
from graphs import statement

def batch(number):
    rows = [(f"Q{number}-{i}", f"P{i % 7}", f"Q{number}-{i + 1}") for i in range(200)]
    return Batch(statements=[statement(row) for row in rows])

store = open_store(
    os.environ["TEST_STORE_URL"],
    username=os.environ.get("TEST_STORE_USERNAME"),
    password=os.environ.get("TEST_STORE_PASSWORD"),
    database=os.environ.get("TEST_STORE_DATABASE"),
)
name = sys.argv[1]
"""

LOAD = (
    PRELUDE
    + """
load = store.begin_load(name, owner="child", source="batches", lease_s=1.0)
print("ready", flush=True)
for number in range(load.sequence, 20):
    load.write(batch(number), checkpoint={"next": number + 1})
    time.sleep(0.01)
print("written", flush=True)
if "hold" in sys.argv:
    time.sleep(600)
load.finish()
print("finished", flush=True)
load.publish()
print("published", flush=True)
"""
)

DIE_INSIDE = (
    PRELUDE
    + """
class Deadly(list):
    def __iter__(self):
        items = list.__iter__(self)
        for place, item in enumerate(items):
            if place == 150:
                os.kill(os.getpid(), signal.SIGKILL)
            yield item

load = store.begin_load(name, owner="child", source="batches", lease_s=1.0)
load.write(batch(0), checkpoint={"next": 1})
whole = batch(1)
load.write(Batch(statements=Deadly(whole.statements)), checkpoint={"next": 2})
"""
)


def child(
    code: str, name: str, environment: dict[str, str], *arguments: str
) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), name, *arguments],
        env={**os.environ, **environment, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )


def begin_when_free(store: Store, name: str) -> LoadSession:
    """Begins the children's load once the dead one's lease has run out."""
    begun: list[LoadSession] = []

    def begins() -> bool:
        with contextlib.suppress(LoadInProgressError):
            begun.append(store.begin_load(name, owner="parent", source="batches"))
        return bool(begun)

    wait_until(begins, message="the lease of a dead process never ran out")
    return begun[0]


def batch_of(number: int) -> Batch:
    rows = [(f"Q{number}-{i}", f"P{i % 7}", f"Q{number}-{i + 1}") for i in range(200)]
    return Batch(statements=[statement(row) for row in rows])


def finish_load(store: Store, name: str) -> GraphInfo:
    with begin_when_free(store, name) as load:
        for number in range(load.sequence, 20):
            load.write(batch_of(number), checkpoint={"next": number + 1})
        load.finish()
        return load.publish()


def test_a_batch_is_atomic_when_its_process_is_killed_inside_it(
    store: Store, graph_name: str, environment_of_store: dict[str, str]
) -> None:
    process = child(DIE_INSIDE, graph_name, environment_of_store)
    process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL
    with begin_when_free(store, graph_name) as load:
        assert (load.sequence, load.checkpoint) == (1, {"next": 1})
        counts = load.finish()
        info = load.publish()
    assert (counts.written, info.counts.statements) == (200, 200)
    read = {item.head for chunk in store.scan_statements(info.edition) for item in chunk}
    assert read == {f"Q0-{i}" for i in range(200)}


def test_a_load_killed_at_any_moment_goes_on_where_it_was(
    store: Store, graph_names: Callable[[], str], environment_of_store: dict[str, str]
) -> None:
    whole = finish_load(store, graph_names())
    chance = random.Random(7)
    name = graph_names()
    killed_inside = 0
    for number in range(KILLS):
        # The first is killed inside however long the parent takes.
        process = child(LOAD, name, environment_of_store, *(() if number else ("hold",)))
        assert process.stdout is not None
        line = process.stdout.readline()
        if line:
            time.sleep(chance.random() * 0.15)
        process.kill()
        process.communicate(timeout=600)
        if name in [info.name for info in store.graphs()]:
            break
        killed_inside += 1
    else:
        finish_load(store, name)
    assert killed_inside >= 1
    info = store.graph(name)
    assert info.fingerprints == whole.fingerprints
    assert info.counts == whole.counts


def test_two_loads_of_different_graphs_and_ten_readers_at_once(
    store: Store, graph_names: Callable[[], str]
) -> None:
    base = graph_names()
    edition = load_graph(store, base, [(f"Q{i}", "P1", f"Q{i + 1}") for i in range(50)]).edition
    names = [graph_names(), graph_names()]
    stop = threading.Event()

    def load(name: str) -> GraphInfo:
        with store.begin_load(name, owner=name, source="s") as session:
            for number in range(8):
                session.write(batch_of(number))
            session.finish()
            return session.publish()

    def read() -> int:
        reads = 0
        while not stop.is_set() or reads == 0:
            assert len(store.neighbourhood(edition, ["Q5"], hops=2).edges) == 4
            assert store.entities(edition, ["Q5"]).missing == ()
            assert sum(len(chunk) for chunk in store.scan_edges(edition)) == 50
            for info in store.graphs():
                if info.name in names:
                    assert info.counts.statements == 1600
            reads += 1
        return reads

    with ThreadPoolExecutor(12) as pool:
        readers = [pool.submit(read) for _ in range(10)]
        loads = [pool.submit(load, name) for name in names]
        try:
            infos = [future.result(timeout=600) for future in loads]
        finally:
            stop.set()
        assert all(future.result(timeout=600) for future in readers)
    assert infos[0].fingerprints == infos[1].fingerprints


def test_readers_see_the_last_published_graph_while_it_is_replaced(
    store: Store, graph_name: str
) -> None:
    sizes = {10, 20, 30}
    load_graph(store, graph_name, [(f"Q{i}", "P1", "Q0") for i in range(10)])
    stop = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not stop.is_set():
            edition = store.graph(graph_name).edition
            seen.append(sum(len(chunk) for chunk in store.scan_statements(edition)))

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        try:
            for size in (20, 30):
                rows = [(f"Q{i}", "P1", "Q0") for i in range(size)]
                load_graph(store, graph_name, rows, replace=True)
                # One that begins after it, and one that may be under way.
                wanted = len(seen) + 2
                while len(seen) < wanted and not reader.done():
                    time.sleep(0.01)
        finally:
            stop.set()
        reader.result(timeout=600)
    assert seen[-1] == 30
    assert set(seen) <= sizes
    assert seen == sorted(seen)
