"""Tables of things as a source: a row a thing, a column a relation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote

from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE
from graph_service.model.identity import check_text, key64, normalise_entity_id
from graph_service.model.statement import EntityKind, Snak
from graph_service.model.values import EntityValue, Iri, StringValue, Value
from graph_service.query.label_words import plural
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import ByteSource
from loaders.tables.cells import (
    BLANK_WORDS,
    DOUBTFUL_WORDS,
    NESTED,
    OUTLINE,
    TICK_LETTERS,
    UNSTORED,
    clean,
    folded,
    is_address,
    read_yes_no,
)
from loaders.tables.date_cells import read_date_cell, read_year
from loaders.tables.group_names import group_of, is_detail
from loaders.tables.mapping import (
    NAMES,
    ColumnMapping,
    ColumnType,
    PlannedTable,
    TableMapping,
    TablesPlan,
)
from loaders.tables.number_cells import Mark, quantity, read_number
from loaders.tables.profile import split_list
from loaders.tables.rows import Row, RowError, row_statement
from loaders.tables.side_by_side import part_of
from loaders.tables.table_rows import Shape, read_table
from loaders.tables.wording import file_words, full_name_columns, row_noun
from loaders.terms import TermGatherer

_DIGESTS = 2**32


def read_things(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields the rows of a file as things, as the plan of the load says.

    Raises:
        InputError: The load has no plan.
    """
    plan = options.tables
    if plan is None:
        raise InputError(
            f"{source.name} is read as rows that are things, and nothing says which column names "
            "them",
            argument="row",
            hint="Name it, for instance --row id, or --row auto.",
        )
    tables = plan.of_path(source.name)
    sheets = [list(group) for _, group in groupby(tables, key=lambda table: table.mapping.sheet)]
    first = int(start.get("table", 0))
    for index, group in enumerate(sheets):
        if index < first:
            continue
        begin = start if index == first else {}
        reader = _SheetReader(
            [_ThingReader(plan, table, options, is_begun=bool(begin)) for table in group]
        )
        mapping = group[0].mapping
        for parsed in read_table(
            source, mapping.dialect, mapping.sheet, begin, reader.take, reader.finish
        ):
            if len(sheets) > 1:
                parsed.position = {**parsed.position, "table": index}
            yield parsed


@dataclass(frozen=True, slots=True)
class _SheetReader:
    """Reads the tables of a sheet: one, or several side by side."""

    tables: Sequence[_ThingReader]

    def take(self, row: Row, parsed: Parsed) -> None:
        """Adds a row to a block.

        Raises:
            RowError: A table can't take its part; the others have taken theirs.
        """
        problems: list[RowError] = []
        for table in self.tables:
            try:
                table.take(row, parsed)
            except RowError as error:
                problems.append(error)
        if problems:
            raise problems[0]

    def finish(self, parsed: Parsed) -> None:
        """Adds the names that were gathered since the last time."""
        for table in self.tables:
            table.finish(parsed)


@dataclass(frozen=True, slots=True)
class _Ids:
    """Makes ids of things: their kind, a slash, and their key or name."""

    base_iri: str | None

    def id_of(self, kind: str, key: str) -> str:
        """Returns the id of a thing; an address is its own id."""
        if is_address(key):
            return normalise_entity_id(key)
        id_ = f"{kind}/{key}"
        return f"{self.base_iri}{quote(id_)}" if self.base_iri else id_

    def relation(self, name: str) -> str:
        """Returns the id of a relation."""
        return f"{self.base_iri}{quote(name)}" if self.base_iri else name


