"""Rows of a table: from bytes to cells, and from cells to ids and statements."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import normalise_entity_id, normalise_statement_guid
from graph_service.model.statement import Rank, Snak, Statement, make_statement
from graph_service.model.values import EntityValue, Value, encode_value
from loaders.items import Parsed, Reject, excerpt
from loaders.rdf.mapping import statement_id
from loaders.records import RecordCounts
from loaders.source import ByteSource, line_blocks
from loaders.tables.dialect import Dialect

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
            row: Row | None = None
            try:
                text = data.rstrip(b"\r").decode(encoding)
                if line == 1:
                    text = text.removeprefix("\ufeff")
                if line < dialect.first_line:
                    row = None
                elif quoted is None:
                    row = Row(text.split(delimiter), line, offset) if text else None
                else:
                    row = quoted.add(text, line, offset)
                if row is not None:
                    take(row, parsed)
                    parsed.mark(row.line)
                    parsed.counts.read += 1
            except UnicodeDecodeError as error:
                reason = f"not {encoding.upper()}: {error.reason}"
                if encoding == "utf-8":
                    reason += "; if the file is Windows-1252, say --encoding cp1252"
                rejects.append(Reject(source.name, line, offset, reason, excerpt(data)))
            except (RowError, ValueError, csv.Error) as error:
                at = row or Row([], line, offset)
                rejects.append(Reject(source.name, at.line, at.offset, str(error), excerpt(data)))
            except InputError as error:
                at = row or Row([], line, offset)
                rejects.append(
                    Reject(source.name, at.line, at.offset, error.message, excerpt(data))
                )
            offset += size
            line += 1
        parsed.counts.rejected += len(rejects) - before
        end_line = block.line + block.data.count(b"\n")
        end = block.offset + len(block.data)
        if quoted is not None and quoted.open_at is not None:
            # A cell goes on in the next block: a resumed load begins at its row again.
            parsed.position = {"offset": quoted.open_at[1], "line": quoted.open_at[0]}
        else:
            parsed.position = {"offset": end, "line": end_line}
        parsed.line = end_line
        if finish is not None:
            finish(parsed)
        yield parsed
    if quoted is not None and quoted.open_at is not None:
        line, offset = quoted.open_at
        yield Parsed(
            terms_only=True,
            position={"offset": offset, "line": line},
            rejects=[Reject(source.name, line, offset, "a quoted cell that never ends")],
            counts=RecordCounts(rejected=1),
            line=line,
        )


class _QuotedRows:
    """Puts lines together to rows of CSV, whose quoted cells may span lines.

    Args:
        delimiter: What stands between cells.

    Attributes:
        open_at: Line and byte offset of the row that is not finished, if there is one.
    """

    _MAX_LINES = 1_000

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self.open_at: tuple[int, int] | None = None
        self._lines: list[str] = []

    def add(self, text: str, line: int, offset: int) -> Row | None:
        if self.open_at is None:
            if not text:
                return None
            if '"' not in text:
                return Row(text.split(self._delimiter), line, offset)
            self.open_at = (line, offset)
        self._lines.append(text)
        joined = "\n".join(self._lines)
        if joined.count('"') % 2:
            if len(self._lines) > self._MAX_LINES:
                first = self.open_at
                self.open_at, self._lines = None, []
                raise RowError(
                    f"a quoted cell from line {first[0]} on that does not end in "
                    f"{self._MAX_LINES} lines"
                )
            return None
        first = self.open_at
        self.open_at, self._lines = None, []
        cells = next(
            csv.reader(joined.splitlines(keepends=True), strict=True, delimiter=self._delimiter)
        )
        return Row(cells, first[0], first[1])
