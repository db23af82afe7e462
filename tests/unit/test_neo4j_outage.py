"""A Neo4j that is away: after one failure queries fail at once, and one in a while asks again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from bolt_cluster import BoltCluster, Does, Fault, Memory
from waiting import PATIENCE_S, wait_until

from graph_service.errors import StoreUnavailableError
from graph_service.model.limits import Deadline
from graph_service.store.neo4j import driver, watchdog
from graph_service.store.neo4j.driver import Connection

ALWAYS = 100_000


@pytest.fixture
def server() -> Iterator[BoltCluster]:
    with BoltCluster(Memory(), readers=()) as server:
        yield server


@pytest.fixture
def connection(server: BoltCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A connection to the one server, for which the next look at it never comes by itself."""
    monkeypatch.setattr(driver, "RETRY_AFTER_S", float(ALWAYS))
    connection = Connection(
        f"bolt://{server.address('a')}",
        username=None,
        password=None,
        database="neo4j",
        retry_s=0.2,
        connect_timeout_s=PATIENCE_S,
    )
    yield connection
    connection.close()


def test_a_closed_connection_leaves_no_thread(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "_IDLE_S", PATIENCE_S)
    others = set(threading.enumerate())
    connection.read("ALL", deadline=Deadline.after(PATIENCE_S))
    (thread,) = (
        thread for thread in set(threading.enumerate()) - others if thread.name == "neo4j-watchdog"
    )
    connection.close()
    thread.join(PATIENCE_S / 2)
    assert not thread.is_alive()


def rows(connection: Connection) -> list[int]:
    return [row for (row,) in connection.read("ALL")]


def make_due(connection: Connection) -> None:
    """Makes it time to ask the server again."""
    assert connection._of_process.outage is not None
    connection._of_process.outage._retry_at = 0.0


@pytest.fixture
def away(server: BoltCluster, connection: Connection) -> BoltCluster:
    """The server, found to be away by a read."""
    server.script(*(Fault(message, times=ALWAYS) for message in ("HELLO", "RUN", "BEGIN")))
    with pytest.raises(StoreUnavailableError):
        rows(connection)
    return server


def test_the_next_query_fails_at_once(away: BoltCluster, connection: Connection) -> None:
    sent = len(away.seen)
    for _ in range(5):
        with pytest.raises(StoreUnavailableError, match="while reading") as caught:
            rows(connection)
        assert caught.value.retryable
        with pytest.raises(StoreUnavailableError, match="while writing"):
            connection.write("ADD", row=1)
        with pytest.raises(StoreUnavailableError), connection.at_once():
            rows(connection)
    assert len(away.seen) == sent


def test_it_is_asked_again_once_in_a_while(away: BoltCluster, connection: Connection) -> None:
    make_due(connection)
    sent = len(away.seen)
    with pytest.raises(StoreUnavailableError):
        rows(connection)
    assert len(away.seen) == sent + 1
    with pytest.raises(StoreUnavailableError):
        rows(connection)
    assert len(away.seen) == sent + 1


def test_it_is_back_when_it_answers_the_one_that_asks(
    away: BoltCluster, connection: Connection
) -> None:
    away._faults.clear()
    with pytest.raises(StoreUnavailableError):
        rows(connection)
    make_due(connection)
    assert rows(connection) == []
    connection.write("ADD", row=1)
    assert rows(connection) == [1]


def test_a_patient_connection_asks_at_any_time(away: BoltCluster, connection: Connection) -> None:
    """Loads wait for a server that starts, and readiness says how it is now."""
    patient = connection.patient()
    with pytest.raises(StoreUnavailableError):
        rows(patient)
    away._faults.clear()
    with pytest.raises(StoreUnavailableError):
        rows(connection)
    assert rows(patient) == []
    # It is back for all.
    assert rows(connection) == []


def test_one_of_many_asks(away: BoltCluster, connection: Connection) -> None:
    """The others do not wait for it."""
    gate = threading.Event()
    asks: list[int] = []
    away._faults.clear()
    answers = connection._answers

    def wait() -> bool:
        asks.append(1)
        assert gate.wait(PATIENCE_S)
        return answers()

    connection._answers = wait  # type: ignore[method-assign]
    make_due(connection)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(rows, connection)
        wait_until(lambda: asks)
        for _ in range(3):
            with pytest.raises(StoreUnavailableError):
                rows(connection)
        gate.set()
        assert asking.result(PATIENCE_S) == []
    assert len(asks) == 1


def test_a_server_that_answers_another_is_not_away(
    server: BoltCluster, connection: Connection
) -> None:
    """One query lost its connections for as long as it was tried, which says nothing of the rest."""
    server.script(Fault("RUN", having="ALL", times=ALWAYS))
    with pytest.raises(StoreUnavailableError):
        rows(connection)
    connection.write("ADD", row=1)
    server._faults.clear()
    assert rows(connection) == [1]


def test_an_error_of_the_server_is_no_outage(server: BoltCluster, connection: Connection) -> None:
    code = "Neo.TransientError.Transaction.Other"
    server.script(Fault("RUN", does=Does.FAIL, code=code, times=ALWAYS))
    with pytest.raises(StoreUnavailableError):
        rows(connection)
    server._faults.clear()
    assert rows(connection) == []
