"""How far a view has gone from its base: ATS, SC2D and SD2 (O11).

As OKGQA's appendix A.5 takes them over from Raman et al. (2021). What the paper leaves open is
decided so:

* Edges are those whose value is an entity and that are not deprecated, on both sides.
* ATS is the mean score of the view's edges by a scorer of the base; 0.0 where there are none.
* SC2D and SD2 compare two vectors over the same entities, ``1 - d / (d + 1)`` with d their
  Euclidean distance: the mean, over the relations that have an edge in that graph, of each
  entity's clustering coefficient, or degree, among that relation's edges alone. Degree counts
  parallel edges, and a loop twice; clustering is on the simple undirected graph without loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import RANK_CODES, Float64, Int32, Int64, KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.statement import Rank
from graph_service.model.stored_view import Deviation
from graph_service.model.values import EntityValue, decode_value
from graph_service.sorting import ranked, stable_order
from graph_service.views.pairs import PairIndex, contains
from graph_service.views.scorer.counting import TripleScorer
from graph_service.views.scorer.trial import ScorerQuality

MAX_WEDGES = 1 << 22
"""Pairs of neighbours looked at in one go."""
MAX_EDGES = 1 << 22
"""Edges of several relations looked at together; those of one are, however many."""

_MEASURING = "measuring how far a view has gone from its base"


@dataclass(frozen=True, slots=True, eq=False)
class BaseMeasure:
    """What the base contributes, made once for all its views.

    Attributes:
        edges: Its edges that count, int32 or int64, ascending.
        scores: Their plausibility, float64.
        clustering, degree: Means over its relations, float64 [N].
        scorer: Scores the views' own edges.
        quality: What it is worth; None where the base is too small to tell.
    """

    edges: Numbers
    scores: Float64
    clustering: Float64
    degree: Float64
    scorer: TripleScorer
    quality: ScorerQuality | None = None

    @classmethod
    def of(
        cls,
        graph: KnowledgeGraph,
        /,
        *,
        scorer: TripleScorer,
        index: PairIndex,
        quality: ScorerQuality | None = None,
        deadline: Deadline | None = None,
    ) -> BaseMeasure:
        """Returns the measure of a base graph."""
        deadline = deadline or Deadline.none()
        deadline.check(_MEASURING)
        edges: Numbers = np.flatnonzero(index.eligible).astype(graph.edge_type)
        head, rel, tail = graph.head[edges], graph.rel[edges], graph.tail[edges]
        return cls(
            edges=edges,
            scores=scorer.score(head, rel, tail),
            clustering=mean_clustering(head, rel, tail, graph.node_count, deadline=deadline),
            degree=mean_degree(head, rel, tail, graph.node_count),
            scorer=scorer,
            quality=quality,
        )


def measure(
    graph: KnowledgeGraph,
    overlay: Overlay,
    base: BaseMeasure,
    /,
    *,
    deadline: Deadline | None = None,
) -> Deviation:
    """Returns how far a view has gone from its base.

    Args:
        graph: The base.
        overlay: The view laid over it.
        base: The base's own measure.
        deadline: When to give up.
    """
    deadline = deadline or Deadline.none()
    deadline.check(_MEASURING)
    nodes = graph.node_count + len(overlay.new_nodes)
    staying = ~overlay.gone.has(base.edges)
    extra = _counted(graph, overlay, deadline)
    head, rel, tail = (
        np.concatenate([of_base[base.edges[staying]], of_view[extra]])
        for of_base, of_view in (
            (graph.head, overlay.head),
            (graph.rel, overlay.rel),
            (graph.tail, overlay.tail),
        )
    )
    known = (
        (overlay.head[extra] < graph.node_count)
        & (overlay.tail[extra] < graph.node_count)
        & (overlay.rel[extra] < graph.relation_count)
    )
    scored = extra[known]
    scores = np.concatenate(
        [
            base.scores[staying],
            base.scorer.score(overlay.head[scored], overlay.rel[scored], overlay.tail[scored]),
        ]
    )
    return Deviation(
        ats=_mean(scores),
        ats_base=_mean(base.scores),
        ats_edges=len(scores),
        unscored=len(extra) - len(scored),
        scorer=base.scorer.name,
        sc2d=similarity(
            base.clustering, mean_clustering(head, rel, tail, nodes, deadline=deadline)
        ),
        sd2=similarity(base.degree, mean_degree(head, rel, tail, nodes)),
        scorer_accuracy=base.quality.accuracy if base.quality else None,
        scorer_calibration_error=base.quality.calibration_error if base.quality else None,
    )


def similarity(one: Float64, other: Float64, /) -> float:
    """Returns ``1 - d / (d + 1)`` of the distance of two vectors, the shorter filled with zeros."""
    short, long = sorted((one, other), key=len)
    rest = long[len(short) :]
    difference = long[: len(short)] - short
    distance = float(np.sqrt(np.sum(difference * difference) + np.sum(rest * rest)))
    return 1.0 - distance / (distance + 1.0)


def mean_degree(head: Int32, rel: Int32, tail: Int32, node_count: int, /) -> Float64:
    """Returns each node's degree among one relation's edges, mean over relations, float64 [N]."""
    relations = _relations(rel)
    degrees = np.bincount(head, minlength=node_count) + np.bincount(tail, minlength=node_count)
    return degrees / max(1, relations)


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
    of many relations. An edge goes from its end of fewer edges to that of more, and every triangle
    is found once, at the node that two of its edges leave: hubs cost nothing.

    Returns:
        float64 [N].
    """
    deadline = deadline or Deadline.none()
    deadline.check(_MEASURING)
    total = np.zeros(node_count, dtype=np.float64)
    for edges in _batches(rel):
        nodes, coefficients = _clustering(
            head[edges], rel[edges], tail[edges], node_count, deadline
        )
        # One after the other, so that where batches end does not change a sum's last bits.
        np.add.at(total, nodes, coefficients)
    total /= max(1, _relations(rel))
    return total


