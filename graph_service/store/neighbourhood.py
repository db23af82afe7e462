"""The walk of a neighbourhood, hop by hop, over what an engine reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from graph_service.errors import InputError
from graph_service.model.limits import Cut, CutReason
from graph_service.store.protocol import MAX_COUNTED, EdgeRow, Neighbourhood

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

    def starts(self, ids: Sequence[str], /) -> Iterable[NodeKey]:
        """Returns the keys of those entities that the edition has."""

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


def walk(
    neighbours: Neighbours[NodeKey, Row],
    ids: Sequence[str],
    /,
    *,
    hops: int,
    max_edges: int,
    hub_degree: int | None,
) -> Neighbourhood:
    """Returns the region around some entities; see ``GraphReader.neighbourhood``."""
    if hops < 0:
        raise InputError(f"hops must be at least 0, got {hops}", argument="hops")
    if max_edges < 0:
        raise InputError(f"max_edges must be at least 0, got {max_edges}", argument="max_edges")
    frontier = sorted(neighbours.starts(ids))
    distance = dict.fromkeys(frontier, 0)
    degrees: dict[NodeKey, int] = {}
    kept: dict[int, ReachedEdge[NodeKey, Row]] = {}
    hubs: set[NodeKey] = set()
    truncated: list[Cut] = []
    for hop in range(1, hops + 1):
        degrees.update(neighbours.degrees([key for key in frontier if key not in degrees]))
        if hub_degree is not None and hop > 1:
            hubs.update(key for key in frontier if degrees[key] > hub_degree)
        walked = [key for key in frontier if key not in hubs]
        room = max_edges - len(kept)
        found = _first_edges(neighbours, walked, kept, room, sum(degrees[key] for key in walked))
        chosen = sorted(found)
        if len(chosen) > room:
            chosen = chosen[:room]
            total = None
            if sum(degrees[key] for key in walked) <= MAX_COUNTED:
                nodes = set(walked)
                before = sum(edge.head in nodes or edge.tail in nodes for edge in kept.values())
                total = len(kept) + neighbours.count(walked) - before
            truncated.append(Cut("edges", CutReason.LIMIT, max_edges, max_edges, total))
        frontier = []
        for key in chosen:
            edge = kept[key] = found[key]
            for end in (edge.head, edge.tail):
                if end is not None and end not in distance:
                    distance[end] = hop
                    frontier.append(end)
        if len(kept) >= max_edges or not frontier:
            break
        frontier.sort()
    degrees.update(neighbours.degrees([key for key in distance if key not in degrees]))
    if hubs and hub_degree is not None:
        truncated.append(Cut("hubs", CutReason.HUB, hub_degree, 0, len(hubs)))
    names = neighbours.ids(distance)
    order = sorted(distance, key=lambda key: names[key].encode())
    return Neighbourhood(
        edges=neighbours.rows(kept),
        hops={names[key]: distance[key] for key in order},
        degrees={names[key]: degrees[key] for key in order},
        unexpanded=tuple(sorted((names[key] for key in hubs), key=str.encode)),
        truncated=tuple(truncated),
    )


def _first_edges(
    neighbours: Neighbours[NodeKey, Row],
    nodes: Sequence[NodeKey],
    kept: Mapping[int, ReachedEdge[NodeKey, Row]],
    room: int,
    degrees: int,
) -> dict[int, ReachedEdge[NodeKey, Row]]:
    """Returns statements at some entities by key: of those not kept, the smallest keys.

    They are more than ``room`` where there are more, so that the walk can tell. Keys are evenly
    spread, so the share that can stay says how far to read: a hop costs what it keeps, and not what
    its entities have.

    Args:
        neighbours: What is read.
        nodes: The entities.
        kept: Statements that earlier hops kept.
        room: How many more can stay.
        degrees: The sum of the entities' degrees.
    """
    found: dict[int, ReachedEdge[NodeKey, Row]] = {}
    wanted = len(kept) + room + 1
    share = (wanted + _DEVIATIONS * wanted**0.5) / max(degrees, 1)
    first = _LEAST
    while nodes and first <= _MOST and len(found) <= room:
        last = min(_LEAST + int(share * 2**64), _MOST) if share < 1 else _MOST
        there = neighbours.edges_at(nodes, first, last)
        found.update({key: there[key] for key in there.keys() - kept.keys()})
        # Filters leave some out, and what joins two of the entities was counted twice.
        missing = (room + 1) / max(len(found), 1)
        first, share = last + 1, share * min(max(1.05 * missing, 1.1), 4.0)
    return found
