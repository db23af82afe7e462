"""From the entities found to those they lead to: redirects and ``same_as``, in both stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from graph_service.model.equal_entities import (
    EqualEntities,
    MergedEntities,
    merge_entities,
    source_of_id,
)
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.statement import Entity
from graph_service.store.protocol import GraphReader

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


def pairs_naming_one(rows: Iterable[Sequence[Any]], /) -> Iterator[tuple[str, str]]:
    """Yields pairs of the entities that name one thing, each with the one before it.

    Args:
        rows: Key of what is named, and id of the entity that names it; those of a key in a row.
    """
    return ((before[1], row[1]) for before, row in pairwise(rows) if before[0] == row[0])


def read_merged_entities(reader: GraphReader, edition: str, /) -> MergedEntities:
    """Returns which entities of an edition are one thing, as 64-bit keys."""
    return merge_pairs(reader.equal_pairs(edition))


def merge_pairs(pairs: Sequence[tuple[str, str]], /) -> MergedEntities:
    """Returns which entities are one thing, as 64-bit keys, by the pairs of ids that are linked."""
    sources: dict[int, str] = {}
    links = np.empty((2, len(pairs)), dtype=np.int64)
    for column, pair in enumerate(pairs):
        for side, id_ in enumerate(pair):
            links[side, column] = key = key64(id_)
            sources.setdefault(key, source_of_id(id_))
    return merge_entities(links[0], links[1], lambda keys: [sources[key] for key in keys.tolist()])


class StoredThings:
    """Entities of a stored graph that are one thing, by id.

    Args:
        reader: Where the graph is.
        info: The graph.
        equal: The entities, as 64-bit keys.
    """

    def __init__(self, reader: GraphReader, info: GraphInfo, equal: EqualEntities, /) -> None:
        self._reader = reader
        self._info = info
        self._equal = equal

    def of(self, ids: Iterable[str], /) -> dict[str, list[str]]:
        """Returns the entities of each thing by those of some ids that are one with others."""
        some = list(ids) if len(self._equal) else []
        groups = self._equal.groups_by_entity([key64(id_) for id_ in some])
        if not groups:
            return {}
        near = self._reader.neighbourhood(
            self._info.edition,
            [some[index] for index in groups],
            hops=0,
            max_edges=0,
            equal=self._equal,
        )
        names = {key64(id_): id_ for id_ in near.hops}
        return {some[index]: [names[key] for key in keys] for index, keys in groups.items()}

    def with_members(self, ids: Iterable[str], /) -> set[str]:
        """Returns some ids and all that are one thing with one of them."""
        some = set(ids)
        return some.union(*self.of(sorted(some)).values())
