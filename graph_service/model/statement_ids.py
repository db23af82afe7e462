"""The ids of a graph's statements in 16 bytes each, as far as their form allows.

An id is 32 hexadecimal digits of the statement's content, or the id of its head, ``$`` and a UUID,
as in Wikidata. Both hold 16 bytes. An id of any other form is kept as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph_arrays import (
    Int32,
    Int64,
    StringTable,
    Uint8,
    join_texts,
    reorder_texts,
)
from graph_service.model.topology import EdgeHeads

CONTENT, GUID, OTHER = range(3)
"""In ``forms``: see ``StatementIds``."""

_BYTES = 16
_DIGITS = 2 * _BYTES
_UUID_LENGTH = 36
_DASHES = (8, 13, 18, 23)
_STEP = 50_000
_NO_DIGIT = 255


def _digits(text: bytes) -> Uint8:
    values = np.full(256, _NO_DIGIT, dtype=np.uint8)
    values[np.frombuffer(text, dtype=np.uint8)] = np.arange(16, dtype=np.uint8)
    return values


_LOWER, _UPPER = _digits(b"0123456789abcdef"), _digits(b"0123456789ABCDEF")
_DIGIT_OFFSETS = np.array([offset for offset in range(_UUID_LENGTH) if offset not in _DASHES])


@dataclass(frozen=True, slots=True)
class StatementIds(Sequence[str]):
    """Immutable ids of M statements, in arrays that can be memory-mapped.

    Attributes:
        numbers: uint8 [M, 16]: the bytes of the content's hash (``CONTENT``) or of the UUID
            (``GUID``); of another id (``OTHER``) its index in ``others``, little-endian.
        forms: uint8 [M].
        others: The ids of other forms, in order.
        heads: Node of each statement's head, [M].
        node_ids: Ids of the nodes.
    """

    numbers: Uint8
    forms: Uint8
    others: StringTable
    heads: EdgeHeads | Int32
    node_ids: StringTable

    @classmethod
    def pack(
        cls, texts: StringTable, heads: EdgeHeads | Int32, node_ids: StringTable, /
    ) -> StatementIds:
        """Returns ids that come as texts, those of the statements with these heads."""
        numbers = np.zeros((len(texts), _BYTES), dtype=np.uint8)
        forms = np.full(len(texts), OTHER, dtype=np.uint8)
        for start in range(0, len(texts), _STEP):
            rows = np.arange(start, min(start + _STEP, len(texts)))
            begin, end = texts.offsets[rows], texts.offsets[rows + 1]
            lengths = end - begin
            owners = heads[rows]
            own = node_ids.offsets[owners]
            own_lengths = node_ids.offsets[owners.astype(np.int64) + 1] - own
            for form, offsets, values, fits in (
                (CONTENT, np.arange(_DIGITS), _LOWER, lengths == _DIGITS),
                (GUID, _DIGIT_OFFSETS, _UPPER, lengths == own_lengths + 1 + _UUID_LENGTH),
            ):
                chosen = np.flatnonzero(fits & (forms[rows] == OTHER))
                first = (end - (_DIGITS if form == CONTENT else _UUID_LENGTH))[chosen]
                digits = values[texts.data[first[:, None] + offsets]]
                right = (digits != _NO_DIGIT).all(axis=1)
                if form == GUID:
                    right &= texts.data[first - 1] == ord("$")
                    for dash in _DASHES:
                        right &= texts.data[first + dash] == ord("-")
                    right &= _same_texts(
                        texts.data,
                        begin[chosen],
                        node_ids.data,
                        own[chosen],
                        own_lengths[chosen],
                    )
                chosen, digits = chosen[right], digits[right]
                forms[rows[chosen]] = form
                numbers[rows[chosen]] = (digits[:, ::2] << 4) | digits[:, 1::2]
        rest = np.flatnonzero(forms == OTHER)
        numbers[rest, :8] = _little_endian(len(rest))
        return cls(numbers, forms, StringTable.build(texts.take(rest)), heads, node_ids)

    @classmethod
    def join(
        cls,
        parts: Sequence[StatementIds],
        order: Int64,
        heads: EdgeHeads | Int32,
        node_ids: StringTable,
        /,
    ) -> StatementIds:
        """Returns the ids of some tables, taken as one, in another order.

        Args:
            parts: The tables.
            order: Place of each id in all of them, int64.
            heads: Node of each id's head in that order.
            node_ids: Ids of the nodes.
        """
        numbers = np.concatenate(
            [np.zeros((0, _BYTES), np.uint8), *(part.numbers for part in parts)]
        )
        forms = np.concatenate([np.zeros(0, np.uint8), *(part.forms for part in parts)])
        others = join_texts([part.others for part in parts])
        # Each table's others are in order, so those of all of them are.
        other_index = np.cumsum(forms == OTHER) - 1
        numbers, forms = numbers[order], forms[order]
        rest = np.flatnonzero(forms == OTHER)
        numbers[rest, :8] = _little_endian(len(rest))
        return cls(numbers, forms, reorder_texts(others, other_index[order[rest]]), heads, node_ids)

    def __len__(self) -> int:
        return len(self.forms)

    def __getitem__(self, index: int, /) -> str:  # type: ignore[override]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.take([index])[0]

    def of(self, edges: Int32 | Int64, /) -> StatementIds:
        """Returns the ids of some statements, in their order, of which nothing is written out."""
        return StatementIds(
            self.numbers[edges], self.forms[edges], self.others, self.heads[edges], self.node_ids
        )

    def take(self, indices: Sequence[int] | Int32 | Int64, /) -> list[str]:
        """Returns the ids at some positions."""
        rows = np.asarray(indices, dtype=np.int64)
        digits = self.numbers[rows].tobytes().hex()
        ids = [digits[at : at + _DIGITS] for at in range(0, len(digits), _DIGITS)]
        forms = self.forms[rows]
        guids = np.flatnonzero(forms == GUID)
        for index, head in zip(
            guids.tolist(), self.node_ids.take(self.heads[rows[guids]]), strict=True
        ):
            uuid = ids[index].upper()
            ids[index] = f"{head}${uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}"
        for index in np.flatnonzero(forms == OTHER).tolist():
            ids[index] = self.others[int.from_bytes(self.numbers[rows[index]].tobytes(), "little")]
        return ids


def _little_endian(count: int) -> Uint8:
    """Returns the numbers from 0 on in eight bytes each, uint8 [count, 8]."""
    return np.arange(count, dtype="<u8").view(np.uint8).reshape(-1, 8)


def _same_texts(
    first: Uint8, first_begin: Int64, second: Uint8, second_begin: Int64, lengths: Int64
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Returns which texts of one buffer equal those of another of the same lengths."""
    begins = np.cumsum(lengths) - lengths
    inner = np.arange(int(lengths.sum())) - np.repeat(begins, lengths)
    differs = (
        first[np.repeat(first_begin, lengths) + inner]
        != second[np.repeat(second_begin, lengths) + inner]
    )
    same = np.ones(len(lengths), dtype=np.bool_)
    same[np.repeat(np.arange(len(lengths)), lengths)[differs]] = False
    return same
