"""Making a prize-collecting Steiner tree problem smaller without losing its optimum (row O7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.limits import Deadline
from graph_service.sorting import stable_order

NEVER = Deadline.none()
SEARCHING = "searching for the best subgraph"
TOLERANCE = 1e-9
"""Two sums of prizes and costs that differ by less are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class Small:
    """A reduced problem: simple, without loops; ``edge`` gives the original edge of each."""

    source: Int64
    target: Int64
    edge: Int64
    prizes: Float64
    costs: Float64


Solution = tuple[Int64, Int64, float]


def find_root(parent: list[int], node: int) -> int:
    """Returns the root of a node's set, and shortens the way to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


def _simple(source: Int64, target: Int64, costs: Float64, edge: Int64, n: int) -> Int64:
    """Returns the indices of the cheapest edge of each pair of nodes, loops left out."""
    low, high = np.minimum(source, target), np.maximum(source, target)
    order = np.flatnonzero(low != high)
    if (np.diff(edge) < 0).any():
        order = order[np.argsort(edge[order], kind="stable")]
    if len(order) and costs[order].min() < costs[order].max():
        order = order[np.argsort(costs[order], kind="stable")]
    order = order[stable_order(high[order])]
    order = order[stable_order(low[order])]
    pair = low[order] * n + high[order]
    first: Int64 = order[np.flatnonzero(np.diff(pair, prepend=-1))]
    return first


def reduce_problem(
    source: Int64,
    target: Int64,
    prizes: Float64,
    costs: Float64,
    deadline: Deadline = NEVER,
) -> tuple[Small, tuple[Int64, list[int]]]:
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
        deadline.check(SEARCHING)
        a, b = label[source[edge]], label[target[edge]]
        simple = _simple(a, b, costs[edge], edge, n)
        edge, a, b = edge[simple], a[simple], b[simple]
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
        for row in np.flatnonzero(may)[np.argsort(cost[may], kind="stable")].tolist():
            deadline.check(SEARCHING)
            u, v = int(a[row]), int(b[row])
            if used[u] or used[v]:
                continue
            used[u] = used[v] = True
            move[v] = u
            prize[u] += prize[v] - cost[row]
            prize[v] = 0.0
            alive[v] = False
            contracted.append(int(edge[row]))
        label = move[label]
    number = np.full(n, -1, dtype=np.int64)
    number[alive] = np.arange(int(alive.sum()))
    small = Small(number[a], number[b], edge, prize[alive], cost)
    return small, (number[label], contracted)


def expand(
    solution: Solution,
    small: Small,
    merged: tuple[Int64, list[int]],
    source: Int64,
    target: Int64,
    prizes: Float64,
    costs: Float64,
    deadline: Deadline = NEVER,
) -> Solution:
    """Returns a tree of the reduced problem as one of the original, what was merged put back."""
    number, contracted = merged
    chosen = np.zeros(len(small.prizes) + 1, dtype=bool)
    chosen[solution[0]] = True
    nodes = np.flatnonzero(chosen[number])
    inside = np.zeros(len(prizes), dtype=bool)
    inside[nodes] = True
    edges = [edge for edge in contracted if inside[source[edge]] and inside[target[edge]]]
    every = np.concatenate((np.asarray(edges, dtype=np.int64), small.edge[solution[1]]))
    return best_part(every, source, target, prizes, costs, nodes, deadline)


def tree_on(
    nodes: Int64,
    source: Int64,
    target: Int64,
    prizes: Float64,
    costs: Float64,
    deadline: Deadline = NEVER,
) -> Solution:
    """Returns the best subtree of a cheapest spanning tree of some nodes."""
    inside = np.zeros(len(prizes), dtype=bool)
    inside[nodes] = True
    within = np.flatnonzero(inside[source] & inside[target])
    order = within[np.lexsort((within, costs[within]))]
    parent = {int(node): int(node) for node in nodes}
    tree: list[int] = []
    for edge in order.tolist():
        deadline.check(SEARCHING)
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
    chosen = np.asarray(tree, dtype=np.int64)
    return best_part(chosen, source, target, prizes, costs, nodes, deadline)


def best_part(
    forest: Int64,
    source: Int64,
    target: Int64,
    prizes: Float64,
    costs: Float64,
    nodes: Int64,
    deadline: Deadline = NEVER,
) -> Solution:
    """Returns the best connected part of a forest, by an exact dynamic program (strong pruning)."""
    neighbours: dict[int, list[tuple[int, int]]] = {int(node): [] for node in nodes}
    for edge in forest.tolist():
        deadline.check(SEARCHING)
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
            deadline.check(SEARCHING)
            total = float(prizes[node])
            taken[node] = []
            for other, edge in neighbours[node]:
                if other != above:
                    gain = worth[other] - float(costs[edge])
                    if gain > TOLERANCE:
                        total += gain
                        taken[node].append((other, edge))
            worth[node] = total
            if total > best + TOLERANCE:
                best, best_node = total, node
    if best_node < 0:
        none = np.zeros(0, dtype=np.int64)
        return none, none, 0.0
    members, tree_edges = [best_node], []
    for node in members:
        for other, edge in taken[node]:
            members.append(other)
            tree_edges.append(edge)
    chosen = np.sort(np.asarray(members, dtype=np.int64))
    edges = np.sort(np.asarray(tree_edges, dtype=np.int64))
    return chosen, edges, float(prizes[chosen].sum() - costs[edges].sum())
