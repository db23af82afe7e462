"""Edge rewiring: an edge gets a tail outside its head's 1-hop neighbourhood (O10)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph
from graph_service.model.identity import Uint64
from graph_service.model.limits import Deadline
from graph_service.views.draw import Stream, below
from graph_service.views.pairs import PairIndex, contains

DRAWS = 16
"""Tails drawn at random for an edge before all that are possible are listed for it."""


def rewirable(graph: KnowledgeGraph, scope: Int32, /, *, index: PairIndex) -> Bool:
    """Returns for each edge in scope whether any entity lies outside its head's neighbourhood."""
    fine = np.ones(len(scope), dtype=np.bool_)
    # A head joined to all others has at least that many edges: few come near it.
    close = graph.degrees() >= len(index.linked) - 1
    if close.any():
        heads = graph.head[scope]
        for head in np.unique(heads[close[heads]]).tolist():
            if not len(outside(graph, head, index=index)):
                fine[heads == head] = False
    return fine


def outside(graph: KnowledgeGraph, head: int, /, *, index: PairIndex) -> Int32:
    """Returns the linked entities that no edge joins to an entity, itself excluded, ascending."""
    out, into = graph.out_edges, graph.in_edges
    near = np.concatenate(
        [
            graph.tail[out.edges[out.indptr[head] : out.indptr[head + 1]]],
            graph.head[into.edges[into.indptr[head] : into.indptr[head + 1]]],
            np.array([head], dtype=np.int32),
        ]
    )
    return np.setdiff1d(index.linked, near)


def new_tails(
    graph: KnowledgeGraph,
    edges: Int32,
    /,
    *,
    stream: Stream,
    index: PairIndex,
    deadline: Deadline,
) -> tuple[Int32, int]:
    """Returns a new tail for each edge, int32, and how many repeat the triple of another.

    Each edge has its own sequence of tails. As if the edges came one by one in hash order, each
    takes the first of its sequence that makes no triple which an earlier edge made; so an edge's
    tail is the same at every level. Only where all are taken does it repeat one.

    Args:
        graph: The base.
        edges: Edges to rewire, each ``rewirable``; with an edge, all before it in hash order.
        stream: Where tails come from.
        index: The base's ``PairIndex``.
        deadline: When to give up.
    """
    keys = graph.statement_keys[edges]
    head = graph.head[edges]
    attempts = np.zeros(len(edges), dtype=np.int32)
    tails = _draw(index, keys, stream, 0)
    settled = np.zeros(len(edges), dtype=np.bool_)
    walks: dict[int, Int32] = {}
    refused = np.flatnonzero((tails == head) | index.joined(head, tails))
    order: Uint64 | None = None
    packed = ascending = np.zeros(0, dtype=np.int64)
    while True:
        moved = refused
        deadline.check("choosing new tails")
        while len(refused):
            attempts[refused] += 1
            for attempt in np.unique(attempts[refused]).tolist():
                group = refused[attempts[refused] == attempt]
                if attempt < DRAWS:
                    tails[group] = _draw(index, keys[group], stream, attempt)
                else:
                    for place in group.tolist():
                        steps = walks.get(place)
                        if steps is None:
                            steps = walks[place] = _walk(
                                graph, int(head[place]), keys[place : place + 1], stream, index
                            )
                        step = attempt - DRAWS
                        settled[place] = step >= len(steps)
                        tails[place] = steps[step % len(steps)]
            open_ = refused[attempts[refused] < DRAWS]
            refused = open_[(tails[open_] == head[open_]) | index.joined(head[open_], tails[open_])]
        # Deferred acceptance: of edges that make one triple the first in hash order keeps it and
        # the others go on. As all triples prefer edges alike, this ends where taking turns would.
        if len(packed):
            packed[moved] = index.pack(head[moved], graph.rel[edges[moved]], tails[moved])
            new = np.sort(packed[moved])
            # What they left stays with the first: all triples there are, sorted as before.
            if not (settled.any() or (new[1:] == new[:-1]).any() or contains(ascending, new).any()):
                return tails, 0
        else:
            packed = index.pack(head, graph.rel[edges], tails)
        ascending = np.sort(packed)
        repeated = ascending[1:][ascending[1:] == ascending[:-1]]
        if not len(repeated):
            break
        members = np.flatnonzero(contains(repeated, packed) & ~settled)
        order = stream.hashes(keys, purpose="order") if order is None else order
        members = members[np.lexsort((order[members], packed[members]))]
        refused = members[1:][packed[members[1:]] == packed[members[:-1]]]
        if not len(refused):
            break
    return tails, len(repeated)


def _draw(index: PairIndex, keys: Int64, stream: Stream, attempt: int) -> Int32:
    hashes = stream.hashes(keys, purpose="tail", attempt=attempt)
    drawn: Int32 = index.linked[below(hashes, len(index.linked))]
    return drawn


def _walk(graph: KnowledgeGraph, head: int, key: Int64, stream: Stream, index: PairIndex) -> Int32:
    """All tails possible for an edge, from a drawn one on, round to the start."""
    possible = outside(graph, head, index=index)
    start = int(below(stream.hashes(key, purpose="walk"), len(possible))[0])
    return np.roll(possible, -start)
