"""What is made of tables of things: each file's key, and of each column its relation and type.

A mapping is told by looking at all cells (``loaders.tables.table_look``), and a TOML file may say parts
of it otherwise. ``load --look`` prints one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.errors import InputError
from graph_service.model.identity import key64
from graph_service.model.serialise import to_plain
from loaders.tables.dialect import Dialect

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


AUTO = "auto"
"""As ``--row``: the column that names the rows is told by looking."""
NUMBER = "number"
"""What names the rows of a table where no column does: 1 for the first."""
NAMES = frozenset({"name", "label"})
"""Relations of a column that names the entities of another: ``Supplier Name``, ``countryLabel``."""

Span = tuple[int, int | None]
"""First column of a table in its sheet, and the first after it; None for the end of the row."""
ALL_COLUMNS: Span = (0, None)


class ColumnType(StrEnum):
    """What the cells of a column are."""

    KEY = "key"
    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    YEAR = "year"
    YES_NO = "yes-no"
    ENTITY = "entity"
    TEXT = "text"
    ADDRESS = "address"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """What a column becomes.

    Attributes:
        name: Its header.
        type: Of its values.
        relation: That it states.
        kind: Of ``ENTITY``, what they are instances of; "" for nothing.
        references: Of ``ENTITY``, the table whose things they are.
        by_name: Whether they name these by their names and not by their keys.
        shared: What the ids of its entities begin with, which are those of another column of the table;
            "" where they are its own.
        digits: Of the keys that it names, whose first zeros its cells may lack; 0 if they have all.
        separator: Between the values of a list; "" where a cell is one value.
        unit: Of numbers that are written without one.
        decimal: Decimal mark of numbers that may be two; "" if it is not decided.
        decimal_reason: How one of them is read, as in which other column; "" if the column's own
            cells decide, or a mapping file.
        accounting: Whether numbers may be written as books have them: (5) and 5- for -5, 5,- for 5.
        first: What comes first in dates that may be two, ``day`` or ``month``, by what separates
            them ("" for all); empty if it is not decided.
        of: The column whose entities it describes; "" for the row's thing.
        fill: ``down`` where a cell names the rows below it too, whose cells are empty.
        group_lines: Of such a column, the lines that have a cell, and what it says.
    """

    name: str
    type: ColumnType
    relation: str = ""
    kind: str = ""
    references: str = ""
    by_name: bool = False
    shared: str = ""
    digits: int = 0
    separator: str = ""
    unit: str = ""
    decimal: str = ""
    decimal_reason: str = ""
    accounting: bool = False
    first: Mapping[str, str] = field(default_factory=dict)
    of: str = ""
    fill: str = ""
    group_lines: tuple[tuple[int, str], ...] = ()

    @property
    def space(self) -> str:
        """What the ids of its entities begin with: names are told apart by what they are."""
        return self.shared or self.kind or self.relation

    def order(self, separator: str, /) -> str:
        """Returns what comes first in dates with a separator; "" if it is not decided."""
        return self.first.get(separator, self.first.get("", ""))


@dataclass(frozen=True, slots=True)
class TableMapping:
    """What the rows of a table become.

    Attributes:
        file: Name of the file, as the mapping file says it.
        sheet: Of a workbook.
        kind: What a row is an instance of.
        columns: In their order.
        header_line: Line of the header; the lines before it are no rows.
        last_line: Line of the last row; what follows it are totals and remarks.
        dialect: How a text file is written; None for a workbook or Parquet.
        joins_commas: Whether separators that a space follows are text: in this file no cell of a
            row with as many cells as the header begins with a space.
        is_exact: Whether keys differ by case alone, so that case counts.
        is_link: Whether a row joins two things and is none itself.
        is_numbered: Whether no column names the rows, and each is a thing by its number.
        span: Its columns in the sheet, where several tables stand side by side.
    """

    file: str
    kind: str
    columns: tuple[ColumnMapping, ...]
    sheet: str = ""
    header_line: int = 1
    last_line: int = 0
    dialect: Dialect | None = None
    joins_commas: bool = False
    is_exact: bool = False
    is_link: bool = False
    is_numbered: bool = False
    span: Span = ALL_COLUMNS

    @property
    def key(self) -> ColumnMapping | None:
        """The column that names the rows."""
        return next((column for column in self.columns if column.type is ColumnType.KEY), None)

    def column(self, name: str, /) -> ColumnMapping:
        """Returns the column of a name."""
        return next(column for column in self.columns if column.name == name)

    def with_column(self, column: ColumnMapping, /) -> TableMapping:
        """Returns the table with another mapping of a column."""
        columns = tuple(column if old.name == column.name else old for old in self.columns)
        return replace(self, columns=columns)

    def to_json(self) -> dict[str, Any]:
        """Returns what decides the result, for the store to compare a resumed load with."""
        plain: dict[str, Any] = to_plain(self)
        return plain


@dataclass(frozen=True, slots=True, eq=False)
class PlannedTable:
    """A table that was looked at.

    Attributes:
        path: As it is opened.
        mapping: What its rows become.
        rows: How many.
        keys: Hashes of its keys as ids have them, sorted.
        names: Key by folded name, where other tables name its things; else empty.
        examples, notes: Of each column, cells of it, and what is to be said to people.
        repeated_keys: Rows whose key an earlier row has.
        unjoined: Of columns that may refer to a table and do not, since it lacks many of their
            values: the table.
    """

    path: str
    mapping: TableMapping
    rows: int
    keys: npt.NDArray[np.int64]
    names: Mapping[str, str] = field(default_factory=dict)
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    repeated_keys: int = 0
    unjoined: Mapping[str, str] = field(default_factory=dict)

    def keys_shared_with(self, other: PlannedTable, /) -> int:
        """Returns how many keys are those of rows of another table, which are the same things."""
        import numpy as np

        if self.mapping.kind != other.mapping.kind:
            return 0
        return len(np.intersect1d(self.keys, other.keys, assume_unique=True))

    def knows(self, key: str, /) -> bool:
        """Returns whether a row has a key, as ids have it."""
        hashed = key64(key)
        at = bisect_left(self.keys, hashed)
        return at < len(self.keys) and int(self.keys[at]) == hashed


@dataclass(frozen=True, slots=True, eq=False)
class TablesPlan:
    """What the tables of a source become.

    Attributes:
        tables: In the order they are read.
        labels: The commonest spelling of names that are spelt in several ways, by kind and what is
            the same in them.
    """

    tables: tuple[PlannedTable, ...]
    labels: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows the tables have."""
        return sum(table.rows for table in self.tables)

    def of_path(self, path: str, /) -> list[PlannedTable]:
        """Returns the tables of a file: one, or the sheets of a workbook."""
        return [table for table in self.tables if table.path == path]

    def table(self, name: str, /) -> PlannedTable:
        """Returns the table of a name."""
        return next(table for table in self.tables if table.mapping.file == name)

    def key_columns(self) -> dict[str, str]:
        """Returns the column that names the rows of each table, ``NUMBER`` where rows are named by
        their number; "" where they join two things.
        """
        return {table.mapping.file: _key_of(table.mapping) for table in self.tables}

    def references(self) -> dict[str, str]:
        """Returns the table whose things each column names that refers to one, by the names of
        both the column and its table.
        """
        return {
            f"{column.name} of {table.mapping.file}": column.references
            for table in self.tables
            for column in table.mapping.columns
            if column.references
        }

    def to_json(self) -> list[Any]:
        """Returns what decides the result, for the store to compare a resumed load with."""
        return [table.mapping.to_json() for table in self.tables]


