"""Rows of a table of things: which lines are rows, and what is repaired or left out in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from graph_service.errors import InputError
from loaders.formats import is_system_file
from loaders.items import Parsed, Reject
from loaders.source import ByteSource
from loaders.tables.cells import clean
from loaders.tables.dialect import Dialect
from loaders.tables.json_rows import is_json_table, read_json_rows
from loaders.tables.number_cells import read_number
from loaders.tables.rows import Row, RowError, read_rows
from loaders.tables.wording import suffix_of
from loaders.tables.workbook import WORKBOOK_SUFFIXES, read_workbook_rows

TEXT_SUFFIXES = frozenset({".csv", ".tsv", ".tab"})
_TOTALS = frozenset(
    {"total", "totals", "sum", "subtotal", "sub-total", "grand total", "summe", "gesamt"}
    | {"gesamtergebnis", "gesamtsumme", "zwischensumme", "insgesamt", "somme", "totale", "totaal"}
    | {"average", "mean", "durchschnitt", "mittelwert", "moyenne", "promedio"}
)
_GROUP_TOTALS = (" total", " totals", " subtotal", " summe", " gesamt", " ergebnis")
"""How totals of a group end, as pivot tables have them."""
_REMARK = re.compile(r"[*\u2020\u2021\u00b9\u00b2\u00b3#(\[]|\d\)|[^\W\d]{3,}\s?:|\S+(?:\s+\S+){3}")
_TEXT_MARK = re.compile(r"=\"(?P<text>[^\"]*)\"|'(?P<digits>\d[\d ./-]*)")
_MARKS = frozenset("='")
_PERIOD = re.compile(r"(?:19|20)\d\d(?:[-/]\d\d)?|[QH]\d", re.I)
"""What names a time of a group's numbers: 2023, 2023/24, Q1."""
_REMARKS = "rows of remarks at the end"
_END_OF_FILE = "\x1a"
"""What DOS wrote after the last line."""
_HEADER_ROWS = 30


def is_table_name(path: str, /) -> bool:
    """Returns whether a file is a table by its name.

    >>> is_table_name("a/parts.csv.gz"), is_table_name("README.md")
    (True, False)
    """
    return suffix_of(path) in TEXT_SUFFIXES | WORKBOOK_SUFFIXES


def is_table(path: str, /) -> bool:
    """Returns whether a file is a table by its name, or JSON whose objects are rows."""
    return not is_system_file(path) and (is_table_name(path) or is_json_table(path))


def has_typed_cells(path: str, /) -> bool:
    """Returns whether a table is a workbook, Parquet or JSON, and no text."""
    return is_workbook(path) or is_json_table(path)


def is_workbook(path: str, /) -> bool:
    """Returns whether a file is a workbook or Parquet, by its name."""
    return PurePath(path).suffix.lower() in WORKBOOK_SUFFIXES


def is_excel(path: str, /) -> bool:
    """Returns whether a file is a workbook by its name, and not Parquet."""
    return is_workbook(path) and PurePath(path).suffix.lower() != ".parquet"


@dataclass(frozen=True, slots=True)
class Shape:
    """Which rows of a table are data, and how they are brought to the width of the header.

    Attributes:
        header: Names of the columns, each once.
        header_line: Its line; what comes before it is no row.
        delimiter: Between cells of a text file.
        joins_commas: Whether delimiters that a space follows are text.
        last_line: Of the last row; totals and remarks follow it. 0 where that is not known.
    """

    header: tuple[str, ...]
    header_line: int
    delimiter: str = ","
    joins_commas: bool = False
    last_line: int = 0

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
        cells = [_without_marks_of_text(cell) if cell[:1] in _MARKS else cell for cell in row.cells]
        while len(cells) > len(self.header) and not cells[-1].strip():
            cells = cells[:-1]
        filled = [clean(cell) for cell in cells if cell.strip()]
        if not filled or filled == [_END_OF_FILE]:
            return None
        if len(filled) == 1 and self._is_past_end(row) and self._is_apart(row, filled[0]):
            counts[_REMARKS] += 1
            return None
        if len(cells) != len(self.header):
            cells = self._repaired(cells)
            repaired["rows with separators outside of quotes, joined where a space follows"] += 1
        if [clean(cell) for cell in cells] == list(self.header):
            counts["rows that repeat the header"] += 1
            return None
        is_sparse = 2 * len(filled) <= len(self.header) + 1
        if _begins_total(filled) and is_sparse:
            counts["rows of totals"] += 1
            return None
        if self._is_past_end(row):
            are_sums = len(filled) > 1 and all(map(read_number, filled[1:]))
            counts["rows of totals" if are_sums or may_be_total(cells) else _REMARKS] += 1
            return None
        return cells

    def _is_apart(self, row: Row, text: str) -> bool:
        """Returns whether a row of one cell is a remark, and no row that was cut."""
        return row.line > self.last_line + 1 or is_remark(text)

    def _is_past_end(self, row: Row) -> bool:
        return bool(self.last_line) and row.line > self.last_line

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


def _without_marks_of_text(cell: str) -> str:
    """Returns a cell without what tells Excel that it is text: ``="0012"``, ``'0012``."""
    match = _TEXT_MARK.fullmatch(cell)
    return cell if match is None else match["text"] or match["digits"] or ""


