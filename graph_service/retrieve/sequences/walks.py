"""Walks from the question's entities, grouped by the relations they follow (preset default).

A relation sequence is a list of relations with directions. It is put into words (``wording``) and
compared with the question less the entities that it names; all walks of one sequence share its
score. This embeds a few hundred short texts at most, however large the region.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.model.result import ScorePart
from graph_service.retrieve.preset import SequencePreset
from graph_service.retrieve.sequences.wording import SequenceScorer, Steps, steps_of
from graph_service.retrieve.similarity import SIMILARITY_DIGITS
from graph_service.sorting import distinct, ranked, stable_order


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Walks of one length: the walk each goes on from, and its last step, all int64 [w]."""

    parent: Int64
    node: Int64
    edge: Int64
    backward: Bool
    sequence: Int64


@dataclass(frozen=True, slots=True, eq=False)
class _RankedWalks:
    """The walks of a level that have a score: their places in it, int64 [w], and the scores."""

    place: Int64
    total: Float64


@dataclass(frozen=True, slots=True)
class ScoredSequence:
    """A relation sequence and how well it fits the question.

    Attributes:
        steps: Relation (global number) and whether it is walked from tail to head.
        text: In words.
        similarity: Cosine with the question, rounded.
        score: Similarity less the costs of its steps.
    """

    steps: Steps
    text: str
    similarity: float
    score: float


@dataclass(frozen=True, slots=True)
class Walk:
    """A simple path from an entity of the question, in local numbers.

    Attributes:
        sequence: Number of its sequence.
        score: The sequence's, with what joining two of the question's entities adds.
        parts: Of the score, where they were asked for.
        met: Places of the constraints that it meets, where the preset reads them.
    """

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    reversed: tuple[bool, ...]
    sequence: int
    score: float
    parts: tuple[ScorePart, ...] = ()
    met: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Walks:
    """What the question's entities lead to.

    Attributes:
        sequences: All that were scored, best first.
        walks: Walks of the best sequences, best first.
        relevance: Score of the best sequence; None where there is none.
        more: Whether there are walks of the best sequences beyond those.
    """

    sequences: tuple[ScoredSequence, ...]
    walks: tuple[Walk, ...]
    relevance: float | None
    cuts: tuple[Cut, ...]
    more: bool = False


def best_walks(
    region: Region,
    scorer: SequenceScorer,
    preset: SequencePreset,
    /,
    *,
    max_length: int,
    max_walks: int,
    order: Callable[[Int64], Float64],
    deadline: Deadline | None = None,
) -> Walks:
    """Returns the walks of the relation sequences that fit the question best.

    A sequence under ``min_relevance`` bears on nothing and is left out; where all are, those that
    come nearest are returned.

    Args:
        region: The region; walks begin at its start entities and visit no node twice.
        scorer: Scores sequences for the question.
        preset: How far the search goes, and what is kept.
        max_length: Most steps.
        max_walks: Walks returned at most.
        order: Similarity of some edges with the question, to order walks of equal score.
        deadline: Raises ``DeadlineError`` when past.
    """
    deadline = deadline or Deadline.none()
    levels: list[_Level] = []
    sequences = _Sequences()
    scores = np.zeros(0)
    cuts: list[Cut] = []
    adjacency = _Adjacency(region)
    start_entities = region.start_entities.astype(np.int64)
    begin = _Level(
        np.full(len(start_entities), -1),
        start_entities,
        np.full(len(start_entities), -1),
        np.zeros(len(start_entities), bool),
        np.full(len(start_entities), -1),
    )
    last, budget = begin, preset.work_budget
    for length in range(1, max_length + 1):
        deadline.check("walking from the question's entities")
        sources = np.flatnonzero(~region.literal[last.node])
        if length > 1:
            sources, cut = _beam(last, sources, scores, adjacency, budget, preset.beam)
            cuts.extend(cut)
        level, codes = adjacency.step(last, sources, [begin, *levels])
        budget -= len(level.node)
        if not len(level.node):
            break
        first_number = len(sequences)
        moves, added = sequences.extend(*codes)
        share = 1.0 if length == max_length else preset.level_share
        scores = np.concatenate((scores, scorer.score(moves, share=share)))
        last = _Level(level.parent, level.node, level.edge, level.backward, first_number + added)
        levels.append(last)
    if scorer.unscored:
        total = len(scorer.similarity) + scorer.unscored
        kept = len(scorer.similarity)
        cuts.append(Cut("embedded", CutReason.LIMIT, preset.max_embedded, kept, total))
    best = np.lexsort((np.arange(len(scores)), -scores))[: preset.max_refined]
    best = best[np.isfinite(scores[best])]
    final = np.full(len(scores), -np.inf)
    if len(best):
        final[best] = scorer.final([sequences.steps(i) for i in best.tolist()]).score
    scores = final
    return _collect(
        region,
        [begin, *levels],
        sequences,
        scores,
        scorer,
        preset,
        max_walks=max_walks,
        order=order,
        cuts=cuts,
    )


