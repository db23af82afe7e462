"""Clustering coefficients of the entities of a graph, mean over its relations (SC2D of O11)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graph_service.model.graph import Float64, Int32, Int64
from graph_service.model.limits import Deadline
from graph_service.sorting import ranked, stable_order
from graph_service.views.pairs import contains

MAX_WEDGES = 1 << 22
"""Pairs of neighbours looked at in one go."""
MAX_EDGES = 1 << 22
"""Edges of several relations looked at together; those of one are, however many."""

_COUNTING = "counting triangles"


def mean_clustering(
    head: Int32,
    rel: Int32,
    tail: Int32,
    node_count: int,
    /,
    *,
    deadline: Deadline | None = None,
) -> Float64:
    """Returns each node's clustering coefficient among one relation's edges, mean over relations.

    Every relation's copy of a node is a node of its own here, so one pass counts the triangles
    of many relations. Edges that can't be in a triangle are left out first. An edge goes from its
    end of fewer edges to that of more, and every triangle is counted once, at the node that two
    of its edges leave: hubs cost nothing.

    Returns:
        float64 [N].
    """
    deadline = deadline or Deadline.none()
    deadline.check(_COUNTING)
    total = np.zeros(node_count, dtype=np.float64)
    for edges in _batches(rel):
        nodes, coefficients = _clustering(
            head[edges], rel[edges], tail[edges], node_count, deadline
        )
        # One after the other, so that where batches end does not change a sum's last bits.
        np.add.at(total, nodes, coefficients)
    total /= max(1, count_relations(rel))
    return total


def count_relations(rel: Int32, /) -> int:
    """Returns how many relations some edges have."""
    return int(np.count_nonzero(np.bincount(rel))) if len(rel) else 0


def _batches(rel: Int32) -> Iterator[slice | Int64]:
    """Yields the edges of relations, of as many relations together as fit into the caches."""
    if len(rel) <= MAX_EDGES:
        yield slice(None)
        return
    order = stable_order(rel)
    lasts = np.append(np.flatnonzero(np.diff(rel[order])) + 1, len(rel))
    begin = 0
    while begin < len(rel):
        within = int(np.searchsorted(lasts, begin + MAX_EDGES, side="right"))
        after = int(np.searchsorted(lasts, begin, side="right"))
        end = int(lasts[max(within - 1, after)])
        yield order[begin:end]
        begin = end


def _clustering(
    head: Int32, rel: Int32, tail: Int32, node_count: int, deadline: Deadline
) -> tuple[Int64, Float64]:
    """Returns each copy of a node that is in a triangle, as the node, and its coefficient."""
    straight = head != tail
    if not straight.all():
        head, rel, tail = head[straight], rel[straight], tail[straight]
    offset = rel.astype(np.int64) * node_count
    copies, inverse = ranked(np.concatenate([offset + head, offset + tail]))
    del offset
    # Fewer than 2**31 copies: two of their indices fit one number.
    heads, tails = np.split(inverse.astype(np.int32), 2)
    del inverse
    size = len(copies)
    edges = _possible(heads, tails, size)
    one, other = _simple_edges(heads[edges], tails[edges])
    triangles = _triangles(one, other, size, deadline)
    corners = np.flatnonzero(triangles)
    degree = _neighbours(heads, tails, corners, size).astype(np.float64)
    return copies[corners] % node_count, 2.0 * triangles[corners] / (degree * (degree - 1))


def _possible(heads: Int32, tails: Int32, size: int) -> Int64:
    """Returns the edges that can be in a triangle, ascending.

    Of three edges that close a triangle some two meet at a node that one of them leaves and the
    other enters: were each node left alone or entered alone, the triangle would have two sides. So
    both ends of its edges are such a node or have one as a neighbour. Of most relations few nodes
    are head and tail. Both ends also have another edge. What is left is looked at again, while that
    helps.

    Args:
        heads: Indices of copies of nodes.
        tails: Likewise; no edge is a loop.
        size: How many copies there are.
    """
    edges = np.arange(len(heads))
    while len(edges):
        one, other = heads[edges], tails[edges]
        is_left, is_entered = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
        is_left[one] = True
        is_entered[other] = True
        is_both = is_left & is_entered
        is_near = is_both.copy()
        is_near[one[is_both[other]]] = True
        is_near[other[is_both[one]]] = True
        is_near &= np.bincount(one, minlength=size) + np.bincount(other, minlength=size) > 1
        inside = is_near[one] & is_near[other]
        count = int(np.count_nonzero(inside))
        if count > 0.95 * len(edges):
            break
        edges = edges[inside]
    return edges


def _simple_edges(heads: Int32, tails: Int32) -> tuple[Int32, Int32]:
    """Returns the edges without direction and repeats: the smaller end and the greater, ascending."""
    packed = _distinct(np.minimum(heads, tails), np.maximum(heads, tails))
    return (packed >> 31).astype(np.int32), (packed & (2**31 - 1)).astype(np.int32)


def _neighbours(heads: Int32, tails: Int32, nodes: Int64, size: int) -> Int64:
    """Returns how many neighbours some nodes have, int64."""
    is_counted = np.zeros(size, dtype=np.bool_)
    is_counted[nodes] = True
    out, into = is_counted[heads], is_counted[tails]
    packed = _distinct(
        np.concatenate([heads[out], tails[into]]), np.concatenate([tails[out], heads[into]])
    )
    return np.bincount(packed >> 31, minlength=size)[nodes]


def _distinct(first: Int32, second: Int32) -> Int64:
    """Returns the distinct pairs, ascending, as ``first << 31 | second``."""
    packed = np.sort(first.astype(np.int64) << 31 | second)
    is_new = np.ones(len(packed), dtype=np.bool_)
    is_new[1:] = packed[1:] != packed[:-1]
    return packed[is_new]


def _triangles(one: Int32, other: Int32, size: int, deadline: Deadline) -> Int64:
    """Returns how many triangles each node is in, int64; edges are simple and ascending."""
    degree = np.bincount(one, minlength=size) + np.bincount(other, minlength=size)
    triangles = np.zeros(size, dtype=np.int64)
    edges = one.astype(np.int64) << 31 | other
    up = (degree[one] < degree[other]) | ((degree[one] == degree[other]) & (one < other))
    start, end = np.where(up, one, other), np.where(up, other, one)
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    leaving = np.bincount(start, minlength=size)
    last = np.cumsum(leaving)
    # Each edge with those after it that leave the same node.
    partners = last[start] - np.arange(len(start)) - 1
    sums = np.cumsum(partners)
    begin = 0
    while begin < len(start):
        deadline.check(_COUNTING)
        done = int(sums[begin - 1]) if begin else 0
        stop = max(begin + 1, int(np.searchsorted(sums, done + MAX_WEDGES, side="right")))
        counts = partners[begin:stop]
        first = np.repeat(np.arange(begin, stop), counts)
        offsets = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        second = first + offsets + 1
        b, c = end[first], end[second]
        closing = np.minimum(b, c).astype(np.int64) << 31 | np.maximum(b, c)
        closed = contains(edges, closing)
        for corner in (start[first[closed]], b[closed], c[closed]):
            triangles += np.bincount(corner, minlength=size)
        begin = stop
    return triangles
