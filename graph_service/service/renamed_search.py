"""Search by the names that a view gives: the store's hits, and the entities that are renamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from graph_service.model.entity_names import UNDETERMINED
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.result import SearchHit
from graph_service.model.statement import Entity
from graph_service.model.view_delta import NameDelta
from graph_service.service.triples import entity_name
from graph_service.store.protocol import EntityLookup
from graph_service.store.search import CANDIDATE_LIMIT, rank_hits
from graph_service.text.fold import name_of_id

_MOST_HITS = 3 * CANDIDATE_LIMIT
"""A store ranks no more: candidates of three kinds."""
_LOOKED_AT = 1000
"""Entities looked at between two looks at the deadline."""


class ViewNames:
    """What a view calls the entities that it renames.

    Args:
        graph: The base.
        names: What the view calls them.
    """

    def __init__(self, graph: KnowledgeGraph, names: NameDelta, /) -> None:
        self._names = names
        ids = graph.node_ids.take(names.nodes)
        self._indexes = {id_: index for index, id_ in enumerate(ids)}

    def __len__(self) -> int:
        return len(self._indexes)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._indexes

    def of(self, entity: Entity, /) -> Entity:
        """Returns an entity as the view names it; itself where it keeps its names."""
        index = self._indexes.get(entity.id)
        if index is None:
            return entity
        labels: dict[str, str] = {}
        aliases: dict[str, tuple[str, ...]] = {}
        for name in self._names.names_of(index):
            if name.is_alias:
                aliases[name.language] = (*aliases.get(name.language, ()), name.text)
            # What an id says need not be said again.
            elif name.language != UNDETERMINED or name.text != name_of_id(entity.id):
                labels[name.language] = name.text
        return replace(entity, labels=labels, aliases=aliases)

    def renamed(self, deadline: Deadline, /) -> Iterator[Entity]:
        """Yields all that are renamed, without what else is known of them."""
        for index, id_ in enumerate(self._indexes):
            if index % _LOOKED_AT == 0:
                deadline.check("searching the names of a view")
            yield self.of(Entity(id_))


def label_of(entity: Entity, languages: Sequence[str], /) -> str:
    """Returns the label of an entity in the first of some languages that has one, else its id."""
    labels = entity.labels
    codes = (*languages, "mul", "en", *sorted(labels))
    label = next((labels[code] for code in codes if code in labels), None)
    return label or entity_name(entity.id)


def search_renamed(
    names: ViewNames,
    query: str,
    /,
    *,
    search: Callable[..., list[SearchHit]],
    entities: Callable[[Sequence[str]], EntityLookup],
    languages: Sequence[str],
    limit: int,
    prefix: bool,
    deadline: Deadline,
) -> list[SearchHit]:
    """Returns entities by the names of a view, best first, ranked as a store of these names ranks.

    It takes time in proportion to the entities that are renamed.

    Args:
        names: What the view calls those that it renames.
        query: Words of a name.
        search: The store's search for the query, given how many hits it returns.
        entities: Reads entities of the base.
        languages: They rank.
        limit: How many at most.
        prefix: Whether the last word may be the beginning of one.
        deadline: When to give up.
    """
    # No more of the store's hits than are renamed can have lost the name that they were found by.
    hits = search(limit=limit + min(len(names), _MOST_HITS))
    stay = [hit.entity for hit in hits if hit.entity.id not in names]
    renamed_hits = rank_hits(
        names.renamed(deadline), query, languages=languages, limit=limit, prefix=prefix
    )
    known = entities([hit.entity.id for hit in renamed_hits]).entities if renamed_hits else {}
    renamed = [names.of(known[hit.entity.id]) for hit in renamed_hits]
    return rank_hits([*stay, *renamed], query, languages=languages, limit=limit, prefix=prefix)
