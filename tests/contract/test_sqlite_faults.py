"""What can go wrong with a file: each its own clear error, and nothing half written."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from error_texts import check_text, raises
from graphs import load_graph, sample_entities, sample_statements, statement

from graph_service.doctor.verification import verify_store
from graph_service.errors import (
    DeadlineError,
    GraphNotFoundError,
    InputError,
    KeyCollisionError,
    LoadInProgressError,
    SchemaVersionError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.statement import Entity
from graph_service.store import encoded, hashes, open_store
from graph_service.store.protocol import Batch, Store
from graph_service.store.snapshot.cache import SnapshotCache
from graph_service.store.snapshot.file import open_snapshot
from graph_service.store.sqlite import batch as sqlite_batch
from graph_service.store.sqlite import database as sqlite_database
from graph_service.store.sqlite import inspect as sqlite_inspect
from graph_service.store.sqlite import store as sqlite_store
from graph_service.store.sqlite.database import Database
from graph_service.store.sqlite.schema import MIGRATIONS, NAMES_TABLE, SCHEMA_VERSION, of_edition
from graph_service.store.sqlite.store import SqliteStore, open_sqlite

TESTS = Path(__file__).resolve().parent.parent
ROW = ("Q1", "P1", "Q2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


def filled(path: Path) -> None:
    with open_sqlite(path) as store:
        load_graph(store, "g", sample_statements(), sample_entities())


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_full_disk(path: Path) -> None:
    filled(path)
    code = """
        import resource, sys
        from graph_service.errors import StoreFullError
        from graph_service.store import open_store
        from graph_service.store.protocol import Batch
        from graphs import statement
        store = open_store("sqlite:///" + sys.argv[1])
        load = store.begin_load("h", owner="a", source="s")
        load.write(Batch(statements=[statement(("Q1", "P1", "Q2"))]), checkpoint={"n": 1})
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
        rows = [statement((f"Q{i}", "P1", "x" * 900 + str(i))) for i in range(5000)]
        try:
            load.write(Batch(statements=rows), checkpoint={"n": 2})
        except StoreFullError as error:
            print(error.retryable, load.sequence, error)
        print(len(store.graphs()))
    """
    done = run_python(code, path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    check_text(first, "True 1")
    assert second == "1"
    with open_sqlite(path) as store, store.begin_load("h", owner="a", source="s") as load:
        assert (load.sequence, load.checkpoint) == (1, {"n": 1})
        load.finish()
        assert load.publish().counts.statements == 1


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_bytes(b"this is plain text, and long enough to be read as a header" * 200)
    with pytest.raises(StoreCorruptError, match=r"graph\.db"):
        open_sqlite(path)


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="another program"):
        open_sqlite(path)
    assert path.read_bytes() == before


def test_a_damaged_file(path: Path) -> None:
    with open_sqlite(path) as store:
        rows = [(f"Q{i}", "P1", f"Q{i + 1}") for i in range(3000)]
        load_graph(store, "g", rows)
    data = bytearray(path.read_bytes())
    for place in range(8192 * 4, len(data), 64):
        data[place : place + 32] = b"\xa5" * 32
    path.write_bytes(data)

    def use() -> None:
        with open_sqlite(path) as store:
            for _ in store.scan_statements(store.graph("g").edition):
                pass

    with pytest.raises(StoreCorruptError):
        use()


def test_a_cut_file(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes()[:10_000])

    def use() -> None:
        with open_sqlite(path) as store:
            store.graphs()
            store.snapshot(store.graph("g"))

    with pytest.raises(StoreCorruptError):
        use()


def test_a_newer_schema(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(SchemaVersionError, match="newer"):
        open_sqlite(path)


def test_an_older_schema_is_brought_forward(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path)
    monkeypatch.setattr(sqlite_database, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(SchemaVersionError, match="cannot upgrade schema"):
        open_sqlite(path)
    monkeypatch.setitem(
        MIGRATIONS,
        SCHEMA_VERSION,
        lambda connection: connection.execute("CREATE TABLE added (x)") and None,
    )
    with open_sqlite(path) as store:
        assert store.graph("g").counts.statements == len(sample_statements())
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION + 1,)
    assert connection.execute("SELECT count(*) FROM added").fetchone() == (0,)
    connection.close()


def test_a_locked_file_says_so(path: Path) -> None:
    filled(path)
    with open_sqlite(path, busy_timeout_s=0.1) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError) as caught:
            store.begin_load("h", owner="a", source="s")
        assert caught.value.retryable
        store.graphs()
        other.execute("ROLLBACK")
        other.close()
        load_graph(store, "h", [ROW])


def test_read_only(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no store"):
        open_sqlite(path, read_only=True)
    assert not path.exists()
    filled(path)
    with open_store(f"sqlite:///{path}", read_only=True) as store:
        assert store.snapshot(store.graph("g")).edge_count == len(sample_statements())
        with pytest.raises(StoreError, match="reading only"):
            store.begin_load("h", owner="a", source="s")


@pytest.mark.parametrize(
    "url",
    ["", "graph.db", "sqlite:graph.db", "sqlite://graph.db", "sqlite:///", "http://x", "redis://x"],
)
def test_bad_addresses(url: str) -> None:
    with pytest.raises(InputError, match="sqlite:///"):
        open_store(url)


def test_addresses(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("sqlite:///graph.db") as store:
        load_graph(store, "g", [ROW])
    with open_store(f"sqlite:///{path}") as store:
        assert [info.name for info in store.graphs()] == ["g"]
    odd = tmp_path / "a b#c?d%20é"
    odd.mkdir()
    with open_store(f"sqlite:///{odd / 'x?mode=ro.db'}") as store:
        load_graph(store, "g", [ROW])
    assert (odd / "x?mode=ro.db").is_file()
    with pytest.raises(InputError, match="no folder"):
        open_sqlite(tmp_path / "none" / "graph.db")
    with pytest.raises(InputError, match="is a folder"):
        open_sqlite(tmp_path)


def test_a_closed_store_says_so(path: Path) -> None:
    store = open_sqlite(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.graphs()


def test_a_batch_is_in_once_though_the_reply_to_its_commit_was_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sqlite(path) as store, store.begin_load("g", owner="a", source="s") as load:

        def commit_and_fail() -> None:
            load._connection.execute("COMMIT")
            raise sqlite3.OperationalError("the reply was lost")

        with monkeypatch.context() as patch:
            patch.setattr(load, "_execute_commit", commit_and_fail)
            load.write(Batch(statements=[statement(ROW)]), checkpoint={"n": 1})
        assert (load.sequence, load.checkpoint) == (1, {"n": 1})

        def fail() -> None:
            raise sqlite3.OperationalError("nothing was written")

        second = Batch(statements=[statement(("Q3", "P1", "Q4"))])
        with monkeypatch.context() as patch:
            patch.setattr(load, "_execute_commit", fail)
            with pytest.raises(StoreError):
                load.write(second)
        assert load.sequence == 1

        # The reply is lost and the store cannot be asked either; the caller tries again.
        def cannot_ask() -> bool:
            raise sqlite3.OperationalError("away")

        with monkeypatch.context() as patch:
            patch.setattr(load, "_execute_commit", commit_and_fail)
            patch.setattr(load, "_committed_in_doubt", cannot_ask)
            with pytest.raises(StoreError):
                load.write(second)
        load.write(second)
        assert load.sequence == 2
        # It mentions the same entities, whose rows this process did not learn of by writing.
        load.write(Batch(statements=[statement(("Q4", "P1", "Q3"))]))
        counts = load.finish()
        assert (counts.written, counts.duplicates) == (3, 0)
        published = load.publish().counts
        assert (published.statements, published.entities) == (3, 4)


def test_two_ids_of_one_key(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = key64
    for module in (sqlite_batch, encoded):
        monkeypatch.setattr(module, "key64", lambda id_: real(id_.removeprefix("twin of ")))
    with open_sqlite(path) as store:
        with store.begin_load("g", owner="a", source="s") as load:
            load.write(Batch(statements=[statement(ROW)]))
            for batch in (
                Batch(statements=[statement(("twin of Q1", "P1", "Q2"))]),
                Batch(statements=[statement(("Q1", "twin of P1", "Q2"))]),
                Batch(
                    statements=[
                        statement(("Q7", "P1", "Q8")),
                        statement(("twin of Q7", "P1", "Q8")),
                    ]
                ),
                Batch(entities=[Entity("twin of Q2")]),
            ):
                with pytest.raises(KeyCollisionError, match="twin of"):
                    load.write(batch)
            assert load.sequence == 1
            load.finish()
            load.publish()
        first = statement(ROW)
        with store.begin_load("h", owner="a", source="s") as load:
            load.write(Batch(statements=[first, statement(("Q9", "P1", "Q2"))]))
            twin = replace(first, id="twin of " + first.id)
            load.write(Batch(statements=[twin]))
            with pytest.raises(KeyCollisionError):
                load.finish()
            load.abort()


def test_a_deadline_interrupts_a_long_read(path: Path) -> None:
    with open_sqlite(path) as store:
        rows = [(f"Q{i}", "P1", "Q0") for i in range(20_000)]
        edition = load_graph(store, "g", rows).edition
        with pytest.raises(DeadlineError):
            store.neighbourhood(
                edition, ["Q0"], hops=3, max_edges=10**6, deadline=Deadline.after(0.01)
            )
        # The connection is as before.
        assert len(store.neighbourhood(edition, ["Q5"]).edges) == 1


def test_threads_share_a_store_and_leave_nothing_open(path: Path) -> None:
    filled(path)
    with open_sqlite(path) as store:
        with ThreadPoolExecutor(8) as pool:
            sizes = list(pool.map(lambda _: len(store.graphs()), range(100)))
        assert sizes == [1] * 100
        for _ in range(30):
            thread = threading.Thread(target=store.graphs)
            thread.start()
            thread.join()
        assert len(store._database._handles) <= 2


def _child_of_fork(store: SqliteStore, queue: multiprocessing.Queue[object]) -> None:
    load_graph(store, "of-child", [ROW])
    queue.put([info.name for info in store.graphs()])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_connection_crosses_a_fork(path: Path) -> None:
    filled(path)
    context = multiprocessing.get_context("fork")
    with open_sqlite(path) as store:
        store.graphs()
        with store.begin_load("h", owner="a", source="s") as load:
            load.write(Batch(statements=[statement(ROW)]))
            queue: multiprocessing.Queue[object] = context.Queue()
            process = context.Process(target=_child_of_fork, args=(store, queue))
            process.start()
            assert queue.get(timeout=600) == ["g", "of-child"]
            process.join(600)
            assert process.exitcode == 0
            load.write(Batch(statements=[statement(("Q3", "P1", "Q4"))]))
            load.finish()
            load.publish()
        assert [info.name for info in store.graphs()] == ["g", "h", "of-child"]


def test_damaged_relations_of_entities_are_told_as_damage(path: Path) -> None:
    filled(path)
    with open_sqlite(path) as store:
        info = store.graph("g")
        number = int(info.edition.rpartition("@")[2])
        with sqlite3.connect(path) as connection:
            sql = "UPDATE statements_$n SET relation = relation + 1000"
            assert connection.execute(of_edition(sql, number)).rowcount
        connection.close()
        with raises(StoreCorruptError):
            store.relations_of(info.edition, ["Q42"])


# --- the snapshot cache ------------------------------------------------------------------------


def test_snapshots_are_mapped_from_the_cache(path: Path) -> None:
    with open_sqlite(path) as store:
        info = load_graph(store, "g", sample_statements(), sample_entities())
        store.snapshot(info)
        place = store._cache.path_of(info)
        assert place.parent == path.with_name("graph.db.snapshots")
        again, _ = open_snapshot(place, info)
        assert not again.tail.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            again.tail[0] = 1
        # Another graph of the same content shares the arrays under its own name.
        other = load_graph(store, "h", sample_statements(), sample_entities())
        assert store.snapshot(other).edition == other.edition
        assert [item.name for item in place.parent.iterdir()] == [place.name]


def test_a_cache_that_cannot_be_written_costs_no_answer(path: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with open_sqlite(path, snapshot_folder=tmp_path / "file" / "cache") as store:
        info = load_graph(store, "g", sample_statements())
        assert store.snapshot(info).edge_count == len(sample_statements())


def test_the_least_recently_used_snapshots_go(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_sqlite(path) as store:
        infos = [load_graph(store, f"g{i}", [(f"Q{i}", "P1", "Q0")]) for i in range(3)]
        roomy = SnapshotCache(tmp_path / "cache")
        day = 86_400
        for age, info in zip((2 * day, 100, 200), infos, strict=True):
            roomy.get(info, partial(store.build, info))
            found = roomy.path_of(info).stat()
            os.utime(roomy.path_of(info), (found.st_atime - age, found.st_mtime))
        size = roomy.path_of(infos[0]).stat().st_size
        tight = SnapshotCache(roomy.folder, limit_bytes=int(size * 2.5))
        newest = load_graph(store, "g3", [("Q3", "P1", "Q0")])
        graph = tight.get(newest, lambda: store.build(newest))
        assert graph.edge_count == 1
        left = set(roomy.folder.iterdir())
        assert left == {roomy.path_of(infos[1]), roomy.path_of(newest)}
        # Only of those in use is it told.
        told = [one for one in caplog.messages if "GRAPH_SERVICE_CACHE_GB" in one]
        assert len(told) == 1
        assert roomy.path_of(infos[2]).name in told[0]
        # The newest stays whatever the limit.
        none = SnapshotCache(roomy.folder, limit_bytes=0)
        none.get(infos[2], lambda: store.build(infos[2]))
        assert set(roomy.folder.iterdir()) == {roomy.path_of(infos[2])}


def test_two_processes_build_a_snapshot_at_once(path: Path) -> None:
    with open_sqlite(path) as store:
        load_graph(store, "g", [(f"Q{i}", f"P{i % 9}", f"Q{i * 7 % 3000}") for i in range(6000)])
    code = """
        import sys, hashlib
        from graph_service.store import open_store
        from graph_service.store.snapshot import cache as snapshot_cache
        write = snapshot_cache.write_snapshot
        def late(graph, file):
            write(graph, file)
            # Both have built before either renames.
            print("built", flush=True)
            sys.stdin.readline()
        snapshot_cache.write_snapshot = late
        store = open_store("sqlite:///" + sys.argv[1])
        graph = store.snapshot(store.graph("g"))
        print(graph.edge_count, hashlib.sha256(graph.head[:].tobytes()).hexdigest(), flush=True)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), str(path)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "built\n"
    replies = [process.communicate("\n", timeout=600)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert replies[0] == replies[1]
    assert replies[0].startswith("6000 ")
    assert len(list(path.with_name("graph.db.snapshots").iterdir())) == 1


def test_the_fast_hashes_are_the_models(tmp_store: Store) -> None:
    """Loads hash in one piece; the fingerprint's definition is in the model."""
    from graph_service.model.statement import (
        encode_references,
        encode_snaks,
        statement_content_hash,
        statement_edge_hash,
    )
    from graph_service.model.values import encode_value

    for item in sample_statements():
        fast = hashes.statement_hashes(
            item.id,
            item.head,
            item.relation,
            encode_value(item.value),
            item.rank.value.encode(),
            encode_snaks(item.qualifiers) if item.qualifiers else None,
            encode_references(item.references) if item.references else None,
            item.context,
        )
        assert fast == (statement_edge_hash(item), statement_content_hash(item))


def test_a_name_index_dropped_under_a_search_is_an_edition_that_is_gone(path: Path) -> None:
    """S8: whatever moment the index of an edition goes at, who searches it is told the same."""
    database = Database(path, read_only=False, busy_timeout_s=600)
    current = [0]
    refused = threading.Semaphore(0)
    enough = threading.Event()

    def publish() -> None:
        with database.reading() as connection:
            while not enough.is_set():
                number = current[0] + 1
                connection.execute(of_edition(NAMES_TABLE, number))
                current[0] = number
                connection.execute(f"DROP TABLE IF EXISTS names_{number - 1}")

    def search() -> None:
        while not enough.is_set():
            number = current[0]
            try:
                with database.reading() as connection:
                    connection.execute(
                        f"SELECT rowid FROM names_{number} WHERE names_{number} MATCH 'x'"
                    )
            except GraphNotFoundError:
                refused.release()

    with ThreadPoolExecutor(5) as pool:
        runs = [pool.submit(work) for work in (publish, *[search] * 4)]
        try:
            for _ in range(20):
                while not refused.acquire(timeout=0.1):
                    assert not any(run.done() for run in runs), [run.exception() for run in runs]
        finally:
            enough.set()
        for run in runs:
            run.result()
    database.close()


def test_a_load_that_another_ends_as_it_begins_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sqlite(path) as store, open_sqlite(path) as other:

        def end(connection: sqlite3.Connection) -> None:
            monkeypatch.undo()
            other.begin_load("g", owner="o", source="another").abort()

        monkeypatch.setattr(sqlite_store, "drop_editions", end)
        with pytest.raises(LoadInProgressError):
            store.begin_load("g", owner="o", source="s")


def test_a_load_that_ends_while_the_file_is_checked_is_no_fault(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sqlite(path) as store, open_sqlite(path) as other:
        load = other.begin_load("g", owner="o", source="s")
        load.write(Batch(statements=sample_statements()))
        plain = sqlite_inspect._sums

        def ended(connection: sqlite3.Connection, number: int) -> object:
            load.abort()
            return plain(connection, number)

        monkeypatch.setattr(sqlite_inspect, "_sums", ended)
        checked = {part.part: part.fault for part in store.inspect_all()}
        assert checked["file"] == ""
        assert [fault for part, fault in checked.items() if load.edition in part] == [""]


def test_verify_names_the_file_whose_name_index_it_cannot_read(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute(of_edition("DROP TABLE names_$n", 1))
    connection.close()
    with open_sqlite(path) as store:
        found = [item for item in verify_store(store, graph="g") if item.fault]
    assert [item.part for item in found] == ["indexes"]
    assert found[0].fault.startswith(f"{path} failed: ")
    assert found[0].fix
