"""Inversion: a statement's head and tail change places (B3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graph_service.model.graph import Int32, Numbers
from graph_service.views.choosing import first_able
from graph_service.views.drawing import Drawing, Drawn, replaced


def draw_inversion(drawing: Drawing, /) -> Drawn:
    """Returns the view in which the first edges in hash order run the other way.

    An edge that the base has both ways (a spouse) can't change, nor one from an entity to itself.
    """
    graph = drawing.graph
    scope = drawing.scope()

    def choose(edges: Numbers) -> Int32:
        head, rel, tail = graph.head[edges], graph.rel[edges], graph.tail[edges]
        able = (head != tail) & ~drawing.prepared.says(tail, rel, head)
        # Of statements that say the same the first alone is turned.
        first = np.unique(drawing.index.pack(tail, rel, head), return_index=True)[1]
        able &= np.isin(np.arange(len(edges)), first)
        return np.where(able, head, -1).astype(np.int32)

    edges, tails = first_able(drawing, scope, drawing.asked(len(scope)), choose)
    delta = replaced(graph, edges, tail=tails)
    return Drawn(replace(delta, replaced_head=graph.tail[edges]), len(scope))
