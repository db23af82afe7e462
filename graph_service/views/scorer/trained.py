"""A scorer of triples trained on one graph: factors and counts, weighed on edges it had not seen.

Scoring needs numpy alone. ``scorer_training`` makes one; ``scorer_file`` writes and reads it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Float64, Int32, KnowledgeGraph
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.counting import CountScorer

Complex64 = npt.NDArray[np.complex64]

TRAINED = "trained"
"""Stands for a graph's newest trained scorer where a scorer is asked for by name."""

PREFIX = f"{TRAINED}:"
_ROWS = 512
_A_THREAD = 1 << 16
_THREADS = 2
_MAX_TABLE = 1 << 23
"""Cells up to which what counts say is kept for every node and relation."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What training found; everything that a file of a scorer holds.

    Attributes:
        entity: Vector of each entity node, complex64 [E, d].
        relation: Vector of each relation, both directions and their weights in one, complex64
            [R, d]: the factors' part of a triple's log-odds is ``Re(sum(h * r * conj(t)))``.
        weights: Of the logarithms of the head's and of the tail's lift, of the logarithm of the
            relation's number of edges, and the constant: float64 [4].
    """

    entity: Complex64
    relation: Complex64
    weights: Float64


class TrainedScorer:
    """Scores triples of entities of the graph it was trained on.

    The score is the probability that a triple is an edge of the graph rather than one made wrong
    in its relation or tail, under equal priors.

    Args:
        learned: What training found.
        counts: The counting scorer of the same graph.
        fingerprint: Of what training found and of the graph's edges.
    """

    def __init__(self, learned: Learned, counts: CountScorer, /, *, fingerprint: str) -> None:
        self._learned = learned
        self._counts = counts
        self.fingerprint = fingerprint
        self._frequency: Float64 = learned.weights[2] * np.log1p(counts.relation_counts)
        self._frequency += learned.weights[3]
        self._tables: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]] | None = None
        if learned.entity.shape[0] * len(counts.relation_counts) <= _MAX_TABLE:
            nodes = np.arange(learned.entity.shape[0], dtype=np.int32)
            everything = np.arange(len(counts.relation_counts), dtype=np.int32)
            head, tail = (
                np.log(lifts).astype(np.float32)
                for lifts in counts.lift_tables(nodes, nodes, everything)
            )
            head *= np.float32(learned.weights[0])
            tail *= np.float32(learned.weights[1])
            self._tables = head, tail

    @classmethod
    def of(
        cls, graph: KnowledgeGraph, learned: Learned, /, *, fingerprint: str, index: PairIndex
    ) -> TrainedScorer:
        """Returns the scorer of a base graph."""
        return cls(learned, CountScorer.build(graph, index=index), fingerprint=fingerprint)

    @property
    def name(self) -> str:
        """The scorer's name in specifications: ``trained:`` and its fingerprint."""
        return f"{PREFIX}{self.fingerprint}"

    def score(self, head: Int32, rel: Int32, tail: Int32, /) -> Float64:
        """Returns the score of each triple, float64."""
        odds = np.empty(len(head), dtype=np.float32)

        def fill(start: int) -> None:
            for begin in range(start, min(start + _A_THREAD, len(head)), _ROWS):
                part = slice(begin, min(begin + _ROWS, start + _A_THREAD, len(head)))
                odds[part] = _factor_odds(self._learned, head[part], rel[part], tail[part])

        begins = range(0, len(head), _A_THREAD)
        if len(begins) > 1:
            with ThreadPoolExecutor(_THREADS) as pool:
                list(pool.map(fill, begins))
        elif len(head):
            fill(0)
        if self._tables is not None:
            width = len(self._counts.relation_counts)
            for table, nodes in zip(self._tables, (head, tail), strict=True):
                odds += np.take(table.reshape(-1), nodes.astype(np.int64) * width + rel)
            return _probability(odds + self._frequency[rel])
        weights = self._learned.weights
        lift_head, lift_tail = self._counts.lifts(head, rel, tail)
        more = weights[0] * np.log(lift_head) + weights[1] * np.log(lift_tail)
        return _probability(odds + more + self._frequency[rel])

    def score_relations(self, head: Int32, tail: Int32, relations: Int32, /) -> Float64:
        """Returns the score of each relation for each pair, float64 [pairs, relations]."""
        pair = self._learned.entity[head] * np.conj(self._learned.entity[tail])
        chosen = np.conj(self._learned.relation[relations])
        # Re(p * r) of complex vectors is the real dot product of p with conj(r).
        odds = pair.view(np.float32) @ chosen.view(np.float32).T
        if self._tables is not None:
            more = self._tables[0][head][:, relations] + self._tables[1][tail][:, relations]
            return _probability(odds + more + self._frequency[relations])
        weights = self._learned.weights
        lift_head, lift_tail = self._counts.lift_tables(head, tail, relations)
        counted = weights[0] * np.log(lift_head) + weights[1] * np.log(lift_tail)
        return _probability(odds + counted + self._frequency[relations])


def _factor_odds(learned: Learned, head: Int32, rel: Int32, tail: Int32) -> npt.NDArray[np.float32]:
    walked = learned.entity[head]
    walked *= learned.relation[rel]
    odds: npt.NDArray[np.float32] = np.einsum(
        "ij,ij->i", walked.view(np.float32), learned.entity[tail].view(np.float32)
    )
    return odds


def _probability(odds: npt.NDArray[np.floating]) -> Float64:
    # Within 30 the result is above 0 and below 1, as a score has to be.
    clipped: Float64 = np.clip(odds, -30.0, 30.0).astype(np.float64)
    np.negative(clipped, out=clipped)
    np.exp(clipped, out=clipped)
    clipped += 1.0
    np.reciprocal(clipped, out=clipped)
    return clipped
