"""LangChain's ``GraphRetriever`` over statements as documents, two of which share an entity.

Its strategy is ``Eager``, as it comes: four documents nearest the question, then those that are
joined with them, nearest first. It needs no model but the embedder.
"""

from __future__ import annotations

from collections.abc import Sequence

from graph_retriever.strategies import Eager
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_graph_retriever import GraphRetriever
from worker import Embed, Request, serve

EDGES = [("head", "head"), ("head", "tail"), ("tail", "head"), ("tail", "tail")]


class MiniLM(Embeddings):
    """Vectors of the leaderboard."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Returns the vectors of texts."""
        return self._embed(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """Returns the vector of a text."""
        return self.embed_documents([text])[0]


def rank(request: Request, embed: Embed) -> Sequence[int]:
    """Returns the documents that the traversal selects, in its order."""
    store = InMemoryVectorStore(MiniLM(embed))
    store.add_documents(
        [
            Document(text, id=str(index), metadata={"head": head, "tail": tail})
            for index, (text, head, tail) in enumerate(
                zip(request.sentences, request.head, request.tail, strict=True)
            )
        ]
    )
    retriever = GraphRetriever(store=store, edges=EDGES, strategy=Eager(select_k=request.budget))
    return [int(document.id) for document in retriever.invoke(request.question)]


serve(rank)
