"""Rows of a table: from bytes to cells, and from cells to ids and statements."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from graph_service.errors import InputError
from graph_service.model.identity import normalise_entity_id, normalise_statement_guid
from graph_service.model.statement import Rank, Snak, Statement, make_statement
from graph_service.model.values import EntityValue, Value, encode_value
from loaders.items import Parsed, Reject, excerpt
from loaders.rdf.mapping import statement_id
from loaders.source import ByteSource, line_blocks
from loaders.tables.dialect import Dialect

_BLOCK_ROWS = 500
_Record = TypeVar("_Record")
_RANKS = {rank.value: rank for rank in Rank}


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a row, with where it began."""

    cells: list[str]
    line: int
    offset: int


class RowError(ValueError):
    """Why a row is rejected."""


class ColumnsError(InputError):
    """A table does not say which of its columns are head, relation and tail."""


def row_statement(
    head: str,
    relation: str,
    value: Value,
    *,
    raw_id: str = "",
    rank: str = "",
    qualifiers: tuple[Snak, ...] = (),
) -> Statement:
    """Returns the statement of a row; a Wikidata GUID in ``raw_id`` is its id.

    Raises:
        RowError: The rank is none of Wikibase's.
    """
    guid = normalise_statement_guid(raw_id) if raw_id else None
    rank = rank.strip()
    if rank and rank not in _RANKS:
        raise RowError(f"rank {rank!r}; expected preferred, normal or deprecated")
    rank_ = _RANKS[rank] if rank else Rank.NORMAL
    if qualifiers:
        return make_statement(head, relation, value, id=guid, rank=rank_, qualifiers=qualifiers)
    id_ = guid or statement_id(head, relation, encode_value(value), None)
    return Statement(id_, head, relation, value, rank_)


@lru_cache(maxsize=262_144)
def cell_id(raw: str, base_iri: str | None) -> str:
    """Returns the id that a cell names, with or without angle brackets."""
    text = raw.strip()
    if len(text) > 2 and text[0] == "<" and text[-1] == ">":
        text = text[1:-1]
    return normalise_entity_id(text, base_iri=base_iri)


@lru_cache(maxsize=262_144)
def cell_entity(raw: str, base_iri: str | None) -> EntityValue:
    """Returns the entity that a cell names."""
    return EntityValue(cell_id(raw, base_iri))


def read_numbered(
    records: Iterable[_Record],
    start: Mapping[str, Any],
    read: Callable[[int, _Record, Parsed], None],
    finish: Callable[[Parsed], None] | None = None,
) -> Iterator[Parsed]:
    """Yields blocks of what is read of records that have no place in bytes: they are counted from 1.

    Args:
        records: All of them, those that an earlier run has read too.
        start: Position to go on from; empty for the beginning.
        read: Adds a record, by its number, to a block.
        finish: Called at the end of each block.
    """
    done = int(start.get("row", 0))
    numbered = enumerate(records, start=1)
    while block := list(islice(numbered, _BLOCK_ROWS)):
        parsed = Parsed(terms_only=True)
        for row_index, record in block:
            if row_index > done:
                read(row_index, record, parsed)
        parsed.line = block[-1][0]
        parsed.position = {"row": parsed.line}
        if parsed.line <= done:
            continue
        if finish is not None:
            finish(parsed)
        yield parsed


def take_row(
    row: Row,
    parsed: Parsed,
    take: Callable[[Row, Parsed], None],
    /,
    *,
    source: str,
    text: str,
) -> None:
    """Adds a row to a block, or a reject that shows ``text`` where ``take`` refuses the row."""
    try:
        take(row, parsed)
        parsed.mark(row.line)
        parsed.counts.read += 1
    except (RowError, ValueError, InputError) as error:
        reason = error.message if isinstance(error, InputError) else str(error)
        parsed.rejects.append(Reject(source, row.line, 0, reason, text))
        parsed.counts.rejected += 1


def first_row(source: ByteSource, dialect: Dialect) -> list[str] | None:
    """Returns the cells of a table's first row, without reading on; None where there are none."""
    return next(iter(dialect.sample(source.head, rows=1)), None)


