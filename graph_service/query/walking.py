"""A graph or a view of it as queries walk it: along one relation at a time, statement by statement.

Entities that are one thing (``model.equal_entities``) are one node: the smallest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, NodeKind, ranges
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.values import EntityValue, Value, stored_value
from graph_service.query.algebra import Relation
from graph_service.query.readings import is_known
from graph_service.query.result import QueryLimits

NO_EDGES: Int64 = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """Ways from some nodes along some relations: w ways of s statements.

    Attributes:
        origins: Index of the first node of each among the nodes where all start, int64 [w].
        edges: Global edge numbers, int64 [w, s].
        targets: The node that each leads to, int64 [w].
    """

    origins: Int64
    edges: Int64
    targets: Int64

    @classmethod
    def at(cls, nodes: Int64, /) -> Walks:
        """Returns the ways of no statements that start at some nodes."""
        return cls(np.arange(len(nodes)), np.zeros((len(nodes), 0), dtype=np.int64), nodes)

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, rows: Int64 | Sequence[int], /) -> Walks:
        """Returns some of the ways."""
        return Walks(self.origins[rows], self.edges[rows], self.targets[rows])


class Walker:
    """Walks a graph or a view within limits, and counts what they cut.

    Args:
        graph: The base.
        overlay: The view, if any.
        ranks: ``RANK_CODES`` of the statements that count.
        limits: Of the work.
        deadline: Raises ``DeadlineError`` when past.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        overlay: Overlay | None,
        /,
        *,
        ranks: Sequence[int],
        limits: QueryLimits,
        deadline: Deadline,
    ) -> None:
        self.graph = graph
        self.overlay = overlay
        self.limits = limits
        self._equal = graph.equal if len(graph.equal) else None
        self._ranks = np.zeros(256, dtype=bool)
        self._ranks[list(ranks)] = True
        self._deadline = deadline
        self._looked_at = 0
        self._cuts: dict[str, Cut] = {}
        self._values: dict[int, Value] = {}

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """What limits left out of all walks so far, once for each limit."""
        return tuple(self._cuts.values())

    def nodes(self, ids: Sequence[str], /) -> Int64:
        """Returns the nodes of those entities that the graph or the view has, ascending."""
        nodes = {self.graph.find_node(id_) for id_ in ids}
        if self.overlay is not None:
            nodes |= {self._new_entities.get(id_) for id_ in ids}
        known = np.array(sorted(node for node in nodes if node is not None), dtype=np.int64)
        return known if self._equal is None else np.unique(self._equal.things(known))

    def node(self, id_: str, /) -> int | None:
        """Returns the node of an entity that the graph or the view has."""
        nodes = self.nodes((id_,))
        return int(nodes[0]) if len(nodes) else None

    def value(self, node: int, /) -> Value:
        """Returns what a node is: an entity, or a literal's value."""
        if node not in self._values:
            graph = self.graph
            if node < graph.entity_count:
                self._values[node] = EntityValue(graph.node_ids[node])
            elif node < graph.node_count:
                self._values[node] = stored_value(graph.node_ids[node])
            else:
                assert self.overlay is not None
                self._values[node] = stored_value(self.overlay.new_nodes[node - graph.node_count])
        return self._values[node]

    def statement_ids(self, edges: Sequence[int], /) -> tuple[str, ...]:
        """Returns the ids of some statements, those of the view too."""
        count = self.graph.edge_count
        base = iter(self.graph.statement_ids.take([edge for edge in edges if edge < count]))
        extra = self.overlay.statement_ids if self.overlay is not None else ()
        return tuple(next(base) if edge < count else extra[edge - count] for edge in edges)

    def nodes_of(self, walks: Walks, row: int, /) -> list[int]:
        """Returns the nodes on a way, its end last."""
        edges = walks.edges[row]
        nodes = [*self._endpoints("head", edges).tolist(), *self._endpoints("tail", edges).tolist()]
        return list(dict.fromkeys([*nodes, int(walks.targets[row])]))

    def follow(self, walks: Walks, relation: Relation, /) -> Walks:
        """Returns the ways that go on along a relation, by a statement that they have not used."""
        self._deadline.check("following a query's relations")
        number = self._relation(relation.id)
        nodes, inverse = np.unique(walks.targets, return_inverse=True)
        edges, owner = NO_EDGES, NO_EDGES
        if number is not None and len(nodes):
            edges, owner = self._edges(nodes, number, backward=relation.backward)
        counts = np.bincount(owner, minlength=len(nodes)).astype(np.int64)
        begin = np.cumsum(counts) - counts
        each = counts[inverse]
        if int(each.sum()) > self.limits.walks:
            room = self.limits.walks
            complete = int(np.searchsorted(np.cumsum(each), room, side="right"))
            self._cut("walks", room)
            each[complete + 1 :] = 0
            each[complete] = room - int(each[:complete].sum())
        rows = np.repeat(np.arange(len(walks)), each)
        chosen = edges[ranges(begin[inverse], begin[inverse] + each)]
        unused = (walks.edges[rows] != chosen[:, None]).all(axis=1)
        if self._equal is not None:
            unused &= ~self._is_repeated(walks.edges[rows], chosen)
        rows, chosen = rows[unused], chosen[unused]
        targets = self._endpoints("head" if relation.backward else "tail", chosen)
        return Walks(walks.origins[rows], np.column_stack((walks.edges[rows], chosen)), targets)

    def relations_at(self, nodes: Int64, /) -> list[Relation]:
        """Returns the relations of the statements at some distinct nodes, which ascend, by id."""
        relations = set[Relation]()
        for backward in (False, True):
            edges, _ = self._statements(nodes, backward=backward)
            relations |= {Relation(id_, backward) for id_ in self._relation_ids(edges)}
        return sorted(relations, key=lambda relation: (relation.id, relation.backward))

    def relations_to(self, nodes: Int64, node: int, /) -> list[Relation]:
        """Returns the relations by which some distinct nodes, which ascend, lead to another."""
        relations = set[Relation]()
        at = np.array([node], dtype=np.int64)
        for backward in (False, True):
            # From the one node, whose statements are few beside those of a whole class.
            edges, _ = self._statements(at, backward=not backward)
            others = self._endpoints("tail" if backward else "head", edges)
            relations |= {
                Relation(id_, backward) for id_ in self._relation_ids(edges[np.isin(others, nodes)])
            }
        return sorted(relations, key=lambda relation: (relation.id, relation.backward))

    def bridges_to(
        self, nodes: Int64, node: int, /, *, most: int
    ) -> list[tuple[Relation, Relation]]:
        """Returns the pairs of relations by which some distinct entities lead to a node through a
        third entity, which has the second.

        Args:
            nodes: Ascending; those of literals are passed over, since many things share them.
            node: That they lead to.
            most: Entities between, of each second relation.
        """
        nodes = nodes[nodes < self.graph.entity_count]
        at = np.array([node], dtype=np.int64)
        pairs: list[tuple[Relation, Relation]] = []
        for second in self.relations_at(at):
            if not second.backward or second.id in INSTANCE_RELATIONS:
                continue
            between = np.unique(self.follow(Walks.at(at), second).targets)[:most]
            for backward in (False, True):
                edges, _ = self._statements(between, backward=not backward)
                others = self._endpoints("tail" if backward else "head", edges)
                ids = self._relation_ids(edges[np.isin(others, nodes)])
                pairs += [
                    (Relation(id_, backward), Relation(second.id))
                    for id_ in ids
                    if id_ not in INSTANCE_RELATIONS
                ]
        return sorted(pairs, key=lambda pair: [(each.id, each.backward) for each in pair])

    def instances(self, class_ids: Sequence[str], /) -> Walks:
        """Returns the statements that say what is an instance of some classes, or of their subclasses.

        Each way is one statement, from a class to an instance.
        """
        return self._of_relations(
            Walks.at(self.classes(class_ids)), INSTANCE_RELATIONS, backward=True
        )

    def targets_of(self, relations: Sequence[Relation], /) -> Walks:
        """Returns the statements of some relations, each a way to where its relation leads."""
        parts = [self._of_relation(relation) for relation in relations]
        return Walks(
            np.concatenate([part.origins for part in parts]),
            np.concatenate([part.edges for part in parts]),
            np.concatenate([part.targets for part in parts]),
        )

    def _of_relation(self, relation: Relation) -> Walks:
        """Returns all ways of one statement along a relation."""
        number = self._relation(relation.id)
        if number is None:
            return self.follow(Walks.at(NO_EDGES), relation)
        edges = np.flatnonzero(np.isin(self.graph.rel, (number,)))
        if self.overlay is not None:
            extra = np.flatnonzero(np.isin(self.overlay.rel, (number,)))
            edges = np.concatenate((edges, extra + self.graph.edge_count))
        heads = np.unique(self._endpoints("head", edges))
        walks = self.follow(Walks.at(heads), Relation(relation.id))
        return replace(walks, targets=heads[walks.origins]) if relation.backward else walks

    def largest_classes(self, count: int, /) -> list[str]:
        """Returns the ids of the classes that most statements make something an instance of."""
        relations = [self.graph.find_relation(id_) for id_ in sorted(INSTANCE_RELATIONS)]
        of_class = np.isin(self.graph.rel, [each for each in relations if each is not None])
        classes, sizes = np.unique(self.graph.tail[of_class], return_counts=True)
        order = np.lexsort((classes, -sizes))[:count]
        return list(self.graph.node_ids.take(classes[order]))

    def classes(self, class_ids: Sequence[str], /) -> Int64:
        """Returns some classes and all below them, ascending; a circle of subclasses ends."""
        classes = frontier = self.nodes(class_ids)
        while len(frontier):
            below = self._of_relations(Walks.at(frontier), SUBCLASS_RELATIONS, backward=True)
            frontier = np.setdiff1d(below.targets, classes)
            classes = np.union1d(classes, frontier)
        return classes

    def classes_of(self, nodes: Int64, /) -> Walks:
        """Returns the statements that say of what classes some nodes are instances."""
        return self._of_relations(Walks.at(nodes), INSTANCE_RELATIONS, backward=False)

    def _of_relations(self, walks: Walks, ids: frozenset[str], *, backward: bool) -> Walks:
        parts = [self.follow(walks, Relation(id_, backward)) for id_ in sorted(ids)]
        return Walks(
            np.concatenate([part.origins for part in parts]),
            np.concatenate([part.edges for part in parts]),
            np.concatenate([part.targets for part in parts]),
        )

    def _edges(self, nodes: Int64, relation: int, *, backward: bool) -> tuple[Int64, Int64]:
        """Returns the statements of a relation at some nodes, which ascend, and whose each is."""
        return self._statements(nodes, backward=backward, relation=relation)

    def _statements(
        self, nodes: Int64, *, backward: bool, relation: int | None = None
    ) -> tuple[Int64, Int64]:
        """Returns the statements at some nodes, which ascend, and the index of the node of each.

        Those of one node come together, in order of their numbers.
        """
        if self._equal is None:
            return self._statements_at(nodes, backward=backward, relation=relation)
        members, thing = self._equal.gather(nodes)
        order = np.argsort(members, kind="stable")
        edges, owner = self._statements_at(members[order], backward=backward, relation=relation)
        owner = thing[order][owner]
        order = np.lexsort((edges, owner))
        return edges[order], owner[order]

    def _statements_at(
        self, nodes: Int64, *, backward: bool, relation: int | None
    ) -> tuple[Int64, Int64]:
        """Returns the same of entities that are nodes of their own."""
        graph, overlay = self.graph, self.overlay
        base = nodes[: np.searchsorted(nodes, graph.node_count)]
        adjacency = graph.in_edges if backward else graph.out_edges
        degrees = adjacency.degrees_of(base)
        room = self.limits.statements - self._looked_at
        total = int(degrees.sum())
        most = None
        if total > room:
            self._cut("statements", self.limits.statements)
            enough = max(1, int(np.searchsorted(np.cumsum(degrees), room, side="right")))
            base, most = base[:enough], max(room, 0)
        self._looked_at += min(total, max(room, 0))
        edges, owner = adjacency.gather(base, most=most)
        edges = edges.astype(np.int64)
        holds = self._ranks[graph.rank[edges]]
        if relation is not None:
            holds &= graph.rel[edges] == relation
        holds &= self._are_known(graph.tail[edges])
        if overlay is not None:
            holds &= ~overlay.gone.has(edges)
        rows = np.flatnonzero(holds)
        edges, owner = edges[rows], owner[rows]
        if overlay is not None and len(overlay.head):
            extra, extra_owner = self._extra_at(nodes, backward=backward)
            if relation is not None:
                is_of_relation = overlay.rel[extra] == relation
                extra, extra_owner = extra[is_of_relation], extra_owner[is_of_relation]
            edges = np.concatenate((edges, extra + graph.edge_count))
            owner = np.concatenate((owner, extra_owner))
            order = np.lexsort((edges, owner))
            edges, owner = edges[order], owner[order]
        return edges, owner

    def _extra_at(self, nodes: Int64, *, backward: bool) -> tuple[Int64, Int64]:
        """Returns the view's own statements at some nodes that count, by their indices, and the
        index of the node of each.
        """
        extra, endpoints = self._extra_by_tail if backward else self._extra_by_head
        begin = np.searchsorted(endpoints, nodes, side="left")
        stop = np.searchsorted(endpoints, nodes, side="right")
        return extra[ranges(begin, stop)], np.repeat(np.arange(len(nodes)), stop - begin)

    @cached_property
    def _extra_by_head(self) -> tuple[Int64, Int32]:
        """The view's own statements that count, by their indices in order of their heads; those."""
        assert self.overlay is not None
        return self._counting_extra(self.overlay.head)

    @cached_property
    def _extra_by_tail(self) -> tuple[Int64, Int32]:
        """The same in order of their tails."""
        assert self.overlay is not None
        return self._counting_extra(self.overlay.tail)

    def _counting_extra(self, endpoints: Int32) -> tuple[Int64, Int32]:
        assert self.overlay is not None
        rows = np.flatnonzero(self._ranks[self.overlay.rank] & self._are_known(self.overlay.tail))
        extra = rows[np.argsort(endpoints[rows], kind="stable")]
        return extra, endpoints[extra]

    def _are_known(self, nodes: Int32) -> Bool:
        """Returns which nodes are known values: ``readings.is_known``."""
        kinds = self.graph.node_kinds
        are_known = np.ones(len(nodes), dtype=bool)
        is_new = nodes >= len(kinds)
        base_kinds = kinds[nodes[~is_new]]
        are_known[~is_new] = (base_kinds != NodeKind.SOMEVALUE) & (base_kinds != NodeKind.NOVALUE)
        are_known[is_new] = [is_known(self.value(node)) for node in nodes[is_new].tolist()]
        return are_known

    def _relation_ids(self, edges: Int64) -> list[str]:
        """Returns the ids of the distinct relations of some edges."""
        count = self.graph.relation_count
        numbers = np.unique(self._column("rel", edges))
        new = self.overlay.new_relations if self.overlay is not None else ()
        ids = self.graph.relation_ids.take(numbers[numbers < count])
        return [*ids, *(new[relation - count] for relation in numbers[numbers >= count].tolist())]

    def _is_repeated(self, used: Int64, edges: Int64) -> Bool:
        """Returns which statements, [w], one of [w, s] says in another source: of the same things.

        Parallel statements of the very same entities are no repetition.
        """
        repeated = np.zeros(len(edges), dtype=bool)
        for column in used.T:
            is_same = self._column("rel", column) == self._column("rel", edges)
            is_other = np.zeros(len(edges), dtype=bool)
            for end in ("head", "tail"):
                is_same &= self._endpoints(end, column) == self._endpoints(end, edges)
                is_other |= self._column(end, column) != self._column(end, edges)
            repeated |= is_same & is_other
        return repeated

    def _endpoints(self, name: str, edges: Int64) -> Int64:
        """Returns the head or the tail of some edges: of entities that are one thing the smallest."""
        nodes = self._column(name, edges)
        return nodes if self._equal is None else self._equal.things(nodes)

    def _column(self, name: str, edges: Int64) -> Int64:
        """Returns the head, the relation or the tail of some edges."""
        count = self.graph.edge_count
        column = np.empty(len(edges), dtype=np.int64)
        is_extra = edges >= count
        column[~is_extra] = getattr(self.graph, name)[edges[~is_extra]]
        if is_extra.any():
            column[is_extra] = getattr(self.overlay, name)[edges[is_extra] - count]
        return column

    def _relation(self, id_: str) -> int | None:
        number = self.graph.find_relation(id_)
        if number is None and self.overlay is not None and id_ in self.overlay.new_relations:
            return self.graph.relation_count + self.overlay.new_relations.index(id_)
        return number

    @cached_property
    def _new_entities(self) -> dict[str, int]:
        """The entities that only the view has, by id."""
        assert self.overlay is not None
        values = map(stored_value, self.overlay.new_nodes)
        return {
            value.id: node
            for node, value in enumerate(values, self.graph.node_count)
            if isinstance(value, EntityValue)
        }

    def _cut(self, what: str, limit: int) -> None:
        self._cuts.setdefault(what, Cut(what, CutReason.WORK_BUDGET, limit, limit))
