"""Inversion: a statement's head and tail change places (B3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graph_service.model.graph import Int32, Numbers
from graph_service.views.choosing import first_able
from graph_service.views.drawing import Draw, MethodResult, replaced


def draw_inversion(draw: Draw, /) -> MethodResult:
    """Returns the view in which the first edges in hash order run the other way.

    An edge that the base has both ways (a spouse) can't change, nor one from an entity to itself.
    """
    graph = draw.graph
    scope = draw.scope()

    def choose(edges: Numbers) -> Int32:
        head, rel, tail = graph.head[edges], graph.rel[edges], graph.tail[edges]
        able = (head != tail) & ~draw.prepared.says(tail, rel, head)
        # Of statements that say the same the first alone is turned.
        first = np.unique(draw.index.pack(tail, rel, head), return_index=True)[1]
        able &= np.isin(np.arange(len(edges)), first)
        return np.where(able, head, -1).astype(np.int32)

    edges, tails = first_able(draw, scope, draw.target(len(scope)), choose)
    delta = replaced(graph, edges, tail=tails)
    return MethodResult(replace(delta, replaced_head=graph.tail[edges]), len(scope))
