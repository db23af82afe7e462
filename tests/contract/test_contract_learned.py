"""Preset default-6 on both stores: base, view, both routes, and another embedder's vectors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.model.graph import Float64
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue, Time, stored_value
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.settings import Settings
from graph_service.store.protocol import Store

RELATIONS = {"P1": "spouse", "P2": "mother", "P3": "place of birth", "P4": "date of birth"}
NAMES = {
    "Q1": "Ann Lee", "Q2": "Bob Ray", "Q3": "Cleo Ray", "Q4": "Oslo", "Q5": "Ann Arbor",
    "Q6": "Norway",
}  # fmt: skip
ASKED = "who is the mother of Ann Lee's spouse?"


@pytest.fixture
def service(store: Store, graph_name: str, tmp_path: Path) -> Iterator[Service]:
    statements = [
        make_statement("Q1", "P1", EntityValue("Q2")),
        make_statement("Q2", "P2", EntityValue("Q3")),
        make_statement("Q1", "P3", EntityValue("Q4")),
        make_statement("Q3", "P3", EntityValue("Q4")),
        make_statement("Q1", "P4", Time("+1952-03-11T00:00:00Z", 11)),
        make_statement("Q5", "P1", EntityValue("Q6")),
    ]
    entities = [
        *(Entity(id_, labels={"en": name}) for id_, name in NAMES.items()),
        *(
            Entity(id_, EntityKind.PROPERTY, labels={"en": name}, aliases={"en": ("wed to",)})
            if id_ == "P1"
            else Entity(id_, EntityKind.PROPERTY, labels={"en": name})
            for id_, name in RELATIONS.items()
        ),
    ]
    load_graph(store, graph_name, statements, entities)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph=graph_name
    )
    with ExitStack() as stack:
        opened = open_service(store, settings=settings, embedder=CountingWords())
        stack.enter_context(opened.ranking_by(ranker()))
        yield opened


def ranker() -> NetworkRanker:
    """The weights that ship, as if they were trained on vectors of the tests' embedder."""
    return NetworkRanker(replace(shipped_scorer(), embedder=CountingWords().name))


def ask(service: Service, **options: object) -> PathsResult:
    request = RetrieveRequest(ASKED, Strategy.PATHS, preset="default-6", limit=4)
    found = service.retrieve(replace(request, **options))  # type: ignore[arg-type]
    assert isinstance(found, PathsResult)
    return found


def relations(result: PathsResult) -> list[list[str]]:
    return [[step.triple.relation.id for step in item.steps] for item in result.items]


def test_both_stores_find_the_chain_and_whom_it_is_about(service: Service) -> None:
    found = ask(service)
    assert relations(found)[0] == ["P1", "P2"]
    (linked,) = [one for one in found.linked if one.mention == "Ann Lee"]
    assert linked.entity.id == "Q1"
    assert ask(service).id == found.id


class Reading:
    """Ranks as the shipped weights do, and notes what its reader says of each candidate."""

    def __init__(self) -> None:
        self.ends: dict[tuple[str, ...], list[frozenset[str]]] = {}
        self.starts: list[str] = []

    @property
    def name(self) -> str:
        return ranker().name

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        ids = reader.relation_ids()
        self.starts = reader.start_ids()
        for number in range(len(reader.candidates)):
            steps = tuple(
                ("-" if backward else "") + ids[int(reader.candidates.relation_numbers[rel])]
                for rel, backward in reader.candidates.sequence(number)
            )
            self.ends[steps] = [reader.end_ids(number, most=limit) for limit in (50, 1, 0)]
        return ranker().rank(reader, most)


def test_a_reader_says_what_each_candidate_leads_to(service: Service) -> None:
    """By the ids of the graph, literals as they are stored; nothing where there are too many."""
    reading = Reading()
    with service.ranking_by(reading):
        ask(service, entity_ids=("Q1",))
    assert reading.starts == ["Q1"]
    oslo, cleo = frozenset({"Q4"}), frozenset({"Q3"})
    assert reading.ends["P1", "P2"] == [cleo, cleo, frozenset()]
    assert reading.ends["P3",] == [oslo, oslo, frozenset()]
    assert reading.ends["P3", "-P3"] == [cleo, cleo, frozenset()]
    (born, *_) = reading.ends["P4",]
    assert [stored_value(each) for each in born] == [Time("+1952-03-11T00:00:00Z", 11)]