class _ThingReader:
    """Makes statements and names of the rows of one table."""

    def __init__(
        self, plan: TablesPlan, table: PlannedTable, options: LoadOptions, *, is_begun: bool
    ) -> None:
        mapping = table.mapping
        header = tuple(column.name for column in mapping.columns)
        delimiter = mapping.dialect.delimiter if mapping.dialect else ","
        self._shape = Shape(
            header, mapping.header_line, delimiter, mapping.joins_commas, mapping.last_line
        )
        self._table, self._mapping, self._plan = table, mapping, plan
        self._ids = _Ids(options.base_iri)
        self._language = options.label_language
        self._terms = TermGatherer()
        self._is_begun = is_begun
        self._cells = [_CellReader(column, self) for column in mapping.columns]
        self._index = {column.name: index for index, column in enumerate(mapping.columns)}
        self._named = {column.of for column in mapping.columns if column.relation in NAMES}
        key = mapping.key
        self._key = self._index[key.name] if key is not None else None
        self._names = [
            index for index, column in enumerate(mapping.columns) if column.type is ColumnType.NAME
        ]
        self._filled = [
            (index, column) for index, column in enumerate(mapping.columns) if column.group_lines
        ]
        self._row_nouns = _row_nouns(plan, mapping)
        self._full_name = full_name_columns([column.relation for column in mapping.columns])
        joined = [
            index
            for index, column in enumerate(mapping.columns)
            if column.references and not column.separator
        ]
        self._joined = joined[:2]

    def count_unjoined(self, column: ColumnMapping, parsed: Parsed) -> None:
        """Counts a value that names no thing of the table that its header names."""
        if column.name in self._table.unjoined and not column.references:
            table_name = self._table.unjoined[column.name]
            parsed.kept[
                f"cells of {column.name} not joined to {table_name}, which lacks many of them; "
                "references in a mapping of tables joins them"
            ] += 1

    # Entities

    def name_entity(self, id_: str, name: str) -> None:
        """Gives an entity its label; an address is none."""
        if is_address(name):
            return
        self._terms.of(id_).add_label(self._language, name)

    def entity(self, column: ColumnMapping, name: str, parsed: Parsed) -> EntityValue:
        """Returns the entity of a cell, with its label and what it is."""
        if column.references:
            return self._referred(column, name, parsed)
        same = folded(name)
        id_ = self._ids.id_of(column.space, same)
        label = self._plan.labels.get((column.space, same), name)
        if label != name:
            parsed.kept[
                f"cells of {column.name} joined with names that differ in case or spaces"
            ] += 1
        if column.name not in self._named:
            self.name_entity(id_, label)
        if column.kind:
            self.add_kind(id_, column.kind, parsed)
        return EntityValue(id_)

    def _referred(self, column: ColumnMapping, name: str, parsed: Parsed) -> EntityValue:
        table = self._plan.table(column.references)
        same = folded(name)
        if column.by_name:
            key = table.names.get(same)
            if key is None:
                parsed.kept[f"cells of {column.name} that {column.references} does not have"] += 1
                id_ = self._ids.id_of(column.kind, same)
                self.name_entity(id_, name)
                return EntityValue(id_)
        else:
            key = name.zfill(column.digits)
            if key != name:
                reason = f"keys of {column.references} that begin with zeros"
                parsed.kept[f"cells of {column.name} joined with {reason}"] += 1
        own = key if table.mapping.is_exact else folded(key)
        id_ = self._ids.id_of(column.kind, own)
        if not table.knows(own):
            parsed.kept[f"cells of {column.name} that {column.references} does not have"] += 1
            self.name_entity(id_, name)
        return EntityValue(id_)

    def add_kind(self, id_: str, kind: str, parsed: Parsed) -> None:
        """States what an entity is."""
        class_id = self._ids.id_of("class", kind)
        parsed.statements.append(row_statement(id_, RDF_TYPE, EntityValue(class_id)))

    # Rows

    def take(self, row: Row, parsed: Parsed) -> None:
        """Adds a row to a block.

        Raises:
            RowError: The row has no key, or too many cells or too few.
        """
        row = part_of(row, self._mapping.span)
        # Of tables side by side, the first counts the rows that are none.
        counts = parsed.skipped if self._mapping.span[0] == 0 else Counter[str]()
        cells = self._shape.cells_of(row, counts, parsed.kept)
        if cells is None:
            return
        for index, column in self._filled:
            if not cells[index].strip() and is_detail(cells, index):
                cells[index] = group_of(row.line, column.group_lines)
                parsed.kept[f"empty cells of {column.name} filled with the cell above"] += 1
        texts = [cell.strip() if "\n" in cell else clean(cell) for cell in cells]
        for text in texts:
            check_text(text, what="a cell")
        if self._mapping.is_numbered:
            number = str(row.line - self._mapping.header_line)
            # Another file of that name has other rows of that number.
            digest = key64("\0".join(texts)) % _DIGESTS
            self._take_thing(texts, number, f"{number}-{digest:08x}", parsed)
        elif self._key is None:
            self._take_link(texts, parsed)
        else:
            key = texts[self._key]
            if key.lower() in BLANK_WORDS:
                raise RowError(f"the row has no {self._mapping.columns[self._key].name}")
            self._take_thing(texts, key, key if self._mapping.is_exact else folded(key), parsed)

    def _take_thing(self, cells: list[str], key: str, own_id: str, parsed: Parsed) -> None:
        kind = self._mapping.kind
        id_ = self._ids.id_of(kind, own_id)
        self._add_names(id_, key, cells)
        self.add_kind(id_, kind, parsed)
        heads: dict[str, str] = {}
        later: list[int] = []
        for index, column in enumerate(self._mapping.columns):
            if column.of:
                later.append(index)
                continue
            for value in self._cells[index].values(cells[index], parsed):
                relation = self._ids.relation(column.relation)
                parsed.statements.append(row_statement(id_, relation, value))
                if isinstance(value, EntityValue):
                    heads[column.name] = value.id
        for index in later:
            column = self._mapping.columns[index]
            for value in self._cells[index].values(cells[index], parsed):
                head = heads.get(column.of)
                if head is None:
                    parsed.skipped[f"cells of {column.name} without a {column.of}"] += 1
                    continue
                if column.relation in NAMES and isinstance(value, StringValue):
                    self.name_entity(head, value.text)
                    continue
                relation = self._ids.relation(column.relation)
                parsed.statements.append(row_statement(head, relation, value))

    def _add_names(self, id_: str, key: str, cells: list[str]) -> None:
        terms = self._terms.of(id_)
        names = [cells[index] for index in self._names]
        if self._full_name and not names:
            names = [" ".join(cells[index] for index in self._full_name).strip()]
        names = [name for name in names if name.lower() not in BLANK_WORDS]
        own = [] if is_address(key) else [key]
        shown = [f"{self._mapping.kind} {key}"] if self._mapping.is_numbered else own
        label, *others = [*names, *shown] or [""]
        if label:
            terms.add_label(self._language, label)
        for other in others:
            # A bare number is no name.
            if not other.isdecimal():
                terms.add_alias(self._language, other)
        if own:
            for noun in (self._mapping.kind, *self._row_nouns):
                terms.add_alias(self._language, f"{noun} {key}")

    def _take_link(self, cells: list[str], parsed: Parsed) -> None:
        endpoints = []
        for index in self._joined:
            values = self._cells[index].values(cells[index], parsed)
            if len(values) != 1:
                raise RowError(f"the row has no {self._mapping.columns[index].name}")
            endpoints.append(values[0])
        head, tail = endpoints
        assert isinstance(head, EntityValue)
        qualifiers = tuple(
            Snak(self._ids.relation(column.relation), value)
            for index, column in enumerate(self._mapping.columns)
            if index not in self._joined
            for value in self._cells[index].values(cells[index], parsed)
        )
        relation = self._ids.relation(self._mapping.columns[self._joined[1]].relation)
        parsed.statements.append(row_statement(head.id, relation, tail, qualifiers=qualifiers))

    def finish(self, parsed: Parsed) -> None:
        """Adds the names that were gathered since the last time, and once those of relations."""
        if not self._is_begun:
            self._is_begun = True
            if self._key is not None and self._table.repeated_keys:
                name = self._mapping.columns[self._key].name
                parsed.kept[
                    f"rows of {self._mapping.file} whose {name} an earlier row has, one thing with it"
                ] += self._table.repeated_keys
            self._count_shared_keys(parsed)
            kinds = set() if self._mapping.is_link else {self._mapping.kind}
            self._terms.name_instance_relation(
                column.relation
                for column in self._mapping.columns
                if column.type is not ColumnType.SKIP
            )
            for column in self._mapping.columns:
                if column.type in (ColumnType.KEY, ColumnType.NAME, ColumnType.SKIP):
                    continue
                terms = self._terms.of(self._ids.relation(column.relation))
                terms.kind = EntityKind.PROPERTY
                terms.add_label(self._language, column.relation)
                if column.type is ColumnType.ENTITY and column.kind:
                    kinds.add(column.kind)
            for kind in sorted(kinds):
                terms = self._terms.of(self._ids.id_of("class", kind))
                terms.add_label(self._language, kind)
                nouns: list[str] = []
                if kind == self._mapping.kind:
                    # A German plural is the file's.
                    nouns = [file_words(self._mapping.sheet or self._mapping.file)]
                    nouns += [name for noun in self._row_nouns for name in (noun, plural(noun))]
                for name in (plural(kind), *nouns):
                    if name != kind:
                        terms.add_alias(self._language, name)
        parsed.entities.extend(self._terms.take())

    def _count_shared_keys(self, parsed: Parsed) -> None:
        """Counts the keys that an earlier table of the same kind of things has too."""
        for other in self._plan.tables:
            if other is self._table:
                return
            shared = self._table.keys_shared_with(other)
            if shared:
                parsed.kept[
                    f"keys of {self._mapping.file} that {other.mapping.file} has too, one thing each"
                ] += shared