def read_rows(
    source: ByteSource,
    start: Mapping[str, Any],
    dialect: Dialect,
    take: Callable[[Row, Parsed], None],
    finish: Callable[[Parsed], None] | None = None,
) -> Iterator[Parsed]:
    """Yields what ``take`` makes of the rows; a row that it refuses is a reject.

    Args:
        source: The table.
        start: Position to go on from; empty for the beginning.
        dialect: How it is written.
        take: Adds a row to a block; raises ``RowError``, ``ValueError`` or ``InputError``.
        finish: Called at the end of each block.
    """
    delimiter, encoding = dialect.delimiter, dialect.encoding
    quoted = _QuotedRows(delimiter) if dialect.is_quoted else None
    end, end_line = int(start.get("offset", 0)), int(start.get("line", 1))
    for block in line_blocks(
        source, offset=int(start.get("offset", 0)), line=int(start.get("line", 1))
    ):
        parsed = Parsed(terms_only=True)
        if block.problem:
            parsed.rejects.append(Reject(source.name, block.line, block.offset, block.problem))
            parsed.counts.rejected += block.lost_lines
        rejects = parsed.rejects
        before = len(rejects)
        offset, line = block.offset, block.line
        for data in block.data.removesuffix(b"\n").split(b"\n") if block.data else ():
            size = len(data) + 1
            try:
                text = data.rstrip(b"\r").decode(encoding)
            except UnicodeDecodeError as error:
                reason = f"not {encoding.upper()}: {error.reason}"
                if encoding == "utf-8":
                    reason += "; if the file is Windows-1252, say --encoding cp1252"
                rejects.append(Reject(source.name, line, offset, reason, excerpt(data)))
            else:
                if line == 1:
                    text = text.removeprefix("\ufeff")
                if line >= dialect.first_line:
                    _take_lines(
                        [_Line(text, line, offset)], quoted, delimiter, take, parsed, source
                    )
            offset += size
            line += 1
        parsed.counts.rejected += len(rejects) - before
        end_line = block.line + block.data.count(b"\n")
        end = block.offset + len(block.data)
        first = quoted.first_line if quoted is not None else None
        if first is not None:
            # A cell goes on in the next block: a resumed load begins at its row again.
            parsed.position = {"offset": first.offset, "line": first.line}
        else:
            parsed.position = {"offset": end, "line": end_line}
        parsed.line = end_line
        if finish is not None:
            finish(parsed)
        yield parsed
    first = quoted.first_line if quoted is not None else None
    if quoted is not None and first is not None:
        parsed = Parsed(terms_only=True)
        while first is not None:
            reason = "a quoted cell that never ends"
            parsed.rejects.append(
                Reject(source.name, first.line, first.offset, reason, excerpt(first.text))
            )
            _take_lines(quoted.give_up(), quoted, delimiter, take, parsed, source)
            first = quoted.first_line
        parsed.counts.rejected = len(parsed.rejects)
        parsed.position, parsed.line = {"offset": end, "line": end_line}, end_line
        if finish is not None:
            finish(parsed)
        yield parsed


def _take_lines(
    lines: list[_Line],
    quoted: _QuotedRows | None,
    delimiter: str,
    take: Callable[[Row, Parsed], None],
    parsed: Parsed,
    source: ByteSource,
) -> None:
    """Takes the rows that lines end; one that can't be read costs itself, not the lines after it."""
    pending = deque(lines)
    while pending:
        line = pending.popleft()
        row: Row | None = None
        try:
            if quoted is not None:
                row = quoted.add(line)
            elif line.text:
                row = Row(line.text.split(delimiter), line.line, line.offset)
            if row is not None:
                take(row, parsed)
                parsed.mark(row.line)
                parsed.counts.read += 1
        except (RowError, ValueError, csv.Error, InputError) as error:
            at = (row.line, row.offset) if row else (line.line, line.offset)
            text = line.text
            if quoted is not None and quoted.first_line is not None:
                first = quoted.first_line
                at, text = (first.line, first.offset), first.text
                pending.extendleft(reversed(quoted.give_up()))
            reason = error.message if isinstance(error, InputError) else str(error)
            parsed.rejects.append(Reject(source.name, *at, reason, excerpt(text)))


class _QuotedRows:
    """Puts lines together to rows of CSV, whose quoted cells may span lines.

    A quote opens a cell only at its beginning, and is text elsewhere.

    Args:
        delimiter: What stands between cells.
    """

    _MAX_LINES = 1_000

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._lines: list[_Line] = []

    @property
    def first_line(self) -> _Line | None:
        """The line that begins the row that is not finished, if there is one."""
        return self._lines[0] if self._lines else None

    def add(self, line: _Line) -> Row | None:
        """Returns the row that a line ends; None where it goes on.

        Raises:
            csv.Error: The row can't be read; ``give_up`` says where to go on.
            RowError: A quoted cell has no end in many lines.
        """
        text = line.text
        if not self._lines and '"' not in text:
            return Row(text.split(self._delimiter), line.line, line.offset) if text else None
        self._lines.append(line)
        if len(self._lines) > self._MAX_LINES:
            raise RowError(f"a quoted cell that does not end in {self._MAX_LINES:,} lines")
        if len(self._lines) > 1 and '"' not in text:
            return None
        # Not by splitlines, which knows more ends of lines than there are here.
        texts = [f"{held.text}\n" for held in self._lines]
        try:
            [cells] = csv.reader(texts, strict=True, delimiter=self._delimiter)
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                return None
            raise
        first = self._lines[0]
        self._lines = []
        return Row(cells, first.line, first.offset)

    def give_up(self) -> list[_Line]:
        """Gives up the row that is not finished; returns the lines after its first."""
        lines, self._lines = self._lines[1:], []
        return lines


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a table without its end."""

    text: str
    line: int
    offset: int
