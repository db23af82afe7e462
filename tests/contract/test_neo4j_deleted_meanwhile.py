"""What another process deletes while Neo4j reads it is gone, and no damage.

Neo4j has no snapshot of a transaction: it reads each property as it is at that moment, and null
of a node that is gone since. ``meanwhile`` lets that happen at a query of the test's choice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import pytest
from graphs import load_graph
from neo4j_server import Neo4jServer

from graph_service.errors import GraphNotFoundError, LoadInProgressError
from graph_service.model.limits import Deadline
from graph_service.model.passage import make_passage
from graph_service.model.statement import Entity
from graph_service.store.names import graph_of
from graph_service.store.neo4j import records as neo4j_records
from graph_service.store.neo4j.editions import drop_editions
from graph_service.store.neo4j.inspect import inspect_server
from graph_service.store.neo4j.store import Neo4jStore, open_neo4j
from graph_service.store.protocol import Batch, Record

pytestmark = pytest.mark.neo4j

ROWS = [("Q1", "P1", "Q2"), ("Q2", "P1", "Q3")]
Meanwhile = Callable[[str, Callable[[], object]], None]


class _Nulls:
    """What is left of some rows."""

    def __init__(self, rows: list[list[Any]]) -> None:
        self._rows = rows

    def values(self) -> list[list[Any]]:
        return [[None] * len(row) for row in self._rows]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Meanwhile]:
    """Gives ``meanwhile(text, change)``: the next query with that text matches what it matches,
    then another does ``change``, and then the query reads the properties.
    """
    plain = neo4j.Transaction.run
    due: list[tuple[str, Callable[[], object]]] = []

    def run(tx: neo4j.Transaction, query: str, parameters: dict[str, Any]) -> Any:
        if not due or due[0][0] not in query:
            return plain(tx, query, parameters)
        rows = plain(tx, query, parameters).values()
        assert rows, "there was nothing to delete"
        due.pop()[1]()
        return _Nulls(rows)

    monkeypatch.setattr(neo4j.Transaction, "run", run)
    yield lambda text, change: due.append((text, change))
    assert not due, "no such query was run"


@pytest.fixture
def other(neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Neo4jStore]:
    """The same store, as another process has it."""
    with open_neo4j(
        neo4j_server.url,
        username=neo4j_server.username,
        password=neo4j_server.password,
        database=neo4j_server.database,
        snapshot_folder=tmp_path,
    ) as store:
        yield store


@pytest.fixture
def store(neo4j_store: Neo4jStore) -> Neo4jStore:
    return neo4j_store


def test_an_edition_that_another_process_has_deleted_is_passed_over(
    store: Neo4jStore, other: Neo4jStore, graph_name: str, meanwhile: Meanwhile
) -> None:
    old = load_graph(store, graph_name, ROWS).edition
    load_graph(store, graph_name, ROWS)
    mark = "MATCH (e:GraphEdition {id: $id}) SET e.state = 'dropping'"
    store._connection.write(mark, id=old)
    meanwhile("WHERE e.state = 'dropping' RETURN e.id", lambda: drop_editions(other._connection))
    drop_editions(store._connection)
    left = "MATCH (e:GraphEdition {graph: $graph}) RETURN e.id"
    assert store._connection.read(left, graph=graph_name) == [[store.graph(graph_name).edition]]


def test_a_graph_that_is_deleted_is_not_listed(
    store: Neo4jStore, other: Neo4jStore, graph_name: str, meanwhile: Meanwhile
) -> None:
    load_graph(store, graph_name, ROWS)
    meanwhile("MATCH (g:Graph) WHERE g.current IS NOT NULL", lambda: other.delete_graph(graph_name))
    assert graph_name not in [info.name for info in store.graphs()]
    load_graph(store, graph_name, ROWS)
    meanwhile("MATCH (g:Graph {name: $name})", lambda: other.delete_graph(graph_name))
    with pytest.raises(GraphNotFoundError):
        store.graph(graph_name)


def test_a_graph_whose_edition_is_replaced_twice_is_read(
    store: Neo4jStore, other: Neo4jStore, graph_name: str, meanwhile: Meanwhile
) -> None:
    load_graph(store, graph_name, ROWS)

    def again() -> None:
        for count in (1, 2):
            load_graph(other, graph_name, ROWS[:count], replace=True)

    meanwhile("MATCH (g:Graph {name: $name})", again)
    assert store.graph(graph_name).counts.statements == 2
    meanwhile("MATCH (g:Graph) WHERE g.current IS NOT NULL", again)
    assert graph_name in [info.name for info in store.graphs()]


def test_a_load_that_ends_is_not_listed(
    store: Neo4jStore, other: Neo4jStore, graph_name: str, meanwhile: Meanwhile
) -> None:
    load_graph(store, graph_name, ROWS)

    def listed() -> list[str]:
        return [load.edition for load in store.unfinished_loads()]

    def checked() -> list[str]:
        return [part.fault for part in inspect_server(store._connection) if graph_name in part.part]

    def told() -> list[str]:
        load = store.graph(graph_name).unfinished
        return [] if load is None else [load.edition]

    for query, read in (
        ("MATCH (u:GraphEdition) WHERE", listed),
        ("MATCH (e:GraphEdition) WHERE e.state = 'loading'", checked),
        ("OPTIONAL MATCH (u:GraphEdition {graph: $name})", told),
    ):
        load = other.begin_load(graph_name, owner="o", source="s")
        meanwhile(query, load.abort)
        assert not [edition for edition in read() if graph_name in edition]


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("(n:Entity {key: key})", lambda store, edition: store.entities(edition, ["Q1"])),
        ("RETURN e.page_bits", lambda store, edition: store.statements(edition, ["s"])),
        ("-[r]->(b)", lambda store, edition: store.statements_of(edition, "Q1")),
        ("(n:Entity {key: key})", lambda store, edition: store.neighbourhood(edition, ["Q1"])),
        ("-[r]-()", lambda store, edition: store.neighbourhood(edition, ["Q1"])),
        ("RETURN e.relations", lambda store, edition: store.relations(edition)),
        ("(n:Entity {key: s.key})", lambda store, edition: store.equal_pairs(edition)),
        ("collect(s.target)", lambda store, edition: store.equal_pairs(edition)),
        ("-[r]->()", lambda store, edition: store.relations_of(edition, ["Q1"])),
        ("db.index.fulltext", lambda store, edition: store.search(edition, "Rome")),
        ("n.key > $after", lambda store, edition: list(store.scan_entities(edition))),
        ("p.key > $after", lambda store, edition: list(store.scan_statements(edition))),
        ("-[r]->(b)", lambda store, edition: list(store.scan_statements(edition))),
        ("-[r]->(b)", lambda store, edition: list(store.scan_edges(edition))),
        ("-[r]->(b)", lambda store, edition: store.build(store.graph(graph_of(edition)))),
        ("n.key > $after", lambda store, edition: store.build(store.graph(graph_of(edition)))),
        ("-[r]->(b)", lambda store, edition: list(store.inspect(store.graph(graph_of(edition))))),
        (
            "n.key > $after",
            lambda store, edition: list(store.inspect(store.graph(graph_of(edition)))),
        ),
    ],
)
def test_what_is_read_of_an_edition_is_whole_or_refused(
    store: Neo4jStore,
    other: Neo4jStore,
    graph_name: str,
    meanwhile: Meanwhile,
    query: str,
    read: Callable[[Neo4jStore, str], object],
) -> None:
    entities = [
        Entity("Q1", labels={"en": "Rome"}, same_as=("Q2", "a:1")),
        Entity("Q2", same_as=("a:1",)),
    ]
    edition = load_graph(store, graph_name, ROWS, entities).edition
    meanwhile(query, lambda: other.delete_graph(graph_name))
    with pytest.raises(GraphNotFoundError):
        read(store, edition)


def test_a_record_that_is_deleted_or_saved_anew_is_read_as_it_is_then(
    store: Neo4jStore,
    other: Neo4jStore,
    graph_name: str,
    meanwhile: Meanwhile,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neo4j_records, "PART_BYTES", 3)
    kind, key = f"kind-{graph_name}", "k"
    record = Record(kind, key, graph_name, {"a": 1}, b"01234567")
    anew = replace(record, data=b"98765432")

    def delete() -> None:
        other.delete_record(kind, key)

    store.save_record(record)
    meanwhile("(r:GraphRecord {kind: $kind})", delete)
    assert store.list_records(kind) == []
    store.save_record(record)
    meanwhile("(r:GraphRecord {id: $id})", delete)
    assert store.get_record(kind, key) is None
    store.save_record(record)
    meanwhile(
        "(p:GraphRecordPart {record: $id, version: $version})", lambda: other.save_record(anew)
    )
    read = store.get_record(kind, key)
    assert read is not None
    assert read.data == anew.data
    delete()


def test_passages_that_are_deleted_are_not_read(
    store: Neo4jStore, other: Neo4jStore, graph_name: str, meanwhile: Meanwhile
) -> None:
    load_graph(store, graph_name, ROWS)
    passages = [make_passage(f"needle {number}", source="s") for number in range(3)]

    def loaded() -> Any:
        with store.passages.begin(graph_name, source="s", options={}, owner="o") as session:
            session.write(passages, checkpoint={})
            return session.publish()

    def delete() -> None:
        other.passages.delete(graph_name)

    def matches() -> Any:
        return store.passages.match([published], ["needle"], deadline=Deadline.none()).matches

    published = loaded()
    places = [match.address for match in matches()]
    assert len(places) == 3
    meanwhile("MATCH (s:PassageSet) WHERE", delete)
    assert store.passages.sets(graph=graph_name) == []
    published = loaded()
    meanwhile("RETURN p.set, p.key, p._search", delete)
    assert not matches()
    published = loaded()
    places = [match.address for match in matches()]
    meanwhile("MATCH (p:Passage {key: key})", delete)
    assert store.passages.read(places) == {}
    published = loaded()
    meanwhile("MATCH (p:Passage) WHERE p.key > $after", delete)
    with pytest.raises(GraphNotFoundError):
        list(store.passages.scan(published.number))
    published = loaded()
    meanwhile("MATCH (s:PassageSet {state: 'dropping'})", other.passages.drop_marked)
    store.passages.delete(graph_name)
    assert store.passages.sets(graph=graph_name) == []


def test_a_load_that_is_thrown_away_meanwhile_is_not_gone_on_with(
    store: Neo4jStore, other: Neo4jStore, graph_name: str
) -> None:
    """It is found as a load under way, and marked to be deleted before it can be locked."""
    old = other.begin_load(graph_name, owner="o", source="s")
    locked, may_go = threading.Event(), threading.Event()

    def throw_away(tx: neo4j.Transaction) -> None:
        tx.run(
            """MATCH (e:GraphEdition {id: $id}) SET e.state = 'dropping', e.token = null""",
            {"id": old.edition},
        ).consume()
        locked.set()
        assert may_go.wait(600)

    with ThreadPoolExecutor(2) as pool:
        thrown = pool.submit(other._connection.transaction, throw_away)
        assert locked.wait(600)
        begun = pool.submit(store.begin_load, graph_name, owner="o", source="s")
        blocked = """SHOW TRANSACTIONS YIELD currentQuery, status
            WHERE currentQuery CONTAINS $text AND status STARTS WITH 'Blocked' RETURN 1"""
        try:
            while not store._connection.read(blocked, text="['loading', 'finished']"):
                assert not begun.done()
        finally:
            may_go.set()
        thrown.result()
        with begun.result() as new:
            assert new.edition != old.edition
            new.write(Batch(statements=[]))
            new.abort()


def test_a_load_that_was_taken_over_reads_nothing(
    store: Neo4jStore, other: Neo4jStore, graph_name: str
) -> None:
    old = store.begin_load(graph_name, owner="o", source="s")
    with other.begin_load(graph_name, owner="o", source="s") as new:
        for read in (old.finish, old.fingerprints, lambda: list(old.conflicts())):
            with pytest.raises(LoadInProgressError):
                read()
        new.abort()
