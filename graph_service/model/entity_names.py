"""The names of an entity: its labels and aliases, or the words of its id."""

from __future__ import annotations

from typing import NamedTuple

from graph_service.model.statement import Entity
from graph_service.text.fold import name_of_id

UNDETERMINED = "und"
"""Language tag of a name that was made from an id (BCP 47)."""


class EntityName(NamedTuple):
    """One name of an entity; ``language`` is its tag."""

    language: str
    text: str
    is_alias: bool


def entity_names(entity: Entity, /) -> list[EntityName]:
    """Returns each name of an entity; a redirect has none.

    One without labels is found by the words of its id, where they are words: tables of triples
    and much RDF name things by nothing else.
    """
    if entity.redirect is not None:
        return []
    names = [EntityName(language, label, False) for language, label in entity.labels.items()]
    if not names and (name := name_of_id(entity.id)):
        names.append(EntityName(UNDETERMINED, name, False))
    names.extend(
        EntityName(language, alias, True)
        for language, aliases in entity.aliases.items()
        for alias in aliases
    )
    return names
