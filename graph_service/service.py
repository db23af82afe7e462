"""Store, embedder, linker and views to results: the way in for Python without GraphQL.

``open_service`` gives a ``Service``; the GraphQL API is a thin layer over the same object.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
import orjson

import graph_service
from graph_service.embed import Embedder, Vectors, open_embedder, open_vectors
from graph_service.errors import GraphNotFoundError, InputError
from graph_service.link import Mention, link
from graph_service.model.graph import RANK_CODES, Int32, KnowledgeGraph, require_node
from graph_service.model.identity import digest, normalise_entity_id
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.plain import to_plain
from graph_service.model.render import TextFormat, item_text
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import (
    EntityRef,
    LinkedEntity,
    PathsResult,
    Prizes,
    Provenance,
    RegionReport,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Step,
    Strategy,
    SubgraphResult,
    Tokens,
    TripletsResult,
)
from graph_service.model.statement import Entity, Rank, Statement
from graph_service.model.values import EntityValue
from graph_service.model.view import ChangeKind, Overlay, StoredView, ViewSpec
from graph_service.retrieve.engine import Selection, run
from graph_service.retrieve.preset import Preset, resolve_preset
from graph_service.retrieve.region import extract_region
from graph_service.settings import Settings, read_settings
from graph_service.store import open_store
from graph_service.store.protocol import EntityLookup, GraphInfo, SearchHit, Store
from graph_service.triples import ShownEdge, TripleMaker, with_details
from graph_service.view_store import LaidView, ViewStore

SNAPSHOTS_KEPT = 4
ResultT = TypeVar("ResultT", TripletsResult, PathsResult, SubgraphResult)


@dataclass(frozen=True, slots=True)
class ViewChange:
    """One difference between a view and its base.

    ``before`` is None for an added statement, ``after`` for a removed one.
    """

    before: ShownEdge | None
    after: ShownEdge | None


@dataclass(frozen=True, slots=True)
class ShownStatement:
    """A statement of an entity, on the base or on a view."""

    statement: Statement
    edge: ShownEdge


@dataclass(frozen=True, slots=True)
class Comparison:
    """One view's result beside the base's.

    Attributes:
        view_id: None for the base.
        lost, gained: Statement ids that the base's result has and this one has not; and the
            other way round.
        changed: Statement ids of this result that the view made.
    """

    view_id: str | None
    view_spec: str | None
    result: RetrievalResult
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    changed: tuple[str, ...]


class Service:
    """Answers reads and makes views. Safe to use from several threads.

    Args:
        store: An open store; closed with the service.
        vectors: Text vectors; opened at first use where it is a function.
        settings: Limits and names.
    """

    def __init__(
        self,
        store: Store,
        /,
        *,
        vectors: Vectors | Callable[[], Vectors],
        settings: Settings,
    ) -> None:
        self.store = store
        self.settings = settings
        self._open_vectors = vectors
        self._vectors: Vectors | None = None if callable(vectors) else vectors
        self._graphs: OrderedDict[str, KnowledgeGraph] = OrderedDict()
        self._views = ViewStore(store)
        self._lock = Lock()
        self._building: dict[str, Lock] = {}

    # Graphs

    def graphs(self) -> list[GraphInfo]:
        """Returns all graphs of the store, by name."""
        return self.store.graphs()

    def graph(self, name: str | None = None, /) -> GraphInfo:
        """Returns a graph; without a name, the one of the settings or the only one there is.

        Raises:
            GraphNotFoundError: There is none of that name, or more than one to choose from.
        """
        chosen = name or self.settings.graph
        if chosen:
            return self.store.graph(chosen)
        known = self.store.graphs()
        if len(known) == 1:
            return known[0]
        if not known:
            raise GraphNotFoundError(
                f"the store {self.store.url} has no graph yet",
                argument="graph",
                hint="Load one: graph-service load SOURCE --graph NAME",
            )
        names = ", ".join(info.name for info in known)
        raise GraphNotFoundError(
            f"the store has {len(known)} graphs: {names}; say which", argument="graph"
        )

    def arrays(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns a graph as arrays; each edition is opened once and kept while it is used."""
        with self._lock:
            graph = self._graphs.get(info.edition + info.fingerprints.content)
            if graph is not None:
                self._graphs.move_to_end(info.edition + info.fingerprints.content)
                return graph
            building = self._building.setdefault(info.edition, Lock())
        with building:
            with self._lock:
                graph = self._graphs.get(info.edition + info.fingerprints.content)
            if graph is None:
                graph = self.store.snapshot(info)
        with self._lock:
            self._graphs[info.edition + info.fingerprints.content] = graph
            while len(self._graphs) > SNAPSHOTS_KEPT:
                self._graphs.popitem(last=False)
            self._building.pop(info.edition, None)
        return graph

    def delete_graph(self, name: str, /) -> None:
        """Deletes a graph with its views."""
        self.store.graph(name)
        self.store.delete_graph(name)

    # Entities

    def entities(self, ids: Sequence[str], /, *, graph: str | None = None) -> EntityLookup:
        """Returns entities by id (``Q42``, an IRI, ``dbr:Rome``), redirects followed."""
        info = self.graph(graph)
        wanted = {id_: normalise_entity_id(expand_prefix(id_)) for id_ in ids}
        found = self.store.entities(info.edition, list(dict.fromkeys(wanted.values())))
        return EntityLookup(
            found={raw: found.found[id_] for raw, id_ in wanted.items() if id_ in found.found},
            missing=tuple(raw for raw, id_ in wanted.items() if id_ not in found.found),
        )

    def search(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = (),
        limit: int = 10,
    ) -> list[SearchHit]:
        """Returns entities by name, best first."""
        if not query.strip():
            raise InputError("the search is empty", argument="query")
        self._check_limit(limit)
        return self.store.search(
            self.graph(graph).edition,
            query,
            languages=languages,
            limit=limit,
            deadline=self._deadline(),
        )

    def statements_of(
        self,
        entity_id: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        relation_ids: Sequence[str] = (),
        languages: Sequence[str] = ("en",),
        limit: int = 100,
    ) -> list[ShownStatement]:
        """Returns the statements that have an entity as their head, of every rank.

        On a view, a changed statement keeps the qualifiers and references of its base.
        """
        self._check_limit(limit)
        info = self.graph(graph)
        arrays = self.arrays(info)
        laid = self._views.lay(arrays, view, deadline=self._deadline())
        overlay = laid.overlay if laid else None
        lookup = self.entities([entity_id], graph=info.name)
        if lookup.missing:
            return []
        node = arrays.find_node(lookup.found[entity_id].id)
        if node is None:
            return []
        edges = _edges_from(arrays, overlay, node)
        if relation_ids:
            wanted = _relations(arrays, overlay, relation_ids)
            rels = _rels(arrays, overlay, edges)
            edges = edges[np.isin(rels, wanted)]
        maker = TripleMaker(arrays, overlay, languages)
        shown = maker.show(edges[:limit].tolist())
        return self._with_statements(info, list(shown.values()))

    def _with_statements(self, info: GraphInfo, shown: Sequence[ShownEdge]) -> list[ShownStatement]:
        base_ids = [_base_id(edge) for edge in shown]
        known = self.store.statements(info.edition, [id_ for id_ in base_ids if id_ is not None])
        statements = []
        for edge, base_id in zip(shown, base_ids, strict=True):
            base = known.get(base_id) if base_id is not None else None
            statements.append(
                ShownStatement(
                    Statement(
                        id=edge.triple.statement_id,
                        head=edge.triple.head.id,
                        relation=edge.triple.relation.id,
                        value=edge.triple.value,
                        rank=edge.triple.rank,
                        qualifiers=base.qualifiers if base else (),
                        references=base.references if base else (),
                        context=base.context if base else None,
                    ),
                    edge,
                )
            )
        return statements

    # Retrieval

    def retrieve(self, request: RetrieveRequest, /) -> RetrievalResult:
        """Returns triplets, paths or a subgraph for a question (O3 to O7).

        Raises:
            InputError: An argument is at fault; says which and what was expected.
            DeadlineError: The read's time limit ran out.
        """
        request.validate()
        deadline = self._deadline()
        started = time.perf_counter()
        info = self.graph(request.graph)
        graph = self.arrays(info)
        opened = time.perf_counter()
        linked, seeds, spans = self._link(request, info, graph)
        timings = {
            "open": 1000 * (opened - started),
            "link": 1000 * (time.perf_counter() - opened),
        }
        return self._retrieve_linked(
            request, info, graph, linked, seeds, spans, deadline, timings, started
        )

    def compare(self, request: RetrieveRequest, views: Sequence[ViewRef], /) -> list[Comparison]:
        """Returns the base's result and those of up to ten views, linked once (S3)."""
        if not 1 <= len(views) <= 10:
            raise InputError(f"compare takes 1 to 10 views, got {len(views)}", argument="views")
        request = replace(request, view=None)
        request.validate()
        deadline = self._deadline()
        info = self.graph(request.graph)
        graph = self.arrays(info)
        linked, seeds, spans = self._link(request, info, graph)
        comparisons: list[Comparison] = []
        base_ids: dict[str, None] = {}
        for view in (None, *views):
            started = time.perf_counter()
            result = self._retrieve_linked(
                replace(request, view=view),
                info,
                graph,
                linked,
                seeds,
                spans,
                deadline,
                {},
                started,
            )
            ids = {id_: None for id_, _ in _statement_changes(result)}
            if view is None:
                base_ids = ids
            comparisons.append(
                Comparison(
                    view_id=result.provenance.view_id,
                    view_spec=result.provenance.view_spec,
                    result=result,
                    lost=tuple(id_ for id_ in base_ids if id_ not in ids),
                    gained=tuple(id_ for id_ in ids if id_ not in base_ids),
                    changed=tuple(
                        id_
                        for id_, kind in dict(_statement_changes(result)).items()
                        if kind is not ChangeKind.UNCHANGED
                    ),
                )
            )
        return comparisons

    def neighbourhood(
        self,
        entity_id: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        hops: int = 1,
        limit: int = 100,
        languages: Sequence[str] = ("en",),
    ) -> SubgraphResult:
        """Returns the statements within some hops of an entity, nearest first."""
        self._check_limit(limit)
        if not 0 <= hops <= self.settings.max_hops:
            raise InputError(
                f"hops must be 0 to {self.settings.max_hops}, got {hops}", argument="hops"
            )
        started = time.perf_counter()
        info = self.graph(graph)
        arrays = self.arrays(info)
        laid = self._views.lay(arrays, view, deadline=self._deadline())
        overlay = laid.overlay if laid else None
        node = self._node(info, arrays, entity_id)
        region = extract_region(
            arrays,
            np.array([node], dtype=np.int32),
            hops=hops,
            max_edges=limit,
            overlay=overlay,
            deadline=self._deadline(),
        )
        maker = TripleMaker(arrays, overlay, languages)
        shown = maker.show(region.edges.tolist())
        distance = np.minimum(region.hops[region.head], region.hops[region.tail])
        order = np.lexsort((region.edge_keys, distance))
        items = tuple(
            ScoredTriple(shown[edge].triple, 0.0, Prizes(0.0, 0.0, 0.0), shown[edge].change)
            for edge in region.edges[order].tolist()
        )
        entity = maker.entities([node])[0]
        provenance = self._provenance(
            info,
            laid,
            Strategy.SUBGRAPH,
            "neighbourhood",
            {"hops": hops, "limit": limit, "languages": list(languages)},
            solver=None,
        )
        return _finish(
            SubgraphResult(
                id="",
                question="",
                status=Status.OK if items else Status.NOTHING_RELEVANT,
                linked=(LinkedEntity(entity, "", -1, -1, 1.0),),
                truncated=region.cuts,
                tokens=Tokens(0, ""),
                region=None,
                provenance=provenance,
                timings_ms={"total": 1000 * (time.perf_counter() - started)},
                items=items,
            )
        )

    def _retrieve_linked(
        self,
        request: RetrieveRequest,
        info: GraphInfo,
        graph: KnowledgeGraph,
        linked: tuple[LinkedEntity, ...],
        seeds: Int32,
        spans: tuple[tuple[int, int], ...],
        deadline: Deadline,
        timings: dict[str, float],
        started: float,
    ) -> RetrievalResult:
        preset = self._preset(request)
        ranks = tuple(RANK_CODES[rank] for rank in request.ranks) or (
            RANK_CODES[Rank.PREFERRED],
            RANK_CODES[Rank.NORMAL],
        )
        at = time.perf_counter()
        question_edges = None
        if request.view and request.view.spec and request.view.spec.scope.of_question:
            base_region = extract_region(
                graph,
                seeds,
                hops=request.view.spec.scope.hops,
                hub_degree=preset.hub_degree,
                max_edges=preset.max_edges,
                ranks=ranks,
                deadline=deadline,
            )
            question_edges = base_region.edges.astype(np.int32)
        laid = self._views.lay(
            graph, request.view, question_edges=question_edges, deadline=deadline
        )
        overlay = laid.overlay if laid else None
        timings["view"] = 1000 * (time.perf_counter() - at)
        vectors = self.vectors
        selection: Selection | None = None
        if len(seeds):
            selection = run(
                request.strategy,
                request.question,
                graph=graph,
                seeds=seeds,
                mentions=spans,
                overlay=overlay,
                preset=preset,
                encode=vectors.encode,
                languages=request.languages,
                relation_filter=_relation_filter(graph, overlay, request),
                ranks=ranks,
                min_score=request.min_score,
                deadline=deadline,
            )
            timings.update(selection.timings_ms)
        at = time.perf_counter()
        items = self._items(request, info, graph, overlay, selection)
        text_format = default_format_of(request.strategy)
        kept, cut, tokens = self._fit(items, request.token_budget, text_format, vectors.embedder)
        if selection is None:
            status = Status.NO_ENTITY_LINKED
        elif not kept:
            status = Status.NOTHING_RELEVANT
        else:
            status = Status.OK
        timings["shape"] = 1000 * (time.perf_counter() - at)
        timings["total"] = 1000 * (time.perf_counter() - started)
        common: dict[str, Any] = {
            "id": "",
            "question": request.question,
            "status": status,
            "linked": linked,
            "truncated": (*(selection.cuts if selection else ()), *cut),
            "tokens": tokens,
            "region": RegionReport(selection.region_before, selection.region_after)
            if selection
            else None,
            "provenance": self._provenance(
                info,
                laid,
                request.strategy,
                preset.name,
                {**preset.parameters(), **_request_parameters(request)},
                solver=selection.solver if selection else None,
            ),
            "timings_ms": timings,
            "items": kept,
        }
        match request.strategy:
            case Strategy.TRIPLETS:
                return _finish(TripletsResult(**common))
            case Strategy.PATHS:
                return _finish(PathsResult(**common))
            case Strategy.SUBGRAPH:
                return _finish(
                    SubgraphResult(
                        **common,
                        objective=selection.objective if selection else None,
                        gap=selection.gap if selection else None,
                    )
                )

    def _items(
        self,
        request: RetrieveRequest,
        info: GraphInfo,
        graph: KnowledgeGraph,
        overlay: Overlay | None,
        selection: Selection | None,
    ) -> tuple[ScoredTriple, ...] | tuple[ScoredPath, ...]:
        if selection is None:
            return ()
        maker = TripleMaker(graph, overlay, request.languages)
        wanted = [picked.edge for picked in selection.triples]
        for path in selection.paths:
            wanted.extend(path.edges)
        shown = maker.show(wanted)
        if request.details:
            base_ids = [_base_id(edge) for edge in shown.values()]
            statements = self.store.statements(
                info.edition, [id_ for id_ in base_ids if id_ is not None]
            )
            shown = {
                number: ShownEdge(with_details(edge.triple, edge.change, statements), edge.change)
                for number, edge in shown.items()
            }
        if request.strategy is Strategy.PATHS:
            return tuple(
                ScoredPath(
                    tuple(
                        Step(shown[edge].triple, bool(flag), shown[edge].change)
                        for edge, flag in zip(path.edges, path.reversed, strict=True)
                    ),
                    path.score,
                )
                for path in selection.paths
            )
        return tuple(
            ScoredTriple(
                shown[picked.edge].triple,
                picked.score,
                Prizes(picked.head_prize, picked.edge_prize, picked.tail_prize),
                shown[picked.edge].change,
            )
            for picked in selection.triples
        )

    def _fit(
        self,
        items: tuple[ScoredTriple, ...] | tuple[ScoredPath, ...],
        budget: int | None,
        text_format: TextFormat,
        embedder: Embedder,
    ) -> tuple[tuple[Any, ...], tuple[Cut, ...], Tokens]:
        sizes = [embedder.count_tokens(item_text(item, text_format=text_format)) for item in items]
        total = sum(sizes)
        if budget is None or total <= budget:
            return items, (), Tokens(total, embedder.name)
        chosen = _within_budget(items, sizes, budget)
        cut = Cut("items", CutReason.TOKEN_BUDGET, budget, len(chosen), len(items))
        size = sum(sizes[i] for i in chosen)
        return tuple(items[i] for i in chosen), (cut,), Tokens(size, embedder.name)

    def _link(
        self, request: RetrieveRequest, info: GraphInfo, graph: KnowledgeGraph
    ) -> tuple[tuple[LinkedEntity, ...], Int32, tuple[tuple[int, int], ...]]:
        maker = TripleMaker(graph, None, request.languages)
        if request.entity_ids:
            nodes = [self._node(info, graph, id_) for id_ in dict.fromkeys(request.entity_ids)]
            nodes = list(dict.fromkeys(nodes))
            given = tuple(LinkedEntity(ref, "", -1, -1, 1.0) for ref in maker.entities(nodes))
            mentions = link(request.question, graph, languages=request.languages)
            spans = tuple((item.start, item.end) for item in mentions)
            return given, np.array(nodes, dtype=np.int32), spans
        mentions = link(request.question, graph, languages=request.languages)
        linked = tuple(self._linked(mention, maker, info) for mention in mentions)
        seeds = list(dict.fromkeys(mention.candidates[0].node for mention in mentions))
        spans = tuple((item.start, item.end) for item in mentions)
        return linked, np.array(seeds, dtype=np.int32), spans

    def _linked(self, mention: Mention, maker: TripleMaker, info: GraphInfo) -> LinkedEntity:
        refs = maker.entities([candidate.node for candidate in mention.candidates])
        if len(refs) > 1:
            found = self.store.entities(info.edition, [ref.id for ref in refs]).found
            refs = [_described(ref, found.get(ref.id)) for ref in refs]
        return LinkedEntity(
            entity=refs[0],
            mention=mention.text,
            start=mention.start,
            end=mention.end,
            score=mention.candidates[0].score,
            alternatives=tuple(refs[1:]),
        )

    def _node(self, info: GraphInfo, graph: KnowledgeGraph, raw: str) -> int:
        id_ = normalise_entity_id(expand_prefix(raw))
        node = graph.find_node(id_)
        if node is not None:
            return node
        lookup = self.store.entities(info.edition, [id_])
        if lookup.missing:
            raise InputError(
                f"graph {info.name!r} has no entity {raw!r}",
                argument="entity_ids",
                hint=f"Look for it by name: graph-service search NAME --graph {info.name}",
            )
        return require_node(graph, lookup.found[id_].id)

    def _preset(self, request: RetrieveRequest) -> Preset:
        overrides = {
            "limit": request.limit,
            "hops": request.max_hops,
            "max_edges": request.max_edges,
            "top_nodes": request.top_nodes,
            "top_edges": request.top_edges,
            "edge_cost": request.edge_cost,
            "max_path_length": request.max_path_length,
        }
        if request.limit is not None:
            self._check_limit(request.limit)
        if request.max_hops is not None and request.max_hops > self.settings.max_hops:
            raise InputError(
                f"at most {self.settings.max_hops} hops are allowed, got {request.max_hops}",
                argument="max_hops",
            )
        return resolve_preset(
            request.preset, **{key: value for key, value in overrides.items() if value is not None}
        )

    @property
    def vectors(self) -> Vectors:
        """The text vectors, opened at first use."""
        with self._lock:
            if self._vectors is None:
                assert callable(self._open_vectors)
                self._vectors = self._open_vectors()
            return self._vectors

    # Views

    def create_view(
        self,
        spec: ViewSpec,
        /,
        *,
        graph: str | None = None,
        name: str | None = None,
        note: str = "",
    ) -> StoredView:
        """Makes a view of a graph and stores it (S4)."""
        arrays = self.arrays(self.graph(graph))
        return self._views.create(arrays, spec, name=name, note=note)

    def list_views(self, *, graph: str | None = None) -> list[StoredView]:
        """Returns the stored views of a graph, oldest first."""
        info = self.graph(graph)
        return self._views.list(info.name, edges=info.fingerprints.edges)

    def get_view(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Returns a stored view by id or name."""
        info = self.graph(graph)
        return self._views.get(info.name, reference, edges=info.fingerprints.edges)

    def delete_view(self, reference: str, /, *, graph: str | None = None) -> str:
        """Deletes a stored view and returns its id."""
        info = self.graph(graph)
        return self._views.delete(info.name, reference, edges=info.fingerprints.edges)

    def diff_view(
        self,
        reference: ViewRef,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = ("en",),
        first: int = 50,
        offset: int = 0,
    ) -> tuple[list[ViewChange], int]:
        """Returns changes of a view in order of their base edge, added ones last, and how many
        there are in all.
        """
        self._check_limit(first)
        arrays = self.arrays(self.graph(graph))
        laid = self._views.lay(arrays, reference, deadline=self._deadline())
        assert laid is not None
        overlay, delta = laid.overlay, laid.delta
        extra_of = {int(base): j for j, base in enumerate(overlay.base_edge.tolist()) if base >= 0}
        added = [j for j, base in enumerate(overlay.base_edge.tolist()) if base < 0]
        gone = sorted([*delta.removed.tolist(), *delta.replaced.tolist()])
        rows: list[tuple[int | None, int | None]] = [
            (edge, arrays.edge_count + extra_of[edge] if edge in extra_of else None)
            for edge in gone
        ]
        rows.extend((None, arrays.edge_count + j) for j in added)
        page = rows[offset : offset + first]
        maker = TripleMaker(arrays, overlay, languages)
        shown = maker.show([edge for row in page for edge in row if edge is not None])
        changes = [
            ViewChange(
                shown[before] if before is not None else None,
                shown[after] if after is not None else None,
            )
            for before, after in page
        ]
        return changes, len(rows)

    # Life

    def close(self) -> None:
        """Closes the store and the vector file."""
        if self._vectors is not None:
            self._vectors.close()
        self.store.close()

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Closes it."""
        self.close()

    def _deadline(self) -> Deadline:
        return Deadline.after(self.settings.read_timeout_s)

    def _check_limit(self, limit: int) -> None:
        if not 1 <= limit <= self.settings.max_items:
            raise InputError(
                f"the limit must be 1 to {self.settings.max_items}, got {limit}", argument="limit"
            )

    def _provenance(
        self,
        info: GraphInfo,
        laid: LaidView | None,
        strategy: Strategy,
        preset: str,
        parameters: Mapping[str, Any],
        *,
        solver: str | None,
    ) -> Provenance:
        return Provenance(
            graph=info.name,
            edition=info.edition,
            fingerprints=info.fingerprints,
            view_id=laid.id if laid else None,
            view_spec=laid.spec.to_json() if laid else None,
            strategy=strategy,
            preset=preset,
            parameters=parameters,
            embedder=self.vectors.embedder.name if preset != "neighbourhood" else "",
            solver=solver,
            version=graph_service.__version__,
        )


def open_service(
    store: str | Store | None = None,
    /,
    *,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
) -> Service:
    """Opens a store and returns the service over it.

    Args:
        store: An address (``sqlite:///graph.db``, ``bolt://localhost:7687``) or an open store;
            by default what the settings say.
        settings: By default those of the environment.
        embedder: By default the one the settings name, opened at first use.

    Raises:
        StoreError: The store does not answer or can't be read.
    """
    chosen = settings or read_settings()
    if store is None or isinstance(store, str):
        store = open_configured_store(chosen, store)

    def vectors() -> Vectors:
        return open_vectors(
            embedder or open_embedder(chosen.embedder, model_dir=chosen.model_dir or None),
            chosen.vector_file,
        )

    return Service(store, vectors=vectors, settings=chosen)


def open_configured_store(settings: Settings, url: str | None = None, /) -> Store:
    """Opens the store of an address, or the one that the settings name."""
    return open_store(
        url or settings.store_url,
        username=settings.neo4j_username,
        password=settings.neo4j_password or None,
        database=settings.neo4j_database,
        snapshot_folder=Path(settings.cache_dir) if settings.cache_dir else None,
        snapshot_cache_bytes=int(settings.cache_gb * 2**30),
    )


PREFIXES = {
    "dbr:": "http://dbpedia.org/resource/",
    "dbo:": "http://dbpedia.org/ontology/",
    "dbp:": "http://dbpedia.org/property/",
    "wd:": "http://www.wikidata.org/entity/",
}


def expand_prefix(id_: str, /) -> str:
    """Returns an id with a known prefix written out.

    >>> expand_prefix("dbr:Rome")
    'http://dbpedia.org/resource/Rome'
    """
    for prefix, iri in PREFIXES.items():
        if id_.startswith(prefix):
            return iri + id_[len(prefix) :]
    return id_


def default_format_of(strategy: Strategy, /) -> TextFormat:
    """Returns the text format in which a strategy's tokens are counted."""
    return TextFormat.PATHS if strategy is Strategy.PATHS else TextFormat.TRIPLES


def _within_budget(
    items: Sequence[ScoredTriple] | Sequence[ScoredPath], sizes: Sequence[int], budget: int
) -> list[int]:
    """Whole items, best first, as far as the budget goes; a subgraph stays connected."""
    chosen: list[int] = []
    nodes: set[str] = set()
    left = budget
    triples = [item for item in items if isinstance(item, ScoredTriple)]
    if not triples or not _connected(triples):
        for i, size in enumerate(sizes):
            if size > left:
                break
            chosen.append(i)
            left -= size
        return chosen
    order = sorted(range(len(triples)), key=lambda i: (-triples[i].score, i))
    while True:
        for i in order:
            ends = _ends(triples[i])
            if i not in chosen and (not nodes or nodes & ends):
                break
        else:
            return sorted(chosen)
        if sizes[i] > left:
            return sorted(chosen)
        chosen.append(i)
        nodes |= ends
        left -= sizes[i]


def _ends(item: ScoredTriple) -> set[str]:
    value = item.triple.value
    tail = value.id if isinstance(value, EntityValue) else "\x00" + item.triple.statement_id
    return {item.triple.head.id, tail}


def _connected(items: Sequence[ScoredTriple]) -> bool:
    rest = [_ends(item) for item in items]
    seen = rest.pop()
    while True:
        near = [ends for ends in rest if ends & seen]
        if not near:
            return not rest
        rest = [ends for ends in rest if not ends & seen]
        for ends in near:
            seen |= ends


def _described(ref: EntityRef, entity: Entity | None) -> EntityRef:
    if entity is None or not entity.descriptions:
        return ref
    text = entity.descriptions.get("en") or next(iter(sorted(entity.descriptions.items())))[1]
    return replace(ref, description=text)


def _base_id(edge: ShownEdge) -> str | None:
    if edge.change.kind is ChangeKind.UNCHANGED:
        return edge.triple.statement_id
    return edge.change.base.statement_id if edge.change.base else None


def _edges_from(
    graph: KnowledgeGraph, overlay: Overlay | None, node: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    start, end = graph.out_edges.indptr[node], graph.out_edges.indptr[node + 1]
    edges = graph.out_edges.edges[start:end].astype(np.int64)
    if overlay is None:
        return edges
    extra = np.flatnonzero(overlay.head == node) + graph.edge_count
    return np.concatenate([edges[~overlay.gone[edges]], extra])


def _rels(
    graph: KnowledgeGraph, overlay: Overlay | None, edges: np.ndarray[Any, np.dtype[np.int64]]
) -> Int32:
    base = edges < graph.edge_count
    rels = np.empty(len(edges), dtype=np.int32)
    rels[base] = graph.rel[edges[base]]
    if overlay is not None:
        rels[~base] = overlay.rel[edges[~base] - graph.edge_count]
    return rels


def _relations(
    graph: KnowledgeGraph, overlay: Overlay | None, relation_ids: Sequence[str]
) -> Int32:
    numbers: list[int] = []
    new = {id_: j for j, id_ in enumerate(overlay.new_relations)} if overlay else {}
    for raw in relation_ids:
        id_ = normalise_entity_id(expand_prefix(raw))
        rel = graph.find_relation(id_)
        if rel is None and id_ in new:
            rel = graph.relation_count + new[id_]
        if rel is not None:
            numbers.append(rel)
    return np.array(sorted(set(numbers)), dtype=np.int32)


def _relation_filter(
    graph: KnowledgeGraph, overlay: Overlay | None, request: RetrieveRequest
) -> tuple[Int32 | None, Int32] | None:
    if not request.relation_ids and not request.exclude_relation_ids:
        return None
    include = _relations(graph, overlay, request.relation_ids) if request.relation_ids else None
    return include, _relations(graph, overlay, request.exclude_relation_ids)


def _request_parameters(request: RetrieveRequest) -> dict[str, Any]:
    return {
        "entity_ids": list(request.entity_ids),
        "languages": list(request.languages),
        "min_score": request.min_score,
        "token_budget": request.token_budget,
        "relation_ids": list(request.relation_ids),
        "exclude_relation_ids": list(request.exclude_relation_ids),
        "ranks": [rank.value for rank in request.ranks],
        "prove": request.prove,
    }


def _statement_changes(result: RetrievalResult) -> list[tuple[str, ChangeKind]]:
    pairs: list[tuple[str, ChangeKind]] = []
    for item in result.items:
        if isinstance(item, ScoredPath):
            pairs.extend((step.triple.statement_id, step.change.kind) for step in item.steps)
        else:
            pairs.append((item.triple.statement_id, item.change.kind))
    return pairs


def _finish(result: ResultT, /) -> ResultT:
    """The result with its id: a hash of everything but itself and the timings."""
    plain = to_plain(replace(result, timings_ms={}))
    encoded = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode()
    return replace(result, id=digest((encoded,), person=b"result").hex())
