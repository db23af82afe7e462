"""Each call is defined once: both clients have it, with the same parameters and description."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import re
from collections.abc import Callable, Mapping
from typing import Any, assert_type, get_args, get_type_hints

import pytest
from error_texts import raises

from graph_service.client import AsyncClient, Client, calls
from graph_service.client.calls import Call
from graph_service.client.decode import decode
from graph_service.errors import GraphServiceError, InputError, StoreError
from graph_service.model.browsing import ClientViewChange, Item, ItemStatement
from graph_service.model.passage import ClientPassageSet, PassagesResult
from graph_service.model.result import PathsResult, RetrievalResult, Strategy
from graph_service.model.stored_view import StoredView
from graph_service.model.view_spec import Method, ViewSpec
from queries.retriever import Retriever


def makers() -> dict[str, Callable[..., Call[Any]]]:
    """Returns every function that makes a call, by name."""
    return {
        name: made
        for name, made in inspect.getmembers(calls, inspect.isfunction)
        if made.__module__ == calls.__name__
        and not name.startswith("_")
        and str(made.__annotations__["return"]).startswith("Call[")
    }


def test_both_clients_serve_every_call() -> None:
    made = makers()
    for kind in (Client, AsyncClient):
        public = {name for name in dir(kind) if not name.startswith("_")}
        assert public - {"close", "connect", "over", "run"} == set(made)
        assert {name: inspect.unwrap(getattr(kind, name)) for name in made} == made


@pytest.mark.parametrize("name", makers())
def test_a_method_is_described_as_its_call(name: str) -> None:
    make = makers()[name]
    (answer,) = get_args(get_type_hints(make)["return"])
    for kind in (Client, AsyncClient):
        method = getattr(kind, name)
        itself, *parameters = inspect.signature(method).parameters.values()
        assert itself.name == "self"
        assert parameters == list(inspect.signature(make).parameters.values())
        assert list(inspect.signature(getattr(kind(Recorded()), name)).parameters.values()) == (
            parameters
        )
        assert get_type_hints(method)["return"] == answer
        assert method.__qualname__ == f"{kind.__name__}.{name}"
        shown = pydoc.plain(pydoc.render_doc(method))
        # Since Python 3.13 a long signature has a line for each parameter.
        assert re.search(rf"{name}\(\s*self,\s", shown)
        assert str(inspect.getdoc(make)).splitlines()[0] in shown
    assert not inspect.iscoroutinefunction(getattr(Client, name))
    assert inspect.iscoroutinefunction(getattr(AsyncClient, name))


class Recorded:
    """A transport that keeps what was sent, and answers with one response."""

    def __init__(self, response: Mapping[str, Any] | None = None) -> None:
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self._response = response or {"errors": [{"message": "no", "extensions": {}}]}

    def send(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        self.sent.append((document, variables))
        return self._response

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        return self.send(document, variables)

    def close(self) -> None:
        pass

    async def close_async(self) -> None:
        pass


SPEC = ViewSpec(Method.EDGE_DELETION, count=1)
EXAMPLES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "graphs": ((), {}),
    "graph": (("g",), {}),
    "items": ((["Q1"],), {"graph": "g", "language": "de"}),
    "statements": (("Q1",), {"relation_id": "P1", "view": SPEC, "limit": 3}),
    "statement_page": (("Q1",), {"direction": "incoming", "relation_ids": ("P1",), "after": "c"}),
    "relations": (("Q1",), {"direction": "incoming", "view": SPEC, "first": 3}),
    "describe": (("g",), {"view": SPEC, "first": 3}),
    "search": (("x",), {"languages": ("de",), "limit": 3}),
    "triplets": (("x",), {"limit": 3, "details": True}),
    "paths": (("x",), {"view": "v"}),
    "subgraph": (("x",), {"edge_cost": 0.5}),
    "retrieve": ((Strategy.PATHS, "x"), {"limit": 3}),
    "retrieve_many": ((Strategy.PATHS, ["x", {"question": "y", "limit": 2}]), {"limit": 3}),
    "compare": ((Strategy.PATHS, "x", [SPEC]), {"limit": 3}),
    "neighbourhood": (("Q1",), {"hops": 2}),
    "neighbours": (("Q1",), {"direction": "incoming", "relation_ids": ("P1",), "first": 3}),
    "page_views": ((["Q1"],), {"graph": "g"}),
    "passages": (("x",), {"k": 3}),
    "passage_sets": ((), {"graph": "g"}),
    "delete_passages": ((), {"graph": "g", "source": "s"}),
    "views": ((), {"graph": "g"}),
    "view": (("v",), {"graph": "g"}),
    "view_diff": (("v",), {"first": 3, "after": "c"}),
    "create_view": ((SPEC,), {"graph": "g", "name": "v", "wait": False}),
    "update_view": (("v",), {"graph": "g", "name": "w"}),
    "cancel_job": (("v",), {"graph": "g"}),
    "delete_view": (("v",), {"graph": "g"}),
    "delete_graph": (("g",), {}),
}


@pytest.mark.parametrize("name", makers())
def test_both_clients_send_the_call_of_that_name(name: str) -> None:
    arguments, options = EXAMPLES[name]
    call = makers()[name](*arguments, **options)
    near, far = Recorded(), Recorded()
    with pytest.raises(GraphServiceError, match="no"):
        getattr(Client(near), name)(*arguments, **options)

    async def ask() -> None:
        await getattr(AsyncClient(far), name)(*arguments, **options)

    with pytest.raises(GraphServiceError, match="no"):
        asyncio.run(ask())
    assert near.sent == far.sent == [(call.document, call.variables)]


def test_a_bad_argument_of_the_async_client_is_raised_when_awaited() -> None:
    """As a coroutine does: ``gather(..., return_exceptions=True)`` relies on it."""
    client = AsyncClient(Recorded())
    bad: Any = {"limits": 3}

    async def ask() -> list[object]:
        return [*await asyncio.gather(client.paths("x", **bad), return_exceptions=True)]

    (found,) = asyncio.run(ask())
    assert isinstance(found, TypeError)


@pytest.mark.parametrize("name", ["triplets", "paths", "neighbourhood"])
def test_a_result_of_another_strategy_is_a_fault_of_the_server(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = PathsResult if name != "paths" else StoredView
    monkeypatch.setattr(calls, "decode_result", lambda data: object.__new__(other))
    client = Client(Recorded({"data": {"result": {}}}))
    with pytest.raises(StoreError, match=f"got a {other.__name__}"):
        getattr(client, name)("x")


def types_of_the_blocking_client(client: Client) -> Retriever:
    """Is checked by mypy alone; it is never called."""
    assert_type(client.items(["Q1"], language="de"), tuple[Item | None, ...])
    assert_type(client.paths("x", limit=3, view=SPEC), PathsResult)
    assert_type(client.retrieve(Strategy.PATHS, "x"), RetrievalResult)
    assert_type(client.view("v"), StoredView | None)
    assert_type(client.passages("x", k=3), PassagesResult)
    assert_type(Client.graph(client, "g").name, str)
    client.items("Q1", languages="de")  # type: ignore[call-arg]
    client.paths("x", limit="3")  # type: ignore[arg-type]
    client.view(reference="v")  # type: ignore[call-arg]
    return client


async def types_of_the_async_client(client: AsyncClient) -> None:
    """Is checked by mypy alone; it is never called."""
    assert_type(await client.items(["Q1"], language="de"), tuple[Item | None, ...])
    assert_type(await client.paths("x", limit=3, view=SPEC), PathsResult)
    assert_type(await client.passage_sets(), tuple[ClientPassageSet, ...])
    assert_type((await AsyncClient.graph(client, "g")).name, str)
    task = asyncio.create_task(client.view("v"))
    assert_type(await task, StoredView | None)
    await client.paths("x", limit="3")  # type: ignore[arg-type]
    await client.create_view(SPEC)  # type: ignore[call-arg]


def test_a_changed_subject_leaves_the_base_its_own() -> None:
    def statement(subject: str) -> dict[str, Any]:
        return {
            "statementId": "Q1$1",
            "rank": "NORMAL",
            "subject": {"itemId": subject, "label": subject},
            "property": {"propertyId": "P26", "label": "spouse"},
            "value": {"__typename": "ItemValue", "item": {"itemId": "Q3"}},
            "valueText": "Q3",
        }

    change = decode(
        ClientViewChange,
        {
            "kind": "HEAD_CHANGED",
            "words": "Q1 -> Q2",
            "before": statement("Q1"),
            "after": statement("Q2"),
        },
    )
    assert (change.before.head.id, change.after.head.id) == ("Q1", "Q2")  # type: ignore[union-attr]
    assert change.kind == "head-changed"
    edge = {
        "node": statement("Q2"),
        "change": {"kind": "HEAD_CHANGED", "baseStatement": statement("Q1")},
    }
    row = decode(ItemStatement, edge)
    assert row.change.base is not None
    assert (row.triple.head.id, row.change.base.head.id) == ("Q2", "Q1")


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_an_address_is_told_to_be_connected_to(client: Any) -> None:
    with raises(InputError):
        client("http://127.0.0.1:8000")
