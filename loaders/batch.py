"""The batch that a load gathers until it is committed."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from graph_service.model.statement import Entity, Statement
from graph_service.store.encoded import join_statements
from graph_service.store.protocol import Batch
from loaders.items import Parsed


class PendingBatch:
    """What was read and is not written yet.

    Args:
        size: Statements, or entities, that make it full.
    """

    def __init__(self, size: int, /) -> None:
        self._size = size
        self.clear()

    def clear(self) -> None:
        """Empties the batch, to gather the next one."""
        self._entities: list[Entity] = []
        self._statements: list[Sequence[Statement]] = []
        self._count = 0
        self._documents: set[str] = set()
        self._records: set[str] = set()
        self._lines, self._entity_lines = array("q"), array("q")
        self._terms_only = False
        self.is_begun = False

    @property
    def is_full(self) -> bool:
        """Whether it is to be written before more is read."""
        return self._count >= self._size or len(self._entities) >= self._size

    def takes(self, parsed: Parsed, records: set[str], statements: int, /) -> bool:
        """Returns whether a piece of so many statements goes into it; else it is written first."""
        return not self.is_begun or (
            parsed.terms_only == self._terms_only
            # Of two documents of an entity the later one replaces the other, in its own batch.
            and self._records.isdisjoint(records)
            and self._count + statements <= self._size
        )

    def add(
        self,
        parsed: Parsed,
        records: set[str],
        statements: Sequence[Statement],
        lines: Sequence[int],
        /,
    ) -> None:
        """Adds a piece that it takes.

        Args:
            parsed: The piece.
            records: Its ``records``, which are computed.
            statements: Those of it that are written, without repeats.
            lines: The line of each.
        """
        self.is_begun = True
        self._terms_only = parsed.terms_only
        self._lines.extend(lines)
        self._entity_lines.extend(parsed.entity_lines)
        self._records |= records
        self._entities.extend(parsed.entities)
        if len(statements):
            self._statements.append(statements)
            self._count += len(statements)
        self._documents |= parsed.documents

    def batch(self, *, names_only: bool, source: str) -> Batch:
        """Returns it as the store takes it."""
        return Batch(
            entities=self._entities,
            statements=join_statements(self._statements) if self._statements else (),
            documents=frozenset(self._documents),
            terms_only=self._terms_only,
            names_only=names_only,
            source=source,
            lines=self._lines,
            entity_lines=self._entity_lines,
        )
