"""Names beside a graph (a file of labels): no entities, until a statement has their id."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from graphs import load_graph, statement

from graph_service.doctor.verification import verify_store
from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue
from graph_service.store.neo4j import batch as neo4j_batch
from graph_service.store.neo4j import editions as neo4j_editions
from graph_service.store.neo4j import load as neo4j_load
from graph_service.store.protocol import Batch, Store
from graph_service.store.sqlite import finish as sqlite_finish
from graph_service.store.sqlite import load as sqlite_load

NAMES = (
    Entity("Q1", labels={"en": "one"}),
    Entity("Q2", labels={"en": "two"}, aliases={"en": ("second",)}),
    Entity("Q9", labels={"en": "nine"}),
    Entity("P1", EntityKind.PROPERTY, labels={"en": "leads to"}),
    Entity("P9", EntityKind.PROPERTY, labels={"en": "of no use"}),
)


@pytest.fixture(params=["at once", "in steps"])
def steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that the stores write, copy and index at once: thousands, or two."""
    if request.param == "in steps":
        for module, limit in (
            (neo4j_batch, "WRITE_ROWS"),
            (neo4j_load, "WRITE_ROWS"),
            (neo4j_editions, "PORTION"),
            (neo4j_editions, "NODES_A_COPY"),
            (sqlite_load, "COPY_ROWS"),
            (sqlite_finish, "GONE_ROWS"),
            (sqlite_finish, "NAME_ROWS"),
        ):
            monkeypatch.setattr(module, limit, 2)


def load_names(
    store: Store, graph: str, *entities: Entity, names_only: bool = True, replace: bool = False
) -> GraphInfo:
    with store.begin_load(graph, owner="test", source="names", replace=replace) as session:
        session.write(Batch(entities=entities, terms_only=True, names_only=names_only))
        session.finish()
        return session.publish()


def ids(store: Store, info: GraphInfo) -> set[str]:
    return {entity.id for chunk in store.scan_entities(info.edition) for entity in chunk}


def found(store: Store, info: GraphInfo, query: str) -> list[str]:
    return [hit.entity.id for hit in store.search(info.edition, query)]


def test_names_without_a_statement_are_no_entities(store: Store, graph_name: str) -> None:
    load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    info = load_names(store, graph_name, *NAMES)
    assert (info.counts.entities, info.counts.names, info.counts.relations) == (2, 2, 1)
    assert ids(store, info) == {"Q1", "Q2", "P1"}
    assert (found(store, info, "second"), found(store, info, "nine")) == (["Q2"], [])
    assert store.entities(info.edition, ["Q1", "Q9"]).missing == ("Q9",)
    assert [one.labels for one in store.relations(info.edition)] == [{"en": "leads to"}]
    snapshot = store.snapshot(info)
    assert sorted(snapshot.node_ids) == ["P1", "Q1", "Q2"]
    assert [one for one in verify_store(store, graph=graph_name) if one.fault] == []


@pytest.mark.usefixtures("steps")
def test_they_are_found_once_a_later_load_brings_a_statement(
    store: Store, graph_names: Callable[[], str]
) -> None:
    name = graph_names()
    first = load_names(store, name, *NAMES)
    assert (first.counts.entities, first.counts.names, ids(store, first)) == (0, 5, set())
    load_graph(store, name, [("Q1", "P1", "Q2")])
    info = load_graph(store, name, [("Q9", "P1", "Q1")])
    assert (info.counts.entities, info.counts.names) == (3, 1)
    assert found(store, info, "nine") == ["Q9"]
    assert store.entities(info.edition, ["Q9"]).entities["Q9"] == NAMES[2]

    # However it came about, it is the graph that one load of both would have made.
    other = graph_names()
    with store.begin_load(other, owner="test", source="both") as session:
        session.write(
            Batch(statements=(statement(("Q1", "P1", "Q2")), statement(("Q9", "P1", "Q1"))))
        )
        session.write(Batch(entities=NAMES, terms_only=True, names_only=True))
        session.finish()
        at_once = session.publish()
    assert (at_once.counts, at_once.fingerprints) == (info.counts, info.fingerprints)
    load_names(store, other, NAMES[4])
    assert store.graph(other).fingerprints == info.fingerprints


@pytest.mark.usefixtures("steps")
def test_they_are_set_aside_again_when_the_last_statement_goes(
    store: Store, graph_name: str
) -> None:
    only = make_statement("Q1", "P1", EntityValue("Q9"), id="only")
    load_graph(store, graph_name, [only])
    info = load_names(store, graph_name, *NAMES)
    assert found(store, info, "nine") == ["Q9"]
    with store.begin_load(graph_name, owner="test", source="test") as session:
        session.write(
            Batch(
                entities=(Entity("Q1", labels={"en": "uno"}, revision=1),),
                documents=frozenset({"Q1"}),
            )
        )
        session.finish()
        info = session.publish()
    assert ids(store, info) == {"Q1"}
    assert (info.counts.entities, info.counts.names) == (1, 4)
    assert store.entities(info.edition, ["Q1"]).entities["Q1"].labels == {"en": "uno"}


def test_described_entities_stay_without_a_statement(
    store: Store, graph_names: Callable[[], str]
) -> None:
    described, named = graph_names(), graph_names()
    load_graph(store, described, [], [Entity("Q9", descriptions={"en": "a number"})])
    info = load_names(store, described, *NAMES)
    assert (ids(store, info), info.counts.entities) == ({"Q9"}, 1)
    assert store.entities(info.edition, ["Q9"]).entities["Q9"].labels == {"en": "nine"}
    info = load_names(store, named, *NAMES, names_only=False)
    assert (info.counts.entities, info.counts.names) == (5, 0)
    assert found(store, info, "nine") == ["Q9"]
    info = load_names(store, named, Entity("Q8", labels={"en": "eight"}), replace=True)
    assert (info.counts.entities, info.counts.names) == (0, 1)
