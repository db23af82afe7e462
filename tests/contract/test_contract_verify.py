"""``verify`` on both stores: what was damaged behind the store's back is named, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import neo4j
import pytest
from error_texts import raises
from graphs import load_graph, sample_entities, sample_statements

from graph_service.artifacts.views import ViewStore
from graph_service.doctor.verification import Verified, verify_store
from graph_service.errors import StoreCorruptError
from graph_service.export import export, exported_graph
from graph_service.model.passage import make_passage
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service import open_service
from graph_service.settings import Settings
from graph_service.store.neo4j import inspect as neo4j_inspect
from graph_service.store.neo4j import passages as neo4j_passages
from graph_service.store.neo4j import scan as neo4j_scan
from graph_service.store.protocol import Batch, Store
from graph_service.store.sqlite import inspect as sqlite_inspect
from graph_service.store.sqlite import passages as sqlite_passages
from graph_service.store.sqlite import store as sqlite_store
from graph_service.views.codec import encode_delta

Damage = Callable[..., None]
"""Runs SQL on the file or Cypher on the server, whichever the store is: ``damage(sql, cypher)``."""


@pytest.fixture
def damage(request: pytest.FixtureRequest, store: Store) -> Damage:
    """Changes what is stored, past the store."""

    def change(sql: str, cypher: str, **parameters: str) -> None:
        if store.url.startswith("sqlite"):
            with sqlite3.connect(store.url.removeprefix("sqlite:///")) as connection:
                assert connection.execute(sql).rowcount, sql
            connection.close()
            return
        server = request.getfixturevalue("neo4j_server")
        auth = (server.username, server.password) if server.password else None
        with neo4j.GraphDatabase.driver(server.url, auth=auth) as driver:
            found = driver.execute_query(cypher, parameters, database_=server.database)
            assert found.summary.counters.contains_updates, cypher

    return change


def faults(store: Store, graph: str) -> list[str]:
    """Returns the parts of a graph that ``verify`` finds damaged."""
    found = list(verify_store(store, graph=graph))
    assert all(bool(item.fault) == bool(item.fix) for item in found)
    return [item.part for item in found if item.graph == graph and item.fault]


def test_a_whole_store_is_found_whole(store: Store, graph_name: str) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    store.snapshot(info)
    graph = store.snapshot(info)
    ViewStore(store).create(
        graph, ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=3), name="half"
    )
    with store.passages.begin(graph_name, source="s", options={}, owner="test") as load:
        load.write([make_passage("Rome is a city.", title="Rome", source="s")], checkpoint={})
        load.publish()
    found = list(verify_store(store, graph=graph_name))
    assert [item for item in found if item.fault] == []
    parts = {item.part for item in found if item.graph == graph_name}
    assert parts >= {
        *("edges fingerprint", "content fingerprint", "counts", "keys", "name index"),
        *("snapshot", "view half", "passages s", "page views"),
    }


@pytest.mark.parametrize(
    ("sql", "cypher", "expected"),
    [
        pytest.param(
            "UPDATE entities_{n} SET terms = replace(terms, 'Rome', 'Bome')",
            "MATCH (n:Entity {graph: $edition}) WHERE n.terms CONTAINS 'Rome' "
            "SET n.terms = replace(n.terms, 'Rome', 'Bome')",
            {"content fingerprint", "name index"},
            id="label",
        ),
        pytest.param(
            "UPDATE statements_{n} SET rank = 2 WHERE row = (SELECT min(row) FROM statements_{n} "
            "WHERE rank = 1)",
            "MATCH (:Entity {graph: $edition})-[r]->() WHERE r.rank = 'normal' "
            "WITH r LIMIT 1 SET r.rank = 'deprecated'",
            {"edges fingerprint", "content fingerprint"},
            id="rank",
        ),
        pytest.param(
            "DELETE FROM statements_{n} WHERE row = (SELECT max(row) FROM statements_{n})",
            "MATCH (:Entity {graph: $edition})-[r]->() WITH r LIMIT 1 DELETE r",
            {"edges fingerprint", "content fingerprint", "counts"},
            id="statement gone",
        ),
        pytest.param(
            "UPDATE statements_{n} SET id = id || 'x' WHERE row = 1",
            "MATCH (:Entity {graph: $edition})-[r]->() WITH r LIMIT 1 SET r.id = r.id + 'x'",
            {"edges fingerprint", "content fingerprint", "keys"},
            id="statement id",
        ),
        pytest.param(
            "UPDATE entities_{n} SET terms = '{{' WHERE terms <> '{{}}'",
            "MATCH (n:Entity {graph: $edition}) WHERE n.terms <> '{}' SET n.terms = '{'",
            {"content"},
            id="terms that are no JSON",
        ),
    ],
)
def test_what_was_changed_is_named(
    store: Store,
    graph_name: str,
    damage: Damage,
    sql: str,
    cypher: str,
    expected: set[str],
) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    assert faults(store, graph_name) == []
    number = info.edition.rpartition("@")[2]
    damage(sql.format(n=number), cypher, edition=info.edition)
    assert expected <= set(faults(store, graph_name))


@pytest.fixture
def in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads two rows at a time, where the stores read thousands."""
    for module, limit in (
        (sqlite_inspect, "_ROWS"),
        (sqlite_store, "SCAN_ROWS"),
        (sqlite_passages, "_SCAN_ROWS"),
        (neo4j_inspect, "SCAN_ROWS"),
        (neo4j_scan, "SCAN_ROWS"),
        (neo4j_passages, "_SCAN_ROWS"),
    ):
        monkeypatch.setattr(module, limit, 2)


