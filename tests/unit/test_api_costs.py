"""What an operation costs: by its arguments before it runs, by what it gave when it has run (B9)."""

from __future__ import annotations

from typing import Any

import pytest
from error_texts import check_answer

from graph_service import Service
from graph_service.api import costs
from graph_service.api.costs import LOOKUP, OBJECT, PROVE, RETRIEVAL
from graph_service.api.meter import Meter
from graph_service.api.schema import execute
from graph_service.api.view_costs import INLINE_VIEW
from graph_service.client.documents import DOCUMENTS
from graph_service.client.errors import error_of
from graph_service.errors import LimitError, MaxCostError, ThrottledError
from graph_service.server.bill import LOOKUP_COST
from graph_service.server.options import MAX_COST

pytestmark = pytest.mark.usefixtures("processor")

QUESTION = "Who is the mother of Maria Shriver's husband?"
STATEMENTS = 1_156
"""Of the demo graph."""


class _Known(BaseException):
    """Ends an operation when its cost is known."""


def cost_of(service: Service, document: str, variables: dict[str, Any] | None = None) -> float:
    """Returns what an operation costs, without running it."""

    def end(cost: float) -> None:
        raise _Known

    meter = Meter(1e9, end)
    with pytest.raises(_Known):
        execute(service, document, variables, meter=meter)
    assert meter.requested is not None
    return meter.requested


@pytest.mark.parametrize(
    ("document", "cost"),
    [
        ("{ __typename }", 0.0),
        ("{ graph { name } }", LOOKUP + OBJECT),
        # The connection, and 50 graphs.
        ("{ graphs { nodes { name } } }", LOOKUP + 51 * OBJECT),
        ("{ graphs(first: 7) { nodes { name } } }", LOOKUP + 8 * OBJECT),
        ("{ graphs(first: 7) { edges { node { name } } } }", LOOKUP + 15 * OBJECT),
        # Fields of one name are one field, and fragments are written out.
        ("{ graphs(first: 7) { nodes { name } nodes { items } } }", LOOKUP + 8 * OBJECT),
        (
            "{ graph { ...F } } fragment F on Graph { unfinishedLoad { owner } }",
            LOOKUP + 2 * OBJECT,
        ),
        ('{ items(itemIds: ["a", "b", "c"]) { label } }', 3 * (LOOKUP + OBJECT)),
        ('{ nodes(ids: ["a", "b", "c"]) { id } }', 3 * (LOOKUP + OBJECT)),
        # Each of two items has a page of five statements.
        (
            '{ items(itemIds: ["a", "b"]) { statements(first: 5) { nodes { valueText } } } }',
            2 * (LOOKUP + OBJECT + LOOKUP + OBJECT + 5 * OBJECT),
        ),
        # The item, the connection, and five properties.
        (
            '{ item(itemId: "a") { relations(first: 5) { nodes { label } } } }',
            2 * LOOKUP + 7 * OBJECT,
        ),
        # The graph, the connection, two edges, and three examples of each.
        (
            "{ graph { classes(first: 2) { edges { count examples { label } } } } }",
            4 * LOOKUP + (4 + 2 * 3) * OBJECT,
        ),
        ('{ triplets(input: {question: "q"}) { text } }', RETRIEVAL + OBJECT),
        ('{ triplets(input: {question: "q"}) { items { score } } }', RETRIEVAL + 11 * OBJECT),
        (
            '{ paths(input: {question: "q", limit: 4}) { items { steps { reversed } } } }',
            RETRIEVAL + (1 + 4 + 4 * costs.USUAL_LENGTH) * OBJECT,
        ),
        ('{ paths(input: {question: "q", maxHops: 1}) { text } }', 0.5 + OBJECT),
        ('{ paths(input: {question: "q", maxHops: 4}) { text } }', 1.5 + OBJECT),
        ('{ subgraph(input: {question: "q", prove: true}) { text } }', 1 + PROVE + OBJECT),
        (
            '{ paths(input: {question: "q", view: {name: "v"}}) { text } }',
            RETRIEVAL + costs.VIEW + OBJECT,
        ),
        (
            '{ paths(input: {question: "q", view: {spec: {method: EDGE_DELETION, level: 0.5}}}) '
            "{ text } }",
            RETRIEVAL + costs.VIEW + INLINE_VIEW + 0.2 * 0.5 * STATEMENTS / 100_000 + OBJECT,
        ),
        (
            '{ compare(strategy: PATHS, input: {question: "q"}, '
            'views: [{name: "v"}, {name: "w"}]) { viewId } }',
            3 * RETRIEVAL + 2 * costs.VIEW + 3 * OBJECT,
        ),
        (
            '{ retrieveMany(strategy: PATHS, inputs: [{question: "q"}, {question: "r", '
            "prove: true}]) { error { code } } }",
            2 * RETRIEVAL + PROVE + 4 * OBJECT,
        ),
        # A result in a list and one of a comparison have as many items as their input asks for.
        (
            '{ retrieveMany(strategy: PATHS, inputs: [{question: "q", limit: 2}, '
            '{question: "r", limit: 3}]) { result { ... on PathsResult { items { score } } } } }',
            2 * RETRIEVAL + 2 * (1 + 1 + 3) * OBJECT,
        ),
        # Of the kinds of result an answer has one: that which costs most.
        (
            '{ retrieveMany(strategy: PATHS, inputs: [{question: "q", limit: 2}]) { result { '
            "... on PathsResult { paths: items { score } } "
            "... on TripletsResult { items { subject { label } } } } } }",
            RETRIEVAL + (1 + 1 + 2 * 2) * OBJECT,
        ),
        ('{ neighbourhood(itemId: "a", hops: 3) { text } }', 3 * costs.NEIGHBOURHOOD + OBJECT),
        ('{ searchItems(query: "a") { nodes { label } } }', costs.SEARCH + 11 * OBJECT),
        ('{ searchItems(query: "a", prefix: true) { nodes { label } } }', 0.25 + 11 * OBJECT),
        (f'{{ passages(query: "{"a" * 401}") {{ __typename }} }}', costs.SEARCH + 2 + OBJECT),
        # 200 characters are a question, and each 200 more are another one.
        (f'{{ triplets(input: {{question: "{"a" * 200}"}}) {{ text }} }}', 1 + OBJECT),
        (f'{{ triplets(input: {{question: "{"a" * 9900}"}}) {{ text }} }}', 1 + 49 + OBJECT),
        (
            '{ item(itemId: "a") { statements(first: 1, propertyIds: ["P1", "P2"]) '
            "{ totalCount } } }",
            2 * LOOKUP + 2 * OBJECT + 2 * OBJECT,
        ),
        ("{ __schema { types { name } } }", costs.INTROSPECTION),
        ('mutation { deleteGraph(input: {name: "x"}) { name } }', costs.MUTATION + OBJECT),
    ],
)
def test_the_cost_comes_of_the_arguments(demo_service: Service, document: str, cost: float) -> None:
    assert cost_of(demo_service, document) == pytest.approx(cost, abs=0.00005)


