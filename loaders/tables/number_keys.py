"""Numbers that name rows: the badges of workers.csv, to which ``Foreman`` of jobs.csv refers."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from loaders.tables.mapping import ColumnMapping, ColumnType
from loaders.tables.profile import ColumnProfile
from loaders.tables.table_look import TableLook

_LEAST_NUMBERS = 3
"""So many different numbers of a column must be keys of a table that its header does not name."""
_MOST_CHANCE = 1e-4
"""How probable it may be that they are by chance."""


def may_name_rows(table: TableLook) -> ColumnMapping | None:
    """Returns the first column of a table without a key whose whole numbers differ from row to row;
    None for none.
    """
    if table.mapping.key is not None:
        return None
    columns = (each for each in table.mapping.columns if each.name not in table.requests)
    return next(
        (
            column
            for column in columns
            if table.profile(column.name).is_unique
            and table.profile(column.name).filled == table.rows
            and numbers_of(table, column)
        ),
        None,
    )


def are_numbers_of(table: TableLook, column: ColumnMapping, look: TableLook) -> bool:
    """Returns whether the whole numbers of a column are keys of a table, and hardly by chance: the
    keys are few of the numbers up to the highest, and the column has several.
    """
    key = look.mapping.key
    numbers = numbers_of(table, column)
    if key is None or len(numbers) < _LEAST_NUMBERS:
        return False
    keys = _integers(look.profile(key.name))
    if not numbers <= keys:
        return False
    # Keys 10, 20, 30 are all of the tens up to the highest.
    share = len(keys) * gcd(*keys) / max(1, *keys)
    return share ** len(numbers) < _MOST_CHANCE


def numbers_of(table: TableLook, column: ColumnMapping) -> set[int]:
    """Returns the whole numbers that are all cells of a column; none where it has a unit."""
    if column.type is not ColumnType.NUMBER or column.unit:
        return set()
    return _integers(table.profile(column.name))


def _integers(profile: ColumnProfile) -> set[int]:
    cells: Sequence[str] = [*profile.distinct]
    if not (profile.is_complete and all(cell.isdecimal() for cell in cells)):
        return set()
    return {int(cell) for cell in cells}
