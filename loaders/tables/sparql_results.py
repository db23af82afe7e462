"""Results of SPARQL in TSV: rows of three variables whose cells are terms as Turtle writes them.

Source: SPARQL 1.1 Query Results CSV and TSV Formats, https://www.w3.org/TR/sparql11-results-csv-tsv/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import pyoxigraph as ox

from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf.reader import mapper_of, reason_of
from loaders.source import ByteSource
from loaders.tables.dialect import Dialect
from loaders.tables.header import Layout
from loaders.tables.rows import Row, RowError, read_rows


def is_sparql_header(cells: Sequence[str], /) -> bool:
    """Returns whether a first row names variables of SPARQL.

    >>> is_sparql_header(["?s", "?p", "?o"]), is_sparql_header(["s", "p", "o"])
    (True, False)
    """
    return all(cell.strip()[:1] in ("?", "$") and len(cell.strip()) > 1 for cell in cells)


def read_sparql_text(cell: str, /) -> tuple[str, str]:
    r"""Returns the text of a term and its language; of what is no literal the cell itself.

    >>> read_sparql_text('"Uni\\tverse"@en'), read_sparql_text('"en"'), read_sparql_text("")
    (('Uni\tverse', 'en'), ('en', ''), ('', ''))
    """
    if not cell.startswith('"'):
        return cell, ""
    triple = f"<a:a> <a:a> {cell} ."
    try:
        [quad] = ox.parse(triple.encode(), format=ox.RdfFormat.TURTLE)
    except (SyntaxError, ValueError) as error:
        raise RowError(f"expected a term of SPARQL, got {cell[:80]}") from error
    value = quad.object
    assert isinstance(value, ox.Literal)
    return value.value, value.language or ""


def read_sparql_rows(
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    dialect: Dialect,
    layout: Layout,
    /,
) -> Iterator[Parsed]:
    """Yields the rows of a result as triples, mapped as those of RDF are.

    A row that has no subject, predicate or object, or a term that is no RDF, is a reject.
    """
    with closing(mapper_of(source, options, hold_truthy=False)) as mapper:
        block: Parsed | None = None

        def take(row: Row, parsed: Parsed) -> None:
            nonlocal block
            if row.line == dialect.first_line:
                return
            if len(row.cells) != layout.width:
                raise RowError(f"expected {layout.width} columns, got {len(row.cells)}")
            if block is not parsed:
                block = parsed
                mapper.begin(parsed, check_text=True)
            terms = [row.cells[index or 0] for index in (layout.head, layout.relation, layout.tail)]
            try:
                quads = list(ox.parse(f"{' '.join(terms)} .".encode(), format=ox.RdfFormat.TURTLE))
            except SyntaxError as error:
                raise RowError(reason_of(error)) from error
            if len(quads) != 1:
                raise RowError(f"expected one term in each cell, got {row.cells}")
            problem = mapper.add_checked(quads[0])
            if problem:
                raise RowError(problem)

        def finish(parsed: Parsed) -> None:
            if block is parsed:
                mapper.end()

        yield from read_rows(source, start, dialect, take, finish)
