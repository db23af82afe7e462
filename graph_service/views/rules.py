"""Horn rules of a graph, mined by counting, and the statements that they could restore (B3).

A rule says that ``r(x, y)`` follows from one statement between x and y, either way, or from two over
a third entity. Its support is how many pairs have both body and head; its PCA confidence (AMIE,
Galarraga et al. 2013) is the share of the pairs with its body that have its head, over those pairs
whose x has any value of the relation. x, y and the third entity differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.views.pairs import PairIndex

MAX_BODIES = 5_000_000
"""Pairs that a rule's body may have; a rule of more is left out, and counted."""

_CHUNK = 1 << 21
_MINING = "mining rules"


@dataclass(frozen=True, slots=True, eq=False)
class Restorable:
    """What rules could restore.

    Attributes:
        head: Edge that is restored, int32 or int64 [n], ascending.
        first, second: Edges of the body, int32 or int64 [n]; second is -1 in a body of one.
        confidence: Of the rule, float64 [n].
        rules: How many rules hold.
        left_out: Rules whose body has too many pairs to count.
    """

    head: Numbers
    first: Numbers
    second: Numbers
    confidence: np.typing.NDArray[np.float64]
    rules: int
    left_out: int


class _Steps:
    """Distinct steps from an entity to another: along a relation, or against it (R and up)."""

    def __init__(self, graph: KnowledgeGraph, index: PairIndex) -> None:
        self.relations = graph.relation_count
        self.nodes = graph.node_count
        edges = np.flatnonzero(index.eligible & (graph.head[:] != graph.tail))
        packed = index.pack(graph.head[edges], graph.rel[edges], graph.tail[edges])
        _, first, counts = np.unique(packed, return_index=True, return_counts=True)
        order = np.sort(first)
        self.heads: Numbers = edges[order].astype(graph.edge_type)
        """The first edge of each triple, ascending."""
        alone = np.zeros(len(edges), dtype=np.bool_)
        alone[first[counts == 1]] = True
        self.is_alone: Bool = alone[order]
        head, rel, tail = (part[self.heads] for part in (graph.head, graph.rel, graph.tail))
        start, end = np.concatenate([head, tail]), np.concatenate([tail, head])
        step = np.concatenate([rel, rel + np.int32(self.relations)])
        pairs = start.astype(np.int64) * self.nodes + end
        by_pair = np.lexsort((step, pairs))
        self.pairs, self.start, self.end = pairs[by_pair], start[by_pair], end[by_pair]
        self.step: Int32 = step[by_pair]
        self.edge: Numbers = np.concatenate([self.heads, self.heads])[by_pair]
        self.begin = np.searchsorted(self.start, np.arange(self.nodes + 1))
        self._of_step = np.argsort(self.step, kind="stable")
        self._step_begin = np.searchsorted(
            self.step[self._of_step], np.arange(2 * self.relations + 1)
        )

    def joining(self, start: Int32, end: Int32) -> tuple[Int64, Int64]:
        """Returns the steps that join some pairs: the pair's index, and the step's row."""
        pairs = start.astype(np.int64) * self.nodes + end
        low = np.searchsorted(self.pairs, pairs, side="left")
        return _ranges(low, np.searchsorted(self.pairs, pairs, side="right") - low)

    def domains(self, graph: KnowledgeGraph) -> list[Int32]:
        """The entities that have a value of each relation, ascending."""
        packed = np.unique(
            graph.rel[self.heads].astype(np.int64) * self.nodes + graph.head[self.heads]
        )
        stops = np.searchsorted(packed, np.arange(1, self.relations) * self.nodes)
        return [(part % self.nodes).astype(np.int32) for part in np.split(packed, stops)]

    def bodies(self, first: int, second: int | None) -> Int64 | None:
        """How many others a body leads to from each entity, int64 [N]; None for too many pairs."""
        of_first = self._rows_of(first)
        if second is None:
            return np.bincount(self.start[of_first], minlength=self.nodes)
        of_second = self._rows_of(second)
        second_start = self.start[of_second]
        low = np.searchsorted(second_start, self.end[of_first], side="left")
        count = np.searchsorted(second_start, self.end[of_first], side="right") - low
        if int(count.sum()) > MAX_BODIES:
            return None
        owner, row = _ranges(low, count)
        start, end = self.start[of_first[owner]], self.end[of_second[row]]
        pairs = np.unique(start.astype(np.int64) * self.nodes + end)
        start, end = np.divmod(pairs, self.nodes)
        return np.bincount(start[start != end], minlength=self.nodes)

    @cached_property
    def _keys(self) -> Int64:
        # By the place of a pair: two nodes and a step do not fit 63 bits in a graph of 60 million.
        first = np.searchsorted(self.pairs, self.pairs)
        keys: Int64 = first * (2 * self.relations) + self.step
        return keys

    def turned(self, steps: Int64) -> Int64:
        """Returns the rows of the same steps walked the other way."""
        step = self.step[steps]
        turned = np.where(step < self.relations, step + self.relations, step - self.relations)
        pairs = self.end[steps].astype(np.int64) * self.nodes + self.start[steps]
        first = np.searchsorted(self.pairs, pairs)
        reverse: Int64 = np.searchsorted(self._keys, first * (2 * self.relations) + turned)
        return reverse

    def _rows_of(self, step: int) -> Int64:
        rows: Int64 = self._of_step[self._step_begin[step] : self._step_begin[step + 1]]
        return rows

    def leaving(self, nodes: Int32) -> tuple[Int64, Int64]:
        """Returns the steps that leave some nodes: the node's index, and the step's row."""
        return _ranges(self.begin[nodes], self.begin[nodes + 1] - self.begin[nodes])


