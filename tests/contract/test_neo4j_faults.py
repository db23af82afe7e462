"""A Neo4j that refuses, dies, comes back, runs out of memory, or is of a newer schema."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from neo4j_server import Neo4jServer, start_server
from waiting import PATIENCE_S, wait_until

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.errors import (
    InputError,
    LoadInProgressError,
    SchemaVersionError,
    SetupError,
    StoreFullError,
    StoreUnavailableError,
)
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.passage import make_passage
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.settings import Settings
from graph_service.store.lease import owner_name
from graph_service.store.neo4j import driver, migration
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.schema import PASSAGE_INDEX, SCHEMA_VERSION, SEARCH_INDEX
from graph_service.store.neo4j.store import Neo4jStore, open_neo4j
from graph_service.store.protocol import Batch

pytestmark = pytest.mark.neo4j


PATIENT: dict[str, Any] = {"retry_s": PATIENCE_S, "connect_timeout_s": PATIENCE_S}


@pytest.fixture(scope="module")
def server(neo4j_server: Neo4jServer) -> Iterator[Neo4jServer]:
    """A server of this module's own, to be killed, with little memory a transaction.

    It asks for ``neo4j_server`` so that a missing Java or Maven is treated as everywhere.
    """
    started = start_server(own=True, settings={"db.memory.transaction.max": "24m"})
    yield started
    started.stop()


def _open(server: Neo4jServer, folder: Path, **options: object) -> Neo4jStore:
    fields: dict[str, object] = {
        "username": server.username,
        "password": server.password,
        "snapshot_folder": folder,
        **PATIENT,
    }
    return open_neo4j(server.url, **(fields | options))  # type: ignore[arg-type]


def test_a_wrong_password_says_which_to_set(server: Neo4jServer, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="NEO4J_PASSWORD") as caught:
        _open(server, tmp_path, password="wrong")
    assert not caught.value.retryable
    assert str(server.password) not in str(caught.value)


def test_a_missing_password_and_database(server: Neo4jServer, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="NEO4J_PASSWORD"):
        _open(server, tmp_path, password=None)
    with pytest.raises(SetupError, match="NEO4J_DATABASE"):
        _open(server, tmp_path, database="nowhere")
    with pytest.raises(InputError, match="bolt://host"):
        open_neo4j("http://127.0.0.1:1")


def test_password_in_the_address_is_used_and_not_shown(server: Neo4jServer, tmp_path: Path) -> None:
    url = server.url.replace("://", f"://neo4j:{server.password}@")
    with open_neo4j(url, snapshot_folder=tmp_path, **PATIENT) as store:
        store.ping()
        assert store.url == server.url


def test_the_routing_scheme_reads_and_writes(server: Neo4jServer, tmp_path: Path) -> None:
    url = server.url.replace("bolt://", "neo4j://")
    with open_neo4j(
        url, username="neo4j", password=server.password, snapshot_folder=tmp_path, **PATIENT
    ) as store:
        with store.begin_load("routed", owner="o", source="s") as load:
            load.write(Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))]))
            load.finish()
            load.publish()
        assert store.graph("routed").counts.statements == 1
        store.delete_graph("routed")


def test_a_routed_store_outlives_its_server_and_its_data(
    server: Neo4jServer, tmp_path: Path
) -> None:
    """Bookmarks hold over a restart; a database made anew at the address is read as it is now."""
    assert server.home is not None
    batch = Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))])
    fields: dict[str, Any] = {
        "username": "neo4j",
        "password": server.password,
        "snapshot_folder": tmp_path,
        **PATIENT,
    }
    url = server.url.replace("bolt://", "neo4j://")
    with open_neo4j(url, **fields) as store:
        with store.begin_load("routed", owner="o", source="s") as load:
            load.write(batch)
            server.kill()
            server.restart()
            load.write(Batch(statements=[make_statement("Q2", "P1", EntityValue("Q3"))]))
            load.finish()
            info = load.publish()
        assert store.graph("routed") == info
        server.kill()
        shutil.rmtree(Path(server.home) / "data")
        server.restart(set_password=True)
        assert store.graphs() == []
        with open_neo4j(url, **fields) as again:
            with again.begin_load("routed", owner="o", source="s") as load:
                load.write(batch)
                load.finish()
                load.publish()
            assert store.graph("routed").counts.statements == 1
            again.delete_graph("routed")


def test_a_newer_schema_is_refused(server: Neo4jServer, tmp_path: Path) -> None:
    set_version = "MATCH (m:GraphServiceMeta) SET m.version = $version"
    with _open(server, tmp_path) as store:
        store._connection.write(set_version, version=99)
        try:
            with pytest.raises(SchemaVersionError, match="newer"):
                _open(server, tmp_path)
        finally:
            store._connection.write(set_version, version=SCHEMA_VERSION)


def test_a_database_of_the_first_schema_is_brought_up_to_date(
    server: Neo4jServer, tmp_path: Path
) -> None:
    """L6: it gains the index of passages, and the loads that it had under way begin anew.

    On a server of its own: on a shared one it would end the loads of other tests.
    """
    with _open(server, tmp_path) as store:
        load = store.begin_load("unfinished", owner="o", source="s")
        load.write(Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))]))
        store._connection.write(f"DROP INDEX {PASSAGE_INDEX}")
        store._connection.write("DROP CONSTRAINT graph_service_record_name")
        store._connection.write("MATCH (m:GraphServiceMeta {id: 'schema'}) SET m.version = 1")
        with _open(server, tmp_path):
            pass
        assert store._connection.read("MATCH (m:GraphServiceMeta) RETURN m.version") == [
            [SCHEMA_VERSION]
        ]
        indexes = store._connection.read("SHOW INDEXES YIELD name RETURN name")
        assert [PASSAGE_INDEX] in indexes
        assert ["graph_service_record_name"] in indexes
        with pytest.raises(LoadInProgressError, match="ended elsewhere"):
            load.finish()


def _filled(store: Neo4jStore) -> GraphInfo:
    """Loads graph ``old``, with a passage and a name of an id without a statement."""
    entities = [
        Entity("Q42", labels={"en": "Douglas Adams"}),
        Entity("P106", kind=EntityKind.PROPERTY, labels={"en": "occupation"}),
        Entity("Q9", labels={"en": "no statement"}),
    ]
    statements = [
        make_statement("Q42", relation, EntityValue(tail))
        for relation, tail in (("P106", "Q1"), ("http://a/x#b", "http://a/New_York"))
    ]
    passage = make_passage("Towels are useful.", title="Guide", source="file", entity="Q42")
    with store.begin_load("old", owner="o", source="s") as load:
        load.write(Batch(entities=entities, statements=statements))
        load.finish()
        info = load.publish()
    with store.passages.begin("old", source="file", options={}, owner="o") as texts:
        texts.write([passage], checkpoint={})
        texts.publish()
    return info


def _make_older(store: Neo4jStore, *, meta: str = "SET m.version = 4") -> None:
    """Makes the store what the last release wrote."""
    older = [
        "MATCH (n:Entity|Passage) SET n.search = n._search REMOVE n._search",
        "MATCH (n:Entity) WHERE n.bare REMOVE n.label",
        "MATCH (r:Relation {id: 'http://a/x#b'}) REMOVE r.label",
    ]
    for index, label in ((SEARCH_INDEX, "Entity"), (PASSAGE_INDEX, "Passage")):
        older += [
            f"DROP INDEX {index}",
            f"CREATE FULLTEXT INDEX {index} FOR (n:{label}) ON EACH [n.search] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}",
        ]
    for statement in (*older, f"MATCH (m:GraphServiceMeta {{id: 'schema'}}) {meta}"):
        store._connection.write(statement)


def _check(store: Neo4jStore, info: GraphInfo) -> None:
    """Checks that graph ``old`` is searched, and that nothing of the older store is left."""
    for query, id_ in (("New York", "http://a/New_York"), ("douglas", "Q42")):
        assert [hit.entity.id for hit in store.search(info.edition, query)] == [id_]
    sets = store.passages.sets(graph="old")
    matches = store.passages.match(sets, ["towels"], deadline=Deadline.none())
    assert [match.address.number for match in matches.matches] == [sets[0].number]
    assert [item.fault for item in store.inspect(info) if item.fault] == []
    query = """MATCH (n:Entity|Relation) WHERE n.search IS NOT NULL OR n.label IS NULL
        RETURN count(n)"""
    assert store._connection.read(query) == [[0]]


@pytest.mark.parametrize("meta", ["SET m.version = 4", "DELETE m"])
def test_a_database_of_the_last_release_is_searched_as_before(
    server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meta: str
) -> None:
    """L6: its ``search`` becomes ``_search``; without a version it is an import of that release.

    On a server of its own: on a shared one it would end the loads of other tests.
    """
    monkeypatch.setattr(migration, "_PORTION", 2)
    with _open(server, tmp_path) as store:
        info = _filled(store)
        _make_older(store, meta=meta)
        with _open(server, tmp_path) as opened:
            _check(opened, info)
            opened.delete_graph("old")


def test_a_step_of_the_schema_that_is_cut_anywhere_is_done_by_the_next(
    server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L6: at once, since the process that had claimed it has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    write = Connection.write
    is_cut, cuts = True, 0
    with _open(server, tmp_path) as store:
        info = _filled(store)
        while is_cut:
            _make_older(store)
            parts, last = itertools.count(), 2 + 4 * cuts

            def write_some(
                self: Connection,
                query: str,
                parts: Iterator[int] = parts,
                last: int = last,
                **named: Any,
            ) -> Any:
                if next(parts) >= last:
                    raise StoreUnavailableError("cut")
                return write(self, query, **named)

            with monkeypatch.context() as patch:
                patch.setattr(Connection, "write", write_some)
                patch.setattr(migration, "owner_name", lambda: owner_name(ended.pid))
                try:
                    _open(server, tmp_path).close()
                    is_cut = False
                except StoreUnavailableError:
                    cuts += 1
            with _open(server, tmp_path) as opened:
                _check(opened, info)
        store.delete_graph("old")
    assert cuts > 4


def test_one_process_brings_the_schema_up_to_date_and_others_wait(
    server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()
    migrate, take = migration._migrate, migration._Claim.take
    runs, takes = list[int](), list[bool]()

    def held(connection: Connection, old: int, *claim: Any) -> None:
        runs.append(old)
        begun.set()
        assert go.wait(600)
        migrate(connection, old, *claim)

    def noted(self: Any, version: int) -> bool:
        takes.append(take(self, version))
        return takes[-1]

    monkeypatch.setattr(migration, "_migrate", held)
    monkeypatch.setattr(migration._Claim, "take", noted)
    with _open(server, tmp_path) as store:
        info = _filled(store)
        _make_older(store)
        with ThreadPoolExecutor(2) as pool:
            try:
                first = pool.submit(_open, server, tmp_path)
                assert begun.wait(600)
                second = pool.submit(_open, server, tmp_path)
                wait_until(lambda: False in takes)
                assert not second.done()
            finally:
                go.set()
            for opened in (first.result(600), second.result(600)):
                with opened:
                    _check(opened, info)
        store.delete_graph("old")
    assert runs == [4]


def test_a_process_that_was_silent_drops_nothing_of_the_one_that_took_over(
    server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would end loads that began since, and drop the indexes that are searched."""
    begun, go = threading.Event(), threading.Event()
    migrate = migration._migrate

    def held(*arguments: Any) -> None:
        if not begun.is_set():
            begun.set()
            assert go.wait(600)
        migrate(*arguments)

    monkeypatch.setattr(migration, "_migrate", held)
    # Whoever is silent loses its step at once.
    monkeypatch.setattr(migration, "_CLAIM_S", 0.0)
    with _open(server, tmp_path) as store:
        info = _filled(store)
        _make_older(store)
        with ThreadPoolExecutor(1) as pool:
            try:
                late = pool.submit(_open, server, tmp_path)
                assert begun.wait(600)
                with _open(server, tmp_path) as opened:
                    load = opened.begin_load("new", owner="o", source="s")
                    load.write(Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))]))
                    go.set()
                    late.result(600).close()
                    _check(opened, info)
                    load.finish()
                    assert load.publish().counts.statements == 1
            finally:
                go.set()
        for name in ("old", "new"):
            store.delete_graph(name)


