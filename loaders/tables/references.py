"""Which columns of tables name the things of other tables, and which describe another column's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from graph_service.errors import InputError
from loaders.items import Parsed
from loaders.source import open_source
from loaders.tables.cells import BLANK_WORDS, clean, folded
from loaders.tables.decide import decide_column, kind_of
from loaders.tables.mapping import NAMES, ColumnMapping, ColumnType
from loaders.tables.number_keys import are_numbers_of, may_name_rows, numbers_of
from loaders.tables.rows import Row
from loaders.tables.table_look import TableLook
from loaders.tables.table_rows import read_table
from loaders.tables.wording import (
    header_words,
    is_id_name,
    is_name_header,
    referred_name,
    relation_name,
)

_KNOWN_SHARE = 0.9
"""So many values of a column must be keys of the table that it names; the others are counted."""
_NEARLY_SHARE = 0.5
"""A column of which the table has so many values, and not enough, is told in the report."""
_MAX_PAIRS = 200_000
_SELF = frozenset(
    [
        "reports to",
        "managed by",
        "manager",
        "supervisor",
        "boss",
        "parent",
        "mother",
        "father",
        "spouse",
        "teacher",
        "mentor",
        "predecessor",
        "successor",
        "replaces",
        "replaced by",
    ]
)
"""Headers that may name a thing of the same table, also by a number."""
_MEASURES = (ColumnType.NUMBER, ColumnType.DATE, ColumnType.YEAR, ColumnType.YES_NO)
_NAMES_OF_ANY = frozenset({"name", "title", "label", "titel", "titre", "column"})
"""Last words of headers under which any thing has its name."""
_LEAST_NAMES = 2
"""So many names of its own table a column with another header must have."""
_LEAST_NAMES_OF_OTHERS = 3
_LEAST_LONG_NAMES_OF_OTHERS = 2
"""And so many of another table; fewer where each is of two words and more."""


def yield_key(table: TableLook, looks: Sequence[TableLook]) -> None:
    """Leaves a key that is another table's, whose things the rows are about.

    In employee-territories.csv each territory may come once; its key is that of
    territories.csv all the same.
    """
    key = table.mapping.key
    if key is None or table.is_key_requested:
        return
    name, kind = relation_name(key.name).lower(), referred_name(key.name).lower()
    others = [
        look
        for look in looks
        if look is not table
        and look.mapping.key is not None
        and look.kind.lower() == kind != table.kind.lower()
        and relation_name(look.mapping.key.name).lower() == name
    ]
    if others:
        decision = decide_column(table.profile(key.name), {})
        table.mapping = table.mapping.with_column(decision.mapping)
        table.own_key = key
        table.owner = others[0]


def name_by_numbers(table: TableLook, looks: Sequence[TableLook]) -> None:
    """Makes a column of numbers the key of a table without one where another column refers to it:
    ``Reports to`` of the same table, or ``Foreman`` of another.
    """
    column = may_name_rows(table)
    if column is None:
        return
    before, notes = table.mapping, dict(table.notes)
    table.use_key(column.name)
    if not any(
        numbers_of(look, other)
        and (
            are_numbers_of(look, other, table)
            or (_names_things_of(look, other, table) and _by_name(look, other, table) is False)
        )
        for look in looks
        for other in look.mapping.columns
    ):
        table.mapping, table.notes = before, notes


def find_references(table: TableLook, looks: Sequence[TableLook]) -> None:
    """Finds which columns name the things of a table."""
    for column in table.mapping.columns:
        request = table.requests.get(column.name, {})
        if column.type in (ColumnType.KEY, ColumnType.NAME, ColumnType.SKIP):
            continue
        if "type" in request and request["type"] is not ColumnType.ENTITY:
            continue
        if "references" in request:
            _refer_as_requested(table, column, request["references"], looks)
            continue
        candidates = [look for look in looks if _names_things_of(table, column, look)]
        if any(_refer_to(table, column, look) for look in candidates):
            continue
        if _refer_to_own_rows(table, column):
            continue
        # A header such as "Account manager" may mean the same table, and mean another.
        others = [look for look in candidates if look is not table]
        if others or not _refer_by_cells(table, column, looks):
            _tell_apart(table, column, candidates or _nearly_named(table, column, looks))


def share_names(table: TableLook) -> None:
    """Makes the names of two columns the same entities where half of them are in both columns.

    Who gives in ``From`` and who gets in ``To`` are people of one kind.
    """
    for column, other in combinations([column.name for column in table.mapping.columns], 2):
        first, second = table.mapping.column(column), table.mapping.column(other)
        if not (_may_share(table, first) and _may_share(table, second)):
            continue
        names = table.profile(column).folded_keys(), table.profile(other).folded_keys()
        common = len(np.intersect1d(*names, assume_unique=True))
        if first.space == second.space or common < max(_LEAST_NAMES, min(map(len, names)) / 2):
            continue
        for each in (first, second):
            table.mapping = table.mapping.with_column(
                replace(
                    each,
                    type=ColumnType.ENTITY,
                    kind=each.kind or kind_of(each.name),
                    shared=first.space,
                )
            )
            table.notes[each.name].append(
                f"the names of {first.name} and of {second.name} are the same things"
            )


def _may_share(table: TableLook, column: ColumnMapping) -> bool:
    """Returns whether a column holds single names that no other table has."""
    counts = table.profile(column.name).cells
    return (
        not (column.references or column.separator or column.of)
        and table.requests.get(column.name, {}).get("type", ColumnType.ENTITY) is ColumnType.ENTITY
        and _has_names(table, column, _LEAST_NAMES)
        and counts.short >= _KNOWN_SHARE * counts.cells
    )


def _refer_to_own_rows(table: TableLook, column: ColumnMapping) -> bool:
    """Makes a column refer to its own table if its cells are names or codes of it; returns whether
    it does.

    ``teacher`` of artists.csv does, and ``Referred by`` of customers.csv with C1, C2 and C3. A
    column that repeats the name of its own row does not.
    Numbers and letters may be keys by chance, so only their header can say it (``_SELF``).
    """
    profile = table.profile(column.name)
    if table.mapping.key is None or not (
        _has_names(table, column, _LEAST_NAMES) or _has_codes(table, column, _LEAST_NAMES_OF_OTHERS)
    ):
        return False
    before, notes = table.mapping, table.notes[column.name]
    if not _refer_to(table, column, table):
        return False
    if profile.is_unique and _repeats_own_names(table, column):
        table.mapping, table.notes[column.name] = before, notes
        return False
    return True


def _has_names(table: TableLook, column: ColumnMapping, least: int) -> bool:
    """Returns whether the cells of a column may be names, at least so many different ones."""
    profile = table.profile(column.name)
    counts = profile.cells
    return (
        column.type in (ColumnType.TEXT, ColumnType.ENTITY)
        and not counts.numbers + counts.coded
        and counts.characters > 2 * counts.cells
        and len(profile.folded_keys()) >= least
    )


def _has_codes(table: TableLook, column: ColumnMapping, least: int) -> bool:
    """Returns whether the cells of a column are codes of letters and digits (``T2``), at least so
    many different ones: single letters are the keys of a table by chance more often.
    """
    cells = table.profile(column.name).distinct
    return (
        column.type in (ColumnType.TEXT, ColumnType.ENTITY)
        and len(cells) >= least
        and all(any(map(str.isalpha, cell)) and any(map(str.isdigit, cell)) for cell in cells)
    )


def _refer_by_cells(table: TableLook, column: ColumnMapping, looks: Sequence[TableLook]) -> bool:
    """Makes a column refer to the one other table whose names its cells are; returns whether it
    does.

    ``Home`` and ``Away`` of matches.csv name clubs. Where the names of two tables are these, the
    header must say which. ``Foreman`` of jobs.csv has the numbers of workers.
    """
    numbered = [look for look in looks if look is not table and are_numbers_of(table, column, look)]
    if len(numbered) == 1 and _refer_to(table, column, numbered[0]):
        return True
    cells = table.profile(column.name)
    # First and last name are a coincidence less often than one word.
    are_long = cells.is_complete and all(" " in cell for cell in cells.distinct)
    least = _LEAST_LONG_NAMES_OF_OTHERS if are_long else _LEAST_NAMES_OF_OTHERS
    if not (_has_names(table, column, least) or _has_codes(table, column, least)):
        return False
    named = [
        look
        for look in looks
        if look is not table
        and look.mapping.key is not None
        and _by_name(table, column, look) is not None
    ]
    return len(named) == 1 and _refer_to(table, column, named[0])


def _repeats_own_names(table: TableLook, column: ColumnMapping) -> bool:
    """Returns whether most cells of a column are the key or the name of their own row."""
    header, key = table.shape.header, table.mapping.key
    index, key_index = header.index(column.name), header.index(key.name) if key else 0
    rows = repeated = 0
    for cells in _rows_again(table):
        cell = folded(cells[index])
        if cell not in BLANK_WORDS:
            rows += 1
            repeated += cell in (folded(cells[key_index]), folded(table.row_name(cells)))
    return 2 * repeated > rows


def _rows_again(table: TableLook) -> Iterable[list[str]]:
    """Yields the cells of each row of a table, which is read once more."""
    ignored: Counter[str] = Counter()
    rows: list[list[str]] = []

    def take(row: Row, _parsed: Parsed) -> None:
        cells = table.shape.cells_of(row, ignored, ignored)
        if cells is not None:
            rows.append(cells)

    with open_source(table.path) as source:
        for _ in read_table(source, table.dialect, table.sheet, {}, take):
            yield from rows
            rows.clear()


def _nearly_named(
    table: TableLook, column: ColumnMapping, looks: Sequence[TableLook]
) -> list[TableLook]:
    """Returns the other tables whose names half of a column's cells are, and too few to refer."""
    if not _has_names(table, column, _LEAST_NAMES):
        return []
    return [
        look
        for look in looks
        if look is not table
        and _NEARLY_SHARE <= _share_of_names(table, column, look) < _KNOWN_SHARE
    ]


