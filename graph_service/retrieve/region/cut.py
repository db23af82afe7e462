"""Cutting the region of a question out of a graph, or of a view of it (row O3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from graph_service.errors import InputError
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import (
    Bool,
    Int32,
    Int64,
    KnowledgeGraph,
    NodeKind,
    Numbers,
    Uint8,
    ranges,
)
from graph_service.model.graph_arrays import SIDES, find_positions
from graph_service.model.identity import key64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.region import Region
from graph_service.model.topology import edge_type
from graph_service.model.values import EntityValue, NoValue, SomeValue, decode_value
from graph_service.sorting import TABLE, are_among, distinct, key_order, ranked
from graph_service.walk import Step, walk

IsInstance = Callable[[Int64], Bool]
"""Which of some entities, global numbers, are of the types asked for."""
LOOKED_AT = 10
"""Times as many edges of one step are looked at, where types are asked for, as are kept."""


@dataclass(frozen=True, slots=True)
class _EdgeFilter:
    ranks: tuple[int, ...]
    best_only: bool
    include: Int32 | None
    exclude: Int32 | None


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Columns of some edges: number, key, head, relation and tail, global."""

    numbers: Int64
    keys: Int64
    head: Int32
    rel: Int32
    tail: Int32


def extract_region(
    graph: KnowledgeGraph,
    start_entities: Sequence[int] | Int32,
    /,
    *,
    hops: int,
    max_edges: int,
    hub_degree: int | None = None,
    overlay: Overlay | None = None,
    ranks: Sequence[int] = (0, 1),
    best_only: bool = False,
    relation_filter: tuple[Int32 | None, Int32 | None] | None = None,
    is_instance: IsInstance | None = None,
    equal: EqualEntities | None = None,
    degrees: Int64 | None = None,
    deadline: Deadline | None = None,
) -> Region:
    """Returns the edges within some steps of some entities, walked both ways.

    A literal, and an entity of more than ``hub_degree`` edges in the base, is reached and not
    walked through; a start entity always is. Of more than ``max_edges`` edges those of fewer hops, then
    of smaller key, stay. What the region costs depends on its own size, not on the graph's.

    Args:
        graph: The base.
        start_entities: Entities of the question, global numbers, without repeats.
        hops: Steps, at least 1.
        max_edges: Most edges.
        hub_degree: See above; None for no such rule.
        overlay: The view, where one is asked for.
        ranks: ``RANK_CODES`` of the statements that are edges.
        best_only: Keep only an entity's best-ranked statements of a relation.
        relation_filter: Relations to keep and relations to leave out, int32; None for no filter.
        is_instance: Which entities are reached beside the start entities; None for all. Others
            do not count as edges: ``LOOKED_AT`` times ``max_edges`` of a step are looked at.
        equal: Entities that are one thing, reached all together: those of the start entities come
            after these. None where each entity is a node of its own.
        degrees: Of each node in the whole graph, int64 [N], where ``graph`` is a part of it.
        deadline: Raises ``DeadlineError`` when past.

    Raises:
        InputError: There are no start entities, or one is no entity of the graph or view.
    """
    include, exclude = relation_filter or (None, None)
    total_nodes = graph.node_count + (len(overlay.new_nodes) if overlay else 0)
    start = np.asarray(start_entities, dtype=np.int64)
    if not len(start):
        raise InputError("a region needs at least one entity", argument="entity_ids")
    if start.min() < 0 or start.max() >= total_nodes or _is_literal(graph, overlay, start).any():
        raise InputError("a start entity is no entity of the graph", argument="entity_ids")
    if equal is not None and not len(equal):
        equal = None
    if equal is not None:
        start = equal.followed_by_members(start)
    region = _ArrayRegion(
        graph,
        overlay,
        np.unique(start),
        total_nodes=total_nodes,
        edge_filter=_EdgeFilter(tuple(ranks), best_only, include, exclude),
        is_instance=is_instance,
        most_examined=LOOKED_AT * max_edges,
        equal=equal,
        degrees=degrees,
        deadline=deadline or Deadline.none(),
    )
    cuts = walk(region, region.reached[0], hops=hops, max_edges=max_edges, hub_degree=hub_degree)
    return _assemble(graph, overlay, degrees, start, region.reached, region.parts, cuts)


