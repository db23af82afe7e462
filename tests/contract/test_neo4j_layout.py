"""What is particular to the store in Neo4j: its layout, types, portions, lost replies."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import raises
from neo4j_server import Neo4jServer

from graph_service.errors import DeadlineError, KeyCollisionError, StoreUnavailableError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.store.neo4j import editions as neo4j_editions
from graph_service.store.neo4j import load as neo4j_load
from graph_service.store.neo4j import records as neo4j_records
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.schema import (
    STATEMENT_TYPE,
    caption_in_cypher,
    caption_of,
    type_name,
)
from graph_service.store.neo4j.store import Neo4jStore, open_neo4j
from graph_service.store.protocol import Batch, Record

pytestmark = pytest.mark.neo4j


def _open(server: Neo4jServer, folder: Path, url: str = "", **options: object) -> Neo4jStore:
    return open_neo4j(
        url or server.url,
        username=server.username,
        password=server.password,
        database=server.database,
        snapshot_folder=folder,
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture
def own_store(neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Neo4jStore]:
    with _open(neo4j_server, tmp_path) as store:
        yield store


@pytest.fixture
def name(own_store: Neo4jStore) -> Iterator[str]:
    graph_name = f"test-{uuid.uuid4().hex}"
    yield graph_name
    if graph_name in [info.name for info in own_store.graphs()]:
        own_store.delete_graph(graph_name)


def _load(store: Neo4jStore, name: str, batch: Batch, *, replace: bool = False) -> GraphInfo:
    with store.begin_load(name, replace=replace, owner="test", source="test") as load:
        load.write(batch)
        load.finish()
        return load.publish()


def _rows(store: Neo4jStore, query: str, **parameters: Any) -> list[list[Any]]:
    return store._connection.read(query, **parameters)


def test_plain_cypher_reads_the_graph(own_store: Neo4jStore, name: str) -> None:
    """The query of the README, and labels of relations."""
    batch = Batch(
        entities=[
            Entity("Q42", labels={"en": "Douglas Adams"}),
            Entity("Q36180", labels={"fr": "écrivain", "en": "writer"}),
            Entity("P106", kind=EntityKind.PROPERTY, labels={"en": "occupation"}),
        ],
        statements=[
            make_statement("Q42", "P106", EntityValue("Q36180")),
            make_statement("Q42", "P106", StringValue("text")),
        ],
    )
    _load(own_store, name, batch)
    query = """MATCH (g:Graph {name: $name})
        MATCH (a:Entity {graph: g.current, id: 'Q42'})-[r:P106]->(b) RETURN b.label"""
    assert sorted(_rows(own_store, query, name=name)) == [["text"], ["writer"]]
    assert _rows(own_store, "MATCH (r:Relation {id: 'P106'}) RETURN r.label, r.iri, r.type") == [
        ["occupation", "http://www.wikidata.org/entity/P106", "P106"]
    ]


def test_all_nodes_and_relations_have_a_caption(own_store: Neo4jStore, name: str) -> None:
    """Neo4j's Browser shows ``label``; what full-text search reads stands apart, as ``_search``."""
    relation = f"http://a.{name}/x#bornIn"
    batch = Batch(
        entities=[
            Entity("Q42", labels={"en": "Douglas Adams"}),
            Entity("Q7", aliases={"en": ("x",)}),
        ],
        statements=[
            make_statement("Q42", relation, EntityValue(f"http://a.{name}/resource/New_York")),
            make_statement("Q42", relation, EntityValue("Q7")),
            make_statement("Q42", relation, StringValue("text")),
        ],
    )
    _load(own_store, name, batch)
    query = """MATCH (g:Graph {name: $name}) MATCH (a:Entity {graph: g.current})
        OPTIONAL MATCH (a)-[]->(b:Literal)
        RETURN a.label, a.search, a._search STARTS WITH '@' + g.current, b.label"""
    assert sorted(_rows(own_store, query, name=name)) == [
        ["Douglas Adams", None, True, "text"],
        ["New_York", None, True, None],
        ["Q7", None, True, None],
    ]
    read_relation = "MATCH (r:Relation {id: $id}) RETURN r.label"
    assert _rows(own_store, read_relation, id=relation) == [["bornIn"]]
    labelled = Entity(relation, kind=EntityKind.PROPERTY, labels={"en": "place of birth"})
    _load(own_store, name, Batch(entities=[labelled]))
    assert _rows(own_store, read_relation, id=relation) == [["place of birth"]]
    _load(own_store, name, replace(batch, entities=[Entity(relation, kind=EntityKind.PROPERTY)]))
    assert _rows(own_store, read_relation, id=relation) == [["place of birth"]]


