"""Retrievals while the store does not answer: what is in memory is answered, and marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from demo_graph import demo_settings
from graphs import load_graph
from starlette.testclient import TestClient

from graph_service import open_service
from graph_service.client import Client
from graph_service.errors import GraphNotFoundError, GraphServiceError, StoreUnavailableError
from graph_service.model.limits import CutReason
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.statement import Entity
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.service import Service
from graph_service.settings import Settings
from graph_service.store.protocol import Store

__all__ = ["demo_settings"]

NAMES = ("Anna", "Bert", "Cleo", "Dora", "Emil", "Finn", "Gina", "Hugo")
LABELS = [
    *(
        Entity(f"Q{index}", labels={"en": name}, descriptions={"en": "person"})
        for index, name in enumerate(NAMES, 1)
    ),
    Entity("P1", labels={"en": "spouse"}),
]
STATEMENTS = [(f"Q{index}", "P1", f"Q{index + 1}") for index in range(1, len(NAMES))]
QUESTION = "Who is the spouse of Anna?"
SPEC = ViewSpec(Method.EDGE_DELETION, level=0.2, random_seed=1, scope=Scope())
RETRIEVE = """query($graph: String!, $question: String!) {
  paths(input: {question: $question, graph: $graph, languageCodes: ["en"]}) {
    linked { item { itemId label description } }
    truncated { what reason limit kept }
    items { text } } }"""


class SwitchedStore:
    """A store that answers while it is on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_on = True

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._store, name)
        # Arrays that are open, and files of them, are read without the store.
        if not callable(member) or name in ("within", "at_once", "mend_snapshot", "close"):
            return member

        def call(*arguments: Any, **options: Any) -> Any:
            if not self.is_on:
                raise StoreUnavailableError("it is off")
            return member(*arguments, **options)

        return call


@pytest.fixture
def switched(store: Store) -> SwitchedStore:
    return SwitchedStore(store)


@pytest.fixture
def service(switched: SwitchedStore, demo_settings: Settings) -> Iterator[Service]:
    service = open_service(cast("Store", switched), settings=demo_settings)
    yield service
    service.views.close()


@pytest.fixture
def graph(store: Store, graph_names: Callable[[], str]) -> str:
    graph = graph_names()
    load_graph(store, graph, STATEMENTS, LABELS)
    return graph


def is_marked(result: RetrievalResult | GraphServiceError) -> bool:
    assert not isinstance(result, GraphServiceError)
    marks = [cut for cut in result.truncated if cut.reason is CutReason.STORE_AWAY]
    assert all(cut.what == "updates" and cut.limit >= 0 for cut in marks)
    return len(marks) == 1


def test_a_retrieval_from_memory_finds_the_same_and_says_so(
    service: Service, switched: SwitchedStore, graph: str
) -> None:
    requests = [
        RetrieveRequest(QUESTION, graph=graph, strategy=strategy) for strategy in Strategy
    ] + [RetrieveRequest(QUESTION, graph=graph, preset=preset) for preset in ("okgqa", "ltgen")]
    before = [service.retrieve(request) for request in requests]
    assert all(result.items and not is_marked(result) for result in before)
    assert {entity.entity.description for entity in before[0].linked} == {"person"}
    switched.is_on = False
    away = [service.retrieve(request) for request in requests]
    assert [result.items for result in away] == [result.items for result in before]
    assert all(map(is_marked, away))
    # They were not read again.
    assert {entity.entity.description for entity in away[0].linked} == {None}
    assert away[0].id == service.retrieve(requests[0]).id != before[0].id
    # Another question on the same arrays.
    other = service.retrieve(RetrieveRequest("Who is the spouse of Emil?", graph=graph))
    assert is_marked(other)
    assert "Finn" in str(other.items[0])
    assert all(map(is_marked, service.retrieve_many(requests)))
    assert is_marked(service.neighbourhood("Q2", graph=graph))
    switched.is_on = True
    assert [service.retrieve(request).id for request in requests] == [
        result.id for result in before
    ]
    assert not is_marked(service.neighbourhood("Q2", graph=graph))


