"""Views in a store: made, listed, shown, compared with their base, deleted, and laid over it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from graph_service.errors import InputError, ViewNotFoundError, ViewStaleError
from graph_service.model.graph import Int32, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.plain import from_plain, to_plain
from graph_service.model.request import ViewRef
from graph_service.model.view import (
    Method,
    Overlay,
    StoredView,
    ViewDelta,
    ViewReport,
    ViewSpec,
)
from graph_service.store.protocol import Record, Records
from graph_service.views.codec import decode_delta, encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer import CountScorer

KIND = "view"
MAX_VIEW_NAME = 200
BASES_KEPT = 4
NO_INDEX = (Method.WITHHOLDING, Method.CUSTOM)


class _Base:
    """What drawing needs of a base graph, made when first asked for and kept while it is used."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self._lock = threading.RLock()
        self._index: PairIndex | None = None
        self._scorer: CountScorer | None = None

    @property
    def index(self) -> PairIndex:
        with self._lock:
            if self._index is None:
                self._index = PairIndex.build(self._graph)
            return self._index

    @property
    def scorer(self) -> CountScorer:
        with self._lock:
            if self._scorer is None:
                self._scorer = CountScorer.build(self._graph, index=self.index)
            return self._scorer


@dataclass(frozen=True, slots=True)
class LaidView:
    """A view ready to be queried."""

    id: str
    spec: ViewSpec
    delta: ViewDelta
    overlay: Overlay
    report: ViewReport


