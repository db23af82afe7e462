"""Edge deletion: an edge goes (O10)."""

from __future__ import annotations

from graph_service.views.drawing import Drawing, Drawn, without


def draw_deletion(drawing: Drawing, /) -> Drawn:
    """Returns the view without the first edges in hash order."""
    scope = drawing.scope()
    removed = drawing.first(scope, drawing.asked(len(scope)))
    return Drawn(without(drawing.graph, removed), len(scope))
