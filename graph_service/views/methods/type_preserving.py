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
from graph_service.views.drawing import Draw, MethodResult, replaced


def draw_type_preserving(draw: Draw, /) -> MethodResult:
    """Returns the view in which the first edges in hash order have another head or tail."""
    graph = draw.graph
    scope = draw.scope()

    def choose(edges: Numbers) -> Int32:
        return _other_nodes(draw, edges)

    edges, nodes = first_able(draw, scope, draw.target(len(scope)), choose)
    turned = _has_new_head(draw, edges)
    delta = replaced(graph, edges, tail=np.where(turned, graph.tail[edges], nodes))
    delta = replace(delta, replaced_head=np.where(turned, nodes, graph.head[edges]))
    return MethodResult(delta, len(scope))


def _has_new_head(draw: Draw, edges: Numbers) -> Bool:
    """Whether it is an edge's head that changes, by a draw of its own."""
    keys = draw.graph.statement_keys
    return np.asarray(below(draw.stream.hashes(keys, at=edges, purpose="end"), 2) == 0)


def _other_nodes(draw: Draw, edges: Numbers) -> Int32:
    graph, prepared = draw.graph, draw.prepared
    head, rel, tail = graph.head[edges], graph.rel[edges], graph.tail[edges]
    types = prepared.types
    turned = _has_new_head(draw, edges)
    pool = np.where(turned, types.of_heads(head, rel), types.of_tails(tail, rel))

    def triple(rows: Int64, offered: Int32) -> tuple[Int32, Int32, Int32]:
        return (
            np.where(turned[rows], offered, head[rows]),
            rel[rows],
            np.where(turned[rows], tail[rows], offered),
        )

    def refused(rows: Int64, offered: Int32) -> Bool:
        same = (offered == tail[rows]) | (offered == head[rows])
        return np.asarray(same | prepared.says(*triple(rows, offered)))

    def packed(rows: Int64, offered: Int32) -> Int64:
        return draw.index.pack(*triple(rows, offered))

    candidates = Candidates(types.pools, pool, graph.statement_keys[edges], draw.stream)
    return take_turns(candidates, refused=refused, packed=packed, deadline=draw.deadline)
