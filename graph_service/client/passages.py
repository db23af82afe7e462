"""The calls for passages and page views: what is sent, and how the answer is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_service.client import documents
from graph_service.client.calls import Call
from graph_service.client.decode import decode
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import (
    ClientPassageSet,
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
    return Call(documents.PASSAGES, variables, lambda data: _read_passages(data["result"]))


def passage_sets(*, graph: str | None = None) -> Call[tuple[ClientPassageSet, ...]]:
    """Returns what was loaded as passages of a graph."""
    return Call(
        documents.PASSAGE_SETS,
        {"graph": graph},
        lambda data: tuple(decode(ClientPassageSet, row) for row in data["sets"]),
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
            id_: decode(PageViews, item["pageViews"], entity=item["itemId"])
            for id_, item in zip(ids, data["items"], strict=True)
            if item is not None and item["pageViews"] is not None
        }

    return Call(documents.PAGE_VIEWS, {"ids": list(ids), "graph": graph}, read)


def _read_passages(data: Mapping[str, Any]) -> PassagesResult:
    items = tuple(
        decode(ScoredPassage, row, entity_label=(row["passage"]["item"] or {}).get("label"))
        for row in data["items"]
    )
    return decode(PassagesResult, data, items=items)