@pytest.mark.usefixtures("in_steps")
def test_all_steps_of_a_store_are_read(store: Store, graph_name: str) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    assert info.counts.statements > 4
    passages = [make_passage(f"Text {n}.", title="Rome", source="s") for n in range(7)]
    with store.passages.begin(graph_name, source="s", options={}, owner="test") as load:
        load.write(passages, checkpoint={})
        number = load.publish().number
    read = [one.id for chunk in store.passages.scan(number) for one in chunk]
    assert sorted(read) == sorted(one.id for one in passages)
    for in_order in (True, False):
        chunks = store.scan_statements(info.edition, in_order=in_order)
        found = [one for chunk in chunks for one in chunk]
        assert len(found) == info.counts.statements
        assert {one.id for one in found} == {one.id for one in sample_statements()}
    with store.begin_load(f"{graph_name}-b", owner="test", source="s") as load_under_way:
        load_under_way.write(Batch(statements=sample_statements()))
        assert [
            item for item in verify_store(store) if graph_name in item.part and item.fault
        ] == []
        load_under_way.abort()
    assert faults(store, graph_name) == []


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("end", ["min", "max"])
def test_damage_in_the_first_and_the_last_step_is_named(
    store: Store, graph_name: str, damage: Damage, end: str
) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    number = info.edition.rpartition("@")[2]
    damage(
        f"UPDATE statements_{number} SET id = id || 'x' "
        f"WHERE row = (SELECT {end}(row) FROM statements_{number})",
        "MATCH (:Entity {graph: $edition})-[r]->() "
        f"WITH r ORDER BY r.key {'DESC' if end == 'max' else ''} LIMIT 1 SET r.id = r.id + 'x'",
        edition=info.edition,
    )
    assert "keys" in faults(store, graph_name)
    damage(
        f"UPDATE entities_{number} SET terms = replace(terms, '\":\"', '\":\"new ') WHERE row = "
        f"(SELECT {end}(row) FROM entities_{number} WHERE terms LIKE '%labels%')",
        "MATCH (n:Entity {graph: $edition}) WHERE n._search IS NOT NULL "
        f"WITH n ORDER BY n.key {'DESC' if end == 'max' else ''} LIMIT 1 SET n._search = 'other'",
        edition=info.edition,
    )
    assert "name index" in faults(store, graph_name)


def test_a_region_of_damaged_rows_is_told_as_damage(
    store: Store, graph_name: str, damage: Damage
) -> None:
    """The store route reads regions without a snapshot: rows that lead nowhere are no fault of ours."""
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    number = info.edition.rpartition("@")[2]
    damage(
        f"UPDATE statements_{number} SET tail = tail + 1 WHERE tail IS NOT NULL",
        "MATCH (:Entity {graph: $edition})-[r]->(n:Entity) REMOVE n.id, n.long_id",
        edition=info.edition,
    )
    with raises(StoreCorruptError):
        store.neighbourhood(info.edition, ["Q42"])


def test_a_search_index_that_lost_a_name_is_named(
    store: Store, graph_name: str, damage: Damage
) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    number = info.edition.rpartition("@")[2]
    damage(
        f"INSERT INTO names_{number} (rowid, tokens) VALUES (5, 'other')",
        "MATCH (n:Entity {graph: $edition}) WHERE n._search IS NOT NULL "
        "WITH n LIMIT 1 SET n._search = n._search + ' other'",
        edition=info.edition,
    )
    assert faults(store, graph_name) == ["name index"]


