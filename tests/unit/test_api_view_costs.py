"""What views cost: by method and statements, before they are made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from processor_time import Processor

from graph_service import Service
from graph_service.api.costs import CREATE_VIEW, LOOKUP, MEASURE, OBJECT, RETRIEVAL, VIEW
from graph_service.api.global_ids import IdKind, global_id
from graph_service.api.meter import Meter
from graph_service.api.schema import execute
from graph_service.api.view_costs import INLINE_VIEW, NAMED, REGION, SECOND, WEIGHTS
from graph_service.errors import MaxCostError
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.server.options import MAX_COST
from graph_service.service import Service as AnyService

pytestmark = pytest.mark.usefixtures("processor")

STATEMENTS = 300_000
ASK = (
    "query ($i: [RetrieveInput!]!) { retrieveMany(strategy: PATHS, inputs: $i) { error { code } } }"
)
CREATE = """mutation ($s: ViewSpecInput!) {
  createView(input: {graph: "demo", spec: $s}) { view { viewId } }
}"""
READ = VIEW + RETRIEVAL + 2 * OBJECT


@pytest.fixture
def large(demo_service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service whose graph is large, by its record."""
    whole = AnyService.graph

    def graph(service: Service, name: str | None = None, /) -> Any:
        info = whole(service, name)
        return replace(info, counts=replace(info.counts, statements=STATEMENTS))

    monkeypatch.setattr(AnyService, "graph", graph)
    return demo_service


def cost(service: Service, *specs: dict[str, Any], **question: Any) -> float:
    """Returns what making the views of some questions costs, which are not asked."""
    inputs = [
        {"question": "q", **question, "view": {"spec": {"level": 0.5, **spec}}} for spec in specs
    ]
    meter = Meter(0.0)
    (error,) = execute(service, ASK, {"i": inputs}, meter=meter)["errors"]
    assert error["extensions"]["code"] == "MAX_COST_EXCEEDED", error
    assert meter.requested is not None
    return meter.requested - len(specs) * READ


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"method": "EDGE_DELETION"}, 0.3),
        ({"method": "RULE_DELETION"}, 1500 + 1.5),
        ({"method": "RULE_DELETION", "ruleAtoms": 1}, 15 + 1.5),
        ({"method": "RULE_DELETION", "ruleAtoms": None}, 1500 + 1.5),
        ({"method": "STALE"}, 90 + 3),
        # A count is as many statements, of those in scope.
        ({"method": "CONTRADICTION", "level": None, "count": 1000}, 6 + 1),
        ({"method": "CONTRADICTION", "level": None, "count": 10**9}, 6 + 300),
        ({"method": "RELATION_REPLACEMENT"}, 9 + 12 + 37.5),
        ({"method": "RELATION_REPLACEMENT", "nth": 2}, 9 + 12 + 150),
        ({"method": "RELATION_REPLACEMENT", "nth": None}, 9 + 12 + 37.5),
        ({"method": "RELATION_REPLACEMENT", "replacement": "PLAUSIBLE"}, 15 + 90 + 7.5),
        ({"method": "STALE", "scope": {"statementIds": ["a"] * 1000}}, 0.3 + 0.01 + 1000 * NAMED),
        ({"method": "STALE", "scope": {"propertyIds": ["P1"]}}, 90 + 3),
        ({"method": "STALE", "scope": {"ofQuestion": True}}, 31 * REGION / 100_000),
        ({"method": "STALE", "scope": {"aroundItemIds": ["a", "b"]}}, 31 * 2 * REGION / 100_000),
        ({"method": "STALE", "scope": {"aroundItemIds": ["a"], "hops": 3}}, 90 + 3),
        # A pruned scope is a graph of its own, for what is prepared too.
        ({"method": "RULE_DELETION", "scope": {"ofQuestion": True, "pruned": True}}, 100.1),
        ({"method": "WITHHOLDING", "level": None, "statementIds": ["a", "b"]}, 2 * NAMED),
        ({"method": "CUSTOM", "level": None, "changes": [{"remove": True}] * 7}, 7 * NAMED),
        (
            {"method": "PATH_DELETION", "itemIds": ["a"] * 3, "answerIds": ["b"] * 5},
            3 + 15 * 0.12,
        ),
    ],
)
def test_a_view_costs_by_its_method_and_the_statements_in_its_scope(
    large: Service, spec: dict[str, Any], expected: float
) -> None:
    assert cost(large, spec) == pytest.approx(INLINE_VIEW + expected, abs=0.001)


def test_what_is_too_long_costs_what_is_allowed_so_that_it_is_refused_for_its_length(
    large: Service,
) -> None:
    spec = {"method": "PATH_DELETION", "itemIds": ["a"], "answerIds": ["b"] * 100_000}
    assert cost(large, spec) == pytest.approx(INLINE_VIEW + 3 + 1000 * 0.12)


def test_each_method_has_a_cost() -> None:
    assert WEIGHTS.keys() == set(Method)


