"""The columnar graph that retrieval and views run on.

Numbering depends on content alone: entities in order of their 64-bit key, then one literal
node for each statement whose value is no entity, in order of the statement's key; edges in
order of their heads, and those of one head in order of the statement's key; relations in order
of their keys.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from graph_service.errors import InputError
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph_arrays import (
    Bool,
    Float64,
    Int32,
    Int64,
    StringTable,
    Uint8,
    find_positions,
    find_positions_in_order,
    ranges,
)
from graph_service.model.identity import Fingerprints, key64
from graph_service.model.statement import Rank
from graph_service.model.statement_ids import StatementIds
from graph_service.model.topology import (
    Adjacency,
    Codes,
    EdgeHeads,
    Numbers,
    RankedBits,
    Topology,
    edge_type,
)


class NodeKind(IntEnum):
    """What a node is; only ``ENTITY`` nodes are ever passed through."""

    ENTITY = 0
    PROPERTY = 1
    LITERAL = 2
    SOMEVALUE = 3
    NOVALUE = 4


__all__ = [
    "RANKS",
    "RANK_CODES",
    "Adjacency",
    "Bool",
    "Codes",
    "EdgeHeads",
    "Float64",
    "Int32",
    "Int64",
    "KnowledgeGraph",
    "LabelColumn",
    "NameIndex",
    "NodeKind",
    "Numbers",
    "RankedBits",
    "StatementIds",
    "StringTable",
    "Topology",
    "Uint8",
    "labels_of",
    "ranges",
    "require_node",
]

RANK_CODES: Mapping[Rank, int] = {Rank.PREFERRED: 0, Rank.NORMAL: 1, Rank.DEPRECATED: 2}
RANKS: tuple[Rank, ...] = (Rank.PREFERRED, Rank.NORMAL, Rank.DEPRECATED)


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """Labels in one language: node or relation numbers (int32, ascending) and their texts."""

    index: Int32
    texts: StringTable


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Names to nodes, for linking: sorted by the key of the normalised name, then by node.

    Attributes:
        name_keys: ``key64(normalise_name(name))``, int64, ascending.
        nodes: Entity node of each name, int32.
        is_alias: Whether the name is an alias rather than a label, bool.
        longest: Most words that any name has.
    """

    name_keys: Int64
    nodes: Int32
    is_alias: Bool
    longest: int

    @classmethod
    def of(cls, keys: Int64, nodes: Int32, is_alias: Bool, /, *, longest: int) -> NameIndex:
        """Returns the index of names in any order: each name and node once, as an alias only where
        no label says the same.
        """
        order = np.lexsort((is_alias, nodes, keys))
        keys, nodes, is_alias = keys[order], nodes[order], is_alias[order]
        first = np.ones(len(keys), dtype=np.bool_)
        first[1:] = (keys[1:] != keys[:-1]) | (nodes[1:] != nodes[:-1])
        return cls(keys[first], nodes[first], is_alias[first], longest)

    def find(self, name: str, /) -> tuple[Int32, Bool]:
        """Returns the nodes of a normalised name, and for each whether by alias only."""
        key = key64(name)
        start = int(np.searchsorted(self.name_keys, key, side="left"))
        end = int(np.searchsorted(self.name_keys, key, side="right"))
        return self.nodes[start:end], self.is_alias[start:end]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class KnowledgeGraph:
    """One published state of a graph as arrays: N nodes, R relations, M edges.

    An edge is a statement of any rank; who walks them masks ``rank``. Arrays may be
    memory-mapped and are read-only.

    Attributes:
        name: Name of the graph.
        edition: Its published edition, ``demo@7``.
        fingerprints: What the arrays were made from.
        entity_count: Number of entity nodes (E); nodes from there on are literals.
        node_keys: int64 [E], ascending.
        node_ids: Id of each entity, then the encoded value of each literal: [N].
        node_kinds: ``NodeKind``, uint8 [N].
        relation_keys: int64 [R], ascending.
        relation_ids: [R].
        topology: What joins what: the columns of the edges, and the edges of the nodes.
        statement_keys: int64 [M].
        statement_ids: [M].
        rank: ``RANK_CODES``, uint8 [M].
        best: Whether the statement has the best rank among its head's of that relation,
            deprecated never: bool [M].
        node_labels, relation_labels: Labels by language.
        names: Index of labels and aliases of entities in all languages.
        equal: Entities that are one thing, as in several sources or editions.
    """

    name: str
    edition: str
    fingerprints: Fingerprints
    entity_count: int
    node_keys: Int64
    node_ids: StringTable
    node_kinds: Uint8
    relation_keys: Int64
    relation_ids: StringTable
    topology: Topology
    statement_keys: Int64
    statement_ids: StringTable | StatementIds
    rank: Uint8
    best: Bool
    node_labels: Mapping[str, LabelColumn]
    relation_labels: Mapping[str, LabelColumn]
    names: NameIndex
    equal: EqualEntities = field(default_factory=EqualEntities.none)

    @property
    def head(self) -> EdgeHeads:
        """Head of each edge, [M]."""
        return self.topology.head

    @property
    def rel(self) -> Codes:
        """Relation of each edge, [M]."""
        return self.topology.rel

    @property
    def tail(self) -> Int32:
        """Tail of each edge, int32 [M]."""
        return self.topology.tail

    @property
    def out_edges(self) -> Adjacency:
        """The edges of each node of which it is the head."""
        return self.topology.out_edges

    @property
    def in_edges(self) -> Adjacency:
        """The edges of each node of which it is the tail."""
        return self.topology.in_edges

    @property
    def node_count(self) -> int:
        """Number of nodes, entities and literals."""
        return len(self.node_kinds)

    @property
    def edge_count(self) -> int:
        """Number of edges, of every rank."""
        return len(self.tail)

    @property
    def edge_type(self) -> type[np.int32] | type[np.int64]:
        """The integer type that holds every edge number."""
        return edge_type(self.edge_count)

    @property
    def relation_count(self) -> int:
        """How many distinct relations the graph has."""
        return len(self.relation_keys)

    def find_node(self, id_: str, /) -> int | None:
        """Returns the node of an entity id, or None."""
        return _find(self.node_keys, self.node_ids, id_)

    def find_relation(self, id_: str, /) -> int | None:
        """Returns the number of a relation id, or None."""
        return _find(self.relation_keys, self.relation_ids, id_)

    def find_edge(self, statement_id: str, /) -> int | None:
        """Returns the edge of a statement id, or None."""
        order = self.topology.key_order
        position = bisect_left(
            range(len(order)),
            key64(statement_id),
            key=lambda position: int(self.statement_keys[order[position]]),
        )
        if position == len(order) or self.statement_ids[int(order[position])] != statement_id:
            return None
        return int(order[position])

    def has_keys(self, keys: Int64, /) -> Bool:
        """Returns for each of some 64-bit keys whether a statement has it."""
        order = self.topology.key_order
        positions = find_positions_in_order(self.statement_keys, order, keys)
        has_key = positions < len(order)
        has_key[has_key] = self.statement_keys[order[positions[has_key]]] == keys[has_key]
        return has_key

    def key_ranks(self, edges: Int32 | Int64, /) -> Int64:
        """Returns the rank of each of some edges among all, in order of their statements' keys."""
        order = self.topology.key_order
        if len(edges) < len(order) // _FEW:
            held = self.statement_keys
            return find_positions_in_order(held, order, held[edges])
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks[edges]

    def in_key_order(self, edges: Int32 | Int64, /) -> Int64:
        """Returns some edges in order of their statements' keys."""
        return edges.astype(np.int64)[np.argsort(self.statement_keys[edges])]

    def degrees(self) -> Int64:
        """Returns the number of edges at each node, both directions, int64 [N]."""
        return self.out_edges.degrees() + self.in_edges.degrees()

    def degrees_of(self, nodes: Int32 | Int64, /) -> Int64:
        """Returns the number of edges at some nodes, both directions, int64."""
        degrees = np.zeros(len(nodes), dtype=np.int64)
        for way in (self.out_edges, self.in_edges):
            degrees += way.degrees_of(nodes)
        return degrees

    def is_entity(self, nodes: Int32, /) -> Bool:
        """Returns for some nodes whether each is an entity (of either kind)."""
        are_entities: Bool = nodes < self.entity_count
        return are_entities


