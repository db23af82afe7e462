"""Names from data are stored and found again unharmed, and injection does nothing."""

from __future__ import annotations

import pytest
from graphs import load_graph

from graph_service.model.statement import Entity, Snak, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.store.protocol import Batch, Record, Store

HOSTILE = [
    "O'Brien",
    'say "hi"',
    "back`tick",
    "a\\b\\'c",
    "'; DROP TABLE graphs; --",
    "$n $b ?1 :node @x",
    "}) DETACH DELETE (n) //",
    "` MATCH (n) DETACH DELETE n //",
    "*/ RETURN 1 /*",
    "\u202eright-to-left\u202c שלום مرحبا",
    "tab\tline\nreturn\r",
    "x" * 10_000,
    "🜚" * 300,
    "{{curly}} ${dollar} %s %(x)s",
    "Harry_Potter_and_the_Philosopher's_Stone",
    " leading and trailing ",
    "null",
    "e\u0301 and é",
]


def test_hostile_names_come_back_unharmed(store: Store, graph_name: str) -> None:
    statements = []
    for number, name in enumerate(HOSTILE):
        following = HOSTILE[(number + 1) % len(HOSTILE)]
        statements.append(make_statement(name, following, EntityValue(following), id=f"s {name}"))
        statements.append(
            make_statement(
                name, name, StringValue(name, name), qualifiers=[Snak(name, StringValue(name))]
            )
        )
    entities = [
        Entity(
            name,
            labels={"en": name},
            aliases={"de": (name + " alias",)},
            same_as=(f"http://example.org/{number}/{name}",),
        )
        for number, name in enumerate(HOSTILE)
    ]
    info = load_graph(store, graph_name, statements, entities)
    edition = info.edition
    assert store.entities(edition, HOSTILE).entities == {item.id: item for item in entities}
    assert store.statements(edition, [item.id for item in statements]) == {
        item.id: item for item in statements
    }
    graph = store.snapshot(info)
    for name in HOSTILE:
        assert graph.find_node(name) is not None
        assert graph.find_relation(name) is not None
        assert {item.head for item in store.statements_of(edition, name)} == {name}
        assert name in store.neighbourhood(edition, [name], relation_ids=[name]).hops
        if len(name) <= 1000:
            assert name in [hit.entity.id for hit in store.search(edition, name, limit=50)] or not [
                character for character in name if character.isalnum()
            ]
    assert store.entities(edition, [entities[4].same_as[0]]).entities


@pytest.mark.parametrize("name", HOSTILE[:8], ids=range(8))
def test_hostile_text_in_every_argument_does_nothing(
    store: Store, graph_name: str, name: str
) -> None:
    info = load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    edition = info.edition
    assert store.entities(edition, [name]).missing == (name,)
    assert store.statements(edition, [name]) == {}
    assert store.statements_of(edition, name, relation_ids=[name]) == []
    assert store.neighbourhood(edition, [name], relation_ids=[name]).edges == ()
    assert store.search(edition, name, languages=[name]) == []
    store.save_record(Record(name, name, name, {name: name}))
    assert [record.key for record in store.list_records(name, graph=name)] == [name]
    assert store.delete_record(name, name)
    with store.begin_load(graph_name, owner=name, source=name, options={name: name}) as load:
        load.abort()
    assert store.graph(graph_name) == info


def test_a_very_long_id(store: Store, graph_name: str) -> None:
    long = "http://example.org/" + "é" * 450_000
    info = load_graph(store, graph_name, [(long, "P1", "Q2"), ("Q2", long[:5000], long)])
    assert store.entities(info.edition, [long]).entities[long].id == long
    assert set(store.neighbourhood(info.edition, [long]).hops) == {long, "Q2"}
    graph = store.snapshot(info)
    assert graph.find_node(long) is not None


def test_6000_relation_types(store: Store, graph_name: str) -> None:
    rows = [(f"Q{i % 50}", f"http://example.org/relation/{i}", f"Q{i % 47}") for i in range(6000)]
    info = load_graph(store, graph_name, rows)
    assert info.counts.relations == 6000
    graph = store.snapshot(info)
    assert {graph.relation_ids[i] for i in range(6000)} == {relation for _, relation, _ in rows}
    edges = [edge for chunk in store.scan_edges(info.edition) for edge in chunk]
    assert {(edge.head, edge.relation) for edge in edges} == {row[:2] for row in rows}
    found = store.statements_of(info.edition, "Q7", relation_ids=[rows[7][1], rows[5957][1]])
    assert {item.relation for item in found} == {rows[7][1], rows[5957][1]}


def test_names_alike_but_for_case_or_form_are_different_ids(store: Store, graph_name: str) -> None:
    ids = ["Rome", "rome", "ROME", "Rome ", "é", "e\u0301"]
    with store.begin_load(graph_name, owner="a", source="s") as load:
        load.write(Batch(entities=[Entity(id_, labels={"en": id_}) for id_ in ids]))
        load.finish()
        info = load.publish()
    assert list(store.entities(info.edition, ids).entities) == ids
