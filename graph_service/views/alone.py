"""Views that are drawn on their scope alone: nothing of the base beyond it decides them.

Every draw begins with a hash of a statement's key, which is the same wherever the statement lies.
How much more of the base a method reads depends on what a statement gets: a deletion nothing, a
swap and an inversion the statements between the same two entities, which they may not repeat, and
other methods what ``BEYOND`` says. ``tests/property/test_views_alone.py`` shows both kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from graph_service.model.graph import Int64, KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.stored_view import ViewReport
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Method, Sampling, Scope, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.pairs import Sieve, among, pack_pairs
from graph_service.views.part import Part

BEYOND: Mapping[Method, str] = {
    Method.RELATION_REPLACEMENT: "the counts of all relations and entities",
    Method.EDGE_REWIRING: "all entities, of which it draws new values",
    Method.CONTRADICTION: "all entities of a type, of which it draws false values",
    Method.INSERTION: "all entities, of which it draws false values",
    Method.TYPE_PRESERVING: "all entities of a type, of which it draws other ends",
    Method.RULE_DELETION: "the rules of the whole graph",
    Method.STALE: "all values that an entity has of a relation",
    Method.PATH_DELETION: "the paths between entities, wherever they lead",
    Method.NAMES: "the names of entities, before a question is linked",
    Method.CUSTOM: "the entities and relations that its changes name",
}
"""What a method reads of the base beyond its scope; a method that is not here reads nothing."""


def can_draw_alone(spec: ViewSpec, /) -> bool:
    """Returns whether the statements in scope, and those parallel to them, decide a view.

    A pruned scope is a graph of its own to every method.
    """
    return spec.scope.pruned or spec.method not in BEYOND


def reads_parallel_edges(spec: ViewSpec, /) -> bool:
    """Returns whether statements between the same entities as those in scope decide a view too."""
    return (
        spec.method in (Method.RELATION_SWAPPING, Method.INVERSION)
        and spec.sampling is not Sampling.OKGQA
        and not spec.scope.pruned
    )


def draw_alone(
    graph: KnowledgeGraph,
    spec: ViewSpec,
    edges: Numbers,
    /,
    *,
    deadline: Deadline | None = None,
) -> tuple[ViewDelta, ViewReport]:
    """Returns what ``make_delta`` does, at the cost of the scope rather than of the base.

    Args:
        graph: The base, or a part of it that has the scope and the edges parallel to it (``with_parallel_edges``).
        spec: What is asked; ``can_draw_alone``, and not pruned.
        edges: Its scope, as ``scope_edges`` finds it; of no use to withholding.
        deadline: When to give up.

    Raises:
        InputError: As ``make_delta``.
    """
    if not spec.takes.is_random:
        return make_delta(graph, spec, deadline=deadline)
    spec = replace(spec, scope=Scope(of_question=True))
    if not reads_parallel_edges(spec):
        return make_delta(graph, spec, question_edges=edges, deadline=deadline)
    part = Part.of(graph, with_parallel_edges(graph, edges))
    positions = np.searchsorted(part.edges, edges).astype(part.graph.edge_type)
    delta, report = make_delta(part.graph, spec, question_edges=positions, deadline=deadline)
    return part.in_base(delta), report


def with_parallel_edges(graph: KnowledgeGraph, edges: Numbers, /) -> Numbers:
    """Returns some edges and all others, of any rank, between the same two entities.

    Args:
        graph: The base.
        edges: Edges whose value is an entity, int32 or int64.

    Returns:
        Edges, int32 or int64, ascending.
    """
    head, tail = graph.head[edges], graph.tail[edges]
    nodes = np.unique(np.concatenate([head, tail]))
    pairs = np.searchsorted(nodes, head), np.searchsorted(nodes, tail)
    looked = nodes[cheaper_nodes(*pairs, graph.degrees_of(nodes))]
    pairs_in_scope = np.unique(pack_pairs(head, tail, graph.node_count))
    # A hub's statements are many times those between the same two entities.
    sieve = Sieve.of(pairs_in_scope)
    parts = [edges]
    for way, other in ((graph.out_edges, graph.tail), (graph.in_edges, graph.head)):
        near, owner = way.gather(looked)
        pairs_there = pack_pairs(looked[owner], other[near], graph.node_count)
        parts.append(near[among(pairs_in_scope, pairs_there, sieve)])
    return np.unique(np.concatenate(parts)).astype(graph.edge_type)


def cheaper_nodes(head: Int64, tail: Int64, degrees: Int64, /) -> Int64:
    """Returns nodes, one of each pair, whose statements are soonest read; ascending.

    Of a pair it is the node with fewer statements for each of its pairs: an entity all of whose
    statements are pairs costs one a pair, and a hub of which few are costs many.

    Args:
        head: One node of each pair, int64.
        tail: The other one.
        degrees: Statements of each node, both directions.
    """
    pairs = np.bincount(np.concatenate([head, tail]), minlength=len(degrees))
    cost = degrees / np.maximum(pairs, 1)
    return np.unique(np.where(cost[head] <= cost[tail], head, tail))
