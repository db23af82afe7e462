"""What a load must survive or refuse: a stolen lease, threads, a copy broken off, page edges."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from sqlite3 import OperationalError
from threading import Barrier
from typing import Any

import pytest
from graphs import load_graph, statement

from graph_service.errors import LoadInProgressError, StoreError, StoreUnavailableError
from graph_service.model.identity import key64
from graph_service.model.passage import make_passage
from graph_service.model.statement import Entity, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.store.neo4j import editions as neo4j_editions
from graph_service.store.neo4j import passages as neo4j_passages
from graph_service.store.neo4j import scan as neo4j_scan
from graph_service.store.protocol import Batch, LoadSession, Store
from graph_service.store.sqlite import load as sqlite_load
from graph_service.store.sqlite import passages as sqlite_passages
from graph_service.store.sqlite import store as sqlite

THREADS, BATCHES = 4, 6


def one(number: int) -> Batch:
    return Batch(statements=[statement((f"Q{number}", "P1", f"Q{number + 1}"))])


def begin(store: Store, name: str, **options: Any) -> LoadSession:
    return store.begin_load(name, owner="alice", source="dump.json", **options)


# --- a load that went on elsewhere ----------------------------------------------------------


def test_a_load_that_went_on_elsewhere_can_neither_write_nor_end_it(
    store: Store, graph_name: str
) -> None:
    """The same load was resumed by another process, at the same batch: only the token differs."""
    late = begin(store, graph_name)
    late.write(one(1), checkpoint={"next": 1})
    load = begin(store, graph_name)
    assert (load.edition, load.sequence) == (late.edition, 1)
    for refused in (
        lambda: late.write(one(3), checkpoint={"next": 99}),
        lambda: late.finish(report={"by": "late"}),
        late.abort,
    ):
        with pytest.raises(LoadInProgressError, match="alice"):
            refused()
    late.__exit__(None, None, None)
    # Nor did it give back what is not its own.
    with pytest.raises(LoadInProgressError, match=r"alice.*dump\.json"):
        store.begin_load(graph_name, owner="bob", source="dump.json")
    load.write(one(5), checkpoint={"next": 2})
    with load:
        assert load.finish().written == 2
        info = load.publish()
    found = [item.head for chunk in store.scan_statements(info.edition) for item in chunk]
    assert sorted(found) == ["Q1", "Q5"]
    assert info.report == {}


def test_a_finished_load_that_went_on_elsewhere_is_not_ended_by_the_first(
    store: Store, graph_name: str
) -> None:
    late = begin(store, graph_name)
    late.write(one(1))
    late.finish(report={"by": "alice"})
    with begin(store, graph_name) as load:
        for refused in (lambda: late.finish(report={"by": "late"}), late.publish, late.abort):
            with pytest.raises(LoadInProgressError, match="alice"):
                refused()
        late.__exit__(None, None, None)
        info = load.publish()
    assert (info.counts.statements, info.report) == (1, {"by": "alice"})


def test_passages_whose_load_went_on_elsewhere_are_written_there_alone(
    store: Store, graph_name: str
) -> None:
    load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    options: dict[str, Any] = {"source": "wiki", "options": {}, "owner": "alice"}
    passages = [make_passage(f"Text {i}.", title=f"T{i}", source="wiki") for i in range(3)]
    late = store.passages.begin(graph_name, **options)
    late.write(passages[:1], checkpoint={"next": 1})
    load = store.passages.begin(graph_name, **options)
    assert (load.number, load.checkpoint) == (late.number, {"next": 1})
    for refused in (
        lambda: late.write(passages[1:2], checkpoint={"next": 9}),
        late.publish,
        late.abort,
    ):
        with pytest.raises(LoadInProgressError):
            refused()
    late.__exit__(None, None, None)
    with pytest.raises(LoadInProgressError):
        store.passages.begin(graph_name, **{**options, "owner": "bob"})
    with load:
        load.write(passages[2:], checkpoint={"next": 2})
        assert load.publish().passages == 2


# --- threads --------------------------------------------------------------------------------


def test_threads_that_share_a_load_write_each_batch_once(store: Store, graph_name: str) -> None:
    start = Barrier(THREADS)
    with begin(store, graph_name) as load, ThreadPoolExecutor(THREADS) as pool:

        def write(thread: int) -> None:
            start.wait(600)
            for number in range(BATCHES):
                load.write(one(100 * thread + number))

        for done in [pool.submit(write, thread) for thread in range(THREADS)]:
            done.result(timeout=600)
        assert load.sequence == THREADS * BATCHES
        counts = load.finish()
        assert (counts.written, counts.duplicates) == (THREADS * BATCHES, 0)
        assert load.publish().counts.statements == THREADS * BATCHES


# --- a copy of the base, broken off ---------------------------------------------------------


class Killed(BaseException):
    """As a kill does, it passes by whoever catches errors."""


def test_a_copy_of_the_base_goes_on_wherever_it_was_broken_off(
    store: Store, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken off after each of its transactions: nothing is copied twice, nothing is left out."""
    monkeypatch.setattr(sqlite_load, "COPY_ROWS", 2)
    monkeypatch.setattr(neo4j_editions, "PORTION", 2)
    monkeypatch.setattr(neo4j_editions, "NODES_A_COPY", 2)
    entities = [Entity(f"Q{i}", labels={"en": f"n{i}"}, same_as=(f"x:{i}",)) for i in range(3)]
    rows: list[Statement] = [
        make_statement(f"Q{i}", f"P{i % 3}", EntityValue(f"Q{i + 1}")) for i in range(4)
    ]
    rows.append(make_statement("Q0", "P3", StringValue("text")))
    base = load_graph(store, graph_name, rows, entities)
    with begin(store, graph_name, replace=True) as load:
        session = type(load)
        load.abort()
    renew = session._renew  # type: ignore[attr-defined]
    steps = kills = 0

    def once(self: Any, *arguments: Any) -> None:
        nonlocal steps
        steps += 1
        if steps > 1:
            raise Killed
        renew(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(session, "_renew", once)
        while True:
            steps = 0
            try:
                load = begin(store, graph_name)
                break
            except Killed:
                kills += 1
                assert kills < 20, "the copy does not get ahead"
    # Three tables, or nodes and relationships, of more than one portion each.
    assert kills > 4
    with load:
        counts = load.finish()
        info = load.publish()
    assert (counts.written, counts.updated, counts.duplicates, counts.removed) == (0, 0, 0, 0)
    assert (info.counts, info.fingerprints) == (base.counts, base.fingerprints)
    assert contents(store, info.edition) == contents(store, base.edition)
    assert store.entities(info.edition, ["x:2"]).entities["x:2"].id == "Q2"


def contents(store: Store, edition: str) -> tuple[list[Entity], list[Statement], list[str]]:
    return (
        [item for chunk in store.scan_entities(edition) for item in chunk],
        [item for chunk in store.scan_statements(edition) for item in chunk],
        sorted(item.id for item in store.relations(edition)),
    )


# --- what is read by pages ------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 3, 4, 12])
def test_a_row_on_a_pages_edge_is_read_once(
    store: Store, graph_name: str, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """12 statements and 12 entities, in pages that they fill and in pages that they do not."""
    for module, limit in (
        (sqlite, "SCAN_ROWS"),
        (sqlite_passages, "_SCAN_ROWS"),
        (neo4j_scan, "SCAN_ROWS"),
        (neo4j_scan, "RANGE_ROWS"),
        (neo4j_passages, "_SCAN_ROWS"),
    ):
        monkeypatch.setattr(module, limit, rows)
    items = [statement((f"Q{i // 2}", f"P{i % 2}", f"Q{(i + 5) % 12}")) for i in range(12)]
    info = load_graph(store, graph_name, items)
    expected = sorted((item.id for item in items), key=key64)

    def pages(found: Any, size: int) -> list[Any]:
        # A page that begins again where it began never ends.
        chunks = list(islice(found, 100))
        assert all(0 < len(chunk) <= size for chunk in chunks)
        return [item for chunk in chunks for item in chunk]

    assert [row.statement_id for row in pages(store.scan_edges(info.edition), rows)] == expected
    assert [item.id for item in pages(store.scan_statements(info.edition), rows)] == expected
    # Those of one head stay together in one store.
    lying = pages(store.scan_statements(info.edition, in_order=False), max(rows, 12))
    assert sorted((item.id for item in lying), key=key64) == expected
    entities = [item.id for item in pages(store.scan_entities(info.edition), rows)]
    assert entities == sorted((f"Q{i}" for i in range(12)), key=key64)
    passages = [make_passage(f"Text {i}.", title=f"T{i}", source="wiki") for i in range(12)]
    with store.passages.begin(graph_name, source="wiki", options={}, owner="alice") as load:
        load.write(passages, checkpoint={})
        made = load.publish()
    read = [item.id for item in pages(store.passages.scan(made.number), rows)]
    assert read == sorted((item.id for item in passages), key=key64)


# --- a commit whose reply was lost ----------------------------------------------------------


@contextmanager
def no_reply(load: Any, store: Store) -> Iterator[None]:
    """What is written in this block is committed, but the store answers nothing, nor later."""
    with pytest.MonkeyPatch.context() as patch:
        if store.url.startswith("sqlite"):

            def commit() -> None:
                load._connection.execute("COMMIT")
                raise OperationalError("the reply was lost")

            patch.setattr(load, "_execute_commit", commit)
            patch.setattr(load, "_committed_in_doubt", lambda: _fail(OperationalError("away")))
        else:
            real = load._connection.transaction

            def transaction(work: Any, /, **options: Any) -> None:
                real(work, **options)
                raise StoreUnavailableError("no answer")

            patch.setattr(load._connection, "transaction", transaction)
            patch.setattr(
                load._connection, "read", lambda *_, **__: _fail(StoreUnavailableError("away"))
            )
        yield


def _fail(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize("again", ["the same batch", "another batch"])
def test_after_a_lost_reply_the_same_batch_is_not_written_twice_and_another_is_not_left_out(
    store: Store, graph_name: str, again: str
) -> None:
    known, first, second = one(5), one(1), one(1) if again == "the same batch" else one(3)
    statements = [item for batch in (known, first, second) for item in batch.statements]
    heads = {item.head for item in statements}
    with begin(store, graph_name) as load:
        load.write(known)
        with no_reply(load, store):
            # The second attempt cannot even ask what became of the first.
            for _ in range(2):
                with pytest.raises(StoreError):
                    load.write(first, checkpoint={"next": 1})
        load.write(second, checkpoint={"next": len(heads) - 1})
        assert (load.sequence, load.checkpoint) == (len(heads), {"next": len(heads) - 1})
        counts = load.finish()
        assert (counts.written, counts.duplicates) == (len(heads), 0)
        info = load.publish()
    found = [item.head for chunk in store.scan_statements(info.edition) for item in chunk]
    assert sorted(found) == sorted(heads)
    # The fingerprints are those of a load that no reply was lost of.
    calm = load_graph(store, graph_name, statements, replace=True)
    assert calm.fingerprints == info.fingerprints
