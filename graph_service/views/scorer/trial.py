"""Edges held out of a graph, ones made wrong of them, and what a scorer is worth on those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Bool, Float64, Int32, Int64, KnowledgeGraph
from graph_service.views.pairs import PairIndex, contains
from graph_service.views.scorer.counting import CountScorer, TripleScorer

HELD_OUT = 0.05
MOST_HELD_OUT = 5_000
LEAST_EDGES = 40
"""Edges under which there is nothing to learn from, or to tell a scorer by."""

_TRIES = 16
_BINS = 10


@dataclass(frozen=True, slots=True)
class ScorerQuality:
    """What a scorer is worth on held-out edges beside ones made wrong.

    Of each held-out edge three wrong ones are made: another relation, any other tail, and
    another of the tails that the relation has; none of them is an edge of the graph.

    Attributes:
        held_out: How many edges were held out.
        accuracy: Share told right at a score of 0.5, right and wrong ones weighing alike.
        calibration_error: Mean distance between score and share of right ones, over ten bins.
        auc_relation: Share of pairs of an edge and one of wrong relation in which the edge's
            score is higher; ties count half.
        auc_tail: The same of wrong tails of any kind.
        auc_like_tail: The same of wrong tails that the relation has elsewhere.
    """

    held_out: int
    accuracy: float
    calibration_error: float
    auc_relation: float
    auc_tail: float
    auc_like_tail: float


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Held-out edges and the wrong ones made of them, in rows: edge, relation, tail, like tail.

    Attributes:
        edges: Edges that are not held out, int64, ascending.
        head: int32 [n].
        rel, tail: int32 [4, n]; the first row is that of the edges themselves.
    """

    edges: Int64
    head: Int32
    rel: Int32
    tail: Int32

    def rows(self) -> Iterator[tuple[Int32, Int32]]:
        """Yields relations and tails: of the edges, then of each kind of wrong ones."""
        yield from zip(self.rel, self.tail, strict=True)

    def part(self, chosen: Bool, /) -> Trial:
        """Returns some of the held-out edges, with what was made of them."""
        return replace(
            self, head=self.head[chosen], rel=self.rel[:, chosen], tail=self.tail[:, chosen]
        )


def make_trial(graph: KnowledgeGraph, index: PairIndex, random: np.random.Generator, /) -> Trial:
    """Returns edges held out at random, and wrong ones made of them.

    Raises:
        InputError: The graph has too few edges or relations.
    """
    edges = graph.in_key_order(np.flatnonzero(index.eligible))
    if len(edges) < LEAST_EDGES or len(index.relations) < 2:
        raise InputError(
            f"a scorer needs at least {LEAST_EDGES} statements with entity values and two "
            f"relations; graph {graph.name!r} has {len(edges)} and {len(index.relations)}",
            argument="graph",
            hint="Views of it use the counting scorer, which needs no training.",
        )
    count = min(MOST_HELD_OUT, max(10, round(HELD_OUT * len(edges))))
    out = np.sort(random.permutation(len(edges))[:count])
    held = edges[out]
    head, rel, tail = graph.head[held], graph.rel[held], graph.tail[held]
    triples = np.sort(index.pack(graph.head[edges], graph.rel[edges], graph.tail[edges]))
    # Sorted as numbers, which takes a third of the time of sorting by two columns.
    by_relation = graph.rel[edges].astype(np.int64) * graph.node_count + graph.tail[edges]
    by_relation.sort()
    tails_by_relation = (by_relation % graph.node_count).astype(np.int32)
    stops = np.cumsum(np.bincount(graph.rel[edges], minlength=graph.relation_count))

    def relation(rows: Int64) -> tuple[Int32, Int32]:
        return random.choice(index.relations, len(rows)).astype(np.int32), tail[rows]

    def any_tail(rows: Int64) -> tuple[Int32, Int32]:
        return rel[rows], random.choice(index.linked, len(rows)).astype(np.int32)

    def like_tail(rows: Int64) -> tuple[Int32, Int32]:
        last = stops[rel[rows]]
        first = last - np.bincount(graph.rel[edges], minlength=graph.relation_count)[rel[rows]]
        return rel[rows], tails_by_relation[random.integers(first, last)]

    rels, tails = [rel], [tail]
    for draw in (relation, any_tail, like_tail):
        one, other = rel.copy(), tail.copy()
        left = np.arange(count)
        for _ in range(_TRIES):
            one[left], other[left] = draw(left)
            left = left[contains(triples, index.pack(head[left], one[left], other[left]))]
            if not len(left):
                break
        rels.append(one)
        tails.append(other)
    return Trial(np.delete(edges, out), head, np.stack(rels), np.stack(tails))


def judge(trial: Trial, scorer: TripleScorer, /) -> ScorerQuality:
    """Returns what a scorer that has not seen the held-out edges is worth."""
    return quality_of(trial, np.stack([scorer.score(trial.head, r, t) for r, t in trial.rows()]))


def judge_counts(graph: KnowledgeGraph, index: PairIndex, /) -> ScorerQuality | None:
    """Returns what counts are worth on a graph; None where it is too small to tell."""
    if np.count_nonzero(index.eligible) < LEAST_EDGES or len(index.relations) < 2:
        return None
    trial = make_trial(graph, index, np.random.Generator(np.random.PCG64(0)))
    return judge(trial, CountScorer.build(graph, index=index, edges=trial.edges))


def quality_of(trial: Trial, scores: Float64, /) -> ScorerQuality:
    """Returns the figures of scores in the trial's rows, float64 [4, n]."""
    right, wrong = scores[0], scores[1:]
    each = 1.0 / max(1, len(wrong))
    predicted = np.concatenate([right, wrong.ravel()])
    truth = np.concatenate([np.ones(len(right)), np.zeros(wrong.size)])
    weight = np.where(truth > 0, 1.0, each)
    hit = np.where(predicted == 0.5, 0.5, (predicted > 0.5) == (truth > 0))
    bins = np.minimum((predicted * _BINS).astype(np.int64), _BINS - 1)
    gap = np.bincount(bins, weights=weight * (predicted - truth), minlength=_BINS)
    return ScorerQuality(
        held_out=len(trial.head),
        accuracy=float((hit * weight).sum() / weight.sum()),
        calibration_error=float(np.abs(gap).sum() / weight.sum()),
        auc_relation=auc(right, wrong[0]),
        auc_tail=auc(right, wrong[1]),
        auc_like_tail=auc(right, wrong[2]),
    )


def auc(right: Float64, wrong: Float64, /) -> float:
    """Returns the share of pairs in which the right one's score is higher; ties count half."""
    ascending = np.sort(wrong)
    below = np.searchsorted(ascending, right, side="left")
    upto = np.searchsorted(ascending, right, side="right")
    return float((below + upto).sum() / (2 * len(right) * len(wrong)))