def _row_nouns(plan: TablesPlan, mapping: TableMapping) -> Sequence[str]:
    """Returns other names of what a row is: by the header of its key, if nothing else has that name."""
    noun = row_noun(mapping.key.name) if mapping.key is not None else ""
    taken = {
        name
        for table in plan.tables
        for name in (
            table.mapping.kind,
            *(
                word
                for column in table.mapping.columns
                # A column that names these rows may be called as they are.
                if column.references != mapping.file
                for word in (column.kind, column.relation)
            ),
        )
    }
    return (noun,) if noun and noun not in taken else ()


def _blank_reason(cell: str, column: str) -> str:
    """Returns as what a cell that says nothing is counted."""
    if cell == UNSTORED:
        return (
            "formulas without a stored result; open the workbook in Excel or LibreOffice, save it "
            "and load it again"
        )
    if cell == NESTED:
        return (
            f"cells of {column} that are lists of objects; write these as a table of their own, with "
            "a column that names this one"
        )
    if cell == OUTLINE:
        return "shapes of GeoJSON that are no point"
    return f"cells that say {cell!r}" if cell else "empty cells"


def _may_be_two(cell: str) -> bool:
    """Returns whether a cell is a number that may be two without its column."""
    number = read_number(cell)
    return number is not None and number.mark is Mark.EITHER


