"""A retriever for Haystack.

from graph_service.adapters.haystack import GraphServiceRetriever

pipeline.add_component("retriever", GraphServiceRetriever(url="http://127.0.0.1:8000", top_k=5))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graph_service.adapters import framework
from graph_service.adapters.asking import (
    DEFAULT_LIMIT,
    Asking,
    RetrievedDocument,
    RetrievedDocuments,
    open_client,
    options_of_retriever,
    strategy_of,
)
from graph_service.errors import InputError

if TYPE_CHECKING:
    from graph_service.service import Service

with framework("haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.utils import Secret


@component
class GraphServiceRetriever:
    """Finds statements and paths of a graph.

    Its outputs are ``documents`` and ``status``: ``ok``, ``low-confidence``, or why there are none.

    Args:
        url: A server's address; or ``service``, of this process.
        service: From ``graph_service.open_service``; it stays the caller's.
        api_key: The server's key, such as ``Secret.from_env_var("GRAPH_SERVICE_API_KEY")``.
        timeout_s: Time limit of one retrieval over HTTP, in seconds.
        graph: The graph's name; None for the only one.
        view: A perturbed view: its name or id, or ``METHOD:LEVEL:SEED``.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        top_k: Documents at most.
        empty_document: Whether one document says so where nothing was found, instead of none.
        options: Further options of a retrieval, such as ``{"preset": "okgqa"}``.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        service: Service | None = None,
        api_key: Secret | None = None,
        timeout_s: float = 60.0,
        graph: str | None = None,
        view: str | None = None,
        strategy: str = "paths",
        top_k: int = DEFAULT_LIMIT,
        empty_document: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._api_key = api_key
        self._arguments = {
            "url": url,
            "timeout_s": timeout_s,
            "graph": graph,
            "view": view,
            "strategy": strategy,
            "top_k": top_k,
            "empty_document": empty_document,
            "options": dict(options or {}),
        }
        key = api_key.resolve_value() if api_key is not None else None
        self._asking = Asking(
            client=open_client(url=url, api_key=key or "", timeout_s=timeout_s, service=service),
            strategy=strategy_of(strategy),
            limit=top_k,
            empty_document=empty_document,
            options=options_of_retriever(graph, view, options),
        )

    @component.output_types(documents=list[Document], status=str)
    def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """Returns the documents that a question finds, and the status."""
        return _outputs(self._asking.ask(query, limit=top_k))

    @component.output_types(documents=list[Document], status=str)
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """Does the same without blocking the event loop."""
        return _outputs(await self._asking.ask_async(query, limit=top_k))

    def close(self) -> None:
        """Closes the connections; a service stays open."""
        self._asking.client.close()

    def to_dict(self) -> dict[str, Any]:
        """Returns the component as data, for pipelines that are saved.

        Raises:
            InputError: It asks a service of this process, which can't be saved.
        """
        if self._arguments["url"] is None:
            raise InputError("a retriever over a service of this process can't be saved; give url")
        key = self._api_key.to_dict() if self._api_key is not None else None
        saved: dict[str, Any] = default_to_dict(self, api_key=key, **self._arguments)
        return saved

    @classmethod
    def from_dict(cls, data: dict[str, Any], /) -> GraphServiceRetriever:
        """Returns the component of ``to_dict``."""
        arguments = dict(data["init_parameters"])
        if arguments.get("api_key") is not None:
            arguments["api_key"] = Secret.from_dict(arguments["api_key"])
        made: GraphServiceRetriever = default_from_dict(cls, {**data, "init_parameters": arguments})
        return made


def _outputs(result: RetrievedDocuments) -> dict[str, Any]:
    return {
        "documents": [_document(document) for document in result.documents],
        "status": result.status.value,
    }


def _document(document: RetrievedDocument) -> Document:
    return Document(
        id=document.id, content=document.text, meta=dict(document.metadata), score=document.score
    )
