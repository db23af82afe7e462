"""Relation sequences from each entity that a question may begin at, and the walks that follow them.

A candidate is a start entity and a sequence of relations with directions. All trails from the
starts, walks that use no statement twice, are enumerated, shortest first, within a budget; of the
longer sequences the most promising are kept. A trail may come back to an entity (*the spouse of
X's spouse*). A statement of an entity about itself may be used again, since it leads nowhere else. What makes one promising is cheap: how like its relations' names are to the
question, and how sure the start is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.preset import LearnedPreset
from graph_service.sorting import distinct, ranked, stable_order


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Walks of one length: the walk each goes on from and its last step, all [w].

    ``sequence`` numbers the sequences of all lengths, those of length 0, the starts, first.
    """

    parent: Int64
    node: Int64
    edge: Int64
    backward: Bool
    sequence: Int64


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidates of a question, in order of length, start and relations.

    Attributes:
        start: Place of each one's start among the region's start entities, int64 [c].
        relations: Local numbers of the relations (places in ``relation_numbers``), int64 [c, hops];
            0 past the end.
        backward: Whether each step is walked from tail to head, bool [c, hops].
        length: Number of steps, int64 [c].
        relation_numbers: Global numbers of the region's relations, int64 [r], ascending.
        walks: Number of walks of each, int64 [c].
        end_owner, end_node: The distinct ends of the candidates' walks: candidate and local node,
            both int64 [e], ascending.
        prefixes: The candidates of the first step, of the first two and so on that each one goes
            on from, int64 [c, hops - 1]; -1 where there is none.
        shorter: The candidate that each one goes on from by its last step, int64 [c]; -1 for none.
    """

    start: Int64
    relations: Int64
    backward: Bool
    length: Int64
    relation_numbers: Int64
    walks: Int64
    end_owner: Int64
    end_node: Int64
    prefixes: Int64
    shorter: Int64
    _levels: tuple[_Level, ...]
    _sequence: Int64

    def __len__(self) -> int:
        return len(self.start)

    @property
    def steps(self) -> Bool:
        """Which places of ``relations`` hold a step, bool [c, hops]."""
        held: Bool = np.arange(self.relations.shape[1]) < self.length[:, None]
        return held

    def sequence(self, number: int, /) -> tuple[tuple[int, bool], ...]:
        """Returns a candidate's relations, global numbers, and their directions."""
        length = int(self.length[number])
        relations = self.relation_numbers[self.relations[number, :length]].tolist()
        return tuple(zip(relations, self.backward[number, :length].tolist(), strict=True))

    def edges(self, number: int, /) -> Int64:
        """Returns the local edges of a candidate's walks, in order of their keys, [walks, steps]."""
        depth = int(self.length[number])
        place = np.flatnonzero(self._levels[depth].sequence == self._sequence[number])
        columns: list[Int64] = []
        for level in reversed(self._levels[1 : depth + 1]):
            columns.append(level.edge[place])
            place = level.parent[place]
        edges = np.stack(columns[::-1], axis=1)
        return edges[np.lexsort(edges.T[::-1])]


