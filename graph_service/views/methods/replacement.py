"""Relation replacement: an edge gets another relation (O10, B3).

``argmin`` takes the relation least likely for the two ends, as OKGQA does. Few relations are the
least likely of most pairs (95 % of CoDEx-S's edges get one of two), so that a reader can tell
them; the report says so. ``plausible`` takes one that joins entities of the same types.
"""

from __future__ import annotations

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.view_delta import ViewDelta, empty_delta
from graph_service.model.view_spec import Replacement, Sampling
from graph_service.views.choosing import Candidates, first_able, take_turns
from graph_service.views.draw import Stream, below, smallest
from graph_service.views.drawing import Draw, MethodResult, repeats, replaced
from graph_service.views.notes import NO_SECOND_RELATION, shortfall
from graph_service.views.pairs import PairIndex, contains
from graph_service.views.prepared import PreparedBase
from graph_service.views.scorer.counting import CHUNK_CELLS


def draw_replacement(draw: Draw, /) -> MethodResult:
    """Returns the view in which the first edges in hash order have other relations.

    Raises:
        InputError: The base was prepared with another scorer than the one asked for.
    """
    spec, scorer = draw.spec, draw.prepared.scorer
    scope = draw.scope()
    if scorer.name != spec.scorer:
        raise InputError(
            f"the view asks for scorer {spec.scorer!r}, got {scorer.name!r}",
            argument="scorer",
            hint="Ask for 'counts', which needs no training, or train that scorer first.",
        )
    is_plausible = spec.replacement is Replacement.PLAUSIBLE
    delta = (_plausible if is_plausible else _replaced)(draw, scope)
    _note_the_commonest(draw, delta)
    return MethodResult(delta, len(scope), repeats(draw.graph, delta, draw.index))


def _note_the_commonest(draw: Draw, delta: ViewDelta) -> None:
    """Says so where one relation takes more than half of several changes."""
    changes = len(delta.replaced)
    if changes < 2:
        return
    counts = np.bincount(delta.replaced_rel)
    most = int(counts.argmax())
    if 2 * int(counts[most]) > changes:
        relation_id = draw.graph.relation_ids[most]
        draw.notes.append(commonest_note(relation_id, int(counts[most]), changes))


def commonest_note(relation_id: str, count: int, changes: int, /) -> str:
    """Returns the note that one relation takes more than half of the changes."""
    return f"relation {relation_id} takes {count} of {changes} changes, more than half of them"


def _plausible(draw: Draw, scope: Numbers) -> ViewDelta:
    graph, prepared = draw.graph, draw.prepared
    signatures = prepared.signatures

    def choose(edges: Numbers) -> Int32:
        head, rel, tail = graph.head[edges], graph.rel[edges], graph.tail[edges]
        to = signatures.kind_of[tail] * graph.relation_count

        def refused(rows: Int64, offered: Int32) -> Bool:
            joined = contains(signatures.with_tails, to[rows] + offered)
            is_stated = prepared.says(head[rows], offered, tail[rows])
            return np.asarray((offered == rel[rows]) | ~joined | is_stated)

        def packed(rows: Int64, offered: Int32) -> Int64:
            return draw.index.pack(head[rows], offered, tail[rows])

        candidates = Candidates(
            signatures.of_heads,
            signatures.kind_of[head],
            graph.statement_keys[edges],
            draw.stream,
        )
        return take_turns(candidates, refused=refused, packed=packed, deadline=draw.deadline)

    edges, relations = first_able(draw, scope, draw.target(len(scope)), choose)
    return replaced(graph, edges, rel=relations)


