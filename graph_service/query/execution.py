"""The answers of a query over the arrays of a graph or of a view of it.

A way along relations uses no statement twice, as in Cypher: who follows ``parent`` and then ``parent``
backward comes to siblings and not back. Unknown values, and that there is none, lead nowhere.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import eq, ge, gt, le, lt

import numpy as np

from graph_service.model.days import Days
from graph_service.model.graph import Bool, Int64, KnowledgeGraph
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.values import EntityValue, Quantity, Value, encode_value
from graph_service.query.algebra import (
    MEASURES,
    Among,
    AnyOf,
    Comparable,
    Comparison,
    Condition,
    During,
    Entities,
    Filter,
    Fold,
    InstanceOf,
    Not,
    Number,
    Order,
    Present,
    Query,
    Targets,
    Test,
    Text,
)
from graph_service.query.readings import Amount, amount_of, days_of_value, text_of
from graph_service.query.result import AnswerRow, Measure, QueryLimits, QueryResult
from graph_service.query.walking import Walker, Walks

_COMPARES: Mapping[Comparison, Callable[[Decimal, Decimal], bool]] = {
    Comparison.EQUAL: eq,
    Comparison.OVER: gt,
    Comparison.AT_LEAST: ge,
    Comparison.UNDER: lt,
    Comparison.AT_MOST: le,
}

Evidence = dict[int, list[int]]
"""Edges by the node that they speak for."""


def execute(
    query: Query,
    graph: KnowledgeGraph,
    /,
    *,
    overlay: Overlay | None = None,
    ranks: Sequence[int] = (0, 1),
    limits: QueryLimits | None = None,
    deadline: Deadline | None = None,
) -> QueryResult:
    """Returns the answers of a query; entities and relations that the graph lacks have none.

    Args:
        query: The query.
        graph: The base.
        overlay: The view, if one is queried.
        ranks: ``RANK_CODES`` of the statements that count.
        limits: Of the work and of what is returned.
        deadline: Raises ``DeadlineError`` when past.
    """
    limits = limits or QueryLimits()
    deadline = deadline or Deadline.none()
    walker = Walker(graph, overlay, ranks=ranks, limits=limits, deadline=deadline)
    return _Execution(walker, limits).run(query)


@dataclass(frozen=True, slots=True)
class _Ordering:
    """By what one answer is ordered: from the least to the greatest number it may be, and how."""

    least: Decimal
    greatest: Decimal
    value: Value
    edges: tuple[int, ...]


@dataclass(slots=True, eq=False)
class _Answer:
    """One answer: the nodes that are it, several where literals are equal, and its ways' places."""

    nodes: list[int]
    ways: list[int]
    ordering: _Ordering | None = None


@dataclass(frozen=True, slots=True)
class _End:
    """Where the path of an order leads: the node before its last relation, its end, the edges."""

    before: int
    node: int
    edges: tuple[int, ...]