class _ArrayRegion:
    """A region that grows over the arrays of a graph, or of a view of it.

    Attributes:
        reached: The nodes that each hop has reached, ascending; the start entities first.
        parts: The edges that each hop has added; none first.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        overlay: Overlay | None,
        start: Int64,
        /,
        *,
        total_nodes: int,
        edge_filter: _EdgeFilter,
        is_instance: IsInstance | None,
        most_examined: int,
        equal: EqualEntities | None,
        degrees: Int64 | None,
        deadline: Deadline,
    ) -> None:
        self._graph = graph
        self._overlay = overlay
        self._filter = edge_filter
        self._is_instance = is_instance
        self._most_examined = most_examined
        self._equal = equal
        self._degrees = degrees
        self._deadline = deadline
        # calloc: pages of nodes that are never reached are never touched.
        self._seen = np.zeros(total_nodes, dtype=bool)
        self._seen[start] = True
        self.reached = [start]
        self.parts = [_columns(graph, overlay, np.zeros(0, dtype=np.int64))]

    def walkable(self, nodes: Int64, hub_degree: int | None) -> tuple[Int64, int]:
        nodes = nodes[~_is_literal(self._graph, self._overlay, nodes)]
        if hub_degree is None:
            return nodes, 0
        degrees = _degrees(self._graph, self._degrees, nodes)
        if self._equal is not None:
            group = self._equal.groups_of(nodes)
            rows = np.flatnonzero(group >= 0)
            if len(rows):
                _, thing = ranked(group[rows].astype(np.int64))
                degrees[rows] = np.bincount(thing, weights=degrees[rows])[thing]
        is_hub = degrees > hub_degree
        hubs = nodes[is_hub]
        if self._equal is not None and len(hubs):
            hubs = distinct(self._equal.things(hubs))
        return nodes[~is_hub], len(hubs)

    def step(self, nodes: Int64, room: int) -> Step[Int64]:
        self._deadline.check("walking the graph")
        graph, overlay, seen = self._graph, self._overlay, self._seen
        new = _incident(graph, overlay, nodes, self._filter)
        new = _without(new, [part.numbers for part in self.parts])
        cuts: tuple[Cut, ...] = ()
        if self._is_instance is not None:
            new, cuts = _of_types(graph, overlay, new, seen, self._is_instance, self._most_examined)
        total = sum(len(part.numbers) for part in self.parts) + len(new)
        is_cut = len(new) > room
        if is_cut:
            new = _of_smallest_keys(graph, overlay, new, room)
        part = _columns(graph, overlay, new)
        self.parts.append(part)
        endpoints = distinct(np.concatenate((part.head, part.tail)))
        reached = endpoints[~seen[endpoints]]
        seen[reached] = True
        if self._equal is not None:
            others = self._equal.others(reached)
            others = others[~seen[others]]
            if len(others):
                seen[others] = True
                reached = distinct(np.concatenate((reached, others)))
        self.reached.append(reached)
        return Step(len(new), reached, is_cut, total, cuts)


def _of_types(
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    edges: Int64,
    seen: Bool,
    is_instance: IsInstance,
    most: int,
) -> tuple[Int64, tuple[Cut, ...]]:
    """Returns those of some edges whose endpoints were reached before, are literals or of the types."""
    cuts: tuple[Cut, ...] = ()
    if len(edges) > most:
        cuts = (Cut("edges", CutReason.LIMIT, most, most, len(edges)),)
        edges = _of_smallest_keys(graph, overlay, edges, most)
    columns = _columns(graph, overlay, edges)
    endpoints = distinct(np.concatenate((columns.head, columns.tail)))
    new = endpoints[~seen[endpoints]].astype(np.int64)
    new = new[~_is_literal(graph, overlay, new)]
    others = new[~is_instance(new)]
    selected = ~(np.isin(columns.head, others) | np.isin(columns.tail, others))
    return columns.numbers[selected], cuts


def region_of_graph(
    graph: KnowledgeGraph,
    start_entities: Sequence[int] | Int32,
    /,
    *,
    hops: Mapping[int, int],
    degrees: Mapping[int, int],
    cuts: Sequence[Cut] = (),
) -> Region:
    """Returns all edges of a graph as a region: one that a store read, as arrays of its own.

    Args:
        graph: The region's statements and no others.
        start_entities: Entities of the question, without repeats.
        hops: Steps from the nearest start entity of each entity of the region.
        degrees: Degree of each in the whole graph, both directions.
        cuts: What the store left out.
    """
    entities = np.array(sorted(hops), dtype=np.int64)
    nodes = np.concatenate((entities, np.arange(graph.entity_count, graph.node_count)))
    steps = np.zeros(graph.node_count, dtype=np.uint8)
    steps[entities] = [hops[node] for node in entities.tolist()]
    literal = np.flatnonzero(graph.tail >= graph.entity_count)
    steps[graph.tail[literal]] = steps[graph.head[literal]] + 1
    edges = graph.topology.key_order
    degree = np.ones(graph.node_count, dtype=np.int64)
    degree[entities] = [degrees[node] for node in entities.tolist()]
    return Region(
        nodes=nodes.astype(np.int32),
        node_keys=_node_keys(graph, None, nodes),
        hops=steps[nodes],
        literal=nodes >= graph.entity_count,
        degrees=degree[nodes],
        start_entities=np.searchsorted(nodes, np.asarray(start_entities, dtype=np.int64)).astype(
            np.int32
        ),
        edges=edges.astype(np.int64),
        edge_keys=graph.statement_keys[edges],
        head=_local(nodes, graph.head[edges]),
        tail=_local(nodes, graph.tail[edges]),
        rel=graph.rel[edges],
        cuts=tuple(cuts),
    )


def induced(region: Region, selected: Bool, /, *, cuts: Sequence[Cut] = ()) -> Region:
    """Returns the part of a region on some of its nodes; start entities must be among them.

    Args:
        region: The region.
        selected: Nodes that stay, bool [n].
        cuts: Put after the region's own.
    """
    edges = selected[region.head] & selected[region.tail]
    number = np.cumsum(selected, dtype=np.int32) - np.int32(1)
    return Region(
        nodes=region.nodes[selected],
        node_keys=region.node_keys[selected],
        hops=region.hops[selected],
        literal=region.literal[selected],
        degrees=region.degrees[selected],
        start_entities=number[region.start_entities].astype(np.int32),
        edges=region.edges[edges],
        edge_keys=region.edge_keys[edges],
        head=number[region.head[edges]].astype(np.int32),
        tail=number[region.tail[edges]].astype(np.int32),
        rel=region.rel[edges],
        cuts=(*region.cuts, *cuts),
    )


def _assemble(
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    degrees: Int64 | None,
    start: Int64,
    reached: list[Int64],
    parts: list[_Edges],
    cuts: tuple[Cut, ...],
) -> Region:
    nodes = np.concatenate(reached)
    hops = np.repeat(np.arange(len(reached), dtype=np.uint8), [len(part) for part in reached])
    order = np.argsort(nodes, kind="stable")
    nodes, hops = nodes[order], hops[order]
    edge_keys = np.concatenate([part.keys for part in parts])
    order = key_order(edge_keys)
    head = np.concatenate([part.head for part in parts])[order]
    tail = np.concatenate([part.tail for part in parts])[order]
    return Region(
        nodes=nodes.astype(np.int32),
        node_keys=_node_keys(graph, overlay, nodes),
        hops=hops,
        literal=_is_literal(graph, overlay, nodes),
        degrees=_degrees(graph, degrees, nodes),
        start_entities=np.searchsorted(nodes, start).astype(np.int32),
        edges=np.concatenate([part.numbers for part in parts])[order],
        edge_keys=edge_keys[order],
        head=_local(nodes, head),
        tail=_local(nodes, tail),
        rel=np.concatenate([part.rel for part in parts])[order],
        cuts=cuts,
    )


def _local(nodes: Int64, endpoints: Int32) -> Int32:
    """Returns the index of each endpoint among some nodes, which ascend and hold it."""
    if len(nodes) and nodes[-1] < TABLE:
        table = np.empty(int(nodes[-1]) + 1, dtype=np.int32)
        table[nodes] = np.arange(len(nodes), dtype=np.int32)
        index: Int32 = table[endpoints]
        return index
    return np.searchsorted(nodes, endpoints).astype(np.int32)


def _incident(
    graph: KnowledgeGraph, overlay: Overlay | None, nodes: Int64, edges: _EdgeFilter
) -> Int64:
    """Returns the edges of some nodes, which ascend: the base's, and then the overlay's."""
    base = nodes[nodes < graph.node_count]
    incident = _edges_at(graph, base).astype(np.int64)
    selected = _passes(edges, graph.rank[incident], graph.rel[incident])
    if edges.best_only:
        best = graph.best[incident]
        if overlay is not None and len(overlay.risen):
            best |= np.isin(incident, overlay.risen)
        selected &= best
    if overlay is not None:
        selected &= ~overlay.gone.has(incident)
    incident = incident.take(np.flatnonzero(selected))
    if overlay is None or not len(overlay.head):
        return incident
    extra = distinct(np.concatenate([way.of(nodes) for way in _extra_edges(overlay)]))
    selected = _passes(edges, overlay.rank[extra], overlay.rel[extra])
    if edges.best_only:
        selected &= overlay.best[extra]
    return np.concatenate((incident, extra[selected] + graph.edge_count))


def _edges_at(graph: KnowledgeGraph, nodes: Int64) -> Numbers:
    """Returns the edges that leave some nodes or arrive there, each once; the nodes ascend."""
    leaving, arriving = graph.out_edges.edges_of(nodes), graph.in_edges.edges_of(nodes)
    others = np.flatnonzero(~are_among(graph.head[arriving], nodes))
    return np.concatenate((leaving, arriving.take(others)))


@dataclass(frozen=True, slots=True, eq=False)
class _ExtraEdges:
    """A view's own edges by one of their ends.

    Attributes:
        endpoints: The end of each, int32, ascending.
        edges: Their places in the overlay, int32 or int64.
    """

    endpoints: Int32
    edges: Numbers

    @classmethod
    def by(cls, endpoints: Int32) -> _ExtraEdges:
        order = np.argsort(endpoints, kind="stable").astype(edge_type(len(endpoints)))
        return cls(endpoints[order], order)

    def of(self, nodes: Int64) -> Numbers:
        """Returns the edges of some nodes, one node's after the other's."""
        return self.edges[ranges(*(find_positions(self.endpoints, nodes, side) for side in SIDES))]


_EXTRA_EDGES: WeakKeyDictionary[Overlay, tuple[_ExtraEdges, _ExtraEdges]] = WeakKeyDictionary()


def _extra_edges(overlay: Overlay) -> tuple[_ExtraEdges, _ExtraEdges]:
    """Returns the overlay's edges by head and by tail, sorted at the first question on a view."""
    known = _EXTRA_EDGES.get(overlay)
    if known is None:
        known = _ExtraEdges.by(overlay.head), _ExtraEdges.by(overlay.tail)
        _EXTRA_EDGES[overlay] = known
    return known