def test_the_parts_of_a_score_are_named(service: Service) -> None:
    """How much the best bears on the question, and by how much another path is behind it."""
    parts = [
        {part.name: part.amount for part in item.parts or ()}
        for item in ask(service, limit=20).items
    ]
    assert list(parts[0]) == ["relevance"]
    behind = [each for each in parts if each != parts[0]]
    assert behind
    for each in behind:
        assert list(each) == ["relevance", "below_best"]
        assert each["relevance"] == parts[0]["relevance"]
        assert each["below_best"] < 0


def test_another_name_of_a_relation_is_read_from_the_store(service: Service) -> None:
    found = ask(service, question="who is Ann Lee wed to?")
    assert relations(found)[0] == ["P1"]


def test_on_a_view_what_is_gone_is_not_found(service: Service) -> None:
    gone = ViewSpec(method=Method.EDGE_DELETION, level=1.0, random_seed=0)
    view = ask(service, view=ViewRef(spec=gone))
    # Deletion leaves literals as they are.
    assert relations(view) == [["P4"]]
    assert view.provenance.view_id is not None


def test_the_stores_own_route_gives_the_same_result(service: Service) -> None:
    settings = replace(service.settings, snapshot_edges=1)
    by_store = open_service(service.store, settings=settings, embedder=CountingWords())
    with by_store.ranking_by(ranker()):
        for options in (
            {},
            {"entity_ids": ("Q1",), "question": "where was she born?"},
            {"strategy": Strategy.PATHS, "question": "when was Ann Lee born?"},
        ):
            one, two = ask(service, **options), ask(by_store, **options)
            assert one.items
            assert (one.items, one.linked, one.id) == (two.items, two.linked, two.id)


def test_without_weights_that_fit_similarity_alone_ranks(
    service: Service, store: Store, graph_name: str
) -> None:
    def ranked_by(by: Service, **options: object) -> object:
        default, named = ask(by, preset="default", **options), ask(by, **options)
        assert default.id == named.id
        assert default.provenance.preset == "default-6"
        if default.provenance.parameters["ranker"] == "similarity alone":
            assert default.confidence is None
        return default.provenance.parameters["ranker"]

    trained = ranker().name
    assert ranked_by(service) == trained
    vector = CountingWords().encode([ASKED])[0].tolist()
    assert ranked_by(service, question_vector=vector) == "similarity alone"
    other = open_service(store, settings=service.settings, embedder=CountingWords())
    assert ranked_by(other) == "similarity alone"
    assert relations(ask(other))[0] == ["P1", "P2"]
    info = other.graph(graph_name)
    for embedder, name in (
        ("another", "similarity alone"),
        (CountingWords().name, f"{trained} for graph {graph_name}"),
    ):
        other.candidate_scorers.save(info, replace(shipped_scorer(), embedder=embedder))
        assert ranked_by(other) == name


def test_a_path_may_come_back_and_statements_of_a_thing_about_itself_repeat(
    store: Store, graph_name: str, tmp_path: Path
) -> None:
    statements = [
        make_statement("Q1", "P1", EntityValue("Q2")),
        make_statement("Q2", "P1", EntityValue("Q1")),
        make_statement("Q5", "P2", EntityValue("Q5")),
    ]
    entities = [Entity(id_, labels={"en": name}) for id_, name in NAMES.items()]
    entities += [
        Entity(id_, EntityKind.PROPERTY, labels={"en": name}) for id_, name in RELATIONS.items()
    ]
    load_graph(store, graph_name, statements, entities)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph=graph_name
    )
    opened = open_service(store, settings=settings, embedder=CountingWords())
    with opened.ranking_by(ranker()):
        back = ask(opened, question="who is the spouse of the spouse of Ann Lee?", limit=20)
        own = ask(opened, question="who is the mother of Ann Arbor's mother?", limit=20)
    paths = {
        tuple((step.triple.head.id, step.reversed) for step in path.steps): path
        for path in back.items
    }
    assert (("Q1", False), ("Q2", False)) in paths
    repeated = [path for path in own.items if len(path.steps) == 2]
    assert {step.triple.statement_id for path in repeated for step in path.steps} == {
        step.triple.statement_id for path in own.items for step in path.steps
    }
    assert repeated
