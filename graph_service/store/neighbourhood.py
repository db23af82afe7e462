"""Neighbourhoods of entities, walked over what an engine reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from graph_service.errors import InputError
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.neighbourhood import MAX_COUNTED, EdgeRow, Neighbourhood
from graph_service.walk import NewRows, RowRegion, walk

_LEAST, _MOST = -(2**63), 2**63 - 1
_DEVIATIONS = 3.0
"""How many standard deviations more than what can stay a hop reads, of where keys happen to lie."""

NodeKey = TypeVar("NodeKey", int, str)
Row = TypeVar("Row")


class ReachedEdge(NamedTuple, Generic[NodeKey, Row]):
    """A statement at an entity that is walked through.

    Attributes:
        row: What the engine makes its ``EdgeRow`` of.
        head, tail: Keys of its ends; ``tail`` is None for a literal, which is not walked through.
    """

    row: Row
    head: NodeKey
    tail: NodeKey | None


class Neighbours(Protocol[NodeKey, Row]):
    """What the walk reads of an edition; statements of other ranks and relations are not there."""

    def start_nodes(self, ids: Sequence[str], /) -> Iterable[NodeKey]:
        """Returns the keys of those entities that the edition has."""

    def keys(self, nodes: Iterable[NodeKey], /) -> list[int]:
        """Returns the 64-bit keys of entities."""

    def nodes(self, keys: Iterable[int], /) -> list[NodeKey]:
        """Returns the entities of 64-bit keys."""

    def degrees(self, nodes: Sequence[NodeKey], /) -> Mapping[NodeKey, int]:
        """Returns the degrees of entities in the whole graph, both directions."""

    def edges_at(
        self, nodes: Sequence[NodeKey], first: int, last: int, /
    ) -> dict[int, ReachedEdge[NodeKey, Row]]:
        """Returns the statements at some entities whose keys are from ``first`` to ``last``."""

    def count(self, nodes: Sequence[NodeKey], /) -> int:
        """Returns how many statements have one of some entities at an end."""

    def ids(self, nodes: Iterable[NodeKey], /) -> Mapping[NodeKey, str]:
        """Returns the ids of entities that the walk reached."""

    def rows(self, edges: Mapping[int, ReachedEdge[NodeKey, Row]], /) -> tuple[EdgeRow, ...]:
        """Returns statements in order of their keys."""


def read_region(
    neighbours: Neighbours[NodeKey, Row],
    ids: Sequence[str],
    /,
    *,
    hops: int,
    max_edges: int,
    hub_degree: int | None,
    equal: EqualEntities | None = None,
) -> Neighbourhood:
    """Returns the region around some entities; see ``GraphReader.neighbourhood``."""
    if hops < 0:
        raise InputError(f"hops must be at least 0, got {hops}", argument="hops")
    if max_edges < 0:
        raise InputError(f"max_edges must be at least 0, got {max_edges}", argument="max_edges")
    region = _EngineRegion(neighbours, equal or EqualEntities.none())
    start = region.start_from(sorted(neighbours.start_nodes(ids)))
    cuts = walk(region, start, hops=hops, max_edges=max_edges, hub_degree=hub_degree)
    region.know_degrees(region.hops)
    names = neighbours.ids(region.hops)
    order = sorted(region.hops, key=lambda key: names[key].encode())
    return Neighbourhood(
        edges=neighbours.rows(region.rows),
        hops={names[key]: region.hops[key] for key in order},
        degrees={names[key]: region.degrees[key] for key in order},
        unexpanded=tuple(sorted((names[key] for key in region.hubs), key=str.encode)),
        truncated=cuts,
    )


class _EngineRegion(RowRegion[NodeKey, ReachedEdge[NodeKey, Row]]):
    """A region that grows over an edition.

    Args:
        neighbours: What is read of the edition.
        equal: Entities that are one thing, as 64-bit keys.
    """

    def __init__(self, neighbours: Neighbours[NodeKey, Row], equal: EqualEntities, /) -> None:
        super().__init__()
        self._equal = equal
        self._neighbours: Neighbours[NodeKey, Row] = neighbours

    def read_degrees(self, nodes: Sequence[NodeKey]) -> Mapping[NodeKey, int]:
        return self._neighbours.degrees(nodes)

    def endpoints(self, row: ReachedEdge[NodeKey, Row]) -> Iterable[NodeKey]:
        return (row.head,) if row.tail is None else (row.head, row.tail)

    def equal_nodes(self, nodes: Iterable[NodeKey]) -> Mapping[NodeKey, Sequence[NodeKey]]:
        if not len(self._equal):
            return {}
        some = list(nodes)
        groups = self._equal.groups_by_entity(self._neighbours.keys(some))
        return {some[index]: self._neighbours.nodes(group) for index, group in groups.items()}

    def new_rows(self, nodes: Sequence[NodeKey], room: int) -> NewRows[ReachedEdge[NodeKey, Row]]:
        degrees = sum(self.degrees[node] for node in nodes)
        rows = _first_edges(self._neighbours, nodes, self.rows, room, degrees)
        if len(rows) <= room or degrees > MAX_COUNTED:
            return NewRows(rows)
        at = set(nodes)
        before = sum(edge.head in at or edge.tail in at for edge in self.rows.values())
        return NewRows(rows, len(self.rows) + self._neighbours.count(nodes) - before)


def _first_edges(
    neighbours: Neighbours[NodeKey, Row],
    nodes: Sequence[NodeKey],
    reached: Mapping[int, ReachedEdge[NodeKey, Row]],
    room: int,
    degrees: int,
) -> dict[int, ReachedEdge[NodeKey, Row]]:
    """Returns statements at some entities by key: of those not yet reached, the smallest keys.

    They are more than ``room`` where there are more, so that the walk can tell. Keys are evenly
    spread, so the share that can stay says how far to read: a hop costs what it keeps, and not what
    its entities have.

    Args:
        neighbours: What is read.
        nodes: The entities.
        reached: Statements that earlier hops reached.
        room: How many more can stay.
        degrees: The sum of the entities' degrees.
    """
    edges: dict[int, ReachedEdge[NodeKey, Row]] = {}
    target = len(reached) + room + 1
    share = (target + _DEVIATIONS * target**0.5) / max(degrees, 1)
    first = _LEAST
    while nodes and first <= _MOST and len(edges) <= room:
        last = min(_LEAST + int(share * 2**64), _MOST) if share < 1 else _MOST
        there = neighbours.edges_at(nodes, first, last)
        edges.update({key: there[key] for key in there.keys() - reached.keys()})
        # Filters leave some out, and what joins two of the entities was counted twice.
        missing = (room + 1) / max(len(edges), 1)
        first, share = last + 1, share * min(max(1.05 * missing, 1.1), 4.0)
    return edges
