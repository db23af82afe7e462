"""What is picked of the best query about a class: its answer, and the statements it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from graph_service.link.joint import JointMention
from graph_service.model.answer import MOST_READINGS, AnswerKind, AnswerMeasure
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.limits import Cut, CutReason
from graph_service.model.result import ScorePart, Strategy
from graph_service.model.values import Quantity
from graph_service.query.algebra import (
    MEASURES,
    Condition,
    Fold,
    Instances,
    Query,
    Step,
    Targets,
    is_of_each,
)
from graph_service.query.enumeration import (
    Span,
)
from graph_service.query.execution import execute
from graph_service.query.result import AnswerRow, QueryLimits, QueryResult
from graph_service.query.walking import Walker
from graph_service.retrieve.classes.ranking import RankedReading
from graph_service.retrieve.classes.request import ClassRequest
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.context import (
    NO_STATS,
    RankedQuery,
    ReadQuery,
    SelectedAnswer,
    SelectedEdge,
    SelectedGroup,
    SelectedPath,
    Selection,
)
from graph_service.retrieve.labels import Labels

_WITHOUT_NODES = frozenset({Fold.EXISTS, *MEASURES})


class AnswerPicker:
    """Picks what a query about a class retrieves.

    Args:
        request: What is asked.
        walker: Of the graph or view.
        labels: Of its nodes.
    """

    def __init__(self, request: ClassRequest, walker: Walker, labels: Labels, /) -> None:
        self._request = request
        self._graph = request.graph
        self._walker = walker
        self._labels = labels

    def mentions(self, best: RankedReading, /) -> tuple[JointMention, ...]:
        """Returns the words that a query takes for classes and entities, with these."""
        spans = set(best.scored.spans)
        by_span: dict[Span, list[int]] = {}
        for thing in best.reading.parts.things:
            node = self._graph.find_node(thing.id)
            if thing.span in spans and thing.targets_of is None and node is not None:
                by_span.setdefault(thing.span, []).append(node)
        # A class that no words name has no characters.
        named = [span for span in sorted(by_span) if span[0] < span[1]]
        return tuple(JointMention(*span, 1.0, tuple(by_span[span])) for span in named)

    def selection(
        self,
        best: RankedReading,
        result: QueryResult,
        ranked: Sequence[RankedReading],
        /,
        *,
        is_sure: bool,
        stages: Mapping[str, float],
    ) -> Selection:
        """Returns the answer of the best query, with the statements that it rests on.

        Args:
            best: The first of ``ranked``.
            result: What its execution gave.
            ranked: All queries, best first.
            is_sure: Whether the answer is.
            stages: Milliseconds by stage.
        """
        request, query = self._request, best.scored.query
        origin = self._origin(best)
        rows = result.rows or self._looked_at(best)
        shown = rows[: request.limit]
        cuts = list(result.truncated)
        if len(rows) > len(shown) or result.count > len(result.rows):
            cuts = [cut for cut in cuts if cut.what != "items"]
            cuts.append(Cut("items", CutReason.LIMIT, request.limit, len(shown), result.count))
        relevance = 1.0 if not best.unread else 0.5
        paths: tuple[SelectedPath, ...] = ()
        triples: tuple[SelectedEdge, ...] = ()
        if request.strategy is Strategy.PATHS:
            paths = tuple(
                SelectedPath(
                    edges,
                    reverse,
                    relevance,
                    (ScorePart("relevance", relevance),),
                    origin if origin >= 0 else row.node,
                )
                for row in shown
                for edges, reverse in (self._path(row, query),)
                if edges
            )
        else:
            origins: dict[int, int] = {}
            for row in shown:
                for edge in row.edges:
                    origins.setdefault(edge, origin if origin >= 0 else row.node)
            triples = tuple(
                SelectedEdge(edge, relevance, 0.0, relevance, 0.0, of_edge)
                for edge, of_edge in [*origins.items()][: request.limit]
            )
        answer = None
        if is_sure:
            answer = SelectedAnswer(
                _kind(best),
                _value(best, result),
                () if query.fold in _WITHOUT_NODES else self._nodes(best, result),
                tuple(dict.fromkeys(edge for row in rows for edge in row.edges)),
                not result.is_complete or result.count > len(result.rows),
                self._measure(result),
                self._groups(result) if is_of_each(query) else (),
            )
        return Selection(
            NO_STATS,
            NO_STATS,
            triples=triples,
            paths=paths,
            relevance=relevance,
            confidence=CLASS_RULES.sure if is_sure else CLASS_RULES.doubtful,
            confident=is_sure and CLASS_RULES.sure >= request.min_confidence,
            cuts=tuple(cuts),
            timings_ms=dict(stages),
            used_starts=(origin,) if origin >= 0 else (),
            answer=answer,
            read=ReadQuery(
                query,
                best.unread,
                tuple(
                    RankedQuery(each.scored.query, round(max(each.score, 0.0), 4))
                    for each in ranked[:MOST_READINGS]
                ),
            ),
        )

    def _nodes(self, best: RankedReading, result: QueryResult) -> tuple[int, ...]:
        """Returns the answers, or the values that they are ordered by."""
        if not best.is_value:
            return tuple(row.node for row in result.rows)
        # The first statement of a row is the one that orders it.
        values = (self._columns_of(row.edges[0])[1] for row in result.rows)
        return tuple(dict.fromkeys(values))

    def _groups(self, result: QueryResult) -> tuple[SelectedGroup, ...]:
        """Returns the number of each of some things, as people write it."""
        groups: list[SelectedGroup] = []
        for row in result.rows:
            quantity = row.ordered_by
            assert isinstance(quantity, Quantity)
            unit = None if quantity.unit is None else self._labels.unit(quantity.unit)
            groups.append(SelectedGroup(row.node, decimals(Decimal(quantity.amount)), unit))
        return tuple(groups)

    def _measure(self, result: QueryResult) -> AnswerMeasure | None:
        """Returns what an average or a total is made of."""
        measure = result.measure
        if measure is None:
            return None
        unit = None if measure.unit is None else self._labels.unit(measure.unit)
        return AnswerMeasure(unit, measure.values, result.unordered)

    def _looked_at(self, best: RankedReading) -> tuple[AnswerRow, ...]:
        """Returns the entities among which a query has no answer."""
        query = best.scored.query
        if query.fold is Fold.LIST:
            return ()
        every = replace(query, filters=(), order=None, fold=Fold.LIST)
        (filter, *_) = query.filters or (None,)
        if best.is_implied and not query.path and isinstance(filter, Condition):
            # Of one thing that something is said of, the value that it has.
            every = replace(every, path=tuple(map(Step, filter.path)))
        return execute(
            every,
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            limits=QueryLimits(rows=self._request.limit),
            deadline=self._request.deadline,
        ).rows

    def _origin(self, best: RankedReading) -> int:
        """Returns the entity that a query starts at; -1 where it starts at the ends of relations."""
        start = best.scored.query.start
        if isinstance(start, Targets):
            return -1
        ids = start.class_ids if isinstance(start, Instances) else start.ids
        nodes = self._walker.nodes(ids)
        return int(nodes[0]) if len(nodes) else -1

    def _path(self, row: AnswerRow, query: Query) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """Returns one statement that leads to an answer: what it has, else that it is of its class."""
        start = query.start
        of_start = (
            {each.id for each in start.relations} if isinstance(start, Targets) else set[str]()
        )
        instances: list[tuple[int, bool]] = []
        for edge in row.edges:
            head, tail, relation = self._columns_of(edge)
            if row.node in (head, tail):
                step = (edge, head == row.node)
                if relation not in INSTANCE_RELATIONS | of_start:
                    return (step[0],), (step[1],)
                instances.append(step)
        return ((instances[0][0],), (instances[0][1],)) if instances else ((), ())

    def _columns_of(self, edge: int) -> tuple[int, int, str]:
        graph, overlay = self._graph, self._request.overlay
        if edge < graph.edge_count:
            head, tail, relation = graph.head[edge], graph.tail[edge], graph.rel[edge]
        else:
            assert overlay is not None
            index = edge - graph.edge_count
            head, tail, relation = overlay.head[index], overlay.tail[index], overlay.rel[index]
        (id_,) = self._labels.relation_ids(np.array([int(relation)], dtype=np.int64))
        return int(head), int(tail), id_


def _kind(ranked: RankedReading) -> AnswerKind:
    query = ranked.scored.query
    if query.fold is Fold.COUNT:
        return AnswerKind.COUNT
    if query.fold is Fold.EXISTS:
        return AnswerKind.YES_NO
    if query.fold in MEASURES:
        return AnswerKind.AVERAGE if query.fold is Fold.MEAN else AnswerKind.TOTAL
    if is_of_each(query):
        return AnswerKind.GROUPS
    return AnswerKind.ENTITIES if query.order is None else AnswerKind.SUPERLATIVE


def _value(ranked: RankedReading, result: QueryResult) -> str | None:
    """Returns the text of an answer that is no list."""
    fold = ranked.scored.query.fold
    if fold is Fold.COUNT:
        return str(result.count)
    if fold is Fold.EXISTS:
        return "yes" if result.truth else "no"
    if result.measure is not None and result.measure.number is not None:
        return decimals(result.measure.number)
    return None


def decimals(number: Decimal, /) -> str:
    """Returns a number as people write it: of one that does not end the first four decimals.

    >>> decimals(Decimal("11.63125")), decimals(Decimal("20.00")), decimals(Decimal(1) / 7000)
    ('11.6313', '20', '0.0001429')
    """
    if number != number.quantize(Decimal("0.0001")):
        four = Decimal("0.0001") if abs(number) >= 1 else Decimal(1).scaleb(number.adjusted() - 3)
        number = number.quantize(four, rounding=ROUND_HALF_UP)
    return format(number.normalize() + 0, "f")
