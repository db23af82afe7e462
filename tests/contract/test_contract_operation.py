"""One GraphQL query reads one edition of each graph, whatever is published meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from demo_graph import demo_settings
from graphs import load_graph

from graph_service import open_service
from graph_service.api.schema import execute
from graph_service.errors import DeadlineError
from graph_service.model.statement import Entity
from graph_service.service import Service
from graph_service.settings import Settings
from graph_service.store.protocol import Store

__all__ = ["demo_settings"]

STATEMENTS = 20
ASKING = 4


@pytest.fixture
def service(store: Store, demo_settings: Settings) -> Service:
    return open_service(store, settings=demo_settings)


def publish(store: Store, name: str, number: int) -> None:
    """Publishes an edition whose every part says its number: labels, values and size."""
    rows = [("Q1", "P1", f"Q{number}{place:03}") for place in range(STATEMENTS + number)]
    load_graph(store, name, rows, [Entity("Q1", labels={"en": str(number)})], replace=True)


def test_a_query_reads_one_edition_while_the_graph_is_replaced(
    service: Service, store: Store, graph_names: Callable[[], str]
) -> None:
    """S8: fields of one query agree on labels, statements, sizes and provenance; none fails."""
    name = graph_names()
    publish(store, name, 1)
    document = """query($name: String!) {
      first: item(itemId: "Q1", graph: $name) { label statements { nodes { value {
        ... on ItemValue { item { itemId } } } } } }
      graph(name: $name) { edition statements }
      around: neighbourhood(itemId: "Q1", graph: $name, limit: 1) { items { subject { label } }
        provenance { edition } }
      graphs(first: 1000) { nodes { name edition statements } }
      search: searchItems(query: "Q1", graph: $name) { nodes { id } }
      again: items(itemIds: ["Q1"], graph: $name) { label(languageCode: "en") }
    }"""
    stop = threading.Event()
    answers: list[dict[str, Any]] = []

    def ask() -> None:
        while not stop.is_set():
            answers.append(execute(service, document, {"name": name}))

    with ThreadPoolExecutor(ASKING) as pool:
        asking = [pool.submit(ask) for _ in range(ASKING)]
        try:
            enough = time.monotonic() + 5
            for number in range(2, 12):
                if number > 4 and time.monotonic() > enough:
                    break
                # One more than may be under way: one of them began after the last publication.
                wanted = len(answers) + ASKING + 1
                while len(answers) < wanted and not any(one.done() for one in asking):
                    time.sleep(0.005)
                publish(store, name, number)
        finally:
            stop.set()
        for one in asking:
            one.result(timeout=600)
    numbers = set()
    for answer in answers:
        assert "errors" not in answer, answer["errors"]
        data = answer["data"]
        number = int(data["first"]["label"])
        numbers.add(number)
        values = [row["value"]["item"]["itemId"] for row in data["first"]["statements"]["nodes"]]
        assert len(values) == STATEMENTS + number
        assert all(value.startswith(f"Q{number}") for value in values)
        assert data["graph"]["statements"] == STATEMENTS + number
        assert data["around"]["provenance"]["edition"] == data["graph"]["edition"]
        assert data["around"]["items"][0]["subject"]["label"] == str(number)
        assert data["again"] == [{"label": str(number)}]
        listed = {one["name"]: one for one in data["graphs"]["nodes"]}
        assert listed[name] == {"name": name, **data["graph"]}
    assert len(numbers) > 2


def test_a_query_whose_edition_goes_is_run_again(
    service: Service, store: Store, graph_names: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two publications within one query drop the edition it began with."""
    name = graph_names()
    publish(store, name, 1)
    real = store.search
    published = iter((2, 3))

    def slow(*arguments: Any, **options: Any) -> Any:
        for number in published:
            publish(store, name, number)
        return real(*arguments, **options)

    monkeypatch.setattr(store, "search", slow)
    document = """query($name: String!) { graph(name: $name) { statements }
      searchItems(query: "x", graph: $name) { nodes { id } }
      item(itemId: "Q1", graph: $name) { label } }"""
    answer = execute(service, document, {"name": name})
    assert answer == {
        "data": {
            "graph": {"statements": STATEMENTS + 3},
            "searchItems": {"nodes": []},
            "item": {"label": "3"},
        }
    }


def test_a_missing_graph_beside_one_that_is_there_is_still_an_error(
    service: Service, store: Store, graph_names: Callable[[], str]
) -> None:
    name = graph_names()
    publish(store, name, 1)
    document = (
        'query($name: String!) { a: graph(name: $name) { name } b: graph(name: "no") { name } }'
    )
    (error,) = execute(service, document, {"name": name})["errors"]
    assert error["extensions"]["code"] == "GRAPH_NOT_FOUND"


def test_a_mutation_sees_what_the_one_before_it_did(
    service: Service, store: Store, graph_names: Callable[[], str]
) -> None:
    """Only queries hold on to an edition."""
    name = graph_names()
    publish(store, name, 1)
    document = """mutation($name: String!) { a: deleteGraph(input: {name: $name}) { name }
      b: createView(input: {graph: $name, spec: {method: EDGE_DELETION, count: 1}}) { view { id } } }"""
    answer = execute(service, document, {"name": name}, writable=True)
    (error,) = answer["errors"]
    assert error["path"] == ["b"]
    assert error["extensions"]["code"] == "GRAPH_NOT_FOUND"


def test_one_reading_in_python(
    service: Service, store: Store, graph_names: Callable[[], str]
) -> None:
    """A block of reads sees one edition; the next read after it the newest."""
    name = graph_names()
    publish(store, name, 1)
    with service.one_reading():
        first = service.graph(name)
        publish(store, name, 2)
        assert service.graph(name) == first
        with service.one_reading():
            assert [info for info in service.graphs() if info.name == name] == [first]
        assert service.entities(["Q1"], graph=name).entities["Q1"].labels == {"en": "1"}
        seen_elsewhere: list[str] = []
        other = threading.Thread(target=lambda: seen_elsewhere.append(service.graph(name).edition))
        other.start()
        other.join()
        assert seen_elsewhere != [first.edition]
    assert service.graph(name).edition == seen_elsewhere[0]


def test_the_time_limit_is_the_whole_querys(
    service: Service, store: Store, graph_names: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field that uses up the time leaves none to the fields after it."""
    name = graph_names()
    publish(store, name, 1)
    real, ahead_s = store.entities, 0.0

    def slow(edition: str, ids: list[str]) -> Any:
        nonlocal ahead_s
        found = real(edition, ids)
        ahead_s += 601.0
        return found

    monkeypatch.setattr(store, "entities", slow)
    monkeypatch.setattr(service._graphs, "settings", Settings(read_timeout_s=600.0))
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead_s)
    monkeypatch.setattr("graph_service.model.limits.time", clock)
    document = """query($name: String!) { a: item(itemId: "Q1", graph: $name) { itemId }
      b: item(itemId: "Q1", graph: $name) { itemId } }"""
    answer = execute(service, document, {"name": name})
    assert answer["data"] == {"a": {"itemId": "Q1"}, "b": None}
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["b"], DeadlineError.code)
