"""What a question is answered from: the arrays of its graph, or a part that the store gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graph_service.artifacts.pruned import pruned_edges
from graph_service.artifacts.views import AppliedView, ViewStore
from graph_service.byte_budget import ByteBudget
from graph_service.errors import InputError
from graph_service.model.graph import Numbers
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest
from graph_service.retrieve.preset import AnyPreset, Preset
from graph_service.retrieve.region.class_filter import instances_of
from graph_service.retrieve.region.cut import extract_region
from graph_service.service.graph_slice import GraphSlice, as_named, rank_codes
from graph_service.service.graphs import Graphs
from graph_service.service.linking import Linking, OpenGraph, QuestionLinker
from graph_service.service.lookup import require_base
from graph_service.service.stopwatch import Stopwatch
from graph_service.service.store_route import Lexicons, MergedGraphs, read_from_store
from graph_service.service.store_views import servable_view


class SourceReader:
    """Reads what questions are answered from.

    Args:
        graphs: The open graphs.
        linker: Finds what a question names.
        views: Where views are found or made.
        merged_graphs: The groups of entities that are one thing, of graphs above the snapshot limit.
        memory: What is cached of graphs counts there.
    """

    def __init__(
        self,
        graphs: Graphs,
        linker: QuestionLinker,
        /,
        *,
        views: ViewStore,
        merged_graphs: MergedGraphs,
        memory: ByteBudget,
    ) -> None:
        self._graphs = graphs
        self._linker = linker
        self._views = views
        self._lexicons = Lexicons(graphs.store, memory=memory)
        self._merged_graphs = merged_graphs

    def read(
        self,
        info: GraphInfo,
        request: RetrieveRequest,
        preset: AnyPreset,
        /,
        *,
        deadline: Deadline,
        watch: Stopwatch,
    ) -> GraphSlice:
        """Returns what a question is answered from: arrays, or for a large graph a part of it.

        Args:
            info: The graph.
            request: The question.
            preset: As ``PresetResolver`` resolves it.
            deadline: Of the retrieval.
            watch: Counts the stages ``open``, ``link`` and ``view`` or ``read``.
        """
        if self._graphs.is_read_from_store(info):
            return self._of_store(info, request, preset, deadline, watch)
        base = OpenGraph(info, self._graphs.arrays(info))
        watch.stage("open")
        return self.of_arrays(base, request, preset, deadline=deadline, watch=watch)

    def _of_store(
        self,
        info: GraphInfo,
        request: RetrieveRequest,
        preset: AnyPreset,
        deadline: Deadline,
        watch: Stopwatch,
    ) -> GraphSlice:
        """Returns what a question on a graph above the snapshot limit is answered from."""
        if request.linking_accuracy is not None:
            raise InputError(
                f"linking_accuracy draws from all entities of a graph, and {info.name!r} has more "
                f"than {self._graphs.settings.snapshot_edges} statements, so that it is not read "
                "whole",
                argument="linking_accuracy",
                hint="Raise GRAPH_SERVICE_SNAPSHOT_EDGES.",
            )
        view = servable_view(self._views, info, request)
        return read_from_store(
            self._graphs.store,
            self._linker,
            self._views,
            info,
            self._lexicons.of(info),
            self._merged_graphs.of(info),
            request,
            preset,
            view=view,
            deadline=deadline,
            watch=watch,
        )

    def of_arrays(
        self,
        base: OpenGraph,
        request: RetrieveRequest,
        preset: AnyPreset,
        /,
        *,
        deadline: Deadline,
        watch: Stopwatch,
        linking: Linking | None = None,
    ) -> GraphSlice:
        """Returns what a question on a graph's arrays is answered from.

        Args:
            base: The graph.
            request: The question.
            preset: As ``PresetResolver`` resolves it.
            deadline: Of the retrieval.
            watch: Counts the stages ``link`` and ``view``.
            linking: What the question names without a view, where that is known. A view that
                renames entities is linked by its own names.
        """
        if request.view is not None:
            require_base(base.info)
        view: AppliedView | None = None
        if self._views.renames(base.arrays, request.view):
            view = self._views.apply(base.arrays, request.view, deadline=deadline)
            linking = None
        if linking is None:
            linking = self._linker.link(as_named(base, view), request, preset)
        watch.stage("link")
        spec = request.view.spec if request.view is not None else None
        if view is None or (spec is not None and spec.scope.of_question):
            view = self._apply_view(base, linking, request, preset, deadline)
        source = GraphSlice(base, linking, preset, view)
        if request.type_ids:
            named = source.named
            types = [self._linker.node(named, id_, argument="type_ids") for id_ in request.type_ids]
            is_instance = instances_of(
                named.arrays, source.overlay, types, ranks=rank_codes(request), deadline=deadline
            )
            source = replace(source, is_instance=is_instance)
        watch.stage("view")
        return source

    def _apply_view(
        self,
        base: OpenGraph,
        linking: Linking,
        request: RetrieveRequest,
        preset: Preset,
        deadline: Deadline,
    ) -> AppliedView | None:
        """Returns the request's view; one in the question's own scope needs the base's region."""
        spec = request.view.spec if request.view else None
        question_edges: Numbers | None = None
        if spec is not None and spec.scope.of_question:
            question_edges = np.zeros(0, dtype=base.arrays.edge_type)
            if len(linking.start_entities) and spec.scope.pruned:
                question_edges = pruned_edges(
                    base.arrays,
                    linking.start_entities.tolist(),
                    hops=spec.scope.hops,
                    deadline=deadline,
                )
            elif len(linking.start_entities):
                region = extract_region(
                    base.arrays,
                    linking.start_entities,
                    hops=spec.scope.hops,
                    hub_degree=preset.hub_degree,
                    max_edges=preset.max_edges,
                    ranks=rank_codes(request),
                    deadline=deadline,
                )
                question_edges = region.edges.astype(base.arrays.edge_type)
        return self._views.apply(
            base.arrays, request.view, question_edges=question_edges, deadline=deadline
        )
