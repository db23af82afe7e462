"""Cells of a worksheet as a person sees them: units of number formats, merged cells, formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from loaders.tables.cells import UNSTORED
from loaders.tables.number_cells import is_unit
from loaders.tables.typed_cells import cell_text

_PERCENT = "%"
_CODE_DIGITS = 4
"""Numbers that a format fills up to so many digits and more are codes, such as 01067."""
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|\\(?P<escaped>.)|[_*].?'
    r"|(?P<plain>.)",
    re.DOTALL,
)
_SIGNS = frozenset("\u20ac$\u00a3\u00a5\u20b9\u20a9\u20ba")
_CHUNK = 1 << 20
_OVERLAP = 200
_FORMULA = re.compile(rb"<(?:\w+:)?f[ >/]")
_MERGED = re.compile(
    rb"<(?:\w+:)?mergeCell\s[^>]{0,80}?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']"
)


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """What a number format says of the cells that have it.

    Attributes:
        unit: Unit or currency that it shows after or before a number; "" for none.
        is_percent: Whether 0.125 is shown as 12.5 %.
        digits: Digits that whole numbers are filled up to with zeros; 0 if they are not.
        shows_day, shows_month: Of dates, whether it shows these.
    """

    unit: str = ""
    is_percent: bool = False
    digits: int = 0
    shows_day: bool = True
    shows_month: bool = True

    def text(self, value: object, /) -> str:
        """Returns a cell as text that can be read in one way only.

        >>> read_number_format("0.0%").text(0.125), read_number_format('0" kg"').text(5)
        ('12.5%', '5 kg')
        """
        match value:
            case bool():
                return cell_text(value)
            case int() | float() | Decimal():
                return self._number(value)
            case datetime() if (value.hour, value.minute, value.second) == (0, 0, 0):
                return self._date(value.date())
            case date() if not isinstance(value, datetime):
                return self._date(value)
            case _:
                return cell_text(value)

    def _number(self, value: float | Decimal) -> str:
        if self.is_percent:
            exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
            return f"{cell_text((exact * 100).normalize())}%" if exact.is_finite() else ""
        text = cell_text(value)
        if self.digits and text.isdecimal():
            return text.zfill(self.digits)
        return f"{text} {self.unit}" if self.unit and text else text

    def _date(self, day: date) -> str:
        """Returns a date; only its month or its year if the format shows no more of it."""
        if self.shows_day or day.day != 1:
            return day.isoformat()
        if self.shows_month or day.month != 1:
            return f"{day.year:04d}-{day.month:02d}"
        return f"{day.year:04d}"


@lru_cache(maxsize=4_096)
def read_number_format(code: str, /) -> NumberFormat:
    r"""Returns what a number format of Excel says, by its first section.

    >>> read_number_format("#,##0.00\\ [$EUR];[Red]-#,##0.00\\ [$EUR]").unit
    'EUR'
    >>> read_number_format("00000").digits, read_number_format("mmm yyyy").shows_day
    (5, False)
    """
    literal, plain = "", ""
    for match in _TOKEN.finditer(code):
        if match["plain"] == ";":
            break
        if match["plain"] is not None:
            plain += match["plain"]
            literal += match["plain"] if match["plain"] in _SIGNS else "\0"
        else:
            literal += match["quoted"] or match["currency"] or match["escaped"] or " "
    units = (is_unit(word.strip()) for word in literal.split("\0"))
    letters = plain.lower()
    is_date = "y" in letters and letters != "general"
    return NumberFormat(
        unit=next((unit for unit in units if unit), ""),
        is_percent=_PERCENT in plain,
        digits=len(plain) if len(plain) >= _CODE_DIGITS and set(plain) == {"0"} else 0,
        shows_day=not is_date or "d" in letters,
        shows_month=not is_date or "m" in letters,
    )


@dataclass(slots=True)
class _Marks:
    """What the XML of a worksheet says beside its cells.

    Attributes:
        has_formulas: Whether a cell is a formula.
        merged: Last row of cells of one column that are merged, by row and column of the first.
    """

    has_formulas: bool = False
    merged: dict[tuple[int, int], int] = field(default_factory=dict)


def sheet_rows(sheet: Any, formulas: Any, /) -> Iterator[list[str]]:
    """Yields the rows of a worksheet as cells of text.

    Cells of one column that are merged all have the text of the first. A formula without a stored
    result is ``UNSTORED``.

    Args:
        sheet: Of openpyxl, with results of formulas.
        formulas: Gives the same sheet with its formulas; called if there are any.
    """
    marks = _marks(sheet)
    merged: dict[int, tuple[int, str]] = {}
    rows = sheet.iter_rows()
    with_formulas = formulas().iter_rows() if marks.has_formulas else None
    for line, cells in enumerate(rows, start=1):
        row = [_text(cell) for cell in cells]
        if with_formulas is not None:
            for index, formula in enumerate(next(with_formulas, ())):
                if formula.data_type == "f" and index < len(row) and _is_unstored(cells[index]):
                    row[index] = UNSTORED
        if marks.merged:
            _fill(row, line, marks, merged)
        yield row


def _text(cell: Any) -> str:
    value = cell.value
    if value is None or isinstance(value, str):
        return value or ""
    return read_number_format(cell.number_format or "").text(value)


def _is_unstored(cell: Any) -> bool:
    """Returns whether a cell has no result; an empty text is one."""
    return cell.value is None and cell.data_type == "n"


def _fill(row: list[str], line: int, marks: _Marks, merged: dict[int, tuple[int, str]]) -> None:
    """Gives merged cells of a row their text; notes those that begin in it."""
    for column, (last, text) in list(merged.items()):
        if line > last:
            del merged[column]
            continue
        row.extend([""] * (column + 1 - len(row)))
        row[column] = row[column] or text
    for column in range(len(row)):
        last_row = marks.merged.get((line, column))
        if last_row is not None:
            merged[column] = last_row, row[column]


def _marks(sheet: Any) -> _Marks:
    marks = _Marks()
    with sheet._get_source() as source:
        before = b""
        while chunk := source.read(_CHUNK):
            data = before + chunk
            marks.has_formulas = marks.has_formulas or _FORMULA.search(data) is not None
            for match in _MERGED.finditer(data):
                first, last = _column(match[1]), _column(match[3])
                if first == last:
                    marks.merged[int(match[2]), first] = int(match[4])
            before = data[-_OVERLAP:]
    return marks


def _column(letters: bytes) -> int:
    """Returns the index of a column by its letters, from 0 for A."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number - 1