def test_out_of_memory_writes_nothing_of_the_batch(server: Neo4jServer, tmp_path: Path) -> None:
    large = [
        make_statement("Q1", "P1", StringValue("x" * 3_000), id=f"s{i}") for i in range(19_000)
    ]
    with _open(server, tmp_path) as store:
        with store.begin_load("full", owner="o", source="s") as load:
            load.write(Batch(statements=large[:100]))
            with pytest.raises(StoreFullError) as caught:
                load.write(Batch(statements=large))
            assert caught.value.retryable
            load.write(Batch(statements=large[100:200]))
            assert load.finish().written == 200
            assert load.publish().counts.statements == 200
        store.delete_graph("full")


def test_a_read_waits_for_a_server_that_comes_back(server: Neo4jServer, tmp_path: Path) -> None:
    """S1: the server is gone in the middle of reads and back in time; nobody sees an error."""
    statements = [make_statement("Q1", "P1", EntityValue(f"Q{i}")) for i in range(20)]
    with _open(server, tmp_path) as store:
        with store.begin_load("patient", owner="o", source="s") as load:
            load.write(Batch(statements=statements))
            load.finish()
            info = load.publish()
        server.kill()
        with ThreadPoolExecutor(3) as pool:
            reads = (
                pool.submit(store.graph, "patient"),
                pool.submit(store.statements_of, info.edition, "Q1"),
                pool.submit(store.neighbourhood, info.edition, ["Q1"]),
            )
            assert not any((reads[0].done(), reads[1].done(), reads[2].done()))
            server.restart()
            graph, of_head = reads[0].result(timeout=600), reads[1].result(timeout=600)
            region = reads[2].result(timeout=600)
        assert graph == info
        assert len(of_head) == len(region.edges) == 20
        store.delete_graph("patient")


