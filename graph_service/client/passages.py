"""The calls for passages and page views: what is sent, and how the answer is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_service.client import documents
from graph_service.client.calls import Call
from graph_service.client.decode import decode_cuts, decode_named, decode_timings
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import (
    ClientPassageSet,
    Passage,
    PassageRanking,
    PassagesResult,
    ScoredPassage,
)


def passages(
    query: str,
    /,
    *,
    graph: str | None = None,
    k: int = 10,
    by: PassageRanking = PassageRanking.BOTH,
    min_score: float | None = None,
    languages: Sequence[str] = ("en",),
) -> Call[PassagesResult]:
    """Returns the passages of a graph that answer a query best."""
    variables = {
        "query": query,
        "graph": graph,
        "k": k,
        "by": PassageRanking(by).name,
        "minScore": min_score,
        "languages": list(languages),
    }
    return Call(documents.PASSAGES, variables, lambda data: decode_passages(data["result"]))


def passage_sets(*, graph: str | None = None) -> Call[tuple[ClientPassageSet, ...]]:
    """Returns what was loaded as passages of a graph."""
    return Call(
        documents.PASSAGE_SETS,
        {"graph": graph},
        lambda data: tuple(decode_passage_set(row) for row in data["sets"]),
    )


def delete_passages(*, graph: str | None = None, source: str | None = None) -> Call[int]:
    """Deletes a graph's passages, or those of one source; returns how many."""
    return Call(
        documents.DELETE_PASSAGES,
        {"input": {"graph": graph, "source": source}},
        lambda data: int(data["deleted"]["deleted"]),
    )


def page_views(ids: Sequence[str], /, *, graph: str | None = None) -> Call[dict[str, PageViews]]:
    """Returns the page views of items, by the id asked for; those without are absent."""

    def read(data: Mapping[str, Any]) -> dict[str, PageViews]:
        return {
            raw: decode_page_views(item)
            for raw, item in zip(ids, data["items"], strict=True)
            if item is not None and item["pageViews"] is not None
        }

    return Call(documents.PAGE_VIEWS, {"ids": list(ids), "graph": graph}, read)


def decode_page_views(data: Mapping[str, Any], /) -> PageViews:
    """Returns an item's page views."""
    views = data["pageViews"]
    return PageViews(
        entity=data["itemId"],
        mean=views["mean"],
        total=int(views["total"]),
        months=views["months"],
        first=views["first"],
        last=views["last"],
        source=views["source"],
    )


def decode_passages(data: Mapping[str, Any], /) -> PassagesResult:
    """Returns the result of a search."""
    return PassagesResult(
        id=data["resultId"],
        query=data["query"],
        graph=data["graph"],
        by=PassageRanking[data["by"]],
        k=data["k"],
        min_score=data["minScore"],
        items=tuple(_scored(row) for row in data["items"]),
        searched=data["searched"],
        fingerprint=data["fingerprint"],
        embedder=data["embedder"],
        version=data["version"],
        truncated=decode_cuts(data["truncated"]),
        timings_ms=decode_timings(data["timings"]),
    )


def _scored(data: Mapping[str, Any]) -> ScoredPassage:
    row = data["passage"]
    item = row["item"]
    return ScoredPassage(
        Passage(
            row["passageId"],
            row["title"],
            row["source"],
            row["text"],
            item["itemId"] if item else None,
        ),
        data["score"],
        data["wordScore"],
        data["vectorScore"],
        item["label"] if item else None,
    )


def decode_passage_set(data: Mapping[str, Any], /) -> ClientPassageSet:
    """Returns a set."""
    return ClientPassageSet(
        source=data["source"],
        published=data["published"],
        passages=data["passages"],
        words=data["words"],
        linked=data["linked"],
        fingerprint=data["fingerprint"],
        options=decode_named(data["options"]),
        report=decode_named(data["report"]),
        started_at=data["startedAt"],
        published_at=data["publishedAt"],
    )
