"""Rows of a table of things: which lines are rows, and what is repaired or left out in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from graph_service.errors import InputError
from loaders.items import Parsed
from loaders.source import ByteSource
from loaders.tables.cells import clean
from loaders.tables.dialect import Dialect
from loaders.tables.json_rows import is_json_table, read_json_rows
from loaders.tables.rows import Row, RowError, read_rows
from loaders.tables.wording import suffix_of
from loaders.tables.workbook import WORKBOOK_SUFFIXES, read_workbook_rows

TEXT_SUFFIXES = frozenset({".csv", ".tsv", ".tab"})
_TOTALS = frozenset({"total", "totals", "sum", "subtotal", "grand total", "summe", "gesamt"})
_HEADER_ROWS = 30


def is_table_name(path: str, /) -> bool:
    """Returns whether a file is a table by its name.

    >>> is_table_name("a/parts.csv.gz"), is_table_name("README.md")
    (True, False)
    """
    return suffix_of(path) in TEXT_SUFFIXES | WORKBOOK_SUFFIXES


def is_table(path: str, /) -> bool:
    """Returns whether a file is a table by its name, or JSON whose objects are rows."""
    return is_table_name(path) or is_json_table(path)


def has_typed_cells(path: str, /) -> bool:
    """Returns whether a table is a workbook, Parquet or JSON, and no text."""
    return is_workbook(path) or is_json_table(path)


def is_workbook(path: str, /) -> bool:
    """Returns whether a file is a workbook or Parquet, by its name."""
    return PurePath(path).suffix.lower() in WORKBOOK_SUFFIXES


@dataclass(frozen=True, slots=True)
class Shape:
    """Which rows of a table are data, and how they are brought to the width of the header.

    Attributes:
        header: Names of the columns, each once.
        header_line: Its line; what comes before it is no row.
        delimiter: Between cells of a text file.
        joins_commas: Whether delimiters that a space follows are text.
    """

    header: tuple[str, ...]
    header_line: int
    delimiter: str = ","
    joins_commas: bool = False

    def cells_of(
        self, row: Row, counts: Counter[str], repaired: Counter[str], /
    ) -> list[str] | None:
        """Returns the cells of a row, as many as the header has; None for what is no row.

        Args:
            row: The row.
            counts: Where rows that are left out are counted, by reason.
            repaired: Where rows that are repaired are counted.

        Raises:
            RowError: The row has too many cells or too few.
        """
        if row.line <= self.header_line:
            is_title = row.line < self.header_line and any(cell.strip() for cell in row.cells)
            if is_title and not row.cells[0].lower().lstrip('"').startswith("sep="):
                counts["rows before the header"] += 1
            return None
        cells = row.cells
        while len(cells) > len(self.header) and not cells[-1].strip():
            cells = cells[:-1]
        filled = [clean(cell) for cell in cells if cell.strip()]
        if not filled:
            return None
        if len(cells) != len(self.header):
            cells = self._repaired(cells)
            repaired["rows with separators outside of quotes, joined where a space follows"] += 1
        if [clean(cell) for cell in cells] == list(self.header):
            counts["rows that repeat the header"] += 1
            return None
        if filled[0].lower().rstrip(":") in _TOTALS and 2 * len(filled) <= len(self.header) + 1:
            counts["rows of totals"] += 1
            return None
        return cells

    def _repaired(self, cells: Sequence[str]) -> list[str]:
        extra = len(cells) - len(self.header)
        if not self.joins_commas or not may_be_joined(cells, len(self.header)):
            raise RowError(f"expected {len(self.header)} columns, got {extra + len(self.header)}")
        joined: list[str] = []
        for cell in cells:
            if joined and cell.startswith(" "):
                joined[-1] += self.delimiter + cell
            else:
                joined.append(cell)
        return joined


def may_be_joined(cells: Sequence[str], width: int, /) -> bool:
    """Returns whether as many cells begin with a space as a row has too many."""
    extra = len(cells) - width
    return extra > 0 and sum(cell.startswith(" ") for cell in cells[1:]) == extra


def header_of(rows: Sequence[Row], row_column: str, /) -> tuple[tuple[str, ...], int]:
    """Returns the names of the columns and the line of the header, by the first rows.

    It is the first row that has the column; where none is named, the first that is as wide as
    most, or wider: the last cells of most rows may be empty.

    Raises:
        InputError: No row has that column.
    """
    if row_column:
        name = clean(row_column).casefold()
        header = next(
            (row for row in rows if name in (clean(cell).casefold() for cell in row.cells)), None
        )
        if header is None:
            shown = ", ".join(cell for cell in rows[0].cells[:12])
            raise InputError(
                f"no column is named {row_column!r}; the first row is {shown}", argument="row"
            )
    else:
        widths = Counter(_width(row) for row in rows)
        width = max(widths, key=lambda each: (widths[each], each))
        header = next(row for row in rows if _width(row) >= width)
    cells = list(header.cells)
    while cells and not cells[-1].strip():
        cells.pop()
    names: list[str] = []
    for index, cell in enumerate(cells, start=1):
        name = clean(cell) or f"column {index}"
        again = 2
        while name in names:
            name, again = f"{clean(cell)} ({again})", again + 1
        names.append(name)
    return tuple(names), header.line


def _width(row: Row) -> int:
    """Returns how many cells a row has up to the last that is not empty."""
    return max((at for at, cell in enumerate(row.cells, start=1) if cell.strip()), default=0)


def first_rows(
    source: ByteSource, dialect: Dialect | None, sheet: str, /, *, count: int = _HEADER_ROWS
) -> list[Row]:
    """Returns the first rows of a table that are not empty."""
    rows: list[Row] = []

    def take(row: Row, _parsed: Parsed) -> None:
        if len(rows) < count and any(cell.strip() for cell in row.cells):
            rows.append(row)

    if dialect is not None:
        blocks = read_rows(source, {}, dialect, take)
    elif is_workbook(source.name):
        blocks = read_workbook_rows(source.name, sheet, {}, take, rows=2 * count)
    else:
        blocks = read_json_rows(source, {}, take)
    for parsed in blocks:
        check_decoded(parsed)
        if len(rows) >= count:
            break
    return rows


def check_decoded(parsed: Parsed, /) -> None:
    """Raises ``InputError`` if a row is in another encoding: then all rows may be."""
    for reject in parsed.rejects:
        if reject.reason.startswith("not UTF-8"):
            raise InputError(f"{reject.location}: {reject.reason}", argument="encoding")


def read_table(
    source: ByteSource,
    dialect: Dialect | None,
    sheet: str,
    start: Mapping[str, Any],
    take: Callable[[Row, Parsed], None],
    finish: Callable[[Parsed], None] | None = None,
    /,
) -> Iterator[Parsed]:
    """Yields what ``take`` makes of the rows of a text file, of a sheet of a workbook or of JSON."""
    if dialect is not None:
        yield from read_rows(source, start, dialect, take, finish)
    elif is_workbook(source.name):
        yield from read_workbook_rows(source.name, sheet, start, take, finish)
    else:
        yield from read_json_rows(source, start, take, finish)
