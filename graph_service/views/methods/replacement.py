"""Relation replacement: an edge gets the relation least likely for its two ends (O10)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Int32, Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.views.draw import Stream
from graph_service.views.pairs import PairIndex, contains
from graph_service.views.prepared import PreparedBase
from graph_service.views.scorer.counting import CHUNK_CELLS


def new_relations(
    prepared: PreparedBase,
    scope: Int32,
    chosen: Int64,
    /,
    *,
    stream: Stream,
    deadline: Deadline,
) -> Int32:
    """Returns the new relation of each chosen edge, int32.

    Candidates are the relations of entity-valued edges, less the edge's own and those that
    the base already has between the same ends in the same direction. Of several edges in scope
    with the same ends, the first in hash order takes the least likely, the second the next, and
    so on. An edge without a free candidate repeats a triple, the least likely that is not itself.

    Args:
        prepared: The base, its scorer and which entities it joins; at least one relation differs
            from each edge's own.
        scope: Edges that could be chosen, ascending.
        chosen: Places in ``scope``, ascending.
        stream: The hash order.
        deadline: When to give up.
    """
    graph, scorer, index = prepared.graph, prepared.scorer, prepared.index
    edges = scope[chosen]
    found = np.zeros(len(edges), dtype=np.int32)
    alone = ~index.parallel[edges]
    own = graph.rel[edges]
    found[alone] = prepared.least_likely(edges[alone], deadline=deadline)
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
        turn = turns[start : start + rows]
        at = np.where(free_count > 0, turn % np.maximum(free_count, 1), 0)
        choice = free[np.arange(len(part)), at]
        forced = np.argmin(np.where(mine, np.inf, scores), axis=1)
        found[part] = index.relations[np.where(free_count > 0, choice, forced)]
    return found


def _turns(
    graph: KnowledgeGraph, scope: Int32, places: Int64, /, *, stream: Stream, index: PairIndex
) -> Int64:
    """For some places of the scope, how many edges of the same ends come before in hash order."""
    crowd = np.flatnonzero(index.parallel[scope])
    edges = scope[crowd]
    ends = graph.head[edges].astype(np.int64) * graph.node_count + graph.tail[edges]
    hashes = stream.hashes(graph.statement_keys[edges], purpose="order")
    order = np.lexsort((hashes, ends))
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = ends[order[1:]] != ends[order[:-1]]
    starts = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    turns = np.zeros(len(order), dtype=np.int64)
    turns[order] = np.arange(len(order)) - starts
    found: Int64 = turns[np.searchsorted(crowd, places)]
    return found