def _ranges(begin: Int64, count: Int64) -> tuple[Int64, Int64]:
    owner = np.repeat(np.arange(len(count)), count)
    return owner, np.arange(len(owner)) + np.repeat(begin - np.cumsum(count) + count, count)


def mine_restorable(
    graph: KnowledgeGraph,
    index: PairIndex,
    /,
    *,
    atoms: int,
    support: int,
    confidence: float,
    deadline: Deadline,
) -> Restorable:
    """Returns the statements that rules could restore, each with every body that does.

    A triple that two statements say is none of them: without one of them it is still said.

    Args:
        graph: The base.
        index: Its ``PairIndex``.
        atoms: Statements of a body at most, 1 or 2.
        support: Least support of a rule.
        confidence: Least PCA confidence.
        deadline: When to give up.
    """
    steps = _Steps(graph, index)
    # One instance a row: place of the head among the triples, steps of the body or -1.
    parts = [_of_one(graph, steps)]
    if atoms > 1:
        parts += _of_two(graph, steps, deadline)
    head, first, second = (np.concatenate([part[i] for part in parts]) for i in range(3))
    width = 2 * steps.relations + 1
    rel = graph.rel[steps.heads[head]].astype(np.int64)
    one = steps.step[first].astype(np.int64)
    two = np.where(second >= 0, steps.step[second], width - 1)
    rule = (rel * width + one) * width + two
    rules, of_rule = np.unique(rule, return_inverse=True)
    # A pair counts once, however many entities its bodies go over.
    instances = np.unique(of_rule.astype(np.int64) * max(1, len(steps.heads)) + head)
    supports = np.bincount(instances // max(1, len(steps.heads)), minlength=len(rules))
    values = np.zeros(len(rules))
    enough = np.flatnonzero(supports >= support)
    relation, body_of = np.divmod(rules[enough], width * width)
    # Rules of one body share its pairs.
    left_out = 0
    domains = steps.domains(graph)
    for body in np.unique(body_of).tolist():
        deadline.check(_MINING)
        begin, end = divmod(body, width)
        numbers = np.flatnonzero(body_of == body)
        bodies = steps.bodies(begin, None if end == width - 1 else end)
        if bodies is None:
            left_out += len(numbers)
            continue
        for rule_index in numbers.tolist():
            pairs = int(bodies[domains[relation[rule_index]]].sum())
            values[enough[rule_index]] = supports[enough[rule_index]] / pairs
    holds = (supports >= support) & (values >= confidence) & (values > 0)
    selected = np.flatnonzero(holds[of_rule] & steps.is_alone[head])
    edges = steps.heads[head[selected]]
    body = steps.edge[first[selected]], np.where(second >= 0, steps.edge[second], -1)[selected]
    order = np.lexsort((body[1], body[0], -values[of_rule[selected]], edges))
    return Restorable(
        head=edges[order],
        first=body[0][order],
        second=body[1][order].astype(graph.edge_type),
        confidence=values[of_rule[selected]][order],
        rules=int(np.count_nonzero(holds)),
        left_out=left_out,
    )


def _of_one(graph: KnowledgeGraph, steps: _Steps) -> tuple[Int64, Int64, Int64]:
    heads = steps.heads
    owner, row = steps.joining(graph.head[heads], graph.tail[heads])
    other = steps.step[row] != graph.rel[heads[owner]]
    return owner[other], row[other], np.full(int(other.sum()), -1, dtype=np.int64)


def _of_two(
    graph: KnowledgeGraph, steps: _Steps, deadline: Deadline
) -> list[tuple[Int64, Int64, Int64]]:
    """Bodies of two statements for each triple, over the neighbours of its end of fewer."""
    heads = steps.heads
    degree = np.diff(steps.begin)
    start, end = graph.head[heads], graph.tail[heads]
    from_start = degree[start] <= degree[end]
    costs = np.minimum(degree[start], degree[end])
    bodies = []
    for is_start in (True, False):
        rows = np.flatnonzero(from_start == is_start)
        sums = np.cumsum(costs[rows])
        begin = 0
        while begin < len(rows):
            deadline.check(_MINING)
            done = int(sums[begin - 1]) if begin else 0
            stop = max(begin + 1, int(np.searchsorted(sums, done + _CHUNK, side="right")))
            chunk = rows[begin:stop]
            near, far = (start, end) if is_start else (end, start)
            owner, out = steps.leaving(near[chunk])
            over = steps.end[out]
            apart = over != far[chunk[owner]]
            owner, out, over = owner[apart], out[apart], over[apart]
            # From the start: its step to z, then z's to the end. From the end: the start's to z,
            # then what the end's step is the other way round.
            if is_start:
                second_of, second = steps.joining(over, far[chunk[owner]])
                bodies.append((chunk[owner[second_of]], out[second_of], second))
            else:
                first_of, first = steps.joining(far[chunk[owner]], over)
                back = steps.turned(out)[first_of]
                bodies.append((chunk[owner[first_of]], first, back))
            begin = stop
    return bodies
