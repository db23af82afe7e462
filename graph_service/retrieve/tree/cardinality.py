"""The best connected part of a subgraph with a given number of edges (row O7).

That is the k-cardinality tree problem, which is hard on graphs and easy on trees (Fischetti,
Hamacher, Jornsten and Maffioli 1994): a table of each node holds the best tree of 0, 1, 2, ...
edges that hangs on it. So the part is the best one where the subgraph is a tree. Where it holds
further edges (they pay for themselves), the tree is one of its spanning trees of most gain, and
every split of the number into edges of the tree and further ones is tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.limits import Deadline
from graph_service.retrieve.tree.reduction import find_root


@dataclass(frozen=True, slots=True, eq=False)
class _Child:
    """A subtree: its node, the edge that it hangs on, and how many of each tree's edges it gets.

    ``share[j]``: of j edges on the parent and this and earlier children, those in the subtree
    with the edge to it; 0 where the subtree is left out.
    """

    node: int
    edge: int
    share: Int64


def best_of_size(
    head: Int64,
    tail: Int64,
    /,
    *,
    prizes: Float64,
    gain: Float64,
    size: int,
    deadline: Deadline,
) -> Int64:
    """Returns the indices of ``size`` connected edges of high worth, int64, ascending.

    Args:
        head: One end of each edge of a connected subgraph, int64 [m], m > size; ties go to the
            earlier edge.
        tail: The other end, int64 [m].
        prizes: Of the nodes, at least 0, float64 [n].
        gain: Of the edges: prize less cost, float64 [m].
        size: Edges of the part, at least 1.
        deadline: Raises ``DeadlineError`` when past.
    """
    nodes, endpoints = np.unique(np.concatenate((head, tail)), return_inverse=True)
    one, other = endpoints[: len(head)], endpoints[len(head) :]
    spanning = _spanning_tree(one, other, gain, len(nodes))
    further = np.setdiff1d(np.arange(len(head)), spanning)
    tree = _Tree(spanning, one, other, prizes[nodes], gain, size, deadline)
    best: tuple[float, Int64] | None = None
    for own in range(min(size, len(spanning)), max(size - len(further), 0) - 1, -1):
        deadline.check("cutting the subgraph to the limit")
        worth, members, edges = tree.best(own)
        inside = further[np.isin(one[further], members) & np.isin(other[further], members)]
        inside = inside[np.argsort(-gain[inside], kind="stable")][: size - own]
        if own + len(inside) == size:
            worth += float(gain[inside].sum())
            if best is None or worth > best[0] + 1e-9:
                best = worth, np.sort(np.concatenate((edges, inside)))
    assert best is not None, "a spanning tree and all further edges are the whole subgraph"
    return best[1]


def _spanning_tree(one: Int64, other: Int64, gain: Float64, n: int) -> Int64:
    parent = list(range(n))
    joining = []
    for edge in np.argsort(-gain, kind="stable").tolist():
        u, v = find_root(parent, int(one[edge])), find_root(parent, int(other[edge]))
        if u != v:
            parent[v] = u
            joining.append(edge)
    return np.array(joining, dtype=np.int64)


class _Tree:
    """The best trees of each number of edges within a tree."""

    def __init__(
        self,
        edges: Int64,
        one: Int64,
        other: Int64,
        prizes: Float64,
        gain: Float64,
        size: int,
        deadline: Deadline,
    ) -> None:
        near: list[list[tuple[int, int]]] = [[] for _ in prizes]
        for edge in np.sort(edges).tolist():
            near[int(one[edge])].append((int(other[edge]), edge))
            near[int(other[edge])].append((int(one[edge]), edge))
        self.tables: list[Float64] = [np.array([prize]) for prize in prizes.tolist()]
        self.children: list[list[_Child]] = [[] for _ in near]
        # Each node after the one that it hangs on.
        above, walked = [-1] * len(near), [0]
        for node in walked:
            for child, _ in near[node]:
                if child != above[node]:
                    above[child] = node
                    walked.append(child)
        for node in reversed(walked):
            deadline.check("cutting the subgraph to the limit")
            for child, edge in near[node]:
                if child != above[node]:
                    table, share = _joined(
                        self.tables[node], self.tables[child], float(gain[edge]), size
                    )
                    self.tables[node] = table
                    self.children[node].append(_Child(child, edge, share))

    def best(self, size: int) -> tuple[float, Int64, Int64]:
        """Returns the worth, the nodes and the edges of the best tree of ``size`` edges."""
        worth = np.array([table[size] if size < len(table) else -np.inf for table in self.tables])
        root = int(np.flatnonzero(worth >= worth.max() - 1e-9)[0])
        nodes: list[int] = []
        edges: list[int] = []
        stack = [(root, size)]
        while stack:
            node, left = stack.pop()
            nodes.append(node)
            for child in reversed(self.children[node]):
                taken = int(child.share[left])
                if taken:
                    edges.append(child.edge)
                    stack.append((child.node, taken - 1))
                    left -= taken
        return float(worth[root]), np.array(nodes), np.array(edges, dtype=np.int64)


def _joined(own: Float64, child: Float64, gain: float, size: int) -> tuple[Float64, Int64]:
    """Returns a node's table with one more child, and how many edges that child gets of each."""
    count = min(size, len(own) + len(child) - 1) + 1
    table = np.full(count, -np.inf)
    table[: min(len(own), count)] = own[:count]
    share = np.zeros(count, dtype=np.int64)
    by_child = len(child) <= len(own)
    for fixed in range(min(len(own), len(child), count - 1)):
        moving = own if by_child else child
        # With ``fixed`` edges of the shorter table and all numbers of the longer one.
        total = moving[: count - 1 - fixed] + (child if by_child else own)[fixed] + gain
        at = np.arange(fixed + 1, fixed + 1 + len(total))
        better = total > table[at] + 1e-9
        table[at[better]] = total[better]
        share[at[better]] = (fixed if by_child else (at[better] - fixed - 1)) + 1
    return table, share
