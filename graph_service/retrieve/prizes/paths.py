"""Paths along edges from prized nodes, as OKGQA's code searches them (O6; OKGQA, appendix A.3)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.limits import Deadline
from graph_service.model.region import Region


@dataclass(frozen=True, slots=True)
class LocalPath:
    """A simple path in local numbers, each edge walked from head to tail.

    Attributes:
        start: First node.
        edges: Edges in order; none where the node stands alone.
        score: Node prizes + edge prizes - edge costs.
    """

    start: int
    edges: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class PathSearch:
    """Paths in the order in which they left the queue, and whether it held more then."""

    paths: tuple[LocalPath, ...]
    more: bool


def best_first_paths(
    region: Region,
    start_nodes: Int64,
    /,
    *,
    node_prizes: Float64,
    edge_prizes: Float64,
    edge_cost: float,
    max_length: int,
    count: int,
    deadline: Deadline | None = None,
) -> PathSearch:
    """Returns the first paths that leave a queue ordered by score.

    The queue begins with each start alone. The path of the highest score leaves it, and its
    extensions by one edge out of its last node, to nodes that it does not hold, enter it. So any
    prefix is a path of its own, and a path of a high score behind an edge that costs more than it
    brings may not be reached: the search is greedy, as that code's is. Equal scores go by the key
    of the start, then by the keys of the edges.

    Args:
        region: The region.
        start_nodes: Local nodes.
        node_prizes: float64 [n].
        edge_prizes: float64 [m].
        edge_cost: Cost of each edge.
        max_length: Most edges of a path.
        count: How many paths leave the queue.
        deadline: Raises ``DeadlineError`` when past.
    """
    deadline = deadline or Deadline.none()
    gain = np.round(edge_prizes - edge_cost + node_prizes[region.tail], 9)
    # The edges out of each node, the best first.
    order = np.lexsort((region.edge_keys, -gain, region.head))
    begin = np.searchsorted(region.head[order], np.arange(region.node_count + 1))
    # Entry: (-score, key of the start and keys of the edges, start, edges).
    queue: list[tuple[float, tuple[int, ...], int, tuple[int, ...]]] = [
        (-float(node_prizes[start]), (int(region.node_keys[start]),), start, ())
        for start in dict.fromkeys(start_nodes.tolist())
    ]
    heapq.heapify(queue)
    paths: list[LocalPath] = []
    while queue and len(paths) < count:
        deadline.check("searching for paths")
        negative, keys, start, edges = heapq.heappop(queue)
        paths.append(LocalPath(start, edges, -negative))
        if len(edges) == max_length:
            continue
        last = int(region.tail[edges[-1]]) if edges else start
        nodes = np.array([start, *region.tail[list(edges)].tolist()])
        following = order[begin[last] : begin[last + 1]]
        following = following[~np.isin(region.tail[following], nodes)]
        # Of one node's edges the better leave first: no more of them can leave, and one more tells.
        for edge in following[: count - len(paths) + 1].tolist():
            score = round(float(gain[edge]) - negative, 9)
            entry = (-score, (*keys, int(region.edge_keys[edge])), start, (*edges, edge))
            heapq.heappush(queue, entry)
    return PathSearch(tuple(paths), bool(queue))