class _Execution:
    def __init__(self, walker: Walker, limits: QueryLimits, /) -> None:
        self._walker = walker
        self._limits = limits

    def run(self, query: Query, /) -> QueryResult:
        if query.fold is Fold.COMPARE:
            return self._compare(query)
        walks, evidence = self._start(query)
        for step in query.path:
            walks = self._walker.follow(walks, step.relation)
            walks = self._filtered(walks, step.filters, evidence)
        reached = len(walks) > 0
        walks = self._filtered(walks, query.filters, evidence)
        answers = self._answers(walks)
        unordered = 0
        if query.order is not None:
            ordered = self._ordered(answers, query.order)
            unordered = len(answers) - len(ordered)
            answers = _of_rank(ordered, query.order)
        truth = None
        if query.fold is Fold.EXISTS and (reached or answers):
            truth = bool(answers)
        result = self._result(answers, walks, evidence, truth=truth, unordered=unordered)
        if query.fold in MEASURES and query.order is not None:
            measure = _measure_of(self._amounts(answers, query.order), query.fold)
            return replace(result, measure=measure, truncated=self._cuts(answers))
        return result

    def _start(self, query: Query) -> tuple[Walks, Evidence]:
        walker = self._walker
        if isinstance(query.start, Entities):
            return Walks.at(walker.nodes(query.start.ids)), {}
        if isinstance(query.start, Targets):
            walks = walker.targets_of(query.start.relations)
        else:
            walks = walker.instances(query.start.class_ids)
        evidence: Evidence = {}
        _note(evidence, walks.targets, walks.edges)
        return Walks.at(np.unique(walks.targets)), evidence

    def _compare(self, query: Query) -> QueryResult:
        """Returns whether the first of two entities comes strictly before the second."""
        assert isinstance(query.start, Entities)
        assert query.order is not None
        nodes = [self._walker.node(id_) for id_ in query.start.ids]
        answers = [_Answer([node], []) for node in nodes if node is not None]
        ordered = self._ordered(answers, query.order)
        truth = None
        if len(ordered) == 2:
            truth = ordered[0].nodes == [nodes[0]] and len(_of_rank(ordered, query.order, 1)) == 1
        none = Walks.at(np.zeros(0, dtype=np.int64))
        return self._result(ordered, none, {}, truth=truth, unordered=2 - len(ordered))

    def _filtered(self, walks: Walks, filters: Sequence[Filter], evidence: Evidence) -> Walks:
        """Returns the ways whose ends pass all filters; notes what the filters saw."""
        for each in filters:
            nodes, inverse = np.unique(walks.targets, return_inverse=True)
            holds = self._holds(each, nodes, evidence)
            walks = walks.take(np.flatnonzero(holds[inverse]))
        return walks

    def _holds(self, filter: Filter, nodes: Int64, evidence: Evidence) -> Bool:
        """Returns which of some distinct nodes pass a filter, bool [n]."""
        match filter:
            case Not():
                return ~self._holds(filter.filter, nodes, {})
            case AnyOf():
                holds = np.zeros(len(nodes), dtype=bool)
                for part in filter.filters:
                    holds |= self._holds(part, nodes, evidence)
                return holds
            case Condition():
                walks = Walks.at(nodes)
                for relation in filter.path:
                    walks = self._walker.follow(walks, relation)
                passed = np.flatnonzero(self._passes(filter.test, walks.targets, evidence))
                walks = walks.take(passed)
                holds = np.zeros(len(nodes), dtype=bool)
                holds[walks.origins] = True
                _note(evidence, nodes[walks.origins], walks.edges)
                return holds

    def _passes(self, test: Test, values: Int64, evidence: Evidence) -> Bool:
        """Returns which values pass a test, bool [w]."""
        walker = self._walker
        if isinstance(test, Present):
            return np.ones(len(values), dtype=bool)
        if isinstance(test, Among):
            return np.isin(values, walker.nodes(test.ids))
        nodes, inverse = np.unique(values, return_inverse=True)
        if isinstance(test, InstanceOf):
            of = walker.classes_of(nodes)
            of = of.take(np.flatnonzero(np.isin(of.targets, walker.classes(test.class_ids))))
            holds = np.zeros(len(nodes), dtype=bool)
            holds[of.origins] = True
            _note(evidence, nodes[of.origins], of.edges)
            return holds[inverse]
        passes = [passes_value(test, walker.value(node)) for node in nodes.tolist()]
        return np.array(passes, dtype=bool)[inverse]

    def _answers(self, walks: Walks) -> list[_Answer]:
        """Returns the distinct answers: entities by key, then other values in order of their text."""
        by_value: dict[str, _Answer] = {}
        order = np.argsort(walks.targets, kind="stable")
        nodes, begin = np.unique(walks.targets[order], return_index=True)
        bounds = [*begin.tolist(), len(order)]
        entities: list[_Answer] = []
        for index, node in enumerate(nodes.tolist()):
            rows = order[bounds[index] : bounds[index + 1]][: self._limits.evidence].tolist()
            value = self._walker.value(node)
            if isinstance(value, EntityValue):
                entities.append(_Answer([node], rows))
            else:
                answer = by_value.setdefault(encode_value(value), _Answer([], []))
                answer.nodes.append(node)
                answer.ways.extend(rows)
        return [*entities, *(by_value[text] for text in sorted(by_value))]

    def _edges_of(self, answer: _Answer, walks: Walks, evidence: Evidence) -> list[int]:
        """Returns the statements of an answer's ways, and what filters saw of the nodes on them."""
        edges: dict[int, None] = {}
        if answer.ordering is not None:
            edges.update(dict.fromkeys(answer.ordering.edges))
        for row in answer.ways:
            edges.update(dict.fromkeys(walks.edges[row].tolist()))
            for node in self._walker.nodes_of(walks, row):
                edges.update(dict.fromkeys(evidence.get(node, ())))
            if len(edges) > self._limits.evidence:
                break
        return [*edges][: self._limits.evidence]

    def _ordered(self, answers: Sequence[_Answer], order: Order) -> list[_Answer]:
        """Returns the answers that have a value to be ordered by, in the order."""
        of_node = self._reached_by_node(_nodes_of(answers), order)
        ordered: list[_Answer] = []
        for answer in answers:
            reached = [end for node in answer.nodes for end in of_node.get(node, ())]
            if order.fold is None:
                orderings = [
                    ordering for end in reached if (ordering := self._ordering(end, order))
                ]
                answer.ordering = _own(orderings, order) if orderings else None
            else:
                answer.ordering = self._folded(reached, order, order.fold)
            if answer.ordering is not None:
                ordered.append(answer)
        # Sorting keeps the order of the answers where values are equal.
        ordered.sort(key=lambda answer: _position_of(answer, order))
        return ordered

    def _reached_by_node(self, nodes: Int64, order: Order) -> dict[int, list[_End]]:
        """Returns what the path of an order leads to from each of some distinct nodes."""
        walks = Walks.at(nodes)
        before = walks.targets
        for index, relation in enumerate(order.path):
            further = self._walker.follow(replace(walks, origins=np.arange(len(walks))), relation)
            before = walks.targets[further.origins]
            walks = replace(further, origins=walks.origins[further.origins])
            if not index and order.filters:
                rows = self._rows_that_hold(walks.targets, order.filters)
                walks, before = walks.take(rows), before[rows]
        of_node: dict[int, list[_End]] = {}
        for row, start in enumerate(walks.origins.tolist()):
            end = _End(int(before[row]), int(walks.targets[row]), tuple(walks.edges[row].tolist()))
            of_node.setdefault(int(nodes[start]), []).append(end)
        return of_node

    def _rows_that_hold(self, targets: Int64, filters: Sequence[Filter]) -> Int64:
        """Returns the rows of nodes that pass all filters."""
        nodes, inverse = np.unique(targets, return_inverse=True)
        holds = np.ones(len(nodes), dtype=bool)
        for each in filters:
            holds &= self._holds(each, nodes, {})
        return np.flatnonzero(holds[inverse])

    def _ordering(self, end: _End, order: Order) -> _Ordering | None:
        """Returns what an answer is ordered by if it has this value alone."""
        value = self._walker.value(end.node)
        bounds = _bounds(value, order)
        return None if bounds is None else _Ordering(*bounds, value, end.edges)

    def _folded(self, reached: Sequence[_End], order: Order, fold: Fold) -> _Ordering | None:
        """Returns the count, the mean or the sum that an answer is ordered by."""
        if fold is Fold.COUNT:
            count = len({encode_value(self._walker.value(end.node)) for end in reached})
            value = Quantity(str(count))
            counted = (edge for end in reached for edge in end.edges)
            return _Ordering(Decimal(count), Decimal(count), value, tuple(dict.fromkeys(counted)))
        edges: dict[int, None] = {}
        amounts: set[tuple[int, Amount]] = set()
        for end in reached:
            amount = amount_of(self._walker.value(end.node))
            if amount is not None and order.unit in (None, amount.unit):
                amounts.add((end.before, amount))
                edges.update(dict.fromkeys(end.edges))
        measure = _measure_of([amount for _, amount in sorted(amounts, key=_by_number)], fold)
        if measure.number is None:
            return None
        value = Quantity(format(measure.number, "f"), measure.unit)
        return _Ordering(measure.number, measure.number, value, tuple(edges))

    def _result(
        self,
        answers: Sequence[_Answer],
        walks: Walks,
        evidence: Evidence,
        /,
        *,
        truth: bool | None,
        unordered: int,
    ) -> QueryResult:
        rows = tuple(self._row(answer, walks, evidence) for answer in answers[: self._limits.rows])
        return QueryResult(rows, len(answers), truth, unordered, self._cuts(answers))

    def _cuts(self, answers: Sequence[_Answer]) -> tuple[Cut, ...]:
        cuts, most = self._walker.cuts, self._limits.rows
        if len(answers) > most:
            cuts = (*cuts, Cut("items", CutReason.LIMIT, most, most, len(answers)))
        return cuts

    def _amounts(self, answers: Sequence[_Answer], order: Order) -> list[Amount]:
        """Returns the distinct numbers of each answer, of the order's unit if it has one."""
        nodes = _nodes_of(answers)
        walks = self._walker.follow(Walks.at(nodes), order.path[0])
        of_node: dict[int, set[Amount]] = {}
        for start, end in zip(walks.origins.tolist(), walks.targets.tolist(), strict=True):
            amount = amount_of(self._walker.value(end))
            if amount is not None and order.unit in (None, amount.unit):
                of_node.setdefault(int(nodes[start]), set()).add(amount)
        return [
            amount
            for answer in answers
            for amount in set[Amount]().union(*(of_node.get(node, ()) for node in answer.nodes))
        ]

    def _row(self, answer: _Answer, walks: Walks, evidence: Evidence) -> AnswerRow:
        walker = self._walker
        edges = self._edges_of(answer, walks, evidence)
        return AnswerRow(
            walker.value(answer.nodes[0]),
            walker.statement_ids(edges),
            None if answer.ordering is None else answer.ordering.value,
            answer.nodes[0],
            tuple(edges),
        )


