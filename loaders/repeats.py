"""Statements that come again and again in one source, left out before they are written.

The store keeps equal statements once, at the end of a load. A packed file of some megabytes may
hold the same ones millions of times, and until then they would take gigabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from graph_service.errors import InputError
from graph_service.model.statement import Statement
from graph_service.store.encoded import EncodedStatements, encode_statements

_REMEMBERED = 500_000
# Fewer repeats are left to the store: to take them out costs as much as to write them.
_WORTHWHILE_SHARE = 8


class Repeats:
    """Remembers the statements that came lately, between half a million and a million of them."""

    def __init__(self) -> None:
        self._new: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def forget(self) -> None:
        """Forgets all: what was written may have been removed or changed since."""
        self._new, self._old = {}, {}

    def without(
        self, statements: Sequence[Statement], lines: array[int], /
    ) -> tuple[Sequence[Statement], array[int], int]:
        """Returns statements without those that came before as they are, and how many those were.

        Where they are few, none is left out.

        Args:
            statements: Some statements, in the order of the source.
            lines: The line of each; those of the statements that stay are returned.
        """
        try:
            encoded = encode_statements(statements)
        except InputError:
            # The store says of which statement, and nothing of its batch is in.
            return statements, lines, 0
        new = [index for index, content in enumerate(_contents(encoded)) if self._is_new(*content)]
        repeated = len(encoded) - len(new)
        if repeated * _WORTHWHILE_SHARE < len(encoded):
            return encoded, lines, 0
        every = list(encoded) if new else []
        left = encode_statements([every[index] for index in new])
        return left, array("q", (lines[index] for index in new)), repeated

    def _is_new(self, key: int, content: int) -> bool:
        """Remembers a statement; returns whether the last one of its key had other content."""
        known = self._new.get(key)
        if known is None:
            known = self._old.get(key)
            if len(self._new) >= _REMEMBERED:
                self._old, self._new = self._new, {}
        self._new[key] = content
        return known != content


def _contents(encoded: EncodedStatements) -> list[tuple[int, int]]:
    columns = zip(
        encoded.heads,
        [encoded.relation_ids[index] for index in encoded.relations],
        encoded.tails,
        encoded.values,
        encoded.ranks,
        encoded.qualifiers,
        encoded.sources,
        encoded.contexts,
        strict=True,
    )
    return [(key, hash(row)) for key, row in zip(encoded.keys, columns, strict=True)]
