"""How plausible a triple is: the seam that trained scorers fill, and the counting scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from graph_service.model.graph import Float64, Int32, Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.views.pairs import PairIndex

COUNTS = "counts"
"""Name of the counting scorer."""

CHUNK_CELLS = 1_000_000
"""Scores held at once when every relation of a pair is scored."""


class TripleScorer(Protocol):
    """Scores triples of entity nodes of one base graph."""

    @property
    def name(self) -> str:
        """What a view's specification calls it."""

    def score(self, head: Int32, rel: Int32, tail: Int32, /) -> Float64:
        """Returns the plausibility of each triple, above 0 and below 1, float64."""

    def score_relations(self, head: Int32, tail: Int32, relations: Int32, /) -> Float64:
        """Returns the plausibility of each relation for each pair, float64 [pairs, relations]."""


@dataclass(frozen=True, slots=True, eq=False)
class CountScorer:
    """Counts of relation with tail and of relation with head, needing no training.

    For a triple (h, r, t), with ``n(..)`` the number of eligible edges that match, n the number
    of all, L the number of linked entities and ``p(h) = (n(h) + 1) / (n + L)``::

        lift_h = (n(h, r) / p(h) + 1) / (n(r) + 1)        and lift_t alike
        score  = lift_h * lift_t / (1 + lift_h * lift_t)

    ``lift_h`` is p(h | r) / p(h) with p(h | r) smoothed towards p(h) by one pseudo-count. So the
    score is the posterior probability that the two ends were drawn as ends of r, against being
    drawn as ends of any edge, under equal priors. Only sums, products and quotients occur, which
    IEEE 754 rounds alike everywhere: the same scores on every machine.

    Attributes:
        head_keys, tail_keys: ``node * R + relation`` that occur, int64, ascending.
        head_counts, tail_counts: How often, float64.
        head_shares, tail_shares: p(h) and p(t) by node, float64 [N].
        relation_counts: n(r), float64 [R].
    """

    head_keys: Int64
    head_counts: Float64
    tail_keys: Int64
    tail_counts: Float64
    head_shares: Float64
    tail_shares: Float64
    relation_counts: Float64

    @classmethod
    def build(
        cls,
        graph: KnowledgeGraph,
        /,
        *,
        index: PairIndex | None = None,
        edges: Int64 | Int32 | None = None,
    ) -> CountScorer:
        """Returns the scorer of a base graph: entity-valued edges that are not deprecated.

        Args:
            graph: The base.
            index: Which entities it joins.
            edges: Only these of them; all where None.
        """
        index = PairIndex.build(graph) if index is None else index
        edges = np.flatnonzero(index.eligible) if edges is None else edges
        relations = max(1, graph.relation_count)
        rel = graph.rel[edges]
        columns = []
        for nodes in (graph.head[edges], graph.tail[edges]):
            keys, counts = np.unique(nodes.astype(np.int64) * relations + rel, return_counts=True)
            degrees = np.bincount(nodes, minlength=graph.node_count).astype(np.float64)
            shares = (degrees + 1.0) / float(len(edges) + max(1, len(index.linked)))
            columns.append((keys, counts.astype(np.float64), shares))
        (head_keys, head_counts, head_shares), (tail_keys, tail_counts, tail_shares) = columns
        return cls(
            head_keys=head_keys,
            head_counts=head_counts,
            tail_keys=tail_keys,
            tail_counts=tail_counts,
            head_shares=head_shares,
            tail_shares=tail_shares,
            relation_counts=np.bincount(rel, minlength=relations).astype(np.float64),
        )

    @property
    def name(self) -> str:
        """The scorer's name in specifications, ``counts``."""
        return COUNTS

    def score(self, head: Int32, rel: Int32, tail: Int32, /) -> Float64:
        """Returns the score of each triple, float64."""
        lift_head, lift_tail = self.lifts(head, rel, tail)
        return _posterior(lift_head * lift_tail)

    def lifts(self, head: Int32, rel: Int32, tail: Int32, /) -> tuple[Float64, Float64]:
        """Returns ``lift_h`` and ``lift_t`` of each triple, float64, above 0."""
        relations = len(self.relation_counts)
        held = self.relation_counts[rel] + 1.0
        lift = _counts(self.head_keys, self.head_counts, head.astype(np.int64) * relations + rel)
        lift = (lift / self.head_shares[head] + 1.0) / held
        other = _counts(self.tail_keys, self.tail_counts, tail.astype(np.int64) * relations + rel)
        return lift, (other / self.tail_shares[tail] + 1.0) / held

    def score_relations(self, head: Int32, tail: Int32, relations: Int32, /) -> Float64:
        """Returns the score of each relation for each pair, float64 [pairs, relations]."""
        lift_head, lift_tail = self.lift_tables(head, tail, relations)
        return _posterior(lift_head * lift_tail)

    def lift_tables(self, head: Int32, tail: Int32, relations: Int32, /) -> tuple[Float64, Float64]:
        """Returns ``lift_h`` and ``lift_t`` of each relation for each pair, float64 [n, m]."""
        held = self.relation_counts[relations] + 1.0
        lift = self._table(head, relations, self.head_keys, self.head_counts)
        lift = (lift / self.head_shares[head][:, None] + 1.0) / held
        other = self._table(tail, relations, self.tail_keys, self.tail_counts)
        return lift, (other / self.tail_shares[tail][:, None] + 1.0) / held

    def _table(self, nodes: Int32, relations: Int32, keys: Int64, counts: Float64) -> Float64:
        """Counts of each (node, relation), by one run of the sorted keys for each node."""
        every = len(self.relation_counts)
        distinct, rows = np.unique(nodes, return_inverse=True)
        begins = np.searchsorted(keys, distinct.astype(np.int64) * every)
        lengths = np.searchsorted(keys, (distinct.astype(np.int64) + 1) * every) - begins
        row_of = np.repeat(np.arange(len(distinct)), lengths)
        cells = np.arange(len(row_of)) + np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
        column_of = np.full(every, -1, dtype=np.int64)
        column_of[relations] = np.arange(len(relations))
        columns = column_of[keys[cells] % every]
        selected = columns >= 0
        table = np.zeros((len(distinct), len(relations)), dtype=np.float64)
        table[row_of[selected], columns[selected]] = counts[cells[selected]]
        counted: Float64 = table[rows]
        return counted


