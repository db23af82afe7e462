"""A view laid over its base graph: extra edges, and what they replace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Bool, Int32, Int64, Numbers, Uint8
from graph_service.model.graph_arrays import find_positions
from graph_service.model.topology import edge_type

VIEW_ID_PREFIX = "view:"
"""Begins every statement id that a view made; no statement of a loaded graph has it."""

_FEW = 32
"""Edges are few if they are fewer than one in so many of the base: eight bytes each take less."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewStatementIds(Sequence[str]):
    """Ids of the statements that a view made, written out one by one when asked for.

    An id is ``view:`` and 32 hexadecimal digits, the first 16 of them the statement's key.

    Attributes:
        keys: Keys, int64 [X], ascending.
        checks: The second half of each id, uint64 [X].
    """

    keys: Int64
    checks: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: int, /) -> str:  # type: ignore[override]
        key = int(self.keys[index]) & (2**64 - 1)
        return f"{VIEW_ID_PREFIX}{key:016x}{int(self.checks[index]):016x}"

    def find(self, statement_id: str, /) -> int | None:
        """Returns the index of an id, or None."""
        digits = statement_id.removeprefix(VIEW_ID_PREFIX)
        if len(digits) != 32 or len(statement_id) != len(VIEW_ID_PREFIX) + 32:
            return None
        try:
            key = int.from_bytes(bytes.fromhex(digits[:16]), "big", signed=True)
        except ValueError:
            return None
        index = int(np.searchsorted(self.keys, key))
        return index if index < len(self) and self[index] == statement_id else None


@dataclass(frozen=True, slots=True, eq=False)
class EdgeSet:
    """Some edges of a base, in as many bytes as they are rather than as the base has.

    Attributes:
        numbers: The edges, int32 or int64, ascending.
        edge_count: Edges of the base (M).
        marks: Whether each edge of the base is one of them, bool [M]; None where they are few.
    """

    numbers: Numbers
    edge_count: int
    marks: Bool | None

    @classmethod
    def of(cls, edges: Int32 | Int64, edge_count: int, /) -> EdgeSet:
        """Returns a set of edges, given in any order."""
        kind = edge_type(edge_count)
        if len(edges) < edge_count // _FEW:
            return cls(np.unique(edges).astype(kind), edge_count, None)
        marks = np.zeros(edge_count, dtype=np.bool_)
        marks[edges] = True
        return cls(np.flatnonzero(marks).astype(kind), edge_count, marks)

    def __len__(self) -> int:
        return len(self.numbers)

    def has(self, edges: Int32 | Int64, /) -> Bool:
        """Returns for each of some base edges whether it is one of these."""
        if self.marks is not None:
            return self.marks[edges]
        if not len(self):
            return np.zeros(len(edges), dtype=np.bool_)
        positions = find_positions(self.numbers, edges)
        positions[positions == len(self)] = 0
        are_members: Bool = self.numbers[positions] == edges
        return are_members

    def mask(self) -> Bool:
        """Returns for each edge of the base whether it is one of these, bool [M]."""
        if self.marks is not None:
            return self.marks
        marks = np.zeros(self.edge_count, dtype=np.bool_)
        marks[self.numbers] = True
        return marks


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Overlay:
    """A view laid over its base: base edges that no longer hold, and extra edges instead.

    Extra edge ``j`` has edge number ``base.edge_count + j``; extras are in order of their keys.
    Such a number may be too large for the type of the base's, and is an int64 or an ``int``.

    Attributes:
        view_id: Identity of the view.
        gone: Base edges removed or replaced.
        head, rel, tail: Extra edges, int32 [X].
        rank: Their rank codes (those of their base statement; normal if added), uint8 [X].
        keys: Their 64-bit keys, a vectorised hash of base statement and new content rather than
            ``key64`` of the id (hundreds of thousands are made at once), int64 [X], ascending.
        statement_ids: Their ids, made of the same: one change has one id in every view.
        base_edge: Base edge of each, or -1 if added, int32 or int64 [X].
        best: Whether each has the best rank among its head's of its relation, bool [X].
        kinds: ``ChangeCode``, uint8 [X].
        new_nodes, new_relations: As in the delta.
        risen: Base edges that have the best rank only because better ones are gone, int32 or
            int64, ascending; of views that give ranks alone.
    """

    view_id: str
    gone: EdgeSet
    head: Int32
    rel: Int32
    tail: Int32
    rank: Uint8
    keys: Int64
    statement_ids: Sequence[str]
    base_edge: Numbers
    best: Bool
    kinds: Uint8
    new_nodes: tuple[str, ...] = ()
    new_relations: tuple[str, ...] = ()
    risen: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    @property
    def base_edge_count(self) -> int:
        """How many edges the base graph has."""
        return self.gone.edge_count
