"""The best paths between prized nodes (row O6; OKGQA section 3.2 and appendix A.3)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region


@dataclass(frozen=True, slots=True)
class FoundPath:
    """A simple path in local numbers.

    Attributes:
        start: First node.
        edges: Edges in order.
        reversed: For each edge, whether it was walked from tail to head.
        score: Node prizes + edge prizes - edge costs.
    """

    start: int
    edges: tuple[int, ...]
    reversed: tuple[bool, ...]
    score: float


@dataclass(frozen=True, slots=True)
class PathSearch:
    """Paths, best first, and what a limit left out."""

    paths: tuple[FoundPath, ...]
    cuts: tuple[Cut, ...] = ()


def best_paths(
    region: Region,
    starts: Int64,
    /,
    *,
    node_prizes: Float64,
    edge_prizes: Float64,
    edge_cost: float,
    max_length: int,
    limit: int,
    maximal: bool = True,
    work_budget: int = 20_000,
    deadline: Deadline | None = None,
) -> PathSearch:
    """Returns the best simple paths from some nodes: exactly, unless the work budget ends first.

    A priority queue holds partial paths by an upper bound of what they can become, so the first
    complete ones that leave it are the best. A path and its reverse are one path. Literals are
    ends, never passed through. Among equal scores the order is that of the queue, which depends
    on keys alone.

    Args:
        region: The region.
        starts: Local nodes, best first.
        node_prizes: float64 [n].
        edge_prizes: float64 [m].
        edge_cost: Cost of each edge.
        max_length: Most edges of a path.
        limit: How many paths (n).
        maximal: Return a path only at ``max_length`` or where nothing can follow; else any prefix
            of at least one edge.
        work_budget: Most entries taken from the queue.
        deadline: Ends the search when past; the best so far are returned with a cut.
    """
    deadline = deadline or Deadline.none()
    steps = _Steps(region, node_prizes, edge_prizes - edge_cost, max_length, maximal)
    # Entry: (-bound, complete first, sequence number, score, nodes, edges, index of next step).
    # An entry stands for its path with the next step, and for all later, worse steps after it.
    queue: list[tuple[float, int, int, float, tuple[int, ...], tuple[int, ...], int]] = []
    sequence = 0

    def push_next(score: float, nodes: tuple[int, ...], edges: tuple[int, ...], index: int) -> None:
        nonlocal sequence
        left = max_length - len(edges)
        bounds, _, others = steps.of(nodes[-1], left, first=not edges)
        while index < len(others) and others[index] in nodes:
            index += 1
        if index < len(others):
            sequence += 1
            bound = score + bounds[index]
            heapq.heappush(queue, (-bound, 1, sequence, score, nodes, edges, index))

    def push_complete(score: float, nodes: tuple[int, ...], edges: tuple[int, ...]) -> None:
        nonlocal sequence
        sequence += 1
        heapq.heappush(queue, (-score, 0, sequence, score, nodes, edges, -1))

    for start in dict.fromkeys(starts.tolist()):
        push_next(float(node_prizes[start]), (start,), (), 0)
    found: list[FoundPath] = []
    seen: set[tuple[int, ...]] = set()
    work = 0
    cuts: list[Cut] = []
    while queue and len(found) < limit:
        work += 1
        if work > work_budget:
            cuts.append(Cut("paths", CutReason.WORK_BUDGET, work_budget, len(found)))
            break
        if work % 256 == 0 and deadline.passed():
            cuts.append(Cut("paths", CutReason.DEADLINE, 0, len(found)))
            break
        _, kind, _, score, nodes, edges, index = heapq.heappop(queue)
        if kind == 0:
            canonical = min(edges, edges[::-1])
            if canonical not in seen:
                seen.add(canonical)
                walked = tuple(
                    int(region.head[edge]) != node for edge, node in zip(edges, nodes, strict=False)
                )
                found.append(FoundPath(nodes[0], edges, walked, round(score, 9)))
            continue
        push_next(score, nodes, edges, index + 1)
        _, chosen, others = steps.of(nodes[-1], max_length - len(edges), first=not edges)
        edge, node = chosen[index], others[index]
        longer, further = (*edges, edge), (*nodes, node)
        total = score + float(steps.gain[edge]) + float(node_prizes[node])
        ends = len(longer) == max_length
        if not ends:
            _, _, following = steps.of(node, max_length - len(longer))
            ends = all(other in further for other in following)
            if not ends:
                push_next(total, further, longer, 0)
        if ends or not maximal:
            push_complete(total, further, longer)
    return PathSearch(tuple(found), tuple(cuts))


class _Steps:
    """Steps out of each node in order of an upper bound of what they can lead to."""

    def __init__(
        self, region: Region, node_prizes: Float64, gain: Float64, max_length: int, maximal: bool
    ) -> None:
        m = region.edge_count
        loop = region.head == region.tail
        source = np.concatenate((region.head, region.tail)).astype(np.int64)
        target = np.concatenate((region.tail, region.head)).astype(np.int64)
        edge = np.concatenate((np.arange(m), np.arange(m)))
        keep = ~np.concatenate((loop, loop))
        order = np.lexsort((edge, source))
        order = order[keep[order]]
        self.gain = gain
        self._source, self._target, self._edge = source[order], target[order], edge[order]
        n = region.node_count
        self._begin = np.searchsorted(self._source, np.arange(n + 1))
        self._literal = region.literal
        self._worth = gain[self._edge] + node_prizes[self._target]
        self._cache: dict[tuple[int, int], tuple[list[float], list[int], list[int]]] = {}
        # best[r][v]: upper bound of what up to r further steps from v add.
        distinct = np.zeros(n, dtype=np.int64)
        if len(self._source):
            pairs = np.unique(self._source * n + self._target)
            distinct = np.bincount(pairs // n, minlength=n)
        # A path may stop early only where it can have visited every neighbour already.
        may_stop = distinct <= max_length
        self._best = [np.zeros(n)]
        for _ in range(1, max_length):
            step = self._worth + self._best[-1][self._target]
            best = np.full(n, -np.inf)
            begins = np.flatnonzero(np.diff(self._source, prepend=-1))
            if len(begins):
                best[self._source[begins]] = np.maximum.reduceat(step, begins)
            stop = np.zeros(n) if not maximal else np.where(may_stop, 0.0, -np.inf)
            best = np.maximum(best, stop)
            best[region.literal] = 0.0
            self._best.append(best)

    def of(
        self, node: int, left: int, *, first: bool = False
    ) -> tuple[list[float], list[int], list[int]]:
        """Returns bounds, edges and nodes of the steps out of a node with ``left`` steps to go.

        A literal has steps only where a path begins at it (``first``).
        """
        if left <= 0 or (self._literal[node] and not first):
            return [], [], []
        found = self._cache.get((node, left))
        if found is None:
            part = slice(int(self._begin[node]), int(self._begin[node + 1]))
            bound = self._worth[part] + self._best[left - 1][self._target[part]]
            order = np.argsort(-bound, kind="stable")
            found = (
                bound[order].tolist(),
                self._edge[part][order].tolist(),
                self._target[part][order].tolist(),
            )
            self._cache[node, left] = found
        return found
