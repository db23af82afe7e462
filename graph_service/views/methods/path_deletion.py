"""Path deletion: statements of the shortest paths from a question to its answers go (B3).

Reasoning-path disruption of Zhou et al. 2025 (arXiv 2504.05163), which removes one triple of one
shortest path: here the first ``count`` statements, in hash order, of all those on any shortest
path between an entity that the question names and one that answers it. So one statement less
never brings a path back, and at level 1 no shortest path is left.

A control deletes a statement on no such path for each of these. By default it is as many steps from
the question's entities, of the same relation if any such is left, and its ends have about as many
statements. Controls by number alone, as they were first, touch the question's entities in 2 % of
cases, where half of the statements on paths do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Int64, KnowledgeGraph, Numbers, require_node
from graph_service.model.view_spec import ControlMatch
from graph_service.views.drawing import Draw, MethodResult, without
from graph_service.views.measure.steps import MAX_STEPS
from graph_service.views.notes import shortfall
from graph_service.views.paths import Walker

_OTHER_RELATION = 1_000
"""More than degrees can differ."""


def draw_path_deletion(draw: Draw, /) -> MethodResult:
    """Returns the view without the first statements of the paths, or without their controls.

    The level is a share of the statements on the paths, for a control too.

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
        draw.notes.append(shortfall("statements", spec.count, "on a path", target))
    if not spec.control:
        removed = draw.first(paths.edges, target)
    elif spec.control_by is ControlMatch.NUMBER:
        edges = np.setdiff1d(walker.region(entities, paths.length), paths.edges)
        if len(edges) < target:
            draw.notes.append(shortfall("statements", target, "on no path", len(edges)))
        removed = draw.first(edges, min(target, len(edges)))
    else:
        removed = _controls(draw, walker.walked(entities, paths.length), paths.edges, target)
    return MethodResult(without(graph, removed), len(paths.edges))


@dataclass(frozen=True, slots=True, eq=False)
class _Others:
    """Statements on no path that are as far from the question's entities, in hash order.

    Attributes:
        edges: Base edges, int32 or int64.
        rel: The relation of each, int32.
        sizes: Size of the ends of each, int64 [edges, 2].
        free: Whether each is no control yet.
    """

    edges: Numbers
    rel: Numbers
    sizes: Int64
    free: Numbers


def _controls(draw: Draw, walked: list[Numbers], on_paths: Numbers, count: int) -> Numbers:
    """A statement on no path for each of the first on paths, ascending; fewer where none is left."""
    graph = draw.graph
    others = [_others(draw, np.setdiff1d(edges, on_paths)) for edges in walked]
    in_order = on_paths[np.argsort(_hashes(draw, on_paths), kind="stable")][:count]
    sizes = _sizes(graph, in_order)
    controls: list[int] = []
    alike = 0
    for edge, size in zip(in_order.tolist(), sizes, strict=True):
        draw.deadline.check("matching controls")
        distance = next(step for step, edges in enumerate(walked) if _holds(edges, edge))
        near = others[distance]
        differs = near.rel != graph.rel[edge]
        free = near.free & ~differs if draw.spec.control_by is ControlMatch.RELATION else near.free
        rows = np.flatnonzero(free)
        if not len(rows):
            continue
        cost = np.abs(near.sizes[rows] - size).sum(axis=1) + _OTHER_RELATION * differs[rows]
        row = int(rows[np.argmin(cost)])
        near.free[row] = False
        alike += not differs[row]
        controls.append(int(near.edges[row]))
    if len(controls) < count:
        draw.notes.append(f"{count - len(controls)} of {count} statements on paths have no control")
    if controls:
        draw.notes.append(f"{alike} of {len(controls)} controls are of the same relation")
    return np.array(sorted(controls), dtype=graph.edge_type)


def _others(draw: Draw, edges: Numbers) -> _Others:
    edges = edges[np.argsort(_hashes(draw, edges), kind="stable")]
    graph = draw.graph
    free = np.ones(len(edges), dtype=np.bool_)
    return _Others(edges, graph.rel[edges], _sizes(graph, edges), free)


def _hashes(draw: Draw, edges: Numbers) -> Numbers:
    return draw.stream.hashes(draw.graph.statement_keys, at=edges, purpose="order")


def _sizes(graph: KnowledgeGraph, edges: Numbers) -> Int64:
    """The size of both ends of each edge, the smaller first: bits of how many statements it has."""
    degrees = np.stack([graph.degrees_of(side[edges]) for side in (graph.head, graph.tail)], axis=1)
    # Exact on every machine, which logarithms are not.
    bits = np.frexp(degrees.astype(np.float64))[1].astype(np.int64)
    return np.sort(bits, axis=1)


def _holds(ascending: Numbers, edge: int) -> bool:
    row = int(np.searchsorted(ascending, edge))
    return row < len(ascending) and int(ascending[row]) == edge
