"""A retriever for LangChain.

from graph_service.adapters.langchain import GraphServiceRetriever

retriever = GraphServiceRetriever(url="http://127.0.0.1:8000", k=5)
documents = retriever.invoke("Who is the mother of Maria Shriver's husband?")
"""

from __future__ import annotations

from typing import Any

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

with framework("langchain"):
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field, PrivateAttr, SecretStr


class GraphServiceRetriever(BaseRetriever):
    """Finds statements and paths of a graph; ``ask`` tells the status too.

    Attributes:
        url: A server's address; or ``service``, of this process.
        service: From ``graph_service.open_service``; it stays the caller's.
        api_key: The server's key.
        timeout_s: Time limit of one retrieval over HTTP, in seconds.
        graph: The graph's name; None for the only one.
        view: A perturbed view: its name or id, or ``METHOD:LEVEL:SEED``.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        k: Documents at most.
        empty_document: Whether one document says so where nothing was found, instead of none.
        options: Further options of a retrieval, such as ``{"preset": "okgqa"}``.
    """

    url: str | None = None
    service: Any = Field(default=None, exclude=True, repr=False)
    api_key: SecretStr = SecretStr("")
    timeout_s: float = 60.0
    graph: str | None = None
    view: str | None = None
    strategy: str = "paths"
    k: int = Field(default=DEFAULT_LIMIT, ge=1)
    empty_document: bool = False
    options: dict[str, Any] = Field(default_factory=dict)

    _asking: Asking = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Makes the client; nothing is sent yet."""
        super().model_post_init(context)
        self._asking = Asking(
            client=open_client(
                url=self.url,
                api_key=self.api_key.get_secret_value(),
                timeout_s=self.timeout_s,
                service=self.service,
            ),
            strategy=strategy_of(self.strategy),
            limit=self.k,
            empty_document=self.empty_document,
            options=options_of_retriever(self.graph, self.view, self.options),
        )

    def ask(self, question: str, /, *, k: int | None = None) -> RetrievedDocuments:
        """Returns the documents with their status, and the whole result."""
        return self._asking.ask(question, limit=k)

    async def aask(self, question: str, /, *, k: int | None = None) -> RetrievedDocuments:
        """Does the same without blocking the event loop."""
        return await self._asking.ask_async(question, limit=k)

    def close(self) -> None:
        """Closes the connections; a service stays open."""
        self._asking.client.close()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return [_document(document) for document in self.ask(query, k=k).documents]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return [_document(document) for document in (await self.aask(query, k=k)).documents]


def _document(document: RetrievedDocument) -> Document:
    return Document(id=document.id, page_content=document.text, metadata=dict(document.metadata))
