"""Rule deletion: statements go that a rule of the graph could restore (B3).

As BRINK (Zhou et al. 2025, arXiv 2508.08344) makes its questions: the direct statement is gone, and a
reader has to follow the body of the rule. So the statements of one such body stay for each that goes.
"""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Numbers
from graph_service.views.draw import ascending
from graph_service.views.drawing import Drawing, Drawn, without
from graph_service.views.rules import Restorable


def draw_rule_deletion(drawing: Drawing, /) -> Drawn:
    """Returns the view without the first statements in hash order that rules could restore.

    The level is a share of all statements in scope that they could.
    """
    spec = drawing.spec
    found = drawing.prepared.restorable(
        atoms=spec.rule_atoms,
        support=spec.rule_support,
        confidence=spec.rule_confidence,
        deadline=drawing.deadline,
    )
    scope = np.intersect1d(drawing.scope(), found.head)
    if found.left_out:
        drawing.notes.append(f"{found.left_out} rules have too many bodies to count")
    if not len(scope):
        drawing.notes.append(f"{found.rules} rules hold, and no statement in scope follows")
    asked = drawing.asked(len(scope))
    removed = _taken(drawing, scope, found, asked)
    if len(removed) < asked:
        drawing.notes.append(
            f"{asked} statements were asked and {len(removed)} can go: the others are needed to "
            "restore these"
        )
    return Drawn(without(drawing.graph, removed), len(scope))


def _taken(drawing: Drawing, scope: Numbers, found: Restorable, asked: int) -> Numbers:
    """The statements that go: each keeps the body of its surest rule that is still whole."""
    graph = drawing.graph
    keys = graph.statement_keys
    order = scope[ascending(drawing.stream.hashes(keys, at=scope, purpose="order"))]
    begin = np.searchsorted(found.head, order, side="left").tolist()
    end = np.searchsorted(found.head, order, side="right").tolist()
    gone: set[int] = set()
    needed: set[int] = set()
    for edge, low, high in zip(order.tolist(), begin, end, strict=True):
        if len(gone) == asked:
            break
        if edge in needed:
            continue
        drawing.deadline.check("choosing what rules restore")
        for place in range(low, high):
            body = {int(found.first[place]), int(found.second[place])} - {-1}
            if edge not in body and not body & gone:
                gone.add(edge)
                needed |= body
                break
    return np.array(sorted(gone), dtype=graph.edge_type)
