"""Shortest paths between a question's entities and its answers, walked both ways.

An edge counts whose value is an entity and that is not deprecated. An entity of more than
``HUB_DEGREE`` edges is no step between two others: all people share their class, and no question
is about that. So what a question costs does not grow with the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from graph_service.model.graph import Int32, KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.views.measure.steps import MAX_STEPS
from graph_service.views.pairs import PairIndex

HUB_DEGREE = 2000
"""As the presets of retrieval have it."""


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """All shortest paths between pairs of entities.

    Attributes:
        edges: Those on any of them, int32 or int64, ascending.
        length: Edges of the longest; 0 where there is none.
        pairs: Pairs of entity and answer that a path joins.
    """

    edges: Numbers
    length: int
    pairs: tuple[tuple[int, int], ...]


class Walker:
    """Steps of the base from entity to entity.

    Args:
        graph: The base.
        index: Its ``PairIndex``.
        deadline: When to give up.
    """

    def __init__(self, graph: KnowledgeGraph, index: PairIndex, deadline: Deadline, /) -> None:
        self._graph = graph
        self._index = index
        self._deadline = deadline

    def shortest(self, entities: list[int], answers: list[int], /) -> Paths:
        """Returns the shortest paths of at most ``MAX_STEPS`` edges of each entity and answer."""
        edges = [np.zeros(0, dtype=self._graph.edge_type)]
        length, pairs = 0, []
        for entity in entities:
            for answer in answers:
                levels = self._levels(entity, answer)
                if levels is None:
                    continue
                pairs.append((entity, answer))
                length = max(length, len(levels) - 1)
                edges += [self.between(low, high) for low, high in pairwise(levels)]
        return Paths(np.unique(np.concatenate(edges)), length, tuple(pairs))

    def routes(self, entity: int, answer: int, /) -> Iterator[tuple[int, ...]]:
        """Yields the shortest paths of a pair, each as its edges from the entity on."""
        levels = self._levels(entity, answer) or []
        graph = self._graph
        steps = [self.between(low, high).tolist() for low, high in pairwise(levels)]

        def walk(node: int, depth: int) -> Iterator[tuple[int, ...]]:
            self._deadline.check("walking the paths")
            if depth == len(steps):
                yield ()
                return
            for edge in steps[depth]:
                head, tail = int(graph.head[edge]), int(graph.tail[edge])
                if node in (head, tail):
                    for rest in walk(tail if node == head else head, depth + 1):
                        yield (edge, *rest)

        if steps:
            yield from walk(entity, 0)

    def region(self, entities: list[int], steps: int, /) -> Numbers:
        """Returns the edges walked in some steps from some entities, ascending."""
        nothing = np.zeros(0, dtype=self._graph.edge_type)
        return np.unique(np.concatenate([nothing, *self.walked(entities, steps)]))

    def walked(self, entities: list[int], steps: int, /) -> list[Numbers]:
        """Returns the edges that each step from some entities walks first, ascending."""
        seen = frontier = np.unique(np.array(entities, dtype=np.int32))
        earlier: Numbers = np.zeros(0, dtype=self._graph.edge_type)
        by_step: list[Numbers] = []
        for _ in range(steps):
            edges, reached = self._around(frontier)
            by_step.append(np.setdiff1d(edges, earlier))
            earlier = np.union1d(earlier, by_step[-1]).astype(self._graph.edge_type)
            frontier = np.setdiff1d(self._passable(np.unique(reached)), seen)
            seen = np.union1d(seen, frontier)
        return by_step

    def between(self, low: Int32, high: Int32, /) -> Numbers:
        """Returns the edges that join two sets of nodes, either way, ascending."""
        fewer, other = (low, high) if self._cost(low) <= self._cost(high) else (high, low)
        edges, reached = self._around(fewer)
        return np.unique(edges[np.isin(reached, other)])

    def _levels(self, entity: int, answer: int) -> list[Int32] | None:
        """The nodes of the shortest paths by their distance from the entity; None without any."""
        if entity == answer:
            return None
        sides = [[np.array([end], dtype=np.int32)] for end in (entity, answer)]
        pair = np.array([entity, answer], dtype=np.int32)
        while (met := np.intersect1d(sides[0][-1], sides[1][-1])).size == 0:
            if sum(map(len, sides)) - 2 == MAX_STEPS or not (
                len(sides[0][-1]) and len(sides[1][-1])
            ):
                return None
            # The side with the fewer edges goes on, so that a hub at one end is never walked.
            side = min(sides, key=lambda levels: self._cost(levels[-1]))
            reached = np.unique(self._around(side[-1])[1])
            new = np.setdiff1d(reached, np.concatenate(side))
            side.append(np.union1d(self._passable(new), np.intersect1d(new, pair)))
        back = [self._back(levels, met) for levels in sides]
        return [*back[0], *back[1][-2::-1]]

    def _back(self, levels: list[Int32], met: Int32) -> list[Int32]:
        """Of each level the nodes from which the last one's are reached."""
        back = [met]
        for level in levels[-2::-1]:
            reached = self._around(back[-1])[1]
            back.append(np.intersect1d(level, reached))
        return back[::-1]

    def _passable(self, nodes: Int32) -> Int32:
        return nodes[self._graph.degrees_of(nodes) <= HUB_DEGREE]

    def _cost(self, nodes: Int32) -> int:
        return int(self._graph.degrees_of(nodes).sum())

    def _around(self, nodes: Int32) -> tuple[Numbers, Int32]:
        """The edges at some nodes, and the other end of each."""
        self._deadline.check("walking the graph")
        graph = self._graph
        edges, others = [], []
        for side, other in ((graph.out_edges, graph.tail), (graph.in_edges, graph.head)):
            some = side.edges_of(nodes)
            some = some[self._index.eligible[some]]
            edges.append(some)
            others.append(other[some])
        return np.concatenate(edges), np.concatenate(others)
