"""Steps of a region's nodes, and the walks that go on by them, one length at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Int32, Int64
from graph_service.model.region import Region
from graph_service.sorting import ranked, stable_order


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Walks of one length, those of one start in the order of their edges.

    Attributes:
        sources: The walks of the level before that some walk goes on from, int64 [s].
        source: Place in ``sources`` of the walk that each goes on from, int64 [w].
        index: Of its last step in the ``StepTable``, int64 [w].
        node: Where it ends, int32 [w].
        sequence: Numbers the sequences of all lengths, those of length 0, the starts, first, int64
            [w]; -1 for a walk that does not count.
    """

    sources: Int64
    source: Int64
    index: Int64
    node: Int32
    sequence: Int64

    def parents(self, walks: Int64, /) -> Int64:
        """Returns the walks of the level before that some walks go on from."""
        return self.sources.take(self.source.take(walks))


class StepTable:
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
        index = np.empty(len(source), dtype=np.int64)
        index[order] = np.arange(len(order))
        index[2 * loops + 1] = -1
        self.back = index.take(other)

    def count(self, nodes: Int64) -> Int64:
        """Returns the number of steps out of each node."""
        return self.begin.take(nodes + 1) - self.begin.take(nodes)

    def steps_on(self, levels: list[Level], sources: Int64) -> Steps:
        """Returns the steps by which some walks of the last level go on."""
        last = levels[-1]
        nodes = last.node.take(sources).astype(np.int64)
        begin, count = self.begin.take(nodes), self.count(nodes)
        offset = np.cumsum(count) - count
        source = np.repeat(np.arange(len(sources)), count)
        index = (begin - offset).take(source)
        index += np.arange(len(index))
        used, sequence = ranked(last.sequence.take(sources))
        code = (sequence * (2 * self.relation_count)).take(source)
        code += self.step.take(index)
        # A number past all: no trail takes a statement twice.
        taken, again = self._taken(levels, sources)
        code[(offset - begin).take(taken) + again] = len(used) * 2 * self.relation_count
        pairs, number = ranked(code)
        if len(taken):
            pairs = pairs[:-1]
        old, step = np.divmod(pairs, 2 * self.relation_count)
        return Steps(sources, source, index, self.target, number, used[old], step)

    def _taken(self, levels: list[Level], sources: Int64) -> tuple[Int64, Int64]:
        """Returns which steps out of the ends of some walks these took before, one way or the other.

        Returns:
            Places in ``sources``, and the place of a step that the walk may not take again.
        """
        end = levels[-1].node.take(sources)
        walks, steps = [sources[:0]], [sources[:0]]
        for before, level in zip(levels[-2::-1], levels[:0:-1], strict=True):
            index, above = level.index.take(sources), level.parents(sources)
            back = self.back.take(index)
            for step, source in (
                (back, level.node.take(sources)),
                (index, before.node.take(above)),
            ):
                met = np.flatnonzero((source == end) & (back >= 0))
                walks.append(met)
                steps.append(step.take(met))
            sources = above
        return np.concatenate(walks), np.concatenate(steps)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps by which s walks go on, and the p pairs of a sequence and its next step.

    Attributes:
        sources: The walks that are gone on from, int64 [w].
        source: Place among these of the walk that each step goes on from, int64 [s].
        index: Of the step in the table, int64 [s].
        target: What each step of the table leads to, int32 [h].
        pair: Which pair it is, int64 [s]; p of one that may not be taken.
        sequence, step: Of each pair, ascending, int64 [p].
    """

    sources: Int64
    source: Int64
    index: Int64
    target: Int32
    pair: Int64
    sequence: Int64
    step: Int64

    def walks_of(self, pairs: Int64, /, *, first: int) -> Level:
        """Returns the longer walks, of which those of some pairs count.

        The sequences of these pairs are numbered from ``first`` on.
        """
        number = np.full(len(self.sequence) + 1, -1)
        number[pairs] = np.arange(first, first + len(pairs))
        return Level(
            self.sources,
            self.source,
            self.index,
            self.target.take(self.index),
            number.take(self.pair),
        )
