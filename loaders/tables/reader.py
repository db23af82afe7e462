"""Tables as a source: TSV and CSV with a statement a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import check_text
from graph_service.model.statement import Snak
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    Quantity,
    StringValue,
    Value,
)
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf.values import decimal_text
from loaders.source import ByteSource
from loaders.tables.dialect import TABS, encoding_of, recognise_dialect
from loaders.tables.header import Extra, Layout, read_layout
from loaders.tables.neo4j_nodes import is_node_header, read_nodes
from loaders.tables.rows import Row, RowError, cell_entity, cell_id, read_rows, row_statement
from loaders.tables.side_files import read_side_files
from loaders.tables.sparql_results import is_sparql_header, read_sparql_rows


def read_tsv(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a table separated by tabs; cells are quoted only if all of the first line are.

    Results of SPARQL in TSV, whose header is ``?s ?p ?o``, are read as RDF.
    """
    return _read_table(source, options, start)


def read_csv(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a table separated by commas, semicolons or bars, quoted by double quotes.

    Cells may span lines.
    """
    return _read_table(source, options, start)


def _read_table(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any]
) -> Iterator[Parsed]:
    dialect = recognise_dialect(source.head, encoding=encoding_of(source, options.encoding))
    sample = dialect.sample(source.head)
    if sample and not options.columns and is_node_header(sample[0]):
        yield from read_nodes(source, dialect, sample[0], options, start)
        return
    layout = read_layout(sample, options, source.name) if sample else None
    if layout is None and source.head.strip():
        raise InputError(
            f"the first row of {source.name} does not end within {len(source.head):,} bytes; "
            "expected a table",
            argument="source",
        )
    if layout is not None and dialect.delimiter == TABS.delimiter and is_sparql_header(sample[0]):
        yield from read_sparql_rows(source, options, start, dialect, layout)
        return
    literal = frozenset(options.literal_relations)
    base_iri = options.base_iri
    side_files = read_side_files(options)
    if side_files.qualifiers and layout is not None and layout.id is None:
        raise InputError(
            f"{source.name} has no column of ids for the qualifiers to name",
            argument="columns",
            hint="For instance --columns id,head,relation,tail.",
        )

    def take(row: Row, parsed: Parsed) -> None:
        assert layout is not None
        cells = row.cells
        if row.line == dialect.first_line and layout.has_header:
            return
        if not any(cell.strip() for cell in cells):
            return
        if len(cells) != layout.width and not (layout.rest and len(cells) >= layout.width):
            raise RowError(f"expected {layout.width} columns, got {len(cells)}")
        head = side_files.entity(_in_space(cells[layout.head], layout.head_prefix), base_iri)
        raw_relation = layout.edge_relation or cells[layout.relation or 0]
        relation = side_files.relation(raw_relation, base_iri)
        raw_tail = _in_space(cells[layout.tail], layout.tail_prefix)
        value: Value
        if literal and (relation in literal or raw_relation in literal):
            check_text(raw_tail, what="a literal")
            value = _literal(raw_tail, cells, layout)
        else:
            value = (
                cell_entity(raw_tail, base_iri)
                if side_files.entities is None
                else EntityValue(side_files.entity(raw_tail, base_iri))
            )
        qualifiers = _qualifier_pairs(cells[layout.width :], base_iri) if layout.rest else ()
        if side_files.qualifiers and layout.id is not None:
            qualifiers += side_files.qualifiers.get(cells[layout.id].strip(), ())
        qualifiers += _extra_qualifiers(cells, layout.extras, base_iri)
        for column in layout.passed_over:
            if cells[column.index]:
                parsed.skipped[f"cells of the column {column.relation}"] += 1
        parsed.statements.append(
            row_statement(
                head,
                relation,
                value,
                raw_id=cells[layout.id] if layout.id is not None else "",
                rank=cells[layout.rank] if layout.rank is not None else "",
                qualifiers=qualifiers,
            )
        )

    yield from read_rows(source, start, dialect, take)


def _in_space(cell: str, prefix: str) -> str:
    return f"{prefix}{cell.strip()}" if prefix and cell.strip() else cell


def _literal(text: str, cells: list[str], layout: Layout) -> Value:
    language = cells[layout.language].strip() if layout.language is not None else ""
    return MonolingualText(text, language.lower()) if language else StringValue(text)


def _qualifier_pairs(cells: list[str], base_iri: str | None) -> tuple[Snak, ...]:
    filled = [cell for cell in cells if cell.strip()]
    if len(filled) % 2:
        raise RowError(f"qualifiers come in pairs of relation and value, got {len(filled)} cells")
    return tuple(
        Snak(cell_id(filled[i], base_iri), cell_entity(filled[i + 1], base_iri))
        for i in range(0, len(filled), 2)
    )


def _extra_qualifiers(
    cells: list[str], extras: tuple[Extra, ...], base_iri: str | None
) -> tuple[Snak, ...]:
    """Returns the cells beside those of the statement: numbers, else text."""
    qualifiers = []
    for extra in extras:
        cell = cells[extra.index].strip()
        if cell:
            check_text(cell, what="a qualifier")
            amount = decimal_text(cell)
            value: Value = StringValue(cell) if amount is None else Quantity(amount)
            qualifiers.append(Snak(cell_id(extra.relation, base_iri), value))
    return tuple(qualifiers)
