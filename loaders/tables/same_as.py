"""Tables of entities that are one thing: rows of ids, as ``load --same-as`` takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import ByteSource
from loaders.tables.names import first_cells, is_header
from loaders.tables.rows import Row, RowError, cell_id, read_rows
from loaders.terms import TermGatherer


def read_same_as(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a table of ids of one thing, two or more a row, tabs or commas, as links both ways."""
    dialect, first = first_cells(source, options)
    has_header = is_header(first)
    terms = TermGatherer()

    def take(row: Row, parsed: Parsed) -> None:
        if row.line == dialect.first_line and has_header:
            return
        ids = [cell_id(cell, options.base_iri) for cell in row.cells if cell.strip()]
        if len(ids) < 2:
            raise RowError(f"expected two ids or more, got {len(ids)}")
        parsed.kept.update({} if len(set(ids)) > 1 else {SAME_ID_REASON: 1})
        # Either may be absent in the graph, and a third that both name still joins two.
        for id_, other in zip((*ids[:-1], *ids[1:]), (*ids[1:], *ids[:-1]), strict=True):
            if id_ != other:
                terms.of(id_).same_as[other] = None

    def finish(parsed: Parsed) -> None:
        parsed.entities.extend(terms.take())

    yield from read_rows(source, start, dialect, take, finish)


SAME_ID_REASON = "rows of a table of equal entities that name one id twice"