def _key_of(mapping: TableMapping) -> str:
    if mapping.is_numbered:
        return NUMBER
    return "" if mapping.key is None else mapping.key.name


@dataclass(frozen=True, slots=True)
class TableRequest:
    """What a mapping file says of a table.

    Attributes:
        row: The column that names the rows; "" to look.
        kind: What a row is; "" for what the file's name says.
        columns: Of each column that it names, what it says, as fields of ``ColumnMapping``.
    """

    row: str = ""
    kind: str = ""
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TablesRequest:
    """What is said of tables whose rows are things; the rest is told by looking.

    Attributes:
        row: The column that names the rows of every table that has it; "" to look.
        tables: By file name; a sheet of a workbook is ``book.xlsx#Sheet``.
        path: The mapping file; "" for none.
    """

    row: str = ""
    tables: Mapping[str, TableRequest] = field(default_factory=dict)
    path: str = ""

    def of(self, table: str, /) -> TableRequest:
        """Returns what is said of a table."""
        request = self.tables.get(table, TableRequest())
        return request if request.row or not self.row else replace(request, row=self.row)


_TABLE_KEYS = ("row", "class", "columns")
_COLUMN_KEYS = {
    "type": "type",
    "relation": "relation",
    "class": "kind",
    "references": "references",
    "list": "separator",
    "unit": "unit",
    "decimal": "decimal",
    "first": "first",
    "of": "of",
    "fill": "fill",
}
"""Words of a mapping file, and the fields that they are."""