def _batches(rel: Int32) -> Iterator[slice | Int64]:
    """Yields the places of whole relations' edges, of so many together as fit into the caches."""
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
    one, other, copies = _simple_edges(head, rel, tail, node_count)
    size = len(copies)
    degree = np.bincount(one, minlength=size) + np.bincount(other, minlength=size)
    one, other = _core(one, other, degree)
    triangles = _triangles(one, other, degree, deadline)
    corners = np.flatnonzero(triangles)
    pairs = degree[corners].astype(np.float64) * (degree[corners] - 1)
    return copies[corners] % node_count, 2.0 * triangles[corners] / pairs


def _counted(graph: KnowledgeGraph, overlay: Overlay, deadline: Deadline) -> Int64:
    """A view's own edges that count: entity-valued and not deprecated."""
    new = []
    for item in overlay.new_nodes:
        deadline.check(_MEASURING)
        new.append(isinstance(decode_value(item), EntityValue))
    entity = overlay.tail < graph.entity_count
    beyond = overlay.tail >= graph.node_count
    entity[beyond] = np.array(new, dtype=np.bool_)[overlay.tail[beyond] - graph.node_count]
    return np.flatnonzero(entity & (overlay.rank != RANK_CODES[Rank.DEPRECATED]))


def _mean(scores: Float64) -> float:
    return float(np.sum(scores)) / len(scores) if len(scores) else 0.0


def _relations(rel: Int32) -> int:
    return int(np.count_nonzero(np.bincount(rel))) if len(rel) else 0


def _simple_edges(
    head: Int32, rel: Int32, tail: Int32, node_count: int
) -> tuple[Int32, Int32, Int64]:
    """Edges without loops, direction and repeats, between copies of nodes.

    Returns:
        The two ends of each edge as places in ``copies``, int32, and ``copies``, which are
        ``relation * N + node``, int64, ascending.
    """
    straight = head != tail
    head, rel, tail = head[straight], rel[straight], tail[straight]
    offset = rel.astype(np.int64) * node_count
    low, high = np.minimum(head, tail) + offset, np.maximum(head, tail) + offset
    copies, inverse = ranked(np.concatenate([low, high]))
    one, other = np.split(inverse.astype(np.int32), 2)
    # Fewer than 2**31 copies, so two of their places fit one number.
    packed = np.sort(one.astype(np.int64) << 31 | other)
    first = np.ones(len(packed), dtype=np.bool_)
    first[1:] = packed[1:] != packed[:-1]
    packed = packed[first]
    return (packed >> 31).astype(np.int32), (packed & (2**31 - 1)).astype(np.int32), copies


def _core(one: Int32, other: Int32, degree: Int64) -> tuple[Int32, Int32]:
    """Edges of which both ends have another edge that has, and so on while that helps."""
    left = degree
    while len(one):
        inside = (left[one] > 1) & (left[other] > 1)
        count = int(np.count_nonzero(inside))
        if count > 0.95 * len(one):
            break
        one, other = one[inside], other[inside]
        left = np.bincount(one, minlength=len(degree)) + np.bincount(other, minlength=len(degree))
    return one, other


def _triangles(
    one: Int32, other: Int32, degree: Int64, deadline: Deadline
) -> npt.NDArray[np.int64]:
    """How many triangles each node is in, int64; edges are simple, ends ascending."""
    size = len(degree)
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
        deadline.check("counting triangles")
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