def test_a_view_whose_changes_are_not_those_drawn_is_named(
    store: Store, graph_name: str, damage: Damage
) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    graph = store.snapshot(info)
    views = ViewStore(store)
    kept = views.create(
        graph, ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=3), name="half"
    )
    other = views.lay_spec(graph, ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=4))
    record = store.get_record("view", f"{graph_name}/{kept.id}")
    assert record is not None
    store.save_record(replace(record, data=encode_delta(graph, other.delta)))
    assert faults(store, graph_name) == ["view half"]
    # A changed byte of the record is seen when it is read, not only by ``verify``.
    store.save_record(record)
    assert faults(store, graph_name) == []
    damage(
        f"UPDATE records SET json = replace(json, '0.5', '0.6') WHERE graph = '{graph_name}'",
        "MATCH (r:GraphRecord {graph: $graph}) SET r.json = replace(r.json, '0.5', '0.6')",
        graph=graph_name,
    )
    assert faults(store, graph_name) == ["views"]
    with raises(StoreCorruptError):
        ViewStore(store).get(graph_name, "half", edges=info.fingerprints.edges)


def test_passages_that_changed_are_named(store: Store, graph_name: str, damage: Damage) -> None:
    load_graph(store, graph_name, sample_statements())
    with store.passages.begin(graph_name, source="s", options={}, owner="test") as load:
        load.write([make_passage("Rome is a city.", title="Rome", source="s")], checkpoint={})
        found = load.publish()
    assert faults(store, graph_name) == []
    damage(
        f"UPDATE passages_{found.number} SET text = 'Rome is a town.'",
        "MATCH (p:Passage) WHERE p.text = 'Rome is a city.' SET p.text = 'Rome is a town.'",
    )
    assert faults(store, graph_name) == ["passages s"]


def test_the_journal_of_a_load_under_way_is_verified(
    store: Store, graph_name: str, damage: Damage
) -> None:
    def journals() -> list[Verified]:
        found = list(verify_store(store))
        return [item for item in found if item.part.startswith(f"journal of the load {graph_name}")]

    with store.begin_load(graph_name, owner="test", source="s") as load:
        load.write(Batch(statements=sample_statements()))
        load.write(Batch(statements=sample_statements()[:1]))
        edition, number = load.edition, load.edition.rpartition("@")[2]
    assert [item.fault for item in journals()] == [""]
    damage(
        f"DELETE FROM statements_{number} WHERE row = 1",
        "MATCH (j:LoadJournal) WHERE j.key STARTS WITH $edition AND j.batch = 1 DELETE j",
        edition=f"{edition}:",
    )
    assert [bool(item.fault) for item in journals()] == [True]


@pytest.mark.parametrize("at", ["statements and entities", "indexes", "snapshot", "views"])
def test_a_graph_replaced_meanwhile_is_verified_as_it_is_then(
    store: Store, graph_name: str, at: str
) -> None:
    first = load_graph(store, graph_name, sample_statements(), sample_entities())
    store.snapshot(first)
    told: list[str] = []

    def replace(text: str) -> None:
        told.append(text)
        if text == f"{graph_name}: {at}" and told.count(text) == 1:
            load_graph(store, graph_name, sample_statements()[:1], replace=True)

    found = list(verify_store(store, graph=graph_name, progress=replace))
    assert [item for item in found if item.fault] == []
    assert {item.part for item in found} >= {"content fingerprint", "counts"}
    assert store.graph(graph_name).edition != first.edition


@pytest.mark.parametrize("at", ["statements and entities", "indexes", "snapshot"])
def test_a_graph_deleted_meanwhile_is_no_fault(store: Store, graph_name: str, at: str) -> None:
    load_graph(store, graph_name, sample_statements(), sample_entities())
    told: list[str] = []

    def delete(text: str) -> None:
        told.append(text)
        if text == f"{graph_name}: {at}":
            store.delete_graph(graph_name)

    found = list(verify_store(store, graph=graph_name, progress=delete))
    assert [item for item in found if item.fault] == []


def test_an_export_of_a_damaged_graph_is_refused_and_leaves_no_file(
    store: Store, graph_name: str, damage: Damage, tmp_path: Path
) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    out = tmp_path / "out.jsonl"
    # The service would close the store, which is the fixture's.
    service = open_service(store, settings=Settings())
    export(exported_graph(service, graph=graph_name), str(out))
    whole = out.read_bytes()
    number = info.edition.rpartition("@")[2]
    damage(
        f"UPDATE entities_{number} SET terms = replace(terms, 'Rome', 'Bome')",
        "MATCH (n:Entity {graph: $edition}) WHERE n.terms CONTAINS 'Rome' "
        "SET n.terms = replace(n.terms, 'Rome', 'Bome')",
        edition=info.edition,
    )
    with raises(StoreCorruptError):
        export(exported_graph(service, graph=graph_name), str(out))
    assert out.read_bytes() == whole
    assert [item.name for item in tmp_path.iterdir() if "out" in item.name] == ["out.jsonl"]
