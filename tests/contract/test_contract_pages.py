"""Pages of an item's statements and neighbours are the same on both stores, and reach all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from graphs import load_graph

from graph_service import Service
from graph_service.api.schema import execute
from graph_service.model.statement import Entity
from graph_service.settings import Settings
from graph_service.store.protocol import Store

HUB = 257
DOCUMENT = """query($graph: String!, $n: Int!, $s: String, $a: String, $v: ViewRefInput) {
  item(itemId: "Q1", graph: $graph) {
    statements(first: $n, after: $s, view: $v) {
      totalCount pageInfo { hasNextPage endCursor } nodes { id statementId } }
    neighbours(first: $n, after: $a, view: $v) {
      totalCount pageInfo { hasNextPage endCursor }
      edges { node { itemId } statement { id statementId } } } } }"""


@pytest.fixture
def service(store: Store) -> Service:
    """Nothing here is embedded; closing the store is its fixture's."""
    return Service(store, vectors=lambda: pytest.fail("no vectors"), settings=Settings())


def walked(service: Service, graph: str, n: int, view: Any) -> dict[str, list[str]]:
    """The statement ids of all pages of both lists, in order."""
    found: dict[str, list[str]] = {"statements": [], "neighbours": []}
    after: dict[str, str | None] = {"s": None, "a": None}
    left = {"statements": "s", "neighbours": "a"}
    while left:
        answer = execute(service, DOCUMENT, {"graph": graph, "n": n, "v": view, **after})
        assert "errors" not in answer, answer["errors"]
        for name, variable in list(left.items()):
            page = answer["data"]["item"][name]
            nodes = page.get("nodes") or [edge["statement"] for edge in page["edges"]]
            found[name] += [one["statementId"] for one in nodes]
            after[variable] = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                assert len(found[name]) == page["totalCount"]
                del left[name]
    return found


def test_pages_of_any_size_meet_and_reach_all(
    service: Service, store: Store, graph_names: Callable[[], str]
) -> None:
    name = graph_names()
    rows = [(f"Q{n}", "P1", "Q1") for n in range(2, HUB + 2)]
    rows += [("Q1", "P2", f"Q{n}") for n in range(2, 12)]
    load_graph(store, name, rows, [Entity("Q1", labels={"en": "hub"})])
    changed = {"subjectId": "Q1", "propertyId": "P9", "value": {"itemId": "Q5"}}
    view = {"spec": {"method": "CUSTOM", "changes": [changed]}}
    for of, more in ((None, 0), (view, 1)):
        whole = walked(service, name, 1000, of)
        assert len(whole["statements"]) == 10 + more
        assert len(whole["neighbours"]) == len(set(whole["neighbours"])) == HUB + 10 + more
        for size in (64, 90):
            assert walked(service, name, size, of) == whole


def test_a_statement_is_read_again_by_its_id(
    service: Service, store: Store, graph_names: Callable[[], str]
) -> None:
    name = graph_names()
    load_graph(store, name, [("Q1", "P1", "Q2"), ("Q3", "P1", "Q1")], [])
    changed = {"subjectId": "Q1", "propertyId": "P9", "value": {"itemId": "Q3"}}
    view = {"spec": {"method": "CUSTOM", "changes": [changed]}}
    given = {"graph": name, "n": 10, "v": view}
    item = execute(service, DOCUMENT, given)["data"]["item"]
    nodes = [
        *item["statements"]["nodes"],
        *(edge["statement"] for edge in item["neighbours"]["edges"]),
    ]
    document = "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Statement { statementId } } }"
    answer = execute(service, document, {"ids": [one["id"] for one in nodes]})
    assert answer == {"data": {"nodes": nodes}}
    assert len(nodes) == 5
