"""Perturbed views of a store's graphs: made, listed, shown, compared with their base (S4, O10, O11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graph_service.artifacts.view_jobs import ViewJobs
from graph_service.artifacts.views import AppliedView, ViewStore
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.request import ViewRef
from graph_service.model.stored_view import StoredView, ViewState
from graph_service.model.view_spec import ViewSpec
from graph_service.service.comparison import (
    ViewChange,
    changed_edges,
)
from graph_service.service.graphs import Graphs
from graph_service.service.lookup import require_base
from graph_service.service.triples import TripleRenderer
from graph_service.views.measure.describe import describe_change, describe_names, differences


class Views:
    """The views of a service's graphs.

    Args:
        graphs: The graphs.
        store: Where the views are made and kept.
        jobs: What makes views in the background; its own where it is shared with nobody.
    """

    def __init__(
        self, graphs: Graphs, store: ViewStore, /, *, jobs: ViewJobs | None = None
    ) -> None:
        self._graphs = graphs
        self._store = store
        self.jobs = jobs or ViewJobs(store)

    def create(
        self,
        spec: ViewSpec,
        /,
        *,
        graph: str | None = None,
        name: str | None = None,
        note: str = "",
        wait: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> StoredView:
        """Makes a view of a graph, measures its deviation (O11) and stores it (S4).

        One that is there already keeps its name and note, and is ``reused``; see ``update``.

        Args:
            spec: What is asked.
            graph: Name of the base.
            name: A person's name for it.
            note: Anything a person wants to remember.
            wait: False returns at once; ``get`` then says how far it has come.
            progress: Told the share of the work done, where it is waited for.
        """
        info = self._graphs.find(graph)
        require_base(info)
        if wait:
            return self._store.create(
                self._graphs.arrays(info), spec, name=name, note=note, progress=progress
            )
        return self.jobs.start(
            info.name,
            spec,
            edges=info.fingerprints.edges,
            arrays=lambda: self._graphs.arrays(info),
            name=name,
            note=note,
        )

    def resolve(self, spec: ViewSpec, /, *, graph: str | None = None) -> ViewSpec:
        """Returns a specification that names its scorer in full, where it says ``trained``."""
        info = self._graphs.find(graph)
        return self._store.resolve(spec, graph=info.name, edges=info.fingerprints.edges)

    def cancel(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Cancels the making of a view and returns it; one that is done stays."""
        info = self._graphs.find(graph)
        return self.jobs.cancel(info.name, reference, edges=info.fingerprints.edges)

    def apply(
        self, reference: ViewRef, /, *, graph: str | None = None
    ) -> tuple[KnowledgeGraph, AppliedView]:
        """Returns a base as arrays, as a view names its entities, and the view laid over it."""
        base = self._graphs.open(graph)
        require_base(base.info)
        applied = self._store.apply(base.arrays, reference, deadline=self._graphs.deadline())
        assert applied is not None
        return applied.graph_of(base.arrays), applied

    def measured(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Returns a stored view with its deviation, measured now if it was made without."""
        view = self.get(reference, graph=graph)
        if view.stale or view.state is not ViewState.DONE:
            return view
        if view.deviation is not None and view.deviation.scorer == self._store.ats_scorer_name(
            view.graph, edges=view.edges
        ):
            return view
        return self._store.measured(self._graphs.open(graph).arrays, view)

    def list(self, *, graph: str | None = None) -> list[StoredView]:
        """Returns the stored views of a graph, oldest first."""
        info = self._graphs.find(graph)
        return self._store.list(info.name, edges=info.fingerprints.edges)

    def get(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Returns a stored view by id or name."""
        info = self._graphs.find(graph)
        return self._store.get(info.name, reference, edges=info.fingerprints.edges)

    def update(
        self,
        reference: str,
        /,
        *,
        graph: str | None = None,
        name: str | None = None,
        note: str | None = None,
    ) -> StoredView:
        """Gives a stored view another name or note and returns it; None leaves what it has."""
        info = self._graphs.find(graph)
        return self._store.describe(
            info.name, reference, edges=info.fingerprints.edges, name=name, note=note
        )

    def delete(self, reference: str, /, *, graph: str | None = None) -> str:
        """Deletes a stored view and returns its id."""
        info = self._graphs.find(graph)
        return self._store.delete(info.name, reference, edges=info.fingerprints.edges)

    def diff(
        self,
        reference: ViewRef,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = ("en",),
        first: int = 50,
        offset: int = 0,
    ) -> tuple[Sequence[ViewChange], int]:
        """Returns changes of a view, and how many there are in all.

        Removed statements come first, then changed ones, then added ones, then entities with other
        names.
        """
        self._graphs.check_limit(first, argument="first")
        base = self._graphs.open(graph).arrays
        arrays, applied = self.apply(reference, graph=graph)
        page = list(differences(arrays, applied.delta, start=offset, count=first))
        edges_after = changed_edges(applied.overlay, page)
        renderer = TripleRenderer(arrays, applied.overlay, languages)
        edges_before = [item.base_edge for item in page]
        edges = (*edges_before, *edges_after)
        shown = renderer.show([edge for edge in edges if edge is not None])
        changes = [
            ViewChange(
                before=None if before is None else shown[before],
                after=None if after is None else shown[after],
                words=describe_change(
                    item, node_label=renderer.node_label, relation_label=renderer.relation_label
                ),
            )
            for item, before, after in zip(page, edges_before, edges_after, strict=True)
        ]
        if applied.delta.names is not None:
            renamed = applied.delta.names.nodes
            start = max(0, offset - applied.delta.changed_count)
            nodes = renamed[start : start + first - len(page)].tolist()
            was = TripleRenderer(base, None, languages).entities(nodes)
            changes += [
                ViewChange(None, None, describe_names(now.id, old.label, now.label), now)
                for now, old in zip(renderer.entities(nodes), was, strict=True)
            ]
        return changes, applied.delta.changed_count + applied.delta.renamed_count

    @property
    def jobs_under_way(self) -> int:
        """How many views are being made in the background by this process."""
        return self.jobs.count()

    def close(self) -> None:
        """Cancels views that are being made."""
        self.jobs.close()