def _replaced(draw: Draw, scope: Numbers) -> ViewDelta:
    graph, stream, target = draw.graph, draw.stream, draw.target(len(scope))
    if len(draw.index.relations) < 2:
        if target:
            draw.notes.append(shortfall("edges", target, "can be changed", 0, NO_SECOND_RELATION))
        return empty_delta(graph)
    chosen: Int64
    if draw.spec.sampling is Sampling.OKGQA:
        counters = np.arange(target, dtype=np.int64)
        rows = below(stream.hashes(counters, purpose="draw"), len(scope))
        chosen = np.unique(np.argsort(graph.statement_keys[scope])[rows])
        if len(chosen) < target:
            draw.notes.append(
                "sampling okgqa draws with replacement; "
                + shortfall("edges", target, "changed", len(chosen))
            )
    else:
        hashes = stream.hashes(graph.statement_keys, at=scope, purpose="order")
        chosen = smallest(hashes, target)
    relations = new_relations(
        draw.prepared,
        scope,
        chosen,
        stream=stream,
        deadline=draw.deadline,
        nth=draw.spec.nth,
    )
    return replaced(graph, scope[chosen], rel=relations)


def new_relations(
    prepared: PreparedBase,
    scope: Numbers,
    chosen: Int64,
    /,
    *,
    stream: Stream,
    deadline: Deadline,
    nth: int = 1,
) -> Int32:
    """Returns the new relation of each chosen edge, int32.

    Candidates are the relations of entity-valued edges, less the edge's own and those that
    the base already has between the same ends in the same direction. Of several edges in scope
    with the same ends, the first in hash order takes the least likely, the second the next, and
    so on; with ``nth`` the first takes the n-th least likely, or the last there is. An edge without a free candidate repeats a triple, the least likely that is not itself.

    Args:
        prepared: The base, its scorer and which entities it joins; at least one relation differs
            from each edge's own.
        scope: Edges that could be chosen, ascending.
        chosen: Places in ``scope``, ascending.
        stream: The hash order.
        deadline: When to give up.
        nth: Which of the least likely is taken first, from 1.
    """
    graph, scorer, index = prepared.graph, prepared.scorer, prepared.index
    edges = scope[chosen]
    relations = np.zeros(len(edges), dtype=np.int32)
    alone = ~index.parallel[edges] & (nth == 1)
    own = graph.rel[edges]
    relations[alone] = prepared.least_likely(edges[alone], deadline=deadline)
    crowded = np.flatnonzero(~alone)
    rows = max(1, CHUNK_CELLS // max(1, len(index.relations)))
    turns = _turns(graph, scope, chosen[crowded], stream=stream, index=index)
    for start in range(0, len(crowded), rows):
        deadline.check("looking for the least likely relations")
        part = crowded[start : start + rows]
        head, tail = graph.head[edges[part]], graph.tail[edges[part]]
        scores = scorer.score_relations(head, tail, index.relations)
        width = len(index.relations)
        taken = contains(
            index.parallel_triples,
            index.pack(
                np.repeat(head, width),
                np.tile(index.relations, len(part)),
                np.repeat(tail, width),
            ),
        ).reshape(len(part), width)
        mine = index.relations[None, :] == own[part][:, None]
        free = np.argsort(np.where(taken | mine, np.inf, scores), axis=1, kind="stable")
        free_count = width - np.count_nonzero(taken | mine, axis=1)
        turn = turns[start : start + rows] + np.minimum(nth, np.maximum(free_count, 1)) - 1
        at = np.where(free_count > 0, turn % np.maximum(free_count, 1), 0)
        choice = free[np.arange(len(part)), at]
        forced = np.argmin(np.where(mine, np.inf, scores), axis=1)
        relations[part] = index.relations[np.where(free_count > 0, choice, forced)]
    return relations


def _turns(
    graph: KnowledgeGraph, scope: Numbers, chosen: Int64, /, *, stream: Stream, index: PairIndex
) -> Int64:
    """Returns for chosen edges of the scope how many of the same ends come before in hash order."""
    crowd = np.flatnonzero(index.parallel[scope])
    edges = scope[crowd]
    pairs = graph.head[edges].astype(np.int64) * graph.node_count + graph.tail[edges]
    hashes = stream.hashes(graph.statement_keys[edges], purpose="order")
    order = np.lexsort((hashes, pairs))
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = pairs[order[1:]] != pairs[order[:-1]]
    firsts = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    turns = np.zeros(len(scope), dtype=np.int64)
    turns[crowd[order]] = np.arange(len(order)) - firsts
    return turns[chosen]
