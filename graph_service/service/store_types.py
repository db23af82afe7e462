"""The region around a question's entities and entities of some types alone, read from a store.

The rule is that of ``retrieve.region.class_filter``: what is of no such type is not walked to, and
its statements do not count as the region's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from graph_service.errors import LimitError
from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, stored_value
from graph_service.retrieve.preset import MAX_EDGES
from graph_service.retrieve.region.cut import LOOKED_AT
from graph_service.store.lookup import StoredThings
from graph_service.store.protocol import Store
from graph_service.walk import NewRows, RowRegion, closure, walk

_AT_ONCE = 500
_EDGES_AT_ONCE = 20_000
"""Statements read of so many entities; where there are more, those of each are read alone."""


def typed_neighbourhood(
    store: Store,
    info: GraphInfo,
    ids: Sequence[str],
    types: Sequence[str],
    /,
    *,
    hops: int,
    max_edges: int,
    hub_degree: int | None,
    ranks: Sequence[Rank],
    relation_ids: Sequence[str],
    exclude_relation_ids: Sequence[str],
    equal: EqualEntities,
    deadline: Deadline,
) -> Neighbourhood:
    """Returns the region around some entities that instances of some types make, with those.

    Args:
        store: Where the graph is.
        info: The graph.
        ids: Where the region starts.
        types: Ids of classes; instances of their subclasses count too.
        hops: Steps, both directions.
        max_edges: Most statements; ``LOOKED_AT`` times as many of a step are read.
        hub_degree: Entities of more statements are reached and not walked through.
        ranks: Of the statements that are edges.
        relation_ids: Relations that are walked; empty for all.
        exclude_relation_ids: Relations that are not.
        equal: Entities that are one thing, as 64-bit keys: of a type if one of them is.
        deadline: Raises ``DeadlineError`` when past.
    """
    near = partial(
        store.neighbourhood,
        info.edition,
        ranks=ranks,
        relation_ids=relation_ids,
        exclude_relation_ids=exclude_relation_ids,
        deadline=deadline,
    )
    things = StoredThings(store, info, equal)
    reader = _ClassReader(store, info, ranks, things, deadline)
    region = _TypedRegion(near, reader, things, types)
    # Degrees come with the first statements, so that none are read for the start.
    region.hops = dict.fromkeys(region.with_equal(ids), 0)
    cuts = walk(region, list(region.hops), hops=hops, max_edges=max_edges, hub_degree=hub_degree)
    if len(equal):
        region.know_degrees(region.hops)
    return Neighbourhood(
        edges=tuple(region.rows[key] for key in sorted(region.rows)),
        hops={id_: hop for id_, hop in region.hops.items() if id_ in region.degrees},
        degrees={id_: region.degrees[id_] for id_ in region.hops if id_ in region.degrees},
        unexpanded=tuple(region.hubs),
        truncated=cuts,
    )


class _TypedRegion(RowRegion[str, EdgeRow]):
    """A region that grows over the instances of some types.

    Args:
        near: Reads the statements around some entities.
        reader: Reads classes.
        things: Entities that are one thing.
        types: Ids of classes.
    """

    def __init__(
        self,
        near: Callable[..., Neighbourhood],
        reader: _ClassReader,
        things: StoredThings,
        types: Sequence[str],
        /,
    ) -> None:
        super().__init__()
        self._near = near
        self._reader = reader
        self._things = things
        self._classes = reader.with_subclasses(types)

    def read_degrees(self, nodes: Sequence[str]) -> Mapping[str, int]:
        return self._near(nodes, hops=0, max_edges=0).degrees

    def endpoints(self, row: EdgeRow) -> tuple[str, ...]:
        return endpoints_of(row)

    def equal_nodes(self, nodes: Iterable[str]) -> Mapping[str, Sequence[str]]:
        return self._things.of(nodes)

    def new_rows(self, nodes: Sequence[str], room: int) -> NewRows[EdgeRow]:
        near = self._near(nodes, hops=1, max_edges=LOOKED_AT * (room + len(self.rows)))
        others = [*near.hops.keys() - self.hops.keys()]
        known = {*self.hops, *self._reader.instances(others, self._classes)}
        self.degrees.update((id_, near.degrees[id_]) for id_ in near.degrees if id_ in known)
        rows = {
            key: edge
            for edge in near.edges
            if (key := key64(edge.statement_id)) not in self.rows
            and known.issuperset(endpoints_of(edge))
        }
        return NewRows(rows, len(self.rows) + len(rows), near.truncated)


def endpoints_of(edge: EdgeRow, /) -> tuple[str, ...]:
    """Returns the entities that a statement joins."""
    value = _entity(edge.value)
    return (edge.head,) if value is None else (edge.head, value)


class _ClassReader:
    """Reads the statements between entities and classes."""

    def __init__(
        self,
        store: Store,
        info: GraphInfo,
        ranks: Sequence[Rank],
        things: StoredThings,
        deadline: Deadline,
    ) -> None:
        self._store = store
        self._info = info
        self._ranks = ranks
        self._things = things
        self._deadline = deadline

    def with_subclasses(self, types: Sequence[str], /) -> set[str]:
        """Returns some classes and all below them; a circle of subclasses ends."""
        return closure(
            self._things.with_members(types),
            lambda classes: self._things.with_members(self.subclasses(sorted(classes))),
        )

    def instances(self, ids: Sequence[str], classes: Collection[str], /) -> set[str]:
        """Returns those of some entities that are instances of a class, or are one with such."""
        members = self._things.with_members(ids)
        return self._things.with_members(
            id_ for id_, class_ in self.classes(sorted(members)) if class_ in classes
        )

    def subclasses(self, classes: Sequence[str], /) -> set[str]:
        """Returns what is said to be a subclass of one of some classes."""
        subclass_ids: set[str] = set()
        for part in _parts(classes):
            near = self._near(part, SUBCLASS_RELATIONS, MAX_EDGES)
            if near.truncated:
                raise LimitError(
                    f"the types have more than {MAX_EDGES} subclasses", argument="type_ids"
                )
            parents = set(part)
            subclass_ids |= {edge.head for edge in near.edges if _entity(edge.value) in parents}
        return subclass_ids

    def classes(self, ids: Sequence[str], /) -> Iterable[tuple[str, str]]:
        """Yields entity and class of the statements that some entities are instances."""
        for part in _parts(ids):
            near = self._near(part, INSTANCE_RELATIONS, _EDGES_AT_ONCE)
            if near.truncated:
                # One of them is a class of very many instances, which would be read too.
                yield from self._classes_of_each(part)
                continue
            entities = set(part)
            for edge in near.edges:
                class_ = _entity(edge.value)
                if edge.head in entities and class_ is not None:
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
