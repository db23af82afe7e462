"""Whether a row of a table is a thing or a statement, where nobody says it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from graph_service.errors import InputError
from loaders.files import source_paths
from loaders.formats import Format, recognise_source
from loaders.options import LoadOptions
from loaders.remote import is_remote_source
from loaders.source import STANDARD_INPUT, open_source
from loaders.tables.date_cells import read_year
from loaders.tables.dialect import encoding_of, recognise_dialect
from loaders.tables.header import edge_columns, read_layout
from loaders.tables.neo4j_nodes import is_node_header
from loaders.tables.profile import ColumnProfile, profiles_of
from loaders.tables.rows import ColumnsError, Row
from loaders.tables.table_rows import has_typed_cells, header_of, is_table
from loaders.tables.wording import header_words, is_id_name, is_name_header

_TYPICAL_SHARE = 0.8
_TABLES = (Format.CSV, Format.TSV)


class _Rows(Enum):
    THINGS = "things"
    STATEMENTS = "statements"
    UNKNOWN = "unknown"


def rows_are_things(source: str | Path, options: LoadOptions, /) -> bool:
    """Returns whether the rows of a file's or folder's tables are things, by the first of them.

    They are where a first row names columns, and neither these names nor the cells make statements
    of the rows: a relation is no number and no date, a date has none, and no edge leads to one.
    False where an option says what rows are, or a table of the folder holds statements.
    """
    says = (options.columns, options.edge_relation, options.header, options.format)
    if any(option not in ((), None) for option in says) or str(source) == STANDARD_INPUT:
        return False
    if is_remote_source(str(source)) or not Path(source).exists():
        return False
    tables = [path for path in source_paths(Path(source)) if is_table(str(path))]
    rows = {_rows_of(path, options) for path in tables}
    return _Rows.THINGS in rows and _Rows.STATEMENTS not in rows


def _rows_of(path: Path, options: LoadOptions) -> _Rows:
    if has_typed_cells(str(path)):
        # A file of Parquet may be one of a graph's.
        return _Rows.UNKNOWN if path.suffix.lower() == ".parquet" else _Rows.THINGS
    try:
        with open_source(str(path), limits=options.limits) as source:
            if recognise_source(source) not in _TABLES:
                return _Rows.STATEMENTS
            dialect = recognise_dialect(source.head, encoding=encoding_of(source, options.encoding))
            rows = dialect.sample(source.head)
    except InputError:
        return _Rows.UNKNOWN
    if len(rows) < 2:
        return _Rows.UNKNOWN
    if is_node_header(rows[0]):
        return _Rows.STATEMENTS
    header, line = header_of([Row(cells, at, 0) for at, cells in enumerate(rows)], "")
    others = rows[line + 1 :]
    columns = _columns(header, others)
    names_columns = _is_header(header, header if line else rows[0], others, columns)
    if line:
        # Only above things stands a title, or the names of groups of columns.
        return _Rows.THINGS if names_columns else _Rows.UNKNOWN
    try:
        layout = read_layout(rows, options, path.name)
    except ColumnsError:
        endpoints = edge_columns(rows)
        if endpoints is not None and not (
            any(_is_typed(columns[end], dates=True) for end in endpoints)
            or (names_columns and _has_names(columns, endpoints))
        ):
            return _Rows.STATEMENTS
        return _Rows.THINGS if names_columns else _Rows.UNKNOWN
    if layout.has_header or layout.relation is None:
        return _Rows.STATEMENTS
    head, relation, value = (
        columns[index] for index in (layout.head, layout.relation, layout.tail)
    )
    is_thing = _is_typed(relation) or _is_typed(head, dates=True) or _names_an_id(header)
    is_thing = is_thing or (_is_typed(value) and (head.is_unique or _is_typed(head)))
    if names_columns and is_thing:
        return _Rows.THINGS
    relations = _columns(header, rows)[layout.relation]
    comes_again = 2 * relations.cells.repeated >= len(rows)
    return _Rows.STATEMENTS if comes_again else _Rows.UNKNOWN


def _has_names(columns: Sequence[ColumnProfile], endpoints: Sequence[int]) -> bool:
    """Returns whether a column beside the endpoints names each row: trips have a number and go from
    one place to another, and edges have none.
    """
    return any(
        column.is_unique and not _is_typed(column)
        for index, column in enumerate(columns)
        if index not in endpoints
    )


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[ColumnProfile]:
    columns = profiles_of(header)
    for row in rows:
        for column, cell in zip(columns, row, strict=False):
            column.add(cell)
    for column in columns:
        column.finish()
    return columns


def _is_header(
    header: Sequence[str],
    cells: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: Sequence[ColumnProfile],
) -> bool:
    """Returns whether a row names columns: its cells are words that come nowhere else, and stand
    over numbers or dates, or over names that come again.

    Args:
        header: The names of the columns, each once.
        cells: As the row has them. The first may be empty; two that are one name, and years, stand
            over numbers or dates.
        rows: The rows below.
        columns: What their cells are.
    """
    names = [cell.strip() for cell in cells if cell.strip()]
    # A name may be a sign, such as %.
    words = [
        name for name in names if any(map(str.isalpha, name)) or not any(map(str.isdigit, name))
    ]
    others = [name for name in names if name not in words]
    if not words or not all(map(read_year, others)):
        return False
    if others and all(column.cells.years == column.cells.cells for column in columns[-1:]):
        # Years stand below years in rows without a header.
        return False
    if any(_is_typed(column) for column in _columns(words, [words])):
        return False
    if any(name in (cell.strip() for cell in row) for row in rows for name in names):
        return False
    if any(map(_is_typed, columns)) or _names_an_id(header):
        return True
    is_complete = len(set(names)) == len(names) == len(header)
    return is_complete and any(2 * column.cells.repeated >= len(rows) for column in columns)


def _names_an_id(header: Sequence[str]) -> bool:
    """Returns whether one name of columns calls an id, and another a name: Part No and Title."""
    return any(map(is_id_name, header)) and any(
        is_name_header(name) or header_words(name)[-1:] in (["name"], ["title"]) for name in header
    )


def _is_typed(column: ColumnProfile, /, *, dates: bool = False) -> bool:
    """Returns whether most cells of a column are dates, or numbers and times of day unless ``dates``
    alone count.
    """
    counts = column.cells
    typed = counts.dates if dates else counts.dates + counts.numbers + counts.clocks
    return 0 < _TYPICAL_SHARE * counts.cells <= typed
