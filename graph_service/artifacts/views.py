"""Views in a store: made, listed, shown, compared with their base, deleted, and laid over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

from graph_service.artifacts.pruned import pruned_edges
from graph_service.artifacts.scorers import ScorerStore
from graph_service.artifacts.view_records import (
    KIND,
    ViewRecords,
    deleted_meanwhile,
    now_iso,
    record_key,
)
from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.errors import InputError, ViewStaleError
from graph_service.model.graph import KnowledgeGraph, Numbers, require_node
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.request import ViewRef
from graph_service.model.serialise import to_plain
from graph_service.model.statement import Entity
from graph_service.model.stored_view import Deviation, StoredView, ViewReport, ViewState
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.retrieve.region.cut import extra_edges_bytes
from graph_service.store.protocol import Store
from graph_service.views.alone import can_draw_alone, draw_alone
from graph_service.views.codec import decode_delta, encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.measure.deviation import BaseMeasure, measure
from graph_service.views.overlay import lay
from graph_service.views.part import Part
from graph_service.views.prepared import PreparedBase
from graph_service.views.renaming import EntityReader, rename
from graph_service.views.scope import question_needed, scope_edges
from graph_service.views.scorer.counting import COUNTS
from graph_service.views.scorer.trained import TRAINED
from graph_service.views.times import StatementReader


@dataclass(frozen=True, slots=True)
class AppliedView:
    """A view ready to be queried.

    Attributes:
        renamed: The base with the names that the view gives; None where all keep theirs.
    """

    id: str
    spec: ViewSpec
    delta: ViewDelta
    overlay: Overlay
    report: ViewReport
    renamed: KnowledgeGraph | None = None

    def graph_of(self, base: KnowledgeGraph, /) -> KnowledgeGraph:
        """Returns the base as the view names its entities: the base itself where it renames none."""
        return base if self.renamed is None else self.renamed


class ViewStore(ViewRecords):
    """Makes views and keeps them as records of a store.

    Args:
        records: The store's records, and its statements.
        memory: What the caches share, laid views and what is prepared for them among them.
    """

    def __init__(self, records: Store, /, *, memory: ByteBudget | None = None) -> None:
        super().__init__(records)
        self._store = records
        shared = memory or ByteBudget()
        self._cache: ByteCache[tuple[tuple[str, str], str], AppliedView] = ByteCache(
            shared, "views"
        )
        self._bases: ByteCache[tuple[str, tuple[str, str], str], PreparedBase] = ByteCache(
            shared, "bases of views"
        )
        self.scorers = ScorerStore(records)

    def create(
        self,
        graph: KnowledgeGraph,
        spec: ViewSpec,
        /,
        *,
        name: str | None = None,
        note: str = "",
        deadline: Deadline | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> StoredView:
        """Makes a view, measures how far it is from its base, and stores it.

        The same specification again gives the same view, ``reused``: it has the name and note
        that it was given first, and ``describe`` changes them. A name that only a stale view has
        may be given to a new one.

        Args:
            graph: The base.
            spec: What is asked.
            name: A person's name for it.
            note: Anything a person wants to remember.
            deadline: When to give up; nothing is stored then.
            progress: Told the share of the work done.

        Raises:
            InputError: The specification does not hold, depends on a question, or the name is
                taken by another view of the graph.
        """
        edges = graph.fingerprints.edges
        spec = self.resolve(spec, graph=graph.name, edges=edges)
        _require_storable(spec)
        known = self.reuse(graph.name, spec.identity(edges), edges=edges, name=name, note=note)
        if known is not None and known.state is ViewState.DONE:
            return self.measured(graph, known)
        applied = self.lay_spec(graph, spec, deadline=deadline)
        if progress is not None:
            progress(0.6)
        if not spec.scope.pruned:
            self._measured_base(graph, deadline=deadline)
        if progress is not None:
            progress(0.8)
        made = StoredView(
            id=applied.id,
            name=name,
            graph=graph.name,
            edges=edges,
            spec=spec,
            report=applied.report,
            note=note,
            created_at=now_iso(),
            deviation=self._deviation(graph, spec, applied.overlay, deadline=deadline),
        )
        if progress is not None:
            progress(1.0)
        return self.add(made, encode_delta(graph, applied.delta))[0]

    def resolve(self, spec: ViewSpec, /, *, graph: str, edges: str) -> ViewSpec:
        """Returns a specification that names its scorer in full, where it says ``trained``.

        Raises:
            InputError: The graph, as it is, has no trained scorer.
        """
        if spec.scorer != TRAINED:
            return spec
        return replace(spec, scorer=self.scorers.get(graph, TRAINED, edges=edges).name)

    def begin(
        self, graph: str, spec: ViewSpec, /, *, edges: str, name: str | None, note: str
    ) -> tuple[StoredView, bool]:
        """Stores that a view is being made; ``create`` replaces that by the view.

        Returns:
            The view, and whether its making begins now: it is neither there nor being made.

        Raises:
            InputError: As ``create``.
        """
        spec = self.resolve(spec, graph=graph, edges=edges)
        _require_storable(spec)
        begun = StoredView(
            id=spec.identity(edges),
            name=name,
            graph=graph,
            edges=edges,
            spec=spec,
            report=ViewReport(0, spec.level, None, {}),
            note=note,
            created_at=now_iso(),
            state=ViewState.RUNNING,
            progress=0.0,
        )
        return self.add(begun, b"")

    def measured(self, graph: KnowledgeGraph, view: StoredView, /) -> StoredView:
        """Returns a view with its deviation by the scorer of now, measured and stored if need be."""
        if view.stale or view.state is not ViewState.DONE:
            return view
        if view.deviation is not None and (
            view.spec.scope.pruned
            or view.deviation.scorer == self.ats_scorer_name(graph.name, edges=view.edges)
        ):
            return view
        applied = self.apply(graph, ViewRef(id=view.id))
        assert applied is not None
        deviation = self._deviation(graph, view.spec, applied.overlay)
        self.edit(
            view.graph,
            view.id,
            lambda _: {"deviation": to_plain(deviation)},
            edges=view.edges,
        )
        return replace(view, deviation=deviation)

    def apply(
        self,
        graph: KnowledgeGraph,
        reference: ViewRef | None,
        /,
        *,
        question_edges: Numbers | None = None,
        deadline: Deadline | None = None,
    ) -> AppliedView | None:
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
        view = self._finished(graph.name, reference, edges=graph.fingerprints.edges)
        cached = self._cached(view.id, graph)
        if cached is not None:
            return cached
        record = self._records.get_record(KIND, record_key(graph.name, view.id))
        if record is None:
            raise deleted_meanwhile(view)
        delta = decode_delta(graph, record.data)
        return self._store_in_cache(_applied(graph, view.id, view.spec, delta, view.report), graph)

    def _finished(self, graph: str, reference: ViewRef, /, *, edges: str) -> StoredView:
        """Returns the stored view of a reference that is one; it is done, and of the base of now."""
        name = reference.id if reference.id is not None else reference.name
        assert name is not None
        view = self.get(graph, name, edges=edges)
        if view.stale:
            raise ViewStaleError(
                f"view {view.name or view.id} was made for edges {view.edges[:12]}, and graph "
                f"{graph!r} now has {edges[:12]}",
                argument="view",
                hint=f"Make it anew: graph-service view create --graph {graph} "
                f"--from-view {view.id}",
            )
        if view.state is not ViewState.DONE:
            raise _unfinished(view)
        return view

    def spec_of(self, graph: str, reference: ViewRef, /, *, edges: str) -> ViewSpec:
        """Returns the specification of a view that can be asked, its scorer named in full.

        Raises:
            InputError: The view is not done, or the graph has no trained scorer.
            ViewNotFoundError: No such stored view.
            ViewStaleError: The base has changed since the view was made.
        """
        reference.validate()
        if reference.spec is None:
            return self._finished(graph, reference, edges=edges).spec
        return self.resolve(reference.spec, graph=graph, edges=edges)

    def renames(self, graph: KnowledgeGraph, reference: ViewRef | None, /) -> bool:
        """Returns whether a view gives entities other names; those of the base for no view.

        Raises:
            ViewNotFoundError: No such stored view.
        """
        if reference is None:
            return False
        reference.validate()
        spec = reference.spec
        if spec is None:
            name = reference.id if reference.id is not None else reference.name
            assert name is not None
            spec = self.get(graph.name, name, edges=graph.fingerprints.edges).spec
        return spec.method is Method.NAMES

    def lay_spec(
        self,
        graph: KnowledgeGraph,
        spec: ViewSpec,
        /,
        *,
        question_edges: Numbers | None = None,
        deadline: Deadline | None = None,
    ) -> AppliedView:
        """Returns the view of a specification laid over its base, without storing it."""
        spec = self.resolve(spec, graph=graph.name, edges=graph.fingerprints.edges)
        spec.validate()
        view_id = spec.identity(graph.fingerprints.edges)
        if not spec.scope.of_question:
            cached = self._cached(view_id, graph)
            if cached is not None:
                return cached
        if can_draw_alone(spec) and (spec.scope.pruned or spec.scope.of_question):
            edges, notes = _scope_alone(graph, spec, question_edges, deadline)
            delta, report = self._draw_alone(graph, spec, edges, deadline)
            report = replace(report, notes=(*notes, *report.notes))
        else:
            scorer = spec.scorer if "scorer" in spec.takes.parameters else COUNTS
            base = self.prepared(graph, scorer)
            delta, report = make_delta(
                graph, spec, prepared=base, question_edges=question_edges, deadline=deadline
            )
            self._charge(base, scorer)
        applied = _applied(graph, view_id, spec, delta, report)
        return applied if spec.scope.of_question else self._store_in_cache(applied, graph)

    def lay_alone(
        self,
        part: KnowledgeGraph,
        spec: ViewSpec,
        /,
        *,
        edges: Numbers,
        deadline: Deadline | None = None,
    ) -> AppliedView:
        """Returns a view laid over a part of its base that has all that decides it.

        Args:
            part: Its scope, and what lies beside it (``views.alone.beside``); with the name,
                edition and fingerprints of the base.
            spec: What is asked, as ``spec_of`` gives it; ``can_draw_alone``.
            edges: Its scope, int32 or int64, ascending; of a pruned one what is kept.
            deadline: When to give up.
        """
        delta, report = self._draw_alone(part, spec, edges, deadline)
        return _applied(part, spec.identity(part.fingerprints.edges), spec, delta, report)

    def _draw_alone(
        self, graph: KnowledgeGraph, spec: ViewSpec, edges: Numbers, deadline: Deadline | None
    ) -> tuple[ViewDelta, ViewReport]:
        if not spec.scope.pruned:
            return draw_alone(graph, spec, edges, deadline=deadline)
        part = Part.of(graph, edges)
        base = PreparedBase(part.graph, statements=self._reader(graph))
        delta, report = make_delta(part.graph, _within(spec), prepared=base, deadline=deadline)
        return part.in_base(delta), report

    def ats_scorer_name(self, graph: str, /, *, edges: str) -> str:
        """Returns the name of the scorer that ATS is taken with: the newest trained, or counts."""
        newest = self.scorers.newest(graph, edges=edges)
        return COUNTS if newest is None else newest.name

    def prepared(self, graph: KnowledgeGraph, scorer: str = COUNTS, /) -> PreparedBase:
        """Returns what the views of a base share, kept for the bases and scorers used last.

        Args:
            graph: The base.
            scorer: Name of the scorer: ``counts`` or a trained one.

        Raises:
            InputError: The graph has no such scorer.
        """
        key = graph.edition, _numbering(graph), scorer
        base = self._bases.get(key)
        if base is None:
            base = self._prepare(graph, scorer)
            return self._bases.put(key, base, base.held_bytes())
        return base

    def _charge(self, base: PreparedBase, scorer: str) -> None:
        """Charges a base with what it has made of what it was asked for."""
        key = base.graph.edition, _numbering(base.graph), scorer
        self._bases.charge(key, base.held_bytes())

    def _prepare(self, graph: KnowledgeGraph, scorer: str) -> PreparedBase:
        if scorer == COUNTS:
            return PreparedBase(
                graph, statements=self._reader(graph), entities=self._entity_reader(graph)
            )
        index = self.prepared(graph).index
        stored = self.scorers.get(graph.name, scorer, edges=graph.fingerprints.edges)
        return PreparedBase(
            graph,
            scorer=self.scorers.open(graph, scorer, index=index),
            quality=stored.quality,
            index=index,
            statements=self._reader(graph),
        )

    def _reader(self, graph: KnowledgeGraph) -> StatementReader:
        return partial(self._store.statements, graph.edition)

    def _entity_reader(self, graph: KnowledgeGraph) -> EntityReader:
        def read(ids: Sequence[str]) -> Mapping[str, Entity]:
            return self._store.entities(graph.edition, ids).entities

        return read

    def _measured_base(
        self, graph: KnowledgeGraph, /, *, deadline: Deadline | None = None
    ) -> BaseMeasure:
        scorer = self.ats_scorer_name(graph.name, edges=graph.fingerprints.edges)
        base = self.prepared(graph, scorer)
        measures = base.measure(deadline=deadline)
        self._charge(base, scorer)
        return measures

    def _deviation(
        self,
        graph: KnowledgeGraph,
        spec: ViewSpec,
        overlay: Overlay,
        /,
        *,
        deadline: Deadline | None = None,
    ) -> Deviation:
        """Returns how far a view is from its base: from the pruned part that it changes, if any."""
        if not spec.scope.pruned:
            base = self._measured_base(graph, deadline=deadline)
            return measure(graph, overlay, base, deadline=deadline)
        part = Part.of(graph, _scope_alone(graph, spec, None, deadline)[0]).graph
        prepared = PreparedBase(part, statements=self._reader(graph))
        delta, _ = make_delta(part, _within(spec), prepared=prepared, deadline=deadline)
        delta_overlay = lay(part, delta, view_id=overlay.view_id)
        return measure(part, delta_overlay, prepared.measure(deadline=deadline), deadline=deadline)

    def _cached(self, view_id: str, graph: KnowledgeGraph) -> AppliedView | None:
        applied = self._cache.get((_numbering(graph), view_id))
        # A renamed graph is one of the edition that it was made of.
        is_of_another = (
            applied is not None
            and applied.renamed is not None
            and applied.renamed.edition != graph.edition
        )
        return None if is_of_another else applied

    def _store_in_cache(self, applied: AppliedView, graph: KnowledgeGraph) -> AppliedView:
        key = _numbering(graph), applied.id
        return self._cache.put(key, applied, _applied_bytes(applied, graph))


def _require_storable(spec: ViewSpec) -> None:
    spec.validate()
    if spec.scope.of_question:
        raise InputError(
            "a view in the scope of a question can't be stored; give its spec inline",
            argument="scope",
        )


def _scope_alone(
    graph: KnowledgeGraph, spec: ViewSpec, question_edges: Numbers | None, deadline: Deadline | None
) -> tuple[Numbers, tuple[str, ...]]:
    """Returns the edges that a view is drawn on alone, ascending, and notes on them."""
    if not spec.scope.pruned:
        return scope_edges(graph, spec.scope, question_edges=question_edges, deadline=deadline)
    if question_edges is not None:
        return question_edges, ()
    if spec.scope.of_question:
        raise question_needed()
    start_nodes = [require_node(graph, id_) for id_ in spec.scope.around_entity_ids]
    deadline = deadline or Deadline.none()
    return pruned_edges(graph, start_nodes, hops=spec.scope.hops, deadline=deadline), ()


def _within(spec: ViewSpec) -> ViewSpec:
    """Returns what is asked of the part itself."""
    scope = spec.scope
    return replace(spec, scope=Scope(scope.statement_ids, scope.relation_ids))


def _applied(
    graph: KnowledgeGraph, view_id: str, spec: ViewSpec, delta: ViewDelta, report: ViewReport
) -> AppliedView:
    renamed = None if delta.names is None else rename(graph, delta.names)
    return AppliedView(view_id, spec, delta, lay(graph, delta, view_id=view_id), report, renamed)


def _applied_bytes(applied: AppliedView, graph: KnowledgeGraph) -> int:
    """The bytes of a view, with the order of its edges that the first question on it makes."""
    shared = [graph, *graph.node_labels.values()]
    if applied.renamed is not None:
        shared += [getattr(graph, each.name) for each in fields(graph)]
    return held_bytes(applied, shared=shared) + extra_edges_bytes(applied.overlay)


def _numbering(graph: KnowledgeGraph) -> tuple[str, str]:
    """What a graph's numbers follow from: entities that only have labels take numbers too."""
    return graph.fingerprints.edges, graph.fingerprints.content


def _unfinished(view: StoredView) -> InputError:
    shown = view.name or view.id
    if view.state is ViewState.RUNNING:
        return InputError(
            f"view {shown} is still being made ({view.progress:.0%})",
            argument="view",
            hint="Ask again when its state is done.",
        )
    reason = f": {view.error}" if view.error else ""
    return InputError(
        f"the making of view {shown} was {view.state.value}{reason}"
        if view.state is ViewState.CANCELLED
        else f"the making of view {shown} has failed{reason}",
        argument="view",
        hint=f"Make it anew: graph-service view create --graph {view.graph} --from-view {view.id}",
    )