class _Sequences:
    """Relation sequences, numbered length by length, as moves (``steps_of``)."""

    def __init__(self) -> None:
        self._moves: list[Int64] = []
        self._begin = [0]

    def __len__(self) -> int:
        return self._begin[-1]

    def extend(self, before: Int64, moves: Int64) -> tuple[Int64, Int64]:
        """Adds the sequences of some walks, each one move longer than one of the last length.

        Args:
            before: Number of the sequence that each walk went on from; -1 at the beginning.
            moves: The move that each walk adds.

        Returns:
            The sequences added, a row of moves each, and the place of each walk's among them.
        """
        used, start = ranked(before + 1)
        added, move = ranked(moves)
        distinct, place = ranked(start * len(added) + move)
        start, move = np.divmod(distinct, len(added))
        longer = added[move][:, None]
        if self._moves:
            old = self._moves[-1][used[start] - 1 - self._begin[-2]]
            longer = np.concatenate((old, longer), axis=1)
        self._moves.append(longer)
        self._begin.append(self._begin[-1] + len(longer))
        return longer, place

    def steps(self, number: int) -> Steps:
        """Returns a sequence."""
        length = bisect_right(self._begin, number)
        return steps_of(self._moves[length - 1][number - self._begin[length - 1]].tolist())


class _Adjacency:
    """Steps out of each local node, both ways."""

    def __init__(self, region: Region) -> None:
        # Each edge forward, then backward: what a stable sort by source keeps.
        ends = np.stack((region.head, region.tail), axis=1)
        source, target = ends.ravel(), ends[:, ::-1].ravel()
        steps = np.flatnonzero(source != target)
        order = steps[stable_order(source[steps])]
        self.target = target[order].astype(np.int64)
        self.edge, backward = np.divmod(order, 2)
        self.move = region.rel.astype(np.int64)[self.edge] * 2 + backward
        self.backward = backward.astype(bool)
        count = np.bincount(source[steps], minlength=region.node_count)
        self.begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(count)))

    def count(self, nodes: Int64) -> Int64:
        """Returns the number of steps out of each node."""
        return self.begin[nodes + 1] - self.begin[nodes]

    def step(
        self, last: _Level, sources: Int64, levels: list[_Level]
    ) -> tuple[_Level, tuple[Int64, Int64]]:
        """Returns the walks one step longer, and for each its old sequence and its move."""
        nodes = last.node[sources]
        count = self.count(nodes)
        owner = np.repeat(np.arange(len(nodes)), count)
        offset = np.cumsum(count) - count
        place = np.arange(len(owner)) - offset[owner] + self.begin[nodes][owner]
        target, parent = self.target[place], sources[owner]
        fresh = np.ones(len(target), dtype=bool)
        above = parent
        for level in reversed(levels):
            fresh &= target != level.node[above]
            above = level.parent[above]
        place, target, parent = place[fresh], target[fresh], parent[fresh]
        edge, backward = self.edge[place], self.backward[place]
        level = _Level(parent, target, edge, backward, np.zeros(0, dtype=np.int64))
        return level, (last.sequence[parent], self.move[place])


def _beam(
    last: _Level, sources: Int64, scores: Float64, adjacency: _Adjacency, budget: int, most: int
) -> tuple[Int64, list[Cut]]:
    """Returns the walks to go on from: all, or those of the best sequences within the budget."""
    if not len(sources):
        return sources, []
    counts = adjacency.count(last.node[sources])
    used = distinct(last.sequence[sources])
    steps = np.bincount(last.sequence[sources], weights=counts, minlength=len(scores))
    used = used[np.lexsort((used, -scores[used]))]
    spent = np.cumsum(steps[used])
    fits = int(np.searchsorted(spent, budget, side="right"))
    keep = used[: max(min(fits, most), 1)] if fits < len(used) else used
    if len(keep) == len(used):
        return sources, []
    allowed = np.zeros(len(scores), dtype=bool)
    allowed[keep] = True
    kept = sources[allowed[last.sequence[sources]]]
    over = np.cumsum(adjacency.count(last.node[kept])) > budget
    cut = Cut("paths", CutReason.WORK_BUDGET, budget, len(keep), len(used))
    return kept[~over], [cut]