_FEW = 64
"""Edges are few where they are fewer than one in so many: they are looked up one by one."""


def _find(keys: Int64, ids: StringTable, id_: str) -> int | None:
    position = int(np.searchsorted(keys, key64(id_)))
    if position < len(keys) and position < len(ids) and ids[position] == id_:
        return position
    return None


def labels_of(
    columns: Mapping[str, LabelColumn], index: Int32, languages: Sequence[str], /
) -> list[str | None]:
    """Returns the label of each number in the first of some languages that has one.

    After the languages asked for come ``mul`` and ``en``, then the others in order of their tag,
    so that an entity with any label never goes without.
    """
    order = list(dict.fromkeys([*languages, "mul", "en", *sorted(columns)]))
    labels: list[str | None] = [None] * len(index)
    missing = np.arange(len(index))
    for language in order:
        column = columns.get(language)
        if column is None or not len(missing) or not len(column.index):
            continue
        unlabelled = index[missing]
        positions = find_positions(column.index, unlabelled)
        positions[positions == len(column.index)] = 0
        has = column.index[positions] == unlabelled
        for position, text in zip(
            missing[has].tolist(), column.texts.take(positions[has]), strict=True
        ):
            labels[position] = text
        missing = missing[~has]
    return labels


def require_node(graph: KnowledgeGraph, id_: str, /) -> int:
    """Returns the node of an entity id; raises ``InputError`` if the graph lacks it."""
    node = graph.find_node(id_)
    if node is None:
        raise InputError(f"graph {graph.name!r} has no entity {id_!r}", argument="entity_ids")
    return node
