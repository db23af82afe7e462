"""A table of things that is looked at: what its cells may be, its key and its columns.

No table is held: of each column the pass counts what its cells may be, and holds the hashes of its
distinct cells, by which references are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.model.identity import key64
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.packing import refuse_archive
from loaders.refusals import refuse_json, refuse_text_table
from loaders.source import HEAD_BYTES, open_source
from loaders.tables.cells import clean, read_yes_no
from loaders.tables.date_cells import read_date_cell
from loaders.tables.decide import decide_column
from loaders.tables.dialect import Dialect, encoding_of, recognise_dialect
from loaders.tables.end_matter import TableEnd
from loaders.tables.group_names import GroupNames
from loaders.tables.json_rows import is_json_table
from loaders.tables.mapping import (
    ALL_COLUMNS,
    AUTO,
    ColumnMapping,
    ColumnType,
    PlannedTable,
    Span,
    TableMapping,
    TablesRequest,
)
from loaders.tables.number_cells import read_number
from loaders.tables.profile import ColumnProfile, Keys, profiles_of
from loaders.tables.rows import Row
from loaders.tables.side_by_side import SideBySide, part_of
from loaders.tables.table_rows import (
    Shape,
    check_decoded,
    first_rows,
    has_typed_cells,
    header_of,
    is_excel,
    may_be_joined,
    may_be_total,
    read_table,
)
from loaders.tables.wording import (
    class_name,
    compound_name,
    full_name_columns,
    header_words,
    is_designation,
    is_id_name,
    is_kind_name,
    is_name_header,
    is_question,
    is_year_name,
    key_noun,
    referred_name,
    relation_name,
    row_noun,
    same_stem,
    split_unit,
)

_MAX_LATE_ROWS = 20_000
_MIXED = 2
"""A column of which one in so many cells is a number or a date has no names."""
_FEWEST_COLUMNS = 2
"""A header of another table has so many names."""
_SPREAD = 2
"""Numbers of rows are spread over at most so many for each row."""


def _counts_rows(profile: ColumnProfile) -> bool:
    """Returns whether the distinct whole numbers of a first column are of rows, as those of tickets:
    they have no unit, are no years, and nearly follow each other.
    """
    name, unit = split_unit(profile.name)
    if unit or is_year_name(name) or not profile.is_complete:
        return False
    if not all(cell.isdecimal() for cell in profile.distinct):
        return False
    numbers = [int(cell) for cell in profile.distinct]
    return max(numbers) - min(numbers) < _SPREAD * len(numbers)


def _with_own_relations(columns: Sequence[ColumnMapping]) -> list[ColumnMapping]:
    """Returns columns of which two questions about one topic do not state one relation."""
    topics = Counter(column.relation for column in columns if column.relation)
    return [
        replace(column, relation=column.name.lower())
        if topics[column.relation] > 1 and is_question(column.name)
        else column
        for column in columns
    ]


class TableLook:
    """A table that is being looked at.

    Args:
        path: As it is opened.
        name: Of the file, as a mapping file says it.
        sheet: Of a workbook.
        span: Its columns in the sheet.

    Attributes:
        spans: The columns of each table, if several stand side by side; then it is none itself.
    """

    def __init__(self, path: str, name: str, sheet: str, span: Span = ALL_COLUMNS) -> None:
        self.path, self.name, self.sheet, self.span = path, name, sheet, span
        self.spans: list[Span] = []
        self.rows = 0
        self.profiles: list[ColumnProfile] = []
        self.notes: dict[str, list[str]] = {}
        self.names: dict[str, str] = {}
        self._groups: dict[int, GroupNames] = {}
        self._full_name: tuple[int, ...] = ()
        self._full_names = ColumnProfile("")
        self.is_key_requested = False
        self.own_key: ColumnMapping | None = None
        self.owner: TableLook | None = None
        self.unjoined: dict[str, str] = {}

    def read(self, request: TablesRequest, options: LoadOptions, *, is_folder: bool) -> bool:
        """Counts all cells; returns whether there are rows."""
        table = request.of(self.name)
        row_column = "" if table.row == AUTO else table.row
        with open_source(self.path, limits=options.limits) as source:
            dialect: Dialect | None = None
            if is_json_table(self.path):
                complete = len(source.head) < HEAD_BYTES
                refuse_json(source.head, source.name, complete=complete)
            elif not has_typed_cells(self.path):
                refuse_archive(source.head, source.name)
                refuse_text_table(source.head, source.name)
                dialect = recognise_dialect(
                    source.head, encoding=encoding_of(source, options.encoding)
                )
            self.dialect = dialect
            rows = []
            with open_source(self.path, limits=options.limits) as first:
                rows = [part_of(row, self.span) for row in first_rows(first, dialect, self.sheet)]
            if len(rows) < 2:
                return False
            has_column = any(
                clean(cell).casefold() == clean(row_column).casefold()
                for row in rows
                for cell in row.cells
            )
            if is_folder and not has_column and self.name not in request.tables:
                row_column = ""
            header, line = header_of(rows, row_column)
            self.shape = Shape(header, line, dialect.delimiter if dialect else ",")
            self.profiles = profiles_of(header)
            cells = next(row.cells for row in rows if row.line == line)
            self._side_by_side = SideBySide(cells if self.span == ALL_COLUMNS else ())
            # A cell of JSON or Parquet that is empty says nothing.
            if dialect is not None or is_excel(self.path):
                fills = {
                    at: table.columns.get(name, {}).get("fill") for at, name in enumerate(header)
                }
                if fills[0] is None and clean(row_column).casefold() != header[0].casefold():
                    self._groups[0] = GroupNames(0)
                for at, fill in fills.items():
                    if fill == "down":
                        self._groups[at] = GroupNames(at, requested=True)
            self._full_name = full_name_columns([relation_name(name) for name in header])
            self._count(source)
        return self.rows > 0

    def parts(self, request: TablesRequest, options: LoadOptions, /) -> list[TableLook]:
        """Returns the tables that stand side by side, looked at; itself where it is one."""
        looks = [
            TableLook(
                self.path,
                f"{self.name}#{self.profiles[start].name}" if start else self.name,
                self.sheet,
                (start, stop),
            )
            for start, stop in self.spans
        ]
        for look in looks:
            # The column of --row is one table's.
            look.read(request, options, is_folder=True)
        return looks or [self]

    def _count(self, source: Any) -> None:
        late: list[Row] = []
        spaced = False
        ignored: Counter[str] = Counter()
        end = TableEnd(self.shape.header_line)
        others: list[tuple[int, list[str]]] = []

        def take(row: Row, _parsed: Parsed) -> None:
            nonlocal spaced
            row = part_of(row, self.span)
            if may_be_joined(row.cells, len(self.shape.header)) and len(late) < _MAX_LATE_ROWS:
                late.append(row)
                end.see(row)
                return
            cells = self.shape.cells_of(row, ignored, ignored)
            if cells is not None:
                spaced = spaced or any(cell.startswith(" ") for cell in cells)
                self._see_layout(row.line, cells)
                if end.is_after_gap(row) and self._is_other_header(cells):
                    others.append((row.line, [clean(cell) for cell in cells if cell.strip()]))
                is_sum = end.is_after_gap(row) and self._is_sum(cells)
                for held in end.take(row, cells, is_total=is_sum):
                    self._add(held)

        for parsed in read_table(source, self.dialect, self.sheet, {}, take):
            check_decoded(parsed)
            if others:
                [(line, names), *_] = others
                raise InputError(
                    f"{self.name} holds another table from line {line} on, with the columns "
                    f"{', '.join(names[:8])}",
                    argument="format",
                    hint="Write each table into a file or a sheet of its own.",
                )
            if parsed.rejects and not (self.rows or late):
                first = parsed.rejects[0]
                raise InputError(
                    f"{first.location}: {first.reason}; the header is taken to be "
                    f"{', '.join(self.shape.header[:8])}",
                    argument="row",
                    hint="Name a column of the header: --row COLUMN.",
                )
        for held in end.finish():
            self._add(held)
        self.shape = replace(self.shape, last_line=end.last_line)
        if late and not spaced:
            self.shape = replace(self.shape, joins_commas=True)
            for row in late:
                joined = self.shape.cells_of(row, ignored, ignored)
                if joined is not None:
                    self._add(joined)
        self.spans = self._side_by_side.spans()
        self._fill_groups()
        for profile in [*self.profiles, self._full_names]:
            profile.finish()

    def _see_layout(self, line: int, cells: Sequence[str]) -> None:
        """Notes what a row says of tables side by side, and of groups of rows."""
        self._side_by_side.see(cells)
        if not may_be_total(cells):
            for groups in self._groups.values():
                groups.see(line, cells)

    def _fill_groups(self) -> None:
        """Counts the cells below the name of a group as that name."""
        self.group_lines: dict[str, tuple[tuple[int, str], ...]] = {}
        for index, groups in self._groups.items():
            lines = groups.lines()
            if not lines or not (groups.requested or not self.profiles[1].is_measured()):
                # What a group is of has names.
                continue
            profile = self.profiles[index]
            self.group_lines[profile.name] = lines
            profile.blank.subtract({"": sum(groups.rows.values())})
            for name, count in groups.rows.items():
                for _ in range(count):
                    profile.add(name)

    def _is_sum(self, cells: Sequence[str]) -> bool:
        """Returns whether a row after an empty one is what the numbers come to: a word where the others
        have numbers or dates, and numbers alone in a few other columns.
        """
        first, *others = (clean(cell) for cell in cells)
        filled = [cell for cell in others if cell]
        return (
            bool(first and filled)
            and 2 * len(filled) < len(cells)
            and all(map(read_number, filled))
            and read_number(first) is None
            and read_date_cell(first) is None
            and self.profiles[0].is_measured()
        )

    def _is_other_header(self, cells: Sequence[str]) -> bool:
        """Returns whether a row after an empty one is the header of another table: different words,
        of which one stands in a column of numbers or dates.
        """
        filled = [clean(cell) for cell in cells if cell.strip()]
        are_words = not any(
            read_number(cell) or read_date_cell(cell) or read_yes_no(cell) is not None
            for cell in filled
        )
        return (
            are_words
            and len(set(filled)) == len(filled) >= _FEWEST_COLUMNS
            and any(
                cell.strip() and profile.is_measured()
                for cell, profile in zip(cells, self.profiles, strict=True)
            )
        )

    def _add(self, cells: Sequence[str]) -> None:
        self.rows += 1
        for profile, cell in zip(self.profiles, cells, strict=True):
            profile.add(cell)
        if self._full_name:
            self._full_names.add(" ".join(cells[index] for index in self._full_name))

    def profile(self, name: str) -> ColumnProfile:
        """Returns what was counted of a column."""
        return next(profile for profile in self.profiles if profile.name == name)

    def decide(self, request: TablesRequest) -> None:
        """Decides key, names and types."""
        table = request.of(self.name)
        by_name = {profile.name.casefold(): profile.name for profile in self.profiles}
        self.requests: dict[str, dict[str, Any]] = {}
        for column, fields in table.columns.items():
            name = by_name.get(clean(column).casefold())
            if name is None:
                raise InputError(
                    f"{request.path}: {self.name} has no column {column!r}; it has "
                    f"{', '.join(self.shape.header)}",
                    argument="mapping",
                )
            self.requests[name] = dict(fields)
        self.kind = table.kind or self._kind()
        columns: list[ColumnMapping] = []
        for profile in self.profiles:
            decision = decide_column(profile, self.requests.get(profile.name, {}))
            lines = self.group_lines.get(profile.name, ())
            fill = "down" if lines else decision.mapping.fill
            columns.append(replace(decision.mapping, fill=fill, group_lines=lines))
            self.notes[profile.name] = decision.notes
        self.mapping = TableMapping(
            self.name,
            self.kind,
            tuple(_with_own_relations(columns)),
            sheet=self.sheet,
            header_line=self.shape.header_line,
            dialect=self.dialect,
            joins_commas=self.shape.joins_commas,
            last_line=self.shape.last_line,
            span=self.span,
        )
        key = "" if table.row == AUTO else by_name.get(clean(table.row).casefold(), "")
        key = key or next(
            (
                name
                for name, fields in self.requests.items()
                if fields.get("type") is ColumnType.KEY
            ),
            "",
        )
        self.is_key_requested = bool(key)
        self.use_key(key or self._key())

    def _kind(self) -> str:
        """Returns what a row is: what the file or the sheet is called, in the singular; of tables
        side by side, what the first column names.
        """
        if self.span != ALL_COLUMNS and (noun := row_noun(self.profiles[0].name)):
            return noun.lower()
        kind = class_name(self.sheet if "#" in self.name else self.name)
        named = (
            relation_name(profile.name)
            for profile in self.profiles
            if profile.is_unique and is_kind_name(profile.name, kind)
        )
        return next(named, kind)

    def _key(self) -> str:
        """Returns the column whose cells name the rows, one each; "" if none tells."""
        unique = [
            profile
            for profile in self.profiles
            if profile.is_unique and profile.filled == self.rows and not profile.doubtful
        ]
        if (
            self.profiles[0].name in self.group_lines
            and self.profiles[1] in unique
            and not self.profiles[1].is_measured()
        ):
            # What stands beside the names of groups are those that they group.
            return self.profiles[1].name
        own = self.kind.split()[-1]
        ids = [profile for profile in unique if is_id_name(profile.name)]
        for profile in ids:
            if referred_name(profile.name) in ("", self.kind, own):
                return profile.name
        if unique and unique[0] is self.profiles[0]:
            first = unique[0].cells
            if (
                ids[:1] == unique[:1]
                or first.short + first.coded + first.codes >= 0.8 * first.cells
            ):
                return unique[0].name
            if _counts_rows(unique[0]):
                return unique[0].name
        names = [profile.name for profile in unique]
        return next(
            (
                name
                for name in names
                if relation_name(name) == self.kind and self._may_be_numbered(name)
            ),
            "",
        )

    def _may_be_numbered(self, name: str) -> bool:
        """Returns whether a column may have the names of the rows: numbers in the first alone."""
        profile = self.profile(name)
        return profile is self.profiles[0] or not profile.is_measured()

    def use_key(self, name: str) -> None:
        """Makes a column the one that names the rows, if any, and finds that of their labels."""
        if name:
            self._set_key(name)
        self._set_names()

    def _set_key(self, name: str) -> None:
        key = replace(self.mapping.column(name), type=ColumnType.KEY, relation="", kind="")
        self.mapping = self.mapping.with_column(key)
        self.notes[name] = []
        profile = self.profile(name)
        if len(profile.keys()) == len(np.unique(profile.folded_keys())):
            return
        self.mapping = replace(self.mapping, is_exact=True)
        self.notes[name].append("keys differ by case alone, so case counts")

    def _set_names(self) -> None:
        """Sets the column that is the label of the row's thing."""
        if any(column.type is ColumnType.NAME for column in self.mapping.columns):
            return
        key = self.mapping.key
        own = {self.kind, self.kind.split()[-1]}
        names = {*own, "full", "display"}
        if key is not None:
            names.add(referred_name(key.name) or relation_name(key.name))
        best: list[tuple[int, str]] = []
        for column in self.mapping.columns:
            words = [word.lower() for word in header_words(column.name)]
            before = " ".join(words[:-1])
            if column.name in self.requests or column.type is ColumnType.KEY or not words:
                continue
            if words in (["name"], ["label"]) or self._names_rows(column.name):
                best.append((0, column.name))
            elif (
                words[-1] in ("name", "title", "label")
                and before in names
                or " ".join(words) == self.kind
                and self.profile(column.name).is_unique
                and not self.profile(column.name).is_measured()
                and self.profile(column.name).has_letters()
            ) or self._is_own_name(column.name):
                best.append((1, column.name))
            elif is_designation(column.name) and self.profile(column.name).is_unique:
                best.append((4, column.name))
            elif words == ["company", "name"]:
                best.append((2, column.name))
            elif (
                words in (["title"], ["titel"], ["titre"], ["título"], ["titolo"])
                and self.profile(column.name).is_unique
            ):
                best.append((3, column.name))
            elif words[-1] == "description" and before in own:
                best.append((4, column.name))
        if best:
            column = self.mapping.column(min(best)[1])
            self.mapping = self.mapping.with_column(
                replace(column, type=ColumnType.NAME, relation="", kind="", separator="")
            )
            self.notes[column.name] = []

    def _is_own_name(self, name: str) -> bool:
        """Returns whether a compound calls the rows by their name: Kundenname, beside Kundennr."""
        of = compound_name(name)
        key = self.mapping.key
        nouns = [self.kind.split()[-1], *([key_noun(key.name)] if key is not None else [])]
        return bool(of) and any(noun and same_stem(of, noun) for noun in nouns)

    def _names_rows(self, name: str) -> bool:
        """Returns whether a column is called names in some language, and its cells are texts."""
        counts = self.profile(name).cells
        return is_name_header(name) and _MIXED * (counts.numbers + counts.dates) < counts.cells

    def keys(self) -> Keys:
        """Returns the hashes of the keys as ids have them."""
        key = self.mapping.key
        if key is None:
            return np.zeros(0, np.int64)
        profile = self.profile(key.name)
        return profile.keys() if self.mapping.is_exact else np.unique(profile.folded_keys())

    def row_names(self) -> ColumnProfile | None:
        """Returns what was counted of the names that the rows have for people.

        They are the cells of the column of names, or first name and last name.
        """
        name = self._name_column()
        if name is not None:
            return self.profile(name)
        return self._full_names if self._full_name else None

    def row_name(self, cells: Sequence[str], /) -> str:
        """Returns the name that a row has for people; "" if no column has one."""
        name = self._name_column()
        indexes = self._full_name if name is None else (self.shape.header.index(name),)
        return clean(" ".join(cells[index] for index in indexes))

    def _name_column(self) -> str | None:
        return next(
            (column.name for column in self.mapping.columns if column.type is ColumnType.NAME), None
        )

    def share(self, column: ColumnMapping, keys: Keys, look: TableLook | None) -> float:
        """Returns which share of a column's values is among keys."""
        profile = self.profile(column.name)
        separator = column.separator
        if separator and profile.is_complete:
            own = np.array([key64(name) for name in profile.spellings(separator)], np.int64)
        elif look is not None and look.mapping.is_exact:
            own = profile.keys()
        else:
            own = np.unique(profile.folded_keys())
        return float(np.isin(own, keys).mean()) if len(own) else 0.0

    def planned(self) -> PlannedTable:
        """Returns the table, looked at."""
        key, keys = self.mapping.key, self.keys()
        return PlannedTable(
            self.path,
            self.mapping,
            self.rows,
            keys,
            repeated_keys=self.profile(key.name).filled - len(keys) if key is not None else 0,
            unjoined=self.unjoined,
            names=self.names,
            examples={profile.name: profile.examples for profile in self.profiles},
            notes=self.notes,
        )
