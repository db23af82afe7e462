"""Rule deletion: statements go that a rule of the graph could restore (B3).

As BRINK (Zhou et al. 2025, arXiv 2508.08344) makes its questions: the direct statement is gone, and a
reader has to follow the body of the rule. So the statements of one such body stay for each that goes.
"""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Numbers
from graph_service.views.draw import ascending
from graph_service.views.drawing import Draw, MethodResult, without
from graph_service.views.notes import shortfall
from graph_service.views.rules import Restorable


def draw_rule_deletion(draw: Draw, /) -> MethodResult:
    """Returns the view without the first statements in hash order that rules could restore.

    The level is a share of all statements in scope that they could.
    """
    spec = draw.spec
    restorable = draw.prepared.restorable(
        atoms=spec.rule_atoms,
        support=spec.rule_support,
        confidence=spec.rule_confidence,
        deadline=draw.deadline,
    )
    scope = np.intersect1d(draw.scope(), restorable.head)
    if restorable.left_out:
        draw.notes.append(f"rules with too many bodies to count: {restorable.left_out}")
    if not len(scope):
        draw.notes.append(
            f"rules that hold: {restorable.rules}; no statement in scope follows from them"
        )
    target = draw.target(len(scope))
    removed = _taken(draw, scope, restorable, target)
    if len(removed) < target:
        draw.notes.append(
            shortfall(
                "statements",
                target,
                "can go",
                len(removed),
                "the others are needed to restore these",
            )
        )
    return MethodResult(without(draw.graph, removed), len(scope))


def _taken(draw: Draw, scope: Numbers, restorable: Restorable, target: int) -> Numbers:
    """The statements that go: each keeps the body of its surest rule that is still whole."""
    graph = draw.graph
    keys = graph.statement_keys
    order = scope[ascending(draw.stream.hashes(keys, at=scope, purpose="order"))]
    begin = np.searchsorted(restorable.head, order, side="left").tolist()
    end = np.searchsorted(restorable.head, order, side="right").tolist()
    gone: set[int] = set()
    needed: set[int] = set()
    for edge, low, high in zip(order.tolist(), begin, end, strict=True):
        if len(gone) == target:
            break
        if edge in needed:
            continue
        draw.deadline.check("choosing what rules restore")
        for row in range(low, high):
            body = {int(restorable.first[row]), int(restorable.second[row])} - {-1}
            if edge not in body and not body & gone:
                gone.add(edge)
                needed |= body
                break
    return np.array(sorted(gone), dtype=graph.edge_type)