class ViewStore:
    """Makes views and keeps them as records of a store.

    Args:
        records: The store's records.
        cache_size: How many laid views are kept in memory.
    """

    def __init__(self, records: Records, /, *, cache_size: int = 32) -> None:
        self._records = records
        self._cache: OrderedDict[str, LaidView] = OrderedDict()
        self._cache_size = cache_size
        self._bases: OrderedDict[str, _Base] = OrderedDict()
        self._lock = threading.Lock()

    def create(
        self,
        graph: KnowledgeGraph,
        spec: ViewSpec,
        /,
        *,
        name: str | None = None,
        note: str = "",
        deadline: Deadline | None = None,
    ) -> StoredView:
        """Makes a view and stores it; the same specification again gives the same view.

        A name or note then given replaces the one it had. A name that only a stale view has may
        be given to a new one.

        Raises:
            InputError: The specification does not hold, depends on a question, or the name is
                taken by another view of the graph.
        """
        spec.validate()
        if spec.scope.of_question:
            raise InputError(
                "a view in the scope of a question can't be stored; give its spec inline",
                argument="scope",
            )
        if name is not None and not 0 < len(name) <= MAX_VIEW_NAME:
            raise InputError(
                f"a view's name has 1 to {MAX_VIEW_NAME} characters, got {len(name)}",
                argument="name",
            )
        edges = graph.fingerprints.edges
        view_id = spec.identity(edges)
        if name is not None:
            for other in self.list(graph.name, edges=edges):
                if other.name == name and other.id != view_id and not other.stale:
                    raise InputError(
                        f"graph {graph.name!r} has another view named {name!r} ({other.id})",
                        argument="name",
                        hint="Choose another name, or delete that view first.",
                    )
        known = self._records.get_record(KIND, _key(graph.name, view_id))
        if known is not None:
            stored = _stored(known, edges)
            renamed = replace(stored, name=name or stored.name, note=note or stored.note)
            if renamed != stored:
                self._records.save_record(
                    Record(KIND, known.key, graph.name, _fields(renamed), known.data)
                )
            return renamed
        laid = self.lay_spec(graph, spec, deadline=deadline)
        stored = StoredView(
            id=view_id,
            name=name,
            graph=graph.name,
            edges=edges,
            spec=spec,
            report=laid.report,
            note=note,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._records.save_record(
            Record(
                KIND,
                _key(graph.name, view_id),
                graph.name,
                _fields(stored),
                encode_delta(graph, laid.delta),
            )
        )
        return stored

    def list(self, graph: str, /, *, edges: str) -> list[StoredView]:
        """Returns the views of a graph by creation, then id.

        Args:
            graph: Name of the graph.
            edges: Its ``edges`` fingerprint now, from which ``stale`` is told.
        """
        records = self._records.list_records(KIND, graph=graph)
        views = [_stored(record, edges) for record in records]
        return sorted(views, key=lambda view: (view.created_at, view.id))

    def get(self, graph: str, reference: str, /, *, edges: str) -> StoredView:
        """Returns a view of a graph by id or name.

        Raises:
            ViewNotFoundError: There is none; names those there are.
        """
        record = self._records.get_record(KIND, _key(graph, reference))
        if record is not None:
            return _stored(record, edges)
        views = self.list(graph, edges=edges)
        named = [view for view in views if view.name == reference]
        if named:
            # A name may stand for a stale view too; the one of today's base comes first.
            return min(named, key=lambda view: (view.stale, view.created_at, view.id))
        known = ", ".join(view.name or view.id for view in views[:10]) or "none"
        raise ViewNotFoundError(
            f"graph {graph!r} has no view {reference!r}; it has: {known}", argument="view"
        )

    def delete(self, graph: str, reference: str, /, *, edges: str) -> str:
        """Deletes a view and returns its id; raises ``ViewNotFoundError`` if there is none."""
        view = self.get(graph, reference, edges=edges)
        self._records.delete_record(KIND, _key(graph, view.id))
        with self._lock:
            self._cache.pop(view.id, None)
        return view.id

    def lay(
        self,
        graph: KnowledgeGraph,
        reference: ViewRef | None,
        /,
        *,
        question_edges: Int32 | None = None,
        deadline: Deadline | None = None,
    ) -> LaidView | None:
        """Returns the view of a reference laid over its base; None for the base itself.

        Raises:
            ViewNotFoundError: No such stored view.
            ViewStaleError: The base has changed since the view was made.
        """
        if reference is None:
            return None
        reference.validate()
        if reference.spec is not None:
            return self.lay_spec(
                graph, reference.spec, question_edges=question_edges, deadline=deadline
            )
        name = reference.id if reference.id is not None else reference.name
        assert name is not None
        view = self.get(graph.name, name, edges=graph.fingerprints.edges)
        if view.stale:
            raise ViewStaleError(
                f"view {view.name or view.id} was made for edges {view.edges[:12]}, and graph "
                f"{graph.name!r} now has {graph.fingerprints.edges[:12]}",
                argument="view",
                hint=f"Make it anew: graph-service view create --graph {graph.name} "
                f"--from-view {view.id}",
            )
        cached = self._cached(view.id)
        if cached is not None:
            return cached
        record = self._records.get_record(KIND, _key(graph.name, view.id))
        if record is None:
            raise ViewNotFoundError(f"view {view.id} was deleted meanwhile", argument="view")
        delta = decode_delta(graph, record.data)
        laid = LaidView(view.id, view.spec, delta, lay(graph, delta, view_id=view.id), view.report)
        self._keep(laid)
        return laid

    def lay_spec(
        self,
        graph: KnowledgeGraph,
        spec: ViewSpec,
        /,
        *,
        question_edges: Int32 | None = None,
        deadline: Deadline | None = None,
    ) -> LaidView:
        """Returns the view of a specification laid over its base, without storing it."""
        view_id = spec.identity(graph.fingerprints.edges)
        if not spec.scope.of_question:
            cached = self._cached(view_id)
            if cached is not None:
                return cached
        base = self._base(graph)
        delta, report = make_delta(
            graph,
            spec,
            scorer=base.scorer if spec.method is Method.RELATION_REPLACEMENT else None,
            question_edges=question_edges,
            index=None if spec.method in NO_INDEX else base.index,
            deadline=deadline,
        )
        laid = LaidView(view_id, spec, delta, lay(graph, delta, view_id=view_id), report)
        if not spec.scope.of_question:
            self._keep(laid)
        return laid

    def _base(self, graph: KnowledgeGraph) -> _Base:
        key = graph.fingerprints.edges
        with self._lock:
            base = self._bases.setdefault(key, _Base(graph))
            self._bases.move_to_end(key)
            while len(self._bases) > BASES_KEPT:
                self._bases.popitem(last=False)
            return base

    def _cached(self, view_id: str) -> LaidView | None:
        with self._lock:
            laid = self._cache.get(view_id)
            if laid is not None:
                self._cache.move_to_end(view_id)
            return laid

    def _keep(self, laid: LaidView) -> None:
        with self._lock:
            self._cache[laid.id] = laid
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)


def _key(graph: str, view_id: str) -> str:
    # A view's id says what it is of which statements; two graphs may hold the same ones.
    return f"{graph}/{view_id}"


def _fields(view: StoredView) -> dict[str, Any]:
    return {
        "name": view.name,
        "edges": view.edges,
        "spec": view.spec.to_json(),
        "report": to_plain(view.report),
        "note": view.note,
        "created_at": view.created_at,
        "state": view.state,
        "progress": view.progress,
        "deviation": view.deviation,
    }


def _stored(record: Record, edges: str) -> StoredView:
    fields: Mapping[str, Any] = record.json
    return StoredView(
        id=record.key.rpartition("/")[2],
        name=fields["name"],
        graph=record.graph,
        edges=fields["edges"],
        spec=ViewSpec.from_json(fields["spec"]),
        report=from_plain(ViewReport, fields["report"]),
        note=fields["note"],
        created_at=fields["created_at"],
        state=fields["state"],
        progress=fields["progress"],
        deviation=fields["deviation"],
        stale=fields["edges"] != edges,
    )
