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

from graph_service.model.graph import Bool, Float64, Int32, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.preset import LearnedPreset
from graph_service.sorting import distinct, ranked, stable_order


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Walks of one length, those of one start in the order of their edges.

    Attributes:
        sources: The walks of the level before that some walk goes on from, int64 [s].
        source: Place in ``sources`` of the walk that each goes on from, int64 [w].
        place: Of its last step in the ``_StepTable``, int64 [w].
        node: Where it ends, int32 [w].
        sequence: Numbers the sequences of all lengths, those of length 0, the starts, first, int64
            [w]; -1 for a walk that does not count.
    """

    sources: Int64
    source: Int64
    place: Int64
    node: Int32
    sequence: Int64

    def parents(self, walks: Int64, /) -> Int64:
        """Returns the walks of the level before that some walks go on from."""
        return self.sources.take(self.source.take(walks))


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
            edges[:, step - 1] = self._edge.take(level.place.take(walk))
            walk = level.parents(walk)
        return edges


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """How well s starts and r relations fit a question of at most w words.

    Attributes:
        whole: Cosine of each relation's name with the question as asked of each start,
            float64 [s, r].
        words: With each word of it, float64 [s, w, r]; 0 past the last word.
        word_count: Words of the question as asked of each start, int64 [s].
        doubt: Taken off the promise of each start's sequences, float64 [s].
    """

    whole: Float64
    words: Float64
    word_count: Int64
    doubt: Float64

    def promise(
        self, owner: Int64, length: Int64 | int, total: Float64, said: Float64, /
    ) -> Float64:
        """Returns how promising each of n sequences is, float64 [n].

        Args:
            owner: The start of each, int64 [n].
            length: Steps of each, or of all.
            total: Sum of its relations' cosines with the question.
            said: Cosine of each word with the relation that says it best, float64 [n, w].
        """
        of_words = said.sum(axis=1) / np.maximum(self.word_count[owner], 1)
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
    table = _StepTable(region, relation_numbers)
    count = len(region.start_entities)
    none = np.full(count, -1)
    hops = min(preset.hops, preset.max_path_length)
    owner = np.arange(count)
    before = none
    moves = np.zeros((count, hops), dtype=np.int64)
    length = np.zeros(count, dtype=np.int64)
    total = np.zeros(count)
    said = np.zeros((count, fit.words.shape[1]))
    levels, cuts = [_Level(none, none, none, region.start_entities, owner)], list[Cut]()
    kept = [np.zeros(0, dtype=np.int64)]
    for depth in range(1, hops + 1):
        deadline.check("walking from the question's entities")
        last = levels[-1]
        sources = np.flatnonzero((last.sequence >= 0) & ~region.literal[last.node])
        promise = fit.promise(owner, length, total, said)
        sources, cut = _affordable(last, sources, promise, table, preset.work_budget)
        cuts.extend(cut)
        steps = table.steps_on(levels, sources)
        parent, step = steps.sequence, steps.step
        if not len(parent):
            break
        start, relation = owner[parent], step // 2
        longer = total[parent] + fit.whole[start, relation]
        says = np.maximum(said[parent], fit.words[start, :, relation])
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
        kept.append(first + best)
        added = moves[parent]
        added[:, depth - 1] = step
        moves = np.concatenate((moves, added))
        length = np.concatenate((length, np.full(len(parent), depth)))
        total = np.concatenate((total, longer))
        said = np.concatenate((said, says))
        owner = np.concatenate((owner, owner[parent]))
        before = np.concatenate((before, parent))
        levels.append(steps.walks_of(made, first=first))
    chosen = np.concatenate(kept)
    # The last place is that of no sequence, -1.
    place = np.full(len(owner) + 1, -1)
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
            table.edge,
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
    """Returns the number of walks of each candidate, and the pairs of it and an end.

    Args:
        levels: The walks.
        place: The candidate that each sequence is, int64 [s + 1]; -1 for none, and last.
        count: Of candidates.
        node_count: Nodes of the region.
    """
    # Numbers of 32 bits are sorted in half the time.
    fits = count * node_count <= np.iinfo(np.int32).max
    first = cast("Int64", (place * node_count).astype(np.int32 if fits else np.int64))
    held = [first[:0]]
    for level in levels[1:]:
        pair = first.take(level.sequence)
        pair += level.node
        held.append(pair.take(np.flatnonzero(pair >= 0)))
    pairs = np.concatenate(held)
    pairs.sort()
    walks = np.diff(np.searchsorted(pairs, np.arange(count + 1, dtype=pairs.dtype) * node_count))
    new = np.flatnonzero(np.diff(pairs, prepend=pairs.dtype.type(-1)))
    end_owner = np.repeat(np.arange(count), walks).take(new)
    return walks, end_owner, pairs.take(new) - end_owner * node_count


class _StepTable:
    """Steps out of each local node, both ways: those of one node together, by their edges' numbers.

    Attributes:
        edge, target: The edge of each step and the node that it leads to, int64 and int32 [h].
        step: Twice the local number of its relation, plus one from tail to head, int64 [h].
        begin: Place of each node's first step, and last the number of all, int64 [n + 1].
        back: Place of the step that walks the same edge the other way, int64 [h]; -1 for none: a
            statement of a thing about itself is walked forward alone.
    """

    def __init__(self, region: Region, relation_numbers: Int64) -> None:
        # Each edge forward, then backward: what a stable sort by source keeps.
        source = np.stack((region.head, region.tail), axis=1).ravel()
        count = np.bincount(source, minlength=region.node_count)
        order = stable_order(source)
        loops = np.flatnonzero(region.head == region.tail)
        if len(loops):
            is_step = np.ones(len(source), dtype=bool)
            is_step[2 * loops + 1] = False
            order = order.take(np.flatnonzero(is_step.take(order)))
            count -= np.bincount(region.head.take(loops), minlength=region.node_count)
        other = order ^ 1
        self.edge = order >> 1
        self.target = source.take(other)
        self.relation_count = max(len(relation_numbers), 1)
        number = np.empty(int(relation_numbers.max(initial=-1)) + 1, dtype=np.int64)
        number[relation_numbers] = np.arange(0, 2 * len(relation_numbers), 2)
        step = np.empty((region.edge_count, 2), dtype=np.int64)
        step[:, 0] = number[region.rel]
        step[:, 1] = step[:, 0] + 1
        self.step = step.ravel().take(order)
        self.begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(count)))
        place = np.empty(len(source), dtype=np.int64)
        place[order] = np.arange(len(order))
        place[2 * loops + 1] = -1
        self.back = place.take(other)

    def count(self, nodes: Int64) -> Int64:
        """Returns the number of steps out of each node."""
        return self.begin.take(nodes + 1) - self.begin.take(nodes)

    def steps_on(self, levels: list[_Level], sources: Int64) -> _Steps:
        """Returns the steps by which some walks of the last level go on."""
        last = levels[-1]
        nodes = last.node.take(sources).astype(np.int64)
        begin, count = self.begin.take(nodes), self.count(nodes)
        offset = np.cumsum(count) - count
        source = np.repeat(np.arange(len(sources)), count)
        place = (begin - offset).take(source)
        place += np.arange(len(place))
        used, sequence = ranked(last.sequence.take(sources))
        code = (sequence * (2 * self.relation_count)).take(source)
        code += self.step.take(place)
        # A number past all: no trail takes a statement twice.
        taken, again = self._taken(levels, sources)
        code[(offset - begin).take(taken) + again] = len(used) * 2 * self.relation_count
        pairs, number = ranked(code)
        if len(taken):
            pairs = pairs[:-1]
        old, step = np.divmod(pairs, 2 * self.relation_count)
        return _Steps(sources, source, place, self.target, number, used[old], step)

    def _taken(self, levels: list[_Level], sources: Int64) -> tuple[Int64, Int64]:
        """Returns which steps out of the ends of some walks these took before, one way or the other.

        Returns:
            Places in ``sources``, and the place of a step that the walk may not take again.
        """
        end = levels[-1].node.take(sources)
        walks, steps = [sources[:0]], [sources[:0]]
        for before, level in zip(levels[-2::-1], levels[:0:-1], strict=True):
            place, above = level.place.take(sources), level.parents(sources)
            back = self.back.take(place)
            for step, source in (
                (back, level.node.take(sources)),
                (place, before.node.take(above)),
            ):
                met = np.flatnonzero((source == end) & (back >= 0))
                walks.append(met)
                steps.append(step.take(met))
            sources = above
        return np.concatenate(walks), np.concatenate(steps)


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """The steps by which s walks go on, and the p pairs of a sequence and its next step.

    Attributes:
        sources: The walks that are gone on from, int64 [w].
        source: Place among these of the walk that each step goes on from, int64 [s].
        place: Of the step in the table, int64 [s].
        target: What each step of the table leads to, int32 [h].
        pair: Which pair it is, int64 [s]; p of one that may not be taken.
        sequence, step: Of each pair, ascending, int64 [p].
    """

    sources: Int64
    source: Int64
    place: Int64
    target: Int32
    pair: Int64
    sequence: Int64
    step: Int64

    def walks_of(self, pairs: Int64, /, *, first: int) -> _Level:
        """Returns the longer walks, of which those of some pairs count.

        The sequences of these pairs are numbered from ``first`` on.
        """
        number = np.full(len(self.sequence) + 1, -1)
        number[pairs] = np.arange(first, first + len(pairs))
        return _Level(
            self.sources,
            self.source,
            self.place,
            self.target.take(self.place),
            number.take(self.pair),
        )


def _affordable(
    last: _Level, sources: Int64, promise: Float64, table: _StepTable, budget: int
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
    kept = sources.take(rows)[np.cumsum(counts.take(rows)) <= 2 * budget]
    return kept, (Cut("paths", CutReason.WORK_BUDGET, budget, fits, len(used)),)
