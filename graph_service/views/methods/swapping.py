"""Relation swapping as a method: how many pairs, and what could not be paired (O10)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Numbers
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Sampling
from graph_service.views.drawing import Draw, MethodResult, repeats, replaced
from graph_service.views.notes import shortfall
from graph_service.views.swapping.method import pair_edges, swap_with_replacement

_SWAPPED_IN_TWOS = "edges are swapped in twos, and {0} was asked: {1} changed"


def draw_swapping(draw: Draw, /) -> MethodResult:
    """Returns the view in which the first pairs of edges exchange their relations."""
    scope = draw.scope()
    target = draw.target(len(scope))
    method = _with_replacement if draw.spec.sampling is Sampling.OKGQA else _in_pairs
    delta = method(draw, scope, target)
    return MethodResult(delta, len(scope), repeats(draw.graph, delta, draw.index))


def _with_replacement(draw: Draw, scope: Numbers, target: int) -> ViewDelta:
    graph = draw.graph
    relations = swap_with_replacement(
        graph, scope, target // 2, stream=draw.stream, deadline=draw.deadline
    )
    changed = np.flatnonzero(relations != graph.rel[scope])
    if len(changed) < target:
        draw.notes.append(
            "sampling okgqa draws with replacement and swaps within a relation; "
            + shortfall("edges", target, "changed", len(changed))
        )
    return replaced(graph, scope[changed], rel=relations[changed])


def _in_pairs(draw: Draw, scope: Numbers, target: int) -> ViewDelta:
    graph = draw.graph
    sequence = pair_edges(
        graph,
        scope,
        stream=draw.stream,
        index=draw.index,
        deadline=draw.deadline,
        count=target // 2,
    )
    first, second = sequence.first, sequence.second
    if len(first) < target // 2:
        draw.notes.append(
            shortfall(
                "edges",
                target,
                "can be paired",
                2 * sequence.count,
                "one relation holds more than half of the edges in scope",
            )
        )
    elif target % 2:
        draw.notes.append(_SWAPPED_IN_TWOS.format(target, 2 * len(first)))
    edges = np.concatenate([first, second])
    relations = graph.rel[np.concatenate([second, first])]
    order = np.argsort(edges)
    return replaced(graph, edges[order], rel=relations[order])
