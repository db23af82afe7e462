"""What is too much is refused before a graph is read: long lists, and views that cost too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from demo_graph import demo_settings
from graphs import load_graph

from graph_service import open_service
from graph_service.api.meter import Meter
from graph_service.api.schema import execute
from graph_service.service import Service
from graph_service.settings import Settings
from graph_service.store.protocol import Store

__all__ = ["demo_settings"]

ROWS = [("Q1", "P1", f"Q{number}") for number in range(2, 22)]
VIEW = {"method": "EDGE_DELETION", "level": 0.5}
IDS = ["Q1"] * 10_001


@dataclass(frozen=True)
class Loaded:
    """A service whose graph of twenty statements is not open yet."""

    service: Service
    name: str


@pytest.fixture
def loaded(store: Store, demo_settings: Settings, graph_names: Callable[[], str]) -> Loaded:
    name = graph_names()
    load_graph(store, name, ROWS)
    return Loaded(open_service(store, settings=demo_settings), name)


@pytest.mark.parametrize(
    ("field", "values", "argument"),
    [
        ("scope.statementIds", IDS, "scope.statementIds"),
        ("scope.propertyIds", IDS[:1_001], "scope.propertyIds"),
        ("scope.aroundItemIds", IDS[:1_001], "scope.aroundItemIds"),
        ("spec.statementIds", IDS, "statementIds"),
        ("spec.changes", [{"statementId": "Q1$1", "remove": True}] * 10_001, "changes"),
        ("spec.itemIds", IDS[:101], "itemIds"),
        ("spec.answerIds", IDS[:1_001], "answerIds"),
        ("spec.targetIds", IDS[:1_001], "targetIds"),
        ("itemIds", IDS[:101], "itemIds"),
        ("languageCodes", ["en"] * 51, "languageCodes"),
        ("propertyIds", IDS[:1_001], "propertyIds"),
        ("excludePropertyIds", IDS[:1_001], "excludePropertyIds"),
        ("typeIds", IDS[:101], "typeIds"),
        ("ranks", ["NORMAL"] * 4, "ranks"),
        ("questionVector", [0.5] * 10_001, "questionVector"),
    ],
)
def test_a_list_that_is_too_long_is_refused_before_the_graph_is_read(
    loaded: Loaded, field: str, values: list[Any], argument: str
) -> None:
    service, name = loaded.service, loaded.name
    question: dict[str, Any] = {"question": "q", "graph": name}
    where, _, last = field.rpartition(".")
    if where == "scope":
        question["view"] = {"spec": {**VIEW, "scope": {last: values}}}
    elif where == "spec":
        question["view"] = {"spec": {**VIEW, last: values}}
    else:
        question[last] = values
    document = "query ($i: RetrieveInput!) { paths(input: $i) { text } }"
    meter = Meter(1000.0)
    (error,) = execute(service, document, {"i": question}, meter=meter)["errors"]
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert error["extensions"]["argument"] == argument
    assert f"at most {len(values) - 1:,}" in error["message"]
    assert service.graph_lookups().misses == 0


def test_lists_of_fields_are_bounded(
    loaded: Loaded,
) -> None:
    service, name = loaded.service, loaded.name
    document = """query ($g: String!, $ids: [ID!], $l: [String!], $v: [ViewRefInput!]!) {
      item(itemId: "Q1", graph: $g) {
        statements(propertyIds: $ids) { totalCount } neighbours(propertyIds: $ids) { totalCount }
      }
      items(itemIds: ["Q1"], graph: $g, languageCodes: $l) { label }
      searchItems(query: "a", graph: $g, languageCodes: $l) { nodes { label } }
      neighbourhood(itemId: "Q1", graph: $g, languageCodes: $l) { text }
      passages(query: "a", graph: $g, languageCodes: $l) { __typename }
      compare(strategy: PATHS, input: {question: "q", graph: $g}, views: $v) { viewId }
    }"""
    views = [{"name": f"v{number}"} for number in range(11)]
    given = {"g": name, "ids": IDS[:1_001], "l": ["en"] * 51, "v": views}
    response = execute(service, document, given, meter=Meter(1000.0))
    errors = {".".join(map(str, error["path"])): error for error in response["errors"]}
    assert errors.keys() == {
        "item.statements", "item.neighbours", "items", "searchItems", "neighbourhood", "passages",
        "compare",
    }  # fmt: skip
    assert {error["extensions"]["code"] for error in errors.values()} == {"BAD_INPUT"}
    assert service.graph_lookups().misses == 0


def test_a_view_costs_by_the_statements_of_its_graph_which_is_not_read_for_it(
    loaded: Loaded,
) -> None:
    service, name = loaded.service, loaded.name
    document = "query ($i: RetrieveInput!) { paths(input: $i) { text } }"
    costs = []
    for method in ("EDGE_DELETION", "RULE_DELETION"):
        spec = {"method": method, "level": 0.5}
        question = {"question": "q", "graph": name, "view": {"spec": spec}}
        meter = Meter(1.0)
        (error,) = execute(service, document, {"i": question}, meter=meter)["errors"]
        assert error["extensions"]["code"] == "MAX_COST_EXCEEDED"
        costs.append(error["extensions"]["cost"])
    # 500 for 100,000 statements.
    assert costs[1] - costs[0] == pytest.approx(0.1, abs=0.001)
    assert service.graph_lookups().misses == 0


LONG = "Maria Shriver and Arnold " * 396
"""9,900 characters of names: 17 times the work of a plain question."""


@pytest.mark.parametrize(
    ("document", "values"),
    [
        ("query ($i: RetrieveInput!) { paths(input: $i) { text } }", {"question": LONG}),
        (
            "query ($i: RetrieveInput!) { paths(input: $i) { text } }",
            {"question": "q", "earlier": ["q", LONG]},
        ),
        (
            "query ($i: RetrieveInput!) { retrieveMany(strategy: PATHS, inputs: [$i]) "
            "{ error { code } } }",
            {"question": LONG},
        ),
        (
            "query ($i: RetrieveInput!) { compare(strategy: PATHS, input: $i, "
            'views: [{name: "v"}]) { viewId } }',
            {"question": LONG},
        ),
    ],
)
def test_a_long_question_costs_by_its_length_and_is_refused_before_the_graph_is_read(
    loaded: Loaded, document: str, values: dict[str, Any]
) -> None:
    service = loaded.service
    given = {"i": {"graph": loaded.name, **values}}
    meter = Meter(20.0)
    (error,) = execute(service, document, given, meter=meter)["errors"]
    assert error["extensions"]["code"] == "MAX_COST_EXCEEDED"
    # One retrieval, and (9,900 - 1) // 200 = 49.
    assert error["extensions"]["cost"] >= 1 + 49
    assert service.graph_lookups().misses == 0


def test_a_long_search_for_passages_costs_by_its_length_and_any_search_is_bounded(
    loaded: Loaded,
) -> None:
    document = """query ($g: String!, $t: String!) {
      passages(query: $t, graph: $g) { __typename }
      searchItems(query: $t, graph: $g) { nodes { label } }
    }"""
    meter = Meter(1000.0)
    response = execute(loaded.service, document, {"g": loaded.name, "t": LONG}, meter=meter)
    assert meter.requested is not None
    assert meter.requested > 49
    assert [error["extensions"]["code"] for error in response["errors"]] == ["BAD_INPUT"] * 2
    assert loaded.service.graph_lookups().misses == 0