def test_a_server_that_hangs_or_is_away_is_told_as_such(
    server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no time limit of the query: fewer hops would not help.

    What the arrays can answer is answered, and marked.
    """
    documents = [
        "{ graphs { nodes { name } } }",
        '{ item(itemId: "Q1") { statements { nodes { valueText } } } }',
        '{ searchItems(query: "q") { nodes { itemId } } }',
        '{ neighbourhood(itemId: "Q1", hops: 2) { text truncated { reason } } }',
        '{ paths(input: {question: "q", itemIds: ["Q1"]}) { text truncated { reason } } }',
    ]

    def answers(service: Service) -> list[set[str]]:
        """Returns the codes of the errors of each document, or the marks of its result."""
        codes = []
        for document in documents:
            response = execute(service, document)
            errors = response.get("errors", ())
            codes.append({error["extensions"]["code"] for error in errors})
            if not errors and "truncated" in document:
                (result,) = response["data"].values()
                codes[-1] |= {cut["reason"] for cut in result["truncated"]}
        return codes

    from_memory = [{"STORE_UNAVAILABLE"}] * 3 + [{"STORE_AWAY"}] * 2

    with _open(server, tmp_path, retry_s=1.0) as store:
        with store.begin_load("away", owner="o", source="s") as load:
            load.write(Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))]))
            load.finish()
            load.publish()
        settings = Settings(graph="away", read_timeout_s=PATIENCE_S, vectors=str(tmp_path / "v.db"))
        with open_service(store, settings=settings) as service:
            with monkeypatch.context() as patient:
                patient.setattr(driver, "PROBE_S", PATIENCE_S)
                assert answers(service) == [set()] * 5
            os.kill(server.pid, signal.SIGSTOP)
            try:
                assert answers(service) == from_memory
            finally:
                os.kill(server.pid, signal.SIGCONT)
            wait_until(lambda: answers(service) == [set()] * 5)
            server.kill()
            assert answers(service) == from_memory
            server.restart()
            wait_until(lambda: answers(service) == [set()] * 5)
            store.delete_graph("away")


def test_a_server_that_dies_and_comes_back(server: Neo4jServer, tmp_path: Path) -> None:
    """What was committed is there, the load goes on in the same session."""
    first = Batch(statements=[make_statement("Q1", "P1", EntityValue("Q2"))])
    second = Batch(statements=[make_statement("Q2", "P1", EntityValue("Q3"))])
    with _open(server, tmp_path, retry_s=1.0) as store:
        with store.begin_load("survivor", owner="o", source="s", lease_s=600) as load:
            load.write(first)
            server.kill()
            with pytest.raises(StoreUnavailableError) as caught:
                load.write(second)
            assert caught.value.retryable
            with pytest.raises(StoreUnavailableError):
                store.ping()
            with pytest.raises(StoreUnavailableError, match="does not answer"):
                _open(server, tmp_path, retry_s=1.0)
            server.restart()
            load.write(second)
            assert load.sequence == 2
            load.finish()
            assert load.publish().counts.statements == 2
        store.delete_graph("survivor")
