"""From the entities found to those they lead to: redirects and ``same_as``, in both stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from graph_service.model.statement import Entity

MAX_REDIRECTS = 100


def follow_redirects(
    found: Mapping[str, Entity], read: Callable[[Sequence[str]], Mapping[str, Entity]], /
) -> dict[str, Entity]:
    """Returns where each entity leads to; a circle or a missing target ends at its last entity.

    Args:
        found: Entities by the id asked for.
        read: Gives entities by id; called once a step.
    """
    reached = dict(found)
    seen = {asked: {entity.id} for asked, entity in found.items()}
    for _ in range(MAX_REDIRECTS):
        ahead = {
            asked: entity.redirect
            for asked, entity in reached.items()
            if entity.redirect is not None and entity.redirect not in seen[asked]
        }
        if not ahead:
            break
        targets = read(list(dict.fromkeys(ahead.values())))
        moved = False
        for asked, target in ahead.items():
            seen[asked].add(target)
            if target in targets:
                reached[asked] = targets[target]
                moved = True
        if not moved:
            break
    return reached


def by_same_as(candidates: Iterable[Entity], wanted: Collection[str], /) -> dict[str, Entity]:
    """Returns by IRI the entity that says it is the same; of several that of the smallest id."""
    found: dict[str, Entity] = {}
    for entity in candidates:
        for other in entity.same_as:
            if other in wanted and (other not in found or entity.id < found[other].id):
                found[other] = entity
    return found


def names_of_same(entities: Iterable[Entity], /) -> list[str]:
    """Returns the ids of entities and all that they name as themselves elsewhere."""
    names: dict[str, None] = {}
    for entity in entities:
        if entity.redirect is None:
            names.update(dict.fromkeys((entity.id, *entity.same_as)))
    return list(names)


def same_as_these(known: Mapping[str, Entity], candidates: Iterable[Entity], /) -> list[str]:
    """Returns the ids of candidates that are none of the known and no redirects, by key."""
    found = {entity.key: entity.id for entity in candidates if entity.redirect is None}
    return [found[key] for key in sorted(found) if found[key] not in known]
