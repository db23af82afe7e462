"""Rows of Excel workbooks and of Parquet files, as the cells of a text table."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import SEEK_END
from itertools import islice
from pathlib import PurePath
from typing import Any, BinaryIO
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile, ZipFile

from graph_service.errors import InputError, SetupError
from loaders.items import Parsed
from loaders.source import SourceLimits
from loaders.tables.rows import Row, read_numbered, take_row
from loaders.tables.typed_cells import cell_text
from loaders.tables.worksheet import sheet_rows

WORKBOOK_SUFFIXES = frozenset({".xlsx", ".xlsm", ".parquet"})
_DAMAGED = (
    AttributeError,
    BadZipFile,
    EOFError,
    KeyError,
    NotImplementedError,  # of a compression that is unknown
    OSError,
    ParseError,
    RuntimeError,  # of a part that is encrypted
    TypeError,
    ValueError,
    zlib.error,
)
_BATCH_ROWS = 500
_SHOWN = 200
"""Characters of a row that a reject shows."""
_HEAD_BYTES = 1_024
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Begins files of Office before 2007, and workbooks that are encrypted."""


def sheet_names(path: str, /) -> list[str]:
    """Returns the names of a workbook's sheets; one without a name for Parquet.

    Raises:
        InputError: The file can't be read.
        SetupError: The package that reads it is not installed.
    """
    if PurePath(path).suffix.lower() == ".parquet":
        return [""]
    with _open_workbook(path) as workbook:
        return [sheet.title for sheet in workbook.worksheets]


def read_workbook_rows(
    path: str,
    sheet: str,
    start: Mapping[str, Any],
    take: Callable[[Row, Parsed], None],
    finish: Callable[[Parsed], None] | None = None,
    *,
    rows: int | None = None,
) -> Iterator[Parsed]:
    """Returns an iterator of what ``take`` makes of the rows of a sheet; a row that it refuses is a reject.

    Args:
        path: Of the file.
        sheet: Its name; "" in Parquet.
        start: Position to go on from; empty for the beginning.
        take: Adds a row to a block; raises ``RowError``, ``ValueError`` or ``InputError``.
        finish: Called at the end of each block.
        rows: At most so many.
    """
    cells = _parquet_cells(path) if not sheet else _sheet_cells(path, sheet)

    def read(row_index: int, row: list[str], parsed: Parsed) -> None:
        text = " | ".join(row)[:_SHOWN]
        take_row(Row(row, row_index, 0), parsed, take, source=path, text=text)

    return read_numbered(islice(cells, rows), start, read, finish)


def _sheet_cells(path: str, sheet: str) -> Iterator[list[str]]:
    with ExitStack() as held, _reading(path):

        def formulas() -> Any:
            return held.enter_context(_open_workbook(path, formulas=True))[sheet]

        yield from sheet_rows(held.enter_context(_open_workbook(path))[sheet], formulas)


def _parquet_cells(path: str) -> Iterator[list[str]]:
    try:
        from pyarrow import ArrowException, Table
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise SetupError(
            f"{path} is Parquet, and the package that reads it is not installed",
            hint='Run pip install "graph-service[parquet]".',
        ) from error
    try:
        with ParquetFile(path) as file:
            yield _flat(Table.from_batches([], file.schema_arrow)).column_names
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                table = _flat(Table.from_batches([batch]))
                columns = [column.to_pylist() for column in table.columns]
                for row in zip(*columns, strict=True):
                    yield [cell_text(value) for value in row]
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read as Parquet ({error})", argument="source") from error


def _flat(table: Any) -> Any:
    """Returns a table of Arrow with a column for each field of its structs: ``address city``."""
    from pyarrow.types import is_struct

    while any(is_struct(field.type) for field in table.schema):
        names: list[str] = []
        for field in table.schema:
            parts = [part.name for part in field.type] if is_struct(field.type) else []
            names += [f"{field.name} {part}" for part in parts] or [field.name]
        table = table.flatten().rename_columns(names)
    return table


@contextmanager
def _open_workbook(path: str, *, formulas: bool = False) -> Iterator[Any]:
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError as error:
        raise SetupError(
            f"{path} is an Excel workbook, and the package that reads it is not installed",
            hint='Run pip install "graph-service[excel]".',
        ) from error
    # openpyxl leaves a file open that it cannot read, but not one that it is given.
    with ExitStack() as held:
        with _reading(path, InvalidFileException):
            file = held.enter_context(open(path, "rb"))
            _require_no_bomb(file, path)
            workbook = load_workbook(file, read_only=True, data_only=not formulas)
        held.callback(workbook.close)
        yield workbook


@contextmanager
def _reading(path: str, *errors: type[Exception]) -> Iterator[None]:
    """Turns what openpyxl and zipfile raise of a damaged workbook into ``InputError``."""
    damaged: tuple[type[Exception], ...] = (*_DAMAGED, *errors)
    try:
        yield
    except damaged as error:
        raise InputError(
            f"{path} can't be read as an Excel workbook ({error})",
            argument="source",
            hint=_hint(path),
        ) from error


def _hint(path: str) -> str:
    """Returns what to do with a file that is called a workbook and is none."""
    with open(path, "rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(_OLE):
        return "It is in the old format (.xls), or has a password: save it as .xlsx without one."
    if head.lstrip()[:1] == b"<":
        return "It is HTML or XML: open it in Excel or LibreOffice, and save it as .xlsx."
    if head and b"\0" not in head:
        return "It is text: give it a name that ends in .csv."
    return "It may be cut: copy it or save it again."


def _require_no_bomb(file: BinaryIO, path: str) -> None:
    limits = SourceLimits()
    with ZipFile(file) as archive:
        size = sum(info.file_size for info in archive.infolist())
    packed = file.seek(0, SEEK_END)
    if size > max(limits.ratio_floor_bytes, limits.max_ratio * packed):
        raise InputError(
            f"{path} would unpack to {size:,} bytes, over {limits.max_ratio:g} times its size",
            argument="source",
        )
