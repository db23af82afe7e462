"""How statements and entities become rows of the SQLite store, and rows become them again."""

from __future__ import annotations

from dataclasses import replace

from graph_service.model.statement import Entity, EntityKind, decode_entity
from graph_service.store.decoding import decodes

KINDS = (EntityKind.ITEM, EntityKind.PROPERTY)
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}


@decodes("an entity")
def entity_of_row(
    id_: str, kind: int, redirect: str | None, revision: int | None, terms: str, /
) -> Entity:
    """Returns the entity of its columns."""
    entity = decode_entity(id_, KINDS[kind].value, redirect, terms)
    return entity if revision is None else replace(entity, revision=revision)