def _begins_total(filled: Sequence[str]) -> bool:
    """Returns whether a row begins with a word for totals, or with a group's: IT total, 7000."""
    first = filled[0].lower().rstrip(":")
    return first in _TOTALS or (
        _names_total(first) and len(filled) > 1 and all(map(read_number, filled[1:]))
    )


def _names_total(first: str) -> bool:
    word = first.lower().rstrip(":")
    return word in _TOTALS or word.endswith(_GROUP_TOTALS)


def may_be_total(cells: Sequence[str], /) -> bool:
    """Returns whether a row may be one of totals: its first word says so and numbers follow, or it has
    no word at all, and nothing where the others begin: in half of its cells, or in the first two.
    """
    first = next((cell for cell in cells if cell.strip()), "")
    is_nameless = not cells[0].strip() and read_number(clean(first)) is not None
    # Looked at for every row: most are told by their first cell.
    if not (is_nameless or _names_total(clean(first))):
        return False
    filled = [clean(cell) for cell in cells if cell.strip()]
    are_numbers = all(map(read_number, filled[1:]))
    is_sparse = 2 * len(filled) <= len(cells) + 1 or not any(map(str.strip, cells[:2]))
    return are_numbers and (not is_nameless or is_sparse)


def is_remark(cell: str, /) -> bool:
    """Returns whether the one cell of a row after the others is a remark by its words.

    >>> [is_remark(cell) for cell in ("* estimated", "Source: Eurostat", "P-105", "Ann Lee")]
    [True, True, False, False]
    """
    return _REMARK.match(cell.strip()) is not None


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
        # A row comes below the header.
        before_last = {_width(row) for row in rows[:-1] or rows}
        width = max(before_last, key=lambda each: (widths[each], each))
        header = next(row for row in rows if _width(row) >= width)
    at = rows.index(header)
    if not row_column and at + 1 < len(rows) and _is_second_header(header, rows[at + 1]):
        at += 1
    above = rows[at - 1] if at and rows[at - 1].line == rows[at].line - 1 else None
    cells = _with_groups(rows[at].cells, above)
    while cells and not cells[-1].strip():
        cells.pop()
    names: list[str] = []
    for index, cell in enumerate(cells, start=1):
        name = clean(cell) or f"column {index}"
        again = 2
        while name in names:
            name, again = f"{clean(cell)} ({again})", again + 1
        names.append(name)
    return tuple(names), rows[at].line


def _is_second_header(header: Row, below: Row) -> bool:
    """Returns whether a row names the columns of groups: it has cells where the header has none, one
    before these, or one that is there again, and nowhere else but where it repeats the header.
    """
    names = [clean(cell) for cell in header.cells]
    again = Counter(name for name in names if name)
    width = max(len(names), len(below.cells))
    names += [""] * (width - len(names))
    cells = [*below.cells, *[""] * (width - len(below.cells))]
    in_groups = [
        not name or again[name] > 1 or following == ""
        for name, following in zip(names, [*names[1:], None], strict=True)
    ]
    groups = [name for name, grouped in zip(names, in_groups, strict=True) if name and grouped]
    return (
        bool(groups)
        and not all(in_groups)
        and all(
            bool(cell.strip()) if grouped else clean(cell) in ("", name)
            for name, cell, grouped in zip(names, cells, in_groups, strict=True)
        )
    )


def _with_groups(cells: Sequence[str], above: Row | None) -> list[str]:
    """Returns the names of columns with those of their groups, which stand in the row above.

    A group is part of a name that says nothing alone: a year, a number, or one that is there twice.
    A column without a name is called by what stands right above it.
    """
    names = [clean(cell) for cell in cells]
    groups = [clean(cell) for cell in above.cells] if above is not None else []
    groups += [""] * (len(names) - len(groups))
    are_cells = any(read_number(group) and not _PERIOD.fullmatch(group) for group in groups)
    if not any(groups[1:]) or are_cells:
        return list(cells)
    again = Counter(names)
    grouped: list[str] = []
    group = ""
    for name, own in zip(names, groups, strict=False):
        group = own or group
        is_weak = read_number(name) is not None or again[name] > 1 or _PERIOD.fullmatch(name)
        grouped.append(f"{group} {name}".strip() if name and is_weak else name or own)
    return grouped


def _width(row: Row) -> int:
    """Returns how many cells a row has up to the last that is not empty."""
    return max((at for at, cell in enumerate(row.cells, start=1) if cell.strip()), default=0)


def first_rows(source: ByteSource, dialect: Dialect | None, sheet: str, /) -> list[Row]:
    """Returns the first rows of a table that are not empty.

    Raises:
        InputError: There is none below a header, and the reason is that what there is can't be
            read.
    """
    rows: list[Row] = []
    rejects: list[Reject] = []

    def take(row: Row, _parsed: Parsed) -> None:
        if len(rows) < _HEADER_ROWS and any(cell.strip() for cell in row.cells):
            rows.append(row)

    if dialect is not None:
        blocks = read_rows(source, {}, dialect, take)
    elif is_workbook(source.name):
        blocks = read_workbook_rows(source.name, sheet, {}, take, rows=2 * _HEADER_ROWS)
    else:
        blocks = read_json_rows(source, {}, take)
    for parsed in blocks:
        check_decoded(parsed)
        rejects += parsed.rejects[:1]
        if len(rows) >= _HEADER_ROWS:
            break
    if rejects and len(rows) <= 1:
        raise InputError(f"{rejects[0].location}: {rejects[0].reason}", argument="source")
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
