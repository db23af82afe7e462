"""How a later record of an entity and the one already stored become one."""

from __future__ import annotations

from dataclasses import replace

from graph_service.model.statement import Entity, EntityKind


def is_outdated(stored: Entity, new: Entity, /) -> bool:
    """Returns whether a new record is of a lower revision than the stored one."""
    return (
        stored.revision is not None and new.revision is not None and new.revision < stored.revision
    )


def replace_terms(stored: Entity | None, new: Entity, /) -> Entity:
    """Returns the new record, or the stored one where that is of a higher revision."""
    return stored if stored is not None and is_outdated(stored, new) else new


def merge_terms(stored: Entity | None, new: Entity, /) -> Entity:
    """Returns the stored record with the new one's languages added (``Batch.terms_only``).

    A language given again has its label and description replaced; aliases and ``same_as`` are
    joined without repeats, the stored ones first. What the new record leaves open stays.
    """
    if stored is None:
        return new
    aliases = dict(stored.aliases)
    for language, names in new.aliases.items():
        aliases[language] = tuple(dict.fromkeys((*aliases.get(language, ()), *names)))
    return replace(
        stored,
        kind=EntityKind.PROPERTY if new.kind is EntityKind.PROPERTY else stored.kind,
        labels={**stored.labels, **new.labels},
        descriptions={**stored.descriptions, **new.descriptions},
        aliases=aliases,
        datatype=new.datatype or stored.datatype,
        redirect=new.redirect or stored.redirect,
        revision=stored.revision if new.revision is None else new.revision,
        same_as=tuple(dict.fromkeys((*stored.same_as, *new.same_as))),
    )
