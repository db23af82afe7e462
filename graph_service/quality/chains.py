"""Relation sequences of a graph as a benchmark judges them: by the chain, whatever retrieval does.

Relations that a graph writes in both directions, the second as ``..._inverse``, are one relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from graph_service.model.graph import KnowledgeGraph
from graph_service.quality.question_sets import Step

TripleIds = tuple[str, str, str]
_INVERSE = "_inverse"


def twin_of(step: Step, /) -> Step:
    """Returns a step under its relation's first name.

    >>> twin_of(("plays_in_club_inverse", False)), twin_of(("plays_in_club", False))
    (('plays_in_club', True), ('plays_in_club', False))
    """
    relation, backward = step
    if relation.endswith(_INVERSE):
        return relation.removesuffix(_INVERSE), not backward
    return step


def twin_triple(head: str, relation: str, tail: str, /) -> TripleIds:
    """Returns a triple under its relation's first name."""
    name, backward = twin_of((relation, False))
    return (tail, name, head) if backward else (head, name, tail)


class Chains:
    """Walks over a graph by relation, each node's steps read once.

    Args:
        graph: The graph.
        work: Nodes that one enumeration may visit; beyond it gives up.
    """

    def __init__(self, graph: KnowledgeGraph, /, *, work: int = 200_000) -> None:
        self._graph = graph
        self._work = work
        self._relations = [twin_of((id_, False)) for id_ in graph.relation_ids]
        self._steps: dict[int, dict[Step, list[int]]] = {}

    def instances(self, start: str, steps: Sequence[Step], /) -> list[tuple[str, ...]]:
        """Returns all simple walks of a sequence, as the ids of their nodes."""
        node = self._graph.find_node(start)
        walks: list[tuple[int, ...]] = [] if node is None else [(node,)]
        for step in map(twin_of, steps):
            walks = [
                (*walk, other)
                for walk in walks
                for other in self._of(walk[-1]).get(step, ())
                if other not in walk
            ]
            if len(walks) > self._work:
                return []
        ids = self._graph.node_ids
        return [tuple(ids[node] for node in walk) for walk in walks]

    def end_nodes(self, start: str, steps: Sequence[Step], /) -> frozenset[str]:
        """Returns the entities at the end of a sequence."""
        return frozenset(walk[-1] for walk in self.instances(start, steps))

    def candidates(self, start: str, /, *, hops: int) -> dict[tuple[Step, ...], frozenset[str]]:
        """Returns every sequence of up to some steps and the entities at its end.

        Empty where there are more walks than may be enumerated.
        """
        node = self._graph.find_node(start)
        if node is None:
            return {}
        nodes_at: dict[tuple[Step, ...], set[int]] = defaultdict(set)
        level: list[tuple[tuple[Step, ...], tuple[int, ...]]] = [((), (node,))]
        total = 0
        for _ in range(hops):
            longer = []
            for steps, walk in level:
                for step, others in self._of(walk[-1]).items():
                    following = (*steps, step)
                    for other in others:
                        if other not in walk:
                            longer.append((following, (*walk, other)))
                            nodes_at[following].add(other)
                total += len(self._of(walk[-1]))
                if total + len(longer) > self._work:
                    return {}
            level = longer
        ids = self._graph.node_ids
        return {steps: frozenset(ids[node] for node in nodes) for steps, nodes in nodes_at.items()}

    def _of(self, node: int) -> Mapping[Step, list[int]]:
        known = self._steps.get(node)
        if known is not None:
            return known
        graph = self._graph
        steps: dict[Step, set[int]] = defaultdict(set)
        for adjacency, others, walked_back in (
            (graph.out_edges, graph.tail, False),
            (graph.in_edges, graph.head, True),
        ):
            for edge in adjacency.of(node).tolist():
                other = int(others[edge])
                if other < graph.entity_count:
                    relation, backward = self._relations[int(graph.rel[edge])]
                    steps[relation, backward != walked_back].add(other)
        made = {step: sorted(nodes) for step, nodes in sorted(steps.items())}
        self._steps[node] = made
        return made


def triples_of(nodes: Sequence[str], steps: Iterable[Step], /) -> frozenset[TripleIds]:
    """Returns the triples of a walk, each under its relation's first name."""
    return frozenset(
        (tail, relation, head) if backward else (head, relation, tail)
        for head, tail, (relation, backward) in zip(
            nodes[:-1], nodes[1:], map(twin_of, steps), strict=True
        )
    )