def _share_of_names(table: TableLook, column: ColumnMapping, look: TableLook) -> float:
    """Returns which share of a column's values are names of a table's rows; 0 if rows share some."""
    names = look.row_names()
    if names is None:
        return 0.0
    own = np.unique(names.folded_keys())
    return table.share(column, own, None) if len(own) == names.filled else 0.0


def _tell_apart(table: TableLook, column: ColumnMapping, looks: Sequence[TableLook]) -> None:
    """Says that a column names a table whose keys its cells are not.

    Its entities are of another kind than that table's rows.
    """
    for look in looks:
        keys, names = table.share(column, look.keys(), look), _share_of_names(table, column, look)
        share = max(keys, names)
        if look is table and not share:
            continue
        table.notes[column.name].append(
            f"{share:.0%} of its values are {'names' if names > keys else 'keys'} of {look.name}: "
            f'say references = "{look.name}" if they are its things'
        )
        if share >= _NEARLY_SHARE:
            table.unjoined[column.name] = look.name
    owner = next((look for look in looks if look.kind == column.kind), None)
    if (
        owner is None
        or column.type is not ColumnType.ENTITY
        or "kind" in table.requests.get(column.name, {})
    ):
        return
    table.mapping = table.mapping.with_column(replace(column, kind=f"{table.kind} {column.kind}"))