def read_tables_request(path: Path, /) -> TablesRequest:
    """Returns what a mapping file says.

    Raises:
        InputError: The file can't be read, is no TOML, or says something that is not known.
    """
    import tomllib

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"can't read the mapping {path}: {error.strerror}", argument="mapping"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not TOML: {error}", argument="mapping") from error
    tables = content.get("tables")
    if set(content) != {"tables"} or not isinstance(tables, dict):
        raise InputError(
            f'{path} is no mapping of tables: expected [tables."FILE"] and nothing beside, got '
            f"{', '.join(content) or 'nothing'}",
            argument="mapping",
            hint="Print one to edit: graph-service load --look FILE. A mapping with nodes is for a "
            "graph in a Neo4j.",
        )
    return TablesRequest(
        tables={name: _table_request(path, name, table) for name, table in tables.items()},
        path=str(path),
    )


def _table_request(path: Path, name: str, table: Any) -> TableRequest:
    at = f'{path}, [tables."{name}"]'
    _check(at, table, _TABLE_KEYS)
    columns = table.get("columns", {})
    if not isinstance(columns, dict):
        raise InputError(f"{at}: expected columns as a table", argument="mapping")
    return TableRequest(
        row=_text(at, table, "row"),
        kind=_text(at, table, "class"),
        columns={
            column: _column_request(f"{at}, column {column!r}", entry)
            for column, entry in columns.items()
        },
    )


def _column_request(at: str, words: Any) -> dict[str, Any]:
    _check(at, words, tuple(_COLUMN_KEYS))
    request: dict[str, Any] = {}
    for word, value in words.items():
        if word == "first" and isinstance(value, dict):
            orders = value
        else:
            text = _text(at, words, word)
            orders = {"": text} if word == "first" else {}
            request[_COLUMN_KEYS[word]] = text
        if word == "first":
            if not set(orders.values()) <= {"day", "month"}:
                raise InputError(f"{at}: expected first = day or month, got {value!r}")
            request["first"] = orders
    if "type" in request:
        try:
            request["type"] = ColumnType(request["type"])
        except ValueError as error:
            raise InputError(
                f"{at}: {request['type']!r} is no type; known are {', '.join(ColumnType)}",
                argument="mapping",
            ) from error
    if request.get("decimal", ".") not in (".", ","):
        raise InputError(f'{at}: expected decimal = "." or ",", got {request["decimal"]!r}')
    if request.get("fill", "down") not in ("down", "none"):
        raise InputError(f'{at}: expected fill = "down" or "none", got {request["fill"]!r}')
    return request


def _check(at: str, table: Any, known: tuple[str, ...]) -> None:
    if not isinstance(table, dict):
        raise InputError(f"{at}: expected a table, got {table!r}", argument="mapping")
    for word in table:
        if word not in known:
            raise InputError(
                f"{at}: {word!r} is not known; known are {', '.join(known)}", argument="mapping"
            )


def _text(at: str, table: Mapping[str, Any], word: str) -> str:
    value = table.get(word, "")
    if not isinstance(value, str):
        raise InputError(f"{at}: expected a text as {word}, got {value!r}", argument="mapping")
    return value


def column_fields(column: ColumnMapping, /) -> dict[str, Any]:
    """Returns what a mapping file says of a column, but what it need not say."""
    request: dict[str, Any] = {}
    for word, name in _COLUMN_KEYS.items():
        value = getattr(column, name)
        if name == "first":
            value = value.get("", value)
        default = next(each.default for each in fields(ColumnMapping) if each.name == name)
        if value and (name == "type" or value != default):
            request[word] = value
    return request