def extra_edges_bytes(overlay: Overlay, /) -> int:
    """Returns the bytes of the order that is made of an overlay's edges: by head, and by tail."""
    count = len(overlay.head)
    return 2 * (overlay.head.nbytes + np.dtype(edge_type(count)).itemsize * count)


def _without(edges: Int64, known: list[Int64]) -> Int64:
    """Returns the edges that are in none of some others."""
    others = np.concatenate(known)
    return edges.take(np.flatnonzero(~are_among(edges, others))) if len(others) else edges


def _passes(edges: _EdgeFilter, rank: Uint8, rel: Int32) -> Bool:
    counts = np.zeros(256, dtype=bool)
    counts[list(edges.ranks)] = True
    fits: Bool = counts[rank]
    if edges.include is not None:
        fits &= np.isin(rel, edges.include)
    if edges.exclude is not None and len(edges.exclude):
        fits &= ~np.isin(rel, edges.exclude)
    return fits


def _columns(graph: KnowledgeGraph, overlay: Overlay | None, edges: Int64) -> _Edges:
    if overlay is None or not len(overlay.head):
        return _Edges(
            edges,
            graph.statement_keys[edges],
            graph.head[edges],
            graph.rel[edges],
            graph.tail[edges],
        )
    is_extra = edges >= graph.edge_count
    base, extra = edges[~is_extra], edges[is_extra] - graph.edge_count
    return _Edges(
        np.concatenate((base, extra + graph.edge_count)),
        np.concatenate((graph.statement_keys[base], overlay.keys[extra])),
        np.concatenate((graph.head[base], overlay.head[extra])),
        np.concatenate((graph.rel[base], overlay.rel[extra])),
        np.concatenate((graph.tail[base], overlay.tail[extra])),
    )


