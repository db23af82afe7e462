"""The rows that an endpoint sent for a piece of the walk, and what became of each.

Rows are counted where answers come in, apart from the walk that takes them: a row that is neither
taken nor left out on purpose shows at the end of the load.
"""

from __future__ import annotations

from collections.abc import Iterable

from loaders.sparql.terms import Row


class ArrivedRows:
    """The distinct rows of a piece: those that came, and those that were left out on purpose.

    Rows are held as hashes, so that what is too large to be held as rows can be counted.
    """

    def __init__(self) -> None:
        self._arrived: set[int] = set()
        self._left_out: set[int] = set()
        self._taken: set[int] = set()

    def begin(self) -> None:
        """Forgets the rows of the piece before."""
        self._arrived.clear()
        self._left_out.clear()
        self._taken.clear()

    def arrive(self, rows: Iterable[Row], /) -> None:
        """Notes the rows of an answer; rows that come again count once."""
        self._arrived.update(map(hash, rows))

    def leave_out(self, rows: Iterable[Row], /) -> None:
        """Notes rows that the walk does not take, such as those that lead to a hub."""
        self._left_out.update(map(hash, rows))

    def take(self, rows: Iterable[Row], /) -> None:
        """Notes rows that the walk takes: it counts what becomes of each."""
        self._taken.update(map(hash, rows))

    @property
    def count(self) -> int:
        """How many distinct rows have come from the endpoint so far."""
        return len(self._arrived)

    @property
    def left_out(self) -> int:
        """How many rows were left out, and not taken from another answer."""
        return len(self._left_out - self._taken)
