"""Relation sequences from each entity that a question may begin at, and the walks that follow them.

A candidate is a start entity and a sequence of relations with directions. All trails from the
starts, walks that use no statement twice, are enumerated, shortest first, within a budget; of the
longer sequences the most promising are kept. A trail may come back to an entity (*the spouse of
X's spouse*). A statement of an entity about itself may be used again, since it leads nowhere else.
What makes a sequence promising is cheap: how like its relations' names are to the question, how
well they say each of its words, and how sure the start is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.learned.walks import Level, StepTable
from graph_service.retrieve.preset import LearnedPreset
from graph_service.sorting import distinct, stable_order


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
    _levels: tuple[Level, ...]
    _sequence: Int64
    _edge: Int64

    def __len__(self) -> int:
        return len(self.start)

    @property
    def steps(self) -> Bool:
        """Which places of ``relations`` hold a step, bool [c, hops]."""
        held: Bool = np.arange(self.relations.shape[1]) < self.length[:, None]
        return held

    def sequence(self, number: int, /) -> tuple[tuple[int, bool], ...]:
        """Returns a candidate's relations, global numbers, and their directions."""
        return self.sequences(np.array([number]))[0]

    def sequences(self, numbers: Int64, /) -> list[tuple[tuple[int, bool], ...]]:
        """Returns ``sequence`` of some candidates."""
        return [
            tuple(zip(relations, backward, strict=True))[:length]
            for relations, backward, length in zip(
                self.relation_numbers[self.relations[numbers]].tolist(),
                self.backward[numbers].tolist(),
                self.length[numbers].tolist(),
                strict=True,
            )
        ]

    def edges(self, number: int, /) -> Int64:
        """Returns the local edges of a candidate's walks, in order of their keys, [walks, steps]."""
        depth = int(self.length[number])
        walk = np.flatnonzero(self._levels[depth].sequence == self._sequence[number])
        edges = np.empty((len(walk), depth), dtype=np.int64)
        for step in range(depth, 0, -1):
            level = self._levels[step]
            edges[:, step - 1] = self._edge.take(level.index.take(walk))
            walk = level.parents(walk)
        return edges


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """How well s starts and r relations fit a question of at most w words.

    Attributes:
        relation: Cosine of each relation's name with the question as asked of each start,
            float64 [s, r].
        words: With each word of it, float64 [s, w, r]; 0 past the last word.
        word_count: Words of the question as asked of each start, int64 [s].
        doubt: Taken off the promise of each start's sequences, float64 [s].
    """

    relation: Float64
    words: Float64
    word_count: Int64
    doubt: Float64

    def promise(
        self, owner: Int64, length: Int64 | int, total: Float64, of_word: Float64, /
    ) -> Float64:
        """Returns how promising each of n sequences is, float64 [n].

        Args:
            owner: The start of each, int64 [n].
            length: Steps of each, or of all.
            total: Sum of its relations' cosines with the question.
            of_word: Cosine of each word with the relation that says it best, float64 [n, w].
        """
        of_words = of_word.sum(axis=1) / np.maximum(self.word_count[owner], 1)
        promise: Float64 = total / np.sqrt(np.maximum(length, 1)) + of_words - self.doubt[owner]
        return promise