def find_candidates(
    region: Region,
    likeness: Float64,
    doubt: Float64,
    preset: LearnedPreset,
    /,
    *,
    relation_numbers: Int64,
    deadline: Deadline,
) -> tuple[Candidates, tuple[Cut, ...]]:
    """Returns the candidates of a region, and what limits left out.

    Args:
        region: Whose start entities the walks begin at.
        likeness: Cosine of each relation's name with the question as asked of each start,
            float64 [s, r].
        doubt: Taken off the promise of each start's sequences, float64 [s].
        preset: The budgets.
        relation_numbers: Global numbers of the region's relations, int64 [r], ascending.
        deadline: Raises ``DeadlineError`` when past.
    """
    table = _StepTable(region, relation_numbers)
    starts = region.start_entities.astype(np.int64)
    count = len(starts)
    none = np.full(count, -1)
    begin = _Level(none, starts, none, np.zeros(count, bool), np.arange(count))
    hops = min(preset.hops, preset.max_path_length)
    owner = np.arange(count)
    before = none
    moves = np.zeros((count, hops), dtype=np.int64)
    length = np.zeros(count, dtype=np.int64)
    total = np.zeros(count)
    levels, cuts, kept = [begin], list[Cut](), [np.zeros(0, dtype=np.int64)]
    for depth in range(1, hops + 1):
        deadline.check("walking from the question's entities")
        last = levels[-1]
        sources = np.flatnonzero(~region.literal[last.node])
        promise = total / np.sqrt(np.maximum(length, 1)) - doubt[owner]
        sources, cut = _affordable(last, sources, promise, table, preset.work_budget)
        cuts.extend(cut)
        level, old, step = table.walk_on(levels, sources)
        if not len(level.node):
            break
        pairs, place = ranked(old * (2 * table.relation_count) + step)
        parent, step = np.divmod(pairs, 2 * table.relation_count)
        first = len(owner)
        added = moves[parent].copy()
        added[:, depth - 1] = step
        moves = np.concatenate((moves, added))
        length = np.concatenate((length, np.full(len(pairs), depth)))
        total = np.concatenate((total, total[parent] + likeness[owner[parent], step // 2]))
        owner = np.concatenate((owner, owner[parent]))
        before = np.concatenate((before, parent))
        levels.append(_Level(level.parent, level.node, level.edge, level.backward, first + place))
        new = np.arange(first, len(owner))
        most = preset.candidates_per_length
        if depth > 1 and len(new) > most:
            value = np.round(total[new] / np.sqrt(depth) - doubt[owner[new]], 5)
            new = np.sort(new[np.lexsort((new, -value))[:most]])
            cuts.append(Cut("sequences", CutReason.LIMIT, most, most, len(pairs)))
        kept.append(new)
    chosen = np.concatenate(kept)
    place = np.full(len(owner), -1)
    place[chosen] = np.arange(len(chosen))
    walks, end_owner, end_node = _ends(levels, place, len(chosen), region.node_count)
    prefixes = _prefixes(before, length[chosen], chosen, place, hops)
    return (
        Candidates(
            owner[chosen],
            moves[chosen] // 2,
            (moves[chosen] % 2).astype(bool),
            length[chosen],
            relation_numbers,
            walks,
            end_owner,
            end_node,
            prefixes,
            np.where(length[chosen] > 1, place[before[chosen]], -1),
            tuple(levels),
            chosen,
        ),
        tuple(cuts),
    )


def _prefixes(before: Int64, length: Int64, chosen: Int64, place: Int64, hops: int) -> Int64:
    """Returns ``Candidates.prefixes``.

    Args:
        before: The sequence that each sequence goes on from, int64 [s].
        length: Steps of the chosen ones, int64 [c].
        chosen: The sequences that are candidates, int64 [c].
        place: The candidate that each sequence is, int64 [s]; -1 for none.
        hops: Most steps.
    """
    found = np.full((len(chosen), hops - 1), -1)
    sequence = chosen
    for back in range(1, hops):
        sequence = before[sequence]
        rows = np.flatnonzero(length > back)
        found[rows, length[rows] - back - 1] = place[sequence[rows]]
    return found


def _ends(
    levels: list[_Level], place: Int64, count: int, node_count: int
) -> tuple[Int64, Int64, Int64]:
    """Returns the number of walks of each candidate, and the pairs of it and an end."""
    sequence = np.concatenate([level.sequence for level in levels[1:]] or [place[:0]])
    node = np.concatenate([level.node for level in levels[1:]] or [place[:0]])
    owner = place[sequence]
    held = owner >= 0
    walks = np.bincount(owner[held], minlength=count)
    pairs = distinct(owner[held] * np.int64(node_count) + node[held])
    end_owner, end_node = np.divmod(pairs, np.int64(max(node_count, 1)))
    return walks, end_owner, end_node


class _StepTable:
    """Steps out of each local node, both ways."""

    def __init__(self, region: Region, relation_numbers: Int64) -> None:
        # Each edge forward, then backward: what a stable sort by source keeps.
        ends = np.stack((region.head, region.tail), axis=1)
        source, target = ends.ravel(), ends[:, ::-1].ravel()
        # One of a thing about itself is walked forward alone.
        steps = np.flatnonzero((source != target) | (np.arange(len(source)) % 2 == 0))
        order = steps[stable_order(source[steps])]
        edge, backward = order >> 1, order & 1
        self.relation_count = max(len(relation_numbers), 1)
        self.target = target[order].astype(np.int64)
        self.edge = edge
        relation = ranked(region.rel.astype(np.int64))[1]
        self.step = relation[edge] * 2 + backward
        count = np.bincount(source[steps], minlength=region.node_count)
        self.begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(count)))

    def count(self, nodes: Int64) -> Int64:
        """Returns the number of steps out of each node."""
        return self.begin[nodes + 1] - self.begin[nodes]

    def walk_on(self, levels: list[_Level], sources: Int64) -> tuple[_Level, Int64, Int64]:
        """Returns the trails one step longer, and for each its old sequence and its step."""
        last = levels[-1]
        nodes = last.node[sources]
        count = self.count(nodes)
        parent = np.repeat(sources, count)
        offset = np.cumsum(count) - count
        place = np.arange(len(parent)) + np.repeat(self.begin[nodes] - offset, count)
        edge, target = self.edge[place], self.target[place]
        fresh = np.ones(len(edge), dtype=bool)
        above = parent
        for level in reversed(levels[1:]):
            fresh &= edge != level.edge[above]
            above = level.parent[above]
        fresh |= target == last.node[parent]
        if not fresh.all():
            place, edge, target, parent = place[fresh], edge[fresh], target[fresh], parent[fresh]
        step = self.step[place]
        level = _Level(parent, target, edge, (step & 1).astype(bool), step[:0])
        return level, last.sequence[parent], step


def _affordable(
    last: _Level, sources: Int64, promise: Float64, table: _StepTable, budget: int
) -> tuple[Int64, tuple[Cut, ...]]:
    """Returns the walks to go on from: all, or those of the most promising sequences."""
    counts = table.count(last.node[sources])
    if counts.sum() <= budget:
        return sources, ()
    used = distinct(last.sequence[sources])
    steps = np.bincount(last.sequence[sources], weights=counts, minlength=len(promise))[used]
    order = np.lexsort((used, -np.round(promise[used], 5)))
    fits = max(int(np.searchsorted(np.cumsum(steps[order]), budget, side="right")), 1)
    allowed = np.zeros(len(promise), dtype=bool)
    allowed[used[order[:fits]]] = True
    kept = sources[allowed[last.sequence[sources]]]
    kept = kept[np.cumsum(table.count(last.node[kept])) <= 2 * budget]
    return kept, (Cut("paths", CutReason.WORK_BUDGET, budget, fits, len(used)),)
