"""Which edges of a base graph a view may change."""

from __future__ import annotations

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import RANK_CODES, Bool, Int32, KnowledgeGraph, require_node
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.model.view_spec import Scope
from graph_service.views.pairs import PairIndex


def scope_edges(
    graph: KnowledgeGraph,
    scope: Scope,
    /,
    *,
    index: PairIndex,
    question_edges: Int32 | None = None,
    deadline: Deadline | None = None,
) -> tuple[Int32, tuple[str, ...]]:
    """Returns the edges in scope, int32, ascending, and notes on what was named and is not.

    Where several restrictions are given, an edge must meet all of them. Edges whose value is no
    entity and deprecated ones are never in scope.

    Args:
        graph: The base.
        scope: The restrictions; none means every eligible edge.
        index: The base's ``PairIndex``.
        question_edges: Base edges of the question's region, for ``scope.of_question``.
        deadline: When to give up.

    Raises:
        InputError: A statement, relation or entity that the graph lacks, or no question's region.
    """
    deadline = deadline or Deadline.none()
    if scope == Scope(hops=scope.hops):
        return np.flatnonzero(index.eligible).astype(np.int32), ()
    mask = np.ones(graph.edge_count, dtype=np.bool_)
    if scope.statement_ids:
        mask &= _statements(graph, scope.statement_ids, deadline)
    if scope.relation_ids:
        mask &= _relations(graph, scope.relation_ids)
    if scope.around_entity_ids:
        mask &= _around(graph, scope.around_entity_ids, scope.hops, deadline)
    if scope.of_question:
        if question_edges is None:
            raise InputError(
                "a view of the question's own region needs a question",
                argument="scope",
                hint="Give it as the inline view of a retrieval, or give around_entity_ids instead.",
            )
        chosen = np.zeros(graph.edge_count, dtype=np.bool_)
        inside = question_edges[(question_edges >= 0) & (question_edges < graph.edge_count)]
        chosen[inside] = True
        mask &= chosen
    left_out = int(np.count_nonzero(mask & ~index.eligible))
    notes: tuple[str, ...] = ()
    if left_out and scope.statement_ids:
        notes = (
            f"{left_out} of the statements named have no entity as value or are deprecated, and "
            "stay as they are; withholding takes any statement",
        )
    mask &= index.eligible
    return np.flatnonzero(mask).astype(np.int32), notes


def edges_of(
    graph: KnowledgeGraph,
    statement_ids: tuple[str, ...],
    /,
    *,
    argument: str,
    deadline: Deadline | None = None,
) -> list[int]:
    """Returns the edge of each statement id; raises ``InputError`` naming those there are not."""
    deadline = deadline or Deadline.none()
    edges = []
    for id_ in statement_ids:
        deadline.check("looking up statements")
        edges.append(graph.find_edge(id_))
    missing = [id_ for id_, edge in zip(statement_ids, edges, strict=True) if edge is None]
    if missing:
        raise InputError(
            f"graph {graph.name!r} has no statement {', '.join(map(repr, missing[:5]))}"
            + (f" and {len(missing) - 5} more of those named" if len(missing) > 5 else ""),
            argument=argument,
        )
    return [edge for edge in edges if edge is not None]


def _statements(graph: KnowledgeGraph, statement_ids: tuple[str, ...], deadline: Deadline) -> Bool:
    mask = np.zeros(graph.edge_count, dtype=np.bool_)
    edges = edges_of(graph, statement_ids, argument="scope.statement_ids", deadline=deadline)
    mask[edges] = True
    return mask


def _relations(graph: KnowledgeGraph, relation_ids: tuple[str, ...]) -> Bool:
    chosen = np.zeros(graph.relation_count, dtype=np.bool_)
    for id_ in relation_ids:
        relation = graph.find_relation(id_)
        if relation is None:
            raise InputError(
                f"graph {graph.name!r} has no relation {id_!r}", argument="scope.relation_ids"
            )
        chosen[relation] = True
    mask: Bool = chosen[graph.rel]
    return mask


def _around(
    graph: KnowledgeGraph, around_entity_ids: tuple[str, ...], hops: int, deadline: Deadline
) -> Bool:
    """Edges walked in ``hops`` steps, both ways: those with an end at most ``hops - 1`` away."""
    current = graph.rank != RANK_CODES[Rank.DEPRECATED]
    near = np.zeros(graph.node_count, dtype=np.bool_)
    near[[require_node(graph, id_) for id_ in around_entity_ids]] = True
    mask = np.zeros(graph.edge_count, dtype=np.bool_)
    for _ in range(hops):
        deadline.check("walking the graph")
        step = (near[graph.head] | near[graph.tail]) & current
        if np.array_equal(step, mask):
            break
        mask = step
        near[graph.head[mask]] = True
        near[graph.tail[mask]] = True
        near[graph.entity_count :] = False
    return mask
