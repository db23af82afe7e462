"""Views of a graph above the snapshot limit: drawn on their scope alone, then walked on the store.

A view is served here if its scope is a part of the graph that can be read, and if its method looks
at that part alone (``views.alone``). Its result is that of the snapshot; all others are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from graph_service.artifacts.pruned import pruned_edges
from graph_service.artifacts.views import AppliedView, ViewStore
from graph_service.errors import InputError, LimitError
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import RANKS, Int64, KnowledgeGraph, Numbers, require_node
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.request import RetrieveRequest
from graph_service.model.statement import Rank
from graph_service.model.values import encode_value
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.retrieve.preset import MAX_EDGES, OKGQA, Preset
from graph_service.service.graph_slice import DEFAULT_RANKS
from graph_service.service.lookup import read_id, require_base
from graph_service.service.store_types import endpoints_of
from graph_service.store.lookup import StoredThings
from graph_service.store.protocol import Store
from graph_service.store.snapshot.region_graph import (
    RegionGraph,
    region_graph_of,
    unlabelled_graph_of,
)
from graph_service.views.alone import BEYOND, can_draw_alone, cheaper_nodes, reads_parallel_edges
from graph_service.views.overlay import lay
from graph_service.views.part import Part
from graph_service.views.scope import scope_edges
from graph_service.walk import NewRows, RowRegion, walk

_RAISE = "Raise GRAPH_SERVICE_SNAPSHOT_EDGES"
_PRUNED = "METHOD:LEVEL:SEED:pruned is drawn on a part of the question's region alone"


def servable_view(
    views: ViewStore, info: GraphInfo, request: RetrieveRequest, /
) -> ViewSpec | None:
    """Returns the specification of a request's view, if it can be served from the store.

    Raises:
        InputError: It reads more of the graph than its scope, or the scope is no part of it; says
            what, and what can be done.
        ViewNotFoundError: No such stored view.
        ViewStaleError: The base has changed since the view was made.
    """
    if request.view is None:
        return None
    require_base(info)
    spec = views.spec_of(info.name, request.view, edges=info.fingerprints.edges)
    is_stored = request.view.spec is None
    reads, hint = _reads(spec, is_stored=is_stored), f"{_RAISE}."
    if reads is None and request.type_ids:
        reads = "the classes of all entities for type_ids"
    elif spec.scope.pruned:
        hint = f"{_RAISE}, or give its specification inline."
    elif _may_be_pruned(spec):
        hint = f"{_RAISE}, or give the view another scope: {_PRUNED}."
    if reads is not None:
        raise InputError(
            f"a view by {spec.method.value} reads {reads}, and graph {info.name!r} has more "
            "statements than GRAPH_SERVICE_SNAPSHOT_EDGES, so that it is not read whole",
            argument="view",
            hint=hint,
        )
    return spec


def _may_be_pruned(spec: ViewSpec) -> bool:
    takes = spec.takes
    if spec.entity_ids or spec.method is Method.NAMES:
        return False
    return takes.is_random and takes.has_scope


def _reads(spec: ViewSpec, *, is_stored: bool) -> str | None:
    """Returns what of a graph a view needs that is not read from a store; None for nothing."""
    if not can_draw_alone(spec):
        return BEYOND[spec.method]
    if is_stored and spec.method is Method.STALE:
        return "the statements that it was drawn from, whose qualifiers may have changed"
    scope = spec.scope
    if spec.takes.is_random and not (
        scope.of_question or scope.statement_ids or scope.around_entity_ids
    ):
        return "all statements of its relations" if scope.relation_ids else "all statements"
    return None


@dataclass(frozen=True, slots=True, eq=False)
class ViewRegion:
    """The part of a graph that a question on a view is answered from.

    Attributes:
        part: Its statements in the base, with those that the view changes.
        view: The view of them.
        degrees: Degree of each node of the part in the whole base, int64 [N]; of those in the
            region.
    """

    part: RegionGraph
    view: AppliedView
    degrees: Int64


@dataclass(frozen=True, slots=True, eq=False)
class ViewSlice:
    """A view drawn on what the store gave of its scope.

    Attributes:
        graph: The scope, and what lies beside it; without labels.
        rows: Its statements, by id.
        view: The view of them.
    """

    graph: KnowledgeGraph
    rows: Mapping[str, EdgeRow]
    view: AppliedView


class StoreViews:
    """Draws views on what a store gives, and reads what a question sees through them.

    Args:
        store: Where the graph is.
        views: Draws and lays.
        info: The graph.
        equal: Entities that are one thing for a question, as 64-bit keys. Views are drawn of
            statements and see each entity as it is.
        deadline: Raises ``DeadlineError`` when past.
    """

    def __init__(
        self,
        store: Store,
        views: ViewStore,
        info: GraphInfo,
        equal: EqualEntities,
        deadline: Deadline,
        /,
    ) -> None:
        self._store = store
        self._views = views
        self._info = info
        self._equal = equal
        self._deadline = deadline

    def draw(
        self, spec: ViewSpec, ids: Sequence[str], request: RetrieveRequest, preset: Preset, /
    ) -> ViewSlice:
        """Returns a view of some entities' question.

        Args:
            spec: As ``servable_view`` gives it.
            ids: The question's entities.
            request: What is asked.
            preset: Its limits are those of a scope of the question.

        Raises:
            InputError: The specification names what the graph lacks.
            LimitError: More than ``MAX_EDGES`` statements lie around what it names.
        """
        scope = spec.scope
        rows: dict[str, EdgeRow] = {}
        entities: set[str] = set()
        question: set[str] = set()
        if scope.of_question or scope.pruned:
            start_ids = ids if scope.of_question else scope.around_entity_ids
            limits = OKGQA if scope.pruned else preset
            ranks = DEFAULT_RANKS if scope.pruned else request.ranks or DEFAULT_RANKS
            neighbourhood = self._around(
                start_ids, scope.hops, limits.max_edges, limits.hub_degree, ranks
            )
            rows |= _by_id(neighbourhood.edges)
            question = {*rows}
            entities |= neighbourhood.hops.keys()
        if scope.around_entity_ids and not scope.pruned:
            neighbourhood = self._around(scope.around_entity_ids, scope.hops, MAX_EDGES)
            _require_complete(neighbourhood, "lie around the entities of the view's scope")
            rows |= _by_id(neighbourhood.edges)
            entities |= neighbourhood.hops.keys()
        rows |= self._named((*scope.statement_ids, *spec.statement_ids))
        graph = unlabelled_graph_of(self._info, [*rows.values()], entities)
        if reads_parallel_edges(spec):
            rows |= self._parallel(graph)
            graph = unlabelled_graph_of(self._info, [*rows.values()], entities)
        edges = self._scope(graph, spec, ids, question)
        view = self._views.lay_alone(graph, spec, edges=edges, deadline=self._deadline)
        return ViewSlice(graph, rows, view)

    def _scope(
        self, graph: KnowledgeGraph, spec: ViewSpec, ids: Sequence[str], question: set[str]
    ) -> Numbers:
        """Returns the edges that a view may change, int32 or int64, ascending."""
        scope, kind = spec.scope, graph.edge_type
        if not spec.takes.is_random:
            return np.zeros(0, dtype=kind)
        if scope.pruned:
            start_ids = ids if scope.of_question else scope.around_entity_ids
            return self._pruned(graph, start_ids, scope.hops)
        ids_of_edges = graph.statement_ids.take(np.arange(graph.edge_count))
        positions = np.flatnonzero([id_ in question for id_ in ids_of_edges]).astype(kind)
        relations = self._relations(graph, scope)
        if scope.relation_ids and not relations:
            return np.zeros(0, dtype=kind)
        return scope_edges(
            graph,
            replace(scope, relation_ids=relations),
            question_edges=positions,
            deadline=self._deadline,
        )[0]

    def _pruned(self, graph: KnowledgeGraph, start_ids: Sequence[str], hops: int) -> Numbers:
        if not start_ids:
            return np.zeros(0, dtype=graph.edge_type)
        nodes = [require_node(graph, id_) for id_ in start_ids]
        return pruned_edges(graph, nodes, hops=hops, deadline=self._deadline)

    def _relations(self, graph: KnowledgeGraph, scope: Scope) -> tuple[str, ...]:
        """Returns those of a scope's relations that a part of the graph has."""
        known = [id_ for id_ in scope.relation_ids if graph.find_relation(id_) is not None]
        if len(known) < len(scope.relation_ids):
            there = {entity.id for entity in self._store.relations(self._info.edition)}
            for id_ in scope.relation_ids:
                if id_ not in there:
                    raise InputError(
                        f"graph {self._info.name!r} has no relation {id_!r}",
                        argument="scope.relation_ids",
                    )
        return tuple(known)

    def _around(
        self,
        ids: Sequence[str],
        hops: int,
        max_edges: int,
        hub_degree: int | None = None,
        ranks: Sequence[Rank] = DEFAULT_RANKS,
    ) -> Neighbourhood:
        return self._store.neighbourhood(
            self._info.edition,
            ids,
            hops=hops,
            max_edges=max_edges,
            hub_degree=hub_degree,
            ranks=ranks,
            deadline=self._deadline,
        )

    def _named(self, ids: Iterable[str]) -> dict[str, EdgeRow]:
        """Returns those of some statements that the graph has."""
        statements = self._store.statements(self._info.edition, list(dict.fromkeys(ids)))
        return {
            id_: EdgeRow(
                id_,
                statement.head,
                statement.relation,
                encode_value(statement.value),
                statement.rank,
            )
            for id_, statement in statements.items()
        }

    def _parallel(self, graph: KnowledgeGraph) -> dict[str, EdgeRow]:
        """Returns the statements, of any rank, between the entities of each edge."""
        edges = np.flatnonzero(graph.tail < graph.entity_count)
        head, tail = graph.head[edges].astype(np.int64), graph.tail[edges].astype(np.int64)
        ids = graph.node_ids.take(np.arange(graph.entity_count))
        known = self._around(ids, 0, 0).degrees
        looked = cheaper_nodes(head, tail, np.array([known[id_] for id_ in ids], dtype=np.int64))
        near = self._around([ids[node] for node in looked], 1, MAX_EDGES, ranks=tuple(Rank))
        _require_complete(near, "lie beside those of the view's scope")
        pairs = {
            frozenset((ids[left], ids[right]))
            for left, right in zip(head.tolist(), tail.tolist(), strict=True)
        }
        return _by_id(edge for edge in near.edges if frozenset(endpoints_of(edge)) in pairs)

    def read(
        self,
        view_slice: ViewSlice,
        ids: Sequence[str],
        request: RetrieveRequest,
        preset: Preset,
        /,
    ) -> ViewRegion:
        """Returns the part of the graph around some entities, as one walks it on a view.

        Args:
            view_slice: The view.
            ids: Where the region starts.
            request: What is asked.
            preset: Its limits.
        """
        things = StoredThings(self._store, self._info, self._equal)
        read_region = _ViewRegion(
            self._store, self._info, view_slice, things, request, preset, self._deadline
        ).run(ids)
        every = {**view_slice.rows, **_by_id(read_region.edges)}
        part = region_graph_of(
            self._store,
            self._info,
            replace(read_region, edges=tuple(every.values())),
            equal=self._equal,
        )
        applied = view_slice.view
        delta = Part.within(view_slice.graph, part.graph).in_base(applied.delta)
        view = replace(applied, delta=delta, overlay=lay(part.graph, delta, view_id=applied.id))
        degrees = part.graph.degrees()
        for id_, degree in read_region.degrees.items():
            node = part.graph.find_node(id_)
            if node is not None:
                degrees[node] = degree
        return ViewRegion(part, view, degrees)


