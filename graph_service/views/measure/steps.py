"""How many steps an answer is from a question's entities, in a graph or in a view of it.

Deviation (ATS, SC2D, SD2) says how far a whole graph has gone. This says whether what a question
asks for got further away. A step is a statement that is not deprecated, walked either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import RANK_CODES, Bool, Int32, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.statement import Rank

MAX_STEPS = 4
"""Steps within which an answer is looked for."""


class Steps:
    """Steps between nodes of a graph, or of a view of it.

    Args:
        graph: The base.
        overlay: The view laid over it; None for the base.
        deadline: When to give up.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        overlay: Overlay | None = None,
        /,
        *,
        deadline: Deadline | None = None,
    ) -> None:
        self._graph = graph
        self._deadline = deadline or Deadline.none()
        deprecated = RANK_CODES[Rank.DEPRECATED]
        walked = graph.rank != deprecated
        extra_head = extra_tail = np.zeros(0, dtype=np.int32)
        self._nodes = graph.node_count
        if overlay is not None:
            walked = walked & ~overlay.gone.mask()
            current = overlay.rank != deprecated
            extra_head, extra_tail = overlay.head[current], overlay.tail[current]
            self._nodes += len(overlay.new_nodes)
        self._walked: Bool = walked
        self._extra = {
            True: _ExtraEdges.of(extra_head, extra_tail),
            False: _ExtraEdges.of(extra_tail, extra_head),
        }

    def nearest(
        self, sources: Sequence[int], targets: Sequence[int], /, *, most: int = MAX_STEPS
    ) -> int | None:
        """Returns the fewest steps from a source to a target; None beyond ``most``.

        Args:
            sources: Nodes of the graph.
            targets: Nodes of the graph.
            most: Steps within which a target is looked for.
        """
        if not sources or not targets:
            return None
        target_set = set(targets)
        if target_set & set(sources):
            return 0
        seen = np.zeros(self._nodes, dtype=np.bool_)
        front = np.unique(np.array(sources, dtype=np.int32))
        seen[front] = True
        for step in range(1, most + 1):
            self._deadline.check("looking for the steps to an answer")
            reached = np.unique(self._beyond(front))
            front = reached[~seen[reached]]
            if target_set.intersection(front.tolist()):
                return step
            seen[front] = True
            # A literal ends a walk.
            literal = (front >= self._graph.entity_count) & (front < self._graph.node_count)
            front = front[~literal]
            if not len(front):
                return None
        return None

    def _beyond(self, front: Int32) -> Int32:
        graph = self._graph
        known = front[front < graph.node_count]
        parts = [self._extra[out].others(front) for out in (True, False)]
        for adjacency, other in ((graph.out_edges, graph.tail), (graph.in_edges, graph.head)):
            edges = adjacency.edges_of(known)
            parts.append(other[edges[self._walked[edges]]])
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True, eq=False)
class _ExtraEdges:
    """Extra edges by one end: ``node`` ascending, and the other end of each."""

    node: Int32
    other: Int32

    @classmethod
    def of(cls, node: Int32, other: Int32) -> _ExtraEdges:
        order = np.argsort(node, kind="stable")
        return cls(node[order], other[order])

    def others(self, nodes: Int32) -> Int32:
        begins = np.searchsorted(self.node, nodes, side="left")
        counts = np.searchsorted(self.node, nodes, side="right") - begins
        offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        others: Int32 = self.other[np.repeat(begins, counts) + offsets]
        return others
