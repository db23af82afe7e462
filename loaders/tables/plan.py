"""What tables of things become: a first pass over all cells, then keys, types and references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from graph_service.errors import InputError
from loaders.files import source_paths
from loaders.options import LoadOptions
from loaders.source import STANDARD_INPUT
from loaders.tables.decimal_marks import settle_marks
from loaders.tables.mapping import ColumnType, TablesPlan, TablesRequest
from loaders.tables.references import (
    check_key,
    find_references,
    look_again,
    name_by_numbers,
    share_names,
    yield_key,
)
from loaders.tables.table_look import TableLook
from loaders.tables.table_rows import is_table, is_workbook
from loaders.tables.workbook import sheet_names


def request_of(options: LoadOptions, /) -> TablesRequest | None:
    """Returns what is said of tables of things; None where rows are statements."""
    if options.row is None and options.tables_request is None:
        return None
    request = options.tables_request or TablesRequest()
    return request if options.row is None else replace(request, row=options.row)


def plan_tables(source: str | Path, request: TablesRequest, options: LoadOptions, /) -> TablesPlan:
    """Returns what the tables of a file or a folder become, by all of their cells.

    Raises:
        InputError: A file can't be read, is no table, or nothing tells what its rows are.
    """
    if str(source) == STANDARD_INPUT:
        raise InputError(
            "tables of things are read twice, and standard input can be read once",
            argument="source",
            hint="Write it to a file and load that.",
        )
    looks = list(_look(Path(source), request, options))
    unknown = set(request.tables) - {look.name for look in looks}
    if unknown:
        raise InputError(
            f"{request.path} speaks of {', '.join(sorted(unknown))}; the tables are "
            f"{', '.join(look.name for look in looks)}",
            argument="mapping",
        )
    for look in looks:
        look.decide(request)
    for look in looks:
        yield_key(look, looks)
    for look in looks:
        name_by_numbers(look, looks)
    for look in looks:
        find_references(look, looks)
        share_names(look)
    settle_marks(looks)
    for look in looks:
        check_key(look)
    for look in looks:
        look_again(look, looks)
    return TablesPlan(tuple(look.planned() for look in looks), _labels(looks))


def _look(source: Path, request: TablesRequest, options: LoadOptions) -> Iterator[TableLook]:
    paths = source_paths(source)
    is_folder = source.is_dir()
    for path in paths:
        if is_folder and not is_table(str(path)):
            continue
        name = path.relative_to(source).as_posix() if is_folder else path.name
        looks: list[TableLook] = []
        try:
            for sheet in _looks_of(path, name):
                if sheet.read(request, options, is_folder=is_folder):
                    looks += sheet.parts(request, options)
        except InputError as error:
            # A damaged file of a folder is a reject of the load.
            if not is_folder or error.argument != "source":
                raise
            continue
        if not (looks or is_folder or is_workbook(str(path))):
            raise InputError(f"{path} holds no rows", argument="source")
        yield from looks


def _looks_of(path: Path, name: str) -> Iterator[TableLook]:
    """Yields a file, or each sheet of a workbook, to be looked at."""
    if not is_workbook(str(path)):
        yield TableLook(str(path), name, "")
        return
    sheets = sheet_names(str(path))
    for sheet in sheets:
        yield TableLook(str(path), name if len(sheets) == 1 else f"{name}#{sheet}", sheet)


def _labels(looks: Sequence[TableLook]) -> dict[tuple[str, str], str]:
    """Returns the commonest spelling of names that are spelt in several ways."""
    spellings: dict[tuple[str, str], Counter[str]] = {}
    for look in looks:
        for column in look.mapping.columns:
            if column.type is not ColumnType.ENTITY or column.references:
                continue
            group = column.space
            for name, counts in look.profile(column.name).spellings(column.separator).items():
                spellings.setdefault((group, name), Counter()).update(counts)
    return {
        name: min(counts, key=lambda spelling: (-counts[spelling], _shouting(spelling), spelling))
        for name, counts in spellings.items()
        if len(counts) > 1
    }


def _shouting(spelling: str) -> int:
    """Returns how unlike a name a spelling is: names have some capitals, and not only these."""
    return int(spelling.islower() or spelling.isupper())