def test_what_several_views_share_is_paid_once(large: Service) -> None:
    one = {"method": "CONTRADICTION"}
    made = INLINE_VIEW + 150
    assert cost(large, one, one, one) == pytest.approx(6 + made, abs=0.001)
    # The counts of the graph are made once, and each view by itself.
    other = {**one, "randomSeed": 2}
    assert cost(large, one, other) == pytest.approx(6 + 2 * made, abs=0.001)
    # A view in the scope of a question is one of each.
    scoped = {"method": "EDGE_DELETION", "scope": {"ofQuestion": True}}
    document = "query ($i: RetrieveInput!, $j: RetrieveInput!) { a: paths(input: $i) { text } "
    document += "b: paths(input: $j) { text } }"
    given = {
        name: {"question": name, "view": {"spec": {"level": 0.5, **scoped}}} for name in ("i", "j")
    }
    meter = Meter(0.0)
    execute(large, document, given, meter=meter)
    each = VIEW + RETRIEVAL + OBJECT + INLINE_VIEW + 0.1 * REGION / 100_000
    assert meter.requested == pytest.approx(2 * each, abs=0.001)


def test_pages_and_searches_of_a_view_cost_its_making_once(large: Service) -> None:
    spec = "{spec: {method: STALE, level: 0.5}}"
    made = INLINE_VIEW + 93
    for document, read in (
        (f'searchItems(query: "a", first: 1, view: {spec}) {{ pageInfo {{ hasNextPage }} }}', 0.05),
        (f'neighbourhood(itemId: "a", view: {spec}) {{ text }}', 0.1),
        (
            f'items(itemIds: ["a", "b"]) {{ statements(first: 1, view: {spec}) {{ totalCount }} }}',
            2 * (2 * LOOKUP) + VIEW,
        ),
    ):
        meter = Meter(0.0)
        execute(large, f"{{ {document} }}", meter=meter)
        assert meter.requested == pytest.approx(made + read + VIEW, abs=0.01), document


def test_the_view_in_a_global_id_is_paid(large: Service) -> None:
    specs = [ViewSpec(method=Method.STALE, level=0.5, random_seed=seed) for seed in range(3)]
    ids = [
        global_id(IdKind.STATEMENT, large.graph().edition, "Q1$1", ("en",), spec.to_json())
        for spec in specs
    ]
    meter = Meter(0.0)
    execute(large, "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ids}, meter=meter)
    read = 3 * (LOOKUP + VIEW + INLINE_VIEW + OBJECT)
    assert meter.requested == pytest.approx(read + 3 * 93, abs=0.001)


def test_a_view_that_is_made_to_stay_costs_its_making_too(large: Service) -> None:
    meter = Meter(0.0)
    spec = {"method": "STALE", "level": 0.5}
    execute(large, CREATE, {"s": spec}, meter=meter)
    making = CREATE_VIEW + 3 * MEASURE + INLINE_VIEW + 93
    assert meter.requested == pytest.approx(making + 2 * OBJECT, abs=0.001)


def test_a_view_that_takes_longer_than_a_query_may_is_refused_with_its_cost(
    large: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was begun")

    monkeypatch.setattr(large, "retrieve_many", fail)
    monkeypatch.setattr(large, "settings", replace(large.settings, read_timeout_s=30.0))
    spec = {"method": "RULE_DELETION", "level": 0.5}
    inputs = [{"question": "q", "view": {"spec": spec}}]
    # By default the most cost is what the time limit lets be done; an operator may allow more.
    for most, of_error in ((MAX_COST, MAX_COST), (1e6, SECOND * large.settings.read_timeout_s)):
        response = execute(large, ASK, {"i": inputs}, meter=Meter(most))
        assert "data" not in response
        (error,) = response["errors"]
        assert error["extensions"]["code"] == MaxCostError.code
        assert error["extensions"]["cost"] == pytest.approx(1503, abs=0.5)
        assert error["extensions"]["maxCost"] == pytest.approx(of_error)
    # A mutation may take longer than a query.
    (error,) = execute(large, CREATE, {"s": spec}, meter=Meter(1e6))["errors"]
    assert error["extensions"]["code"] == "READ_ONLY"


def test_making_a_view_is_charged_by_the_time_that_it_took(
    demo_service: Service, processor: Processor, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"method": "STALE", "level": 0.5, "scope": {"ofQuestion": True}}
    inputs = [{"question": "zorblax", "view": {"spec": spec}}]
    meter = Meter(MAX_COST)
    execute(demo_service, ASK, {"i": inputs}, meter=meter)
    assert meter.actual == pytest.approx(READ)
    assert meter.requested is not None
    assert meter.requested > meter.actual
    whole = demo_service.retrieve_many

    def slow(*given: Any) -> Any:
        processor.seconds += 0.5
        return whole(*given)

    monkeypatch.setattr(demo_service, "retrieve_many", slow)
    meter = Meter(MAX_COST)
    execute(demo_service, ASK, {"i": inputs}, meter=meter)
    assert meter.actual == 5.0
