"""What data sets are begun from, on both stores: counts, drawn pairs and entities, names (K9, O1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import raises
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.sampling import read_relations
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from queries.builders.kalma.pairs import NamedPair, disambiguate, name_pairs
from queries.builders.material import GraphMaterial
from queries.builders.stages import RefusedError

NAMES = {"Q1": "Ann Lee", "Q2": "Bo Lee", "Q3": "Ann Lee", "Q4": "Cy Day", "Q5": "Bo Lee"}
RELATIONS = {"P26": "spouse", "P19": "place of birth", "P1": "id of it"}


def statements() -> list[Statement]:
    pairs = [("Q1", "Q2"), ("Q2", "Q1"), ("Q4", "Q3")]
    return [
        *(make_statement(head, "P26", EntityValue(value)) for head, value in pairs),
        make_statement("Q4", "P26", EntityValue("Q4")),
        *(make_statement(id_, "P19", EntityValue("Q9")) for id_ in NAMES),
        make_statement("Q1", "P1", StringValue("x", datatype="external-id")),
    ]


@pytest.fixture
def service(store: Store, graph_name: str, tmp_path: Path) -> Service:
    entities = [
        *(Entity(id_, labels={"en": name}) for id_, name in NAMES.items()),
        Entity("Q9", labels={"en": "Rome"}),
        *(Entity(id_, EntityKind.PROPERTY, labels={"en": name}) for id_, name in RELATIONS.items()),
    ]
    load_graph(store, graph_name, statements(), entities)
    settings = Settings(vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"))
    # The store is the fixture's own, to be closed by it.
    return open_service(store, settings=settings, embedder=CountingWords())


def test_draws_are_the_same_on_both_stores_k9(service: Service, graph_name: str) -> None:
    uses = service.draws.relation_uses(graph=graph_name)
    assert uses.statements == 10
    assert uses.uses == {"P26": 4, "P19": 5, "P1": 1}
    drawn = service.draws.pairs("P26", count=9, random_seed=1, graph=graph_name)
    # A marriage counts once, from whichever side it is drawn; nobody is a pair alone.
    assert drawn.there == len(drawn.triples) == 2
    named = [(one.head, one.value) for one in name_pairs(drawn.triples)]
    assert named == [("Cy Day", "Ann Lee"), ("Bo Lee", "Ann Lee")]
    first = service.draws.pairs("P26", count=1, random_seed=1, graph=graph_name)
    assert first.triples == drawn.triples[:1]
    with raises(InputError):
        service.draws.pairs("P99", count=1, graph=graph_name)
    found = service.draws.entities(count=9, min_statements=2, graph=graph_name)
    assert {one.id for one in found.entities} == {"Q1", "Q2", "Q4"}


def test_names_are_told_apart_by_the_relation_on_both_stores_k9(
    service: Service, graph_name: str
) -> None:
    uses = service.draws.relation_uses(graph=graph_name)
    material = GraphMaterial(
        Client.over(service), graph_name, "en", uses.statements, uses.uses, read_relations()
    )
    pool = disambiguate(NamedPair("1", "ann lee", "P26", "Bo Lee"), material)
    assert (pool.head.id, pool.value.id) == ("Q1", "Q2")
    assert [one.relation.id for one in pool.triples].count("P19") == 2
    # The same marriage from the other side, and the external id.
    assert pool.passed_over == 2
    assert disambiguate(NamedPair("2", "Cy Day", "P26", "Ann Lee"), material).value.id == "Q3"
    for head, relation, value, why in (
        ("Bo Lee", "P19", "Ann Lee", "not related"),
        ("Nobody", "P26", "Ann Lee", "unknown name"),
        ("Bo Lee", "P19", "Rome", "ambiguous names"),
    ):
        with pytest.raises(RefusedError) as caught:
            disambiguate(NamedPair("3", head, relation, value), material)
        assert caught.value.why == why
