"""Figures of a region that OKGQA reports (row O3)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Int64
from graph_service.model.limits import Deadline
from graph_service.model.region import Region
from graph_service.model.result import RegionStats
from graph_service.sorting import TABLE, distinct, stable_order

MAX_WEDGES = 1 << 20
"""Pairs of edges looked at in one go."""


def region_stats(
    region: Region, /, *, max_wedges: int | None = None, deadline: Deadline | None = None
) -> RegionStats:
    """Returns nodes, edges, mean degree, clustering and density of a region.

    Args:
        region: The region.
        max_wedges: Clustering is None where counting triangles would compare more pairs of
            edges; None for no bound.
        deadline: Raises ``DeadlineError`` when past.
    """
    n, m = region.node_count, region.edge_count
    return RegionStats(
        nodes=n,
        edges=m,
        mean_degree=2.0 * m / n if n else 0.0,
        clustering=_clustering(region, max_wedges, deadline or Deadline.none()),
        density=m / (n * (n - 1)) if n > 1 else 0.0,
    )


def _clustering(region: Region, max_wedges: int | None, deadline: Deadline) -> float | None:
    n = region.node_count
    if not n:
        return None
    low = np.minimum(region.head, region.tail).astype(np.int64)
    high = np.maximum(region.head, region.tail).astype(np.int64)
    codes = distinct((low * n + high).take(np.flatnonzero(low != high)))
    if not len(codes):
        return 0.0
    low = codes // n
    high = codes - low * n
    degree = np.bincount(low, minlength=n) + np.bincount(high, minlength=n)
    # Each edge points to its end of higher degree, so that no node has many edges out.
    rank = np.empty(n, dtype=np.int64)
    rank[stable_order(degree)] = np.arange(n)
    first, second = np.minimum(rank[low], rank[high]), np.maximum(rank[low], rank[high])
    order = stable_order(second)
    order = order[stable_order(first[order])]
    first, second = first[order], second[order]
    out = np.bincount(first, minlength=n)
    wedges = int((out * (out - 1) // 2).sum())
    if max_wedges is not None and wedges > max_wedges:
        return None
    triangles = _triangles(first, second, out, n, deadline)
    by_rank = np.empty(n, dtype=np.int64)
    by_rank[rank] = degree
    pairs = by_rank * (by_rank - 1)
    return float(np.divide(2.0 * triangles, pairs, out=np.zeros(n), where=pairs > 0).mean())


def _triangles(first: Int64, second: Int64, out: Int64, n: int, deadline: Deadline) -> Int64:
    """Returns the triangles at each node; edges sorted, each from lower to higher number."""
    begin = np.cumsum(out) - out
    # Each edge with those before it in the same node's list.
    position = np.arange(len(first)) - begin[first]
    sums = np.cumsum(position)
    codes = first * n + second
    met = np.zeros(TABLE, dtype=bool)
    met[codes & (TABLE - 1)] = True
    counts: Int64 = np.zeros(n, dtype=np.int64)
    start = 0
    while start < len(first):
        deadline.check("counting triangles")
        done = int(sums[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(sums, done + MAX_WEDGES, side="right")))
        before = position[start:stop]
        left = np.repeat(np.arange(start, stop), before)
        offset = np.cumsum(before) - before
        right = begin[first[left]] + np.arange(len(left)) - offset[left - start]
        # ``right`` comes before ``left`` in the same node's list, so second[right] < second[left].
        closing = second[right] * n + second[left]
        # Most are no edge: a table of the edges' last bits says so faster than a search.
        may_be = np.flatnonzero(met[closing & (TABLE - 1)])
        rows = np.searchsorted(codes, closing[may_be])
        rows[rows == len(codes)] = 0
        closed = may_be[codes[rows] == closing[may_be]]
        left, right = left[closed], right[closed]
        for corner in (first[left], second[left], second[right]):
            counts += np.bincount(corner, minlength=n)
        start = stop
    return counts
