"""Which entities are of some types (a filter that a caller may ask for).

One rule: besides the question's own entities a region reaches only instances of the types, or of
their subclasses, and a literal stays with the entity that it is said of (``cut.extract_region``).
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, Uint8
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.retrieve.region.cut import IsInstance
from graph_service.walk import closure


def instances_of(
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    types: Sequence[int],
    /,
    *,
    ranks: Sequence[int] = (0, 1),
    deadline: Deadline | None = None,
) -> IsInstance:
    """Returns what tells the instances of some types, or of their subclasses, at any depth.

    Args:
        graph: The base.
        overlay: The view, where one is asked for; its edges decide.
        types: Classes, global numbers.
        ranks: ``RANK_CODES`` of the statements that are edges.
        deadline: Raises ``DeadlineError`` when past.
    """
    classes = _with_subclasses(graph, overlay, types, ranks, deadline or Deadline.none())
    instance_of = _relations(graph, overlay, INSTANCE_RELATIONS)

    def is_instance(entities: Int64) -> Bool:
        if not len(graph.equal):
            return are_instances(entities)
        members, owner = graph.equal.gather(entities)
        are = np.zeros(len(entities), dtype=bool)
        are[owner[are_instances(members)]] = True
        return are

    def are_instances(entities: Int64) -> Bool:
        are = np.zeros(len(entities), dtype=bool)
        rows = np.flatnonzero(entities < graph.entity_count)
        edges, owner = graph.out_edges.gather(entities[rows])
        holds = _is_of(graph.rel[edges], instance_of)
        edges, owner = edges[holds], owner[holds]
        holds = _is_of(graph.rank[edges], ranks) & np.isin(graph.tail[edges], classes)
        if overlay is not None:
            holds &= ~overlay.gone.has(edges)
        are[rows[owner[holds]]] = True
        if overlay is not None:
            holds = _is_of(overlay.rel, instance_of)
            holds &= _is_of(overlay.rank, ranks) & np.isin(overlay.tail, classes)
            are |= np.isin(entities, overlay.head[holds])
        return are

    return is_instance


_SUBCLASS_EDGES: WeakKeyDictionary[KnowledgeGraph, Int64] = WeakKeyDictionary()


def _with_subclasses(
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    types: Sequence[int],
    ranks: Sequence[int],
    deadline: Deadline,
) -> Int64:
    """Returns classes and all below them, ascending; a circle of subclasses ends."""
    relations = _relations(graph, overlay, SUBCLASS_RELATIONS)
    edges = _SUBCLASS_EDGES.get(graph)
    if edges is None:
        # All edges are looked at once: a class may have millions of instances beside its few
        # subclasses.
        edges = np.flatnonzero(_is_of(graph.rel[:], relations))
        _SUBCLASS_EDGES[graph] = edges
    edges = edges[_is_of(graph.rank[edges], ranks)]
    if overlay is not None:
        edges = edges[~overlay.gone.has(edges)]
    lower, upper = graph.head[edges].astype(np.int64), graph.tail[edges].astype(np.int64)
    if overlay is not None:
        extra = _is_of(overlay.rel, relations) & _is_of(overlay.rank, ranks)
        lower = np.concatenate((lower, overlay.head[extra]))
        upper = np.concatenate((upper, overlay.tail[extra]))

    def subclasses(classes: set[int]) -> list[int]:
        deadline.check("looking for subclasses")
        return with_members(lower[np.isin(upper, list(classes))])

    def with_members(classes: Int64) -> list[int]:
        members: list[int] = graph.equal.gather(classes)[0].tolist()
        return members

    start = with_members(np.array(types, dtype=np.int64))
    return np.array(sorted(closure(start, subclasses)), dtype=np.int64)


def _relations(
    graph: KnowledgeGraph, overlay: Overlay | None, ids: frozenset[str]
) -> tuple[int, ...]:
    """Returns the numbers of those of some relations that the graph or the view has."""
    indices = [graph.find_relation(id_) for id_ in ids]
    if overlay is not None:
        new = enumerate(overlay.new_relations, graph.relation_count)
        indices += [index for index, id_ in new if id_ in ids]
    return tuple(index for index in indices if index is not None)


def _is_of(column: Int32 | Uint8, values: Sequence[int]) -> Bool:
    """Returns which numbers of a column are among a few; faster than ``isin`` for so few."""
    matches = np.zeros(len(column), dtype=bool)
    for value in values:
        matches |= column == value
    return matches