class _Extra(NamedTuple):
    """A statement of a view: its key, endpoints, relation and rank; a literal is no endpoint."""

    key: int
    endpoints: tuple[str, ...]
    relation: str
    rank: Rank


class _ViewRegion(RowRegion[str, EdgeRow | _Extra]):
    """A region that grows on a view, over what a store gives of the base."""

    def __init__(
        self,
        store: Store,
        info: GraphInfo,
        view_slice: ViewSlice,
        things: StoredThings,
        request: RetrieveRequest,
        preset: Preset,
        deadline: Deadline,
    ) -> None:
        super().__init__()
        self._things = things
        self._store = store
        self._info = info
        self._preset = preset
        self._deadline = deadline
        self._ranks = request.ranks or DEFAULT_RANKS
        self._relations = [read_id(raw, argument="relation_ids") for raw in request.relation_ids]
        self._excluded = [
            read_id(raw, argument="exclude_relation_ids") for raw in request.exclude_relation_ids
        ]
        graph, delta = view_slice.graph, view_slice.view.delta
        changed = np.concatenate([delta.removed, delta.replaced])
        self._gone = {
            id_: row
            for id_ in graph.statement_ids.take(changed)
            if self._passes((row := view_slice.rows[id_]).relation, row.rank)
        }
        self._extra_at: dict[str, list[_Extra]] = {}
        for extra in _extras(view_slice):
            if self._passes(extra.relation, extra.rank):
                for end in {*extra.endpoints}:
                    self._extra_at.setdefault(end, []).append(extra)

    def _passes(self, relation: str, rank: Rank) -> bool:
        return (
            rank in self._ranks
            and (not self._relations or relation in self._relations)
            and relation not in self._excluded
        )

    def run(self, ids: Sequence[str], /) -> Neighbourhood:
        """Returns the statements of the base that the walk keeps, and what it reaches on the view."""
        preset = self._preset
        cuts = walk(
            self,
            self.start_from(ids),
            hops=preset.hops,
            max_edges=preset.max_edges,
            hub_degree=preset.hub_degree,
        )
        self.know_degrees(self.hops)
        return Neighbourhood(
            edges=tuple(row for row in self.rows.values() if isinstance(row, EdgeRow)),
            hops=self.hops,
            degrees={id_: self.degrees[id_] for id_ in self.hops},
            unexpanded=tuple(self.hubs),
            truncated=cuts,
        )

    def read_degrees(self, nodes: Sequence[str]) -> Mapping[str, int]:
        return self._near(nodes, hops=0, max_edges=0).degrees

    def endpoints(self, row: EdgeRow | _Extra) -> tuple[str, ...]:
        return row.endpoints if isinstance(row, _Extra) else endpoints_of(row)

    def equal_nodes(self, nodes: Iterable[str]) -> Mapping[str, Sequence[str]]:
        return self._things.of(nodes)

    def new_rows(self, nodes: Sequence[str], room: int) -> NewRows[EdgeRow | _Extra]:
        near = self._near(nodes, hops=1, max_edges=room + len(self.rows) + len(self._gone))
        rows: dict[int, EdgeRow | _Extra] = {
            key: edge
            for edge in near.edges
            if edge.statement_id not in self._gone
            and (key := key64(edge.statement_id)) not in self.rows
        }
        extra = {
            edge.key: edge
            for id_ in nodes
            for edge in self._extra_at.get(id_, ())
            if edge.key not in self.rows
        }
        if not near.truncated:
            return NewRows(rows | extra, len(self.rows) + len(rows) + len(extra))
        (cut,) = near.truncated
        if cut.total is None:
            return NewRows(rows | extra)
        at = set(nodes)
        of_base = (row for row in self.rows.values() if isinstance(row, EdgeRow))
        before = sum(
            not at.isdisjoint(endpoints_of(row)) for row in (*self._gone.values(), *of_base)
        )
        return NewRows(rows | extra, len(self.rows) + cut.total - before + len(extra))

    def _near(self, ids: Sequence[str], *, hops: int, max_edges: int) -> Neighbourhood:
        near = self._store.neighbourhood(
            self._info.edition,
            ids,
            hops=hops,
            max_edges=max_edges,
            ranks=self._ranks,
            relation_ids=self._relations,
            exclude_relation_ids=self._excluded,
            deadline=self._deadline,
        )
        self.degrees |= near.degrees
        return near


def _extras(view_slice: ViewSlice) -> Iterable[_Extra]:
    """Yields the statements that a view has instead of its base's, or beside them."""
    graph, overlay = view_slice.graph, view_slice.view.overlay
    nodes = np.unique(np.concatenate([overlay.head, overlay.tail]))
    nodes = nodes[nodes < graph.entity_count]
    names = dict(zip(nodes.tolist(), graph.node_ids.take(nodes), strict=True))
    relations = graph.relation_ids.take(np.arange(graph.relation_count))
    for key, head, rel, tail, rank in zip(
        *(
            column.tolist()
            for column in (overlay.keys, overlay.head, overlay.rel, overlay.tail, overlay.rank)
        ),
        strict=True,
    ):
        endpoints = tuple(names[node] for node in (head, tail) if node in names)
        yield _Extra(key, endpoints, relations[rel], RANKS[rank])


def _by_id(edges: Iterable[EdgeRow]) -> dict[str, EdgeRow]:
    return {edge.statement_id: edge for edge in edges}


def _require_complete(neighbourhood: Neighbourhood, where: str) -> None:
    if neighbourhood.truncated:
        raise LimitError(
            f"more than {MAX_EDGES} statements {where}", argument="view", hint=f"{_RAISE}."
        )
