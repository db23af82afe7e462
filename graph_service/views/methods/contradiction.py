"""Contradiction: a false statement beside the true one, which stays (B3).

As in ConflictQA (Xie et al. 2024, arXiv 2305.13300) and the counterfactual part of RGB (Chen et
al. 2024, arXiv 2309.01431), where a reader finds both: here the false one has the same head and
relation, and another value of the same type. A second value contradicts the first only if the
relation has one value: by default only such statements get a false one beside them.
"""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, Numbers
from graph_service.model.view_spec import Cardinality
from graph_service.views.choosing import Candidates, first_able, take_turns
from graph_service.views.drawing import Draw, MethodResult, added


def draw_contradiction(draw: Draw, /) -> MethodResult:
    """Returns the view with a false value beside those of the first edges in hash order.

    The level is a share of the edges whose relation is of the kind that the specification names.
    """
    graph = draw.graph
    scope = _of_kind(draw, draw.scope())

    def choose(edges: Numbers) -> Int32:
        return false_tails(draw, edges)

    edges, tails = first_able(draw, scope, draw.target(len(scope)), choose)
    return MethodResult(added(graph, graph.head[edges], graph.rel[edges], tails), len(scope))


def _of_kind(draw: Draw, scope: Numbers) -> Numbers:
    kind = draw.spec.cardinality
    if kind is Cardinality.ANY:
        return scope
    fits: Bool = draw.prepared.functional[draw.graph.rel[scope]] == (kind is Cardinality.FUNCTIONAL)
    if not fits.all():
        draw.notes.append(
            f"{int((~fits).sum())} of {len(scope)} edges in scope are of relations that are not "
            f"{kind.value}"
        )
    chosen: Numbers = scope[fits]
    return chosen


def false_tails(draw: Draw, edges: Numbers, /) -> Int32:
    """Returns another value of the same type for each edge, int32; -1 where there is none.

    Args:
        draw: The view being drawn.
        edges: In the order of their turns.
    """
    graph, prepared = draw.graph, draw.prepared
    head, rel, tail = graph.head[edges], graph.rel[edges], graph.tail[edges]
    types = prepared.types
    keys = graph.statement_keys[edges]

    def refused(rows: Int64, offered: Int32) -> Bool:
        same = (offered == tail[rows]) | (offered == head[rows])
        return np.asarray(same | prepared.says(head[rows], rel[rows], offered))

    def packed(rows: Int64, offered: Int32) -> Int64:
        return draw.index.pack(head[rows], rel[rows], offered)

    candidates = Candidates(types.pools, types.of_tails(tail, rel), keys, draw.stream)
    return take_turns(candidates, refused=refused, packed=packed, deadline=draw.deadline)
