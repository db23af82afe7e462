"""Tables that stand side by side in one sheet, with an empty column between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from loaders.tables.date_cells import read_date_cell
from loaders.tables.mapping import ALL_COLUMNS, Span
from loaders.tables.number_cells import read_number
from loaders.tables.rows import Row

_FEWEST_COLUMNS = 2
_MOST_NAMES = 20_000


@dataclass(slots=True)
class _Part:
    """Columns between empty ones, and what their rows are so far.

    Attributes:
        rows: Rows in which it has cells; ``end`` is the number of the last.
        names: What its first column names.
        is_named: Whether that column has a name in each row, each once.
    """

    start: int
    stop: int
    rows: int = 0
    end: int = 0
    names: set[str] = field(default_factory=set)
    is_named: bool = True

    def see(self, cells: Sequence[str], number: int) -> None:
        """Notes a row."""
        if not any(map(str.strip, cells[self.start : self.stop])):
            return
        self.rows, self.end = self.rows + 1, number
        name = cells[self.start].strip()
        is_word = bool(name) and read_number(name) is None and read_date_cell(name) is None
        if not is_word or name in self.names or len(self.names) >= _MOST_NAMES:
            self.is_named = False
        elif self.is_named:
            self.names.add(name)

    @property
    def is_table(self) -> bool:
        """Whether its rows follow each other from the first on, and its first column names them."""
        return 0 < self.rows == self.end and self.is_named


class SideBySide:
    """Finds tables that share the rows of a sheet.

    They do if columns without a header and without cells part them, their first columns name their
    rows, and one ends before another. Of tables that end together, such a column may be a gap that
    someone left in one.

    Args:
        header: The cells of the header.
    """

    def __init__(self, header: Sequence[str], /) -> None:
        self._parts: list[_Part] = []
        self._gaps: list[int] = []
        self._count = 0
        for at, name in enumerate(header):
            if not name.strip():
                self._gaps.append(at)
            elif self._parts and self._parts[-1].stop == at:
                self._parts[-1].stop = at + 1
            else:
                self._parts.append(_Part(at, at + 1))
        if any(part.stop - part.start < _FEWEST_COLUMNS for part in self._parts):
            self._parts = []

    def see(self, cells: Sequence[str], /) -> None:
        """Notes a row; one of a single cell is a remark or a title."""
        if len(self._parts) < 2 or sum(map(bool, map(str.strip, cells))) < 2:
            return
        if any(cells[gap].strip() for gap in self._gaps if gap < len(cells)):
            self._parts = []
            return
        self._count += 1
        for part in self._parts:
            part.see(cells, self._count)

    def spans(self) -> list[Span]:
        """Returns the columns of each table; nothing if the sheet has one."""
        parts = self._parts
        if not all(part.is_table for part in parts) or len({part.end for part in parts}) < 2:
            return []
        stops = [*(part.start for part in parts[1:]), None]
        return [(part.start, stop) for part, stop in zip(parts, stops, strict=True)]


def part_of(row: Row, span: Span, /) -> Row:
    """Returns the cells of a row that are of one table."""
    return row if span == ALL_COLUMNS else replace(row, cells=row.cells[slice(*span)])
