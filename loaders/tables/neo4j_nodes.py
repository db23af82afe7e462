"""Node files of ``neo4j-admin database import``: a row a node, whose header types its columns.

``movieId:ID(Movie),title,year:int,tags:string[],:LABEL``: the row is an entity, its labels are
classes, and each property is a statement. The files of relationships (``:START_ID``, ``:END_ID``,
``:TYPE``) are tables of statements, and name nodes by the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_service.model.classes import RDF_TYPE
from graph_service.model.identity import check_text
from graph_service.model.statement import EntityKind
from graph_service.model.values import EntityValue, Quantity, StringValue, Value
from graph_service.query.label_words import plural
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf.values import decimal_text
from loaders.source import ByteSource
from loaders.tables.date_cells import read_date_cell
from loaders.tables.dialect import Dialect
from loaders.tables.rows import ColumnsError, Row, RowError, cell_id, read_rows, row_statement
from loaders.terms import TermGatherer

_LIST = ";"
"""What neo4j-admin separates labels and elements of arrays by, unless it is told otherwise."""
_COLUMN = re.compile(
    r"(?P<name>[^:]*):(?P<type>\w+)(?P<array>\[\])?(?:\((?P<space>[^()]*)\))?(?:\{[^{}]*\})?"
)
_NUMBERS = frozenset({"int", "integer", "long", "float", "double", "byte", "short"})
_DATES = frozenset({"date", "datetime", "localdatetime"})
_NAMES = ("name", "title", "label")
"""Properties that are a node's label, the best first."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a node file.

    Attributes:
        index: Of the column.
        name: Of the property; "" for labels and for ids that are no property.
        type: As the header has it, in lower case; ``string`` without one.
        is_array: Whether a cell has several values.
        space: Of ids, the name of the id space.
    """

    index: int
    name: str
    type: str = "string"
    is_array: bool = False
    space: str = ""


def is_node_header(cells: Sequence[str], /) -> bool:
    """Returns whether a first row is that of a node file: a column is ``:ID`` or ``name:ID``.

    >>> is_node_header(["personId:ID(Person)", "name", ":LABEL"])
    True
    >>> is_node_header([":START_ID", ":END_ID", ":TYPE"])
    False
    """
    return any(column.type == "id" for column in _columns(cells))


def read_nodes(
    source: ByteSource,
    dialect: Dialect,
    header: Sequence[str],
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
) -> Iterator[Parsed]:
    """Yields the nodes of a file: their labels as classes, their properties as statements.

    Raises:
        ColumnsError: Several columns are ids.
    """
    reader = _NodeReader(source.name, header, dialect, options, is_begun=bool(start))
    yield from read_rows(source, start, dialect, reader.take, reader.finish)


def _columns(cells: Sequence[str]) -> list[_Column]:
    columns = []
    for index, cell in enumerate(cells):
        text = cell.strip()
        match = _COLUMN.fullmatch(text)
        if match is None:
            columns.append(_Column(index, text))
            continue
        columns.append(
            _Column(
                index,
                match["name"].strip(),
                match["type"].lower(),
                is_array=bool(match["array"]),
                space=match["space"] or "",
            )
        )
    return columns


class _NodeReader:
    """Makes statements and names of the rows of a node file."""

    def __init__(
        self,
        name: str,
        header: Sequence[str],
        dialect: Dialect,
        options: LoadOptions,
        *,
        is_begun: bool,
    ) -> None:
        columns = _columns(header)
        ids = [column for column in columns if column.type == "id"]
        if len(ids) != 1:
            raise ColumnsError(
                f"{name} has {len(ids)} columns of ids ({', '.join(header)}); expected one",
                argument="columns",
            )
        self._id = ids[0]
        self._labels = [column for column in columns if column.type == "label"]
        self._properties = [
            column
            for column in columns
            if column.name and column.type not in ("id", "label", "ignore")
        ]
        self._ignored = [column for column in columns if column.type == "ignore"]
        by_name = {column.name.lower(): column for column in reversed(self._properties)}
        self._name = next((by_name[each] for each in _NAMES if each in by_name), None)
        self._width = len(columns)
        self._header_line = dialect.first_line
        self._base_iri = options.base_iri
        self._language = options.label_language
        self._terms = TermGatherer()
        self._classes: set[str] = set()
        self._is_begun = is_begun

    def take(self, row: Row, parsed: Parsed) -> None:
        """Adds a row to a block.

        Raises:
            RowError: The row has no id, or too many cells or too few.
        """
        cells = [cell.strip() for cell in row.cells]
        if row.line == self._header_line or cells == [""]:
            return
        if len(cells) != self._width:
            raise RowError(f"expected {self._width} columns, got {len(cells)}")
        key = cells[self._id.index]
        if not key:
            raise RowError("the node has no id")
        space = f"{self._id.space}/" if self._id.space else ""
        for cell in cells:
            check_text(cell, what="a cell")
        id_ = cell_id(f"{space}{key}", self._base_iri)
        label = cells[self._name.index] if self._name is not None else ""
        self._terms.of(id_).add_label(self._language, label or key)
        for column in self._labels:
            for name in _parts(cells[column.index]):
                class_id = self._class(name)
                parsed.statements.append(row_statement(id_, RDF_TYPE, EntityValue(class_id)))
        for column in self._properties:
            if column is self._name:
                continue
            cell = cells[column.index]
            for part in _parts(cell) if column.is_array else [cell] if cell else []:
                relation = cell_id(column.name, self._base_iri)
                value = _value(part, column, parsed)
                parsed.statements.append(row_statement(id_, relation, value))
        for column in self._ignored:
            if cells[column.index]:
                parsed.skipped[f"cells of the column {column.name}, which is ignored"] += 1

    def _class(self, name: str) -> str:
        id_ = cell_id(f"class/{name}", self._base_iri)
        if name not in self._classes:
            self._classes.add(name)
            terms = self._terms.of(id_)
            terms.add_label(self._language, name)
            if plural(name) != name:
                terms.add_alias(self._language, plural(name))
        return id_

    def finish(self, parsed: Parsed) -> None:
        """Adds the names that were gathered since the last time, and once those of properties."""
        if not self._is_begun:
            self._is_begun = True
            self._terms.name_instance_relation(column.name for column in self._properties)
            for column in self._properties:
                if column is not self._name:
                    terms = self._terms.of(cell_id(column.name, self._base_iri))
                    terms.kind = EntityKind.PROPERTY
                    terms.add_label(self._language, column.name)
        parsed.entities.extend(self._terms.take())


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(_LIST) if part.strip()]


def _value(cell: str, column: _Column, parsed: Parsed) -> Value:
    """Returns the value of a cell by its column's type; text where it is none of that type."""
    value: Value | None = StringValue(cell)
    if column.type in _NUMBERS:
        amount = decimal_text(cell)
        value = None if amount is None else Quantity(amount)
    elif column.type in _DATES:
        date = read_date_cell(cell)
        value = None if date is None else date.time("")
    elif column.type == "boolean":
        # As neo4j-admin reads it: what is not true is false.
        value = StringValue("true" if cell.lower() == "true" else "false", "boolean")
    if value is None:
        parsed.kept[f"cells of {column.name} that are no {column.type}, kept as text"] += 1
        return StringValue(cell)
    return value
