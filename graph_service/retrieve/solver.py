"""Prize-collecting Steiner trees: our own solver, and pcst_fast where it can be trusted.

The problem: node prizes and edge costs, neither negative; find the connected subgraph that
maximises prizes minus costs (row O7). Ours contracts what can be contracted without loss, solves
small cases exactly (Dreyfus and Wagner's dynamic program over sets of prized nodes) and otherwise
keeps the best of several shortest-path trees, each pruned by an exact dynamic program on the tree.

pcst_fast's wheel is wrong under numpy 2 and says nothing of it, so it serves only after it has
solved a known case; what it finds competes with ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Deadline

_TOLERANCE = 1e-9
EXACT_WORK = 4_000_000
"""Table entries that the exact program may combine: 3**terminals * nodes; some 50 ms."""
_ROUNDS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A connected subgraph: its nodes, the edges that hold it together, and its worth.

    Attributes:
        nodes: Ascending, int64; empty where there are no prizes.
        edges: A spanning tree of them, ascending, int64.
        objective: Node prizes minus edge costs.
        proven: Whether no better one exists.
        solver: Which solver found it.
    """

    nodes: Int64
    edges: Int64
    objective: float
    proven: bool
    solver: str


@dataclass(frozen=True, slots=True)
class SolverReport:
    """Which solver serves, and why.

    Attributes:
        name: ``own``, or ``own+pcst_fast`` where both compete.
        reason: In a sentence.
        healthy: False where pcst_fast is installed and gives wrong answers.
    """

    name: str
    reason: str
    healthy: bool


PcstFast = Callable[..., tuple[Any, Any]]


@lru_cache(maxsize=1)
def _load_pcst_fast() -> tuple[PcstFast | None, SolverReport]:
    try:
        from pcst_fast import pcst_fast  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return None, SolverReport(
            "own", "pcst_fast is not installed; our own solver serves alone", True
        )
    if not passes_known_case(pcst_fast):
        return None, SolverReport(
            "own",
            "the installed pcst_fast fails its known case (its wheel is wrong under numpy 2); our"
            " own solver serves alone. Mend it with: pip install --force-reinstall --no-deps"
            " --no-binary pcst-fast pcst-fast",
            False,
        )
    return pcst_fast, SolverReport(
        "own+pcst_fast", "pcst_fast passes its known case and competes with our own solver", True
    )


def passes_known_case(solve: PcstFast, /) -> bool:
    """Returns whether a pcst_fast solves the path 0-1-2-3, prizes 5 0 5 0, costs 1: {0, 1, 2}."""
    edges = np.array([[0, 1], [1, 2], [2, 3]], dtype=np.int64)
    nodes, chosen = solve(edges, np.array([5.0, 0.0, 5.0, 0.0]), np.ones(3), -1, 1, "strong", 0)
    return sorted(map(int, nodes)) == [0, 1, 2] and sorted(map(int, chosen)) == [0, 1]


def solver_report() -> SolverReport:
    """Returns which solver serves; the known case runs at the first call."""
    return _load_pcst_fast()[1]


def solve(
    source: Int64,
    target: Int64,
    /,
    *,
    prizes: Float64,
    costs: Float64,
    exact_work: int = EXACT_WORK,
    pcst_fast: PcstFast | None = None,
    deadline: Deadline | None = None,
) -> Tree:
    """Returns the best connected subgraph found; exactly the best one where ``proven``.

    Args:
        source: One end of each edge, int64 [m]; parallel edges and loops are allowed.
        target: The other end, int64 [m].
        prizes: Of the nodes, at least 0, float64 [n].
        costs: Of the edges, at least 0, float64 [m].
        exact_work: Bound of the exact program; 0 leaves it out.
        pcst_fast: Competes, where given and the case is not proven.
        deadline: Ends the search for better trees when past.
    """
    deadline = deadline or Deadline.none()
    if not (prizes > 0).any():
        none = np.zeros(0, dtype=np.int64)
        return Tree(none, none, 0.0, True, "own")
    small, merged = _reduce(source, target, prizes, costs)
    found, proven = _search(small, exact_work, deadline)
    tree = _expand(found, small, merged, source, target, prizes, costs)
    solver = "own"
    if not proven and pcst_fast is not None and not deadline.passed():
        pairs = np.stack((source, target), axis=1)
        for pruning in ("strong", "gw"):
            nodes, _ = pcst_fast(pairs, prizes, costs, -1, 1, pruning, 0)
            other = _tree_on(np.asarray(nodes, dtype=np.int64), source, target, prizes, costs)
            if other[2] > tree[2] + _TOLERANCE:
                tree, solver = other, "pcst_fast"
    return Tree(tree[0], tree[1], tree[2], proven, solver)


