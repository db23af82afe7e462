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

from graph_service.model.limits import Deadline
from graph_service.retrieve.reduction import Found, Small, tree_on

BOUND_WORK = 30_000
"""Arcs looked at for a bound alone; some 10 ms."""
PROOF_WORK = 5_000_000
"""Arcs looked at for a proof; some two seconds."""
_SPENT = 1e-12
_SLACK = 1e-7
"""What sums of prizes and costs may be off by."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A part of all trees: those with a root and some further nodes, without some others.

    Attributes:
        root: Node that is in; -1: any terminal from place ``first`` on.
        first: Place of the first terminal that may be in.
    """

    root: int
    first: int
    needed: frozenset[int]
    gone: frozenset[int]


@dataclass(slots=True)
class _Ascent:
    """A bound of one case: what no tree escapes, what arcs and terminals have left to pay."""

    paid: float
    left_arcs: list[float]
    left_prizes: dict[int, float]


def bound_of(
    small: Small, found: Found, /, *, work: int, deadline: Deadline
) -> tuple[Found, float]:
    """Returns the best tree known and a value that no tree exceeds.

    Args:
        small: The problem, reduced.
        found: A tree of it.
        work: Arcs looked at, at most; the same work gives the same result on every machine.
        deadline: Ends the search when past.
    """
    return _Search(small, found, work, deadline).run()


