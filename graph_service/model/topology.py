"""Which statements join which nodes, both ways, in some eleven bytes a statement.

Edges are numbered in order of their heads, and those of one head in order of their statements'
keys. So an edge's head follows from its number, and what is read around an entity lies together:
on few pages of a mapped file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from graph_service.model.graph_arrays import Bool, Int32, Int64

Numbers = npt.NDArray[Any]
"""Whole numbers of the type that holds them."""
MOST_32_BIT = 2**31 - 1
"""Most edges whose numbers take 32 bits."""
Places = Int32 | Int64 | Bool | slice


class _Column(ABC):
    """A column of int32 that is worked out where it is read; ``column[:]`` is all of it."""

    __slots__ = ()
    # Whoever computes with all of a column says so, by ``column[:]``.
    __array_ufunc__ = None
    __iter__ = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _take(self, places: Numbers, /) -> Int32: ...

    @abstractmethod
    def _all(self) -> Int32: ...

    def __array__(self, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None) -> Numbers:
        return np.asarray(self._all(), dtype=dtype)

    @overload
    def __getitem__(self, places: Places, /) -> Int32: ...
    @overload
    def __getitem__(self, places: int, /) -> int: ...
    def __getitem__(self, places: int | Places, /) -> Int32 | int:
        if isinstance(places, slice):
            if places == slice(None):
                return self._all()
            return self._take(np.arange(*places.indices(len(self))))
        chosen = np.asarray(places)
        if chosen.dtype == np.bool_:
            return self._take(np.flatnonzero(chosen))
        if chosen.ndim == 0:
            return int(self._take(chosen.reshape(1))[0])
        return self._take(chosen)


class Codes(_Column):
    """Numbers from 0 on in as few bytes as the largest needs.

    They are read as int32, so that sums and products of them do not overflow in silence.

    Args:
        data: The numbers, in an unsigned type or int32.
    """

    __slots__ = ("data",)

    def __init__(self, data: Numbers, /) -> None:
        self.data = data

    @classmethod
    def pack(cls, numbers: Int32, /, *, count: int) -> Codes:
        """Returns numbers below ``count``."""
        for dtype in (np.uint8, np.uint16):
            if count <= np.iinfo(dtype).max + 1:
                return cls(numbers.astype(dtype))
        return cls(numbers)

    def __len__(self) -> int:
        return len(self.data)

    def _take(self, places: Numbers, /) -> Int32:
        return self.data[places].astype(np.int32)

    def _all(self) -> Int32:
        return self.data.astype(np.int32)


class EdgeHeads(_Column):
    """The head of each edge, from which edges are the first of their heads.

    An edge's head is the k-th that has edges, where k first edges stand up to this one. These are
    counted for each 64 edges, and within them by their bits.

    Args:
        first: Bit ``e % 64`` of word ``e // 64`` says whether edge ``e`` is the first of its head:
            uint64 [(M + 63) // 64].
        before: First edges before each word, int32, of the same length.
        heads: The entities that have edges, int32, ascending.
        count: M.
    """

    __slots__ = ("before", "count", "first", "heads")

    def __init__(self, first: Numbers, before: Numbers, heads: Int32, /, *, count: int) -> None:
        self.first = first
        self.before = before
        self.heads = heads
        self.count = count

    @classmethod
    def pack(cls, indptr: Numbers, /) -> EdgeHeads:
        """Returns the heads of edges, given ``Adjacency.indptr`` of the edges by head."""
        count = int(indptr[-1])
        heads = np.flatnonzero(np.diff(indptr)).astype(np.int32)
        places = indptr[heads].astype(np.int64)
        first = np.zeros(-(-count // 64), dtype=np.uint64)
        np.bitwise_or.at(first, places >> 6, np.uint64(1) << (places & 63).astype(np.uint64))
        held = np.bitwise_count(first)
        return cls(first, (np.cumsum(held) - held).astype(np.int32), heads, count=count)

    def __len__(self) -> int:
        return self.count

    def _take(self, places: Numbers, /) -> Int32:
        word = places >> 6
        bits = self.first[word] & _UP_TO[places & 63]
        found: Int32 = self.heads[self.before[word] + np.bitwise_count(bits) - 1]
        return found

    def _all(self) -> Int32:
        bits = np.unpackbits(self.first.astype("<u8").view(np.uint8), bitorder="little")
        starts = np.flatnonzero(bits)
        return np.repeat(self.heads, np.diff(starts, append=self.count))


_UP_TO = (np.uint64(2) << np.arange(64, dtype=np.uint64)) - np.uint64(1)
"""The bits up to each place of a word, that place included."""


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """Edges of each node, those of one node in order of their statements' keys.

    Attributes:
        indptr: Where the edges of each entity begin, and where those of the last end: int32 or
            int64, length entities + 1. The nodes after the entities are literals.
        edges: Edge numbers, of all entities and then of all literals; None where the edges are
            numbered in this order.
        node_count: Entities and literals.
        a_literal: Edges of each literal: 0 or 1.
    """

    indptr: Numbers
    edges: Numbers | None
    node_count: int
    a_literal: int = 0

    def degrees(self) -> Int64:
        """Returns the number of edges of each node."""
        entities = np.diff(self.indptr).astype(np.int64)
        literals = np.full(self.node_count - len(entities), self.a_literal, dtype=np.int64)
        return np.concatenate((entities, literals)) if len(literals) else entities

    def bounds(self, nodes: Int32 | Int64, /) -> tuple[Int64, Int64]:
        """Returns where the edges of some nodes begin and end in this order, int64."""
        entities = len(self.indptr) - 1
        inner = np.minimum(nodes, entities)
        begin = self.indptr[inner].astype(np.int64)
        end = self.indptr[np.minimum(inner + 1, entities)].astype(np.int64)
        if self.a_literal:
            after = nodes - inner
            begin += after
            end += after + (inner == entities)
        return begin, end

    def degrees_of(self, nodes: Int32 | Int64, /) -> Int64:
        """Returns the number of edges of some nodes, int64."""
        begin, end = self.bounds(nodes)
        return end - begin

    def of(self, node: int, /) -> Int64:
        """Returns the edges of one node, int64."""
        return self.edges_of(np.array([node])).astype(np.int64)

    def edges_of(self, nodes: Int32 | Int64, /) -> Int32:
        """Returns the edges of some nodes, one node's after the other's."""
        return self.gather(nodes)[0]

    def gather(self, nodes: Int32 | Int64, /, *, most: int | None = None) -> tuple[Int32, Int64]:
        """Returns the edges of some nodes, one after the other, and for each its place in ``nodes``.

        Args:
            nodes: Any, in any order.
            most: Edges of each node at most, its first; None for all.
        """
        begin, end = self.bounds(nodes)
        count = end - begin
        if most is not None:
            count = np.minimum(count, most)
        owner = np.repeat(np.arange(len(nodes)), count)
        offset = np.cumsum(count) - count
        places = np.arange(len(owner)) - offset[owner] + begin[owner]
        if self.edges is None:
            return places.astype(self.indptr.dtype, copy=False), owner
        return self.edges[places], owner


@dataclass(frozen=True, slots=True, eq=False)
class Topology:
    """The edges of a graph: M statements between nodes.

    Attributes:
        head, rel: Head and relation of each edge, read as int32.
        tail: Tail of each edge, int32 [M].
        out_edges, in_edges: Adjacency by head and by tail.
        key_order: The edges in order of their statements' keys, int32 or int64 [M].
    """

    head: EdgeHeads
    rel: Codes
    tail: Int32
    out_edges: Adjacency
    in_edges: Adjacency
    key_order: Numbers

    @classmethod
    def build(
        cls,
        head: Int32,
        rel: Int32,
        tail: Int32,
        statement_keys: Int64,
        /,
        *,
        entity_count: int,
        node_count: int,
        relation_count: int,
    ) -> Topology:
        """Returns the topology of edges that are in order (``edge_order``).

        Args:
            head: int32 [M].
            rel: int32 [M].
            tail: int32 [M]; each literal is the tail of one edge, and they are numbered in order
                of those edges' keys.
            statement_keys: int64 [M].
            entity_count: Nodes that are entities, the first ones.
            node_count: All nodes.
            relation_count: All relations.
        """
        key_order = np.argsort(statement_keys).astype(edge_type(len(tail)))
        by_tail = key_order[_order_by(tail[key_order])]
        out_indptr = _indptr(head, entity_count)
        return cls.of_columns(
            EdgeHeads.pack(out_indptr),
            Codes.pack(rel, count=relation_count),
            tail,
            out_indptr,
            _indptr(tail, node_count)[: entity_count + 1],
            by_tail,
            key_order,
            node_count=node_count,
        )

    @classmethod
    def of_columns(
        cls,
        head: EdgeHeads,
        rel: Codes,
        tail: Int32,
        out_indptr: Numbers,
        in_indptr: Numbers,
        by_tail: Numbers,
        key_order: Numbers,
        /,
        *,
        node_count: int,
    ) -> Topology:
        """Returns it from the columns that hold it."""
        return cls(
            head,
            rel,
            tail,
            Adjacency(out_indptr, None, node_count),
            Adjacency(in_indptr, by_tail, node_count, a_literal=1),
            key_order,
        )


def edge_type(count: int, /) -> type[np.int32] | type[np.int64]:
    """Returns the type of edge numbers, of so many edges."""
    return np.int32 if count <= MOST_32_BIT else np.int64


def edge_order(head: Int32, statement_keys: Int64, /) -> Int64:
    """Returns the places of some statements in the order of their edges' numbers."""
    by_key = np.argsort(statement_keys)
    return by_key[_order_by(head[by_key])]


def _order_by(ends: Int32) -> Numbers:
    """Returns the places of some nodes in order of the nodes; ties keep theirs."""
    kind = edge_type(len(ends))
    if kind is np.int64:
        return np.argsort(ends, kind="stable")
    # Both in one number: sorting those takes half the time of a stable argsort.
    packed = ends.astype(np.int64) << 32
    packed |= np.arange(len(ends))
    packed.sort()
    return (packed & 0xFFFFFFFF).astype(kind)


def _indptr(ends: Int32, node_count: int) -> Numbers:
    indptr: Numbers = np.zeros(node_count + 1, dtype=edge_type(len(ends)))
    np.cumsum(np.bincount(ends, minlength=node_count), out=indptr[1:])
    return indptr
