"""A cluster at neo4j://: leader change, members lost or silent, bookmarks that are behind.

The members are of ``bolt_cluster``: they speak Bolt to the real driver and follow a script.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bolt_cluster import (
    BOOKMARK_TIMEOUT,
    DATABASE_UNAVAILABLE,
    INVALID_BOOKMARK,
    NOT_A_LEADER,
    BoltCluster,
    Does,
    Fault,
    Memory,
)
from error_texts import check_line, raises
from jumping_clock import JumpingClock
from waiting import PATIENCE_S, wait_until

from graph_service.errors import DeadlineError, StoreUnavailableError
from graph_service.model.limits import Deadline
from graph_service.store.neo4j import driver, watchdog
from graph_service.store.neo4j.driver import Connection

Opener = Callable[..., Connection]


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def cluster(memory: Memory) -> Iterator[BoltCluster]:
    with BoltCluster(memory) as found:
        yield found


@pytest.fixture
def connect(cluster: BoltCluster) -> Iterator[Opener]:
    """Gives ``connect()``: a connection to the cluster, closed at the end of the test."""
    opened: list[Connection] = []

    def connect(*, bookmarks: Path | None = None, retry_s: float = PATIENCE_S) -> Connection:
        connection = Connection(
            cluster.url,
            username=None,
            password=None,
            database="neo4j",
            retry_s=retry_s,
            connect_timeout_s=PATIENCE_S,
        )
        if bookmarks is not None:
            connection.share_bookmarks(bookmarks)
        opened.append(connection)
        return connection

    yield connect
    for connection in opened:
        connection.close()


class LateOnceSilent(JumpingClock):
    """Stands in for ``time``: all time is over once what was scripted has happened."""

    def __init__(self, cluster: BoltCluster) -> None:
        super().__init__()
        self._cluster = cluster
        self._is_due = True

    def monotonic(self) -> float:
        if self._is_due and not self._cluster.left():
            self._is_due = False
            self.jump()
        return super().monotonic()


def add(connection: Connection, row: int) -> None:
    connection.write("ADD", row=row)


def rows(connection: Connection, **options: Deadline) -> list[int]:
    return [row for (row,) in connection.read("ALL", **options)]  # type: ignore[arg-type]


def test_writes_go_to_the_leader_and_reads_to_the_others(
    cluster: BoltCluster, connect: Opener
) -> None:
    connection = connect()
    add(connection, 1)
    for _ in range(4):
        assert rows(connection) == [1]
    assert {one.member for one in cluster.asked("RUN", "ADD")} == {"a"}
    assert {one.member for one in cluster.asked("RUN", "ALL")} <= {"b", "c"}


@pytest.mark.parametrize("message", ["BEGIN", "RUN", "COMMIT"])
@pytest.mark.parametrize("does", [Does.FAIL, Does.DIE])
def test_a_write_follows_the_leader(
    message: str, does: Does, cluster: BoltCluster, memory: Memory, connect: Opener
) -> None:
    """The old leader refuses or dies at any message; the new one takes the write, once."""
    connection = connect()
    add(connection, 1)
    cluster.script(
        Fault(message, on="a", does=does, code=NOT_A_LEADER, then=lambda: cluster.elect("b"))
    )
    add(connection, 2)
    assert memory.rows == [1, 2]
    assert not cluster.left()
    assert [one.member for one in cluster.asked("COMMIT")][-1] == "b"


def test_a_cluster_without_a_leader_is_waited_for_and_then_named(
    cluster: BoltCluster, memory: Memory, connect: Opener
) -> None:
    connection = connect(retry_s=0.3)
    cluster.elect(None)
    with raises(StoreUnavailableError) as caught:
        add(connection, 1)
    assert caught.value.retryable
    assert "elected a leader" in str(caught.value)
    assert rows(connection) == []
    cluster.elect("c")
    add(connection, 1)
    assert memory.rows == [1]


def test_an_old_leader_that_refuses_all_the_time_is_no_error_of_the_query(
    cluster: BoltCluster, connect: Opener
) -> None:
    cluster.script(Fault("RUN", does=Does.FAIL, code=NOT_A_LEADER, times=100))
    with raises(StoreUnavailableError) as caught:
        add(connect(retry_s=0.2), 1)
    assert caught.value.retryable


def test_a_patient_connection_waits_longer_for_a_leader(
    cluster: BoltCluster, memory: Memory, connect: Opener
) -> None:
    """A load's: what would fail at once otherwise is tried again until there is one."""
    impatient = connect(retry_s=0.0)
    cluster.script(Fault("RUN", on="a", does=Does.FAIL, code=NOT_A_LEADER, times=3))
    with pytest.raises(StoreUnavailableError):
        add(impatient, 1)
    add(impatient.patient(PATIENCE_S), 1)
    assert memory.rows == [1]


