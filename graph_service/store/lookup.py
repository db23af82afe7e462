"""From the entities found to those they lead to: redirects and ``same_as``, in both stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from graph_service.model.statement import Entity

MAX_REDIRECTS = 100


def follow_redirects(
    entities: Mapping[str, Entity], read: Callable[[Sequence[str]], Mapping[str, Entity]], /
) -> dict[str, Entity]:
    """Returns where each entity leads to; a circle or a missing target ends at its last entity.

    Args:
        entities: Entities by the requested id.
        read: Gives entities by id; called once a step.
    """
    reached = dict(entities)
    seen = {id_: {entity.id} for id_, entity in entities.items()}
    for _ in range(MAX_REDIRECTS):
        ahead = {
            id_: entity.redirect
            for id_, entity in reached.items()
            if entity.redirect is not None and entity.redirect not in seen[id_]
        }
        if not ahead:
            break
        targets = read(list(dict.fromkeys(ahead.values())))
        moved = False
        for id_, target in ahead.items():
            seen[id_].add(target)
            if target in targets:
                reached[id_] = targets[target]
                moved = True
        if not moved:
            break
    return reached


def by_same_as(candidates: Iterable[Entity], ids: Collection[str], /) -> dict[str, Entity]:
    """Returns for each id the entity that names it as the same; of several the one of the smallest id."""
    by_id: dict[str, Entity] = {}
    for entity in candidates:
        for other in entity.same_as:
            if other in ids and (other not in by_id or entity.id < by_id[other].id):
                by_id[other] = entity
    return by_id


def names_of_same(entities: Iterable[Entity], /) -> list[str]:
    """Returns the ids of entities and all that they name as themselves elsewhere."""
    names: dict[str, None] = {}
    for entity in entities:
        if entity.redirect is None:
            names.update(dict.fromkeys((entity.id, *entity.same_as)))
    return list(names)


def same_as_these(known: Mapping[str, Entity], candidates: Iterable[Entity], /) -> list[str]:
    """Returns the ids of candidates that are none of the known and no redirects, by key."""
    ids = {entity.key: entity.id for entity in candidates if entity.redirect is None}
    return [ids[key] for key in sorted(ids) if ids[key] not in known]
