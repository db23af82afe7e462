"""The arrays and tables of text that a graph is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]


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
        """Returns the texts at some places."""
        rows = np.asarray(indices, dtype=np.int64)
        starts = self.offsets[rows].tolist()
        ends = self.offsets[rows + 1].tolist()
        data = self.data.data
        return [str(data[a:b], "utf-8") for a, b in zip(starts, ends, strict=True)]


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
    """Returns the texts of some places, in that order (any number of them, repeats allowed)."""
    starts = table.offsets[order]
    lengths = table.offsets[order + 1] - starts
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = np.empty(int(offsets[-1]), dtype=np.uint8)
    step = 20_000
    for begin in range(0, len(order), step):
        end = min(begin + step, len(order))
        low, high = int(offsets[begin]), int(offsets[end])
        shift = starts[begin:end] - offsets[begin:end]
        places = np.repeat(shift, lengths[begin:end])
        places += np.arange(low, high)
        data[low:high] = table.data[places]
    return StringTable(data, offsets)
