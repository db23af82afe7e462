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
Positions = Int32 | Int64 | Bool | slice


class _Column(ABC):
    """A column of int32 that is worked out where it is read; ``column[:]`` is all of it."""

    __slots__ = ()
    # Whoever computes with all of a column says so, by ``column[:]``.
    __array_ufunc__ = None
    __iter__ = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _take(self, positions: Numbers, /) -> Int32: ...

    @abstractmethod
    def _all(self) -> Int32: ...

    def __array__(self, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None) -> Numbers:
        return np.asarray(self._all(), dtype=dtype)

    @overload
    def __getitem__(self, positions: Positions, /) -> Int32: ...
    @overload
    def __getitem__(self, positions: int, /) -> int: ...
    def __getitem__(self, positions: int | Positions, /) -> Int32 | int:
        if isinstance(positions, slice):
            if positions == slice(None):
                return self._all()
            return self._take(np.arange(*positions.indices(len(self))))
        chosen = np.asarray(positions)
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
        """Returns numbers below ``count`` in the smallest type that holds them."""
        for dtype in (np.uint8, np.uint16):
            if count <= np.iinfo(dtype).max + 1:
                return cls(numbers.astype(dtype))
        return cls(numbers)

    def __len__(self) -> int:
        return len(self.data)

    def _take(self, positions: Numbers, /) -> Int32:
        return self.data[positions].astype(np.int32)

    def _all(self) -> Int32:
        return self.data.astype(np.int32)


