"""How a table is written: what separates its cells, whether they are quoted, its encoding."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass
from math import log2

from graph_service.errors import InputError
from loaders.packing import UTF_16
from loaders.source import ByteSource

_DELIMITERS = (",", ";", "\t", "|")
_SEPARATOR_LINE = re.compile(r'"?sep=(?P<delimiter>[^"\r\n])"?')
_BLANK_LINE = re.compile(r'[\s,;|"]*')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
# Rows by which the separator is told.
_SAMPLE_ROWS = 100
_OTHER_FIRST_ROW = 0.7
"""What a separator counts if the first row has another width: it may be a title."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table is written.

    Attributes:
        delimiter: The character between cells.
        is_quoted: Whether cells may stand in double quotes; a quote is text elsewhere.
        first_line: Number of the first line of the table that is not blank, from 1, after a line
            ``sep=;`` if there is one.
        encoding: Of the text, a name that Python knows.
    """

    delimiter: str
    is_quoted: bool = True
    first_line: int = 1
    encoding: str = "utf-8"

    def lines(self, head: bytes, /) -> list[str]:
        """Returns the lines of the table's beginning, with their ends."""
        return _lines(head, self.encoding)[self.first_line - 1 :]

    def sample(self, head: bytes, /, *, rows: int = _SAMPLE_ROWS) -> list[list[str]]:
        """Returns the cells of the first rows; the last line of a long table may be cut."""
        return _cells(self.lines(head), self.delimiter, is_quoted=self.is_quoted, rows=rows)


TABS = Dialect("\t", is_quoted=False)


def check_encoding(name: str | None, /) -> str:
    """Returns the encoding of tables; UTF-8 where none is named.

    Raises:
        InputError: Python does not know it, or its line ends are not those of ASCII.
    """
    if name is None:
        return "utf-8"
    try:
        known = codecs.lookup(name).name
        is_ascii = "a\n,".encode(known) == b"a\n,"
    except (LookupError, UnicodeError):
        known, is_ascii = name, False
    if not is_ascii:
        raise InputError(
            f"{name!r} is no encoding that tables are read in; expected one that holds ASCII, "
            "such as utf-8, cp1252 or iso8859-2",
            argument="encoding",
            hint="UTF-16 is told by its first bytes. Convert other files to UTF-8.",
        )
    return known


def encoding_of(source: ByteSource, name: str | None, /) -> str:
    """Returns the encoding of a source's bytes; of a file in UTF-16 they are UTF-8 by now.

    Args:
        source: The table.
        name: The encoding that tables are said to have; None for UTF-8.

    Raises:
        InputError: As ``check_encoding``; or the lines end in carriage returns alone.
    """
    if b"\r" in source.head and b"\n" not in source.head:
        raise InputError(
            f"the lines of {source.name} end in carriage returns alone, which are no line ends "
            "here",
            argument="source",
            hint="Convert them, for instance: tr '\\r' '\\n' < FILE > NEW_FILE",
        )
    return check_encoding(None if source.compression == UTF_16 else name)


def recognise_dialect(head: bytes, /, *, encoding: str = "utf-8") -> Dialect:
    """Returns how a table is written, told by its first bytes.

    A first line ``sep=;`` says what separates. Else it is the character by which most rows have
    equally many cells, the first too, and many rather than two. Cells between tabs are quoted only if all of the
    first line are.
    """
    lines = _lines(head, encoding)
    blank = next((at for at, line in enumerate(lines) if not _BLANK_LINE.fullmatch(line)), 0)
    lines = lines[blank:]
    match = _SEPARATOR_LINE.fullmatch(lines[0].strip("\r\n")) if lines else None
    if match is not None:
        return Dialect(match["delimiter"], first_line=blank + 2, encoding=encoding)
    first = lines[0].rstrip("\r\n") if lines else ""
    if "\t" in first:
        is_quoted = all(_QUOTED.fullmatch(cell) for cell in first.split("\t"))
        return Dialect("\t", is_quoted=is_quoted, first_line=blank + 1, encoding=encoding)
    lines = lines[: 2 * _SAMPLE_ROWS]
    best = max(_DELIMITERS, key=lambda delimiter: _regularity(lines, delimiter))
    delimiter = best if _regularity(lines, best) > 0 else ","
    return Dialect(delimiter, first_line=blank + 1, encoding=encoding)


def _lines(head: bytes, encoding: str) -> list[str]:
    """Returns the lines of text with their ends, of which there is one kind, as for rows."""
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []


def _regularity(lines: list[str], delimiter: str) -> float:
    """Returns how surely a character separates: 0 where most rows are one cell.

    It is the share of rows that are as wide as most, times the bits of that width, and less
    where the first row is not: bars in the cells of one column are as regular as its separator.
    """
    rows = [len(row) for row in _cells(lines, delimiter, is_quoted=True, rows=_SAMPLE_ROWS)]
    if not rows:
        return 0.0
    width, count = Counter(rows).most_common(1)[0]
    return count / len(rows) * log2(width) * (1.0 if rows[0] == width else _OTHER_FIRST_ROW)


def _cells(lines: list[str], delimiter: str, *, is_quoted: bool, rows: int) -> list[list[str]]:
    if is_quoted:
        reader = csv.reader(lines, delimiter=delimiter)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    sample: list[list[str]] = []
    try:
        for cells in reader:
            if cells:
                sample.append(cells)
            if len(sample) >= rows:
                break
    except csv.Error:
        # A cell that is too long, or NUL: what came before tells.
        pass
    return sample