def find_candidates(
    region: Region,
    fit: Fit,
    preset: LearnedPreset,
    /,
    *,
    relation_numbers: Int64,
    deadline: Deadline,
) -> tuple[Candidates, tuple[Cut, ...]]:
    """Returns the candidates of a region, and what limits left out.

    Args:
        region: Whose start entities the walks begin at.
        fit: How well its starts and relations fit the question.
        preset: The budgets.
        relation_numbers: Global numbers of the region's relations, int64 [r], ascending.
        deadline: Raises ``DeadlineError`` when past.
    """
    table = StepTable(region, relation_numbers)
    count = len(region.start_entities)
    none = np.full(count, -1)
    hops = min(preset.hops, preset.max_path_length)
    owner = np.arange(count)
    before = none
    moves = np.zeros((count, hops), dtype=np.int64)
    length = np.zeros(count, dtype=np.int64)
    total = np.zeros(count)
    of_word = np.zeros((count, fit.words.shape[1]))
    levels, cuts = [Level(none, none, none, region.start_entities, owner)], list[Cut]()
    selected = [np.zeros(0, dtype=np.int64)]
    for depth in range(1, hops + 1):
        deadline.check("walking from the question's entities")
        last = levels[-1]
        sources = np.flatnonzero((last.sequence >= 0) & ~region.literal[last.node])
        promise = fit.promise(owner, length, total, of_word)
        sources, cut = _affordable(last, sources, promise, table, preset.work_budget)
        cuts.extend(cut)
        steps = table.steps_on(levels, sources)
        parent, step = steps.sequence, steps.step
        if not len(parent):
            break
        start, relation = owner[parent], step // 2
        longer = total[parent] + fit.relation[start, relation]
        says = np.maximum(of_word[parent], fit.words[start, :, relation])
        made = best = np.arange(len(parent))
        most = preset.candidates_per_length
        if depth > 1 and len(parent) > most:
            value = np.round(fit.promise(start, depth, longer, says), 5)
            best = np.sort(np.lexsort((best, -value))[:most])
            cuts.append(Cut("sequences", CutReason.LIMIT, most, most, len(parent)))
        if depth == hops:
            # Nothing goes on from the last ones: the others are not made.
            parent, step = parent[best], step[best]
            longer, says = longer[best], says[best]
            made, best = best, np.arange(len(best))
        first = len(owner)
        selected.append(first + best)
        added = moves[parent]
        added[:, depth - 1] = step
        moves = np.concatenate((moves, added))
        length = np.concatenate((length, np.full(len(parent), depth)))
        total = np.concatenate((total, longer))
        of_word = np.concatenate((of_word, says))
        owner = np.concatenate((owner, owner[parent]))
        before = np.concatenate((before, parent))
        levels.append(steps.walks_of(made, first=first))
    chosen = np.concatenate(selected)
    # The last place is that of no sequence, -1.
    index = np.full(len(owner) + 1, -1)
    index[chosen] = np.arange(len(chosen))
    walks, end_owner, end_node = _end_nodes(levels, index, len(chosen), region.node_count)
    prefixes = _prefixes(before, length[chosen], chosen, index, hops)
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
            np.where(length[chosen] > 1, index[before[chosen]], -1),
            tuple(levels),
            chosen,
            table.edge,
        ),
        tuple(cuts),
    )


def _prefixes(before: Int64, length: Int64, chosen: Int64, index: Int64, hops: int) -> Int64:
    """Returns ``Candidates.prefixes``.

    Args:
        before: The sequence that each sequence goes on from, int64 [s].
        length: Steps of the chosen ones, int64 [c].
        chosen: The sequences that are candidates, int64 [c].
        index: The candidate that each sequence is, int64 [s]; -1 for none.
        hops: Most steps.
    """
    prefixes = np.full((len(chosen), hops - 1), -1)
    sequence = chosen
    for back in range(1, hops):
        sequence = before[sequence]
        rows = np.flatnonzero(length > back)
        prefixes[rows, length[rows] - back - 1] = index[sequence[rows]]
    return prefixes


def _end_nodes(
    levels: list[Level], index: Int64, count: int, node_count: int
) -> tuple[Int64, Int64, Int64]:
    """Returns the number of walks of each candidate, and the pairs of it and an end.

    Args:
        levels: The walks.
        index: The candidate that each sequence is, int64 [s + 1]; -1 for none, and last.
        count: Of candidates.
        node_count: Nodes of the region.
    """
    # Numbers of 32 bits are moved in half the time.
    fits = count * node_count <= np.iinfo(np.int32).max
    first = cast("Int64", (index * node_count).astype(np.int32 if fits else np.int64))
    held = [first[:0]]
    for level in levels[1:]:
        pair = first.take(level.sequence)
        pair += level.node
        held.append(pair.take(np.flatnonzero(pair >= 0)))
    pairs = np.concatenate(held)
    pairs = pairs.take(stable_order(pairs))
    walks = np.diff(np.searchsorted(pairs, np.arange(count + 1, dtype=pairs.dtype) * node_count))
    new = np.flatnonzero(np.diff(pairs, prepend=pairs.dtype.type(-1)))
    end_owner = np.repeat(np.arange(count), walks).take(new)
    return walks, end_owner, pairs.take(new) - end_owner * node_count


def _affordable(
    last: Level, sources: Int64, promise: Float64, table: StepTable, budget: int
) -> tuple[Int64, tuple[Cut, ...]]:
    """Returns the walks to go on from: all, or those of the most promising sequences."""
    counts = table.count(last.node.take(sources).astype(np.int64))
    if counts.sum() <= budget:
        return sources, ()
    sequence = last.sequence.take(sources)
    used = distinct(sequence)
    steps = np.bincount(sequence, weights=counts, minlength=len(promise))[used]
    order = np.lexsort((used, -np.round(promise[used], 5)))
    fits = max(int(np.searchsorted(np.cumsum(steps[order]), budget, side="right")), 1)
    allowed = np.zeros(len(promise), dtype=bool)
    allowed[used[order[:fits]]] = True
    rows = np.flatnonzero(allowed.take(sequence))
    selected = sources.take(rows)[np.cumsum(counts.take(rows)) <= 2 * budget]
    return selected, (Cut("paths", CutReason.WORK_BUDGET, budget, fits, len(used)),)