def _collect(
    region: Region,
    levels: list[_Level],
    sequences: _Sequences,
    scores: Float64,
    scorer: SequenceScorer,
    preset: SequencePreset,
    *,
    max_walks: int,
    order: Callable[[Int64], Float64],
    cuts: list[Cut],
) -> Walks:
    scored = sorted(
        (
            ScoredSequence(steps, text, scorer.similarity[text], float(scores[number]))
            for number in np.flatnonzero(np.isfinite(scores)).tolist()
            for steps in (sequences.steps(number),)
            for text in (scorer.text(steps),)
        ),
        key=lambda item: (-item.score, item.text, [back for _, back in item.steps]),
    )
    relevance = max((item.score for item in scored), default=None)
    if relevance is None:
        return Walks((), (), None, tuple(cuts))
    least = preset.min_relevance if relevance >= preset.min_relevance else -np.inf
    is_start = np.zeros(region.node_count, dtype=bool)
    is_start[region.start_entities] = True
    ranked_walks: list[_RankedWalks] = []
    meets = np.zeros(len(levels[0].node), dtype=bool)
    for level in levels[1:]:
        meets = meets[level.parent] | is_start[level.node]
        place = np.flatnonzero(scores[level.sequence] > -np.inf)
        bonus = np.where(meets[place], preset.shared_bonus, 0.0)
        total: Float64 = np.round(scores[level.sequence[place]] + bonus, SIMILARITY_DIGITS)
        ranked_walks.append(_RankedWalks(place, total))
    # Sequences of one score (as a rule of one text) share a place, and each its whole prize.
    best = np.unique(np.concatenate([walks.total for walks in ranked_walks]))[::-1]
    best = best[best >= least][: preset.top_edges]
    chosen: list[Walk] = []
    seen: set[tuple[int, ...]] = set()
    unread = sum(int(np.isin(walks.total, best).sum()) for walks in ranked_walks)
    for value in best.tolist():
        for walk in _group(levels, ranked_walks, value, max_walks, order):
            unread -= 1
            canonical = min(walk.edges, walk.edges[::-1])
            if canonical not in seen:
                seen.add(canonical)
                chosen.append(walk)
        if len(chosen) >= max_walks:
            break
    more = unread > 0 or len(chosen) > max_walks
    return Walks(tuple(scored), tuple(chosen[:max_walks]), relevance, tuple(cuts), more)


def _group(
    levels: list[_Level],
    ranked_walks: list[_RankedWalks],
    value: float,
    max_walks: int,
    order: Callable[[Int64], Float64],
) -> list[Walk]:
    """Returns the walks of one score: by the similarity of their own triples, then by key."""
    rows: list[tuple[int, Int64, Int64]] = []
    for depth, walks in enumerate(ranked_walks, start=1):
        place = walks.place[walks.total == value]
        if len(place):
            rows.append((depth, place, _edges_of(levels, depth, place)))
    edges = distinct(np.concatenate([row[2].ravel() for row in rows]))
    alone = len(rows) == 1 and len(rows[0][1]) == 1
    like = np.zeros(len(edges)) if alone else order(edges)
    found: list[tuple[float, Walk]] = []
    for depth, place, steps in rows:
        mean = np.round(like[np.searchsorted(edges, steps)].mean(axis=1), 5)
        # Edges are numbered in order of their keys.
        best = np.lexsort((*steps.T[::-1], -mean))[:max_walks]
        found.extend(
            (float(mean[row]), _walk(levels, depth, int(place[row]), value))
            for row in best.tolist()
        )
    found.sort(key=lambda item: (-item[0], item[1].edges))
    return [walk for _, walk in found]


def _edges_of(levels: list[_Level], depth: int, place: Int64) -> Int64:
    columns: list[Int64] = []
    for level in reversed(levels[1 : depth + 1]):
        columns.append(level.edge[place])
        place = level.parent[place]
    steps: Int64 = np.stack(columns[::-1], axis=1)
    return steps


def _walk(levels: list[_Level], depth: int, place: int, score: float) -> Walk:
    level = levels[depth]
    sequence = int(level.sequence[place])
    nodes: list[int] = []
    edges: list[int] = []
    backward: list[bool] = []
    while depth:
        level = levels[depth]
        nodes.append(int(level.node[place]))
        edges.append(int(level.edge[place]))
        backward.append(bool(level.backward[place]))
        place = int(level.parent[place])
        depth -= 1
    nodes.append(int(levels[0].node[place]))
    return Walk(
        tuple(reversed(nodes)), tuple(reversed(edges)), tuple(reversed(backward)), sequence, score
    )
