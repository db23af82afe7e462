"""The arrays and tables of text that a graph is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]


Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")


def find_positions(
    ascending: Int32 | Int64, values: Int32 | Int64 | int, /, side: Side = "left"
) -> Int64:
    """Returns where some numbers would stand, as ``np.searchsorted`` does.

    Numbers of a wider type become of the narrower one, which must hold them: numpy would copy all
    that is searched.
    """
    return np.searchsorted(ascending, np.asarray(values, dtype=ascending.dtype), side)


def find_positions_in_order(
    numbers: Int64, order: Int32 | Int64, values: Int64, /, side: Side = "left"
) -> Int64:
    """Returns where some numbers would stand among others, of which ``order`` is the order.

    ``np.searchsorted`` with a sorter would copy all of the order.
    """
    before = np.less if side == "left" else np.less_equal
    low = np.zeros(len(values), dtype=np.int64)
    high = np.full(len(values), len(order))
    for _ in range(len(order).bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        below = np.zeros(len(values), dtype=np.bool_)
        below[open_] = before(numbers[order[middle[open_]]], values[open_])
        low = np.where(below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)
    return low


def ranges(begin: Int64, end: Int64, /) -> Int64:
    """Returns the numbers of some ranges, one after the other."""
    count = end - begin
    start = np.cumsum(count) - count
    numbers: Int64 = np.arange(int(count.sum())) + np.repeat(begin - start, count)
    return numbers


@dataclass(frozen=True, slots=True)
class StringTable(Sequence[str]):
    """Immutable texts in two arrays that can be memory-mapped.

    Attributes:
        data: UTF-8 of all texts, one after the other, uint8.
        offsets: Where each begins, and the end of the last: int64, length n + 1.
    """

    data: Uint8
    offsets: Int64

    @classmethod
    def build(cls, texts: Iterable[str], /) -> StringTable:
        """Returns the table of some texts."""
        encoded = [text.encode() for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int, /) -> str:  # type: ignore[override]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return bytes(self.data[self.offsets[index] : self.offsets[index + 1]]).decode()

    def take(self, indices: Sequence[int] | Int32 | Int64, /) -> list[str]:
        """Returns the texts at some indices."""
        rows = np.asarray(indices, dtype=np.int64)
        begins = self.offsets[rows].tolist()
        stops = self.offsets[rows + 1].tolist()
        data = self.data.data
        return [str(data[a:b], "utf-8") for a, b in zip(begins, stops, strict=True)]


def join_texts(tables: Sequence[StringTable], /) -> StringTable:
    """Returns the texts of some tables, one table's after the other's; any may share its data."""
    data = [np.zeros(0, dtype=np.uint8)]
    offsets = [np.zeros(1, dtype=np.int64)]
    end = 0
    for table in tables:
        first, last = int(table.offsets[0]), int(table.offsets[-1])
        data.append(table.data[first:last])
        offsets.append(table.offsets[1:] - first + end)
        end += last - first
    return StringTable(np.concatenate(data), np.concatenate(offsets))


def reorder_texts(table: StringTable, order: Int64, /) -> StringTable:
    """Returns the texts at some indices, in that order (any number of them, repeats allowed)."""
    begins = table.offsets[order]
    lengths = table.offsets[order + 1] - begins
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = np.empty(int(offsets[-1]), dtype=np.uint8)
    step = 20_000
    for begin in range(0, len(order), step):
        end = min(begin + step, len(order))
        low, high = int(offsets[begin]), int(offsets[end])
        shift = begins[begin:end] - offsets[begin:end]
        indices = np.repeat(shift, lengths[begin:end])
        indices += np.arange(low, high)
        data[low:high] = table.data[indices]
    return StringTable(data, offsets)
