"""Edge rewiring: an edge gets a tail outside its head's 1-hop neighbourhood (O10)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, Numbers
from graph_service.model.hashing import Uint64
from graph_service.model.limits import Deadline
from graph_service.model.view_delta import empty_delta
from graph_service.views.draw import Stream, below
from graph_service.views.drawing import Draw, MethodResult, replaced
from graph_service.views.notes import shortfall
from graph_service.views.pairs import PairIndex, contains

DRAWS = 16
"""Tails drawn at random for an edge before all that are possible are listed for it."""


def draw_rewiring(draw: Draw, /) -> MethodResult:
    """Returns the view in which the first edges in hash order have new tails."""
    graph, index, deadline = draw.graph, draw.index, draw.deadline
    scope = draw.scope()
    target = draw.target(len(scope))
    outside = Outside(graph, index, deadline)
    able = scope[rewirable(graph, scope, index=index, outside=outside)]
    if target > len(able):
        draw.notes.append(
            shortfall(
                "edges",
                target,
                "can be rewired",
                len(able),
                "the heads of the others are joined to every entity",
            )
        )
    edges = draw.first(able, min(target, len(able)))
    if not len(edges):
        return MethodResult(empty_delta(graph), len(scope))
    tails, again = new_tails(
        graph, edges, stream=draw.stream, index=index, outside=outside, deadline=deadline
    )
    return MethodResult(replaced(graph, edges, tail=tails), len(scope), again)


class Outside:
    """The entities that a head's edges can be rewired to, found once a head.

    Args:
        graph: The base.
        index: Its ``PairIndex``.
        deadline: When to give up; looked at before each head.
    """

    def __init__(self, graph: KnowledgeGraph, index: PairIndex, deadline: Deadline) -> None:
        self._graph = graph
        self._index = index
        self._deadline = deadline
        self._known: dict[int, Int32] = {}

    def of(self, head: int, /) -> Int32:
        """Returns the linked entities that no edge joins to a head, itself excluded, ascending."""
        known = self._known.get(head)
        if known is None:
            self._deadline.check("looking for tails outside a neighbourhood")
            graph, linked = self._graph, self._index.linked
            free = np.ones(graph.node_count, dtype=np.bool_)
            free[graph.tail[graph.out_edges.of(head)]] = False
            free[graph.head[graph.in_edges.of(head)]] = False
            free[head] = False
            known = self._known[head] = linked[free[linked]]
        return known


def rewirable(
    graph: KnowledgeGraph, scope: Numbers, /, *, index: PairIndex, outside: Outside
) -> Bool:
    """Returns for each edge in scope whether any entity lies outside its head's neighbourhood."""
    # A head joined to all others has at least that many edges: few come near it.
    heads = graph.head[scope]
    distinct = np.unique(heads)
    close = distinct[graph.degrees_of(distinct) >= len(index.linked) - 1].tolist()
    return ~np.isin(heads, [head for head in close if not len(outside.of(head))])


def new_tails(
    graph: KnowledgeGraph,
    edges: Numbers,
    /,
    *,
    stream: Stream,
    index: PairIndex,
    outside: Outside,
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
        outside: What can be a head's tail.
        deadline: When to give up.
    """
    keys = graph.statement_keys[edges]
    head = graph.head[edges]
    attempts = np.zeros(len(edges), dtype=np.int32)
    tails = _draw(index, keys, stream, 0)
    settled = np.zeros(len(edges), dtype=np.bool_)
    walks = _Walks(head, keys, stream, outside)
    refused = np.flatnonzero((tails == head) | index.joined(head, tails))
    order: Uint64 | None = None
    packed = ascending = np.zeros(0, dtype=np.int64)
    while True:
        moved = refused
        while len(refused):
            deadline.check("choosing new tails")
            attempts[refused] += 1
            is_draw = attempts[refused] < DRAWS
            for attempt in np.unique(attempts[refused[is_draw]]).tolist():
                group = refused[attempts[refused] == attempt]
                tails[group] = _draw(index, keys[group], stream, attempt)
            walked = refused[~is_draw]
            tails[walked], settled[walked] = walks.at(walked, attempts[walked] - DRAWS)
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
    tails: Int32 = index.linked[below(hashes, len(index.linked))]
    return tails


class _Walks:
    """All tails possible for an edge, from a drawn one on, round to the start.

    Args:
        head: Head of each edge, int32 [n].
        keys: Key of each, int64 [n].
        stream: Where a walk's start comes from.
        outside: The tails.
    """

    def __init__(self, head: Int32, keys: Int64, stream: Stream, outside: Outside) -> None:
        self._head = head
        self._keys = keys
        self._stream = stream
        self._outside = outside
        self._begins = np.full(len(head), -1, dtype=np.int64)

    def at(self, rows: Int64, steps: Int32) -> tuple[Int32, Bool]:
        """Returns the tails of some edges at a step of their walks, and whose walk is over."""
        heads, group = np.unique(self._head[rows], return_inverse=True)
        possible = [self._outside.of(head) for head in heads.tolist()]
        counts = np.array([len(tails) for tails in possible], dtype=np.int64)[group]
        new = np.flatnonzero(self._begins[rows] < 0)
        hashes = self._stream.hashes(self._keys, at=rows[new], purpose="walk")
        self._begins[rows[new]] = below(hashes, counts[new])
        tails = np.empty(len(rows), dtype=np.int32)
        at = (self._begins[rows] + steps) % counts
        order = np.argsort(group, kind="stable")
        stops = np.cumsum(np.bincount(group, minlength=len(heads))).tolist()
        for choice, begin, end in zip(possible, [0, *stops], stops, strict=False):
            part = order[begin:end]
            tails[part] = choice[at[part]]
        return tails, steps >= counts