def _refer_as_requested(
    table: TableLook, column: ColumnMapping, name: str, looks: Sequence[TableLook]
) -> None:
    look = next((look for look in looks if name in (look.name, look.kind)), None)
    if look is None or look.mapping.key is None:
        raise InputError(
            f"{table.name}, column {column.name!r}: no table {name!r} with a key; the tables "
            f"are {', '.join(each.name for each in looks)}",
            argument="mapping",
        )
    digits = _missing_zeros(table, column, look)
    by_name = not digits and not table.share(column, look.keys(), look)
    _set_reference(table, column, look, by_name=by_name, digits=digits)


def _names_things_of(table: TableLook, column: ColumnMapping, look: TableLook) -> bool:
    """Returns whether a column's header names the rows of a table."""
    key = look.mapping.key
    if key is None:
        return False
    name = relation_name(column.name).lower()
    base = (referred_name(column.name) or name).lower()
    if look is table:
        # "Parent", "line manager", and "parent category" of categories.
        kind = f" {look.kind.lower()}"
        return any(
            words in _SELF or words.rpartition(" ")[2] in _SELF or words.removesuffix(kind) in _SELF
            for words in (base, name)
        )
    same = name == relation_name(key.name).lower() and (
        bool(referred_name(key.name)) or _has_own_name(table, column)
    )
    noun = referred_name(key.name).lower()
    same = same or (bool(noun) and base == noun)
    return same or base == look.kind.lower() or base.endswith(f" {look.kind.lower()}")


def _has_own_name(table: TableLook, column: ColumnMapping) -> bool:
    """Returns whether names stand under a header that says whose they are: Client, and not Name."""
    counts = table.profile(column.name).cells
    words = header_words(column.name)
    return (
        _has_names(table, column, 1)
        and not counts.dates
        and not is_id_name(column.name)
        and not is_name_header(column.name)
        and words[-1].lower() not in _NAMES_OF_ANY
    )


def _refer_to(table: TableLook, column: ColumnMapping, look: TableLook) -> bool:
    by_name = _by_name(table, column, look)
    digits = 0 if by_name is not None else _missing_zeros(table, column, look)
    if by_name is None and not digits:
        return False
    _set_reference(table, column, look, by_name=bool(by_name), digits=digits)
    return True


def _missing_zeros(table: TableLook, column: ColumnMapping, look: TableLook) -> int:
    """Returns the digits that the keys of a table have, if the cells of a column are these keys
    without the zeros that they begin with; else 0.
    """
    key = look.mapping.key
    if key is None or column.separator:
        return 0
    keys, cells = look.profile(key.name).distinct, table.profile(column.name).distinct
    widths = {len(code) if code.isdecimal() else 0 for code in keys}
    if len(widths) != 1 or not any(code.startswith("0") for code in keys):
        return 0
    [width] = widths
    if not all(cell.isdecimal() for cell in cells):
        return 0
    known = sum(cell.zfill(width) in keys for cell in cells)
    return width if 0 < _KNOWN_SHARE * len(cells) <= known else 0


