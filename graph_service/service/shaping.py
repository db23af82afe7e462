"""Picked edges to the items of a result: labels, details, the token budget, the result's id."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson

from graph_service.embed import Embedder
from graph_service.model.answer import AnswerKind, ReadConstraint
from graph_service.model.identity import digest
from graph_service.model.limits import Cut, CutReason
from graph_service.model.render import TextFormat, item_text
from graph_service.model.result import (
    MOST_BASIS,
    Answer,
    AnswerGroup,
    BasisStatement,
    Prizes,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Step,
    Strategy,
    Tokens,
)
from graph_service.model.serialise import to_plain
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import ChangeKind
from graph_service.retrieve.context import SelectedAnswer, SelectedGroup, Selection
from graph_service.service.triples import TripleRenderer, with_details

Items = tuple[ScoredTriple, ...] | tuple[ScoredPath, ...]
ResultT = TypeVar("ResultT", bound=RetrievalResult)


def make_items(selection: Selection, renderer: TripleRenderer, /) -> Items:
    """Returns what was selected as triples or paths with labels, in the same order."""
    edges = [selected.edge for selected in selection.triples]
    for path in selection.paths:
        edges.extend(path.edges)
    shown = dict(renderer.show(edges))
    for edge, ids in renderer.statement_ids(
        {edge: selection.stands_for[edge] for edge in edges if edge in selection.stands_for}
    ).items():
        triple = replace(shown[edge].triple, stands_for=ids)
        shown[edge] = replace(shown[edge], triple=triple)
    if selection.paths:
        return tuple(
            ScoredPath(
                tuple(
                    Step(shown[edge].triple, bool(flag), shown[edge].change)
                    for edge, flag in zip(path.edges, path.reversed, strict=True)
                ),
                path.score,
                renderer.entity_id(path.origin),
                path.parts,
                _met(selection.constraints, path.met),
            )
            for path in selection.paths
        )
    return tuple(
        ScoredTriple(
            shown[selected.edge].triple,
            selected.score,
            Prizes(selected.head_prize, selected.edge_prize, selected.tail_prize),
            shown[selected.edge].change,
            renderer.entity_id(selected.origin),
            _met(selection.constraints, selected.met),
        )
        for selected in selection.triples
    )


def _met(
    constraints: Sequence[ReadConstraint], indices: Container[int]
) -> tuple[ReadConstraint, ...]:
    return tuple(
        replace(constraint, met=index in indices) for index, constraint in enumerate(constraints)
    )


def make_answer(selected: SelectedAnswer, renderer: TripleRenderer, /) -> Answer:
    """Returns a selected answer with labels and the first statements that it rests on."""
    shown = renderer.show(selected.edges[:MOST_BASIS])
    groups = _make_groups(selected.groups, renderer)
    meant = [group.text for group in groups]
    if not groups:
        meant.extend(dict.fromkeys(map(renderer.node_label, selected.nodes)))
    return Answer(
        kind=selected.kind,
        value=selected.value or "; ".join(meant),
        entities=tuple(renderer.entities(renderer.known_entities(selected.nodes))),
        basis=tuple(
            BasisStatement(shown[edge].triple, shown[edge].change)
            for edge in selected.edges[:MOST_BASIS]
        ),
        statements=len(selected.edges),
        truncated=selected.truncated,
        measure=selected.measure,
        groups=groups,
    )


def _make_groups(
    selected: Sequence[SelectedGroup], renderer: TripleRenderer
) -> tuple[AnswerGroup, ...]:
    nodes = renderer.known_entities([group.node for group in selected])
    entities = dict(zip(nodes, renderer.entities(nodes), strict=True))
    return tuple(
        AnswerGroup(
            entities.get(group.node), renderer.node_label(group.node), group.value, group.unit
        )
        for group in selected
    )


@dataclass(frozen=True, slots=True)
class Fitted:
    """Items that fit a token budget, what that cut, and the size of their text."""

    items: Items
    cuts: tuple[Cut, ...]
    tokens: Tokens


def fit_budget(
    items: Items,
    /,
    *,
    strategy: Strategy,
    budget: int | None,
    embedder: Embedder,
    thing_of: Callable[[str], str] = str,
) -> Fitted:
    """Returns whole items, best first, as far as the budget goes; a subgraph stays connected.

    Args:
        items: Best first.
        strategy: Whose items they are.
        budget: Tokens at most; None for all.
        embedder: Counts the tokens.
        thing_of: Gives for an entity's id the one id of all that are one thing with it.
    """
    text_format = TextFormat.PATHS if strategy is Strategy.PATHS else TextFormat.TRIPLES
    sizes = [embedder.count_tokens(item_text(item, text_format=text_format)) for item in items]
    if budget is None or sum(sizes) <= budget:
        return Fitted(items, (), Tokens(sum(sizes), embedder.name))
    chosen = _first_that_fit(sizes, budget)
    if strategy is Strategy.SUBGRAPH:
        triples = [item for item in items if isinstance(item, ScoredTriple)]
        chosen = _connected_that_fit(triples, sizes, budget, thing_of)
    fitting: Any = tuple(items[index] for index in chosen)
    cut = Cut("items", CutReason.TOKEN_BUDGET, budget, len(chosen), len(items))
    size = sum(sizes[index] for index in chosen)
    return Fitted(fitting, (cut,), Tokens(size, embedder.name))


def _first_that_fit(sizes: Sequence[int], budget: int) -> list[int]:
    chosen: list[int] = []
    for index, size in enumerate(sizes):
        if size > budget:
            break
        chosen.append(index)
        budget -= size
    return chosen


def _connected_that_fit(
    triples: Sequence[ScoredTriple],
    sizes: Sequence[int],
    budget: int,
    thing_of: Callable[[str], str],
) -> list[int]:
    """Grows from the best triple, always by the best one that touches what is there."""
    rest = sorted(range(len(triples)), key=lambda index: (-triples[index].score, index))
    endpoints = [_endpoints(triple, thing_of) for triple in triples]
    chosen: list[int] = []
    nodes: set[str] = set()
    while rest:
        index = next(
            (candidate for candidate in rest if not nodes or nodes & endpoints[candidate]), None
        )
        if index is None or sizes[index] > budget:
            break
        rest.remove(index)
        chosen.append(index)
        nodes |= endpoints[index]
        budget -= sizes[index]
    return sorted(chosen)


def _endpoints(item: ScoredTriple, thing_of: Callable[[str], str]) -> set[str]:
    value = item.triple.value
    # A literal belongs to its statement: equal texts do not join two triples.
    tail = (
        thing_of(value.id) if isinstance(value, EntityValue) else "\x00" + item.triple.statement_id
    )
    return {thing_of(item.triple.head.id), tail}


def with_id(result: ResultT, /) -> ResultT:
    """Returns a result with its id: a hash of what was asked and what was found.

    Left out are the timings, the edition's number (the fingerprints say what was read, whenever
    it was loaded), the age of a result from memory, and qualifiers and references (asking for them
    changes nothing that was found).
    """
    plain = to_plain(result)
    # So that a result without any of these has the id that it had before there were some.
    is_listed = result.answer is not None and result.answer.kind is AnswerKind.ENTITIES
    if result.answer is None or (is_listed and not result.constraints):
        del plain["answer"]  # What is listed follows from the items.
    else:
        del plain["answer"]["groups"]  # ``value`` says them.
    if plain["confidence"] is None:
        del plain["confidence"]
    if plain["answer_set"] is None:
        del plain["answer_set"]
    if not plain["constraints"]:
        del plain["constraints"]
    for item in plain["items"]:
        if not item["constraints"]:
            del item["constraints"]
        for part in item.get("steps", (item,)):
            if not part["triple"]["stands_for"]:
                del part["triple"]["stands_for"]
    for triple in _plain_triples(plain):
        if triple["source"] is None:
            del triple["source"]
    for cut in plain["truncated"]:
        if cut["reason"] == CutReason.STORE_AWAY:
            del cut["limit"]
    if not plain["parts"]:
        del plain["parts"]
    for part in plain.get("parts", ()):
        del part["interpretation"]
    # It follows from what was asked and found, and its words may get better.
    del plain["interpretation"]
    del plain["timings_ms"]
    del plain["provenance"]["edition"]
    encoded = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode()
    return replace(result, id=digest((encoded,), person=b"result").hex())


def _plain_triples(plain: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the triples of a result as plain data, those that views changed too."""
    answer = plain.get("answer") or {"basis": ()}
    parts = [part for item in plain["items"] for part in item.get("steps", (item,))]
    for part in (*parts, *answer["basis"]):
        yield part["triple"]
        if part["change"]["base"] is not None:
            yield part["change"]["base"]


