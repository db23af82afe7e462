"""What surrounds an entity and what a graph is about, in numbers: the cheap calls of a walk.

Both are counted on a graph's arrays, and on a view laid over them. Of a graph above the limit of
arrays the store counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import Int32, Int64, KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.overlay import Overlay
from graph_service.model.overview import ClassSize, Overview, RelationUse
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue, encode_value
from graph_service.service.browsing import (
    PageRequest,
    StatementPage,
    between_entities,
    edges_of,
)
from graph_service.service.comparison import ShownStatement
from graph_service.service.lookup import relations_of
from graph_service.service.triples import ShownEdge, TripleRenderer
from graph_service.store.protocol import GraphReader
from graph_service.store.snapshot.region_graph import region_graph_of

_KEY_OFFSET = 2**63
_EDGES_AT_ONCE = 2**20
_READ_AT_ONCE = 5_000
"""Statements of one entity that are read to be counted."""


@dataclass(frozen=True, slots=True)
class RelationCount:
    """How many statements of a relation an entity is an end of.

    Attributes:
        label: The relation's; None where it was not read.
        outgoing: Whether the entity is the statements' head.
    """

    relation_id: str
    label: str | None
    outgoing: bool
    count: int


@dataclass(frozen=True, slots=True)
class GraphAbout:
    """What a graph, or a view of it, is about.

    Attributes:
        overview: Its relations and classes.
        view_id, view_spec: The view that was asked for; None for the base.
    """

    overview: Overview
    view_id: str | None = None
    view_spec: str | None = None


def in_order(counts: Sequence[RelationCount], /) -> list[RelationCount]:
    """Returns counts with the largest first, outgoing ones before incoming ones, ties by key."""
    return sorted(counts, key=lambda it: (-it.count, not it.outgoing, key64(it.relation_id)))


def count_relations(
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    node: int,
    /,
    *,
    outgoing: bool,
    renderer: TripleRenderer,
) -> list[RelationCount]:
    """Returns how many statements of each relation a node is the head, or the value, of."""
    page = PageRequest(1, outgoing=outgoing, incoming=not outgoing)
    edges = edges_of(graph, overlay, node, page)
    numbers, counts = np.unique(relations_of(graph, overlay, edges), return_counts=True)
    known = renderer.relations(numbers.tolist())
    return [
        RelationCount(known[relation].id, known[relation].label, outgoing, count)
        for relation, count in zip(numbers.tolist(), counts.tolist(), strict=True)
    ]


def stored_relation_counts(
    reader: GraphReader,
    info: GraphInfo,
    entities: Iterable[str],
    /,
    *,
    outgoing: bool,
    deadline: Deadline,
) -> list[RelationCount]:
    """Returns the same as ``count_relations``, counted by the store, without labels.

    Args:
        reader: Where the graph is.
        info: The graph.
        entities: Ids of the thing, as many as it has.
        outgoing: Whether its entities are the heads, or the values.
        deadline: Raises ``DeadlineError`` when past.
    """
    counts: Counter[str] = Counter()
    for entity in entities:
        counts.update(
            reader.relation_counts(info.edition, entity, incoming=not outgoing, deadline=deadline)
        )
    return [RelationCount(id_, None, outgoing, count) for id_, count in counts.items()]


def stored_page(
    reader: GraphReader,
    info: GraphInfo,
    entities: Collection[str],
    page: PageRequest,
    /,
    *,
    languages: Sequence[str],
    entities_only: bool,
    deadline: Deadline,
) -> StatementPage:
    """Returns a page of the statements at a thing, read from the store, in order of their keys.

    Args:
        reader: Where the graph is.
        info: The graph.
        entities: Ids of the thing, as many as it has; redirects are not followed.
        page: Which statements; its relations are ids as the store has them. The numbers of a page
            are the statements' keys, from 0 on.
        languages: Of labels, best first.
        entities_only: Leaves out statements whose value is a literal.
        deadline: Raises ``DeadlineError`` when past.
    """
    ways = [
        way for way, is_included in ((False, page.outgoing), (True, page.incoming)) if is_included
    ]
    statements: dict[str, Statement] = {}
    total = 0
    for entity, incoming in product(entities, ways):
        edges_page = reader.statements_of(
            info.edition,
            entity,
            incoming=incoming,
            relation_ids=page.relation_ids,
            entities_only=entities_only,
            after=None if page.after is None else page.after - _KEY_OFFSET,
            limit=page.first + 1,
            deadline=deadline,
        )
        statements.update((statement.id, statement) for statement in edges_page)
        counts = reader.relation_counts(
            info.edition,
            entity,
            incoming=incoming,
            entities_only=entities_only,
            # A loop is one statement at both ends.
            loops=not (incoming and page.outgoing),
            deadline=deadline,
        )
        relation_ids = page.relation_ids or counts
        total += sum(counts.get(id_, 0) for id_ in set(relation_ids))
    if len(entities) > 1 and len(ways) == 2:
        total -= _count_within(reader, info, entities, page.relation_ids, deadline)
    by_key = sorted(statements.values(), key=lambda statement: key64(statement.id))
    chosen = by_key[: page.first]
    shown = shown_statements(reader, info, chosen, languages)
    return StatementPage(
        items=tuple(ShownStatement(statement, shown[statement.id]) for statement in chosen),
        numbers=tuple(key64(statement.id) + _KEY_OFFSET for statement in chosen),
        total=total,
        has_next=len(by_key) > page.first,
        entity_ids=frozenset(entities),
    )


def _count_within(
    reader: GraphReader,
    info: GraphInfo,
    entities: Collection[str],
    relation_ids: Sequence[str],
    deadline: Deadline,
) -> int:
    """Returns how many statements join two entities of a thing: they are at both its ends."""
    count = 0
    for entity in entities:
        after: int | None = None
        while True:
            statements = reader.statements_of(
                info.edition,
                entity,
                relation_ids=relation_ids,
                entities_only=True,
                after=after,
                limit=_READ_AT_ONCE,
                deadline=deadline,
            )
            count += sum(
                isinstance(each.value, EntityValue)
                and each.value.id in entities
                and each.value.id != entity
                for each in statements
            )
            if len(statements) < _READ_AT_ONCE:
                break
            after = statements[-1].key
    return count


def shown_statements(
    reader: GraphReader, info: GraphInfo, statements: Sequence[Statement], languages: Sequence[str]
) -> dict[str, ShownEdge]:
    """Returns statements that were read from a store as triples with labels, by their ids."""
    rows = [
        EdgeRow(stated.id, stated.head, stated.relation, encode_value(stated.value), stated.rank)
        for stated in sorted(statements, key=lambda statement: key64(statement.id))
    ]
    part = region_graph_of(reader, info, Neighbourhood(tuple(rows), {}, {}, (), ())).graph
    shown = TripleRenderer(part, None, languages).show(range(part.edge_count))
    return {edge.triple.statement_id: edge for edge in shown.values()}


class Overviews:
    """What graphs and their views are about, those used last cached. Thread-safe.

    Args:
        memory: What the caches share.
    """

    def __init__(self, *, memory: ByteBudget) -> None:
        self._cached: ByteCache[tuple[str, str, str], Overview] = ByteCache(memory, "overviews")

    def of_arrays(self, graph: KnowledgeGraph, overlay: Overlay | None, /) -> Overview:
        """Returns what a graph, or a view laid over it, is about."""
        view_id = overlay.view_id if overlay else ""
        key = (graph.edition, graph.fingerprints.content, view_id)
        known = self._cached.get(key)
        if known is None:
            known = _overview(graph, overlay)
            return self._cached.put(key, known, held_bytes(known))
        return known

    def of_store(
        self, reader: GraphReader, info: GraphInfo, equal: EqualEntities, deadline: Deadline, /
    ) -> Overview:
        """Returns what a graph is about, counted by its store at the first call."""
        key = (info.edition, info.fingerprints.content, "")
        known = self._cached.get(key)
        if known is None:
            known = reader.overview(info.edition, equal=equal, deadline=deadline)
            return self._cached.put(key, known, held_bytes(known))
        return known


def _overview(graph: KnowledgeGraph, overlay: Overlay | None) -> Overview:
    """Counts a graph's statements in order of their keys, then those that a view made.

    Entities that are one thing are one instance, and one class.
    """
    relation_ids = [*graph.relation_ids.take(range(graph.relation_count))]
    if overlay is not None:
        relation_ids += overlay.new_relations
    counts = np.zeros(len(relation_ids), dtype=np.int64)
    first = np.full(len(relation_ids), -1, dtype=np.int64)
    instance_of = [rel for rel, id_ in enumerate(relation_ids) if id_ in INSTANCE_RELATIONS]
    members: list[Int64] = []
    for edges in _edges_in_order(graph, overlay):
        rels = relations_of(graph, overlay, edges)
        counts += np.bincount(rels, minlength=len(counts))
        new = np.flatnonzero(first[rels] < 0)[::-1]
        # Of what is assigned to one place several times, the last stays: the first edge.
        first[rels[new]] = edges[new]
        classed = edges[np.isin(rels, instance_of)]
        head, tail = _endpoints_of(graph, overlay, between_entities(graph, overlay, classed))
        classes, instances = (graph.equal.things(nodes.astype(np.int64)) for nodes in (tail, head))
        members.append(np.unique(classes << 32 | instances))
    classes, sizes = np.unique(np.unique(np.concatenate(members)) >> 32, return_counts=True)
    renderer = TripleRenderer(graph, overlay, ())
    used = np.flatnonzero(counts).tolist()
    return Overview.of(
        (
            RelationUse(relation_ids[rel], int(counts[rel]), renderer.statement_id(int(first[rel])))
            for rel in used
        ),
        (
            ClassSize(renderer.entity_id(node), size)
            for node, size in zip(classes.tolist(), sizes.tolist(), strict=True)
        ),
    )


def _edges_in_order(graph: KnowledgeGraph, overlay: Overlay | None) -> Iterator[Int64]:
    order = graph.topology.key_order
    for start in range(0, len(order), _EDGES_AT_ONCE):
        edges = order[start : start + _EDGES_AT_ONCE].astype(np.int64)
        yield edges if overlay is None else edges[~overlay.gone.has(edges)]
    made = 0 if overlay is None else len(overlay.tail)
    yield graph.edge_count + np.arange(made, dtype=np.int64)


def _endpoints_of(
    graph: KnowledgeGraph, overlay: Overlay | None, edges: Int64
) -> tuple[Int32, Int32]:
    """Returns head and tail of each edge, int32; those that a view made come last."""
    base = edges[edges < graph.edge_count]
    heads, tails = [graph.head[base]], [graph.tail[base]]
    if overlay is not None:
        made = edges[len(base) :] - graph.edge_count
        heads.append(overlay.head[made])
        tails.append(overlay.tail[made])
    return np.concatenate(heads), np.concatenate(tails)
