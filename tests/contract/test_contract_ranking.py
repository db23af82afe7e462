"""Preset ltgen on both stores: base, views, both routes, and rankers kept in the store (L4, L5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import raises
from graphs import load_graph
from word_vectors import CountingWords, WordVectors

from graph_service import Service, open_service
from graph_service.artifacts.rankers import KIND
from graph_service.errors import InputError, StoreCorruptError
from graph_service.model.ranking import SignedRelation
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy, TripletsResult
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.rank import RankerWeights
from graph_service.settings import Settings
from graph_service.store.protocol import Record, Store
from queries.rank.training import Example, train_ranker

DRAWN = ["Q10", "Q17", "Q33", "Q36"]
ASKED = "Who was the teacher of Ann Lee?"
RELATIONS = {"P1": "pupil", "P2": "child", "P3": "employer", "P4": "teacher painted", "P5": "pet"}


def statements() -> list[Statement]:
    made = [
        make_statement("Q1", "P1", EntityValue("Q2")),
        make_statement("Q1", "P5", StringValue("x")),
    ]
    for i in range(30):
        made.append(make_statement("Q1", "P2", EntityValue(f"Q{10 + i}")))
        made.append(make_statement(f"Q{50 + i}", "P4", EntityValue("Q1")))
        made.append(make_statement(f"Q{50 + i}", "P3", EntityValue(f"Q{10 + i}")))
    return made


def trained(*, random_seed: int = 0, embedder: str = "words-1") -> RankerWeights:
    """Learns what no name says: a teacher is who one is a student of."""
    patterns = {"P1": "who was the teacher of {}", "P2": "who is the child of {}",
                "P3": "where does {} work", "P5": "what pet has {}"}  # fmt: skip
    examples = [
        Example(pattern.format(f"person{i}"), SignedRelation(id_, RELATIONS[id_]))
        for i in range(12)
        for id_, pattern in patterns.items()
    ]
    return train_ranker(examples, WordVectors(embedder), random_seed=random_seed)


@pytest.fixture
def service(store: Store, graph_name: str, tmp_path: Path) -> Iterator[Service]:
    entities = [
        Entity("Q1", labels={"en": "Ann Lee"}),
        *(Entity(id_, EntityKind.PROPERTY, labels={"en": name}) for id_, name in RELATIONS.items()),
    ]
    load_graph(store, graph_name, statements(), entities)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph=graph_name
    )
    # The store is the fixture's own, to be closed by it.
    opened = open_service(store, settings=settings, embedder=CountingWords())
    yield opened
    for each in opened.rankers.list():
        opened.rankers.delete(each.name)


def ask(service: Service, **options: object) -> TripletsResult:
    found = service.retrieve(
        replace(RetrieveRequest(ASKED, Strategy.TRIPLETS, preset="ltgen"), **options)  # type: ignore[arg-type]
    )
    assert isinstance(found, TripletsResult)
    return found


def test_both_stores_give_what_is_expected_and_on_a_view_too_l4(service: Service) -> None:
    found = ask(service, triples_per_relation=4)
    by_relation: dict[str, set[str]] = {}
    for item in found.items:
        by_relation.setdefault(item.triple.relation.id, set()).add(item.triple.statement_id)
        assert item.origin_id == "Q1"
    assert {id_: len(ids) for id_, ids in by_relation.items()} == {
        "P1": 1,
        "P2": 4,
        "P4": 4,
        "P5": 1,
    }
    # The draw by key is that of any other store: what is written here is the rule's outcome.
    drawn = sorted(
        item.triple.value_label for item in found.items if item.triple.relation.id == "P2"
    )
    assert drawn == DRAWN
    spec = ViewSpec(method=Method.EDGE_DELETION, level=0.5, random_seed=1)
    view = ask(service, view=ViewRef(spec=spec))
    assert view.provenance.view_id is not None
    gone = {one.id for one in statements()} - {
        shown.statement.id
        for head in ("Q1", *(f"Q{50 + i}" for i in range(30)))
        for shown in service.statements.of(head, view=ViewRef(spec=spec))
    }
    assert gone
    assert view.items
    assert not gone & {item.triple.statement_id for item in view.items}


def test_the_stores_own_route_gives_the_same_result_l4(
    service: Service, store: Store, tmp_path: Path
) -> None:
    settings = replace(service.settings, snapshot_edges=1)
    by_store = open_service(store, settings=settings, embedder=CountingWords())
    weights = trained()
    service.rankers.add(weights)
    for options in ({}, {"entity_ids": ("Q1", "Q12")}, {"ranker": "trained", "limit": 7},
                    {"strategy": Strategy.PATHS, "draw_seed": 5}):  # fmt: skip
        request = replace(
            RetrieveRequest(ASKED, Strategy.TRIPLETS, preset="ltgen"),
            **options,
        )
        one, two = service.retrieve(request), by_store.retrieve(request)
        assert one.items
        assert (one.items, one.id) == (two.items, two.id)


def test_a_trained_ranker_is_added_used_by_name_and_deleted_l5(service: Service) -> None:
    with raises(InputError):
        ask(service, ranker="trained")
    first = service.rankers.add(trained())
    assert service.rankers.add(trained()).fingerprint == first.fingerprint
    second = service.rankers.add(trained(random_seed=1))
    assert [each.name for each in service.rankers.list()] == [first.name, second.name]
    assert (second.embedder, second.relations, second.notes["random_seed"]) == ("words-1", 4, 1)
    by_embedding = ask(service)
    assert by_embedding.items[0].triple.relation.id != "P1"
    newest = ask(service, ranker="trained")
    assert newest.items[0].triple.relation.id == "P1"
    # The newest by whatever name it goes now: the result says which one that was.
    assert newest.provenance.parameters["ranker"] == second.name
    assert ask(service, ranker=second.name).id == newest.id
    assert ask(service, ranker=first.fingerprint).provenance.parameters["ranker"] == first.name
    assert service.rankers.delete("trained") == second.name
    assert ask(service, ranker="trained").provenance.parameters["ranker"] == first.name
    with pytest.raises(InputError, match="no relation ranker"):
        ask(service, ranker=second.name)


def test_a_ranker_of_another_embedder_or_a_damaged_one_is_refused(
    service: Service, store: Store
) -> None:
    other = service.rankers.add(trained(embedder="words-2"))
    with raises(InputError):
        ask(service, ranker=other.name)
    kept = service.rankers.add(trained())
    record = store.get_record(KIND, kept.fingerprint)
    assert record is not None
    store.save_record(Record(KIND, kept.fingerprint, "", record.json, record.data[:-500]))
    with pytest.raises(StoreCorruptError, match="damaged"):
        ask(service, ranker=kept.name)