def base_ids(result: RetrievalResult, /) -> list[str]:
    """Returns the ids under which the base has the statements of a result's triples."""
    ids: dict[str, None] = {}
    parts: list[ScoredTriple | Step | BasisStatement] = []
    for item in result.items:
        parts.extend(item.steps if isinstance(item, ScoredPath) else (item,))
    answers = [result.answer, *(part.answer for part in result.parts)]
    parts.extend(row for answer in answers if answer is not None for row in answer.basis)
    for part in parts:
        if part.change.kind is ChangeKind.UNCHANGED:
            ids[part.triple.statement_id] = None
        elif part.change.base is not None:
            ids[part.change.base.statement_id] = None
    return list(ids)


def detailed(result: ResultT, statements: Mapping[str, Statement], /) -> ResultT:
    """Returns a result whose triples have the qualifiers and references of their statements."""

    def filled(item: Any) -> Any:
        if isinstance(item, ScoredPath):
            return replace(item, steps=tuple(filled(step) for step in item.steps))
        return replace(item, triple=with_details(item.triple, item.change, statements))

    items: Any = tuple(filled(item) for item in result.items)
    answer = result.answer
    if answer is not None:
        answer = replace(answer, basis=tuple(map(filled, answer.basis)))
    parts = tuple(
        part
        if part.answer is None
        else replace(part, answer=replace(part.answer, basis=tuple(map(filled, part.answer.basis))))
        for part in result.parts
    )
    return replace(result, items=items, answer=answer, parts=parts)


def statement_changes(result: RetrievalResult, /) -> dict[str, ChangeKind]:
    """Returns how each statement of a result differs from the base, in order of appearance."""
    changes: dict[str, ChangeKind] = {}
    for item in result.items:
        parts: Iterable[Step | ScoredTriple] = (
            item.steps if isinstance(item, ScoredPath) else (item,)
        )
        for part in parts:
            changes.setdefault(part.triple.statement_id, part.change.kind)
    return changes
