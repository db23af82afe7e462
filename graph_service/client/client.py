"""The typed client: the same calls in process or over HTTP, blocking or not.

    from graph_service.client import Client

    with Client.connect("http://127.0.0.1:8000") as client:
        result = client.paths("Who is the mother of Maria Shriver's husband?")

What it returns are the model's own types (``graph_service.model.result``), so code written
against the service in process runs unchanged against a server.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ParamSpec,
    Self,
    TypeVar,
    cast,
)

from graph_service.client import calls
from graph_service.client.calls import Call
from graph_service.client.transport import Transport, unwrap
from graph_service.errors import InputError

if TYPE_CHECKING:
    from graph_service.service import Service

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def blocking(make: Callable[P, Call[T]], /) -> Callable[Concatenate[Client, P], T]:
    """Returns the method of ``Client`` for a function that makes a call: it returns the answer."""

    def method(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client._run(make(*args, **kwargs))

    return _described(method, make, "Client")


def awaiting(
    make: Callable[P, Call[T]], /
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """Returns the method of ``AsyncClient`` for such a function: a coroutine of the answer."""

    async def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await client._run(make(*args, **kwargs))

    return _described(method, make, "AsyncClient")


def _described(method: F, make: Callable[..., Any], owner: str) -> F:
    """Returns a method with the name, docstring and parameters of the function it calls."""
    update_wrapper(method, make)
    signature = inspect.signature(make)
    # Annotations are text. The function returns Call[T], the method T.
    answer = signature.return_annotation.removeprefix("Call[").removesuffix("]")
    client = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__qualname__ = f"{owner}.{make.__name__}"
    method.__annotations__ = {**make.__annotations__, "return": answer}
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[client, *signature.parameters.values()], return_annotation=answer
    )
    return method


class _ClientBase:
    """What both clients have beside the calls."""

    def __init__(self, transport: Transport, /) -> None:
        if isinstance(transport, str):
            raise InputError(
                "an address is no transport", hint=f"Connect to it: Client.connect({transport!r})."
            )
        self._transport = transport

    @classmethod
    def connect(cls, url: str, /, *, api_key: str = "", timeout_s: float = 60.0) -> Self:
        """Returns a client of a server; nothing is sent yet."""
        # Imported when called: httpx takes longer than the rest of the client.
        from graph_service.client.http import Http

        return cls(Http(url, api_key=api_key, timeout_s=timeout_s))

    @classmethod
    def over(cls, service: Service, /, *, writable: bool = True) -> Self:
        """Returns a client of a service in this process; the service stays the caller's."""
        # Imported when called: a client of a server needs no service.
        from graph_service.api.in_process import InProcess

        return cls(InProcess(service, writable=writable))


class Client(_ClientBase):
    """Blocking client. Every method raises ``GraphServiceError`` as the server reports it."""

    graphs = blocking(calls.graphs)
    graph = blocking(calls.graph)
    describe = blocking(calls.describe)
    delete_graph = blocking(calls.delete_graph)

    items = blocking(calls.items)
    statements = blocking(calls.statements)
    statement_page = blocking(calls.statement_page)
    relations = blocking(calls.relations)
    neighbours = blocking(calls.neighbours)
    search = blocking(calls.search)
    neighbourhood = blocking(calls.neighbourhood)

    triplets = blocking(calls.triplets)
    paths = blocking(calls.paths)
    subgraph = blocking(calls.subgraph)
    retrieve = blocking(calls.retrieve)
    retrieve_many = blocking(calls.retrieve_many)
    compare = blocking(calls.compare)

    views = blocking(calls.views)
    view = blocking(calls.view)
    view_diff = blocking(calls.view_diff)
    create_view = blocking(calls.create_view)
    update_view = blocking(calls.update_view)
    cancel_job = blocking(calls.cancel_job)
    delete_view = blocking(calls.delete_view)

    page_views = blocking(calls.page_views)
    passages = blocking(calls.passages)
    passage_sets = blocking(calls.passage_sets)
    delete_passages = blocking(calls.delete_passages)

    def run(self, call: Call[T], /) -> T:
        """Returns the answer to a call, such as one of a document of your own."""
        return self._run(call)

    def _run(self, call: Call[T]) -> T:
        data = unwrap(self._transport.send(call.document, call.variables))
        answer: Any = call.decode(data)
        following = call.next_page(data)
        return cast(T, answer if following is None else answer + self._run(following))

    def close(self) -> None:
        """Releases the connections to the server."""
        self._transport.close()

    def __enter__(self) -> Self:
        """Returns the client, which closes at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the client at the end of a block."""
        self.close()


class AsyncClient(_ClientBase):
    """Client for an event loop, with the same methods."""

    graphs = awaiting(calls.graphs)
    graph = awaiting(calls.graph)
    describe = awaiting(calls.describe)
    delete_graph = awaiting(calls.delete_graph)

    items = awaiting(calls.items)
    statements = awaiting(calls.statements)
    statement_page = awaiting(calls.statement_page)
    relations = awaiting(calls.relations)
    neighbours = awaiting(calls.neighbours)
    search = awaiting(calls.search)
    neighbourhood = awaiting(calls.neighbourhood)

    triplets = awaiting(calls.triplets)
    paths = awaiting(calls.paths)
    subgraph = awaiting(calls.subgraph)
    retrieve = awaiting(calls.retrieve)
    retrieve_many = awaiting(calls.retrieve_many)
    compare = awaiting(calls.compare)

    views = awaiting(calls.views)
    view = awaiting(calls.view)
    view_diff = awaiting(calls.view_diff)
    create_view = awaiting(calls.create_view)
    update_view = awaiting(calls.update_view)
    cancel_job = awaiting(calls.cancel_job)
    delete_view = awaiting(calls.delete_view)

    page_views = awaiting(calls.page_views)
    passages = awaiting(calls.passages)
    passage_sets = awaiting(calls.passage_sets)
    delete_passages = awaiting(calls.delete_passages)

    async def run(self, call: Call[T], /) -> T:
        """Returns the answer to a call, such as one of a document of your own."""
        return await self._run(call)

    async def _run(self, call: Call[T]) -> T:
        data = unwrap(await self._transport.send_async(call.document, call.variables))
        answer: Any = call.decode(data)
        following = call.next_page(data)
        return cast(T, answer if following is None else answer + await self._run(following))

    async def close(self) -> None:
        """Releases the connections to the server."""
        await self._transport.close_async()

    async def __aenter__(self) -> Self:
        """Returns the client, which closes at the end of the block."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes the client at the end of a block."""
        await self.close()
