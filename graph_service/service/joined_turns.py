"""The questions of a text as one result: their items in turns, and each question as a part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph_service.model.limits import Cut
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    LinkedEntity,
    ResultPart,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    SubgraphResult,
)
from graph_service.service.turns import Turn
from graph_service.text.questions import Wording


def joined(turns: Sequence[Turn], request: RetrieveRequest, /) -> RetrievalResult:
    """Returns the questions of a text as one result, without an id.

    Its items are those of the questions in turns: the best of each, the second best of each, and
    so on; what two questions share is there twice, with the score that it has for each. Of one
    question it is that question's.
    """
    results = [_as_written(turn, request) for turn in turns]
    if len(results) == 1:
        return results[0]
    items: list[ScoredTriple | ScoredPath] = []
    of_part: list[list[int]] = [[] for _ in results]
    for rank in range(max(len(result.items) for result in results)):
        for result, own in zip(results, of_part, strict=True):
            if rank < len(result.items):
                own.append(len(items))
                items.append(result.items[rank])
    linked = {(each.entity.id, each.start): each for result in results for each in result.linked}
    statuses = {result.status for result in results}
    cuts: dict[Cut, None] = {cut: None for result in results for cut in result.truncated}
    fields: dict[str, Any] = {
        "id": "",
        "status": statuses.pop() if len(statuses) == 1 else Status.LOW_CONFIDENCE,
        "linked": tuple(linked.values()),
        "truncated": tuple(cuts),
        "timings_ms": _summed(result.timings_ms for result in results),
        "relevance": _least(result.relevance for result in results),
        "confidence": _least(result.confidence for result in results),
        "constraints": tuple(each for result in results for each in result.constraints),
        "answer": None,
        "interpretation": None,
        "items": tuple(items),
        "region": None,
        "parts": tuple(
            ResultPart(
                turn.wording.text.strip(),
                result.status,
                result.linked,
                tuple(own),
                result.relevance,
                result.confidence,
                result.constraints,
                result.answer,
                result.interpretation,
            )
            for turn, result, own in zip(turns, results, of_part, strict=True)
        ),
    }
    if isinstance(results[0], SubgraphResult):
        fields |= {"objective": None, "gap": None}
    return replace(results[0], **fields)


def _as_written(turn: Turn, request: RetrieveRequest) -> RetrievalResult:
    """Returns a turn's result of the request's question, with its mentions where they stand there."""
    result = turn.result
    parameters = dict(result.provenance.parameters)
    if request.earlier:
        parameters["earlier"] = list(request.earlier)
    return replace(
        result,
        id="",
        question=request.question,
        linked=tuple(_mention(each, turn.wording, request.question) for each in result.linked),
        provenance=replace(result.provenance, parameters=parameters),
    )


def _mention(linked: LinkedEntity, wording: Wording, text: str) -> LinkedEntity:
    if linked.start < 0:
        return linked
    start, end = wording.written(linked.start, linked.end)
    if start < 0:
        return replace(linked, mention="", start=-1, end=-1)
    return replace(linked, mention=text[start:end], start=start, end=end)


def _summed(timings: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for each in timings:
        for stage, milliseconds in each.items():
            total[stage] = total.get(stage, 0.0) + milliseconds
    return total


def _least(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known, default=None)
