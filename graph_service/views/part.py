"""A part of a base graph as a graph of its own, and its views as views of the base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import (
    Int32,
    KnowledgeGraph,
    NameIndex,
    Numbers,
    StatementIds,
    StringTable,
    Topology,
)
from graph_service.model.graph_arrays import find_positions_in_order, reorder_texts
from graph_service.model.view_delta import ViewDelta


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some edges of a base with the entities and relations that they have.

    Attributes:
        graph: They alone, numbered in the order of the base; without labels and names.
        edges: What each edge is in the base, int32 or int64, ascending.
        nodes, relations: What each of them is there, int32, ascending.
    """

    graph: KnowledgeGraph
    edges: Numbers
    nodes: Int32
    relations: Int32

    @classmethod
    def of(cls, base: KnowledgeGraph, edges: Numbers, /) -> Part:
        """Returns the part of some edges, ascending; its cost is that of the part."""
        nodes = np.unique(np.concatenate([base.head[edges], base.tail[edges]]))
        relations = np.unique(base.rel[edges])
        head = np.searchsorted(nodes, base.head[edges]).astype(np.int32)
        tail = np.searchsorted(nodes, base.tail[edges]).astype(np.int32)
        entity_count = int(np.searchsorted(nodes, base.entity_count))
        keys = base.statement_keys[edges]
        none = np.zeros(0, dtype=np.int32)
        graph = KnowledgeGraph(
            name=base.name,
            edition=base.edition,
            fingerprints=base.fingerprints,
            entity_count=entity_count,
            node_keys=base.node_keys[nodes[:entity_count]],
            node_ids=reorder_texts(base.node_ids, nodes.astype(np.int64)),
            node_kinds=base.node_kinds[nodes],
            relation_keys=base.relation_keys[relations],
            relation_ids=reorder_texts(base.relation_ids, relations.astype(np.int64)),
            topology=Topology.build(
                head,
                np.searchsorted(relations, base.rel[edges]).astype(np.int32),
                tail,
                keys,
                entity_count=entity_count,
                node_count=len(nodes),
                relation_count=len(relations),
            ),
            statement_keys=keys,
            statement_ids=_ids_of(base, edges),
            rank=base.rank[edges],
            best=base.best[edges],
            node_labels={},
            relation_labels={},
            names=NameIndex(none.astype(np.int64), none, none.astype(np.bool_), 0),
        )
        return cls(graph, edges, nodes, relations)

    @classmethod
    def within(cls, graph: KnowledgeGraph, base: KnowledgeGraph, /) -> Part:
        """Returns a graph as the part of another one, which has all its statements.

        A node without a statement stands for none.
        """
        order = base.topology.key_order
        positions = find_positions_in_order(base.statement_keys, order, graph.statement_keys)
        edges = order[positions].astype(base.edge_type)
        # A literal is of one statement; the order of edges is that of both graphs.
        literal = graph.tail >= graph.entity_count
        nodes = np.empty(graph.node_count, dtype=np.int32)
        nodes[: graph.entity_count] = np.searchsorted(base.node_keys, graph.node_keys)
        nodes[graph.tail[literal]] = base.tail[edges[literal]]
        relations = np.searchsorted(base.relation_keys, graph.relation_keys).astype(np.int32)
        return cls(graph, edges, nodes, relations)

    def in_base(self, delta: ViewDelta, /) -> ViewDelta:
        """Returns a delta of the part in the numbers of the base; it makes no new entities."""
        head = delta.replaced_head
        return ViewDelta(
            removed=self.edges[delta.removed],
            replaced=self.edges[delta.replaced],
            replaced_rel=self.relations[delta.replaced_rel],
            replaced_tail=self.nodes[delta.replaced_tail],
            added_head=self.nodes[delta.added_head],
            added_rel=self.relations[delta.added_rel],
            added_tail=self.nodes[delta.added_tail],
            replaced_head=None if head is None else self.nodes[head],
            replaced_rank=delta.replaced_rank,
        )


def _ids_of(base: KnowledgeGraph, edges: Numbers) -> StringTable | StatementIds:
    ids = base.statement_ids
    return (
        ids.of(edges)
        if isinstance(ids, StatementIds)
        else reorder_texts(ids, edges.astype(np.int64))
    )
