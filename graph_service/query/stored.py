"""The answers of a query over a graph in a store that is not read whole.

What the query can touch is read relation by relation, and then queried as arrays: one execution for
both, so that the answers are the same. Entities that are one thing are read together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import RANK_CODES
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.neighbourhood import EdgeRow
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, encode_value, stored_value
from graph_service.query.algebra import (
    Condition,
    Entities,
    Filter,
    InstanceOf,
    Instances,
    Query,
    Relation,
    Targets,
    conditions_of,
)
from graph_service.query.execution import execute
from graph_service.query.result import QueryLimits, QueryResult
from graph_service.store.lookup import StoredThings, read_merged_entities
from graph_service.store.protocol import GraphReader
from graph_service.store.snapshot.region_graph import unlabelled_graph_of

_READ_ALONE = 8
"""Entities of which each is read alone: then only statements of the wanted direction are."""
_PAGE = 5_000
"""Statements of one entity read at once."""
_AT_ONCE = 2_000
"""Entities of which statements are read at once."""


def execute_stored(
    query: Query,
    reader: GraphReader,
    info: GraphInfo,
    /,
    *,
    equal: EqualEntities | None = None,
    ranks: Sequence[Rank] = (Rank.PREFERRED, Rank.NORMAL),
    limits: QueryLimits | None = None,
    deadline: Deadline | None = None,
) -> QueryResult:
    """Returns the answers of a query over an edition in a store; see ``execution.execute``.

    The limit on statements counts those that are read.

    Args:
        query: The query.
        reader: The store.
        info: The edition.
        equal: Entities of the graph that are one thing, as 64-bit keys; None reads them.
        ranks: Of the statements that count.
        limits: Of the work and of what is returned.
        deadline: Raises ``DeadlineError`` when past.
    """
    limits = limits or QueryLimits()
    deadline = deadline or Deadline.none()
    if equal is None:
        equal = read_merged_entities(reader, info.edition).equal
    things = StoredThings(reader, info, equal)
    part = _Part(reader, info, things, ranks, limits, deadline)
    start_ids = part.read(query)
    # A thing is numbered by the smallest of its entities, so all of them are part of the arrays.
    ids = start_ids | things.with_members(part.entity_ids) if len(equal) else start_ids
    graph = unlabelled_graph_of(info, part.rows, sorted(ids), equal=equal)
    result = execute(
        query,
        graph,
        ranks=[RANK_CODES[rank] for rank in ranks],
        limits=limits,
        deadline=deadline,
    )
    if not part.cuts:
        return result
    return replace(result, truncated=(*part.cuts, *result.truncated))


class _Part:
    """The statements of a graph that a query can touch."""

    def __init__(
        self,
        reader: GraphReader,
        info: GraphInfo,
        things: StoredThings,
        ranks: Sequence[Rank],
        limits: QueryLimits,
        deadline: Deadline,
    ) -> None:
        self._reader = reader
        self._edition = info.edition
        self._things = things
        self._ranks = ranks
        self._limits = limits
        self._deadline = deadline
        self._rows: dict[str, EdgeRow] = {}
        self._endpoints: dict[tuple[Relation, str], set[str]] = {}
        self._is_cut = False

    @property
    def rows(self) -> list[EdgeRow]:
        """The statements that were read."""
        return [*self._rows.values()]

    @property
    def entity_ids(self) -> set[str]:
        """The entities at the ends of the statements that were read."""
        values = (stored_value(row.value) for row in self._rows.values())
        tails = {value.id for value in values if isinstance(value, EntityValue)}
        return tails.union(row.head for row in self._rows.values())

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """What the limit left out."""
        most = self._limits.statements
        return (Cut("statements", CutReason.WORK_BUDGET, most, most),) if self._is_cut else ()

    def read(self, query: Query, /) -> set[str]:
        """Reads what a query can touch; returns those of its start entities that there are."""
        start_ids: set[str] = set()
        if isinstance(query.start, Entities):
            start_ids = nodes = self._known(query.start.ids)
        elif isinstance(query.start, Targets):
            nodes = self._targets(query.start)
        else:
            nodes = self._instances(query.start)
        for step in query.path:
            nodes = self._follow(nodes, step.relation)
            self._read_filters(step.filters, nodes)
        self._read_filters(query.filters, nodes)
        if query.order is not None:
            if query.order.filters:
                first = self._follow_path(nodes, query.order.path[:1])
                self._read_filters(query.order.filters, first)
            self._follow_path(nodes, query.order.path)
        return start_ids

    def _known(self, ids: Sequence[str]) -> set[str]:
        entities = self._reader.entities(self._edition, ids).entities
        known = (id_ for id_ in ids if id_ in entities and entities[id_].id == id_)
        return self._things.with_members(known)

    def _instances(self, start: Instances) -> set[str]:
        instances: set[str] = set()
        classes = self._classes(start.class_ids)
        for id_ in sorted(INSTANCE_RELATIONS):
            instances |= self._follow(classes, Relation(id_, backward=True))
        return instances

    def _targets(self, start: Targets) -> set[str]:
        """Returns the entities at the ends of some relations; goes through all statements."""
        relation_ids = {relation.id for relation in start.relations}
        heads: dict[str, set[str]] = {id_: set() for id_ in relation_ids}
        for chunk in self._reader.scan_edges(self._edition):
            self._deadline.check("reading the statements of a relation")
            for edge in chunk:
                if edge.relation in relation_ids:
                    heads[edge.relation].add(edge.head)
        targets: set[str] = set()
        for relation in start.relations:
            tails = self._follow(heads[relation.id], Relation(relation.id))
            targets |= heads[relation.id] if relation.backward else tails
        return targets

    def _classes(self, class_ids: Sequence[str]) -> set[str]:
        classes = frontier = self._known(class_ids)
        while frontier:
            below: set[str] = set()
            for id_ in sorted(SUBCLASS_RELATIONS):
                below |= self._follow(frontier, Relation(id_, backward=True))
            frontier = below - classes
            classes = classes | frontier
        return classes

    def _read_filters(self, filters: Iterable[Filter], nodes: set[str]) -> None:
        for filter in filters:
            for condition in conditions_of(filter):
                self._read_condition(condition, nodes)

    def _read_condition(self, condition: Condition, nodes: set[str]) -> None:
        reached = self._follow_path(nodes, condition.path)
        test = condition.test
        if isinstance(test, InstanceOf):
            self._classes(test.class_ids)
            for id_ in sorted(INSTANCE_RELATIONS):
                self._follow(reached, Relation(id_))

    def _follow_path(self, nodes: set[str], path: Sequence[Relation]) -> set[str]:
        for relation in path:
            nodes = self._follow(nodes, relation)
        return nodes

    def _follow(self, nodes: set[str], relation: Relation) -> set[str]:
        """Returns the entities that a relation leads to, and reads the statements of it."""
        nodes = self._things.with_members(nodes)
        new = sorted(node for node in nodes if (relation, node) not in self._endpoints)
        for node in new:
            self._endpoints[relation, node] = set()
        for edge in self._statements(new, relation):
            value = stored_value(edge.value)
            if edge.rank not in self._ranks:
                continue
            self._rows[edge.statement_id] = edge
            tail = value.id if isinstance(value, EntityValue) else None
            at, to = (tail, edge.head) if relation.backward else (edge.head, tail)
            # Of entities read together both directions come.
            if at is not None and to is not None and at in nodes:
                self._endpoints.setdefault((relation, at), set()).add(to)
        return set().union(*(self._endpoints[relation, node] for node in nodes))

    def _statements(self, nodes: Sequence[str], relation: Relation) -> Iterable[EdgeRow]:
        if len(nodes) <= _READ_ALONE:
            for node in nodes:
                yield from self._alone(node, relation)
            return
        for first in range(0, len(nodes), _AT_ONCE):
            some = nodes[first : first + _AT_ONCE]
            room = self._room()
            near = self._reader.neighbourhood(
                self._edition,
                some,
                hops=1,
                max_edges=room,
                ranks=self._ranks,
                relation_ids=(relation.id,),
                deadline=self._deadline,
            )
            if not near.truncated:
                yield from near.edges
                continue
            # One of them has very many statements, perhaps of the other direction.
            for node in some:
                yield from self._alone(node, relation)

    def _alone(self, node: str, relation: Relation) -> Iterable[EdgeRow]:
        after: int | None = None
        while True:
            room = self._room()
            limit = min(_PAGE, room)
            statements = self._reader.statements_of(
                self._edition,
                node,
                incoming=relation.backward,
                relation_ids=(relation.id,),
                after=after,
                limit=limit + 1,
                deadline=self._deadline,
            )
            for each in statements[:limit]:
                yield EdgeRow(
                    each.id, each.head, each.relation, encode_value(each.value), each.rank
                )
            if len(statements) <= limit:
                return
            if limit == room:
                self._is_cut = True
                return
            after = statements[limit - 1].key

    def _room(self) -> int:
        return max(self._limits.statements - len(self._rows), 0)