class RankedBits:
    """Which of the numbers below ``count`` are members of a set, and how many members come before.

    Members are counted for each 64 numbers, and within them by their bits: 1.5 bits a number.

    Args:
        words: Bit ``n % 64`` of word ``n // 64`` says whether ``n`` is a member: uint64
            [(count + 63) // 64].
        before: Members before each word, int32, of the same length.
        count: The numbers.
    """

    __slots__ = ("before", "count", "words")

    def __init__(self, words: Numbers, before: Numbers, /, *, count: int) -> None:
        self.words = words
        self.before = before
        self.count = count

    @classmethod
    def of(cls, members: Numbers, /, *, count: int) -> RankedBits:
        """Returns the set of some distinct numbers below ``count``."""
        words = np.zeros(-(-count // 64), dtype=np.uint64)
        bits = np.uint64(1) << (members & 63).astype(np.uint64)
        np.bitwise_or.at(words, members >> 6, bits)
        held = np.bitwise_count(words)
        return cls(words, (np.cumsum(held) - held).astype(np.int32), count=count)

    def members(self) -> Int64:
        """Returns the numbers of all members, ascending."""
        bits = np.unpackbits(self.words.astype("<u8").view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)

    def members_up_to(self, numbers: Numbers, /) -> Int32:
        """Returns how many members each number has below it or equal to it."""
        return self._ranks(numbers)[0]

    def span(self, numbers: Numbers, /) -> tuple[Int32, Int32]:
        """Returns how many members are below each number, and how many up to it."""
        up_to, word = self._ranks(numbers)
        is_member = (word >> (numbers & 63).astype(np.uint64)) & np.uint64(1)
        return up_to - is_member.astype(np.int32), up_to

    def _ranks(self, numbers: Numbers) -> tuple[Int32, Numbers]:
        word_index = numbers >> 6
        word = self.words[word_index]
        up_to: Int32 = self.before[word_index] + np.bitwise_count(word & _UP_TO[numbers & 63])
        return up_to, word


_UP_TO = (np.uint64(2) << np.arange(64, dtype=np.uint64)) - np.uint64(1)
"""The bits up to each bit of a word, that bit included."""


class EdgeHeads(_Column):
    """The head of each edge, from which edges are the first of their heads.

    An edge's head is the k-th that has edges, where k first edges stand up to this one.

    Args:
        first: The edges that are the first of their heads.
        heads: The entities that have edges, int32, ascending.
    """

    __slots__ = ("first", "heads")

    def __init__(self, first: RankedBits, heads: Int32, /) -> None:
        self.first = first
        self.heads = heads

    @classmethod
    def pack(cls, head: Int32, /) -> EdgeHeads:
        """Returns the heads of edges, ascending."""
        first = np.flatnonzero(np.diff(head, prepend=-1))
        return cls(RankedBits.of(first, count=len(head)), head[first])

    def __len__(self) -> int:
        return self.first.count

    def _take(self, positions: Numbers, /) -> Int32:
        heads: Int32 = self.heads[self.first.members_up_to(positions) - 1]
        return heads

    def _all(self) -> Int32:
        return np.repeat(self.heads, np.diff(self.first.members(), append=len(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """Edges of each node, those of one node in order of their statements' keys.

    Attributes:
        joined: The entities that have edges, among all and one more number. The nodes after the
            entities are literals.
        begins: Where the edges of each of these begin, and where those of the last end: int32 or
            int64, one longer than they are many.
        edges: Edge numbers, of all entities and then of all literals; None where the edges are
            numbered in this order.
        node_count: Entities and literals.
        a_literal: Edges of each literal: 0 or 1.
    """

    joined: RankedBits
    begins: Numbers
    edges: Numbers | None
    node_count: int
    a_literal: int = 0

    @property
    def _entities(self) -> int:
        return self.joined.count - 1

    def degrees(self) -> Int64:
        """Returns the number of edges of each node."""
        degrees = np.full(self.node_count, self.a_literal, dtype=np.int64)
        degrees[: self._entities] = 0
        degrees[self.joined.members()] = np.diff(self.begins)
        return degrees

    def bounds(self, nodes: Int32 | Int64, /) -> tuple[Int64, Int64]:
        """Returns where the edges of some nodes begin and end in this order, int64."""
        entities = self._entities
        inner = np.minimum(nodes, entities)
        below, up_to = self.joined.span(inner)
        begin = self.begins[below].astype(np.int64)
        end = self.begins[up_to].astype(np.int64)
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

    def edges_of(self, nodes: Int32 | Int64, /) -> Numbers:
        """Returns the edges of some nodes, int32 or int64, one node's after the other's."""
        return self.gather(nodes)[0]

    def gather(self, nodes: Int32 | Int64, /, *, most: int | None = None) -> tuple[Numbers, Int64]:
        """Returns the edges of some nodes, one after the other, and for each its index in ``nodes``.

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
        positions = (begin - offset).take(owner)
        positions += np.arange(len(owner))
        if self.edges is None:
            return positions.astype(self.begins.dtype, copy=False), owner
        return self.edges[positions], owner


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
        joined, begins = _joined(head, entity_count)
        tails, tail_begins = _joined(tail, entity_count)
        return cls(
            EdgeHeads.pack(head),
            Codes.pack(rel, count=relation_count),
            tail,
            Adjacency(joined, begins, None, node_count),
            Adjacency(tails, tail_begins, by_tail, node_count, a_literal=1),
            key_order,
        )


def edge_type(count: int, /) -> type[np.int32] | type[np.int64]:
    """Returns the type of edge numbers, of so many edges."""
    return np.int32 if count <= MOST_32_BIT else np.int64


def edge_order(head: Int32, statement_keys: Int64, /) -> Int64:
    """Returns the positions of some statements in the order of their edges' numbers."""
    by_key = np.argsort(statement_keys)
    return by_key[_order_by(head[by_key])]


def _order_by(nodes: Int32) -> Numbers:
    """Returns the positions of some nodes in order of the nodes; ties keep theirs."""
    kind = edge_type(len(nodes))
    if kind is np.int64:
        return np.argsort(nodes, kind="stable")
    # Both in one number: sorting those takes half the time of a stable argsort.
    packed = nodes.astype(np.int64) << 32
    packed |= np.arange(len(nodes))
    packed.sort()
    return (packed & 0xFFFFFFFF).astype(kind)


def _joined(nodes: Int32, entity_count: int) -> tuple[RankedBits, Numbers]:
    """Returns ``Adjacency.joined`` and ``Adjacency.begins`` of edges, given an end of each."""
    degrees = np.bincount(nodes, minlength=entity_count)[:entity_count]
    members = np.flatnonzero(degrees)
    begins: Numbers = np.zeros(len(members) + 1, dtype=edge_type(len(nodes)))
    np.cumsum(degrees[members], out=begins[1:])
    return RankedBits.of(members, count=entity_count + 1), begins
