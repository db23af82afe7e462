"""Relation swapping as a method: how many pairs, and what could not be paired (O10)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Numbers
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Sampling
from graph_service.views.drawing import Draw, MethodResult, repeats, replaced
from graph_service.views.notes import shortfall
from graph_service.views.swapping.method import (
    PairSequence,
    pair_edges,
    swap_with_replacement,
)

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
        graph.rel[scope],
        graph.statement_keys[scope],
        target // 2,
        stream=draw.stream,
        deadline=draw.deadline,
    )
    changed = np.flatnonzero(relations != graph.rel[scope])
    draw.notes.extend(notes_with_replacement(target, len(changed)))
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
    draw.notes.extend(notes_of_pairs(target, sequence))
    first, second = sequence.first, sequence.second
    edges = np.concatenate([first, second])
    relations = graph.rel[np.concatenate([second, first])]
    order = np.argsort(edges)
    return replaced(graph, edges[order], rel=relations[order])


def notes_with_replacement(target: int, changed: int, /) -> list[str]:
    """Returns what is to be said where edges are drawn with replacement."""
    if changed >= target:
        return []
    return [
        "sampling okgqa draws with replacement and swaps within a relation; "
        + shortfall("edges", target, "changed", changed)
    ]


def notes_of_pairs(target: int, sequence: PairSequence, /) -> list[str]:
    """Returns what is to be said where pairs are fewer edges than requested."""
    if len(sequence.first) < target // 2:
        return [
            shortfall(
                "edges",
                target,
                "can be paired",
                2 * sequence.count,
                "one relation holds more than half of the edges in scope",
            )
        ]
    if target % 2:
        return [_SWAPPED_IN_TWOS.format(target, 2 * len(sequence.first))]
    return []
