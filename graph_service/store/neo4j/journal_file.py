"""Journal rows in a temporary file, read back in order of their keys in bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.store.neo4j.journal import Rows, page_bits, pages

RUN_ROWS = 1 << 18
"""Rows that are sorted in memory at a time."""
BLOCK_PAGE_BITS = 8
"""A block, which is read back at a time, has 2 to this power pages: ``RUN_ROWS`` rows at most."""
CELL_BITS = 10
"""Leading bits of the keys by which runs are cut, and the most by which blocks are."""
_CELL_BEGINS = np.arange(-(2**63), 2**63, 1 << (64 - CELL_BITS), dtype=np.int64)


class JournalFile:
    """Rows of one type, of distinct keys: added in any order, read back by pages.

    Each ``RUN_ROWS`` rows are sorted and written as a run. The rows of a page are then a stretch
    of each run. Memory holds a run's rows three times at most, and 8 kB for each run written.
    """

    def __init__(self, folder: Path, dtype: np.dtype[Any], /) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - as long as the export
        self._dtype = dtype
        self._waiting: list[Rows] = []
        self._count = self._written = 0
        self._cells: list[npt.NDArray[np.int64]] = []

    def __len__(self) -> int:
        """Returns how many rows were added."""
        return self._count

    def close(self) -> None:
        """Closes the file, which is gone then."""
        self._file.close()

    def add(self, rows: Rows, /) -> None:
        """Adds rows, which are written out when enough are waiting."""
        self._waiting.append(rows)
        self._count += len(rows)
        if self._count - self._written >= RUN_ROWS:
            self._write_run()

    def pages(self) -> Iterator[tuple[int, Rows]]:
        """Yields the pages that are not empty; no rows may be added any more."""
        if self._waiting:
            self._write_run()
        bits = page_bits(self._count)
        block_bits = min(CELL_BITS, max(0, bits - BLOCK_PAGE_BITS))
        cells = 1 << (CELL_BITS - block_bits)
        for first in range(0, 1 << CELL_BITS, cells):
            yield from pages(self._sorted(first, first + cells), bits)

    def _write_run(self) -> None:
        rows = _by_key(np.concatenate(self._waiting))
        begins = np.append(np.searchsorted(rows["key"], _CELL_BEGINS), len(rows))
        self._cells.append(self._written + begins)
        self._file.write(rows.tobytes())
        self._written = self._count
        self._waiting.clear()

    def _sorted(self, first: int, last: int) -> Rows:
        """Returns the rows of a range of cells, in order of their keys."""
        size = self._dtype.itemsize
        parts: list[bytes] = []
        for cells in self._cells:
            self._file.seek(int(cells[first]) * size)
            parts.append(self._file.read(int(cells[last] - cells[first]) * size))
        return _by_key(np.frombuffer(b"".join(parts), dtype=self._dtype))


def _by_key(rows: Rows) -> Rows:
    return rows[np.argsort(rows["key"], kind="stable")]
