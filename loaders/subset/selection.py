"""What of a source is loaded: the rest is left out of what its reader yields, and counted."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import compress

import numpy as np

from graph_service.model.identity import key64
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Statement,
)
from graph_service.model.values import EntityValue
from loaders.items import Parsed
from loaders.rdf.redirects import resolve_statement
from loaders.subset.edges import Keys, KeySet, Surroundings
from loaders.subset.filters import ENTITY_REASON, DocumentFilter, Filters, RelationFilter

STATEMENT_REASON = "statements that the filters leave out"
RESOLVED_REASON = "statements moved to what their entities redirect to"


def hub_reason(limit: int, /) -> str:
    """Returns how the report counts statements of hubs."""
    return f"statements into hubs (more than {limit:,} each)"


class Selection:
    """What is loaded; ``apply`` leaves the rest out of what a reader yields.

    Attributes:
        documents: What readers of Wikibase's documents ask before reading one; None for all.
    """

    def __init__(
        self,
        filters: Filters,
        *,
        relations: RelationFilter,
        documents: DocumentFilter | None,
        heads: KeySet | None,
        names: KeySet | None,
        around: Surroundings | None,
        redirects: dict[str, str],
    ) -> None:
        self.documents = documents
        self._filters = filters
        self._relations = relations
        self._heads = heads
        self._names = names
        self._around = around
        self._redirects = redirects
        self._hub_reason = hub_reason(filters.max_incoming)

    def apply(self, parsed: Parsed, /, *, chosen: bool) -> None:
        """Leaves out of a block what isn't loaded, and counts it.

        Args:
            parsed: A block of a reader.
            chosen: Whether ``documents`` has chosen its entities already.
        """
        if self._redirects:
            self._resolve(parsed)
        if not self._relations.lets_all_through:
            self._select(
                parsed,
                [self._relations.passes(statement.relation) for statement in parsed.statements],
            )
            # What is not all of an entity's statements must not replace them all.
            parsed.documents.clear()
        heads = None if chosen else self._heads
        if heads is not None:
            self._select(parsed, heads.holds(head_keys(parsed.statements)).tolist())
        if self._around is not None:
            self._select_around(parsed, self._around)
        if heads is not None or self._around is not None:
            self._select_entities(parsed)

    def _select(self, parsed: Parsed, selected: list[bool]) -> None:
        count = len(selected) - sum(selected)
        if count:
            parsed.skipped[STATEMENT_REASON] += count
            parsed.mark(0)
            parsed.statements = list(compress(parsed.statements, selected))
            parsed.lines = array("q", compress(parsed.lines, selected))

    def _select_around(self, parsed: Parsed, around: Surroundings) -> None:
        statements = parsed.statements
        direction = self._filters.direction
        is_entity = np.array(
            [type(statement.value) is EntityValue for statement in statements], dtype=np.bool_
        )
        tails = np.array(
            [
                key64(statement.value.id) if type(statement.value) is EntityValue else 0
                for statement in statements
            ],
            dtype=np.int64,
        )
        selected = np.zeros(len(statements), dtype=np.bool_)
        if direction != "in":
            selected |= around.inner.holds(head_keys(statements))
        if direction != "out":
            into = is_entity & around.inner.holds(tails)
            into_hubs = into & around.hubs.holds(tails)
            hubs = int((into_hubs & ~selected).sum())
            selected |= into & ~into_hubs
            if hubs:
                parsed.skipped[self._hub_reason] += hubs
                parsed.skipped[STATEMENT_REASON] -= hubs
        self._select(parsed, selected.tolist())
        if not parsed.skipped[STATEMENT_REASON]:
            del parsed.skipped[STATEMENT_REASON]
        ids = sorted(parsed.documents) if direction != "in" else []
        inner = around.inner.holds(np.array([key64(id_) for id_ in ids], dtype=np.int64))
        parsed.documents = {
            id_ for id_, is_inner in zip(ids, inner.tolist(), strict=True) if is_inner
        }

    def _select_entities(self, parsed: Parsed) -> None:
        names = self._names
        selected = [
            is_relation(entity) or (names is not None and names.holds_id(_target(entity)))
            for entity in parsed.entities
        ]
        if not all(selected):
            parsed.skipped[ENTITY_REASON] += len(selected) - sum(selected)
            parsed.mark(0)
            parsed.entities = list(compress(parsed.entities, selected))
            parsed.entity_lines = array("q", compress(parsed.entity_lines, selected))

    def _resolve(self, parsed: Parsed) -> None:
        redirects = self._redirects
        moved = 0
        statements = []
        for statement in parsed.statements:
            resolved = resolve_statement(statement, redirects)
            moved += resolved is not statement
            statements.append(resolved)
        if moved:
            parsed.statements = statements
            parsed.skipped[RESOLVED_REASON] += moved


def head_keys(statements: Sequence[Statement], /) -> Keys:
    """Returns the key of each statement's head; those of one entity mostly follow each other."""
    keys: list[int] = []
    last, key = "", 0
    for statement in statements:
        if statement.head != last:
            last, key = statement.head, key64(statement.head)
        keys.append(key)
    return np.array(keys, dtype=np.int64)


def is_relation(entity: Entity, /) -> bool:
    """Returns whether an entity is a relation, whose names are always loaded."""
    id_ = entity.id
    return entity.kind is EntityKind.PROPERTY or (id_[0] == "P" and id_[1:].isdecimal())


def _target(entity: Entity) -> str:
    return entity.redirect or entity.id