def _of_smallest_keys(
    graph: KnowledgeGraph, overlay: Overlay | None, edges: Int64, count: int
) -> Int64:
    """Returns the ``count`` edges of the smallest keys out of more, in the order given."""
    if not count:
        return edges[:0]
    keys = _edge_keys(graph, overlay, edges)
    return edges.take(np.flatnonzero(keys <= np.partition(keys, count - 1)[count - 1]))


def _edge_keys(graph: KnowledgeGraph, overlay: Overlay | None, edges: Int64) -> Int64:
    if overlay is None:
        return graph.statement_keys[edges]
    keys = np.empty(len(edges), dtype=np.int64)
    is_extra = edges >= graph.edge_count
    keys[~is_extra] = graph.statement_keys[edges[~is_extra]]
    keys[is_extra] = overlay.keys[edges[is_extra] - graph.edge_count]
    return keys


def _degrees(graph: KnowledgeGraph, known: Int64 | None, nodes: Int64) -> Int64:
    """Returns the degree of each node in the base; 0 of one that a view alone has."""
    degrees = np.zeros(len(nodes), dtype=np.int64)
    base = nodes < graph.node_count
    degrees[base] = graph.degrees_of(nodes[base]) if known is None else known[nodes[base]]
    return degrees


def _is_literal(graph: KnowledgeGraph, overlay: Overlay | None, nodes: Int64) -> Bool:
    literal: Bool = nodes >= graph.entity_count
    if overlay is None or not overlay.new_nodes:
        return literal
    for position in np.flatnonzero(nodes >= graph.node_count).tolist():
        value = decode_value(overlay.new_nodes[int(nodes[position]) - graph.node_count])
        literal[position] = not isinstance(value, EntityValue)
    return literal


