"""Names of groups of rows: one stands in the first row of its group, and the cells below are empty."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

_FEWEST_GROUPS = _FEWEST_EMPTY = 2
_MOST_GROUPS = 20_000
_GROUPS_PER_EMPTY_CELL = 2
"""A column of groups has at least one empty cell for so many names."""


class GroupNames:
    """Gathers the names of the groups of a column, row by row.

    Args:
        index: Of the column.
        requested: Whether a mapping file says that its cells are names of groups.

    Attributes:
        rows: How many rows each name stands for beside its own.
    """

    def __init__(self, index: int, /, *, requested: bool = False) -> None:
        self._index, self.requested = index, requested
        self._lines: list[tuple[int, str]] = []
        self._begins_empty = False
        self.rows: dict[str, int] = {}
        self._comes_again = False

    def see(self, line: int, cells: Sequence[str], /) -> None:
        """Notes a row."""
        name = cells[self._index].strip()
        if name:
            self._comes_again |= name in self.rows
            self.rows.setdefault(name, 0)
            if len(self._lines) <= _MOST_GROUPS:
                self._lines.append((line, name))
        elif is_detail(cells, self._index):
            if self._lines:
                self.rows[self._lines[-1][1]] += 1
            else:
                self._begins_empty = True

    def lines(self) -> tuple[tuple[int, str], ...]:
        """Returns the line and the name of each group in order; nothing if names are no groups'.

        They are if each is there once, the first row has one, and enough cells below are empty.
        """
        empty = sum(self.rows.values())
        is_grouped = (
            len(self._lines) >= _FEWEST_GROUPS
            and not self._comes_again
            and empty >= _FEWEST_EMPTY
            and _GROUPS_PER_EMPTY_CELL * empty >= len(self._lines)
        )
        if self._begins_empty or len(self._lines) > _MOST_GROUPS:
            return ()
        return tuple(self._lines) if empty and (is_grouped or self.requested) else ()


def is_detail(cells: Sequence[str], index: int, /) -> bool:
    """Returns whether a row without the name of its group is one of the group: it has something
    right after it, as rows of totals have not.
    """
    return bool(cells[index : index + 2][-1].strip())


def group_of(line: int, lines: Sequence[tuple[int, str]], /) -> str:
    """Returns the name of the group of a row.

    >>> group_of(4, ((2, "North"), (5, "South")))
    'North'
    """
    return lines[bisect_right(lines, (line, "\U0010ffff")) - 1][1]