class _CellReader:
    """Makes values of the cells of one column."""

    def __init__(self, column: ColumnMapping, things: _ThingReader) -> None:
        self._column, self._things = column, things
        self._read: Callable[[str], Value | None] | None = {
            ColumnType.NUMBER: self._number,
            ColumnType.DATE: self._date,
            ColumnType.YEAR: self._year,
            ColumnType.YES_NO: self._yes_no,
            ColumnType.ADDRESS: self._address,
        }.get(column.type)

    def values(self, cell: str, parsed: Parsed) -> list[Value]:
        """Returns the values of a cell; what says nothing is counted."""
        column = self._column
        if column.type in (ColumnType.KEY, ColumnType.NAME) and cell != UNSTORED:
            return []
        word = cell.lower()
        if word in BLANK_WORDS:
            parsed.skipped[_blank_reason(cell, column.name)] += 1
            return []
        if column.type is ColumnType.SKIP:
            parsed.skipped[f"cells of {column.name}, which is left out"] += 1
            return []
        if word in DOUBTFUL_WORDS and column.type is not ColumnType.TEXT:
            parsed.skipped[f"cells that say {cell!r}"] += 1
            return []
        values: list[Value] = []
        parts = split_list(cell, column.separator) if column.separator else [cell]
        if not parts:
            parsed.skipped["empty lists"] += 1
        for part in parts:
            if part.lower() not in BLANK_WORDS:
                value = self._value(part, parsed)
                if value not in values:
                    values.append(value)
        return values

    def _value(self, cell: str, parsed: Parsed) -> Value:
        column = self._column
        self._things.count_unjoined(column, parsed)
        if column.type is ColumnType.ENTITY:
            return self._things.entity(column, clean(cell), parsed)
        if self._read is None:
            return StringValue(cell)
        value = self._read(cell)
        if value is None:
            value = StringValue(cell)
            what = self._doubt(cell)
            parsed.kept[f"cells of {column.name} that {what}, kept as text"] += 1
        elif column.decimal_reason and _may_be_two(cell):
            parsed.kept[
                f"cells of {column.name} that may be two numbers, {column.decimal_reason}"
            ] += 1
        return value

    def _doubt(self, cell: str) -> str:
        """Returns why a cell has no value of its column's type."""
        type_ = self._column.type
        number = read_number(cell) if type_ is ColumnType.NUMBER else None
        if number is not None and number.is_known_unit and not number.is_accounting:
            return "may be two numbers"
        if type_ is ColumnType.DATE and read_date_cell(cell) is not None:
            return "may be two dates"
        return f"are no {type_}"

    def _number(self, cell: str) -> Value | None:
        number = read_number(cell)
        if number is None or not (number.is_known_unit or number.unit == self._column.unit):
            return None
        if number.is_accounting and not self._column.accounting:
            return None
        return quantity(number, decimal=self._column.decimal, unit=self._column.unit)

    def _date(self, cell: str) -> Value | None:
        date = read_date_cell(cell) or read_year(cell)
        return None if date is None else date.time(self._column.order(date.separator))

    def _year(self, cell: str) -> Value | None:
        year = read_year(cell)
        return None if year is None else year.time("")

    def _yes_no(self, cell: str) -> Value | None:
        answer = True if cell in TICK_LETTERS else read_yes_no(cell)
        return None if answer is None else StringValue("true" if answer else "false", "boolean")

    def _address(self, cell: str) -> Value | None:
        return Iri(cell) if is_address(cell) else None