def _by_name(table: TableLook, column: ColumnMapping, look: TableLook) -> bool | None:
    """Returns whether the cells of a column are the names of a table's rows, not their keys; None
    where they are neither.
    """
    if table.share(column, look.keys(), look) >= _KNOWN_SHARE:
        return False
    return True if _share_of_names(table, column, look) >= _KNOWN_SHARE else None


def _set_reference(
    table: TableLook, column: ColumnMapping, look: TableLook, *, by_name: bool, digits: int = 0
) -> None:
    relation = table.requests.get(column.name, {}).get("relation") or (
        referred_name(column.name) or relation_name(column.name)
    )
    table.mapping = table.mapping.with_column(
        replace(
            column,
            type=ColumnType.ENTITY,
            relation=relation,
            kind=look.kind,
            references=look.name,
            by_name=by_name,
            digits=digits,
            unit="",
            decimal="",
            first={},
        )
    )
    table.notes[column.name] = []


def check_key(table: TableLook) -> None:
    """Makes a table without a key one that joins two things, or whose rows are numbered; or says
    what is missing.

    Rows that say more than which two things they join are things themselves, as orders' lines are
    with their quantities. Rows of names alone are not numbered: they may be statements under an
    unknown header.
    """
    if table.mapping.key is not None:
        return
    joined = [c for c in table.mapping.columns if c.references and not c.separator]
    if len(joined) < 2 and table.own_key is not None and table.owner is not None:
        # More columns about the things of the other table.
        table.kind = table.owner.kind
        table.mapping = replace(
            table.mapping.with_column(table.own_key),
            kind=table.kind,
            is_exact=table.owner.mapping.is_exact,
        )
        return
    types = {column.type for column in table.mapping.columns}
    says_more = any(
        column.type is not ColumnType.SKIP and column not in joined[:2]
        for column in table.mapping.columns
    )
    if (len(joined) > 1 and says_more) or not types.isdisjoint(_MEASURES):
        table.mapping = replace(table.mapping, is_numbered=True)
        return
    if len(joined) < 2:
        shown = ", ".join(table.shape.header[:12])
        raise InputError(
            f"{table.name}: no column names the rows, one value for each; the columns are {shown}",
            argument="row",
            hint='Name it, for instance --row "Part No", or in a mapping file '
            "(graph-service load --look FILE).",
        )
    table.mapping = replace(table.mapping, is_link=True)


def look_again(table: TableLook, looks: Sequence[TableLook]) -> None:
    """Reads a table once more: for names that others refer by, and what describes what."""
    is_referred = any(
        column.references == table.name and column.by_name
        for look in looks
        for column in look.mapping.columns
    )
    described = [] if table.mapping.is_link else list(_describing(table))
    if not described and not is_referred:
        return
    indexes = {column: index for index, column in enumerate(table.shape.header)}
    key = table.mapping.key
    pairs: dict[str, dict[str, str] | None] = {column: {} for column, _, _ in described}
    for cells in _rows_again(table):
        if is_referred and key is not None:
            table.names.setdefault(folded(table.row_name(cells)), clean(cells[indexes[key.name]]))
        for column, of, _ in described:
            known = pairs[column]
            entity, value = folded(cells[indexes[of]]), folded(cells[indexes[column]])
            if known is None or entity in BLANK_WORDS or value in BLANK_WORDS:
                continue
            if known.setdefault(entity, value) != value or len(known) > _MAX_PAIRS:
                pairs[column] = None
    for column, of, relation in described:
        if pairs[column]:
            mapping = replace(table.mapping.column(column), of=of, relation=relation)
            if relation in NAMES:
                mapping = replace(mapping, type=ColumnType.TEXT, kind="")
            table.mapping = table.mapping.with_column(mapping)


def _describing(table: TableLook) -> Iterable[tuple[str, str, str]]:
    """Yields columns whose header begins with another's, that one, and what is left.

    "Supplier City" describes the supplier, if each supplier has one city in all rows.
    """
    entities = [
        column
        for column in table.mapping.columns
        if column.type is ColumnType.ENTITY and not column.separator
    ]
    for column in table.mapping.columns:
        if column.type in (ColumnType.KEY, ColumnType.NAME, ColumnType.SKIP):
            continue
        if column.name in table.requests or column.references or column.separator:
            continue
        words = relation_name(column.name).split()
        for entity in entities:
            of = entity.relation.split()
            if entity is not column and len(words) > len(of) and words[: len(of)] == of:
                yield column.name, entity.name, " ".join(words[len(of) :])
                break
