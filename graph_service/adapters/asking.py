"""What the retrievers share: one retrieval, and its items as documents with their metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.render import (
    TextFormat,
    citation,
    cited_triples,
    default_format,
    is_stated_by,
    item_text,
)
from graph_service.model.request import RetrieveOptions
from graph_service.model.result import (
    Answer,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Strategy,
    Triple,
    single_results,
    triples_of,
)
from graph_service.model.values import EntityValue
from graph_service.model.view_reference import parse_view

if TYPE_CHECKING:
    from graph_service.service import Service

EMPTY = {
    Status.NO_ENTITY_LINKED: "The graph has no item that the question names.",
    Status.NOTHING_RELEVANT: "The graph has no statement that bears on the question.",
}
DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True)
class RetrievedDocument:
    """An item of a result, as frameworks take documents.

    Attributes:
        id: Of edition, view and statements: the same wherever the same is found.
        text: The statement, or the path as a chain of arrows.
        score: Higher is better.
        metadata: ``citation``, ``score``, ``path`` (its statements by id), ``status`` of the
            result, and ``provenance``; JSON-ready.
    """

    id: str
    text: str
    score: float
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RetrievedDocuments:
    """What a question found.

    Attributes:
        status: Why ``documents`` is empty, where it is; of low confidence they are what comes
            nearest.
        result: All that the service said, an ``answer`` included.
    """

    documents: tuple[RetrievedDocument, ...]
    status: Status
    result: RetrievalResult


def documents_of(
    result: RetrievalResult, /, *, empty_document: bool = False, limit: int | None = None
) -> RetrievedDocuments:
    """Returns a result as documents; what was computed in answer comes first.

    Args:
        result: What was retrieved.
        empty_document: Whether one document says so where nothing was found; its metadata
            has no ``path``.
        limit: Documents at most.
    """
    common = {"status": result.status.value, "provenance": _provenance(result)}
    answers = [
        _answer_document(single, single.answer, common, index)
        for index, single in enumerate(single_results(result))
        if single.answer is not None and not is_stated_by(single.answer, triples_of(single)[:limit])
    ]
    items = [_document(item, result, common) for item in result.items]
    # Two questions of a text may share an item.
    unique: dict[str, RetrievedDocument] = {}
    for document in (*answers, *items):
        unique.setdefault(document.id, document)
    documents = tuple(unique.values())[:limit]
    if not documents and empty_document:
        text = EMPTY.get(result.status, "The graph answered with nothing.")
        id_ = f"{result.provenance.edition}/{result.id}"
        metadata: dict[str, Any] = {"citation": "", "score": 0.0, "path": [], **common}
        documents = (RetrievedDocument(id_, text, 0.0, metadata),)
    return RetrievedDocuments(documents, result.status, result)


def _answer_document(
    result: RetrievalResult, answer: Answer, common: Mapping[str, Any], index: int
) -> RetrievedDocument:
    """Returns a computed answer as a document; its path are the statements that it rests on. The
    text of one that is not sure says so first.
    """
    source = result.provenance
    best = max((item.score for item in result.items), default=0.0)
    return RetrievedDocument(
        id="/".join((source.edition, source.view_id or "", result.id, f"answer-{index}")),
        text=answer.text if result.status is Status.OK else f"{result.status_text} {answer.text}",
        score=best,
        metadata={
            "citation": " ".join(citation([triple]) for triple in cited_triples(answer)),
            "score": best,
            "path": [_edge(row.triple, False) for row in answer.basis],
            **common,
            "status": result.status.value,
            "answer": answer.kind.value,
            "question": result.question,
        },
    )


def _document(
    item: ScoredTriple | ScoredPath, result: RetrievalResult, common: Mapping[str, Any]
) -> RetrievedDocument:
    if isinstance(item, ScoredPath):
        path = [_edge(step.triple, step.reversed) for step in item.steps]
    else:
        path = [_edge(item.triple, False)]
    source = result.provenance
    parts = (source.edition, source.view_id or "", *(edge["statement_id"] for edge in path))
    return RetrievedDocument(
        id="/".join(parts),
        text=item_text(item, text_format=default_format(result)),
        score=item.score,
        metadata={
            "citation": item_text(item, text_format=TextFormat.CITATIONS),
            "score": item.score,
            "path": path,
            **common,
        },
    )


def _edge(triple: Triple, reversed_: bool) -> dict[str, Any]:
    value = triple.value
    return {
        "statement_id": triple.statement_id,
        "subject_id": triple.head.id,
        "property_id": triple.relation.id,
        "value_id": value.id if isinstance(value, EntityValue) else None,
        "reversed": reversed_,
    }


def _provenance(result: RetrievalResult) -> dict[str, Any]:
    source = result.provenance
    return {
        "result_id": result.id,
        "graph": source.graph,
        "edition": source.edition,
        "fingerprint": source.fingerprints.content,
        "view_id": source.view_id,
        "strategy": source.strategy.value,
        "preset": source.preset,
        "version": source.version,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a retriever asks.

    Attributes:
        client: Of a server or of this process; safe to use from several threads.
        strategy: What is retrieved.
        limit: Documents at most.
        empty_document: See ``documents_of``.
        options: Further options of a retrieval.
    """

    client: Client
    strategy: Strategy = Strategy.PATHS
    limit: int = DEFAULT_LIMIT
    empty_document: bool = False
    options: RetrieveOptions = field(default_factory=RetrieveOptions)

    def ask(self, question: str, /, *, limit: int | None = None) -> RetrievedDocuments:
        """Returns what a question finds."""
        options: RetrieveOptions = {**self.options, "limit": limit or self.limit}
        result = self.client.retrieve(self.strategy, question, **options)
        return documents_of(result, empty_document=self.empty_document, limit=limit or self.limit)

    async def ask_async(self, question: str, /, *, limit: int | None = None) -> RetrievedDocuments:
        """Returns what a question finds; the caller's event loop goes on meanwhile.

        The blocking client runs in a thread: its connections outlive an event loop, and
        frameworks make many.
        """
        return await asyncio.to_thread(self.ask, question, limit=limit)


def open_client(
    *,
    url: str | None,
    api_key: str,
    timeout_s: float,
    service: Service | None,
) -> Client:
    """Returns a client of a server, or of a service of this process.

    Raises:
        InputError: Neither or both are given.
    """
    if (url is None) == (service is None):
        raise InputError("give either url, of a server, or service, of this process")
    if service is not None:
        return Client.over(service, writable=False)
    assert url is not None
    return Client.connect(url, api_key=api_key, timeout_s=timeout_s)


def options_of_retriever(
    graph: str | None, view: str | None, options: Mapping[str, Any] | None, /
) -> RetrieveOptions:
    """Returns the options of a retriever's retrievals.

    Args:
        graph: The graph's name; None for the only one.
        view: A stored view's name or id, or ``METHOD:LEVEL:SEED``.
        options: Others, by the names of the client's keywords.
    """
    chosen: dict[str, Any] = dict(options or {})
    if graph is not None:
        chosen["graph"] = graph
    if view is not None:
        chosen["view"] = parse_view(view)
    return cast(RetrieveOptions, chosen)


def strategy_of(name: str, /) -> Strategy:
    """Returns the strategy of a name; raises ``InputError`` for any other."""
    try:
        return Strategy(name)
    except ValueError:
        known = ", ".join(each.value for each in Strategy)
        raise InputError(
            f"unknown strategy {name!r}; expected one of {known}", argument="strategy"
        ) from None