@pytest.mark.parametrize(
    "id_", ["Q42", "R&B/Soul", "http://a/b#c", "http://a/b/", "http://a/b", "http://a/ü_x?y=1"]
)
def test_captions_of_cypher_are_those_of_python(own_store: Neo4jStore, id_: str) -> None:
    assert _rows(own_store, f"RETURN {caption_in_cypher('$id')}", id=id_) == [[caption_of(id_)]]


def test_types_are_injective_and_limited(
    neo4j_server: Neo4jServer, own_store: Neo4jStore, name: str, tmp_path: Path
) -> None:
    """Past the limit of new types the type is STATEMENT, and the report says so."""
    alike = [f"http://a.{name}/x#born", f"http://b.{name}/x#born", f"http://c.{name}/x#born"]
    statements = [make_statement("Q1", relation, EntityValue("Q2")) for relation in alike]
    with _open(neo4j_server, tmp_path, max_new_types=2) as store:
        info = _load(store, name, Batch(statements=statements))
        rows = _rows(
            store,
            "MATCH (:Entity {graph: $e})-[r]->() RETURN r.relation, type(r)",
            e=info.edition,
        )
    types = {row[0]: row[1] for row in rows}
    assert sorted(types) == alike
    assert sorted(types.values()).count(STATEMENT_TYPE) == 1
    assert len(set(types.values())) == 3
    assert info.report["relations_without_own_type"] == 1
    assert [item.relation for item in own_store.statements_of(info.edition, "Q1")] == [
        item.relation for item in sorted(statements, key=lambda item: item.key)
    ]


def test_relations_without_a_type_are_counted_over_all_portions(
    neo4j_server: Neo4jServer, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_load, "WRITE_ROWS", 2)
    statements = [
        make_statement("Q1", f"http://a.{name}/x#born{n}", EntityValue("Q2")) for n in range(7)
    ]
    with _open(neo4j_server, tmp_path, max_new_types=0) as store:
        info = _load(store, name, Batch(statements=statements))
    assert info.report["relations_without_own_type"] == 7


def test_no_part_of_a_record_outlives_it(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_records, "PART_BYTES", 100)

    kind = f"kind-{name}"
    ids = [neo4j_records.record_id(kind, key) for key in "ab"]

    def parts() -> int:
        query = "MATCH (p:GraphRecordPart) WHERE p.record IN $ids RETURN count(p)"
        return int(_rows(own_store, query, ids=ids)[0][0])

    _load(own_store, name, Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))]))
    for size, wanted in ((250, 3), (101, 2), (100, 0), (300, 3)):
        own_store.save_record(Record(kind, "a", name, {}, bytes(size)))
        assert parts() == wanted
    own_store.save_record(Record(kind, "b", name, {}, bytes(150)))
    assert own_store.delete_record(kind, "a")
    assert parts() == 2
    own_store.delete_graph(name)
    assert parts() == 0
    assert own_store.get_record(kind, "b") is None


