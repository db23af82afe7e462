"""Staleness: the graph as it was before its last updates (B3).

KEPo (Chen et al. 2026, arXiv 2603.11501) forges what a graph came to say last, because a reader takes
the newest statement for the true one. Here that newest statement is gone: what is left was once
true. Deprecated statements, which the graph has put right since, return.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.graph import RANK_CODES, Numbers
from graph_service.model.statement import Rank
from graph_service.views.drawing import Draw, MethodResult, replaced
from graph_service.views.times import UNTIMED


def draw_stale(draw: Draw, /) -> MethodResult:
    """Returns the view that lacks the newest of some values, and has deprecated ones again.

    The level is a share of what can go stale: the newest statement of each entity and relation,
    where there is one, and every deprecated statement.
    """
    graph = draw.graph
    in_scope = draw.scope(of_any_kind=True)
    members = _siblings(draw, in_scope)
    candidates = [newest_of(group) for group in _groups(draw, members)]
    newest = np.array([edge for edge in candidates if edge is not None], dtype=graph.edge_type)
    newest = np.intersect1d(newest, in_scope)
    deprecated = members[graph.rank[members] == RANK_CODES[Rank.DEPRECATED]]
    if draw.spec.scope.statement_ids:
        deprecated = np.intersect1d(deprecated, in_scope)
    units = np.union1d(newest, deprecated)
    if len(in_scope) and not len(units):
        draw.notes.append(
            "nothing in scope can go stale: no statement is deprecated, or newer than another by "
            "its rank or its qualifiers of time"
        )
    taken = draw.first(units, draw.target(len(units)))
    returned = np.intersect1d(taken, deprecated)
    delta = replace(
        replaced(graph, returned),
        removed=np.intersect1d(taken, newest),
        replaced_rank=np.full(len(returned), RANK_CODES[Rank.NORMAL], dtype=np.uint8),
    )
    return MethodResult(delta, len(units))


def newest_of(group: Sequence[tuple[int, int, int]], /) -> int | None:
    """Returns the newest of some statements; None where there is none that another is older than.

    It is the only one of the best rank; else, of those of that rank whose time is known, the one
    that began last.

    Args:
        group: Rank code, begin and edge of each; not deprecated.

    >>> preferred, normal = 0, 1
    >>> newest_of([(normal, 1990_00_00, 4), (normal, 2001_00_00, 7), (normal, UNTIMED, 9)])
    7
    >>> newest_of([(preferred, UNTIMED, 4), (normal, 1990_00_00, 7), (normal, 1980_00_00, 9)])
    4
    >>> newest_of([(normal, UNTIMED, 4), (normal, 1990_00_00, 7)]) is None
    True
    """
    best = min(rank for rank, _, _ in group)
    ahead = [(begin, edge) for rank, begin, edge in group if rank == best]
    if len(ahead) == 1 and len(group) > 1:
        return ahead[0][1]
    timed = sorted(pair for pair in ahead if pair[0] != UNTIMED)
    if len(timed) < 2 or timed[-1][0] == timed[-2][0]:
        return None
    return timed[-1][1]


def _siblings(draw: Draw, edges: Numbers) -> Numbers:
    """All statements of the entities and relations of some edges, by both."""
    graph = draw.graph
    members = graph.out_edges.edges_of(np.unique(graph.head[edges]))
    keys = _pairs(draw, members)
    selected = np.isin(keys, np.unique(_pairs(draw, edges)))
    members, keys = members[selected], keys[selected]
    return members[np.lexsort((members, keys))]


def _pairs(draw: Draw, edges: Numbers) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    graph = draw.graph
    return graph.head[edges].astype(np.int64) * graph.relation_count + graph.rel[edges]


def _groups(draw: Draw, members: Numbers) -> Iterator[list[tuple[int, int, int]]]:
    """Yields the statements of each entity and relation that has several that hold."""
    graph = draw.graph
    members = members[graph.rank[members] != RANK_CODES[Rank.DEPRECATED]]
    firsts = np.flatnonzero(np.diff(_pairs(draw, members), prepend=-1))
    sizes = np.diff(np.append(firsts, len(members)))
    several = np.repeat(sizes, sizes) > 1
    # Of a statement that stands alone the time need not be read.
    begins = np.full(len(members), UNTIMED, dtype=np.int64)
    begins[several] = draw.prepared.begins(members[several], deadline=draw.deadline)
    ranks = graph.rank[members].tolist()
    for start, size in zip(firsts.tolist(), sizes.tolist(), strict=True):
        if size > 1:
            rows = slice(start, start + size)
            yield list(zip(ranks[rows], begins[rows].tolist(), members[rows].tolist(), strict=True))
