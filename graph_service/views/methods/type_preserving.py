"""Type-preserving corruption: a head or tail becomes another entity of its type (B3).

As negatives are made for link prediction (Bordes et al. 2013), within the type (Krompass et al.
2015, arXiv 1508.02593): such an error no check of types finds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, Numbers
from graph_service.views.choosing import Candidates, first_able, take_turns
from graph_service.views.draw import below
from graph_service.views.drawing import Drawing, Drawn, replaced


def draw_type_preserving(drawing: Drawing, /) -> Drawn:
    """Returns the view in which the first edges in hash order have another head or tail."""
    graph = drawing.graph
    scope = drawing.scope()

    def choose(edges: Numbers) -> Int32:
        return _other_ends(drawing, edges)

    edges, ends = first_able(drawing, scope, drawing.asked(len(scope)), choose)
    turned = _has_new_head(drawing, edges)
    delta = replaced(graph, edges, tail=np.where(turned, graph.tail[edges], ends))
    delta = replace(delta, replaced_head=np.where(turned, ends, graph.head[edges]))
    return Drawn(delta, len(scope))


def _has_new_head(drawing: Drawing, edges: Numbers) -> Bool:
    """Whether it is an edge's head that changes, by a draw of its own."""
    keys = drawing.graph.statement_keys
    return np.asarray(below(drawing.stream.hashes(keys, at=edges, purpose="end"), 2) == 0)


def _other_ends(drawing: Drawing, edges: Numbers) -> Int32:
    graph, prepared = drawing.graph, drawing.prepared
    head, rel, tail = graph.head[edges], graph.rel[edges], graph.tail[edges]
    types = prepared.types
    turned = _has_new_head(drawing, edges)
    pool = np.where(turned, types.of_heads(head, rel), types.of_tails(tail, rel))

    def ends(rows: Int64, offered: Int32) -> tuple[Int32, Int32, Int32]:
        return (
            np.where(turned[rows], offered, head[rows]),
            rel[rows],
            np.where(turned[rows], tail[rows], offered),
        )

    def refused(rows: Int64, offered: Int32) -> Bool:
        same = (offered == tail[rows]) | (offered == head[rows])
        return np.asarray(same | prepared.says(*ends(rows, offered)))

    def packed(rows: Int64, offered: Int32) -> Int64:
        return drawing.index.pack(*ends(rows, offered))

    candidates = Candidates(types.pools, pool, graph.statement_keys[edges], drawing.stream)
    return take_turns(candidates, refused=refused, packed=packed, deadline=drawing.deadline)