def test_a_record_whose_parts_another_writer_swept_away_is_saved_again(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_records, "PART_BYTES", 100)
    _load(own_store, name, Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))]))
    connection, written = own_store._connection, 0
    write = connection.write

    def overtaken(query: str, /, **given: Any) -> Any:
        nonlocal written
        rows = write(query, **given)
        written += 1
        if written == 3:
            own_store.save_record(Record("kind", name, name, {"n": 2}, bytes(150)))
        return rows

    monkeypatch.setattr(connection, "write", overtaken)
    own_store.save_record(Record("kind", name, name, {"n": 1}, bytes(250)))
    record = own_store.get_record("kind", name)
    assert record is not None
    assert (record.json, record.data) == ({"n": 1}, bytes(250))
    # One that is refused leaves none of its parts.
    assert not own_store.replace_record(replace(record, version="other", data=bytes(350)))
    ids = [neo4j_records.record_id("kind", name)]
    query = "MATCH (p:GraphRecordPart) WHERE p.record IN $ids RETURN count(p)"
    assert _rows(own_store, query, ids=ids) == [[3]]


@pytest.mark.parametrize(
    "relation", ["", "`", "a`]->() DETACH DELETE n //", "9", "出生地", "STATEMENT", "x" * 10_000]
)
def test_type_names_are_harmless(relation: str) -> None:
    for unique in (False, True):
        made = type_name(relation, unique=unique)
        assert made.isidentifier()
        assert len(made) <= 80
        assert made != STATEMENT_TYPE


def test_editions_are_copied_and_deleted_in_portions(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hubs of more statements than a portion has; nothing is lost, nothing is left."""
    monkeypatch.setattr(neo4j_editions, "PORTION", 7)
    monkeypatch.setattr(neo4j_editions, "NODES_A_COPY", 5)
    entities = [Entity(f"Q{i}", labels={"en": f"n{i}"}, same_as=(f"x:{i}",)) for i in range(40)]
    statements = [
        make_statement("Q0", "P1", EntityValue(f"Q{i % 40}"), id=f"a{i}") for i in range(50)
    ]
    # Of this test alone: others write literals to the server meanwhile.
    statements += [make_statement(f"Q{i}", "P2", StringValue(name)) for i in range(40)]
    first = _load(own_store, name, Batch(entities=entities, statements=statements))
    second = _load(own_store, name, Batch())
    assert second.fingerprints == first.fingerprints
    assert [e for c in own_store.scan_statements(second.edition) for e in c] == [
        e for c in own_store.scan_statements(first.edition) for e in c
    ]
    assert own_store.search(second.edition, "n7")[0].entity.id == "Q7"
    assert own_store.entities(second.edition, ["x:9"]).entities["x:9"].id == "Q9"
    third = _load(own_store, name, Batch(), replace=True)
    assert third.counts.statements == 0
    literals = "MATCH (l:Literal {text: $name}) RETURN count(l)"
    assert _rows(own_store, literals, name=name) == [[40]]
    own_store.delete_graph(name)
    assert _rows(own_store, literals, name=name) == [[0]]
    for label, key in (("Entity", "key"), ("SameAs", "target"), ("GraphPage", "key")):
        left = f"MATCH (n:{label}) WHERE n.{key} STARTS WITH $name RETURN count(n)"
        assert _rows(own_store, left, name=f"{name}@") == [[0]]
    assert _rows(own_store, "MATCH (g:Graph {name: $name}) RETURN g.name", name=name) == []


def test_a_copy_that_was_broken_off_goes_on(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_editions, "PORTION", 5)
    statements = [make_statement(f"Q{i}", "P1", EntityValue(f"Q{i + 1}")) for i in range(30)]
    first = _load(own_store, name, Batch(statements=statements))
    copied = neo4j_editions._copy_statements
    calls = []

    def fail_later(*arguments: object) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise StoreUnavailableError("gone")
        copied(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(neo4j_editions, "_copy_statements", fail_later)
    with pytest.raises(StoreUnavailableError):
        own_store.begin_load(name, owner="a", source="s")
    # Another owner may go on at once: the lease was given back.
    with own_store.begin_load(name, owner="b", source="s") as load:
        load.finish()
        second = load.publish()
    assert (second.edition, second.fingerprints) == (load.edition, first.fingerprints)
    assert len(calls) == 3 + len(list(neo4j_editions._portions(load._base.statements))) - 2


class _Proxy:
    """Passes bytes on to the server, and cuts the connection instead of the reply to a COMMIT."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cut = 0
        self.commits = 0
        self._open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._open = False
        self._listener.close()

    def _accept(self) -> None:
        while self._open:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._port))
            state = {"cutting": False}
            for function in (self._to_server, self._to_client):
                threading.Thread(target=function, args=(near, far, state), daemon=True).start()

    def _to_server(self, near: socket.socket, far: socket.socket, state: dict[str, bool]) -> None:
        try:
            while data := near.recv(1 << 20):
                # A COMMIT is one message of two bytes: B0 12, in a chunk of its own.
                if data.endswith(struct.pack(">H", 2) + b"\xb0\x12\x00\x00"):
                    self.commits += 1
                    if self.cut > 0:
                        self.cut -= 1
                        state["cutting"] = True
                far.sendall(data)
        except OSError:
            pass
        _hang_up(far)

    def _to_client(self, near: socket.socket, far: socket.socket, state: dict[str, bool]) -> None:
        try:
            while data := far.recv(1 << 20):
                if state["cutting"]:
                    # The server has answered: the commit is in, and nobody hears of it.
                    break
                near.sendall(data)
        except OSError:
            pass
        _hang_up(near)
        _hang_up(far)