def _nodes_of(answers: Sequence[_Answer]) -> Int64:
    """Returns the distinct nodes of some answers, ascending."""
    return np.array(sorted({node for answer in answers for node in answer.nodes}), dtype=np.int64)


def _by_number(pair: tuple[int, Amount]) -> tuple[Decimal, int]:
    return pair[1].number, pair[0]


def _measure_of(amounts: Sequence[Amount], fold: Fold) -> Measure:
    """Returns the mean or the sum of some numbers."""
    units = tuple(sorted({amount.unit for amount in amounts}, key=lambda unit: unit or ""))
    if len(units) != 1:
        return Measure(None, None, len(amounts), units)
    total = sum((amount.number for amount in amounts), Decimal(0))
    number = total / len(amounts) if fold is Fold.MEAN else total
    return Measure(number, units[0], len(amounts), units)


def _note(evidence: Evidence, nodes: Int64, edges: Int64) -> None:
    """Notes the edges, [w, s], that speak for some nodes, [w]."""
    for node, row in zip(nodes.tolist(), edges.tolist(), strict=True):
        known = evidence.setdefault(node, [])
        known.extend(edge for edge in row if edge not in known)


def passes_value(test: Test, value: Value, /) -> bool:
    """Returns whether a value is a number, a date or a text that passes a test of those."""
    match test:
        case Number(comparison, amount, unit):
            quantity = amount_of(value)
            if quantity is None or (unit is not None and quantity.unit != unit):
                return False
            return _COMPARES[comparison](quantity.number, Decimal(amount))
        case During(days):
            held = days_of_value(value)
            return held is not None and days.holds(held)
        case Text(text):
            return text_of(value) == text
    raise AssertionError(test)


