"""Drawing long-tail entities: pure, arrays in, edge numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int64, KnowledgeGraph, NodeKind
from graph_service.model.pageviews import LEVEL_BOUNDS, LongTailLevel, draw_order
from graph_service.sampling.relations import NonInformative

MIN_TRIPLES, MAX_TRIPLES = 5, 100


@dataclass(frozen=True, slots=True)
class SampleSpec:
    """What is drawn.

    Attributes:
        levels: Long-tail levels.
        per_level: Entities of each level at most; None for all there are.
        random_seed: Of the order in which entities are tried.
        min_triples, max_triples: An entity with fewer or more triples is passed over.
        non_informative: Relations that count for nothing and are left out.
    """

    levels: tuple[LongTailLevel, ...] = tuple(LongTailLevel)
    per_level: int | None = None
    random_seed: int = 0
    min_triples: int = MIN_TRIPLES
    max_triples: int = MAX_TRIPLES
    non_informative: NonInformative = field(default_factory=NonInformative)

    def check(self) -> None:
        """Raises ``InputError`` for a value out of range."""
        if self.per_level is not None and self.per_level < 1:
            raise InputError(
                f"entities a level must be at least 1, got {self.per_level}", argument="per_level"
            )
        if not 1 <= self.min_triples <= self.max_triples:
            raise InputError(
                f"triples must be 1 or more and at most the most, got {self.min_triples} to "
                f"{self.max_triples}",
                argument="min_triples",
            )
        if not -(2**127) <= self.random_seed < 2**127:
            raise InputError(
                f"a random seed has at most 127 bits, got {self.random_seed}",
                argument="random_seed",
            )


@dataclass(frozen=True, slots=True)
class SampledEntity:
    """An entity that was drawn.

    Attributes:
        node: Its node.
        level: Its long-tail level.
        mean: Mean monthly page views.
        edges: Its triples' edges, in order of number; each triple once.
    """

    node: int
    level: LongTailLevel
    mean: float
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """What became of a level's entities.

    Attributes:
        entities: With page views of that level.
        tried: Looked at, in the order of the draw, until there were enough.
        too_few, too_many: Passed over for their number of triples.
        drawn: In the sample.
    """

    entities: int
    tried: int
    too_few: int
    too_many: int
    drawn: int


def draw_entities(
    graph: KnowledgeGraph, means: Mapping[str, float], spec: SampleSpec, /
) -> tuple[list[SampledEntity], dict[LongTailLevel, LevelCounts]]:
    """Returns the sample by level and then in the order of the draw, with counts by level.

    Args:
        graph: The graph.
        means: Mean monthly page views by entity id; ids that are no items of the graph are
            passed over.
        spec: What to draw.
    """
    spec.check()
    dropped = np.array(
        [spec.non_informative.drops(relation) for relation in graph.relation_ids], dtype=np.bool_
    ).reshape(graph.relation_count)
    sample: list[SampledEntity] = []
    counts: dict[LongTailLevel, LevelCounts] = {}
    for level in sorted(set(spec.levels)):
        low, high = LEVEL_BOUNDS[level]
        nodes = {
            id_: node
            for id_, mean in means.items()
            if low <= mean < high
            and (node := graph.find_node(id_)) is not None
            and graph.node_kinds[node] == NodeKind.ENTITY
        }
        selected: list[SampledEntity] = []
        tried = too_few = too_many = 0
        for id_ in draw_order(nodes, random_seed=spec.random_seed):
            if spec.per_level is not None and len(selected) == spec.per_level:
                break
            tried += 1
            edges = _triples_of(graph, nodes[id_], dropped, spec.non_informative)
            if len(edges) < spec.min_triples:
                too_few += 1
            elif len(edges) > spec.max_triples:
                too_many += 1
            else:
                selected.append(SampledEntity(nodes[id_], level, means[id_], tuple(edges)))
        sample += selected
        counts[level] = LevelCounts(len(nodes), tried, too_few, too_many, len(selected))
    return sample, counts


def _triples_of(
    graph: KnowledgeGraph, node: int, dropped: np.ndarray, non_informative: NonInformative, /
) -> list[int]:
    """Returns the edges of a node that count, the first of equal triples, ascending."""
    edges: Int64 = np.unique(
        np.concatenate(
            [adjacency.of(node) for adjacency in (graph.out_edges, graph.in_edges)]
        ).astype(np.int64)
    )
    edges = edges[graph.best[edges] & ~dropped[graph.rel[edges]]]
    triples: dict[tuple[int, int, int], int] = {}
    for edge in edges.tolist():
        tail = int(graph.tail[edge])
        if tail >= graph.entity_count and non_informative.drops_value(graph.node_ids[tail]):
            continue
        triples.setdefault((int(graph.head[edge]), int(graph.rel[edge]), tail), edge)
    return sorted(triples.values())
