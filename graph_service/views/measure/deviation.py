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

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import RANK_CODES, Float64, Int32, Int64, KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.statement import Rank
from graph_service.model.stored_view import Deviation
from graph_service.model.values import EntityValue, decode_value
from graph_service.views.measure.clustering import count_relations, mean_clustering
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.counting import TripleScorer
from graph_service.views.scorer.trial import ScorerQuality

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
    relations = count_relations(rel)
    degrees = np.bincount(head, minlength=node_count) + np.bincount(tail, minlength=node_count)
    return degrees / max(1, relations)


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
