"""Relation swapping as a method: how many pairs, and what could not be paired (O10)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Numbers
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Sampling
from graph_service.views.drawing import Drawing, Drawn, repeats, replaced
from graph_service.views.swapping.method import pair_edges, swap_with_replacement

_SWAPPED_IN_TWOS = "edges are swapped in twos, and {0} was asked: {1} changed"


def draw_swapping(drawing: Drawing, /) -> Drawn:
    """Returns the view in which the first pairs of edges exchange their relations."""
    scope = drawing.scope()
    asked = drawing.asked(len(scope))
    draw = _with_replacement if drawing.spec.sampling is Sampling.OKGQA else _in_pairs
    delta = draw(drawing, scope, asked)
    return Drawn(delta, len(scope), repeats(drawing.graph, delta, drawing.index))


def _with_replacement(drawing: Drawing, scope: Numbers, asked: int) -> ViewDelta:
    graph = drawing.graph
    relations = swap_with_replacement(
        graph, scope, asked // 2, stream=drawing.stream, deadline=drawing.deadline
    )
    changed = np.flatnonzero(relations != graph.rel[scope])
    if len(changed) < asked:
        drawing.notes.append(
            f"sampling okgqa draws with replacement and swaps within a relation: {asked} "
            f"edges were asked, {len(changed)} changed"
        )
    return replaced(graph, scope[changed], rel=relations[changed])


def _in_pairs(drawing: Drawing, scope: Numbers, asked: int) -> ViewDelta:
    graph = drawing.graph
    sequence = pair_edges(
        graph,
        scope,
        stream=drawing.stream,
        index=drawing.index,
        deadline=drawing.deadline,
        wanted=asked // 2,
    )
    first, second = sequence.first, sequence.second
    if len(first) < asked // 2:
        drawing.notes.append(
            f"{asked} edges were asked and only {2 * sequence.count} can be paired: one "
            "relation holds more than half of the edges in scope"
        )
    elif asked % 2:
        drawing.notes.append(_SWAPPED_IN_TWOS.format(asked, 2 * len(first)))
    edges = np.concatenate([first, second])
    relations = graph.rel[np.concatenate([second, first])]
    order = np.argsort(edges)
    return replaced(graph, edges[order], rel=relations[order])
