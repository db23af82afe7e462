"""Which of the question's entities each selected statement or path hangs on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graph_service.model.graph import Int64
from graph_service.model.region import Region
from graph_service.retrieve.context import Selection
from graph_service.sorting import are_among


def with_origins(selection: Selection, region: Region, /) -> Selection:
    """Returns a selection whose items name the question's entity that they hang on.

    It is the one that a statement is fewest steps from, of several the one named first; of a path
    the one that it begins at, or that its beginning is fewest steps from.

    Args:
        selection: Picked from the region, or from a part of it.
        region: As it was cut out of the graph: the steps to each of its nodes are in it.
    """
    start_entities = region.nodes[region.start_entities].tolist()
    edges = [item.edge for item in selection.triples]
    edges += [path.edges[0] for path in selection.paths]
    endpoints = _Endpoints(region, edges) if len(start_entities) > 1 else None
    return replace(
        selection,
        triples=tuple(
            replace(item, origin=start_entities[endpoints.nearest(item.edge) if endpoints else 0])
            for item in selection.triples
        ),
        paths=tuple(
            replace(
                path,
                origin=start_entities[
                    endpoints.first(path.edges[0], path.reversed[0]) if endpoints else 0
                ],
            )
            for path in selection.paths
        ),
    )


class _Endpoints:
    """The endpoints of some edges: how far each is from the question's entities, and from which."""

    def __init__(self, region: Region, edges: list[int]) -> None:
        origin = origins(region)
        hops = region.hops
        rows = np.flatnonzero(are_among(region.edges, np.array(sorted(edges), dtype=np.int64)))
        self._endpoints = {
            edge: ((int(hops[head]), int(origin[head])), (int(hops[tail]), int(origin[tail])))
            for edge, head, tail in zip(
                region.edges[rows].tolist(),
                region.head[rows].tolist(),
                region.tail[rows].tolist(),
                strict=True,
            )
        }

    def nearest(self, edge: int) -> int:
        return min(self._endpoints[edge])[1]

    def first(self, edge: int, reversed_: bool) -> int:
        return self._endpoints[edge][reversed_][1]


def origins(region: Region, /) -> Int64:
    """Returns which start entity each node is fewest steps from, by its index, int64 [n].

    Of several it is the first.
    """
    origin = np.full(region.node_count, len(region.start_entities), dtype=np.int64)
    origin[region.start_entities] = np.arange(len(region.start_entities))
    head, tail = region.head.astype(np.int64), region.tail.astype(np.int64)
    of_head, of_tail = region.hops.take(head), region.hops.take(tail)
    for hop in range(1, int(region.hops.max(initial=0)) + 1):
        forth = np.flatnonzero((of_tail == hop) & (of_head == hop - 1))
        back = np.flatnonzero((of_head == hop) & (of_tail == hop - 1))
        for source, target in (
            (head.take(forth), tail.take(forth)),
            (tail.take(back), head.take(back)),
        ):
            np.minimum.at(origin, target, origin.take(source))
    return origin