def _hang_up(end: socket.socket) -> None:
    # Closing alone would leave the other thread in recv, and the connection open.
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@pytest.fixture
def proxy(neo4j_server: Neo4jServer) -> Iterator[_Proxy]:
    made = _Proxy(neo4j_server.port)
    yield made
    made.close()


def test_a_lost_reply_to_a_commit_writes_once(
    neo4j_server: Neo4jServer, own_store: Neo4jStore, name: str, tmp_path: Path, proxy: _Proxy
) -> None:
    """Every step of a load loses its reply once; the graph is the one of an undisturbed load."""
    batches = [
        Batch(
            entities=[Entity(f"Q{i}", labels={"en": f"e{i}"})],
            statements=[make_statement(f"Q{i}", "P1", EntityValue("Q0"), id=f"s{i}")],
        )
        for i in range(3)
    ]

    def load(store: Neo4jStore, graph: str, cut: Callable[[], None]) -> GraphInfo:
        cut()
        with store.begin_load(graph, owner="o", source="s") as session:
            for batch in batches:
                cut()
                session.write(batch)
            cut()
            counts = session.finish()
            assert (counts.written, counts.duplicates, session.sequence) == (3, 0, 3)
            cut()
            return session.publish()

    def cut() -> None:
        proxy.cut += 1

    with _open(neo4j_server, tmp_path, proxy.url) as store:
        disturbed = load(store, name, cut)
        assert proxy.cut == 0
        rows = _rows(store, "MATCH (:Entity {graph: $e})-[r]->() RETURN r.id", e=disturbed.edition)
        assert sorted(rows) == [["s0"], ["s1"], ["s2"]]
        cut()
        store.delete_graph(name)
        assert proxy.cut == 0
    undisturbed = load(own_store, name, lambda: None)
    assert undisturbed.fingerprints == disturbed.fingerprints


