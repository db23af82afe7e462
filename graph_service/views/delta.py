"""From a view's specification to its delta (O10, K6): the one way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.stored_view import NAMES_CHANGED, ViewReport
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import VIEW_ALGORITHM, ChangeKind, Method, ViewSpec
from graph_service.views.draw import Stream
from graph_service.views.drawing import Draw, MethodResult
from graph_service.views.methods.contradiction import draw_contradiction
from graph_service.views.methods.custom import draw_custom, draw_withholding
from graph_service.views.methods.deletion import draw_deletion
from graph_service.views.methods.insertion import draw_insertion
from graph_service.views.methods.inversion import draw_inversion
from graph_service.views.methods.names import draw_names
from graph_service.views.methods.path_deletion import draw_path_deletion
from graph_service.views.methods.replacement import draw_replacement
from graph_service.views.methods.rewiring import draw_rewiring
from graph_service.views.methods.rule_deletion import draw_rule_deletion
from graph_service.views.methods.stale import draw_stale
from graph_service.views.methods.swapping import draw_swapping
from graph_service.views.methods.type_preserving import draw_type_preserving
from graph_service.views.prepared import PreparedBase

METHODS: Mapping[Method, Callable[[Draw], MethodResult]] = {
    Method.RELATION_SWAPPING: draw_swapping,
    Method.RELATION_REPLACEMENT: draw_replacement,
    Method.EDGE_REWIRING: draw_rewiring,
    Method.EDGE_DELETION: draw_deletion,
    Method.PATH_DELETION: draw_path_deletion,
    Method.CONTRADICTION: draw_contradiction,
    Method.INSERTION: draw_insertion,
    Method.TYPE_PRESERVING: draw_type_preserving,
    Method.INVERSION: draw_inversion,
    Method.RULE_DELETION: draw_rule_deletion,
    Method.STALE: draw_stale,
    Method.NAMES: draw_names,
    Method.WITHHOLDING: draw_withholding,
    Method.CUSTOM: draw_custom,
}
"""How each method draws."""


def make_delta(
    graph: KnowledgeGraph,
    spec: ViewSpec,
    /,
    *,
    prepared: PreparedBase | None = None,
    question_edges: Numbers | None = None,
    deadline: Deadline | None = None,
) -> tuple[ViewDelta, ViewReport]:
    """Returns what a view changes of its base, and how far that is what was asked.

    Args:
        graph: The base, as it is published: views of views are refused by having no type.
        spec: What is asked.
        prepared: What views of the base share, made where None: keep it beside the snapshot.
        question_edges: Base edges of the question's region, int32 or int64, for
            ``scope.of_question``.
        deadline: When to give up.

    Raises:
        InputError: The specification contradicts itself or names what the graph lacks.
        DeadlineError: The time allowed ran out.
    """
    spec.validate()
    if spec.algorithm != VIEW_ALGORITHM:
        raise InputError(
            f"the view was specified for drawing rules {spec.algorithm}; this version has rules "
            f"{VIEW_ALGORITHM}",
            argument="algorithm",
        )
    draw = Draw(
        prepared=prepared or PreparedBase(graph),
        spec=spec,
        stream=Stream(spec.random_seed, spec.method, spec.algorithm),
        question_edges=question_edges,
        deadline=deadline or Deadline.none(),
        notes=[],
    )
    result = METHODS[spec.method](draw)
    return result.delta, _report(draw, result)


def _report(draw: Draw, result: MethodResult) -> ViewReport:
    delta = result.delta
    moved = delta.heads_of_replaced(draw.graph.head) != draw.graph.head[delta.replaced]
    ranked = delta.ranks_of_replaced(draw.graph.rank) != draw.graph.rank[delta.replaced]
    renamed = ~moved & (delta.replaced_rel != draw.graph.rel[delta.replaced])
    counts = {
        "removed": len(delta.removed),
        ChangeKind.RELATION_CHANGED.value: int(np.count_nonzero(renamed)),
        ChangeKind.VALUE_CHANGED.value: int(np.count_nonzero(~renamed & ~moved & ~ranked)),
        ChangeKind.ADDED.value: len(delta.added_head),
    }
    if moved.any():
        counts[ChangeKind.HEAD_CHANGED.value] = int(np.count_nonzero(moved))
    if ranked.any():
        counts[ChangeKind.RANK_CHANGED.value] = int(np.count_nonzero(ranked))
    if draw.spec.method is Method.NAMES:
        counts[NAMES_CHANGED] = delta.renamed_count
    is_share = result.is_share and result.scope
    return ViewReport(
        scope_edges=result.scope,
        level_asked=draw.spec.level,
        level_reached=(delta.changed_count + delta.renamed_count) / result.scope
        if is_share
        else None,
        counts=counts,
        unavoidable=result.unavoidable,
        notes=tuple(draw.notes),
    )