@pytest.mark.parametrize("message", ["BEGIN", "RUN", "PULL", "COMMIT"])
@pytest.mark.parametrize(("does", "code"), [(Does.DIE, ""), (Does.FAIL, DATABASE_UNAVAILABLE)])
def test_a_read_goes_on_elsewhere(
    message: str, does: Does, code: str, cluster: BoltCluster, memory: Memory, connect: Opener
) -> None:
    """A reader that is lost in the middle, or whose database is away: the other one answers."""
    memory.rows = list(range(1_100))
    connection = connect()
    cluster.script(Fault(message, does=does, code=code))
    assert rows(connection, deadline=Deadline.after(PATIENCE_S)) == list(range(1_100))
    assert not cluster.left()
    first, second = [one.member for one in cluster.asked("BEGIN")]
    assert first != second


def test_reads_without_any_reader_end_with_the_reason(
    cluster: BoltCluster, connect: Opener
) -> None:
    cluster.script(Fault("BEGIN", does=Does.FAIL, code=DATABASE_UNAVAILABLE, times=100))
    with pytest.raises(StoreUnavailableError, match="DatabaseUnavailable|by the script") as caught:
        rows(connect(retry_s=0.3), deadline=Deadline.after(PATIENCE_S))
    assert caught.value.retryable


