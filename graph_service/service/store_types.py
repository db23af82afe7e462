"""Which entities of a region are of some types, read from the store: see ``retrieve.types``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from graph_service.errors import LimitError
from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.graph import Bool, Int64, KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, stored_value
from graph_service.retrieve.preset import MAX_EDGES
from graph_service.retrieve.region.class_filter import IsInstance
from graph_service.store.protocol import Neighbourhood, Store

_AT_ONCE = 500
_EDGES_AT_ONCE = 20_000
"""Statements read of so many entities; where there are more, those of each are read alone."""


def instances_in_store(
    store: Store,
    info: GraphInfo,
    graph: KnowledgeGraph,
    types: Sequence[str],
    /,
    *,
    ranks: Sequence[Rank],
    deadline: Deadline,
) -> IsInstance:
    """Returns what tells the instances of some types, or of their subclasses, from the store.

    Args:
        store: Where the graph is.
        info: The graph.
        graph: The part of it whose entities are asked about.
        types: Ids of classes.
        ranks: Of the statements that are edges.
        deadline: Raises ``DeadlineError`` when past.
    """
    reader = _ClassReader(store, info, ranks, deadline)

    def is_instance(entities: Int64) -> Bool:
        ids = graph.node_ids.take(entities)
        classes = set(types)
        frontier = sorted(classes)
        while frontier:
            frontier = sorted(reader.subclasses(frontier) - classes)
            classes |= set(frontier)
        found = {id_ for id_, class_ in reader.classes(ids) if class_ in classes}
        return np.array([id_ in found for id_ in ids], dtype=bool)

    return is_instance


class _ClassReader:
    """Reads the statements between entities and classes."""

    def __init__(
        self, store: Store, info: GraphInfo, ranks: Sequence[Rank], deadline: Deadline
    ) -> None:
        self._store = store
        self._info = info
        self._ranks = ranks
        self._deadline = deadline

    def subclasses(self, classes: Sequence[str], /) -> set[str]:
        """Returns what is said to be a subclass of one of some classes."""
        found: set[str] = set()
        for part in _parts(classes):
            near = self._near(part, SUBCLASS_RELATIONS, MAX_EDGES)
            if near.truncated:
                raise LimitError(
                    f"the types have more than {MAX_EDGES} subclasses", argument="type_ids"
                )
            wanted = set(part)
            found |= {edge.head for edge in near.edges if _entity(edge.value) in wanted}
        return found

    def classes(self, ids: Sequence[str], /) -> Iterable[tuple[str, str]]:
        """Yields entity and class of the statements that some entities are instances."""
        for part in _parts(ids):
            near = self._near(part, INSTANCE_RELATIONS, _EDGES_AT_ONCE)
            if near.truncated:
                # One of them is a class of very many instances, which would be read too.
                yield from self._classes_of_each(part)
                continue
            wanted = set(part)
            for edge in near.edges:
                class_ = _entity(edge.value)
                if edge.head in wanted and class_ is not None:
                    yield edge.head, class_

    def _classes_of_each(self, ids: Sequence[str]) -> Iterable[tuple[str, str]]:
        for id_ in ids:
            self._deadline.check("reading types")
            for statement in self._store.statements_of(
                self._info.edition, id_, relation_ids=sorted(INSTANCE_RELATIONS)
            ):
                if statement.rank in self._ranks and isinstance(statement.value, EntityValue):
                    yield id_, statement.value.id

    def _near(self, ids: Sequence[str], relations: Iterable[str], most: int) -> Neighbourhood:
        self._deadline.check("reading types")
        return self._store.neighbourhood(
            self._info.edition,
            ids,
            hops=1,
            max_edges=most,
            ranks=self._ranks,
            relation_ids=sorted(relations),
            deadline=self._deadline,
        )


def _parts(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))


def _entity(encoded: str) -> str | None:
    value = stored_value(encoded)
    return value.id if isinstance(value, EntityValue) else None
