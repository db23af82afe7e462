"""Statements and neighbours of an entity, page by page, on a graph or on a view laid over it.

The order is that of the edges' numbers, by the statements' heads and then by their keys, those
that a view made last. So a page begins after a number, whatever came before it. Statements of
entities that are one thing (``model.equal_entities``) come together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.overlay import Overlay, ViewStatementIds
from graph_service.model.values import EntityValue, stored_value
from graph_service.service.comparison import ShownStatement
from graph_service.service.lookup import edges_from

_LAST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of an entity's statements is asked for.

    Attributes:
        first: How many at most.
        after: Number of the last edge of the page before; None for the first page. Of a page that
            is read from the store, ``StatementPage.numbers`` of its last statement.
        relation_ids: Statements of these relations only; all where it is empty.
        outgoing, incoming: Whether the entity may be the head, and the value.
    """

    first: int
    after: int | None = None
    relation_ids: Sequence[str] = ()
    outgoing: bool = True
    incoming: bool = False


@dataclass(frozen=True, slots=True)
class StatementPage:
    """Some statements of an entity.

    Attributes:
        items: The statements; of those that the view made ``edge.change`` says what they were.
        numbers: The number of each one's edge, or what ``stored_page`` orders by.
        total: How many statements there are on all pages.
        has_next: Whether others come after these.
        entity_ids: The entity, and all that are one thing with it.
        view_id, view_spec: The view that was asked for; None for the base.
    """

    items: tuple[ShownStatement, ...]
    numbers: tuple[int, ...]
    total: int
    has_next: bool
    entity_ids: frozenset[str] = frozenset()
    view_id: str | None = None
    view_spec: str | None = None


def cut_page(edges: Int64, /, *, first: int, after: int | None) -> tuple[Int64, bool]:
    """Returns the first of some edges after a number, and whether others come after them.

    Args:
        edges: Ascending.
        first: How many at most.
        after: A number that need not be among them; None to begin at the first.

    >>> cut_page(np.array([2, 5, 9]), first=1, after=3)
    (array([5]), True)
    """
    # A place in a page of the store may be larger than any number of an edge.
    start = 0 if after is None else int(np.searchsorted(edges, min(after, _LAST), side="right"))
    return edges[start : start + first], start + first < len(edges)


def edges_of(
    graph: KnowledgeGraph, overlay: Overlay | None, node: int, page: PageRequest, /
) -> Int64:
    """Returns the edges that have a thing at an end that the page asks for, ascending.

    Args:
        graph: The base.
        overlay: The view, where one is asked for.
        node: An entity of the thing.
        page: Which ends.
    """
    parts = []
    for member in members_of(graph, node):
        if page.outgoing:
            parts.append(edges_from(graph, overlay, member))
        if page.incoming:
            parts.append(_edges_to(graph, overlay, member))
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))


def members_of(graph: KnowledgeGraph, node: int, /) -> list[int]:
    """Returns an entity and all that are one thing with it, ascending."""
    if not len(graph.equal):
        return [node]
    members: list[int] = sorted(graph.equal.gather(np.array([node]))[0].tolist())
    return members


def find_edge(graph: KnowledgeGraph, overlay: Overlay, statement_id: str, /) -> int | None:
    """Returns the edge of a statement of a view, or None: the view lacks it."""
    edge = graph.find_edge(statement_id)
    if edge is not None:
        return None if overlay.gone.has(np.array([edge]))[0] else edge
    ids = overlay.statement_ids
    index = ids.find(statement_id) if isinstance(ids, ViewStatementIds) else None
    return None if index is None else graph.edge_count + index


def between_entities(graph: KnowledgeGraph, overlay: Overlay | None, edges: Int64, /) -> Int64:
    """Returns those of some edges whose value is an entity."""
    base = edges < graph.edge_count
    is_entity = np.empty(len(edges), dtype=np.bool_)
    is_entity[base] = graph.tail[edges[base]] < graph.entity_count
    if overlay is not None:
        tails = overlay.tail[edges[~base] - graph.edge_count].tolist()
        is_entity[~base] = [_is_entity(graph, overlay, tail) for tail in tails]
    return edges[is_entity]


def _is_entity(graph: KnowledgeGraph, overlay: Overlay, node: int) -> bool:
    if node < graph.node_count:
        return node < graph.entity_count
    return isinstance(stored_value(overlay.new_nodes[node - graph.node_count]), EntityValue)


def _edges_to(graph: KnowledgeGraph, overlay: Overlay | None, node: int) -> Int64:
    edges = np.sort(graph.in_edges.of(node))
    if overlay is None:
        return edges
    extra = np.flatnonzero(overlay.tail == node) + graph.edge_count
    return np.concatenate([edges[~overlay.gone.has(edges)], extra])