@pytest.mark.parametrize("message", ["BEGIN", "RUN", "PULL"])
def test_a_silent_reader_holds_nobody_past_the_deadline(
    message: str, cluster: BoltCluster, connect: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that is gone says nothing; the next read leaves it out."""
    connection = connect()
    rows(connection)
    members: list[str] = []
    note_member = lambda: members.append(cluster.seen[-1].member)  # noqa: E731
    cluster.script(Fault(message, does=Does.HANG, then=note_member))
    late = LateOnceSilent(cluster)
    monkeypatch.setattr(watchdog, "time", late)
    monkeypatch.setattr("graph_service.model.limits.time", late)
    with pytest.raises(StoreUnavailableError):
        rows(connection, deadline=Deadline.after(PATIENCE_S))
    (silent,) = members
    before = len(cluster.seen)
    for _ in range(3):
        assert rows(connection, deadline=Deadline.after(PATIENCE_S)) == []
    assert silent not in {one.member for one in cluster.seen[before:] if one.message == "RUN"}


def test_a_block_gives_its_reads_a_deadline(
    cluster: BoltCluster, connect: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the read of an API's query would wait as long as the server is silent."""
    connection = connect()
    rows(connection)
    cluster.script(Fault("RUN", does=Does.HANG))
    late = LateOnceSilent(cluster)
    monkeypatch.setattr(watchdog, "time", late)
    monkeypatch.setattr("graph_service.model.limits.time", late)
    with connection.within(Deadline.after(PATIENCE_S)):
        with pytest.raises(StoreUnavailableError):
            rows(connection)
        with connection.within(Deadline.none()):
            assert rows(connection) == []
        with pytest.raises(DeadlineError):
            rows(connection)
    assert rows(connection) == []


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is silent is soon found to be."""
    monkeypatch.setattr(watchdog, "GRACE_S", 0.1)
    monkeypatch.setattr(watchdog, "PROBE_S", 0.05)
    monkeypatch.setattr(driver, "PROBE_S", 0.1)
    monkeypatch.setattr(driver, "RETRY_AFTER_S", 0.0)


@pytest.mark.usefixtures("hasty")
def test_a_server_that_was_silent_is_asked_in_short_until_it_answers(
    cluster: BoltCluster, connect: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each query would wait for all of its time, and hold a thread."""
    connection = connect(retry_s=0.2)
    cluster.script(Fault("RUN", does=Does.HANG, times=1000))
    with pytest.raises(StoreUnavailableError):
        rows(connection, deadline=Deadline.after(PATIENCE_S))
    sent = cluster.asked("RUN", "ALL")
    with pytest.raises(StoreUnavailableError), connection.at_once():
        rows(connection, deadline=Deadline.after(PATIENCE_S))
    assert cluster.asked("RUN", "ALL") == sent
    cluster._faults.clear()
    monkeypatch.setattr(driver, "PROBE_S", PATIENCE_S)
    assert rows(connection) == []
    assert not connection._of_process.is_silent


@pytest.mark.usefixtures("hasty")
def test_a_long_read_goes_on_while_the_server_answers_others(
    cluster: BoltCluster, connect: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "PROBE_S", PATIENCE_S)
    connection = connect(retry_s=0.2)
    cluster.script(Fault("RUN", does=Does.HANG))
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(rows, connection, deadline=Deadline.after(PATIENCE_S))
        wait_until(lambda: len(cluster.asked("RUN", "RETURN 1")) >= 3)
        assert not read.done()
        # Now it answers nothing any more.
        monkeypatch.setattr(driver, "PROBE_S", 0.1)
        cluster.script(Fault("RUN", does=Does.HANG, times=1000))
        with pytest.raises(StoreUnavailableError):
            read.result(PATIENCE_S)


def test_a_read_sees_the_last_write(cluster: BoltCluster, connect: Opener) -> None:
    """Each transaction names the state of the last one: a reader that is behind waits for it."""
    connection = connect()
    add(connection, 1)
    add(connection, 2)
    rows(connection)
    assert [one.extra.get("bookmarks", []) for one in cluster.asked("BEGIN")] == [
        [],
        ["FB:000001"],
        ["FB:000002"],
    ]


def test_a_reader_that_stays_behind_leaves_the_read_to_the_leader(
    cluster: BoltCluster, connect: Opener
) -> None:
    connection = connect()
    add(connection, 1)
    cluster.script(Fault("BEGIN", does=Does.FAIL, code=BOOKMARK_TIMEOUT))
    assert rows(connection, deadline=Deadline.after(PATIENCE_S)) == [1]
    reads = cluster.asked("BEGIN")[1:]
    assert [one.member == "a" for one in reads] == [False, True]
    assert all(one.extra["bookmarks"] == ["FB:000001"] for one in reads)


@pytest.mark.parametrize("message", ["BEGIN", "ROUTE"])
def test_a_bookmark_of_before_a_restore_is_dropped(
    message: str, cluster: BoltCluster, connect: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    """Else no read of this process would succeed until it is started again."""
    connection = connect()
    add(connection, 1)
    if message == "ROUTE":
        cluster.script(Fault("RUN", does=Does.FAIL, code=NOT_A_LEADER))
    cluster.script(Fault(message, does=Does.FAIL, code=INVALID_BOOKMARK))
    with caplog.at_level(logging.WARNING, "graph_service"):
        add(connection, 2)
    check_line(caplog.messages, "restored or made")
    assert not cluster.left()
    assert cluster.asked("BEGIN")[-1].extra.get("bookmarks", []) == []
    assert rows(connection) == [1, 2]


def test_a_bookmark_that_the_leader_lacks_is_dropped(cluster: BoltCluster, connect: Opener) -> None:
    """A restored database of the same name knows the bookmark, and never gets there."""
    connection = connect()
    add(connection, 1)
    cluster.script(Fault("BEGIN", does=Does.FAIL, code=BOOKMARK_TIMEOUT, times=2))
    assert rows(connection, deadline=Deadline.after(PATIENCE_S)) == [1]
    begun = [one.extra.get("bookmarks", []) for one in cluster.asked("BEGIN")[1:]]
    assert begun == [["FB:000001"], ["FB:000001"], []]


def test_another_process_sees_the_last_write(
    cluster: BoltCluster, connect: Opener, tmp_path: Path
) -> None:
    """By the file that they share, whichever of them was there first."""
    file = tmp_path / "folder" / "store.bookmarks"
    waiting, writing = connect(bookmarks=file), connect(bookmarks=file)
    rows(waiting)
    add(writing, 1)
    assert rows(waiting) == [1]
    assert "FB:000001" in cluster.asked("BEGIN")[-1].extra["bookmarks"]
    assert rows(connect(bookmarks=file)) == [1]
    assert "FB:000001" in cluster.asked("BEGIN")[-1].extra["bookmarks"]


def test_two_writers_keep_one_bookmark_in_the_file(
    cluster: BoltCluster, connect: Opener, tmp_path: Path
) -> None:
    """What a later transaction has gone beyond is not asked for any more."""
    file = tmp_path / "store.bookmarks"
    first, second = connect(bookmarks=file), connect(bookmarks=file)
    for row in range(3):
        add(first, row)
        add(second, row)
    assert file.read_text() == '["FB:000006"]'
    rows(first)
    assert "FB:000006" in cluster.asked("BEGIN")[-1].extra["bookmarks"]


def test_bookmarks_of_before_a_restore_leave_the_file(
    cluster: BoltCluster, connect: Opener, tmp_path: Path
) -> None:
    file = tmp_path / "store.bookmarks"
    add(connect(bookmarks=file), 1)
    cluster.script(Fault("BEGIN", does=Does.FAIL, code=INVALID_BOOKMARK))
    assert rows(connect(bookmarks=file)) == [1]
    assert file.read_text() == "[]"


def test_a_folder_that_cannot_be_written_is_said_once(
    cluster: BoltCluster, connect: Opener, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    connection = connect(bookmarks=tmp_path / "file" / "store.bookmarks")
    with caplog.at_level(logging.WARNING, "graph_service"):
        add(connection, 1)
        add(connection, 2)
    assert caplog.text.count("bookmarks cannot be") == 1
    assert rows(connection) == [1, 2]


@pytest.mark.parametrize("does", [Does.DIE, Does.FAIL])
def test_reads_that_share_a_session_go_on_elsewhere(
    does: Does, cluster: BoltCluster, memory: Memory, connect: Opener
) -> None:
    memory.rows = [1, 2]
    connection = connect()
    with connection.at_once():
        assert rows(connection) == [1, 2]
        cluster.script(Fault("RUN", does=does, code=DATABASE_UNAVAILABLE))
        assert rows(connection) == [1, 2]
        assert rows(connection) == [1, 2]
    assert not cluster.left()
    lost = cluster.asked("RUN")[1].member
    assert [one.member for one in cluster.asked("RUN")][2:] != [lost, lost]


def test_silence_ends_reads_that_share_a_session(
    cluster: BoltCluster, connect: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect()
    cluster.script(Fault("RUN", does=Does.HANG))
    monkeypatch.setattr(watchdog, "time", LateOnceSilent(cluster))
    with connection.at_once():
        assert rows(connection) == []


def test_what_was_seen_outlives_a_fork(cluster: BoltCluster, connect: Opener) -> None:
    """A forked child has a driver of its own, and must not read less than its parent did."""
    connection = connect()
    add(connection, 1)
    parent, _ = connection._of_process.open()
    connection._of_process._pid = -1
    assert rows(connection) == [1]
    parent.close()
    assert cluster.asked("BEGIN")[-1].extra["bookmarks"] == ["FB:000001"]
