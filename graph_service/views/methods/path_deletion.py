"""Path deletion: statements of the shortest paths from a question to its answers go (B3).

Reasoning-path disruption of Zhou et al. 2025 (arXiv 2504.05163), which removes one triple of one
shortest path: here the first ``count`` statements, in hash order, of all those on any shortest
path between an entity that the question names and one that answers it. So one statement less
never brings a path back, and at level 1 no shortest path is left. The matched control deletes as
many statements of the same region (what lies as near to the entities as the paths go) that are
on no such path.
"""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import require_node
from graph_service.views.drawing import Draw, MethodResult, without
from graph_service.views.measure.steps import MAX_STEPS
from graph_service.views.paths import Walker


def draw_path_deletion(draw: Draw, /) -> MethodResult:
    """Returns the view without the first statements of the paths, or of what is beside them.

    The level is a share of the statements on the paths, for the control too.

    Raises:
        InputError: An entity that the graph lacks.
    """
    graph, spec = draw.graph, draw.spec
    walker = Walker(graph, draw.index, draw.deadline)
    entities = [require_node(graph, id_) for id_ in sorted(set(spec.entity_ids))]
    answers = [require_node(graph, id_) for id_ in sorted(set(spec.answer_ids))]
    paths = walker.shortest(entities, answers)
    if not len(paths.edges):
        draw.notes.append(f"no path of at most {MAX_STEPS} statements leads to an answer")
    target = draw.target(len(paths.edges))
    if spec.count is not None and spec.count > target:
        draw.notes.append(f"{spec.count} statements were asked and {target} are on a path")
    edges = paths.edges
    if spec.control:
        edges = np.setdiff1d(walker.region(entities, paths.length), edges)
        if len(edges) < target:
            draw.notes.append(f"{target} statements were asked and {len(edges)} are on no path")
    removed = draw.first(edges, min(target, len(edges)))
    return MethodResult(without(graph, removed), len(paths.edges))
