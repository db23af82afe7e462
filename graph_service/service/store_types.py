"""The region around a question's entities and entities of some types alone, read from a store.

The rule is that of ``retrieve.region.class_filter``: what is of no such type is not walked to, and
its statements do not count as the region's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from graph_service.errors import LimitError
from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, stored_value
from graph_service.retrieve.preset import MAX_EDGES
from graph_service.retrieve.region.cut import LOOKED_AT
from graph_service.store.protocol import EdgeRow, Neighbourhood, Store

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
        deadline: Raises ``DeadlineError`` when past.
    """
    reader = _ClassReader(store, info, ranks, deadline)
    classes = reader.with_subclasses(types)
    kept: dict[str, EdgeRow] = {}
    distance: dict[str, int] = {}
    degrees: dict[str, int] = {}
    hubs: list[str] = []
    cuts: list[Cut] = []
    frontier = list(ids)
    for hop in range(1, hops + 1):
        if hub_degree is not None and hop > 1:
            hubs += [id_ for id_ in frontier if degrees[id_] > hub_degree]
            frontier = [id_ for id_ in frontier if degrees[id_] <= hub_degree]
        if not frontier:
            break
        near = store.neighbourhood(
            info.edition,
            frontier,
            hops=1,
            max_edges=LOOKED_AT * max_edges,
            ranks=ranks,
            relation_ids=relation_ids,
            exclude_relation_ids=exclude_relation_ids,
            deadline=deadline,
        )
        cuts.extend(near.truncated)
        if hop == 1:
            distance = {id_: 0 for id_, steps in near.hops.items() if not steps}
        known = {*distance, *reader.instances([*near.hops.keys() - distance.keys()], classes)}
        degrees.update({id_: near.degrees[id_] for id_ in near.degrees if id_ in known})
        new = [
            edge
            for edge in near.edges
            if edge.statement_id not in kept and known.issuperset(ends_of(edge))
        ]
        if len(kept) + len(new) > max_edges:
            cuts.append(Cut("edges", CutReason.LIMIT, max_edges, max_edges, len(kept) + len(new)))
            new = new[: max_edges - len(kept)]
        kept.update((edge.statement_id, edge) for edge in new)
        frontier = sorted({end for edge in new for end in ends_of(edge)} - distance.keys())
        distance.update(dict.fromkeys(frontier, hop))
        if len(kept) >= max_edges:
            break
    if hubs and hub_degree is not None:
        cuts.append(Cut("hubs", CutReason.HUB, hub_degree, 0, len(hubs)))
    return Neighbourhood(
        edges=tuple(sorted(kept.values(), key=lambda edge: key64(edge.statement_id))),
        hops=distance,
        degrees={id_: degrees[id_] for id_ in distance},
        unexpanded=tuple(hubs),
        truncated=tuple(cuts),
    )


def ends_of(edge: EdgeRow, /) -> tuple[str, ...]:
    """Returns the entities at the ends of a statement."""
    value = _entity(edge.value)
    return (edge.head,) if value is None else (edge.head, value)


class _ClassReader:
    """Reads the statements between entities and classes."""

    def __init__(
        self, store: Store, info: GraphInfo, ranks: Sequence[Rank], deadline: Deadline
    ) -> None:
        self._store = store
        self._info = info
        self._ranks = ranks
        self._deadline = deadline

    def with_subclasses(self, types: Sequence[str], /) -> set[str]:
        """Returns some classes and all below them; a circle of subclasses ends."""
        classes = set(types)
        frontier = sorted(classes)
        while frontier:
            frontier = sorted(self.subclasses(frontier) - classes)
            classes |= set(frontier)
        return classes

    def instances(self, ids: Sequence[str], classes: Collection[str], /) -> set[str]:
        """Returns those of some entities that are instances of a class."""
        return {id_ for id_, class_ in self.classes(sorted(ids)) if class_ in classes}

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