def _counts(keys: Int64, counts: Float64, pairs: Int64) -> Float64:
    values = np.zeros(len(pairs), dtype=np.float64)
    if len(keys):
        positions = np.searchsorted(keys, pairs)
        positions[positions == len(keys)] = 0
        hit = keys[positions] == pairs
        values[hit] = counts[positions[hit]]
    return values


def _posterior(odds: Float64) -> Float64:
    share: Float64 = odds / (1.0 + odds)
    # Keeps the promise "below 1" where odds exceed 2**53.
    return np.minimum(share, 1.0 - 2.0**-53)


def least_likely(
    scorer: TripleScorer,
    head: Int32,
    tail: Int32,
    relations: Int32,
    /,
    *,
    own: Int32,
    deadline: Deadline | None = None,
) -> Int32:
    """Returns for each pair the relation of lowest score other than its own, int32.

    Ties go to the smaller relation number, which is the smaller relation key.

    Args:
        scorer: Scores relations.
        head: Heads, int32 [n].
        tail: Tails, int32 [n].
        relations: Candidates, int32, ascending; at least one differs from each ``own``.
        own: The relation that each pair has, int32 [n].
        deadline: When to give up.
    """
    choices = np.zeros(len(head), dtype=np.int32)
    rows = max(1, CHUNK_CELLS // max(1, len(relations)))
    for start in range(0, len(head), rows):
        if deadline is not None:
            deadline.check("looking for the least likely relations")
        part = slice(start, start + rows)
        scores = scorer.score_relations(head[part], tail[part], relations)
        scores[relations[None, :] == own[part][:, None]] = np.inf
        choices[part] = relations[np.argmin(scores, axis=1)]
    return choices
