"""Edges of a scope while they are being paired for swapping: who is paired, and what that makes.

What a swap would repeat is looked up in one table of cells, a cell for each pair of nodes that
several edges join and each relation; it says who holds the triple: nobody, the base, or an edge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph
from graph_service.model.identity import mix
from graph_service.views.pairs import PairIndex

MAX_CELLS = 1 << 24
"""Size of the table; where more are needed, triples share cells: a free one may be refused."""

_ROWS = 1 << 18

ALONE = -1
"""Partner of a place without one."""

_NOBODY, _BASE = -1, -2


class Pairing:
    """Edges of the scope by their place in the hash order, while they are being paired.

    Attributes:
        rel: Relation of each place, int32.
        group: Number of the place's two nodes, in their direction, if several edges join them;
            else ``groups``: int32.
        exact: Whether each triple has a cell of its own.
        partner: The other member of each place's pair, or -1: int32.
    """

    def __init__(self, graph: KnowledgeGraph, edges: Int32, index: PairIndex) -> None:
        self.rel: Int32 = graph.rel[edges]
        self.partner: Int32 = np.full(len(edges), ALONE, dtype=np.int32)
        crowd = np.flatnonzero(index.parallel)
        ends = graph.head[crowd].astype(np.int64) * graph.node_count + graph.tail[crowd]
        distinct, numbers = np.unique(ends, return_inverse=True)
        self.groups = len(distinct)
        of_edge = np.full(graph.edge_count, self.groups, dtype=np.int32)
        of_edge[crowd] = numbers
        self.group: Int32 = of_edge[edges]
        del of_edge, ends
        self._width = max(1, graph.relation_count)
        self.exact = (self.groups + 1) * self._width <= MAX_CELLS
        size = (self.groups + 1) * self._width if self.exact else MAX_CELLS + 1
        self._holder: Int32 = np.full(size, _NOBODY, dtype=np.int32)
        self._holder[self.cells(numbers, graph.rel[crowd])] = _BASE

    def cells(self, group: Int64 | Int32, rel: Int64 | Int32) -> Int64:
        """Returns the cell of each triple; that of an edge alone between its nodes stays free."""
        cells: Int64 = np.asarray(group).astype(np.int64) * self._width + rel
        if self.exact:
            return cells
        spread = mix(cells.view(np.uint64)) % np.uint64(MAX_CELLS)
        return np.where(group < self.groups, spread.view(np.int64), MAX_CELLS)

    def kind(self, places: Int64 | Int32) -> Int64:
        """Returns one number for all places that fit alike: those of one group and relation."""
        kinds: Int64 = self.group[places].astype(np.int64) * self._width + self.rel[places]
        return kinds

    def pairs(self) -> Int64:
        """Returns the pairs, earlier member first, in order of that member: int64 [2, pairs]."""
        first = np.flatnonzero(self.partner > np.arange(len(self.partner), dtype=np.int32))
        return np.stack([first, self.partner[first]])

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
        mates = [self.partner[place] for place in freed]
        for edge, giver in ((one, other), (other, one)):
            holder = self._holder[self.cells(self.group[edge], self.rel[giver])]
            free = holder == _NOBODY
            for place, mate in zip(freed, mates, strict=True):
                free = free | (holder == place) | (holder == mate)
            fine = fine & free
        return fine

    def join(self, one: Int64, other: Int64) -> None:
        """Pairs places of which nothing repeats."""
        self.partner[one] = other
        self.partner[other] = one
        for edge, giver in ((one, other), (other, one)):
            self._hold(edge, giver, holding=True)

    def part(self, one: Int64) -> None:
        """Breaks the pairs of some places, one of each pair."""
        other = self.partner[one]
        for edge, giver in ((one, other), (other, one)):
            self._hold(edge, giver, holding=False)
        self.partner[one] = ALONE
        self.partner[other] = ALONE

    def _hold(self, edge: Int64 | Int32, giver: Int64 | Int32, *, holding: bool) -> None:
        risky = self.group[edge] < self.groups
        edge, giver = edge[risky], giver[risky]
        cells = self.cells(self.group[edge], self.rel[giver])
        self._holder[cells] = edge.astype(np.int32) if holding else _NOBODY

    def settle(self, fine: Bool, *new: tuple[Int64, Int64], freed: Int64 | None = None) -> Bool:
        """Joins the pairs of those rows that share no new triple with a row before them.

        Args:
            fine: Rows to look at, bool [rows].
            new: The pairs of each row, as two columns of places.
            freed: A place of the pair that each row breaks.

        Returns:
            Which rows were joined.
        """
        cells, rows = [], []
        for one, other in new:
            for edge, giver in ((one, other), (other, one)):
                at = np.flatnonzero(fine & (self.group[edge] < self.groups))
                cells.append(self.cells(self.group[edge[at]], self.rel[giver[at]]))
                rows.append(at)
        cell, row = np.concatenate(cells), np.concatenate(rows)
        order = np.lexsort((row, cell))
        again = order[1:][cell[order[1:]] == cell[order[:-1]]]
        kept = fine.copy()
        kept[row[again]] = False
        if freed is not None:
            self.part(freed[kept])
        for one, other in new:
            self.join(one[kept], other[kept])
        return kept

    def replace(self, broken: Sequence[int], new: Sequence[tuple[int, int]]) -> bool:
        """Breaks the pairs of some places and makes others, if none of those repeats a triple."""
        old = [(place, int(self.partner[place])) for place in broken]
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
        for edge, giver in ((one, other), (other, one)):
            self.partner[edge] = ALONE
            cell = self._cell(edge, giver)
            if cell >= 0:
                self._holder[cell] = _NOBODY

    def _cell(self, edge: int, giver: int) -> int:
        """The cell of one triple, or -1 for an edge alone between its nodes."""
        group = int(self.group[edge])
        if group == self.groups:
            return -1
        cell = group * self._width + int(self.rel[giver])
        return cell if self.exact else int(mix(np.array([cell], dtype=np.uint64))[0]) % MAX_CELLS
