"""Which edges of a base graph a view may change."""

from __future__ import annotations

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import RANK_CODES, Bool, KnowledgeGraph, Numbers, require_node
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.model.view_spec import Scope
from graph_service.views.pairs import is_eligible


def scope_edges(
    graph: KnowledgeGraph,
    scope: Scope,
    /,
    *,
    of_any_kind: bool = False,
    question_edges: Numbers | None = None,
    deadline: Deadline | None = None,
) -> tuple[Numbers, tuple[str, ...]]:
    """Returns the edges in scope, ascending, and notes on what was named and is not.

    Where several restrictions are given, an edge must meet all of them.

    Args:
        graph: The base.
        scope: The restrictions; none means every eligible edge.
        of_any_kind: Takes edges too whose value is no entity, and deprecated ones.
        question_edges: Base edges of the question's region, for ``scope.of_question``.
        deadline: When to give up.

    Raises:
        InputError: A statement, relation or entity that the graph lacks, or no question's region.
    """
    deadline = deadline or Deadline.none()
    kind = graph.edge_type
    if scope == Scope(hops=scope.hops):
        if of_any_kind:
            return np.arange(graph.edge_count, dtype=kind), ()
        return np.flatnonzero(is_eligible(graph)).astype(kind), ()
    # What is narrowest comes first: a question's view costs what its region has, not the graph.
    edges: Numbers | None = None
    if scope.of_question:
        if question_edges is None:
            raise question_needed()
        inside = (question_edges >= 0) & (question_edges < graph.edge_count)
        edges = np.unique(question_edges[inside]).astype(kind)
    if scope.statement_ids:
        named = edges_of(
            graph, scope.statement_ids, argument="scope.statement_ids", deadline=deadline
        )
        edges = _both(edges, np.unique(np.array(named, dtype=kind)))
    if scope.around_entity_ids:
        edges = _both(edges, _around(graph, scope.around_entity_ids, scope.hops, deadline))
    if edges is None:
        edges = np.arange(graph.edge_count, dtype=kind)
    if scope.relation_ids:
        edges = edges[_relations(graph, scope.relation_ids)[graph.rel[edges]]]
    if of_any_kind:
        return edges, ()
    able = is_eligible(graph, edges)
    left_out = int(np.count_nonzero(~able))
    notes: tuple[str, ...] = ()
    if left_out and scope.statement_ids:
        notes = (
            f"{left_out} of the statements named have no entity as value or are deprecated, and "
            "stay as they are; withholding takes any statement",
        )
    return edges[able], notes


def question_needed() -> InputError:
    """Returns the error of a view of a question's region where no question is asked."""
    return InputError(
        "a view of the question's own region needs a question",
        argument="scope",
        hint="Give it as the inline view of a retrieval, or give around_entity_ids instead.",
    )


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


def _relations(graph: KnowledgeGraph, relation_ids: tuple[str, ...]) -> Bool:
    """Whether each relation is among some, bool [R]."""
    chosen = np.zeros(graph.relation_count, dtype=np.bool_)
    for id_ in relation_ids:
        relation = graph.find_relation(id_)
        if relation is None:
            raise InputError(
                f"graph {graph.name!r} has no relation {id_!r}", argument="scope.relation_ids"
            )
        chosen[relation] = True
    return chosen


def _both(edges: Numbers | None, others: Numbers) -> Numbers:
    return others if edges is None else np.intersect1d(edges, others)


def _around(
    graph: KnowledgeGraph, around_entity_ids: tuple[str, ...], hops: int, deadline: Deadline
) -> Numbers:
    """Edges walked in ``hops`` steps, both ways: those with an end at most ``hops - 1`` away."""
    seen = np.unique(np.array([require_node(graph, id_) for id_ in around_entity_ids], np.int32))
    frontier, walked = seen, [np.zeros(0, dtype=graph.edge_type)]
    for _ in range(hops):
        deadline.check("walking the graph")
        step = np.concatenate(
            [graph.out_edges.edges_of(frontier), graph.in_edges.edges_of(frontier)]
        )
        step = step[graph.rank[step] != RANK_CODES[Rank.DEPRECATED]]
        walked.append(step)
        nodes = np.unique(np.concatenate([graph.head[step], graph.tail[step]]))
        frontier = np.setdiff1d(nodes[graph.is_entity(nodes)], seen, assume_unique=True)
        seen = np.union1d(seen, frontier)
        if not len(frontier):
            break
    return np.unique(np.concatenate(walked))
