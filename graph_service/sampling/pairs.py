"""Counts of relations, and draws of related pairs and of well-known entities: arrays in, numbers out."""

from __future__ import annotations

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int64, KnowledgeGraph, NodeKind
from graph_service.model.hashing import keyed_hashes
from graph_service.model.identity import digest


def relation_uses(graph: KnowledgeGraph, /) -> Int64:
    """Returns how many statements each relation has, int64 [relations].

    Statements of the best rank among their head's of that relation count, as those are what a
    retrieval finds.
    """
    counts: Int64 = np.bincount(graph.rel[graph.best], minlength=graph.relation_count)
    return counts.astype(np.int64)


def draw_pairs(
    graph: KnowledgeGraph, relation_id: str, /, *, count: int, random_seed: int
) -> tuple[Int64, int]:
    """Returns edges of a relation between two entities, in the order of the draw, and how many there are.

    The order is that of a keyed hash of the statement's key: a larger draw holds a smaller one,
    whatever the order of loading. Of several statements of one pair the first drawn counts.

    Args:
        graph: The graph.
        relation_id: Of the pairs.
        count: Pairs at most.
        random_seed: Of the draw.

    Raises:
        InputError: The graph has no such relation.
    """
    rel = graph.find_relation(relation_id)
    if rel is None:
        raise InputError(f"graph {graph.name!r} has no relation {relation_id}", argument="relation")
    is_pair = graph.best & (graph.rel[:] == rel) & (graph.head[:] != graph.tail)
    is_pair &= graph.node_kinds[graph.tail] == NodeKind.ENTITY
    edges = np.flatnonzero(is_pair)
    order = edges[np.argsort(_hashes(graph.statement_keys[edges], "pairs", random_seed))]
    endpoints = np.stack([graph.head[order], graph.tail[order]], axis=1)
    # Of one pair read both ways, as with spouses, the first drawn counts.
    _, first = np.unique(np.sort(endpoints, axis=1), axis=0, return_index=True)
    distinct: Int64 = order[np.sort(first)]
    return distinct[:count], len(distinct)


def draw_known(
    graph: KnowledgeGraph, /, *, count: int, random_seed: int, min_statements: int
) -> tuple[Int64, int]:
    """Returns entities with enough statements of their own, in the order of the draw, and how many there are.

    Args:
        graph: The graph.
        count: Entities at most.
        random_seed: Of the draw.
        min_statements: That an entity heads at least.
    """
    heads = np.bincount(graph.head[graph.best], minlength=graph.node_count)[: graph.entity_count]
    kinds = graph.node_kinds[: graph.entity_count]
    nodes = np.flatnonzero((heads >= min_statements) & (kinds == NodeKind.ENTITY))
    order = np.argsort(_hashes(graph.node_keys[nodes], "known", random_seed))
    sample: Int64 = nodes[order[:count]]
    return sample, len(nodes)


def _hashes(keys: Int64, what: str, random_seed: int) -> np.ndarray:
    secret = digest((what, str(random_seed)), person=b"dataset")
    return keyed_hashes(np.ascontiguousarray(keys), secret)
