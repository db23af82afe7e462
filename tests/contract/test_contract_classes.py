"""Questions about a class on both stores: base, view, and both routes (B13)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from catalogue_graph import ENTITIES, STATEMENTS
from film_graph import TellsWays
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.model.classes import RDF_TYPE
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import PathsResult, Status, Strategy
from graph_service.model.statement import Entity, make_statement
from graph_service.model.values import EntityValue, Quantity
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.settings import Settings
from graph_service.store.protocol import Store

ASKED = {
    "How many suppliers are there?": "3",
    "Which part is the most expensive?": "Lift Motor",
    "Which parts are out of stock?": "Cabin Lamp; Steel Rope",
    "How many parts cost less than 20 euros?": "3",
    "Are there any parts without a supplier?": "yes",
    "Which suppliers are not from Germany?": "Bolt & Sons",
}


@pytest.fixture
def service(store: Store, graph_name: str, tmp_path: Path) -> Service:
    load_graph(store, graph_name, STATEMENTS, ENTITIES)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph=graph_name
    )
    return open_service(store, settings=settings, embedder=CountingWords())


def ask(service: Service, question: str, **options: object) -> PathsResult:
    request = RetrieveRequest(question, Strategy.PATHS, preset="default-6", limit=5)
    with service.ranking_by(TellsWays([("country", False)])):
        result = service.retrieve(replace(request, **options))  # type: ignore[arg-type]
    assert isinstance(result, PathsResult)
    return result


def value_of(result: PathsResult) -> str:
    assert result.status is Status.OK
    assert result.answer is not None
    return "; ".join(sorted(result.answer.value.split("; ")))


def test_answers_are_those_of_the_graph_by_both_routes(service: Service) -> None:
    settings = replace(service.settings, snapshot_edges=1)
    by_store = open_service(service.store, settings=settings, embedder=CountingWords())
    for question, expected in ASKED.items():
        of_arrays, of_store = ask(service, question), ask(by_store, question)
        assert value_of(of_arrays) == expected, question
        assert value_of(of_store) == expected, question
        assert of_arrays.answer is not None
        assert of_arrays.answer.basis
        assert (of_arrays.answer, of_arrays.items) == (of_store.answer, of_store.items)
        assert of_arrays.interpretation == of_store.interpretation


def test_a_view_changes_the_answer_by_both_routes(service: Service) -> None:
    graph = service.arrays(service.graph())
    motor, price = graph.find_node("motor"), graph.find_relation("price")
    (edge,) = (
        number
        for number in range(graph.edge_count)
        if (graph.head[number], graph.rel[number]) == (motor, price)
    )
    view = ViewRef(spec=ViewSpec(Method.WITHHOLDING, statement_ids=(graph.statement_ids[edge],)))
    settings = replace(service.settings, snapshot_edges=1)
    by_store = open_service(service.store, settings=settings, embedder=CountingWords())
    for each in (service, by_store):
        result = ask(each, "Which part is the most expensive?", view=view)
        assert value_of(result) == "Crane Hook"
        assert result.provenance.view_id is not None


def test_rows_have_values_and_values_have_rows_by_both_routes(
    store: Store, graph_name: str, tmp_path: Path
) -> None:
    rows = [
        ("crate/1", "rope", "acme", "12"),
        ("crate/2", "rope", "bolt", "30"),
        ("crate/3", "hook", "acme", "12"),
    ]
    statements = [*STATEMENTS]
    entities = [*ENTITIES, Entity("class/crate", labels={"en": "crate"})]
    for row, part, sender, weight in rows:
        entities.append(Entity(row, labels={"en": row.replace("/", " ")}))
        statements += [
            make_statement(row, RDF_TYPE, EntityValue("class/crate")),
            make_statement(row, "content", EntityValue(part)),
            make_statement(row, "sender", EntityValue(sender)),
            make_statement(row, "tare", Quantity(weight)),
        ]
    load_graph(store, graph_name, statements, entities)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph=graph_name
    )
    for edges in (settings.snapshot_edges, 1):
        of_route = replace(settings, snapshot_edges=edges)
        service = open_service(store, settings=of_route, embedder=CountingWords())
        result = ask(service, "What tare has the crate with Steel Rope of Bolt & Sons?")
        assert value_of(result) == "30"
        groups = ask(service, "How many crates are there per tare?").answer
        assert groups is not None
        assert [each.text for each in groups.groups] == ["12: 2", "30: 1"]
        # Without its content the row is none of those meant.
        hidden = [
            each for each in statements if (each.head, each.relation) == ("crate/2", "content")
        ]
        view = ViewRef(spec=ViewSpec(Method.WITHHOLDING, statement_ids=(hidden[0].id,)))
        assert (
            ask(
                service, "What tare has the crate with Steel Rope of Bolt & Sons?", view=view
            ).answer
            is None
        )


def test_a_question_that_is_not_read_is_refused(service: Service) -> None:
    result = ask(service, "What is the median price of the parts?")
    assert result.status is Status.LOW_CONFIDENCE
    assert result.answer is None
    assert result.interpretation is not None
    assert "median" in result.interpretation.unread