def _bounds(value: Value, order: Order) -> tuple[Decimal, Decimal] | None:
    """Returns the least and the greatest number that a value may be in an order."""
    if order.kind is Comparable.DATES:
        days: Days | None = days_of_value(value)
        return None if days is None else (Decimal(days.first), Decimal(days.last))
    amount = amount_of(value)
    if amount is None or (order.unit is not None and amount.unit != order.unit):
        return None
    return amount.number, amount.number


def _own(orderings: Sequence[_Ordering], order: Order) -> _Ordering:
    """Returns what an answer of several values is ordered by.

    Its earliest date, which is no later than any of them may be, or its first number.
    """
    if order.kind is Comparable.NUMBERS and order.descending:
        return max(orderings, key=lambda each: each.least)
    first = min(orderings, key=lambda each: (each.least, each.greatest))
    return replace(first, greatest=min(each.greatest for each in orderings))


def _position_of(answer: _Answer, order: Order) -> tuple[Decimal, Decimal]:
    """Returns the first and the last position that an answer may have."""
    ordering = answer.ordering
    assert ordering is not None
    if order.descending:
        return -ordering.greatest, -ordering.least
    return ordering.least, ordering.greatest


def _of_rank(ordered: Sequence[_Answer], order: Order, rank: int | None = None) -> list[_Answer]:
    """Returns the answers of the order's rank: those of the first that overlap are of rank 1; or
    the first ones.
    """
    rank = rank or order.rank
    if rank is None and order.first is not None:
        lasts = sorted(_position_of(answer, order)[1] for answer in ordered)
        return [
            answer
            for answer in ordered
            if bisect_left(lasts, _position_of(answer, order)[0]) < order.first
        ]
    if rank is None:
        return list(ordered)
    rest = list(ordered)
    first: list[_Answer] = []
    for _ in range(rank):
        if not rest:
            return []
        latest = min(_position_of(answer, order)[1] for answer in rest)
        first = [answer for answer in rest if _position_of(answer, order)[0] <= latest]
        rest = rest[len(first) :]
    return first
