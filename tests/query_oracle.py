"""The answers of a query by brute force: plain sets of statements, and every way tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.days import days_of, days_of_text
from graph_service.model.graph import RANKS, KnowledgeGraph
from graph_service.model.overlay import Overlay
from graph_service.model.statement import Rank
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
    decode_value,
    encode_value,
)
from graph_service.query.algebra import (
    Among,
    AnyOf,
    Comparable,
    Condition,
    During,
    Entities,
    Fold,
    InstanceOf,
    Not,
    Number,
    Order,
    Present,
    Query,
    Relation,
    Targets,
    Text,
)


@dataclass(frozen=True)
class Row:
    id: str
    head: str
    relation: str
    value: Value


def rows_of(graph: KnowledgeGraph, overlay: Overlay | None) -> list[Row]:
    """The statements of a graph or a view, deprecated ones and those of no value left out."""

    def value(node: int) -> Value:
        if node < graph.entity_count:
            return EntityValue(graph.node_ids[node])
        if node < graph.node_count:
            return decode_value(graph.node_ids[node])
        assert overlay is not None
        return decode_value(overlay.new_nodes[node - graph.node_count])

    def relation(number: int) -> str:
        if number < graph.relation_count:
            return graph.relation_ids[number]
        assert overlay is not None
        return overlay.new_relations[number - graph.relation_count]

    gone = set() if overlay is None else set(overlay.gone.numbers.tolist())
    found = [
        (
            graph.statement_ids[edge],
            graph.head[edge],
            graph.rel[edge],
            graph.tail[edge],
            graph.rank[edge],
        )
        for edge in range(graph.edge_count)
        if edge not in gone
    ]
    if overlay is not None:
        found += zip(
            overlay.statement_ids,
            overlay.head,
            overlay.rel,
            overlay.tail,
            overlay.rank,
            strict=True,
        )
    rows = []
    for id_, head, rel, tail, rank in found:
        at, to = value(int(head)), value(int(tail))
        if RANKS[rank] is Rank.DEPRECATED or isinstance(to, SomeValue | NoValue):
            continue
        assert isinstance(at, EntityValue)
        rows.append(Row(id_, at.id, relation(int(rel)), to))
    return rows


@dataclass(frozen=True)
class Found:
    """What brute force finds: the encoded values in no order, or ranked groups of them."""

    values: frozenset[str]
    truth: bool | None
    unordered: int
    measure: tuple[Decimal | None, int] | None = None
    """The mean or the sum, and of how many numbers."""


class Oracle:
    """Answers queries from the statements of a graph or a view."""

    def __init__(self, graph: KnowledgeGraph, overlay: Overlay | None = None) -> None:
        self._rows = rows_of(graph, overlay)
        self._entities = {graph.node_ids[node] for node in range(graph.entity_count)}

    def answer(self, query: Query) -> Found:
        if query.fold is Fold.COMPARE:
            return self._compare(query)
        ends: list[tuple[str, tuple[Row, ...]]] = [(node, ()) for node in self._starts(query)]
        for step in query.path:
            ends = [
                (to, (*used, row))
                for at, used in ends
                for to, row in self._next(at, step.relation)
                if row not in used and all(self._holds(each, to) for each in step.filters)
            ]
        reached = {to for to, _ in ends}
        values = {to for to in reached if all(self._holds(each, to) for each in query.filters)}
        unordered = 0
        if query.order is not None:
            spans = {to: self._span(to, query.order) for to in values}
            unordered = sum(span is None for span in spans.values())
            if query.order.first is not None:
                values = self._first(spans, query.order, query.order.first)
            else:
                values = set(self._of_rank(spans, query.order, query.order.rank))
        truth = None
        if query.fold is Fold.EXISTS and reached:
            truth = bool(values)
        measure = None
        if query.order is not None and query.fold in (Fold.MEAN, Fold.SUM):
            measure = self._measure(values, query.order, query.fold)
        return Found(frozenset(values), truth, unordered, measure)

    def _measure(self, values: set[str], order: Order, fold: Fold) -> tuple[Decimal | None, int]:
        pairs = set()
        for value in values:
            for to in self._ends(value, order.path):
                number = _number(decode_value(to))
                if number is not None and order.unit in (None, number[1]):
                    pairs.add((value, *number))
        if len({unit for _, _, unit in pairs}) != 1:
            return None, len(pairs)
        total = sum((number for _, number, _ in pairs), Decimal(0))
        return total / len(pairs) if fold is Fold.MEAN else total, len(pairs)

    def position(self, value: str, order: Order) -> Decimal:
        """What an answer is sorted by, ascending."""
        span = self._span(value, order)
        assert span is not None
        return -span[1] if order.descending else span[0]

    def supports(self, value: str, statements: Sequence[str]) -> bool:
        """Whether some of these statements touch a value."""
        ids = {*statements}
        return any(
            row.id in ids
            and value in (encode_value(row.value), encode_value(EntityValue(row.head)))
            for row in self._rows
        )

    def _compare(self, query: Query) -> Found:
        assert isinstance(query.start, Entities)
        assert query.order is not None
        encoded = [encode_value(EntityValue(id_)) for id_ in query.start.ids]
        spans = {
            value: self._span(value, query.order) if id_ in self._entities else None
            for id_, value in zip(query.start.ids, encoded, strict=True)
        }
        lacking = sum(span is None for span in spans.values())
        truth = None
        if not lacking:
            truth = self._of_rank(spans, query.order, 1) == [encoded[0]]
        have = frozenset(value for value, span in spans.items() if span is not None)
        return Found(have, truth, lacking)

    def _starts(self, query: Query) -> set[str]:
        if isinstance(query.start, Entities):
            known = self._entities & {*query.start.ids}
            return {encode_value(EntityValue(id_)) for id_ in known}
        if isinstance(query.start, Targets):
            return {
                encode_value(EntityValue(row.head) if relation.backward else row.value)
                for relation in query.start.relations
                for row in self._rows
                if row.relation == relation.id
            }
        classes = self._below(query.start.class_ids)
        return {
            encode_value(EntityValue(row.head))
            for row in self._rows
            if row.relation in INSTANCE_RELATIONS and row.value in classes
        }

    def _below(self, class_ids: Sequence[str]) -> list[Value]:
        classes = {*class_ids}
        while True:
            more = {
                row.head
                for row in self._rows
                if row.relation in SUBCLASS_RELATIONS
                and isinstance(row.value, EntityValue)
                and row.value.id in classes
            }
            if more <= classes:
                return [EntityValue(id_) for id_ in classes]
            classes |= more

    def _next(self, at: str, relation: Relation) -> Iterator[tuple[str, Row]]:
        for row in self._rows:
            head, value = encode_value(EntityValue(row.head)), encode_value(row.value)
            if row.relation != relation.id:
                continue
            if relation.backward and value == at and isinstance(row.value, EntityValue):
                yield head, row
            elif not relation.backward and head == at:
                yield value, row

    def _ends(self, at: str, path: Sequence[Relation]) -> set[str]:
        return {to for _, to in self._last_steps(at, path, ())}

    def _last_steps(
        self, at: str, path: Sequence[Relation], of_first: Sequence[Any]
    ) -> set[tuple[str, str]]:
        """What a path leads to, each with what stands before it."""
        ends: list[tuple[str, str, tuple[Row, ...]]] = [("", at, ())]
        for index, relation in enumerate(path):
            ends = [
                (node, to, (*used, row))
                for _, node, used in ends
                for to, row in self._next(node, relation)
                if row not in used and (index or all(self._holds(each, to) for each in of_first))
            ]
        return {(before, to) for before, to, _ in ends}

    def _holds(self, filter: Any, at: str) -> bool:
        match filter:
            case Not(inner):
                return not self._holds(inner, at)
            case AnyOf(parts):
                return any(self._holds(part, at) for part in parts)
            case Condition(path, test):
                return any(self._passes(test, to) for to in self._ends(at, path))
        raise AssertionError(filter)

    def _passes(self, test: Any, encoded: str) -> bool:
        value = decode_value(encoded)
        match test:
            case Present():
                return True
            case Among(ids):
                return isinstance(value, EntityValue) and value.id in ids
            case InstanceOf(class_ids):
                classes = self._below(class_ids)
                return any(
                    row.relation in INSTANCE_RELATIONS
                    and EntityValue(row.head) == value
                    and row.value in classes
                    for row in self._rows
                )
            case Text(text):
                return (
                    isinstance(value, StringValue | MonolingualText)
                    and value.text == text
                    or isinstance(value, Iri)
                    and value.iri == text
                )
            case During(days):
                held = _days(value)
                return held is not None and days.first <= held[0] and held[1] <= days.last
            case Number(comparison, amount, unit):
                found = _number(value)
                if found is None or unit not in (None, found[1]):
                    return False
                left, right = found[0], Decimal(amount)
                return {
                    "=": left == right,
                    ">": left > right,
                    ">=": left >= right,
                    "<": left < right,
                    "<=": left <= right,
                }[comparison.value]
        raise AssertionError(test)

    def _span(self, value: str, order: Order) -> tuple[Decimal, Decimal] | None:
        if order.fold is not None:
            return self._folded(value, order)
        spans = []
        for to in {to for _, to in self._last_steps(value, order.path, order.filters)}:
            read = decode_value(to)
            if order.kind is Comparable.DATES:
                days = _days(read)
                if days is not None:
                    spans.append((Decimal(days[0]), Decimal(days[1])))
            else:
                number = _number(read)
                if number is not None and order.unit in (None, number[1]):
                    spans.append((number[0], number[0]))
        if not spans:
            return None
        best = max if order.kind is Comparable.NUMBERS and order.descending else min
        return best(span[0] for span in spans), best(span[1] for span in spans)

    def _folded(self, value: str, order: Order) -> tuple[Decimal, Decimal] | None:
        steps = self._last_steps(value, order.path, order.filters)
        if order.fold is Fold.COUNT:
            count = Decimal(len({to for _, to in steps}))
            return count, count
        read = {(before, _number(decode_value(to))) for before, to in steps}
        numbers = [
            number for _, number in read if number is not None and order.unit in (None, number[1])
        ]
        if len({unit for _, unit in numbers}) != 1:
            return None
        total = sum((number for number, _ in numbers), Decimal(0))
        made = total / len(numbers) if order.fold is Fold.MEAN else total
        return made, made

    @staticmethod
    def _first(
        spans: dict[str, tuple[Decimal, Decimal] | None], order: Order, count: int
    ) -> set[str]:
        def is_before(one: tuple[Decimal, Decimal], other: tuple[Decimal, Decimal]) -> bool:
            return one[0] > other[1] if order.descending else one[1] < other[0]

        known = {value: span for value, span in spans.items() if span is not None}
        return {
            value
            for value, span in known.items()
            if sum(is_before(other, span) for other in known.values()) < count
        }

    @staticmethod
    def _of_rank(
        spans: dict[str, tuple[Decimal, Decimal] | None], order: Order, rank: int | None
    ) -> list[str]:
        sign = -1 if order.descending else 1
        known = {
            value: sorted(sign * bound for bound in span)
            for value, span in spans.items()
            if span is not None
        }
        if rank is None:
            return [*known]
        first: list[str] = []
        for _ in range(rank):
            if not known:
                return []
            sure = min(span[1] for span in known.values())
            first = [value for value, span in known.items() if span[0] <= sure]
            known = {value: span for value, span in known.items() if value not in first}
        return first


def _days(value: Value) -> tuple[int, int] | None:
    found = None
    if isinstance(value, Time):
        found = days_of(value)
    elif isinstance(value, EntityValue):
        found = days_of_text(value.id)
    elif isinstance(value, StringValue) and value.datatype != "external-id":
        found = days_of_text(value.text)
    return None if found is None else (found.first, found.last)


def _number(value: Value) -> tuple[Decimal, str | None] | None:
    if isinstance(value, Quantity):
        return Decimal(value.amount), value.unit
    text = ""
    if isinstance(value, EntityValue):
        text = value.id
    elif isinstance(value, StringValue) and value.datatype != "external-id":
        text = value.text
    sign, digits = (text[:1], text[1:]) if text[:1] in ("-", "+") else ("", text)
    whole, dot, part = digits.partition(".")
    if not (whole.isascii() and whole.isdigit()) or (dot and not part.isdigit()):
        return None
    return Decimal(sign + digits), None
