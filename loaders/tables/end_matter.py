"""What follows the rows of a table: totals and remarks, which are no things."""

from __future__ import annotations

from collections.abc import Iterator

from loaders.tables.rows import Row
from loaders.tables.table_rows import is_remark, may_be_total

_MOST_HELD = 1_000


class TableEnd:
    """Finds the last row of a table.

    A row of one cell, or of totals, is held back until a row comes after it: then it is a row too.
    At the end it is none if it is one of totals, reads like a remark and no other row does, or if an
    empty row or totals come before it.

    Args:
        line: Of the header.

    Attributes:
        last_line: Line of the last row so far.
    """

    def __init__(self, line: int, /) -> None:
        self.last_line = line
        self._before = Row([], line, 0)
        self._held: list[tuple[Row, list[str], bool]] = []
        self._rows_read_like_remarks = False

    def is_after_gap(self, row: Row, /) -> bool:
        """Returns whether lines without a cell stand between a row and the one before it."""
        before = self._before
        if row.line <= before.line + 1:
            return False
        return row.line > before.line + 1 + sum(cell.count("\n") for cell in before.cells)

    def see(self, row: Row, /) -> None:
        """Notes a row that is taken later."""
        self.last_line = row.line
        self._before = row

    def take(self, row: Row, cells: list[str], /, *, is_total: bool = False) -> Iterator[list[str]]:
        """Yields the cells of the rows that are rows for sure now.

        Args:
            row: The row.
            cells: As many as the header has.
            is_total: Whether it is one of totals if no row follows; told by its words too.
        """
        is_total = is_total or may_be_total(cells)
        is_lone = len(cells) > 1 and sum(map(bool, map(str.strip, cells))) == 1
        is_after_gap = self.is_after_gap(row)
        self._before = row
        if (is_lone or is_total) and len(self._held) < _MOST_HELD:
            after = is_after_gap or bool(self._held and self._held[-1][2])
            text = next(cell for cell in cells if cell.strip())
            reads_like_remark = is_remark(text) and not self._rows_read_like_remarks
            self._held.append((row, cells, is_total or after or reads_like_remark))
            return
        yield from self._release()
        self.last_line = row.line
        if not self._rows_read_like_remarks:
            self._rows_read_like_remarks = is_remark(next(filter(str.strip, cells), ""))
        yield cells

    def finish(self) -> Iterator[list[str]]:
        """Yields the cells of the rows that were held back and are rows after all."""
        while self._held and self._held[-1][2]:
            self._held.pop()
        yield from self._release()

    def _release(self) -> Iterator[list[str]]:
        for row, cells, _ in self._held:
            self.last_line = row.line
            yield cells
        self._held.clear()
