"""The typed client: the same calls in process or over HTTP, blocking or not.

    from graph_service.client import Client

    with Client.connect("http://127.0.0.1:8000") as client:
        result = client.paths("Who is the mother of Maria Shriver's husband?")

What it returns are the model's own types (``graph_service.model.result``), so code written
against the service in process runs unchanged against a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from graph_service.client import calls
from graph_service.client import passages as passage_calls
from graph_service.client.calls import Call, QuestionOptions, RetrieveOptions, View
from graph_service.client.passages import ClientPassageSet
from graph_service.client.transport import Transport, unwrap
from graph_service.client.types import (
    ClientComparison,
    FoundItem,
    Item,
    ItemStatement,
    ViewChanges,
)
from graph_service.errors import GraphServiceError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import PassageRanking, PassagesResult
from graph_service.model.result import (
    PathsResult,
    RetrievalResult,
    Strategy,
    SubgraphResult,
    TripletsResult,
)
from graph_service.model.stored_view import StoredView
from graph_service.model.view_spec import ViewSpec

if TYPE_CHECKING:
    from graph_service.service import Service

T = TypeVar("T")


class Client:
    """Blocking client. Every method raises ``GraphServiceError`` as the server reports it."""

    def __init__(self, transport: Transport, /) -> None:
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

    def close(self) -> None:
        """Releases connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Closes it."""
        self.close()

    def _run(self, call: Call[T]) -> T:
        return call.decode(unwrap(self._transport.send(call.document, call.variables)))

    def graphs(self) -> tuple[GraphInfo, ...]:
        """Returns all graphs."""
        return self._run(calls.graphs())

    def graph(self, name: str | None = None, /) -> GraphInfo:
        """Returns one graph; without a name, the only one there is."""
        return self._run(calls.graph(name))

    def items(
        self, ids: Sequence[str], /, *, graph: str | None = None, language: str = "en"
    ) -> tuple[Item | None, ...]:
        """Returns items by id, in the order asked; None where the graph lacks one."""
        return self._run(calls.items(ids, graph=graph, language=language))

    def statements(
        self,
        id_: str,
        /,
        *,
        graph: str | None = None,
        view: View | None = None,
        relation_id: str | None = None,
        languages: Sequence[str] = ("en",),
        limit: int = 100,
    ) -> tuple[ItemStatement, ...]:
        """Returns the statements that have an item as their head, with qualifiers."""
        return self._run(
            calls.statements(
                id_,
                graph=graph,
                view=view,
                relation_id=relation_id,
                languages=languages,
                limit=limit,
            )
        )

    def search(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = (),
        limit: int = 10,
    ) -> tuple[FoundItem, ...]:
        """Returns items by name, best first."""
        return self._run(calls.search(query, graph=graph, languages=languages, limit=limit))

    def triplets(self, question: str, /, **options: Unpack[RetrieveOptions]) -> TripletsResult:
        """Returns the triples of highest total prize for a question."""
        result: TripletsResult = self._run(calls.retrieve(Strategy.TRIPLETS, question, options))
        return result

    def paths(self, question: str, /, **options: Unpack[RetrieveOptions]) -> PathsResult:
        """Returns the best paths from the question's entities."""
        result: PathsResult = self._run(calls.retrieve(Strategy.PATHS, question, options))
        return result

    def subgraph(self, question: str, /, **options: Unpack[RetrieveOptions]) -> SubgraphResult:
        """Returns one connected subgraph for a question."""
        result: SubgraphResult = self._run(calls.retrieve(Strategy.SUBGRAPH, question, options))
        return result

    def retrieve(
        self, strategy: Strategy, question: str, /, **options: Unpack[RetrieveOptions]
    ) -> RetrievalResult:
        """Returns what the strategy returns for a question."""
        result: RetrievalResult = self._run(calls.retrieve(strategy, question, options))
        return result

    def retrieve_many(
        self,
        strategy: Strategy,
        questions: Sequence[str | QuestionOptions],
        /,
        **options: Unpack[RetrieveOptions],
    ) -> tuple[RetrievalResult | GraphServiceError, ...]:
        """Returns what the strategy returns for each of some questions, or its error; in order.

        A question is its text, or ``{"question": ..., "entity_ids": ...}`` with options of its own
        over those of all.
        """
        return self._run(calls.retrieve_many(strategy, questions, options))

    def compare(
        self,
        strategy: Strategy,
        question: str,
        views: Sequence[View],
        /,
        **options: Unpack[RetrieveOptions],
    ) -> tuple[ClientComparison, ...]:
        """Returns the base's result and those of up to ten views, linked once."""
        return self._run(calls.compare(strategy, question, views, options))

    def neighbourhood(
        self,
        id_: str,
        /,
        *,
        graph: str | None = None,
        view: View | None = None,
        hops: int = 1,
        limit: int = 100,
        languages: Sequence[str] = ("en",),
    ) -> SubgraphResult:
        """Returns the statements within some hops of an item, nearest first."""
        return self._run(
            calls.neighbourhood(
                id_, graph=graph, view=view, hops=hops, limit=limit, languages=languages
            )
        )

    def page_views(
        self, ids: Sequence[str], /, *, graph: str | None = None
    ) -> dict[str, PageViews]:
        """Returns the page views of items, by the id asked for; those without are absent."""
        return self._run(passage_calls.page_views(ids, graph=graph))

    def passages(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        k: int = 10,
        by: PassageRanking = PassageRanking.BOTH,
        min_score: float | None = None,
        languages: Sequence[str] = ("en",),
    ) -> PassagesResult:
        """Returns the passages of a graph that answer a query best."""
        return self._run(
            passage_calls.passages(
                query, graph=graph, k=k, by=by, min_score=min_score, languages=languages
            )
        )

    def passage_sets(self, *, graph: str | None = None) -> tuple[ClientPassageSet, ...]:
        """Returns what was loaded as passages of a graph."""
        return self._run(passage_calls.passage_sets(graph))

    def delete_passages(self, *, graph: str | None = None, source: str | None = None) -> int:
        """Deletes a graph's passages, or those of one source; returns how many."""
        return self._run(passage_calls.delete_passages(graph, source))

    def views(self, *, graph: str | None = None) -> tuple[StoredView, ...]:
        """Returns the stored views of a graph, oldest first."""
        return self._run(calls.views(graph))

    def view(self, reference: str, /, *, graph: str | None = None) -> StoredView | None:
        """Returns a stored view by id or name; None if there is none."""
        return self._run(calls.view(reference, graph=graph))

    def view_diff(
        self,
        reference: str,
        /,
        *,
        graph: str | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> ViewChanges | None:
        """Returns a page of what a stored view changes; None if there is no such view."""
        return self._run(calls.view_diff(reference, graph=graph, first=first, after=after))

    def create_view(
        self,
        spec: ViewSpec,
        /,
        *,
        graph: str,
        name: str | None = None,
        note: str = "",
        wait: bool = True,
    ) -> StoredView:
        """Makes a view and stores it; the same specification gives the same view.

        Without ``wait`` it returns at once, and ``view`` says how far it has come.
        """
        return self._run(calls.create_view(spec, graph=graph, name=name, note=note, wait=wait))

    def cancel_job(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Cancels the making of a view and returns it; one that is done stays."""
        return self._run(calls.cancel_job(reference, graph=graph))

    def delete_view(self, reference: str, /, *, graph: str | None = None) -> str:
        """Deletes a stored view and returns its id."""
        return self._run(calls.delete_view(reference, graph=graph))

    def delete_graph(self, name: str, /) -> str:
        """Deletes a graph with its views, passages and page views; returns its name."""
        return self._run(calls.delete_graph(name))


class AsyncClient:
    """Client for an event loop, with the same methods."""

    def __init__(self, transport: Transport, /) -> None:
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

    async def close(self) -> None:
        """Releases connections."""
        await self._transport.close_async()

    async def __aenter__(self) -> Self:
        """Returns itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Closes it."""
        await self.close()

    async def _run(self, call: Call[T]) -> T:
        response = await self._transport.send_async(call.document, call.variables)
        return call.decode(unwrap(response))

    async def graphs(self) -> tuple[GraphInfo, ...]:
        """Returns all graphs."""
        return await self._run(calls.graphs())

    async def graph(self, name: str | None = None, /) -> GraphInfo:
        """Returns one graph; without a name, the only one there is."""
        return await self._run(calls.graph(name))

    async def items(
        self, ids: Sequence[str], /, *, graph: str | None = None, language: str = "en"
    ) -> tuple[Item | None, ...]:
        """Returns items by id, in the order asked; None where the graph lacks one."""
        return await self._run(calls.items(ids, graph=graph, language=language))

    async def statements(
        self,
        id_: str,
        /,
        *,
        graph: str | None = None,
        view: View | None = None,
        relation_id: str | None = None,
        languages: Sequence[str] = ("en",),
        limit: int = 100,
    ) -> tuple[ItemStatement, ...]:
        """Returns the statements that have an item as their head, with qualifiers."""
        return await self._run(
            calls.statements(
                id_,
                graph=graph,
                view=view,
                relation_id=relation_id,
                languages=languages,
                limit=limit,
            )
        )

    async def search(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = (),
        limit: int = 10,
    ) -> tuple[FoundItem, ...]:
        """Returns items by name, best first."""
        return await self._run(calls.search(query, graph=graph, languages=languages, limit=limit))

    async def triplets(
        self, question: str, /, **options: Unpack[RetrieveOptions]
    ) -> TripletsResult:
        """Returns the triples of highest total prize for a question."""
        result: TripletsResult = await self._run(
            calls.retrieve(Strategy.TRIPLETS, question, options)
        )
        return result

    async def paths(self, question: str, /, **options: Unpack[RetrieveOptions]) -> PathsResult:
        """Returns the best paths from the question's entities."""
        result: PathsResult = await self._run(calls.retrieve(Strategy.PATHS, question, options))
        return result

    async def subgraph(
        self, question: str, /, **options: Unpack[RetrieveOptions]
    ) -> SubgraphResult:
        """Returns one connected subgraph for a question."""
        result: SubgraphResult = await self._run(
            calls.retrieve(Strategy.SUBGRAPH, question, options)
        )
        return result

    async def retrieve(
        self, strategy: Strategy, question: str, /, **options: Unpack[RetrieveOptions]
    ) -> RetrievalResult:
        """Returns what the strategy returns for a question."""
        result: RetrievalResult = await self._run(calls.retrieve(strategy, question, options))
        return result

    async def retrieve_many(
        self,
        strategy: Strategy,
        questions: Sequence[str | QuestionOptions],
        /,
        **options: Unpack[RetrieveOptions],
    ) -> tuple[RetrievalResult | GraphServiceError, ...]:
        """Returns what the strategy returns for each of some questions, or its error; in order.

        A question is its text, or ``{"question": ..., "entity_ids": ...}`` with options of its own
        over those of all.
        """
        return await self._run(calls.retrieve_many(strategy, questions, options))

    async def compare(
        self,
        strategy: Strategy,
        question: str,
        views: Sequence[View],
        /,
        **options: Unpack[RetrieveOptions],
    ) -> tuple[ClientComparison, ...]:
        """Returns the base's result and those of up to ten views, linked once."""
        return await self._run(calls.compare(strategy, question, views, options))

    async def neighbourhood(
        self,
        id_: str,
        /,
        *,
        graph: str | None = None,
        view: View | None = None,
        hops: int = 1,
        limit: int = 100,
        languages: Sequence[str] = ("en",),
    ) -> SubgraphResult:
        """Returns the statements within some hops of an item, nearest first."""
        return await self._run(
            calls.neighbourhood(
                id_, graph=graph, view=view, hops=hops, limit=limit, languages=languages
            )
        )

    async def page_views(
        self, ids: Sequence[str], /, *, graph: str | None = None
    ) -> dict[str, PageViews]:
        """Returns the page views of items, by the id asked for; those without are absent."""
        return await self._run(passage_calls.page_views(ids, graph=graph))

    async def passages(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        k: int = 10,
        by: PassageRanking = PassageRanking.BOTH,
        min_score: float | None = None,
        languages: Sequence[str] = ("en",),
    ) -> PassagesResult:
        """Returns the passages of a graph that answer a query best."""
        return await self._run(
            passage_calls.passages(
                query, graph=graph, k=k, by=by, min_score=min_score, languages=languages
            )
        )

    async def passage_sets(self, *, graph: str | None = None) -> tuple[ClientPassageSet, ...]:
        """Returns what was loaded as passages of a graph."""
        return await self._run(passage_calls.passage_sets(graph))

    async def delete_passages(self, *, graph: str | None = None, source: str | None = None) -> int:
        """Deletes a graph's passages, or those of one source; returns how many."""
        return await self._run(passage_calls.delete_passages(graph, source))

    async def views(self, *, graph: str | None = None) -> tuple[StoredView, ...]:
        """Returns the stored views of a graph, oldest first."""
        return await self._run(calls.views(graph))

    async def view(self, reference: str, /, *, graph: str | None = None) -> StoredView | None:
        """Returns a stored view by id or name; None if there is none."""
        return await self._run(calls.view(reference, graph=graph))

    async def view_diff(
        self,
        reference: str,
        /,
        *,
        graph: str | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> ViewChanges | None:
        """Returns a page of what a stored view changes; None if there is no such view."""
        return await self._run(calls.view_diff(reference, graph=graph, first=first, after=after))

    async def create_view(
        self,
        spec: ViewSpec,
        /,
        *,
        graph: str,
        name: str | None = None,
        note: str = "",
        wait: bool = True,
    ) -> StoredView:
        """Makes a view and stores it; the same specification gives the same view.

        Without ``wait`` it returns at once, and ``view`` says how far it has come.
        """
        return await self._run(
            calls.create_view(spec, graph=graph, name=name, note=note, wait=wait)
        )

    async def cancel_job(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Cancels the making of a view and returns it; one that is done stays."""
        return await self._run(calls.cancel_job(reference, graph=graph))

    async def delete_view(self, reference: str, /, *, graph: str | None = None) -> str:
        """Deletes a stored view and returns its id."""
        return await self._run(calls.delete_view(reference, graph=graph))

    async def delete_graph(self, name: str, /) -> str:
        """Deletes a graph with its views, passages and page views; returns its name."""
        return await self._run(calls.delete_graph(name))