@dataclass(frozen=True, slots=True, eq=False)
class _Small:
    """A reduced problem: simple, without loops; ``edge`` gives the original edge of each."""

    source: Int64
    target: Int64
    edge: Int64
    prizes: Float64
    costs: Float64


_Found = tuple[Int64, Int64, float]


def _find(parent: list[int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


def _simple(source: Int64, target: Int64, costs: Float64, edge: Int64, n: int) -> Int64:
    """Returns the places of the cheapest edge of each pair of nodes, loops left out."""
    low, high = np.minimum(source, target), np.maximum(source, target)
    order = np.lexsort((edge, costs, high, low))
    order = order[low[order] != high[order]]
    pair = low[order] * n + high[order]
    first: Int64 = order[np.flatnonzero(np.diff(pair, prepend=-1))]
    return first


def _reduce(
    source: Int64, target: Int64, prizes: Float64, costs: Float64
) -> tuple[_Small, tuple[Int64, list[int]]]:
    """Returns a smaller problem of the same optimum, its number for each node (-1: gone), and
    the edges that were contracted.

    An edge may be contracted where it is the cheapest at one of its ends and costs no more than
    the prize of either: a tree with one end gains by the other, and a tree with both can hold
    them together by it. A node without a prize and with one neighbour is in no best tree.
    """
    n = len(prizes)
    label = np.arange(n)
    edge = np.arange(len(source))
    prize = prizes.astype(np.float64).copy()
    alive = np.ones(n, dtype=bool)
    contracted: list[int] = []
    while True:
        a, b = label[source[edge]], label[target[edge]]
        kept = _simple(a, b, costs[edge], edge, n)
        edge, a, b = edge[kept], a[kept], b[kept]
        cost = costs[edge]
        degree = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
        useless = (degree <= 1) & (prize <= 0) & alive
        if useless.any() and (useless[a] | useless[b]).any():
            alive &= ~useless
            edge = edge[~(useless[a] | useless[b])]
            continue
        alive &= ~useless
        cheapest = np.full(n, np.inf)
        np.minimum.at(cheapest, a, cost)
        np.minimum.at(cheapest, b, cost)
        may = (cost <= np.minimum(prize[a], prize[b])) & (
            (cost <= cheapest[a]) | (cost <= cheapest[b])
        )
        if not may.any():
            break
        # A matching at a time: a contraction changes the conditions around it only.
        used = np.zeros(n, dtype=bool)
        move = np.arange(n)
        for place in np.flatnonzero(may)[np.argsort(cost[may], kind="stable")].tolist():
            u, v = int(a[place]), int(b[place])
            if used[u] or used[v]:
                continue
            used[u] = used[v] = True
            move[v] = u
            prize[u] += prize[v] - cost[place]
            prize[v] = 0.0
            alive[v] = False
            contracted.append(int(edge[place]))
        label = move[label]
    number = np.full(n, -1, dtype=np.int64)
    number[alive] = np.arange(int(alive.sum()))
    small = _Small(number[a], number[b], edge, prize[alive], cost)
    return small, (number[label], contracted)


def _expand(
    found: _Found,
    small: _Small,
    merged: tuple[Int64, list[int]],
    source: Int64,
    target: Int64,
    prizes: Float64,
    costs: Float64,
) -> _Found:
    number, contracted = merged
    chosen = np.zeros(len(small.prizes) + 1, dtype=bool)
    chosen[found[0]] = True
    nodes = np.flatnonzero(chosen[number])
    inside = np.zeros(len(prizes), dtype=bool)
    inside[nodes] = True
    edges = [edge for edge in contracted if inside[source[edge]] and inside[target[edge]]]
    every = np.concatenate((np.asarray(edges, dtype=np.int64), small.edge[found[1]]))
    return _prune(every, source, target, prizes, costs, nodes)


def _tree_on(nodes: Int64, source: Int64, target: Int64, prizes: Float64, costs: Float64) -> _Found:
    """Returns the best subtree of a cheapest spanning tree of some nodes."""
    inside = np.zeros(len(prizes), dtype=bool)
    inside[nodes] = True
    within = np.flatnonzero(inside[source] & inside[target])
    order = within[np.lexsort((within, costs[within]))]
    parent = {int(node): int(node) for node in nodes}
    tree: list[int] = []
    for edge in order.tolist():
        u, v = int(source[edge]), int(target[edge])
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        if u != v:
            parent[v] = u
            tree.append(edge)
    return _prune(np.asarray(tree, dtype=np.int64), source, target, prizes, costs, nodes)


def _prune(
    forest: Int64, source: Int64, target: Int64, prizes: Float64, costs: Float64, nodes: Int64
) -> _Found:
    """Returns the best connected part of a forest, by an exact dynamic program (strong pruning)."""
    neighbours: dict[int, list[tuple[int, int]]] = {int(node): [] for node in nodes}
    for edge in forest.tolist():
        u, v = int(source[edge]), int(target[edge])
        neighbours[u].append((v, edge))
        neighbours[v].append((u, edge))
    worth: dict[int, float] = {}
    taken: dict[int, list[tuple[int, int]]] = {}
    best, best_node = 0.0, -1
    for root in sorted(neighbours):
        if root in worth:
            continue
        order: list[tuple[int, int]] = [(root, -1)]
        for node, above in order:
            order.extend((other, node) for other, _ in neighbours[node] if other != above)
        for node, above in reversed(order):
            total = float(prizes[node])
            taken[node] = []
            for other, edge in neighbours[node]:
                if other != above:
                    gain = worth[other] - float(costs[edge])
                    if gain > _TOLERANCE:
                        total += gain
                        taken[node].append((other, edge))
            worth[node] = total
            if total > best + _TOLERANCE:
                best, best_node = total, node
    if best_node < 0:
        none = np.zeros(0, dtype=np.int64)
        return none, none, 0.0
    keep, kept_edges = [best_node], []
    for node in keep:
        for other, edge in taken[node]:
            keep.append(other)
            kept_edges.append(edge)
    chosen = np.sort(np.asarray(keep, dtype=np.int64))
    edges = np.sort(np.asarray(kept_edges, dtype=np.int64))
    return chosen, edges, float(prizes[chosen].sum() - costs[edges].sum())


def _search(small: _Small, exact_work: int, deadline: Deadline) -> tuple[_Found, bool]:
    """Returns the best tree of a reduced problem found, and whether it is proven."""
    terminals = np.flatnonzero(small.prizes > 0)
    n = len(small.prizes)
    if len(terminals) == 1 or not len(small.edge):
        top = int(np.argmax(small.prizes))
        none = np.zeros(0, dtype=np.int64)
        return (np.array([top]), none, float(small.prizes[top])), True
    if len(terminals) <= 12 and 3 ** len(terminals) * n <= exact_work:
        return _exact(small, terminals), True
    best = _grow(small, exact_work, deadline)
    return best, False


class _Walker:
    """Relaxes distances over all edges at once."""

    def __init__(self, small: _Small) -> None:
        source = np.concatenate((small.source, small.target))
        target = np.concatenate((small.target, small.source))
        place = np.concatenate((np.arange(len(small.edge)), np.arange(len(small.edge))))
        order = np.lexsort((place, source, target))
        self.source, self.place = source[order], place[order]
        self.target = target[order]
        self.starts = np.flatnonzero(np.diff(self.target, prepend=-1))
        self.targets = self.target[self.starts]

    def relax(self, distance: Float64, costs: Float64) -> Float64:
        """Returns the least distance over any number of steps; float64 [..., n]."""
        step = costs[self.place]
        while True:
            least = np.minimum.reduceat(distance[..., self.source] + step, self.starts, axis=-1)
            closer = least < distance[..., self.targets] - _TOLERANCE
            if not closer.any():
                return distance
            distance = distance.copy()
            distance[..., self.targets] = np.minimum(distance[..., self.targets], least)


def _exact(small: _Small, terminals: Int64) -> _Found:
    """Returns the optimum: the least tree of every set of terminals, then the set worth most."""
    k, n = len(terminals), len(small.prizes)
    walker = _Walker(small)
    full = 1 << k
    table = np.full((full, n), np.inf)
    table[1 << np.arange(k), terminals] = 0.0
    sizes = np.array([mask.bit_count() for mask in range(full)])
    for size in range(1, k + 1):
        masks = np.flatnonzero(sizes == size)
        if size > 1:
            for mask in masks.tolist():
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
            if abs(float(table[part, node] + table[mask ^ part, node]) - here) <= _TOLERANCE * 8:
                stack.extend(((part, node), (mask ^ part, node)))
                break
            part = (part - 1) & mask
        else:
            place, other = min(
                by_node[node],
                key=lambda step: float(table[mask, step[1]]) + float(small.costs[step[0]]),
            )
            edges.add(place)
            stack.append((mask, other))
    chosen = np.asarray(sorted(edges), dtype=np.int64)
    return _prune(
        chosen,
        small.source,
        small.target,
        small.prizes,
        small.costs,
        np.asarray(sorted(nodes), dtype=np.int64),
    )


def _edges_by_node(small: _Small) -> dict[int, list[tuple[int, int]]]:
    by_node: dict[int, list[tuple[int, int]]] = {}
    for place, (u, v) in enumerate(zip(small.source.tolist(), small.target.tolist(), strict=True)):
        by_node.setdefault(u, []).append((place, v))
        by_node.setdefault(v, []).append((place, u))
    return by_node


def _grow(small: _Small, exact_work: int, deadline: Deadline) -> _Found:
    """Returns the best of several trees on shortest paths, then improved."""
    walker = _Walker(small)
    top = int(np.argmax(small.prizes))
    best: _Found = (
        np.array([top]),
        np.zeros(0, dtype=np.int64),
        float(small.prizes[top]),
    )
    union = np.zeros(len(small.prizes), dtype=bool)
    terminals = small.prizes > 0
    chosen = terminals
    for turn in range(_ROUNDS):
        if turn and deadline.passed():
            break
        found = _shortest_path_tree(small, walker, chosen, _jitter(small, turn))
        found = _improve(small, walker, found)
        union[found[0]] = True
        if found[2] > best[2] + _TOLERANCE:
            best = found
        # The next round starts from what this one kept, every other one from all again.
        chosen = terminals if turn % 2 else terminals & _member(found[0], len(terminals))
    return _refine(small, best, union, exact_work)


def _refine(small: _Small, best: _Found, union: Bool, exact_work: int) -> _Found:
    """Returns the better of a tree and the optimum on the union of all that were found."""
    inside = union[small.source] & union[small.target]
    if not inside.any():
        return best
    back = np.flatnonzero(union)
    number = np.cumsum(union) - 1
    places = np.flatnonzero(inside)
    part, merged = _reduce(
        number[small.source[places]],
        number[small.target[places]],
        small.prizes[back],
        small.costs[places],
    )
    terminals = np.flatnonzero(part.prizes > 0)
    if not 1 < len(terminals) <= 12 or 3 ** len(terminals) * len(part.prizes) > exact_work:
        return best
    found = _expand(
        _exact(part, terminals) if len(part.edge) else best,
        part,
        merged,
        number[small.source[places]],
        number[small.target[places]],
        small.prizes[back],
        small.costs[places],
    )
    if found[2] > best[2] + _TOLERANCE:
        return back[found[0]], places[found[1]], found[2]
    return best


def _member(nodes: Int64, n: int) -> Bool:
    inside = np.zeros(n, dtype=bool)
    inside[nodes] = True
    return inside


def _jitter(small: _Small, turn: int) -> Float64:
    """Returns costs changed by up to a third, the same on every machine; unchanged at turn 0."""
    if turn == 0:
        return small.costs
    mixed = (small.edge.astype(np.uint64) + np.uint64(1)) * np.uint64(2654435761 + 2 * turn)
    mixed ^= mixed >> np.uint64(15)
    mixed *= np.uint64(2246822519)
    share = ((mixed >> np.uint64(13)) & np.uint64(0xFFFF)).astype(np.float64) / 65536.0
    jittered: Float64 = small.costs * (1.0 + share / 3.0)
    return jittered


def _shortest_path_tree(small: _Small, walker: _Walker, terminals: Bool, costs: Float64) -> _Found:
    """Returns the best part of a tree that joins terminals along shortest paths (Mehlhorn)."""
    n = len(small.prizes)
    distance = np.where(terminals, 0.0, np.inf)
    distance = walker.relax(distance, costs)
    # For each node the step that its distance came by; its terminal follows by pointer jumping.
    above = np.arange(n)
    step = np.full(n, -1, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        gap = distance[walker.source] + costs[walker.place] - distance[walker.target]
    tight = np.flatnonzero((np.abs(gap) <= 1e-8) & ~terminals[walker.target])
    tight = tight[costs[walker.place[tight]] > 0]
    first = tight[np.flatnonzero(np.diff(walker.target[tight], prepend=-1))]
    above[walker.target[first]] = walker.source[first]
    step[walker.target[first]] = walker.place[first]
    owner = above
    while not np.array_equal(owner, owner[owner]):
        owner = owner[owner]
    length = distance[small.source] + costs + distance[small.target]
    bridges = np.flatnonzero((owner[small.source] != owner[small.target]) & np.isfinite(length))
    bridges = bridges[np.lexsort((small.edge[bridges], length[bridges]))]
    parent = list(range(n))
    used: set[int] = set()
    nodes = set(np.flatnonzero(terminals).tolist())
    for place in bridges.tolist():
        u = _find(parent, int(owner[small.source[place]]))
        v = _find(parent, int(owner[small.target[place]]))
        if u == v:
            continue
        parent[v] = u
        used.add(place)
        for node in (int(small.source[place]), int(small.target[place])):
            while True:
                nodes.add(node)
                if step[node] < 0:
                    break
                used.add(int(step[node]))
                node = int(above[node])
    return _prune(
        np.asarray(sorted(used), dtype=np.int64),
        small.source,
        small.target,
        small.prizes,
        small.costs,
        np.asarray(sorted(nodes), dtype=np.int64),
    )


def _improve(small: _Small, walker: _Walker, found: _Found) -> _Found:
    """Returns a tree to which every terminal worth its way was added, the nearest first."""
    n = len(small.prizes)
    for _ in range(16):
        inside = _member(found[0], n)
        distance = walker.relax(np.where(inside, 0.0, np.inf), small.costs)
        gain = np.where(inside, -np.inf, small.prizes - distance)
        target = int(np.argmax(gain))
        nodes = set(found[0].tolist())
        if gain[target] > _TOLERANCE:
            by_target = _path_to(small, walker, distance, inside, target)
            nodes |= by_target
        better = _tree_on(
            np.asarray(sorted(nodes), dtype=np.int64),
            small.source,
            small.target,
            small.prizes,
            small.costs,
        )
        if better[2] <= found[2] + _TOLERANCE:
            return found
        found = better
    return found


def _path_to(
    small: _Small, walker: _Walker, distance: Float64, inside: Bool, node: int
) -> set[int]:
    path = {node}
    while not inside[node]:
        begin, end = np.searchsorted(walker.target, (node, node + 1))
        near = walker.source[begin:end]
        node = int(near[np.argmin(distance[near] + small.costs[walker.place[begin:end]])])
        path.add(node)
    return path