def test_variables_and_directives_count(demo_service: Service) -> None:
    document = """
    query ($inputs: [RetrieveInput!]!, $first: Int! = 3, $more: Boolean!) {
      retrieveMany(strategy: PATHS, inputs: $inputs) { error { code } }
      graphs(first: $first) { nodes { name } }
      graph @include(if: $more) { name }
      views @skip(if: $more) { nodes { viewId } }
    }"""
    inputs = [{"question": "q"}] * 20
    many = 20 * (RETRIEVAL + 2 * OBJECT) + LOOKUP + 4 * OBJECT
    given = {"inputs": inputs, "more": True}
    assert cost_of(demo_service, document, given) == pytest.approx(many + LOOKUP + OBJECT)
    given = {"inputs": inputs, "more": False}
    assert cost_of(demo_service, document, given) == pytest.approx(many + LOOKUP + 51 * OBJECT)


def test_the_clients_documents_cost_less_than_the_default_limit(demo_service: Service) -> None:
    """100 questions in one call too, with all that the client asks of each."""
    inputs = [{"question": QUESTION, "view": {"spec": {"method": "EDGE_DELETION"}}}] * 100
    given = {"strategy": "PATHS", "inputs": inputs, "details": True}
    assert 100 < cost_of(demo_service, DOCUMENTS["retrieve_many"], given) < MAX_COST
    lookups: dict[str, dict[str, Any]] = {
        "graphs": {"first": 100},
        "graph": {},
        "items": {"ids": ["Q1"]},
        "search": {"query": "q", "prefix": False, "limit": 10},
        "view": {"reference": "v"},
    }
    for name, variables in lookups.items():
        assert cost_of(demo_service, DOCUMENTS[name], variables) < LOOKUP_COST, name
    retrievals: dict[str, dict[str, Any]] = {
        "triplets": {"input": {"question": "q", "limit": 1000}},
        "subgraph": {"input": {"question": "q", "limit": 1000, "prove": True}},
        "neighbours": {"id": "Q5", "first": 1000},
        "item_statements": {"id": "Q5", "first": 1000},
    }
    for name, variables in retrievals.items():
        assert LOOKUP_COST < cost_of(demo_service, DOCUMENTS[name], variables) < MAX_COST, name


