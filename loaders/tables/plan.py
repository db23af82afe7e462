"""What tables of things become: a first pass over all cells, then keys, types and references.

No table is held: of each column the pass counts what its cells may be, and holds the hashes of its
distinct cells, by which references are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.model.identity import key64
from loaders.files import source_paths
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import STANDARD_INPUT, open_source
from loaders.tables.cells import BLANK_WORDS, clean, folded
from loaders.tables.decide import decide_column
from loaders.tables.dialect import Dialect, check_encoding, recognise_dialect
from loaders.tables.mapping import (
    NAMES,
    ColumnMapping,
    ColumnType,
    PlannedTable,
    TableMapping,
    TablesPlan,
    TablesRequest,
)
from loaders.tables.profile import ColumnProfile, Keys, profiles_of
from loaders.tables.rows import Row
from loaders.tables.table_rows import (
    Shape,
    check_decoded,
    first_rows,
    header_of,
    is_table_name,
    is_workbook,
    may_be_joined,
    read_table,
)
from loaders.tables.wording import (
    class_name,
    header_words,
    is_id_name,
    referred_name,
    relation_name,
)
from loaders.tables.workbook import sheet_names

AUTO = "auto"
"""As ``--row``: the column that names the rows is told by looking."""
# So many values of a column must be keys of the table that it names; the others are counted.
_KNOWN_SHARE = 0.9
_MAX_LATE_ROWS = 20_000
_MAX_PAIRS = 200_000
_SELF = frozenset(
    {"reports to", "manager", "parent", "supervisor", "boss", "predecessor", "successor"}
)


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
        look.yield_key(looks)
    for look in looks:
        look.refer(looks)
    for look in looks:
        look.check_key()
    for look in looks:
        look.look_again(looks)
    return TablesPlan(tuple(look.planned() for look in looks), _labels(looks))


def _look(source: Path, request: TablesRequest, options: LoadOptions) -> Iterable[_Look]:
    paths = source_paths(source)
    is_folder = source.is_dir()
    for path in paths:
        if is_folder and not is_table_name(str(path)):
            continue
        name = path.relative_to(source).as_posix() if is_folder else path.name
        if is_workbook(str(path)):
            sheets = sheet_names(str(path))
            for sheet in sheets:
                look = _Look(str(path), name if len(sheets) == 1 else f"{name}#{sheet}", sheet)
                if look.read(request, options, is_folder=is_folder):
                    yield look
        else:
            look = _Look(str(path), name, "")
            if look.read(request, options, is_folder=is_folder):
                yield look
            elif not is_folder:
                raise InputError(f"{path} holds no rows", argument="source")


class _Look:
    """A table that is being looked at.

    Args:
        path: As it is opened.
        name: Of the file, as a mapping file says it.
        sheet: Of a workbook.
    """

    def __init__(self, path: str, name: str, sheet: str) -> None:
        self.path, self.name, self.sheet = path, name, sheet
        self.rows = 0
        self.profiles: list[ColumnProfile] = []
        self.notes: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._is_key_requested = False
        self._own_key: ColumnMapping | None = None
        self._owner: _Look | None = None

    def read(self, request: TablesRequest, options: LoadOptions, *, is_folder: bool) -> bool:
        """Counts all cells; returns whether there are rows."""
        table = request.of(self.name)
        row_column = "" if table.row == AUTO else table.row
        with open_source(self.path, limits=options.limits) as source:
            dialect: Dialect | None = None
            if not is_workbook(self.path):
                dialect = recognise_dialect(source.head, encoding=check_encoding(options.encoding))
            self.dialect = dialect
            rows = []
            with open_source(self.path, limits=options.limits) as first:
                rows = first_rows(first, dialect, self.sheet)
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
            self._count(source)
        return self.rows > 0

    def _count(self, source: Any) -> None:
        late: list[list[str]] = []
        spaced = False
        ignored: Counter[str] = Counter()

        def take(row: Row, _parsed: Parsed) -> None:
            nonlocal spaced
            if may_be_joined(row.cells, len(self.shape.header)) and len(late) < _MAX_LATE_ROWS:
                late.append(row.cells)
                return
            cells = self.shape.cells_of(row, ignored, ignored)
            if cells is not None:
                spaced = spaced or any(cell.startswith(" ") for cell in cells)
                self._add(cells)

        for parsed in read_table(source, self.dialect, self.sheet, {}, take):
            check_decoded(parsed)
            if parsed.rejects and not (self.rows or late):
                first = parsed.rejects[0]
                raise InputError(
                    f"{first.location}: {first.reason}; the header is taken to be "
                    f"{', '.join(self.shape.header[:8])}",
                    argument="row",
                    hint="Name a column of the header: --row COLUMN.",
                )
        if late and not spaced:
            self.shape = replace(self.shape, joins_commas=True)
            for cells in late:
                joined = self.shape.cells_of(
                    Row(cells, self.shape.header_line + 1, 0), ignored, ignored
                )
                if joined is not None:
                    self._add(joined)
        for profile in self.profiles:
            profile.finish()

    def _add(self, cells: Sequence[str]) -> None:
        self.rows += 1
        for profile, cell in zip(self.profiles, cells, strict=True):
            profile.add(cell)

    def profile(self, name: str) -> ColumnProfile:
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
        self.kind = table.kind or class_name(self.sheet if "#" in self.name else self.name)
        columns: list[ColumnMapping] = []
        for profile in self.profiles:
            decision = decide_column(profile, self.requests.get(profile.name, {}))
            columns.append(decision.mapping)
            self.notes[profile.name] = decision.notes
        self.mapping = TableMapping(
            self.name,
            self.kind,
            tuple(columns),
            sheet=self.sheet,
            header_line=self.shape.header_line,
            dialect=self.dialect,
            joins_commas=self.shape.joins_commas,
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
        self._is_key_requested = bool(key)
        self._set_key(key or self._key())
        self._set_names()

    def _key(self) -> str:
        """Returns the column whose cells name the rows, one each; "" if none tells."""
        unique = [
            profile
            for profile in self.profiles
            if profile.is_unique and profile.filled == self.rows and not profile.doubtful
        ]
        own = self.kind.split()[-1]
        ids = [profile for profile in unique if is_id_name(profile.name)]
        for profile in ids:
            if referred_name(profile.name) in ("", self.kind, own):
                return profile.name
        if unique and unique[0] is self.profiles[0]:
            first = unique[0].cells
            if ids[:1] == unique[:1] or first.short + first.coded >= 0.8 * first.cells:
                return unique[0].name
        return ""

    def _set_key(self, name: str) -> None:
        if not name:
            return
        key = replace(self.mapping.column(name), type=ColumnType.KEY, relation="", kind="")
        self.mapping = self.mapping.with_column(key)
        self.notes[name] = []
        profile = self.profile(name)
        if len(profile.keys()) == len(np.unique(profile.folded_keys())):
            return
        self.mapping = replace(self.mapping, is_exact=True)
        self.notes[name].append("keys differ by case alone, so case counts")

    def yield_key(self, looks: Sequence[_Look]) -> None:
        """Leaves a key that is another table's, whose things the rows are about.

        In employee-territories.csv each territory may come once; its key is that of
        territories.csv all the same.
        """
        key = self.mapping.key
        if key is None or self._is_key_requested:
            return
        name, kind = relation_name(key.name).lower(), referred_name(key.name).lower()
        others = [
            look
            for look in looks
            if look is not self
            and look.mapping.key is not None
            and look.kind.lower() == kind != self.kind.lower()
            and relation_name(look.mapping.key.name).lower() == name
        ]
        if others:
            decision = decide_column(self.profile(key.name), {})
            self.mapping = self.mapping.with_column(decision.mapping)
            self._own_key = key
            self._owner = others[0]

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
            if words in (["name"], ["label"], ["bezeichnung"]):
                best.append((0, column.name))
            elif words[-1] in ("name", "title", "label") and before in names:
                best.append((1, column.name))
            elif words == ["company", "name"]:
                best.append((2, column.name))
            elif words == ["title"] and self.profile(column.name).is_unique:
                best.append((3, column.name))
            elif words[-1] == "description" and before in own:
                best.append((4, column.name))
        if best:
            column = self.mapping.column(min(best)[1])
            self.mapping = self.mapping.with_column(
                replace(column, type=ColumnType.NAME, relation="", kind="", separator="")
            )
            self.notes[column.name] = []

    # References

    def keys(self) -> Keys:
        """Returns the hashes of the keys as ids have them."""
        key = self.mapping.key
        if key is None:
            return np.zeros(0, np.int64)
        profile = self.profile(key.name)
        return profile.keys() if self.mapping.is_exact else np.unique(profile.folded_keys())

    def refer(self, looks: Sequence[_Look]) -> None:
        """Finds which columns name the things of a table."""
        for column in self.mapping.columns:
            request = self.requests.get(column.name, {})
            if column.type in (ColumnType.KEY, ColumnType.NAME, ColumnType.SKIP):
                continue
            if "type" in request and request["type"] is not ColumnType.ENTITY:
                continue
            if "references" in request:
                self._refer_as_requested(column, request["references"], looks)
                continue
            candidates = [look for look in looks if self._names_things_of(column, look)]
            if not any(self._refer_to(column, look) for look in candidates):
                self._tell_apart(column, candidates)

    def _tell_apart(self, column: ColumnMapping, looks: Sequence[_Look]) -> None:
        """Says that a column names a table whose keys its cells are not.

        Its entities are of another kind than that table's rows.
        """
        for look in looks:
            share = self._share(column, look.keys(), look)
            self.notes[column.name].append(
                f"{share:.0%} of its values are keys of {look.name}: say references = "
                f'"{look.name}" if they are its things'
            )
        owner = next((look for look in looks if look.kind == column.kind), None)
        if (
            owner is None
            or column.type is not ColumnType.ENTITY
            or "kind" in self._request_of(column)
        ):
            return
        self.mapping = self.mapping.with_column(replace(column, kind=f"{self.kind} {column.kind}"))

    def _request_of(self, column: ColumnMapping) -> dict[str, Any]:
        return self.requests.get(column.name, {})

    def _refer_as_requested(
        self, column: ColumnMapping, table: str, looks: Sequence[_Look]
    ) -> None:
        look = next((look for look in looks if table in (look.name, look.kind)), None)
        if look is None or look.mapping.key is None:
            raise InputError(
                f"{self.name}, column {column.name!r}: no table {table!r} with a key; the tables "
                f"are {', '.join(each.name for each in looks)}",
                argument="mapping",
            )
        self._set_reference(column, look, by_name=not self._share(column, look.keys(), look))

    def _names_things_of(self, column: ColumnMapping, look: _Look) -> bool:
        """Returns whether a column's header names the rows of a table."""
        key = look.mapping.key
        if key is None:
            return False
        name = relation_name(column.name).lower()
        base = (referred_name(column.name) or name).lower()
        if look is self:
            return base in _SELF or name in _SELF
        same = name == relation_name(key.name).lower() and bool(referred_name(key.name))
        return same or base == look.kind.lower() or base.endswith(f" {look.kind.lower()}")

    def _refer_to(self, column: ColumnMapping, look: _Look) -> bool:
        if self._share(column, look.keys(), look) >= (1.0 if look is self else _KNOWN_SHARE):
            self._set_reference(column, look, by_name=False)
            return True
        name = look.name_column()
        if name is None or look is self:
            return False
        names = look.profile(name)
        is_unique = len(np.unique(names.folded_keys())) == names.filled
        if is_unique and self._share(column, np.unique(names.folded_keys()), None) >= _KNOWN_SHARE:
            self._set_reference(column, look, by_name=True)
            return True
        return False

    def name_column(self) -> str | None:
        """Returns the column that names the rows for people."""
        return next(
            (column.name for column in self.mapping.columns if column.type is ColumnType.NAME), None
        )

    def _share(self, column: ColumnMapping, keys: Keys, look: _Look | None) -> float:
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

    def _set_reference(self, column: ColumnMapping, look: _Look, *, by_name: bool) -> None:
        relation = self.requests.get(column.name, {}).get("relation") or (
            referred_name(column.name) or relation_name(column.name)
        )
        self.mapping = self.mapping.with_column(
            replace(
                column,
                type=ColumnType.ENTITY,
                relation=relation,
                kind=look.kind,
                references=look.name,
                by_name=by_name,
                unit="",
                decimal="",
                first={},
            )
        )
        self.notes[column.name] = []

    def check_key(self) -> None:
        """Makes a table without a key one that joins two things; or says what is missing."""
        if self.mapping.key is not None:
            return
        joined = [c for c in self.mapping.columns if c.references and not c.separator]
        if len(joined) < 2 and self._own_key is not None and self._owner is not None:
            # More columns about the things of the other table.
            self.kind = self._owner.kind
            self.mapping = replace(
                self.mapping.with_column(self._own_key),
                kind=self.kind,
                is_exact=self._owner.mapping.is_exact,
            )
            return
        if len(joined) < 2:
            shown = ", ".join(self.shape.header[:12])
            raise InputError(
                f"{self.name}: no column names the rows, one value for each; the columns are "
                f"{shown}",
                argument="row",
                hint='Name it, for instance --row "Part No", or in a mapping file '
                "(graph-service load --look FILE).",
            )
        self.mapping = replace(self.mapping, is_link=True)

    # The second pass, over the tables that need one

    def look_again(self, looks: Sequence[_Look]) -> None:
        """Reads a table once more: for names that others refer by, and what describes what."""
        name = self.name_column()
        is_referred = any(
            column.references == self.name and column.by_name
            for look in looks
            for column in look.mapping.columns
        )
        described = [] if self.mapping.is_link else list(self._describing())
        if not described and not (is_referred and name):
            return
        indexes = {column: index for index, column in enumerate(self.shape.header)}
        key = self.mapping.key
        pairs: dict[str, dict[str, str] | None] = {column: {} for column, _, _ in described}
        ignored: Counter[str] = Counter()

        def take(row: Row, _parsed: Parsed) -> None:
            cells = self.shape.cells_of(row, ignored, ignored)
            if cells is None:
                return
            if is_referred and name and key is not None:
                own = cells[indexes[key.name]]
                self._names.setdefault(folded(cells[indexes[name]]), clean(own))
            for column, of, _ in described:
                known = pairs[column]
                entity, value = folded(cells[indexes[of]]), folded(cells[indexes[column]])
                if known is None or entity in BLANK_WORDS or value in BLANK_WORDS:
                    continue
                if known.setdefault(entity, value) != value or len(known) > _MAX_PAIRS:
                    pairs[column] = None

        with open_source(self.path) as source:
            for _ in read_table(source, self.dialect, self.sheet, {}, take):
                pass
        for column, of, relation in described:
            if pairs[column]:
                mapping = replace(self.mapping.column(column), of=of, relation=relation)
                if relation in NAMES:
                    mapping = replace(mapping, type=ColumnType.TEXT, kind="")
                self.mapping = self.mapping.with_column(mapping)

    def _describing(self) -> Iterable[tuple[str, str, str]]:
        """Yields columns whose header begins with another's, that one, and what is left.

        "Supplier City" describes the supplier, if each supplier has one city in all rows.
        """
        entities = [
            column
            for column in self.mapping.columns
            if column.type is ColumnType.ENTITY and not column.separator
        ]
        for column in self.mapping.columns:
            if column.type in (ColumnType.KEY, ColumnType.NAME, ColumnType.SKIP):
                continue
            if column.name in self.requests or column.references or column.separator:
                continue
            words = relation_name(column.name).split()
            for entity in entities:
                of = entity.relation.split()
                if entity is not column and len(words) > len(of) and words[: len(of)] == of:
                    yield column.name, entity.name, " ".join(words[len(of) :])
                    break

    def planned(self) -> PlannedTable:
        """Returns the table, looked at."""
        return PlannedTable(
            self.path,
            self.mapping,
            self.rows,
            self.keys(),
            names=self._names,
            examples={profile.name: profile.examples for profile in self.profiles},
            notes=self.notes,
        )


def _labels(looks: Sequence[_Look]) -> dict[tuple[str, str], str]:
    """Returns the commonest spelling of names that are spelt in several ways."""
    spellings: dict[tuple[str, str], Counter[str]] = {}
    for look in looks:
        for column in look.mapping.columns:
            if column.type is not ColumnType.ENTITY or column.references:
                continue
            group = column.kind or column.relation
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