def _node_keys(graph: KnowledgeGraph, overlay: Overlay | None, nodes: Int64) -> Int64:
    keys = np.empty(len(nodes), dtype=np.int64)
    base = nodes < graph.node_count
    entity = nodes < graph.entity_count
    keys[entity] = graph.node_keys[nodes[entity]]
    # A literal belongs to one statement, whose key is its own.
    owners = graph.in_edges.edges_of(nodes[base & ~entity])
    keys[base & ~entity] = graph.statement_keys[owners]
    for position in np.flatnonzero(~base).tolist():
        assert overlay is not None
        number = int(nodes[position])
        value = decode_value(overlay.new_nodes[number - graph.node_count])
        if isinstance(value, EntityValue):
            keys[position] = key64(value.id)
        else:
            owner = np.flatnonzero(overlay.tail == number)
            keys[position] = overlay.keys[owner[0]]
    return keys


def prizeable(graph: KnowledgeGraph, overlay: Overlay | None, region: Region, /) -> Bool:
    """Returns which nodes may have a prize: all but those whose value is not known, bool [n]."""
    may_have = np.ones(region.node_count, dtype=bool)
    base = region.nodes < graph.node_count
    kinds = graph.node_kinds[region.nodes[base]]
    may_have[base] = (kinds != NodeKind.SOMEVALUE) & (kinds != NodeKind.NOVALUE)
    for position in np.flatnonzero(~base).tolist():
        assert overlay is not None
        value = decode_value(overlay.new_nodes[int(region.nodes[position]) - graph.node_count])
        may_have[position] = not isinstance(value, SomeValue | NoValue)
    return may_have