class _Search:
    def __init__(self, small: Small, found: Found, work: int, deadline: Deadline) -> None:
        self.small = small
        self.best = found
        self.work = work
        self.deadline = deadline
        n = len(small.prizes)
        self.prizes: list[float] = small.prizes.tolist()
        # Arc 2e goes from an edge's source to its target, arc 2e + 1 back.
        self.costs: list[float] = np.repeat(small.costs, 2).tolist()
        self.into: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for edge, (u, v) in enumerate(
            zip(small.source.tolist(), small.target.tolist(), strict=True)
        ):
            self.into[v].append((2 * edge, u))
            self.into[u].append((2 * edge + 1, v))
        terminals = np.flatnonzero(small.prizes > 0)
        order = np.lexsort((terminals, -small.prizes[terminals]))
        self.terminals: list[int] = terminals[order].tolist()
        whole = np.concatenate((small.prizes, small.costs))
        self.whole = bool(np.array_equal(whole, np.round(whole)))

    def run(self) -> tuple[Found, float]:
        """Splits the case of the highest bound until none can hold a better tree."""
        queue: list[tuple[float, int, _Case]] = []
        count = 0

        def push(bound: float, case: _Case) -> None:
            nonlocal count
            count += 1
            # Later cases of one bound first: they are nearer to being settled.
            heapq.heappush(queue, (-bound, -count, case))

        none: frozenset[int] = frozenset()
        push(sum(self.prizes), _Case(-1, 0, none, none))
        while queue and self._may_beat(-queue[0][0]):
            if self.work <= 0 or self.deadline.passed():
                return self.best, max(self._floor(-queue[0][0]), self.best[2])
            bound, _, case = heapq.heappop(queue)
            if case.root < 0:
                terminal = self.terminals[case.first]
                push(-bound, _Case(terminal, case.first, none, case.gone))
                if case.first + 1 < len(self.terminals):
                    left = sum(self.prizes[t] for t in self.terminals[case.first + 1 :])
                    push(left, _Case(-1, case.first + 1, none, case.gone | {terminal}))
                continue
            for value, part in self._split(-bound, case):
                push(value, part)
        return self.best, self.best[2]

    def _floor(self, bound: float) -> float:
        return math.floor(bound + _SLACK) if self.whole else bound

    def _may_beat(self, bound: float) -> bool:
        return self._floor(bound) > self.best[2] + _SLACK

    def _split(self, bound: float, case: _Case) -> list[tuple[float, _Case]]:
        """Returns the two halves of a case with their bounds; none where nothing is better."""
        needed, gone = set(case.needed), set(case.gone)
        while True:
            ascent = self._ascend(case.root, needed, gone)
            if ascent is None:
                return []
            total = sum(self.prizes[t] for t in self.terminals if t not in gone)
            bound = min(bound, total - ascent.paid)
            tree = self._tree(case.root, ascent, gone)
            if not self._may_beat(bound):
                return []
            fixed = self._fix(case.root, total - ascent.paid, ascent, needed, gone)
            if needed & gone:
                return []
            # Another ascent pays where the problem has become much smaller.
            if fixed * 8 < len(self.prizes) - len(gone) or self.work <= 0:
                break
        at = self._branching_node(case.root, tree, ascent, needed, gone)
        if at < 0:
            return []
        return [
            (bound, _Case(case.root, case.first, frozenset(needed), frozenset(gone | {at}))),
            (bound, _Case(case.root, case.first, frozenset(needed | {at}), frozenset(gone))),
        ]

    def _ascend(self, root: int, needed: set[int], gone: set[int]) -> _Ascent | None:
        """Returns the dual ascent; None where a needed node cannot be reached."""
        left_arcs = self.costs.copy()
        left = {t: self.prizes[t] for t in self.terminals if t != root and t not in gone}
        left.update({node: math.inf for node in sorted(needed) if node != root})
        sets: dict[int, tuple[set[int], list[int]]] = {t: ({t}, [t]) for t in left}
        queue = [(len(self.into[t]), t) for t in left]
        heapq.heapify(queue)
        paid = 0.0
        while queue:
            size, terminal = heapq.heappop(queue)
            inside, members = sets[terminal]
            crossing: list[tuple[int, int]] = []
            for node in members:  # Grows while it is walked.
                self.work -= len(self.into[node])
                for arc, other in self.into[node]:
                    if other in inside or other in gone:
                        continue
                    if left_arcs[arc] <= _SPENT:
                        inside.add(other)
                        members.append(other)
                    else:
                        crossing.append((arc, other))
            if root in inside:
                continue
            arcs = [arc for arc, other in crossing if other not in inside]
            if not arcs:
                if left[terminal] == math.inf:
                    return None
                paid += left[terminal]
                left[terminal] = 0.0
                continue
            # Small sets pay first: what they pay stands in the way of the fewest others.
            if len(arcs) > size and queue and len(arcs) > queue[0][0]:
                heapq.heappush(queue, (len(arcs), terminal))
                continue
            step = min(min(left_arcs[arc] for arc in arcs), left[terminal])
            for arc in arcs:
                left_arcs[arc] -= step
            paid += step
            left[terminal] -= step
            if left[terminal] > _SPENT:
                heapq.heappush(queue, (len(arcs), terminal))
        return _Ascent(paid, left_arcs, left)

    def _fix(
        self, root: int, bound: float, ascent: _Ascent, needed: set[int], gone: set[int]
    ) -> int:
        """Adds the nodes that every better tree has, or that none has; returns how many."""
        count = 0
        for terminal, left in ascent.left_prizes.items():
            if left < math.inf and not self._may_beat(bound - left):
                needed.add(terminal)
                count += 1
        # Arcs out of a node are those into its neighbours, the other way round.
        away = self._distances([root], ascent, gone, forward=True)
        home = self._distances([root, *ascent.left_prizes], ascent, gone, forward=False)
        for node in range(len(self.prizes)):
            if node not in gone:
                way = away[node] + (home[node] if self.prizes[node] <= 0 else 0.0)
                if way == math.inf or not self._may_beat(bound - way):
                    gone.add(node)
                    count += 1
        return count

    def _distances(
        self, starts: list[int], ascent: _Ascent, gone: set[int], *, forward: bool
    ) -> list[float]:
        """Returns the least left-over cost from the starts to each node, or from it to them."""
        distance = [math.inf] * len(self.prizes)
        queue = [(0.0, node) for node in starts]
        for node in starts:
            distance[node] = 0.0
        heapq.heapify(queue)
        while queue:
            far, node = heapq.heappop(queue)
            if far > distance[node]:
                continue
            self.work -= len(self.into[node])
            for arc, other in self.into[node]:
                further = far + ascent.left_arcs[arc ^ 1 if forward else arc]
                if further < distance[other] and other not in gone:
                    distance[other] = further
                    heapq.heappush(queue, (further, other))
        return distance

    def _tree(self, root: int, ascent: _Ascent, gone: set[int]) -> Found:
        """Returns the best tree on the nodes that the root reaches for nothing; keeps the best."""
        reached, members = {root}, [root]
        for node in members:
            self.work -= len(self.into[node])
            for arc, other in self.into[node]:
                free = ascent.left_arcs[arc ^ 1] <= _SPENT
                if free and other not in reached and other not in gone:
                    reached.add(other)
                    members.append(other)
        small = self.small
        tree = tree_on(
            np.asarray(sorted(reached), dtype=np.int64),
            small.source,
            small.target,
            small.prizes,
            small.costs,
        )
        if tree[2] > self.best[2] + _SLACK:
            self.best = tree
        return tree

    def _branching_node(
        self, root: int, tree: Found, ascent: _Ascent, needed: set[int], gone: set[int]
    ) -> int:
        """Returns the undecided node with the most free arcs, those of the tree first; or -1."""
        settled = needed | gone | {root}
        near = [node for node in tree[0].tolist() if node not in settled]
        near = near or [node for node in range(len(self.prizes)) if node not in settled]
        free = [
            sum(ascent.left_arcs[arc] <= _SPENT for arc, other in self.into[node]) for node in near
        ]
        return near[int(np.argmax(free))] if near else -1
