"""Edges of a scope while they are being paired for swapping: who is paired, and what that makes.

What a swap would repeat is looked up in one table of cells, a cell for each pair of nodes that
several edges join and each relation; it says who holds the triple: nobody, the base, or an edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, Numbers, Uint8
from graph_service.model.hashing import mix
from graph_service.views.pairs import PairIndex

MAX_CELLS = 1 << 24
"""Size of the table; where more are needed, triples share cells: a free one may be refused."""

_ROWS = 1 << 18

ALONE = -1
"""Partner of a place without one."""

_NOBODY, _BASE = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """The edges whose two nodes others join too: they alone can repeat a triple.

    Attributes:
        group: Number of the two nodes of each, in their direction, int64.
        groups: How many such numbers there are.
        rel: Relation of each.
        relation_count: How many relations the graph has.
    """

    group: Int64
    groups: int
    rel: Int32
    relation_count: int


class Pairing:
    """Edges of the scope by their place in the hash order, while they are being paired.

    Attributes:
        rel: Relation of each place, in the fewest bytes that hold one.
        group: Number of the place's two nodes, in their direction, if several edges join them;
            else ``groups``: int32 or int64.
        exact: Whether each triple has a cell of its own.
        partner: The other member of each place's pair, or -1: int32 or int64.
    """

    def __init__(self, rel: Uint8 | Int32, group: Numbers, crowd: Crowd) -> None:
        self.rel, self.group, self.groups = rel, group, crowd.groups
        kind = group.dtype
        self.partner: Numbers = np.full(len(rel), ALONE, dtype=kind)
        self._width = max(1, crowd.relation_count)
        self.exact = (self.groups + 1) * self._width <= MAX_CELLS
        size = (self.groups + 1) * self._width if self.exact else MAX_CELLS + 1
        self._holder: Numbers = np.full(size, _NOBODY, dtype=kind)
        self._holder[self.cells(crowd.group, crowd.rel)] = _BASE

    @classmethod
    def of(cls, graph: KnowledgeGraph, edges: Numbers, index: PairIndex) -> Pairing:
        """Returns edges of a graph, in hash order, without pairs."""
        # Looked up in any order: the fewer bytes, the likelier they lie in the processor's cache.
        table = graph.rel[:].astype(relation_type(graph.relation_count))
        table <<= 1
        table |= index.parallel
        rel = np.empty(len(edges), dtype=table.dtype)
        crowded = np.empty(len(edges), dtype=np.bool_)
        for start in range(0, len(edges), _ROWS):
            rows = slice(start, start + _ROWS)
            entries = table[edges[rows]]
            rel[rows] = entries >> 1
            crowded[rows] = entries & 1
        del table
        crowd = np.flatnonzero(index.parallel)
        pairs = graph.head[crowd].astype(np.int64) * graph.node_count + graph.tail[crowd]
        distinct, numbers = np.unique(pairs, return_inverse=True)
        group: Numbers = np.full(len(edges), len(distinct), dtype=graph.edge_type)
        indices = np.flatnonzero(crowded)
        group[indices] = numbers[np.searchsorted(crowd, edges[indices])]
        return cls(
            rel, group, Crowd(numbers, len(distinct), graph.rel[crowd], graph.relation_count)
        )

    def cells(self, group: Numbers, rel: Uint8 | Int32) -> Int64:
        """Returns the cell of each triple; that of an edge alone between its nodes stays free."""
        cells: Int64 = np.asarray(group).astype(np.int64) * self._width + rel
        if self.exact:
            return cells
        spread = mix(cells.view(np.uint64)) % np.uint64(MAX_CELLS)
        return np.where(group < self.groups, spread.view(np.int64), MAX_CELLS)

    def kind(self, indices: Numbers) -> Int64:
        """Returns one number for all places that fit alike: those of one group and relation."""
        kinds: Int64 = self.group[indices].astype(np.int64) * self._width + self.rel[indices]
        return kinds

    def pairs(self) -> Numbers:
        """Returns the pairs, earlier member first, in order of that member: [2, pairs]."""
        kind = self.partner.dtype
        parts: list[Numbers] = [np.zeros((2, 0), dtype=kind)]
        for start in range(0, len(self.partner), _ROWS):
            partner = self.partner[start : start + _ROWS]
            indices = np.arange(start, start + len(partner), dtype=kind)
            first = np.flatnonzero(partner > indices)
            parts.append(np.stack([indices[first], partner[first]]))
        return np.concatenate(parts, axis=1)

    def alone(self) -> Int64:
        """Returns the places without a partner, ascending."""
        return np.flatnonzero(self.partner == ALONE)

    def fits(self, one: Int64, other: Int64, *freed: Int64) -> Bool:
        """Returns whether pairs of two places repeat nothing, once the pairs of some places go.

        All are broadcast; a place without a partner frees nothing.
        """
        if not freed and one.ndim == 1 and len(one) > _ROWS:
            # Block by block what is looked up stays in the processor's cache.
            return np.concatenate(
                [
                    self.fits(one[start : start + _ROWS], other[start : start + _ROWS])
                    for start in range(0, len(one), _ROWS)
                ]
            )
        fine: Bool = self.rel[one] != self.rel[other]
        if not freed and one.ndim == 1:
            for edge, donor in ((one, other), (other, one)):
                at = np.flatnonzero(self.group[edge] < self.groups)
                cells = self.cells(self.group[edge[at]], self.rel[donor[at]])
                fine[at] &= self._holder[cells] == _NOBODY
            return fine
        mates = [self.partner[index] for index in freed]
        for edge, donor in ((one, other), (other, one)):
            holder = self._holder[self.cells(self.group[edge], self.rel[donor])]
            free = holder == _NOBODY
            for index, mate in zip(freed, mates, strict=True):
                free = free | (holder == index) | (holder == mate)
            fine = fine & free
        return fine

    def join_neighbours(self) -> Int64:
        """Pairs each place with the next, where nothing repeats.

        Returns:
            The first place of each pair that was not made, ascending.
        """
        count = len(self.rel) // 2
        fine: Bool = self.rel[: 2 * count : 2] != self.rel[1 : 2 * count : 2]
        # Few can repeat a triple; what all have to pass is done without looking anything up.
        risky = np.flatnonzero(self.group[: 2 * count] < self.groups)
        cells = self.cells(self.group[risky], self.rel[risky ^ 1])
        taken = self._holder[cells] != _NOBODY
        fine[risky[taken] >> 1] = False
        at = fine[risky >> 1]
        risky, cells = risky[at], cells[at]
        fine[_repeated(risky >> 1, cells)] = False
        at = fine[risky >> 1]
        self._holder[cells[at]] = risky[at]
        partner = self.partner[: 2 * count].reshape(count, 2)
        first = np.arange(0, 2 * count, 2, dtype=partner.dtype)
        np.copyto(partner[:, 1], first, where=fine)
        first |= 1
        np.copyto(partner[:, 0], first, where=fine)
        return 2 * np.flatnonzero(~fine)

    def join(self, one: Int64, other: Int64) -> None:
        """Pairs places of which nothing repeats."""
        self.partner[one] = other
        self.partner[other] = one
        for edge, donor in ((one, other), (other, one)):
            self._hold(edge, donor, holding=True)

    def part(self, one: Int64) -> None:
        """Breaks the pairs of some places, one of each pair."""
        other = self.partner[one]
        for edge, donor in ((one, other), (other, one)):
            self._hold(edge, donor, holding=False)
        self.partner[one] = ALONE
        self.partner[other] = ALONE

    def _hold(self, edge: Numbers, donor: Numbers, *, holding: bool) -> None:
        risky = self.group[edge] < self.groups
        edge, donor = edge[risky], donor[risky]
        cells = self.cells(self.group[edge], self.rel[donor])
        self._holder[cells] = edge.astype(self._holder.dtype) if holding else _NOBODY

    def join_new(self, fine: Bool, *new: tuple[Int64, Int64], freed: Int64 | None = None) -> Bool:
        """Joins the pairs of those rows that share no new triple with a row before them.

        Args:
            fine: Rows to look at, bool [rows].
            new: The pairs of each row, as two columns of places.
            freed: A place of the pair that each row breaks.

        Returns:
            Which rows were joined.
        """
        cells, rows = [], []
        for first, other in new:
            for edge, donor in ((first, other), (other, first)):
                at = np.flatnonzero(fine & (self.group[edge] < self.groups))
                cells.append(self.cells(self.group[edge[at]], self.rel[donor[at]]))
                rows.append(at)
        cell, row = np.concatenate(cells), np.concatenate(rows)
        joined = fine.copy()
        joined[_repeated(row, cell)] = False
        if freed is not None:
            self.part(freed[joined])
        for first, other in new:
            self.join(first[joined], other[joined])
        return joined

    def replace(self, broken: Sequence[int], new: Sequence[tuple[int, int]]) -> bool:
        """Breaks the pairs of some places and makes others, if none of those repeats a triple."""
        old = [(index, int(self.partner[index])) for index in broken]
        for pair in old:
            self._unset(*pair)
        for count, pair in enumerate(new):
            if not self._set(*pair):
                for made in new[:count]:
                    self._unset(*made)
                for pair in old:
                    self._set(*pair)
                return False
        return True

    def _set(self, one: int, other: int) -> bool:
        if self.rel[one] == self.rel[other]:
            return False
        first, second = self._cell(one, other), self._cell(other, one)
        taken = any(cell >= 0 and self._holder[cell] != _NOBODY for cell in (first, second))
        if taken or first == second >= 0:
            return False
        for edge, mate, cell in ((one, other, first), (other, one, second)):
            self.partner[edge] = mate
            if cell >= 0:
                self._holder[cell] = edge
        return True

    def _unset(self, one: int, other: int) -> None:
        for edge, donor in ((one, other), (other, one)):
            self.partner[edge] = ALONE
            cell = self._cell(edge, donor)
            if cell >= 0:
                self._holder[cell] = _NOBODY

    def _cell(self, edge: int, donor: int) -> int:
        """The cell of one triple, or -1 for an edge alone between its nodes."""
        group = int(self.group[edge])
        if group == self.groups:
            return -1
        cell = group * self._width + int(self.rel[donor])
        return cell if self.exact else int(mix(np.array([cell], dtype=np.uint64))[0]) % MAX_CELLS


def relation_type(relation_count: int, /) -> np.dtype[Any]:
    """Returns the type of a relation's number beside a bit, of so many relations."""
    return np.min_scalar_type(2 * relation_count)


def _repeated(row: Int64, cell: Int64) -> Int64:
    """Rows with a cell that a row before them has, or that they have twice."""
    order = np.lexsort((row, cell))
    again: Int64 = row[order[1:][cell[order[1:]] == cell[order[:-1]]]]
    return again
