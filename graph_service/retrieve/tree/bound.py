"""How much better a tree could be at most, and a search that closes what is left (row O7).

The problem is turned into one with a root: either the terminal of the largest prize is in the
best tree, or it is not and the next one is, and so on. With a root, a bound comes from dual ascent
(Wong 1984, for Steiner arborescences; with prizes a terminal's payments end at its prize): a
terminal pays for the arcs into the set of nodes that already reach it for nothing, until that set
holds the root or its prize is spent. What was paid is a part of the costs and lost prizes that
no tree escapes. Costs that are left over tell which nodes are in no better tree, and the search
branches on whether a node is in.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Deadline
from graph_service.retrieve.tree.reduction import Small, Solution, tree_on
from graph_service.sorting import distinct, stable_order

BOUND_WORK = 300_000
"""Arcs looked at for a bound alone; some 10 ms."""
PROOF_WORK = 60_000_000
"""Arcs looked at for a proof; some two seconds."""
_A_LOOK = 1_000
"""What looking at any arcs costs beside the arcs themselves, in arcs."""
_BOUNDING = "looking for how good a subgraph can be"
_SPENT = 1e-12
_SLACK = 1e-7
"""What sums of prizes and costs may be off by."""


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """A part of all trees: those with a root and some further nodes, without some others.

    Attributes:
        root: Node that is in; -1: any terminal from place ``first`` on.
        first: Place of the first terminal that may be in.
        needed, gone: Nodes that are in, and nodes that are not: bool [n].
    """

    root: int
    first: int
    needed: Bool
    gone: Bool


@dataclass(slots=True, eq=False)
class _Ascent:
    """A bound of one case: what no tree escapes, what arcs and terminals have left to pay."""

    paid: float
    left_arcs: Float64
    left_prizes: dict[int, float]


def bound_of(
    small: Small, known: Solution, /, *, work: int, deadline: Deadline
) -> tuple[Solution, float]:
    """Returns the best tree known and a value that no tree exceeds.

    Args:
        small: The problem, reduced.
        known: A tree of it.
        work: Arcs looked at, at most; the same work gives the same result on every machine.
        deadline: Raises ``DeadlineError`` when past.
    """
    return _Search(small, known, work, deadline).run()


class _Search:
    """Arcs stand in the order of the node that they lead to: those of v from ``begin[v]`` on."""

    def __init__(self, small: Small, known: Solution, work: int, deadline: Deadline) -> None:
        self.small = small
        self.best = known
        self.work = work
        self.deadline = deadline
        n, m = len(small.prizes), len(small.edge)
        self.prizes = small.prizes
        into = np.concatenate((small.target, small.source))
        order = stable_order(into)
        self.other = np.concatenate((small.source, small.target))[order]
        self.costs = np.concatenate((small.costs, small.costs))[order]
        self.begin = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(into, minlength=n), out=self.begin[1:])
        position = np.empty(2 * m, dtype=np.int64)
        position[order] = np.arange(2 * m)
        # The same edge, walked back.
        self.back = np.concatenate((position[m:], position[:m]))[order]
        self.rows = np.flatnonzero(np.diff(self.begin))
        terminals = np.flatnonzero(small.prizes > 0)
        order = np.lexsort((terminals, -small.prizes[terminals]))
        self.terminals: list[int] = terminals[order].tolist()
        amounts = np.concatenate((small.prizes, small.costs))
        self.is_integral = bool(np.array_equal(amounts, np.round(amounts)))

    def run(self) -> tuple[Solution, float]:
        """Splits the case of the highest bound until none can hold a better tree."""
        queue: list[tuple[float, int, _Case]] = []
        count = 0

        def push(bound: float, case: _Case) -> None:
            nonlocal count
            count += 1
            # Later cases of one bound first: they are nearer to being settled.
            heapq.heappush(queue, (-bound, -count, case))

        none = np.zeros(len(self.prizes), dtype=bool)
        push(float(self.prizes.sum()), _Case(-1, 0, none, none))
        while queue and self._may_beat(-queue[0][0]):
            self.deadline.check(_BOUNDING)
            if self.work <= 0:
                return self.best, max(self._floor(-queue[0][0]), self.best[2])
            bound, _, case = heapq.heappop(queue)
            if case.root < 0:
                terminal = self.terminals[case.first]
                push(-bound, _Case(terminal, case.first, none, case.gone))
                if case.first + 1 < len(self.terminals):
                    left = float(self.prizes[self.terminals[case.first + 1 :]].sum())
                    push(left, _Case(-1, case.first + 1, none, _with(case.gone, terminal)))
                continue
            for value, part in self._split(-bound, case):
                push(value, part)
        return self.best, self.best[2]

    def _floor(self, bound: float) -> float:
        return math.floor(bound + _SLACK) if self.is_integral else bound

    def _may_beat(self, bound: float) -> bool:
        return self._floor(bound) > self.best[2] + _SLACK

    def _split(self, bound: float, case: _Case) -> list[tuple[float, _Case]]:
        """Returns the two halves of a case with their bounds; none where nothing is better."""
        needed, gone = case.needed.copy(), case.gone.copy()
        while True:
            self.deadline.check(_BOUNDING)
            ascent = self._ascend(case.root, needed, gone)
            if ascent is None:
                return []
            total = float(self.prizes[~gone].sum())
            bound = min(bound, total - ascent.paid)
            tree = self._tree(case.root, ascent, gone)
            if not self._may_beat(bound):
                return []
            fixed = self._fix(case.root, total - ascent.paid, ascent, needed, gone)
            if (needed & gone).any():
                return []
            # Another ascent pays where the problem has become much smaller.
            if fixed * 8 < len(self.prizes) - int(gone.sum()) or self.work <= 0:
                break
        at = self._branching_node(case.root, tree, ascent, needed, gone)
        if at < 0:
            return []
        return [
            (bound, _Case(case.root, case.first, needed, _with(gone, at))),
            (bound, _Case(case.root, case.first, _with(needed, at), gone)),
        ]

    def _arcs_into(self, nodes: Int64) -> Int64:
        begin = self.begin[nodes]
        count = self.begin[nodes + 1] - begin
        stops = np.cumsum(count)
        total = int(stops[-1]) if len(stops) else 0
        self.work -= total + _A_LOOK
        arcs: Int64 = np.arange(total) + np.repeat(begin - stops + count, count)
        return arcs

    def _ascend(self, root: int, needed: Bool, gone: Bool) -> _Ascent | None:
        """Returns the dual ascent; None where a needed node cannot be reached."""
        left_arcs = self.costs.copy()
        left = {t: float(self.prizes[t]) for t in self.terminals if t != root and not gone[t]}
        left.update({node: math.inf for node in np.flatnonzero(needed).tolist() if node != root})
        # Each terminal's set, and arcs into it of which none was inside when last looked at.
        sets: dict[int, tuple[Int64, Int64]] = {}
        queue = [(int(self.begin[t + 1] - self.begin[t]), t) for t in left]
        heapq.heapify(queue)
        closed = gone.copy()
        paid = 0.0
        while queue:
            self.deadline.check(_BOUNDING)
            size, terminal = heapq.heappop(queue)
            if terminal in sets:
                members, arcs = sets[terminal]
                self.work -= len(arcs) + _A_LOOK
            else:
                members = np.array([terminal])
                arcs = self._arcs_into(members)
            closed[members] = True
            while True:
                others = self.other[arcs]
                crossing = ~closed[others]
                arcs, others = arcs[crossing], others[crossing]
                free = left_arcs[arcs] <= _SPENT
                if not free.any():
                    break
                new = distinct(others[free])
                closed[new] = True
                members = np.concatenate((members, new))
                arcs = np.concatenate((arcs, self._arcs_into(new)))
            reached = bool(closed[root])
            closed[members] = gone[members]
            if reached:
                continue
            sets[terminal] = members, arcs
            if not len(arcs):
                if left[terminal] == math.inf:
                    return None
                paid += left[terminal]
                left[terminal] = 0.0
                continue
            # Small sets pay first: what they pay stands in the way of the fewest others.
            if len(arcs) > size and queue and len(arcs) > queue[0][0]:
                heapq.heappush(queue, (len(arcs), terminal))
                continue
            step = min(float(left_arcs[arcs].min()), left[terminal])
            left_arcs[arcs] -= step
            paid += step
            left[terminal] -= step
            if left[terminal] > _SPENT:
                heapq.heappush(queue, (len(arcs), terminal))
        return _Ascent(paid, left_arcs, left)

    def _fix(self, root: int, bound: float, ascent: _Ascent, needed: Bool, gone: Bool) -> int:
        """Adds the nodes that every better tree has, or that none has; returns how many."""
        count = 0
        for terminal, left in ascent.left_prizes.items():
            if left < math.inf and not self._may_beat(bound - left):
                needed[terminal] = True
                count += 1
        away = self._distances([root], ascent.left_arcs, gone)
        home = self._distances([root, *ascent.left_prizes], ascent.left_arcs[self.back], gone)
        way = away + np.where(self.prizes <= 0, home, 0.0)
        most = bound - way
        if self.is_integral:
            most = np.floor(most + _SLACK)
        new = ~gone & ~(most > self.best[2] + _SLACK)
        gone |= new
        return count + int(new.sum())

    def _distances(self, sources: list[int], costs: Float64, gone: Bool) -> Float64:
        """Returns the least cost of a way from the sources to each node, float64 [n]."""
        distance = np.full(len(self.prizes), np.inf)
        distance[sources] = 0.0
        if not len(self.rows):
            return distance
        begin, closed = self.begin[self.rows], gone[self.rows]
        while True:
            self.deadline.check(_BOUNDING)
            self.work -= len(costs) + _A_LOOK
            least = np.minimum.reduceat(distance[self.other] + costs, begin)
            least[closed] = np.inf
            before = distance[self.rows]
            if not (least < before).any():
                return distance
            distance[self.rows] = np.minimum(least, before)

    def _tree(self, root: int, ascent: _Ascent, gone: Bool) -> Solution:
        """Returns the best tree on the nodes that the root reaches for nothing; keeps the best."""
        closed = gone.copy()
        closed[root] = True
        members = new = np.array([root])
        while len(new):
            arcs = self._arcs_into(new)
            others = self.other[arcs]
            free = (ascent.left_arcs[self.back[arcs]] <= _SPENT) & ~closed[others]
            new = distinct(others[free])
            closed[new] = True
            members = np.concatenate((members, new))
        small = self.small
        endpoints = (small.source, small.target)
        tree = tree_on(np.sort(members), *endpoints, small.prizes, small.costs, self.deadline)
        if tree[2] > self.best[2] + _SLACK:
            self.best = tree
        return tree

    def _branching_node(
        self, root: int, tree: Solution, ascent: _Ascent, needed: Bool, gone: Bool
    ) -> int:
        """Returns the undecided node with the most free arcs, those of the tree first; or -1."""
        settled = needed | gone
        settled[root] = True
        near = tree[0][~settled[tree[0]]]
        near = near if len(near) else np.flatnonzero(~settled)
        if not len(near):
            return -1
        spent = np.concatenate(([0], np.cumsum(ascent.left_arcs <= _SPENT)))
        free = spent[self.begin[near + 1]] - spent[self.begin[near]]
        return int(near[np.argmax(free)])


def _with(nodes: Bool, node: int) -> Bool:
    more = nodes.copy()
    more[node] = True
    return more
