"""Answers that are kept: given again byte by byte, and never when what they rest on has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from demo_graph import demo_settings
from graphs import load_graph
from starlette.testclient import TestClient

from graph_service import open_service
from graph_service.model.statement import Entity
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.service import Service
from graph_service.settings import Settings
from graph_service.store.page_views import make_table, save_page_views
from graph_service.store.protocol import Store

__all__ = ["demo_settings"]

RETRIEVE = """query($graph: String!, $question: String!, $view: ViewRefInput) {
  paths(input: {question: $question, graph: $graph, view: $view, languageCodes: ["en"]}) {
    resultId text items { text } } }"""
ITEM = 'query($graph: String!) { item(itemId: "Q1", graph: $graph) { label pageViews { mean } } }'
NAMES = ("Anna", "Bert", "Cleo", "Dora", "Emil", "Finn", "Gina", "Hugo")
LABELS = [
    *(Entity(f"Q{place}", labels={"en": name}) for place, name in enumerate(NAMES, 1)),
    Entity("P1", labels={"en": "spouse"}),
]
STATEMENTS = [(f"Q{place}", "P1", f"Q{place + 1}") for place in range(1, len(NAMES))]


@pytest.fixture
def service(store: Store, demo_settings: Settings) -> Service:
    return open_service(store, settings=demo_settings)


@pytest.fixture
def name(store: Store, graph_names: Callable[[], str]) -> str:
    name = graph_names()
    load_graph(store, name, STATEMENTS, LABELS)
    return name


class Asked:
    """A client of one server, which says what became of each request."""

    def __init__(self, service: Service) -> None:
        self._client = TestClient(
            make_app(service, ServerOptions(writable=True)), base_url="http://localhost"
        )

    def post(self, document: str, **variables: Any) -> tuple[str, Any]:
        body = {"query": document, "variables": variables}
        answer = self._client.post("/graphql", json=body)
        assert "errors" not in answer.json(), answer.text
        return answer.headers.get("cache-status", "").removeprefix("graph-service; "), answer


STORED, HIT = "fwd=miss; stored", "hit"


def test_an_answer_is_kept_until_its_graph_has_a_new_edition(
    service: Service, store: Store, name: str, graph_names: Callable[[], str]
) -> None:
    asked = Asked(service)

    def ask() -> tuple[str, Any]:
        return asked.post(RETRIEVE, graph=name, question="Who is the spouse of Anna?")

    first, again = ask(), ask()
    assert (first[0], again[0]) == (STORED, HIT)
    assert "Bert" in again[1].json()["data"]["paths"]["text"]
    assert again[1].content == first[1].content
    # A load of another graph, and one of this graph that is not published yet, change nothing.
    load_graph(store, graph_names(), STATEMENTS, LABELS)
    with store.begin_load(name, owner="test", source="elsewhere") as load:
        assert ask()[0] == HIT
        load.abort()
    load_graph(store, name, [("Q1", "P1", "Q8")], LABELS, replace=True)
    assert ask()[0] == STORED
    kept, answer = ask()
    assert kept == HIT
    assert "Hugo" in answer.json()["data"]["paths"]["text"]
    # The same graph deleted and loaded again has the same number.
    store.delete_graph(name)
    load_graph(store, name, [("Q1", "P1", "Q7")], LABELS)
    kept, answer = ask()
    assert kept == STORED
    assert "Gina" in answer.json()["data"]["paths"]["text"]


def test_a_view_that_is_made_renamed_or_deleted_is_read_anew(service: Service, name: str) -> None:
    asked = Asked(service)
    spec = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=1)
    made = service.views.create(spec, graph=name, name="mine")
    question = "Who is the spouse of Anna?"

    def ask(**view: str) -> str:
        return asked.post(RETRIEVE, graph=name, question=question, view=view)[0]

    assert [ask(name="mine"), ask(name="mine"), ask(viewId=made.id), ask(viewId=made.id)] == [
        STORED, HIT, STORED, HIT,
    ]  # fmt: skip
    # Another view changes what the name is looked up among, and nothing of the view of that id.
    other = service.views.create(
        ViewSpec(Method.EDGE_DELETION, level=0.3, random_seed=2), graph=name
    )
    assert [ask(name="mine"), ask(viewId=made.id)] == [STORED, HIT]
    service.views.update("mine", graph=name, name="renamed")
    assert ask(viewId=made.id) == STORED
    service.views.delete("renamed", graph=name)
    body = {"graph": name, "question": question, "view": {"viewId": made.id}}
    refused = asked._client.post("/graphql", json={"query": RETRIEVE, "variables": body})
    assert refused.json()["errors"][0]["extensions"]["code"] == "VIEW_NOT_FOUND"
    assert "cache-status" not in refused.headers
    service.views.delete(other.id, graph=name)


def test_page_views_that_are_loaded_are_seen(service: Service, store: Store, name: str) -> None:
    asked = Asked(service)
    assert [asked.post(ITEM, graph=name)[0] for _ in range(2)] == [STORED, HIT]
    table = make_table({"Q1": {"2026-01": 30}}, months=["2026-01"], source="test")
    save_page_views(store, name, table)
    kept, answer = asked.post(ITEM, graph=name)
    assert kept == STORED
    assert answer.json()["data"]["item"]["pageViews"] == {"mean": 30.0}
    assert asked.post(ITEM, graph=name)[0] == HIT


def test_another_process_that_publishes_is_seen(
    service: Service, store: Store, name: str, demo_settings: Settings
) -> None:
    """Two services over one store, as two processes have them."""
    here = Asked(service)
    there = Asked(Service(store, vectors=lambda: service.vectors, settings=demo_settings))
    question = "Who is the spouse of Anna?"
    for asked in (here, there):
        asked.post(RETRIEVE, graph=name, question=question)
        assert asked.post(RETRIEVE, graph=name, question=question)[0] == HIT
    load_graph(store, name, [("Q1", "P1", "Q6")], LABELS, replace=True)
    for asked in (here, there):
        kept, answer = asked.post(RETRIEVE, graph=name, question=question)
        assert kept == STORED
        assert "Finn" in answer.json()["data"]["paths"]["text"]
