"""The columnar graph that retrieval and views run on.

Numbering depends on content alone: entities in order of their 64-bit key, then one literal
node for each statement whose value is no entity, in order of the statement's key; edges in
order of the statement's key; relations in order of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph_arrays import (
    Bool,
    Float64,
    Int32,
    Int64,
    StringTable,
    Uint8,
)
from graph_service.model.identity import Fingerprints, key64
from graph_service.model.statement import Rank
from graph_service.model.statement_ids import StatementIds


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
    "Float64",
    "Int32",
    "Int64",
    "KnowledgeGraph",
    "LabelColumn",
    "NameIndex",
    "NodeKind",
    "SameAs",
    "StatementIds",
    "StringTable",
    "Uint8",
    "labels_of",
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
class Adjacency:
    """Edges of each node: those of node ``v`` are ``edges[indptr[v]:indptr[v + 1]]``, ascending.

    Attributes:
        indptr: int64, length nodes + 1.
        edges: Edge numbers, int32, length edges.
    """

    indptr: Int64
    edges: Int32

    @classmethod
    def build(cls, ends: Int32, node_count: int, /) -> Adjacency:
        """Returns the adjacency of one end (``head`` or ``tail``) of all edges."""
        # Both in one number: sorting those takes half the time of a stable argsort.
        packed = ends.astype(np.int64) << 32
        packed |= np.arange(len(ends))
        packed.sort()
        edges = (packed & 0xFFFFFFFF).astype(np.int32)
        indptr = np.zeros(node_count + 1, dtype=np.int64)
        np.cumsum(np.bincount(ends, minlength=node_count), out=indptr[1:])
        return cls(indptr, edges)

    def degrees(self) -> Int64:
        """Returns the number of edges of each node."""
        return np.diff(self.indptr)

    def edges_of(self, nodes: Int32, /) -> Int32:
        """Returns the edges of some nodes, one node's after the other's, int32."""
        return self.edges[_ranges(self.indptr[nodes], self.indptr[nodes + 1])]


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

    def find(self, name: str, /) -> tuple[Int32, Bool]:
        """Returns the nodes of a normalised name, and for each whether by alias only."""
        key = key64(name)
        start = int(np.searchsorted(self.name_keys, key, side="left"))
        end = int(np.searchsorted(self.name_keys, key, side="right"))
        return self.nodes[start:end], self.is_alias[start:end]


@dataclass(frozen=True, slots=True)
class SameAs:
    """Which entities are the same thing, by what they name as themselves elsewhere.

    Two entities are the same if one names the other, or if both name a third, in the graph or not.

    Attributes:
        nodes: The entity that names something, int32, ascending.
        keys: Key of what it names, int64: of a node, or of what another entity names too.
        by_key: Places in both, in order of the keys, int32.
    """

    nodes: Int32
    keys: Int64
    by_key: Int32

    @classmethod
    def build(cls, nodes: Int32, keys: Int64, /) -> SameAs:
        """Returns it from pairs in order of the nodes."""
        return cls(nodes, keys, np.argsort(keys, kind="stable").astype(np.int32))

    @classmethod
    def none(cls) -> SameAs:
        """Returns that no two are the same."""
        return cls.build(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))

    def naming(self, keys: Int64, /) -> Int32:
        """Returns the nodes that name any of some keys, with repeats."""
        begin = np.searchsorted(self.keys, keys, side="left", sorter=self.by_key)
        end = np.searchsorted(self.keys, keys, side="right", sorter=self.by_key)
        return self.nodes[self.by_key[_ranges(begin, end)]]

    def named_by(self, nodes: Int32, /) -> tuple[Int64, Int64]:
        """Returns the keys that some nodes name, and the place in ``nodes`` of who names each."""
        begin = np.searchsorted(self.nodes, nodes, side="left")
        end = np.searchsorted(self.nodes, nodes, side="right")
        return self.keys[_ranges(begin, end)], np.repeat(np.arange(len(nodes)), end - begin)


def _ranges(begin: Int64, end: Int64) -> Int64:
    """Returns the numbers of some ranges, one after the other."""
    count = end - begin
    start = np.cumsum(count) - count
    numbers: Int64 = np.arange(int(count.sum())) + np.repeat(begin - start, count)
    return numbers


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
        head, rel, tail: int32 [M].
        statement_keys: int64 [M], ascending.
        statement_ids: [M].
        rank: ``RANK_CODES``, uint8 [M].
        best: Whether the statement has the best rank among its head's of that relation,
            deprecated never: bool [M].
        out_edges, in_edges: Adjacency by head and by tail.
        node_labels, relation_labels: Labels by language.
        names: Index of labels and aliases of entities in all languages.
        same_as: Entities that are the same thing, as in editions of several languages.
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
    head: Int32
    rel: Int32
    tail: Int32
    statement_keys: Int64
    statement_ids: StringTable | StatementIds
    rank: Uint8
    best: Bool
    out_edges: Adjacency
    in_edges: Adjacency
    node_labels: Mapping[str, LabelColumn]
    relation_labels: Mapping[str, LabelColumn]
    names: NameIndex
    same_as: SameAs = field(default_factory=SameAs.none)

    @property
    def node_count(self) -> int:
        """Number of nodes, entities and literals."""
        return len(self.node_kinds)

    @property
    def edge_count(self) -> int:
        """Number of edges, of every rank."""
        return len(self.head)

    @property
    def relation_count(self) -> int:
        """Number of relations."""
        return len(self.relation_keys)

    def find_node(self, id_: str, /) -> int | None:
        """Returns the node of an entity id, or None."""
        return _find(self.node_keys, self.node_ids, id_)

    def find_relation(self, id_: str, /) -> int | None:
        """Returns the number of a relation id, or None."""
        return _find(self.relation_keys, self.relation_ids, id_)

    def find_edge(self, statement_id: str, /) -> int | None:
        """Returns the edge of a statement id, or None."""
        return _find(self.statement_keys, self.statement_ids, statement_id)

    def degrees(self) -> Int64:
        """Returns the number of edges at each node, both directions, int64 [N]."""
        return self.out_edges.degrees() + self.in_edges.degrees()

    def is_entity(self, nodes: Int32, /) -> Bool:
        """Returns for some nodes whether each is an entity (of either kind)."""
        found: Bool = nodes < self.entity_count
        return found


def _find(keys: Int64, ids: StringTable | StatementIds, id_: str) -> int | None:
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
        wanted = index[missing]
        places = np.searchsorted(column.index, wanted)
        places[places == len(column.index)] = 0
        has = column.index[places] == wanted
        for position, text in zip(
            missing[has].tolist(), column.texts.take(places[has]), strict=True
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
