"""A retriever for LlamaIndex.

from graph_service.adapters.llamaindex import GraphServiceRetriever

retriever = GraphServiceRetriever(url="http://127.0.0.1:8000", similarity_top_k=5)
nodes = retriever.retrieve("Who is the mother of Maria Shriver's husband?")
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

if TYPE_CHECKING:
    from graph_service.service import Service

with framework("llamaindex"):
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

_FOR_PROGRAMS = ["score", "path", "status", "provenance"]


class GraphServiceRetriever(BaseRetriever):
    """Finds statements and paths of a graph; ``ask`` tells the status too.

    A model is shown each node's text and citation; the other metadata are for programs.

    Args:
        url: A server's address; or ``service``, of this process.
        service: From ``graph_service.open_service``; it stays the caller's.
        api_key: The server's key.
        timeout_s: Time limit of one retrieval over HTTP, in seconds.
        graph: The graph's name; None for the only one.
        view: A perturbed view: its name or id, or ``METHOD:LEVEL:SEED``.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        similarity_top_k: Nodes at most.
        empty_document: Whether one node says so where nothing was found, instead of none.
        options: Further options of a retrieval, such as ``{"preset": "okgqa"}``.
        callback_manager: LlamaIndex's.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        service: Service | None = None,
        api_key: str = "",
        timeout_s: float = 60.0,
        graph: str | None = None,
        view: str | None = None,
        strategy: str = "paths",
        similarity_top_k: int = DEFAULT_LIMIT,
        empty_document: bool = False,
        options: Mapping[str, Any] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._asking = Asking(
            client=open_client(url=url, api_key=api_key, timeout_s=timeout_s, service=service),
            strategy=strategy_of(strategy),
            limit=similarity_top_k,
            empty_document=empty_document,
            options=options_of_retriever(graph, view, options),
        )
        super().__init__(callback_manager=callback_manager)

    def ask(self, question: str, /) -> RetrievedDocuments:
        """Returns the documents with their status, and the whole result."""
        return self._asking.ask(question)

    async def aask(self, question: str, /) -> RetrievedDocuments:
        """Does the same without blocking the event loop."""
        return await self._asking.ask_async(question)

    def close(self) -> None:
        """Closes the connections; a service stays open."""
        self._asking.client.close()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(document) for document in self.ask(query_bundle.query_str).documents]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(document) for document in (await self.aask(query_bundle.query_str)).documents]


def _node(document: RetrievedDocument) -> NodeWithScore:
    node = TextNode(
        id_=document.id,
        text=document.text,
        metadata=dict(document.metadata),
        excluded_llm_metadata_keys=list(_FOR_PROGRAMS),
        excluded_embed_metadata_keys=["citation", *_FOR_PROGRAMS],
    )
    return NodeWithScore(node=node, score=document.score)
