"""The part of a graph that one question is answered from, in local numbers."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.model.graph import Bool, Int32, Int64, Uint8
from graph_service.model.limits import Cut


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A subgraph of n nodes and m edges, cut out of a graph or a view of it.

    Local node ``i`` is global node ``nodes[i]``; local edge ``j`` is global edge ``edges[j]``
    (from the base's edge count on: extra edge of the view's overlay). Both ascend in the order
    of their keys, so that a smaller number is a smaller key among entities and among literals.

    Attributes:
        nodes: Global node numbers, int32 [n], ascending.
        node_keys: Key of each node (a literal's is its statement's), int64 [n].
        hops: Steps from the nearest start entity, uint8 [n].
        literal: Whether the node is a literal, never passed through: bool [n].
        degrees: Degree in the base graph, both directions, int64 [n].
        start_entities: Local numbers of the question's entities, int32 [s], in the order asked.
        edges: Global edge numbers, int64 [m].
        edge_keys: Keys of the statements, int64 [m], ascending.
        head, tail: Local node numbers, int32 [m].
        rel: Global relation numbers, int32 [m].
        cuts: What was left out on the way.
    """

    nodes: Int32
    node_keys: Int64
    hops: Uint8
    literal: Bool
    degrees: Int64
    start_entities: Int32
    edges: Int64
    edge_keys: Int64
    head: Int32
    tail: Int32
    rel: Int32
    cuts: tuple[Cut, ...] = ()

    @property
    def node_count(self) -> int:
        """How many nodes the region has."""
        return len(self.nodes)

    @property
    def edge_count(self) -> int:
        """How many edges the region has."""
        return len(self.edges)
