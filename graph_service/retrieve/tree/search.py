"""Searching a reduced prize-collecting Steiner tree problem for its best tree (row O7)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Deadline
from graph_service.retrieve.tree.reduction import (
    SEARCHING,
    TOLERANCE,
    Small,
    Solution,
    best_part,
    expand,
    find_root,
    reduce_problem,
    tree_on,
)
from graph_service.sorting import stable_order

EXACT_WORK = 4_000_000
"""Table entries that the exact program may combine: 3**terminals * nodes; some 50 ms."""
_ROUNDS = 8
_ROUNDS_WORK = 120_000
"""Arcs that the rounds may pass over, at least one round aside: large problems get fewer."""


def search(
    small: Small, exact_work: int, deadline: Deadline, *, thorough: bool = False
) -> tuple[Solution, bool]:
    """Returns a good tree of a reduced problem, and whether it is proven to be the best.

    Args:
        small: The problem, reduced.
        exact_work: Bound of the exact program.
        deadline: Raises ``DeadlineError`` when past.
        thorough: Whether a large problem too is given all rounds of growth.
    """
    terminals = np.flatnonzero(small.prizes > 0)
    n = len(small.prizes)
    if len(terminals) == 1 or not len(small.edge):
        top = int(np.argmax(small.prizes))
        none = np.zeros(0, dtype=np.int64)
        return (np.array([top]), none, float(small.prizes[top])), True
    if len(terminals) <= 12 and 3 ** len(terminals) * n <= exact_work:
        return _exact(small, terminals, deadline), True
    best = _grow(small, exact_work, deadline, thorough)
    return best, False


class _Walker:
    """Relaxes distances over all edges at once."""

    def __init__(self, small: Small, deadline: Deadline) -> None:
        self.deadline = deadline
        low = np.minimum(small.source, small.target)
        high = np.maximum(small.source, small.target)
        # Edges go by their lower node and then the other, so that one sort by target will do.
        source, target = np.concatenate((low, high)), np.concatenate((high, low))
        order = stable_order(target)
        self.source, self.target = source[order], target[order]
        self.edge = np.where(order < len(low), order, order - len(low))
        self.offsets = np.flatnonzero(np.diff(self.target, prepend=-1))
        self.targets = self.target[self.offsets]

    def relax(self, distance: Float64, costs: Float64) -> Float64:
        """Returns the least distance over any number of steps; float64 [..., n]."""
        step = costs[self.edge]
        while True:
            self.deadline.check(SEARCHING)
            least = np.minimum.reduceat(distance[..., self.source] + step, self.offsets, axis=-1)
            closer = least < distance[..., self.targets] - TOLERANCE
            if not closer.any():
                return distance
            distance = distance.copy()
            distance[..., self.targets] = np.minimum(distance[..., self.targets], least)


def _exact(small: Small, terminals: Int64, deadline: Deadline) -> Solution:
    """Returns the optimum: the least tree of every set of terminals, then the set worth most."""
    k, n = len(terminals), len(small.prizes)
    walker = _Walker(small, deadline)
    full = 1 << k
    table = np.full((full, n), np.inf)
    table[1 << np.arange(k), terminals] = 0.0
    sizes = np.array([mask.bit_count() for mask in range(full)])
    for size in range(1, k + 1):
        masks = np.flatnonzero(sizes == size)
        if size > 1:
            for mask in masks.tolist():
                deadline.check(SEARCHING)
                lowest = mask & -mask
                part = (mask - 1) & mask
                while part:
                    if part & lowest:
                        np.minimum(table[mask], table[part] + table[mask ^ part], out=table[mask])
                    part = (part - 1) & mask
        table[masks] = walker.relax(table[masks], small.costs)
    worth = np.zeros(full)
    for bit, terminal in enumerate(terminals.tolist()):
        worth[(np.arange(full) >> bit) & 1 == 1] += small.prizes[terminal]
    with np.errstate(invalid="ignore"):
        value = worth - table.min(axis=1)
    value[0] = 0.0
    mask = int(np.argmax(np.round(value, 9)))
    edges: set[int] = set()
    stack = [(mask, int(np.argmin(table[mask])))]
    nodes: set[int] = set()
    by_node = _edges_by_node(small)
    while stack:
        mask, node = stack.pop()
        nodes.add(node)
        if mask.bit_count() == 1 and int(terminals[mask.bit_length() - 1]) == node:
            continue
        here = float(table[mask, node])
        part = (mask - 1) & mask
        while part:
            if abs(float(table[part, node] + table[mask ^ part, node]) - here) <= TOLERANCE * 8:
                stack.extend(((part, node), (mask ^ part, node)))
                break
            part = (part - 1) & mask
        else:
            edge, other = min(
                by_node[node],
                key=lambda step: float(table[mask, step[1]]) + float(small.costs[step[0]]),
            )
            edges.add(edge)
            stack.append((mask, other))
    chosen = np.asarray(sorted(edges), dtype=np.int64)
    return best_part(
        chosen,
        small.source,
        small.target,
        small.prizes,
        small.costs,
        np.asarray(sorted(nodes), dtype=np.int64),
        deadline,
    )


def _edges_by_node(small: Small) -> dict[int, list[tuple[int, int]]]:
    by_node: dict[int, list[tuple[int, int]]] = {}
    for edge, (u, v) in enumerate(zip(small.source.tolist(), small.target.tolist(), strict=True)):
        by_node.setdefault(u, []).append((edge, v))
        by_node.setdefault(v, []).append((edge, u))
    return by_node


def _grow(small: Small, exact_work: int, deadline: Deadline, thorough: bool) -> Solution:
    """Returns the best of several trees on shortest paths, then improved."""
    walker = _Walker(small, deadline)
    top = int(np.argmax(small.prizes))
    best: Solution = (
        np.array([top]),
        np.zeros(0, dtype=np.int64),
        float(small.prizes[top]),
    )
    union = np.zeros(len(small.prizes), dtype=bool)
    terminals = small.prizes > 0
    chosen = terminals
    rounds = _ROUNDS if thorough else min(_ROUNDS, max(1, _ROUNDS_WORK // (2 * len(small.edge))))
    for turn in range(rounds):
        deadline.check(SEARCHING)
        solution = _shortest_path_tree(small, walker, chosen, _jitter(small, turn))
        solution = _improve(small, walker, solution)
        union[solution[0]] = True
        if solution[2] > best[2] + TOLERANCE:
            best = solution
        # The next round begins at the terminals of this one, every other one from all again.
        chosen = terminals if turn % 2 else terminals & _member(solution[0], len(terminals))
    return _refine(small, best, union, exact_work, deadline)


def _refine(
    small: Small, best: Solution, union: Bool, exact_work: int, deadline: Deadline
) -> Solution:
    """Returns the better of a tree and the optimum on the union of all that were grown."""
    inside = union[small.source] & union[small.target]
    if not inside.any():
        return best
    back = np.flatnonzero(union)
    number = np.cumsum(union) - 1
    inner = np.flatnonzero(inside)
    part, merged = reduce_problem(
        number[small.source[inner]],
        number[small.target[inner]],
        small.prizes[back],
        small.costs[inner],
        deadline,
    )
    terminals = np.flatnonzero(part.prizes > 0)
    if not 1 < len(terminals) <= 12 or 3 ** len(terminals) * len(part.prizes) > exact_work:
        return best
    solution = expand(
        _exact(part, terminals, deadline) if len(part.edge) else best,
        part,
        merged,
        number[small.source[inner]],
        number[small.target[inner]],
        small.prizes[back],
        small.costs[inner],
        deadline,
    )
    if solution[2] > best[2] + TOLERANCE:
        return back[solution[0]], inner[solution[1]], solution[2]
    return best


def _member(nodes: Int64, n: int) -> Bool:
    inside = np.zeros(n, dtype=bool)
    inside[nodes] = True
    return inside


def _jitter(small: Small, turn: int) -> Float64:
    """Returns costs changed by up to a third, the same on every machine; unchanged at turn 0."""
    if turn == 0:
        return small.costs
    mixed = (small.edge.astype(np.uint64) + np.uint64(1)) * np.uint64(2654435761 + 2 * turn)
    mixed ^= mixed >> np.uint64(15)
    mixed *= np.uint64(2246822519)
    share = ((mixed >> np.uint64(13)) & np.uint64(0xFFFF)).astype(np.float64) / 65536.0
    jittered: Float64 = small.costs * (1.0 + share / 3.0)
    return jittered


def _shortest_path_tree(small: Small, walker: _Walker, terminals: Bool, costs: Float64) -> Solution:
    """Returns the best part of a tree that joins terminals along shortest paths (Mehlhorn)."""
    n = len(small.prizes)
    distance = np.where(terminals, 0.0, np.inf)
    distance = walker.relax(distance, costs)
    # For each node the step that its distance came by; its terminal follows by pointer jumping.
    above = np.arange(n)
    step = np.full(n, -1, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        gap = distance[walker.source] + costs[walker.edge] - distance[walker.target]
    tight = np.flatnonzero((np.abs(gap) <= 1e-8) & ~terminals[walker.target])
    tight = tight[costs[walker.edge[tight]] > 0]
    first = tight[np.flatnonzero(np.diff(walker.target[tight], prepend=-1))]
    above[walker.target[first]] = walker.source[first]
    step[walker.target[first]] = walker.edge[first]
    owner = above
    while not np.array_equal(owner, owner[owner]):
        owner = owner[owner]
    length = distance[small.source] + costs + distance[small.target]
    bridges = np.flatnonzero((owner[small.source] != owner[small.target]) & np.isfinite(length))
    bridges = _cheapest(small, bridges, owner, terminals, length)
    parent = list(range(n))
    used: set[int] = set()
    nodes = set(np.flatnonzero(terminals).tolist())
    for edge in bridges.tolist():
        walker.deadline.check(SEARCHING)
        u = find_root(parent, int(owner[small.source[edge]]))
        v = find_root(parent, int(owner[small.target[edge]]))
        if u == v:
            continue
        parent[v] = u
        used.add(edge)
        for node in (int(small.source[edge]), int(small.target[edge])):
            while True:
                nodes.add(node)
                if step[node] < 0:
                    break
                used.add(int(step[node]))
                node = int(above[node])
    return best_part(
        np.asarray(sorted(used), dtype=np.int64),
        small.source,
        small.target,
        small.prizes,
        small.costs,
        np.asarray(sorted(nodes), dtype=np.int64),
        walker.deadline,
    )


def _cheapest(
    small: Small, bridges: Int64, owner: Int64, terminals: Bool, length: Float64
) -> Int64:
    """Returns the shortest bridge of each pair of terminals, the shortest of all first.

    Ties go to the smaller edge.
    """
    number = np.cumsum(terminals) - 1
    one, other = number[owner[small.source[bridges]]], number[owner[small.target[bridges]]]
    count = int(number[-1]) + 1
    code = np.minimum(one, other) * count + np.maximum(one, other)
    if count * count > max(4 * len(bridges), 1_000_000):
        code = np.unique(code, return_inverse=True)[1]
    size = int(code.max(initial=-1)) + 1
    shortest = np.full(size, np.inf)
    np.minimum.at(shortest, code, length[bridges])
    best = length[bridges] == shortest[code]
    bridges, code = bridges[best], code[best]
    smallest = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(smallest, code, small.edge[bridges])
    bridges = bridges[small.edge[bridges] == smallest[code]]
    ordered: Int64 = bridges[np.lexsort((small.edge[bridges], length[bridges]))]
    return ordered


def _improve(small: Small, walker: _Walker, solution: Solution) -> Solution:
    """Returns a tree to which every terminal worth its way was added, the nearest first."""
    n = len(small.prizes)
    for _ in range(16):
        inside = _member(solution[0], n)
        distance = walker.relax(np.where(inside, 0.0, np.inf), small.costs)
        gain = np.where(inside, -np.inf, small.prizes - distance)
        target = int(np.argmax(gain))
        nodes = set(solution[0].tolist())
        if gain[target] > TOLERANCE:
            by_target = _path_to(small, walker, distance, inside, target)
            nodes |= by_target
        better = tree_on(
            np.asarray(sorted(nodes), dtype=np.int64),
            small.source,
            small.target,
            small.prizes,
            small.costs,
            walker.deadline,
        )
        if better[2] <= solution[2] + TOLERANCE:
            return solution
        solution = better
    return solution


def _path_to(small: Small, walker: _Walker, distance: Float64, inside: Bool, node: int) -> set[int]:
    path = {node}
    while not inside[node]:
        walker.deadline.check(SEARCHING)
        begin, end = np.searchsorted(walker.target, (node, node + 1))
        near = walker.source[begin:end]
        node = int(near[np.argmin(distance[near] + small.costs[walker.edge[begin:end]])])
        path.add(node)
    return path
