"""Edge deletion: an edge goes (O10)."""

from __future__ import annotations

from graph_service.views.drawing import Draw, MethodResult, without


def draw_deletion(draw: Draw, /) -> MethodResult:
    """Returns the view without the first edges in hash order."""
    scope = draw.scope()
    removed = draw.first(scope, draw.target(len(scope)))
    return MethodResult(without(draw.graph, removed), len(scope))
