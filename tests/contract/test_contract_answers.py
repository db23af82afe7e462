"""Constraints and answers on both stores: base, view, and both routes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from film_graph import ENTITIES, STATEMENTS, TellsWays, Way
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.settings import Settings
from graph_service.store.protocol import Store

DIRECTED: Way = [("P57", True)]
STARRED: Way = [("P161", True)]
CHILD: Way = [("P40", False)]
ASKED: list[tuple[str, Way, str]] = [
    ("How many films did Ann Lee direct?", DIRECTED, "3"),
    ("How many films did Ann Lee direct since 1994?", DIRECTED, "2"),
    ("Which drama films with Bob Ray came out before 1994?", STARRED, "Snow"),
    ("Who is the youngest daughter of Ann Lee?", CHILD, "Eve Lee"),
    ("What is the largest city of Norland?", [("P150", False)], "Oslo"),
    ("Did Ann Lee direct Hail?", DIRECTED, "no"),
    ("Is Eve Lee a child of Ann Lee?", CHILD, "yes"),
]

SHOWN = {
    "3": ("3: Wind, Rain, Snow", ("3",)),
    "2": ("2: Wind, Rain", ("2",)),
    "Snow": ("Snow", ("Q11",)),
    "Eve Lee": ("Eve Lee", ("Q5",)),
    "Oslo": ("Oslo", ("Q51",)),
    "no": ("no", ("false",)),
    "yes": ("yes", ("true",)),
}


@pytest.fixture
def service(store: Store, graph_name: str, tmp_path: Path) -> Service:
    load_graph(store, graph_name, STATEMENTS, ENTITIES)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph=graph_name
    )
    return open_service(store, settings=settings, embedder=CountingWords())


def ask(service: Service, question: str, way: Way, **options: object) -> PathsResult:
    request = RetrieveRequest(question, Strategy.PATHS, preset="default-6", limit=5)
    with service.ranking_by(TellsWays(way)):
        found = service.retrieve(replace(request, **options))  # type: ignore[arg-type]
    assert isinstance(found, PathsResult)
    return found


def test_answers_are_those_of_the_graph_by_both_routes(service: Service) -> None:
    settings = replace(service.settings, snapshot_edges=1)
    by_store = open_service(service.store, settings=settings, embedder=CountingWords())
    for question, way, value in ASKED:
        one, two = ask(service, question, way), ask(by_store, question, way)
        assert one.answer is not None, question
        assert one.answer.value == value
        assert (one.answer.text, one.answer.values) == SHOWN[value]
        assert (one.answer, one.constraints, one.id) == (two.answer, two.constraints, two.id)


def test_a_view_changes_what_is_counted_and_who_is_first(service: Service) -> None:
    graph = service.arrays(service.graph())
    wind = graph.find_node("Q13")
    director = graph.find_relation("P57")
    (edge,) = (
        number
        for number in range(graph.edge_count)
        if (graph.head[number], graph.rel[number]) == (wind, director)
    )
    gone = Change(statement_id=graph.statement_ids[edge], remove=True)
    view = ViewRef(spec=ViewSpec(method=Method.CUSTOM, changes=(gone,)))
    counted = ask(service, "How many films did Ann Lee direct?", DIRECTED, view=view)
    latest = ask(service, "What is the most recent film of Ann Lee?", DIRECTED, view=view)
    assert counted.answer is not None
    assert latest.answer is not None
    assert (counted.answer.value, latest.answer.value) == ("2", "Rain")
    assert counted.provenance.view_id is not None
