"""How a later record of an entity and the one already stored become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson

from graph_service.errors import InputError
from graph_service.model.statement import Entity, EntityKind, encode_terms
from graph_service.store.texts import holds_nul


def encode_hashed_terms(entity: Entity, /) -> str:
    """Returns the terms of an entity without its revision: what its content hash is made of.

    Raises:
        InputError: They hold text that no store can hold.
    """
    try:
        encoded = encode_terms(
            entity if entity.revision is None else replace(entity, revision=None)
        )
    except TypeError as error:
        raise InputError(f"a term of {entity.id!r} holds a lone surrogate: {error}") from error
    if "\\u0000" in encoded and holds_nul(orjson.loads(encoded)):
        raise InputError(f"a term of {entity.id!r} holds a NUL character")
    return encoded


def is_outdated(stored: Entity, new: Entity, /) -> bool:
    """Returns whether a new record is of a lower revision than the stored one."""
    return (
        stored.revision is not None and new.revision is not None and new.revision < stored.revision
    )


def is_of_other_age(stored: Entity, new: Entity, /) -> bool:
    """Returns whether a new record is of a lower or higher revision than the stored one."""
    return None not in (stored.revision, new.revision) and stored.revision != new.revision


def merge_terms(stored: Entity | None, new: Entity, /) -> Entity:
    """Returns the stored record with the new one's terms added (``Batch.terms_only``).

    What comes of several records depends neither on their order nor on how they lay in batches:
    of two labels in one language the one that sorts first is the label and the other an alias;
    of two descriptions the one that sorts first stays; aliases and ``same_as`` are sorted once
    something is added to them. A redirect or data type given again replaces the stored one.
    """
    if stored is None:
        if not new.aliases and len(new.same_as) < 2:
            return new
        stored = Entity(new.id)
    labels, aliases = dict(stored.labels), dict(stored.aliases)
    for language in {**new.labels, **new.aliases}:
        _merge_names(language, new, labels, aliases)
    return replace(
        stored,
        kind=EntityKind.PROPERTY if new.kind is EntityKind.PROPERTY else stored.kind,
        labels=labels,
        descriptions=_smaller(stored.descriptions, new.descriptions),
        aliases=aliases,
        datatype=new.datatype or stored.datatype,
        redirect=new.redirect or stored.redirect,
        revision=max(
            (entity.revision for entity in (stored, new) if entity.revision is not None),
            default=None,
        ),
        same_as=(
            stored.same_as
            if set(new.same_as) <= set(stored.same_as)
            else tuple(sorted({*stored.same_as, *new.same_as}))
        ),
    )


def _merge_names(
    language: str, new: Entity, labels: dict[str, str], aliases: dict[str, tuple[str, ...]]
) -> None:
    """Adds the new record's names in one language to ``labels`` and ``aliases``."""
    label, names = labels.get(language), aliases.get(language, ())
    added = {*new.aliases.get(language, ())}
    if language in new.labels:
        added.add(new.labels[language])
        if label is None or new.labels[language] < label:
            labels[language] = new.labels[language]
    if label == labels.get(language) and added <= {label, *names}:
        return
    others = {*names, *added, *({label} if label is not None else ())} - {labels.get(language)}
    if others:
        aliases[language] = tuple(sorted(name for name in others if name is not None))
    else:
        aliases.pop(language, None)


def _smaller(stored: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    merged = dict(stored)
    for language, text in new.items():
        merged[language] = min(text, merged.get(language, text))
    return merged