def test_what_needs_the_store_fails(service: Service, switched: SwitchedStore, graph: str) -> None:
    request = RetrieveRequest(QUESTION, graph=graph)
    switched.is_on = False
    # Nothing is known of the graph.
    with pytest.raises(StoreUnavailableError):
        service.retrieve(request)
    switched.is_on = True
    service.retrieve(request)
    switched.is_on = False
    assert is_marked(service.retrieve(request))
    calls: list[Callable[[], object]] = [
        lambda: service.retrieve(RetrieveRequest(QUESTION, graph=graph, details=True)),
        lambda: service.retrieve(RetrieveRequest(QUESTION, graph=graph, entity_ids=("Q99",))),
        lambda: service.graph(graph),
        lambda: service.graphs(),
        lambda: service.entities(["Q1"], graph=graph),
        lambda: service.search("Anna", graph=graph),
        lambda: service.statements.of("Q1", graph=graph),
        lambda: service.statements.find("any", graph=graph),
        lambda: service.about(graph=graph),
        lambda: service.delete_graph(graph),
        lambda: service.views.create(SPEC, graph=graph),
        lambda: service.passages.search("Anna", graph=graph),
    ]
    for call in calls:
        with pytest.raises(StoreUnavailableError):
            call()


def test_a_view_is_read_from_memory_if_it_was_laid(
    service: Service, switched: SwitchedStore, graph: str
) -> None:
    first, second = (
        service.views.create(ViewSpec(SPEC.method, level=0.2, random_seed=seed), graph=graph).id
        for seed in (1, 2)
    )
    laid = RetrieveRequest(QUESTION, graph=graph, view=ViewRef(id=first))
    service.retrieve(laid)
    compared = service.compare(RetrieveRequest(QUESTION, graph=graph), [ViewRef(id=first)])
    switched.is_on = False
    assert is_marked(service.retrieve(laid))
    again = service.compare(RetrieveRequest(QUESTION, graph=graph), [ViewRef(id=first)])
    assert all(is_marked(row.result) for row in again)
    assert [row.result.items for row in again] == [row.result.items for row in compared]
    with pytest.raises(StoreUnavailableError):
        service.retrieve(RetrieveRequest(QUESTION, graph=graph, view=ViewRef(id=second)))


def test_a_graph_that_is_deleted_is_not_remembered(
    service: Service, switched: SwitchedStore, graph: str
) -> None:
    request = RetrieveRequest(QUESTION, graph=graph)
    service.retrieve(request)
    service.delete_graph(graph)
    with pytest.raises(GraphNotFoundError):
        service.retrieve(request)
    switched.is_on = False
    with pytest.raises(StoreUnavailableError):
        service.retrieve(request)


def test_a_caller_sees_no_more_graphs_from_memory(
    service: Service, switched: SwitchedStore, graph: str
) -> None:
    request = RetrieveRequest(QUESTION, graph=graph)
    service.retrieve(request)
    switched.is_on = False
    # Others have opened what this caller may see.
    assert is_marked(service.scoped_to([graph]).retrieve(request))
    with pytest.raises((GraphNotFoundError, StoreUnavailableError)):
        service.scoped_to(["another"]).retrieve(request)


def test_an_answer_from_memory_is_not_cached(
    service: Service, switched: SwitchedStore, graph: str
) -> None:
    client = TestClient(make_app(service, ServerOptions()), base_url="http://localhost")

    def post() -> tuple[bool, dict[str, Any]]:
        body = {"query": RETRIEVE, "variables": {"graph": graph, "question": QUESTION}}
        answer = client.post("/graphql", json=body)
        assert "errors" not in answer.json(), answer.text
        result: dict[str, Any] = answer.json()["data"]["paths"]
        return "hit" in answer.headers.get("cache-status", ""), result

    _, first = post()
    assert post() == (True, first)
    assert first["linked"][0]["item"]["description"] == "person"
    switched.is_on = False
    for _ in range(2):
        is_hit, away = post()
        assert not is_hit
        assert away["items"] == first["items"]
        (mark,) = [cut for cut in away["truncated"] if cut["reason"] == "STORE_AWAY"]
        assert mark["what"] == "UPDATES"
        assert away["linked"][0]["item"]["description"] is None
    switched.is_on = True
    assert post() == (False, first)
    assert post() == (True, first)


def test_the_client_gets_the_mark(service: Service, switched: SwitchedStore, graph: str) -> None:
    with Client.over(service) as client:
        before = client.paths(QUESTION, graph=graph)
        switched.is_on = False
        away = client.paths(QUESTION, graph=graph)
        assert is_marked(away)
        assert away.items == before.items
        with pytest.raises(StoreUnavailableError):
            client.search("Anna", graph=graph)
