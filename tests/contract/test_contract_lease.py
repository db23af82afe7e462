"""A load whose process died goes on at once; one whose process lives is left alone (S1)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from graphs import statement

from graph_service.errors import LoadInProgressError
from graph_service.store.lease import is_gone, owner_name
from graph_service.store.protocol import Batch, Store

TESTS = Path(__file__).resolve().parent.parent

HOLD = """
import os, sys, time
from graph_service.store import open_store
from graph_service.store.lease import owner_name
from graph_service.store.protocol import Batch
from graphs import statement

store = open_store(
    os.environ["TEST_STORE_URL"],
    username=os.environ.get("TEST_STORE_USERNAME"),
    password=os.environ.get("TEST_STORE_PASSWORD"),
    database=os.environ.get("TEST_STORE_DATABASE"),
)
load = store.begin_load(sys.argv[1], owner=owner_name(), source="s", lease_s=600.0)
load.write(Batch(statements=[statement(("Q1", "P1", "Q2"))]), checkpoint={"next": 1})
print("held", flush=True)
time.sleep(600)
"""


@contextmanager
def holder(name: str, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, name],
        env={
            **os.environ,
            **environment,
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
        },
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_lease_of_a_dead_process_goes_at_once_and_of_a_living_one_not(
    store: Store, graph_name: str, environment_of_store: dict[str, str]
) -> None:
    with holder(graph_name, environment_of_store) as process:
        (held,) = [one for one in store.unfinished_loads() if one.edition.startswith(graph_name)]
        assert held.owner == owner_name(process.pid)
        with pytest.raises(LoadInProgressError, match="being loaded by"):
            store.begin_load(graph_name, owner=owner_name(), source="s")
        with pytest.raises(LoadInProgressError):
            store.delete_graph(graph_name)
    with store.begin_load(graph_name, owner=owner_name(), source="s") as load:
        assert (load.sequence, load.checkpoint) == (1, {"next": 1})
        load.write(Batch(statements=[statement(("Q2", "P1", "Q3"))]))
        load.finish()
        assert load.publish().counts.statements == 2


def test_a_graph_whose_first_load_died_can_be_deleted(
    store: Store, graph_name: str, environment_of_store: dict[str, str]
) -> None:
    with holder(graph_name, environment_of_store):
        pass
    store.delete_graph(graph_name)
    assert not any(one.edition.startswith(graph_name) for one in store.unfinished_loads())


def test_only_names_of_this_machines_processes_can_be_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead = owner_name(process.pid)
    assert is_gone(dead)
    assert not is_gone(owner_name())
    assert not is_gone("elsewhere/" + dead.partition("/")[2])
    assert not is_gone(dead.partition("/")[0] + "/00000000:" + dead.rpartition(":")[2])
    assert not is_gone("alice")
    assert not is_gone("")
    # Beyond what the system can number.
    assert is_gone(owner_name(10**30))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
def test_a_process_that_ended_is_gone_though_its_parent_did_not_ask_how() -> None:
    """In a container whose first process does not ask, a killed load stays listed."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(owner_name(process.pid))
    process.wait()
