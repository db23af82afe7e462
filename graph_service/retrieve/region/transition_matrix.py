"""A transition matrix made ready for PageRank: arcs sorted by where they end, once for all walks.

Two facts keep a walk small. A node that nothing leads to has the mass of its restarts alone, and
one that leads nowhere passes nothing on, so a walk along edges repeats only over the nodes
between. A walk both ways is a reversible chain: its matrix is symmetric in the right scale, which
lets conjugate gradients do in some 18 steps what the walk itself does in 85, and since no edge
joins two nodes that nothing leads to (or two that lead nowhere), those are solved for exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Float64, Int32, Int64
from graph_service.sorting import stable_order


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Sums of a vector over some arcs for each row that has any.

    Attributes:
        source: Place that each arc takes from, int64 [a]; arcs of one row stand together.
        offsets: Where each row's arcs begin, int64 [r].
        rows: Which rows those are, int64 [r]; None: all of them, in order.
        count: Rows there are.
    """

    source: Int64
    offsets: Int64
    rows: Int64 | None
    count: int

    def sums(self, values: Float64, /) -> Float64:
        """Returns for each row the sum of the values its arcs take, float64 [count]."""
        if not len(self.offsets):
            return np.zeros(self.count)
        total: Float64 = np.add.reduceat(values.take(self.source), self.offsets)
        if self.rows is None:
            return total
        spread = np.zeros(self.count)
        spread[self.rows] = total
        return spread


@dataclass(frozen=True, slots=True, eq=False)
class AlongWalk:
    """A walk from head to tail. Nodes are numbered anew: middle, sources, sinks.

    Attributes:
        node_count: n.
        middle: Nodes that edges lead to and from; places below it.
        sources: Positions below it, from ``middle`` on: nodes that no edge leads to.
        position: Place of each node, int64 [n]; from ``sources`` on, nodes that no edge leaves.
        share: What a node passes on along each of its edges, of one unit: float64 [sources].
        inner: Middle from middle; takes places.
        outer: Middle and sinks (sinks moved down to ``middle``) from sources: takes places less
            ``middle``.
        last: Sinks from middle.
    """

    node_count: int
    middle: int
    sources: int
    position: Int64
    share: Float64
    inner: Rows
    outer: Rows
    last: Rows


@dataclass(frozen=True, slots=True, eq=False)
class BothWalk:
    """A walk both ways. Nodes are numbered anew: iterated, then eliminated, then alone.

    The chain's matrix is ``diag(scale) A diag(scale)`` in coordinates ``mass / root``, where A
    counts edges between nodes.

    Attributes:
        node_count: n.
        iterated: Positions below it are iterated over.
        linked: Positions below it have edges; from ``iterated`` on no two of them are joined.
        position: Place of each node, int64 [n].
        root: float64 [linked].
        scale: float64 [linked].
        to_iterated: The iterated from all that are linked.
        to_rest: The eliminated from those iterated.
    """

    node_count: int
    iterated: int
    linked: int
    position: Int64
    root: Float64
    scale: Float64
    to_iterated: Rows
    to_rest: Rows


def prepare_walk(
    head: Int32,
    tail: Int32,
    /,
    *,
    node_count: int,
    walk: str = "along",
    degrees: Int64 | None = None,
    hub_damping: float = 0.0,
) -> AlongWalk | BothWalk:
    """Returns a walk over some edges, ready for PageRank from any start entities.

    Sums run in one order whatever the order of the edges.

    Args:
        head: Where each edge begins, int32 [m].
        tail: Where it ends, int32 [m].
        node_count: n.
        walk: ``along`` edges, head to tail, or ``both`` ways.
        degrees: Degree of each node for ``hub_damping``, int64 [n].
        hub_damping: With ``both``, a step to a node of degree d weighs ``d ** -hub_damping``.
    """
    out = np.bincount(head, minlength=node_count)
    into = np.bincount(tail, minlength=node_count)
    if walk == "along":
        return _along(head, tail, out, into)
    if walk == "both":
        weight = np.ones(node_count)
        if hub_damping and degrees is not None:
            weight = np.maximum(degrees, 1).astype(np.float64) ** -hub_damping
        return _both(head, tail, out, into, weight)
    raise InputError(f"walk must be along or both, got {walk!r}", argument="walk")


def _along(head: Int32, tail: Int32, out: Int64, into: Int64) -> AlongWalk:
    kind = np.where(out == 0, 2, np.where(into == 0, 1, 0))
    position, middle, sinks = _numbered(kind, out + into)
    sources = middle + sinks
    source, target = position[head], position[tail]
    share = np.zeros(sources)
    inside = out > 0
    share[position[inside]] = 1.0 / out[inside]
    # Nothing leads to a source: sinks may follow the middle's rows directly.
    row = np.where(target >= sources, target - sinks, target)
    rows = len(out) - sinks
    from_middle = source < middle
    to_middle = row < middle
    inner = from_middle & to_middle
    last = from_middle & ~to_middle
    outer = ~from_middle
    return AlongWalk(
        node_count=len(out),
        middle=middle,
        sources=sources,
        position=position,
        share=share,
        inner=_rows(source[inner], row[inner], middle),
        outer=_rows(source[outer] - middle, row[outer], rows),
        last=_rows(source[last], row[last] - middle, rows - middle),
    )


def _both(head: Int32, tail: Int32, out: Int64, into: Int64, weight: Float64) -> BothWalk:
    first, last = (into == 0) & (out > 0), (out == 0) & (into > 0)
    eliminated = first if np.count_nonzero(first) >= np.count_nonzero(last) else last
    kind = np.where(eliminated, 1, np.where(out + into == 0, 2, 0))
    position, iterated, rest = _numbered(kind, out + into)
    linked = iterated + rest
    start, end = position[head], position[tail]
    source, target = np.concatenate((start, end)), np.concatenate((end, start))
    every = _rows(source, target, linked)
    to_weight = np.empty(len(out))
    to_weight[position] = weight
    to_weight = to_weight[:linked]
    # Weight of all steps out of a node times its own: what makes the chain symmetric.
    total = to_weight * every.sums(to_weight)
    root = np.sqrt(total)
    cut = int(every.offsets[iterated]) if rest else len(every.source)
    return BothWalk(
        node_count=len(out),
        iterated=iterated,
        linked=linked,
        position=position,
        root=root,
        scale=to_weight / root,
        to_iterated=Rows(every.source[:cut], every.offsets[:iterated], None, iterated),
        to_rest=Rows(every.source[cut:], every.offsets[iterated:] - cut, None, rest),
    )


def _numbered(kind: Int64, degree: Int64) -> tuple[Int64, int, int]:
    """Returns a position for each node and how many of kind 0 and 1 there are.

    By kind (0, 1, 2), then those of most edges first, whose values stay in the nearest cache.
    """
    order = np.lexsort((-degree, kind))
    position = np.empty(len(kind), dtype=np.int64)
    position[order] = np.arange(len(kind))
    return position, int(np.count_nonzero(kind == 0)), int(np.count_nonzero(kind == 1))


def _rows(source: Int64, row: Int64, count: int) -> Rows:
    order = stable_order(source)
    order = order[stable_order(row[order])]
    row = row[order]
    offsets = np.flatnonzero(np.diff(row, prepend=-1))
    rows = None if len(offsets) == count else row[offsets]
    return Rows(source[order], offsets, rows, count)