def test_an_operation_that_costs_too_much_is_not_run(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was run")

    monkeypatch.setattr(demo_service, "retrieve", fail)
    meter = Meter(1.0)
    response = execute(demo_service, '{ triplets(input: {question: "q"}) { text } }', meter=meter)
    assert "data" not in response
    (error,) = response["errors"]
    said = {key: error["extensions"][key] for key in ("code", "cost", "maxCost")}
    assert said == {"code": "MAX_COST_EXCEEDED", "cost": 1.0005, "maxCost": 1.0}
    check_answer(error)
    assert (meter.requested, meter.actual) == (1.0005, 0.0)


@pytest.mark.parametrize(
    ("document", "actual"),
    [
        # One graph of fifty.
        ("{ graphs { nodes { name } } }", LOOKUP + 2 * OBJECT),
        ('{ item(itemId: "Q2685") { label } }', LOOKUP + OBJECT),
        # A field that refuses its arguments has begun, and costs what it does, at most 1.
        ('{ item(itemId: "") { label } graph { name } }', 2 * LOOKUP + 2 * OBJECT),
        ('{ triplets(input: {question: "", prove: true}) { text } }', costs.RETRIEVAL + OBJECT),
        # One that the caller may not use has not.
        ('mutation { deleteGraph(input: {name: "x"}) { name } }', OBJECT),
        (
            '{ items(itemIds: ["Q2685", "Q5"]) { statements(first: 2) { nodes { valueText } } } }',
            2 * (LOOKUP + OBJECT + LOOKUP + OBJECT) + 2 * OBJECT,
        ),
        ('{ triplets(input: {question: "What is a zorblax?"}) { items { score } } }', 1 + OBJECT),
        (
            '{ retrieveMany(strategy: PATHS, inputs: [{question: "zorblax"}]) { result { '
            "... on PathsResult { items { steps { reversed } } } } } }",
            RETRIEVAL + 2 * OBJECT,
        ),
    ],
)
def test_what_an_operation_has_cost_comes_of_what_it_gave(
    demo_service: Service, document: str, actual: float
) -> None:
    meter = Meter(1e6)
    execute(demo_service, document, meter=meter)
    assert meter.requested is not None
    assert meter.actual == pytest.approx(actual)
    assert meter.actual <= meter.requested


def test_the_cost_is_known_once_however_often_it_is_run(demo_service: Service) -> None:
    admitted: list[float] = []
    meter = Meter(10.0, admitted.append)
    for _ in range(2):
        execute(demo_service, "{ graph { name } }", meter=meter)
    assert admitted == [pytest.approx(LOOKUP + OBJECT)]


def test_an_absurd_number_is_refused_by_its_own_name(demo_service: Service) -> None:
    for document in (
        '{ triplets(input: {question: "q", limit: -2147483648}) { items { score } } }',
        '{ triplets(input: {question: "q", limit: 2147483647}) { items { score } } }',
        '{ triplets(input: {question: "q", maxHops: 2147483647}) { text } }',
        "{ graphs(first: 2147483647) { nodes { name } } }",
        f'{{ passages(query: "{"a b " * 20_000}") {{ __typename }} }}',
        f'{{ triplets(input: {{question: "{"a b " * 20_000}"}}) {{ text }} }}',
    ):
        (error,) = execute(demo_service, document, meter=Meter(1000.0))["errors"]
        assert error["extensions"]["code"] in ("BAD_INPUT", "LIMIT_EXCEEDED"), error


def test_the_client_knows_both_errors() -> None:
    assert type(error_of("m", {"code": "MAX_COST_EXCEEDED"})) is MaxCostError
    throttled = error_of("m", {"code": "THROTTLED"})
    assert (type(throttled), throttled.retryable) == (ThrottledError, True)
    assert isinstance(throttled, LimitError)