def test_a_batch_given_again_after_a_failure_is_written_once(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit went in, and every try to learn so failed: the caller gives the batch again."""
    batch = Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))])
    other = Batch(statements=[make_statement("Q1", "P1", EntityValue("Q3"))])
    with own_store.begin_load(name, owner="o", source="s") as load:
        connection = load._connection
        plain = connection.transaction

        def lose(work: Callable[..., object], /, **options: object) -> object:
            result = plain(work, **options)  # type: ignore[arg-type]
            if options.get("what") == "writing a batch":
                raise StoreUnavailableError("no answer")
            return result

        for again in (batch, other):
            monkeypatch.setattr(connection, "transaction", lose)
            with pytest.raises(StoreUnavailableError):
                load.write(batch)
            monkeypatch.setattr(connection, "transaction", plain)
            load.write(again)
        assert load.sequence == 3
        counts = load.finish()
        assert (counts.written, counts.duplicates) == (2, 1)
        load.publish()


def test_a_query_past_its_deadline_is_stopped(
    own_store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However late a busy server stops it, that is no server that is away.
    monkeypatch.setattr("graph_service.store.neo4j.watchdog.GRACE_S", 600.0)
    slow = "UNWIND range(1, 100000000) AS x WITH x WHERE x % 7 = 8 RETURN count(x)"
    with raises(DeadlineError):
        own_store._connection.read(slow, deadline=Deadline.after(0.2), what="counting")


def test_two_statement_ids_of_one_key_are_an_error(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collision of keys is a hard error."""
    monkeypatch.setattr(
        "graph_service.store.encoded.key64", lambda id_: 5 if id_ in "ab" else hash(id_) >> 8
    )
    with own_store.begin_load(name, owner="o", source="s") as load:
        for id_ in "ab":
            statement = make_statement("Q1", "P1", EntityValue("Q2"), id=id_)
            load.write(Batch(statements=[statement]))
        with pytest.raises(KeyCollisionError):
            load.finish()
        load.abort()


def test_two_entity_ids_of_one_key_are_an_error(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("encoded", "neo4j.rows"):
        monkeypatch.setattr(f"graph_service.store.{module}.key64", len)
    with own_store.begin_load(name, owner="o", source="s") as load:
        with pytest.raises(KeyCollisionError):
            load.write(Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"), id="abc")]))
        load.write(Batch(entities=[Entity("Q1")]))
        with pytest.raises(KeyCollisionError):
            load.write(Batch(entities=[Entity("Q3")]))
        assert load.sequence == 1
        load.abort()


def test_a_forked_child_reads_and_leaves_the_parent_alone(own_store: Neo4jStore) -> None:
    """One driver a process, none across fork."""
    before = own_store._connection._of_process.open()[0]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            own_store.ping()
            code = 0 if own_store._connection._of_process.open()[0] is not before else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    own_store.ping()
    assert own_store._connection._of_process.open()[0] is before


def test_known_ids_are_bounded(
    own_store: Neo4jStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_load, "KNOWN_IDS", 4)
    with own_store.begin_load(name, owner="o", source="s") as load:
        for i in range(6):
            load.write(Batch(statements=[make_statement(f"Q{i}", "P1", EntityValue(f"Q{i + 1}"))]))
            assert len(load._known) <= 4
        load.finish()
        assert load.publish().counts.entities == 7


def test_processes_that_start_at_once_make_the_indexes_together(neo4j_server: Neo4jServer) -> None:
    """The server looks for an equal index before it takes its lock; the loser of the race goes on."""
    label = f"Test{uuid.uuid4().hex}"
    connections = [
        Connection(
            neo4j_server.url,
            username=neo4j_server.username,
            password=neo4j_server.password,
            database=neo4j_server.database,
        )
        for _ in range(8)
    ]
    names = [f"{label}_{number}" for number in range(6)]
    try:
        for number, index in enumerate(names):
            query = f"CREATE INDEX {index} IF NOT EXISTS FOR (n:{label}) ON (n.p{number})"
            at_once = threading.Barrier(len(connections))

            def make(
                connection: Connection, query: str = query, at_once: threading.Barrier = at_once
            ) -> None:
                at_once.wait(600)
                connection.write(query, what="making the indexes")

            with ThreadPoolExecutor(len(connections)) as pool:
                list(pool.map(make, connections))
        found = connections[0].read(
            "SHOW INDEXES YIELD name WHERE name STARTS WITH $label RETURN name ORDER BY name",
            label=label,
        )
        assert found == [[index] for index in names]
    finally:
        for index in names:
            connections[0].write(f"DROP INDEX {index} IF EXISTS")
        for connection in connections:
            connection.close()
