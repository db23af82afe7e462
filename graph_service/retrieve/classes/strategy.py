"""The answer to a question about a class: the best of the small queries that it may mean.

No entity is asked about, or none but as a value that instances have. The question is read as parts
of queries (``reading``), the enumeration puts them together, and the best is answered. It is sure
where it takes up every content word and where no other query that fits nearly as well has another
answer.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property

import numpy as np

from graph_service.link.joint import JointMention
from graph_service.model.answer import MOST_READINGS, AnswerKind, AnswerMeasure
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Float64, Int64, KnowledgeGraph
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.result import ScorePart, Strategy
from graph_service.query.algebra import (
    MEASURES,
    Among,
    Comparable,
    Condition,
    Entities,
    Filter,
    Fold,
    InstanceOf,
    Instances,
    Query,
    Relation,
    Step,
    Text,
    conditions_of,
    filters_of,
    paths_of,
)
from graph_service.query.enumeration import (
    EnumerationBudget,
    NamedTest,
    NamedThing,
    ScoredQuery,
    Span,
    enumerate_queries,
    overlap,
)
from graph_service.query.execution import execute
from graph_service.query.result import AnswerRow, QueryLimits, QueryResult
from graph_service.query.walking import Walker, Walks
from graph_service.retrieve.classes.meanings import ClassMeaning, MeaningReader
from graph_service.retrieve.classes.profile import (
    RelationProfile,
    ValueKind,
    profile_relations,
)
from graph_service.retrieve.classes.question_text import (
    asks_for_called,
    asks_for_instances,
    is_one_of_them,
    joins_people,
)
from graph_service.retrieve.classes.reading import ClassReading, read_class_question
from graph_service.retrieve.classes.row_words import RowNames, name_rows, says_rows
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.classes.vocabulary import OF_LOCATION
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import (
    NO_STATS,
    Clock,
    Encode,
    PickedAnswer,
    PickedEdge,
    PickedPath,
    RankedQuery,
    ReadQuery,
    Selection,
)
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import words
from graph_service.text.question_form import read_form

_WORK = root("work")
_BUDGET = EnumerationBudget(beam=16, constrained=24, options=3, queries=200, steps=1)
_VALUE_BUDGET = replace(_BUDGET, steps=2)
_WITHOUT_NODES = frozenset({Fold.EXISTS, *MEASURES})
_UNCOUNTED = (ValueKind.NUMBER, ValueKind.DATE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassRequest:
    """What a question about a class is answered from.

    Attributes:
        question: As asked.
        graph: The base.
        overlay: The view, if any.
        ranks: ``RANK_CODES`` of the statements that count.
        languages: Of labels, best first.
        encode: Texts to unit vectors.
        strategy: What is picked.
        limit: Items at most.
        min_confidence: From which on an answer is sure.
        deadline: Raises ``DeadlineError`` when past.
        is_cut: Whether the graph is a part of which limits left something out.
        has_all_classes: Whether it has all classes, so that *who* may mean the people of one.
    """

    question: str
    graph: KnowledgeGraph
    overlay: Overlay | None
    ranks: Sequence[int]
    languages: Sequence[str]
    encode: Encode
    strategy: Strategy
    limit: int
    min_confidence: float
    deadline: Deadline
    is_cut: bool = False
    has_all_classes: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ClassAnswer:
    """What a question about a class retrieves.

    Attributes:
        selection: Its answer, what that rests on, and the query.
        mentions: The class and the entities that the query names.
        is_sure: Whether the answer is.
        class_ids: The classes that the question names.
        is_list: Whether it lists instances of a named class as a walk could: neither counted nor
            ordered, by no values and nothing negated.
        of_instances: Whether the question asks which or how many instances, as *which brands*.
    """

    selection: Selection
    mentions: tuple[JointMention, ...]
    is_sure: bool
    class_ids: frozenset[str]
    is_list: bool
    of_instances: bool


@dataclass(frozen=True, slots=True, eq=False)
class RankedReading:
    """A query, its score less what it leaves unread, the words that it does, and whether no words
    name its class.
    """

    scored: ScoredQuery
    reading: ClassReading
    score: float
    unread: tuple[str, ...]
    is_implied: bool


def answer_class_question(request: ClassRequest, /) -> ClassAnswer | None:
    """Returns the answer to a question that names a class; None where it names none, or no query
    of it leads anywhere.
    """
    if len(request.question) > CONSTRAINT_RULES.characters:
        return None
    return _ClassQuestion(request).answer()


class _ClassQuestion:
    def __init__(self, request: ClassRequest, /) -> None:
        self._request = request
        self._graph = request.graph
        self._clock = Clock()
        self._row_names: dict[tuple[Relation, Relation], list[RowNames]] = {}
        self._labels = Labels(request.graph, request.overlay, request.languages, request.deadline)
        self._walker = Walker(
            request.graph,
            request.overlay,
            ranks=request.ranks,
            limits=QueryLimits(),
            deadline=request.deadline,
        )
        self._meanings = MeaningReader(
            request.question,
            self._walker,
            self._labels,
            self._cosines,
            has_all_classes=request.has_all_classes,
        )

    def answer(self) -> ClassAnswer | None:
        ranked = self.ranked()
        if not ranked:
            return None
        best = ranked[0]
        if best.is_implied and best.unread:
            return None
        result = self._execute(best)
        is_sure = not best.unread and not best.reading.refusal and result.is_complete
        is_sure = is_sure and not self._request.is_cut and self._says_something(best, result)
        is_sure = is_sure and not self._has_rival(best, result, ranked[1:])
        self._clock.stage("answer")
        if best.is_implied and not is_sure:
            return None
        selection = self._selection(best, result, ranked, is_sure=is_sure)
        confident = is_sure and CLASS_RULES.sure >= self._request.min_confidence
        class_ids = frozenset(
            thing.id for each in ranked for thing in each.reading.parts.things if thing.is_class
        )
        query = best.scored.query
        is_list = query.fold is Fold.LIST and query.order is None and not best.is_implied
        is_list = is_list and isinstance(query.start, Instances)
        is_list = is_list and all(map(_is_walked, filters_of(query)))
        of_instances = any(
            thing.is_class and asks_for_instances(self._request.question, thing.span)
            for thing in best.reading.parts.things
        )
        return ClassAnswer(
            selection, self._mentions(best), confident, class_ids, is_list, of_instances
        )

    def ranked(self) -> list[RankedReading]:
        """Returns the queries of all classes that the question names, best first."""
        ranked: list[RankedReading] = []
        relations = 0
        for meaning in self._meanings.meanings():
            if meaning.are_people and relations >= CLASS_RULES.implied_relations:
                break
            nodes = self._meanings.instances(meaning)
            if meaning.are_people and self._meanings.are_coded(nodes):
                continue
            profiles = profile_relations(self._walker, nodes, self._relation_labels)
            relations += len(profiles)
            ranked += self._queries(meaning, nodes, profiles)
        ranked.sort(key=lambda each: (-each.score, each.scored.query.key))
        self._clock.stage("queries")
        return ranked

    @cached_property
    def _relation_labels(self) -> dict[str, str]:
        numbers = np.arange(self._graph.relation_count)
        ids = self._labels.relation_ids(numbers)
        return dict(zip(ids, self._labels.relations(numbers), strict=True))

    def _queries(
        self, meaning: ClassMeaning, nodes: Int64, profiles: Sequence[RelationProfile]
    ) -> list[RankedReading]:
        question = self._request.question
        things = self._joined(meaning, nodes)
        reading = read_class_question(question, meaning.things, things, profiles, self._cosines)
        parts = reading.parts
        if meaning.are_people:
            # As of entities: no text that people are not joined to.
            tests = [
                test
                for test in parts.tests
                if not _says_text(test, question) or joins_people(question, test.span)
            ]
            parts = replace(parts, tests=tests)
        enumeration = enumerate_queries(
            parts,
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            budget=_BUDGET if meaning.relation is None else _VALUE_BUDGET,
            deadline=self._request.deadline,
        )
        of_instances = meaning.are_people or asks_for_instances(question, meaning.span)
        if meaning.relation is not None:
            of_instances = asks_for_called(question, meaning.span)
        kinds = {profile.id: profile.kind for profile in profiles}
        thing_spans = {thing.span for thing in things}
        ranked = []
        for scored in enumeration.queries:
            if meaning.span not in scored.spans:
                continue
            query = scored.query
            steps = meaning.steps_of(query)
            if steps is None or (of_instances and _begins_at(query, meaning) and steps):
                continue
            if not steps and is_one_of_them(question, meaning.span):
                continue
            pair = _bridge_of(query)
            if not _is_meant(query, meaning, steps, pair):
                continue
            if meaning.are_people and not (query.filters or query.order):
                continue
            kind = kinds.get(steps[-1].relation.id) if steps else None
            if kind is ValueKind.FLAG or (query.fold is Fold.COUNT and kind in _UNCOUNTED):
                continue
            if query.order is not None and read_form(question).asks_for_time:
                dated = _dated(query, meaning)
                if dated is None:
                    continue
                scored = replace(scored, query=dated)
            unread = reading.unread(scored.spans, sorted(paths_of(scored.query)))
            unread = _without_work(unread, meaning, scored, thing_spans)
            if pair is not None:
                by_rows = self._by_rows(query, pair, unread, nodes) if unread else None
                if by_rows is not None:
                    scored, unread = replace(scored, query=by_rows), ()
                elif meaning.bridge is not None:
                    # "Who makes it?": no word says what the rows are.
                    continue
            score = round(scored.score - CLASS_RULES.unread * len(unread), 4)
            ranked.append(RankedReading(scored, reading, score, unread, meaning.is_implied))
        return ranked

    def _by_rows(
        self, query: Query, pair: tuple[Relation, Relation], unread: Sequence[str], nodes: Int64
    ) -> Query | None:
        """Returns the query by the rows of the one class that some words name; None for none.

        A count may be of the rows or of what they join: who borrowed one book twice borrowed two
        books, or one. There is none then.
        """
        if pair not in self._row_names:
            rows = np.unique(self._walker.follow(Walks.at(nodes), pair[0]).targets)
            rows = rows[: CLASS_RULES.bridged]
            self._row_names[pair] = name_rows(self._walker, self._labels, rows)
        names = self._row_names[pair]
        question = self._request.question
        able = [each for each in names if says_rows(unread, each, question, self._cosines)]
        ids, others = _without_bridge(query, pair)
        if len(able) != 1 or not ids:
            return query if len(able) == len(names) == 1 and query.fold is not Fold.COUNT else None
        of_class = Condition((), InstanceOf((able[0].class_id,)))
        to_rows = Step(Relation(pair[1].id, backward=True), (of_class,))
        back = Step(Relation(pair[0].id))
        if query.fold is Fold.COUNT:
            at = Walks.at(self._walker.nodes(ids))
            rows = np.unique(self._walker.follow(at, to_rows.relation).targets)
            targets = self._walker.follow(Walks.at(rows), back.relation).targets
            if len(np.unique(targets)) < len(targets):
                return None
        if len(names) == 1:
            return query
        assert isinstance(query.start, Instances)
        instances = Condition((), InstanceOf(query.start.class_ids))
        return replace(
            query, start=Entities(ids), path=(to_rows, back), filters=(instances, *others)
        )

    def _cosines(self, texts: Sequence[str], others: Sequence[str]) -> Float64:
        vectors = self._request.encode([*texts, *others]).astype(np.float64)
        cosines: Float64 = np.round(vectors[: len(texts)] @ vectors[len(texts) :].T, 5)
        return cosines

    # What the question names

    def _joined(self, meaning: ClassMeaning, nodes: Int64) -> list[NamedThing]:
        """Returns the entities that a statement joins to instances, of longer names first."""
        things: list[NamedThing] = []
        if meaning.bridge is not None:
            return [
                NamedThing(self._graph.node_ids[node], span, score, bridges=(meaning.bridge,))
                for span, node, score in meaning.entities
            ]
        for span, node, score in meaning.entities:
            if overlap(span, meaning.span):
                continue
            if any(overlap(span, each.span) and span != each.span for each in things):
                continue
            is_joined = bool(self._walker.relations_to(nodes, node))
            is_bridged = not is_joined and not meaning.are_measured
            bridges = self._bridges(nodes, node) if is_bridged else ()
            if is_joined or bridges:
                id_ = self._graph.node_ids[node]
                is_value = meaning.are_people
                things.append(NamedThing(id_, span, score, is_value=is_value, bridges=bridges))
        return things

    def _bridges(self, nodes: Int64, node: int) -> tuple[tuple[Relation, Relation], ...]:
        """Returns by which two relations instances lead to an entity that none joins to them: where
        they are by the city of their building; or by rows, which have codes for names.
        """
        if len(nodes) > CLASS_RULES.bridged:
            return ()
        labels = self._relation_labels
        bridges: list[tuple[Relation, Relation]] = []
        for pair in self._walker.bridges_to(nodes, node, most=CLASS_RULES.bridged):
            first, second = pair
            if first.backward:
                back = Relation(second.id, backward=True)
                at = Walks.at(np.array([node], dtype=np.int64))
                between = np.unique(self._walker.follow(at, back).targets)
                if self._meanings.are_coded(between):
                    bridges.append(pair)
            elif not OF_LOCATION.isdisjoint(map(root, words(labels.get(second.id, "")))):
                bridges.append(pair)
        return tuple(bridges)

    # How sure the best is

    def _execute(self, ranked: RankedReading) -> QueryResult:
        return execute(
            ranked.scored.query,
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            deadline=self._request.deadline,
        )

    @staticmethod
    def _says_something(best: RankedReading, result: QueryResult) -> bool:
        query = best.scored.query
        if query.fold is Fold.EXISTS:
            return result.truth is not None
        if query.fold is Fold.COUNT:
            return True
        if result.measure is not None:
            return result.measure.number is not None
        return bool(result.rows)

    def _has_rival(
        self, best: RankedReading, result: QueryResult, others: Sequence[RankedReading]
    ) -> bool:
        answer = _answer_key(best, result)
        near = [each for each in others if each.score > best.score - CLASS_RULES.gap]
        if len(near) > CLASS_RULES.near:
            near = near[: CLASS_RULES.near]
        return any(_answer_key(each, self._execute(each)) != answer for each in near)

    # What is picked

    def _mentions(self, best: RankedReading) -> tuple[JointMention, ...]:
        spans = set(best.scored.spans)
        by_span: dict[Span, list[int]] = {}
        for thing in best.reading.parts.things:
            node = self._graph.find_node(thing.id)
            if thing.span in spans and node is not None:
                by_span.setdefault(thing.span, []).append(node)
        # A class that no words name has no characters.
        named = [span for span in sorted(by_span) if span[0] < span[1]]
        return tuple(JointMention(*span, 1.0, tuple(by_span[span])) for span in named)

    def _selection(
        self,
        best: RankedReading,
        result: QueryResult,
        ranked: Sequence[RankedReading],
        *,
        is_sure: bool,
    ) -> Selection:
        request, query = self._request, best.scored.query
        origin = self._origin(best)
        rows = result.rows or self._looked_at(best)
        shown = rows[: request.limit]
        cuts = list(result.truncated)
        if len(rows) > len(shown) or result.count > len(result.rows):
            cuts = [cut for cut in cuts if cut.what != "items"]
            cuts.append(Cut("items", CutReason.LIMIT, request.limit, len(shown), result.count))
        relevance = 1.0 if not best.unread else 0.5
        paths: tuple[PickedPath, ...] = ()
        triples: tuple[PickedEdge, ...] = ()
        if request.strategy is Strategy.PATHS:
            paths = tuple(
                PickedPath(edges, reverse, relevance, (ScorePart("relevance", relevance),), origin)
                for row in shown
                for edges, reverse in (self._path(row),)
                if edges
            )
        else:
            edges = dict.fromkeys(edge for row in shown for edge in row.edges)
            triples = tuple(
                PickedEdge(edge, relevance, 0.0, relevance, 0.0, origin)
                for edge in [*edges][: request.limit]
            )
        answer = None
        if is_sure:
            answer = PickedAnswer(
                _kind(best),
                _value(best, result),
                () if query.fold in _WITHOUT_NODES else tuple(row.node for row in result.rows),
                tuple(dict.fromkeys(edge for row in rows for edge in row.edges)),
                not result.is_complete or result.count > len(result.rows),
                self._measure(result),
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
            timings_ms=dict(self._clock.stages),
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
        return execute(
            every,
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            limits=QueryLimits(rows=self._request.limit),
            deadline=self._request.deadline,
        ).rows

    def _origin(self, best: RankedReading) -> int:
        start = best.scored.query.start
        ids = start.class_ids if isinstance(start, Instances) else start.ids
        nodes = self._walker.nodes(ids)
        return int(nodes[0]) if len(nodes) else -1

    def _path(self, row: AnswerRow) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """Returns one statement that leads to an answer: what it has, else that it is of its class."""
        instances: list[tuple[int, bool]] = []
        for edge in row.edges:
            head, tail, relation = self._columns_of(edge)
            if row.node in (head, tail):
                step = (edge, head == row.node)
                if relation not in INSTANCE_RELATIONS:
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


def _without_work(
    unread: tuple[str, ...], meaning: ClassMeaning, scored: ScoredQuery, things: Set[Span]
) -> tuple[str, ...]:
    """Returns the unread words; of people *work* is none where nothing is named that they work at:
    *works part time*.
    """
    if not meaning.are_people or not things.isdisjoint(scored.spans):
        return unread
    return tuple(word for word in unread if root(word) != _WORK)


def _is_meant(
    query: Query,
    meaning: ClassMeaning,
    steps: Sequence[Step],
    pair: tuple[Relation, Relation] | None,
) -> bool:
    """Returns whether a query has what a meaning that no words name is known by: numbers that are
    added up, which no step leads away from, or the rows that lead to an entity.
    """
    is_measure = query.fold in MEASURES
    if (is_measure and steps) or (meaning.are_measured and not is_measure):
        return False
    return meaning.bridge is None or (not steps and pair == meaning.bridge)


def _bridge_of(query: Query) -> tuple[Relation, Relation] | None:
    """Returns the two relations of a filter that leads through rows; None where none does."""
    for each in filters_of(query):
        for condition in conditions_of(each):
            if len(condition.path) == 2 and condition.path[0].backward:
                return condition.path[0], condition.path[1]
    return None


def _without_bridge(
    query: Query, pair: tuple[Relation, Relation]
) -> tuple[tuple[str, ...], tuple[Filter, ...]]:
    """Returns the entities that a filter of a query leads to by two relations, and its other
    filters; no entities where it is not of instances, or where the filter must not hold.
    """
    ids: tuple[str, ...] = ()
    others: list[Filter] = []
    for each in query.filters:
        is_bridge = isinstance(each, Condition) and each.path == pair
        if is_bridge and isinstance(each, Condition) and isinstance(each.test, Among):
            ids = each.test.ids
        else:
            others.append(each)
    if query.path or not isinstance(query.start, Instances):
        return (), query.filters
    return ids, tuple(others)


def _begins_at(query: Query, meaning: ClassMeaning) -> bool:
    return meaning.relation is not None or isinstance(query.start, Instances)


def _dated(query: Query, meaning: ClassMeaning) -> Query | None:
    """Returns the query for the date by which an answer comes first; None where none says it."""
    order = query.order
    if order is None or order.kind is not Comparable.DATES or len(order.path) != 1:
        return None
    by_date = replace(order, path=())
    if query.path or meaning.relation is not None:
        return None
    if not query.filters:
        return Query(query.start, (Step(order.path[0]),), (), by_date)
    for index, filter in enumerate(query.filters):
        if (
            isinstance(filter, Condition)
            and isinstance(filter.test, Among)
            and len(filter.path) == 1
            and isinstance(query.start, Instances)
        ):
            relation = filter.path[0]
            others = (*query.filters[:index], *query.filters[index + 1 :])
            of_class = Condition((), InstanceOf(query.start.class_ids))
            back = Step(Relation(relation.id, not relation.backward), (of_class, *others))
            return Query(Entities(filter.test.ids), (back, Step(order.path[0])), (), by_date)
    return None


def _says_text(test: NamedTest, question: str) -> bool:
    """Returns whether a test is for a text that the question says, and not for a flag."""
    return isinstance(test.test, Text) and words(test.test.text) == words(
        question[slice(*test.span)]
    )


def _is_walked(filter: Filter) -> bool:
    """Returns whether walks tell what passes a filter: that leads to an entity, or is of a class."""
    return (
        isinstance(filter, Condition)
        and isinstance(filter.test, Among | InstanceOf)
        and len(filter.path) < 2
    )


def _answer_key(ranked: RankedReading, result: QueryResult) -> object:
    """Returns what two queries share that have one answer."""
    if ranked.scored.query.fold is Fold.EXISTS:
        return result.truth
    if ranked.scored.query.fold is Fold.COUNT:
        return result.count
    if result.measure is not None:
        return result.measure
    return frozenset(row.node for row in result.rows), result.count


def _kind(ranked: RankedReading) -> AnswerKind:
    query = ranked.scored.query
    if query.fold is Fold.COUNT:
        return AnswerKind.COUNT
    if query.fold is Fold.EXISTS:
        return AnswerKind.YES_NO
    if query.fold in MEASURES:
        return AnswerKind.AVERAGE if query.fold is Fold.MEAN else AnswerKind.TOTAL
    return AnswerKind.ENTITIES if query.order is None else AnswerKind.SUPERLATIVE


def _value(ranked: RankedReading, result: QueryResult) -> str | None:
    """Returns the text of an answer that is no list."""
    fold = ranked.scored.query.fold
    if fold is Fold.COUNT:
        return str(result.count)
    if fold is Fold.EXISTS:
        return "yes" if result.truth else "no"
    if result.measure is not None and result.measure.number is not None:
        return _decimals(result.measure.number)
    return None


def _decimals(number: Decimal) -> str:
    """Returns a number as people write it: of one that does not end the first four decimals.

    >>> _decimals(Decimal("11.63125")), _decimals(Decimal("20.00")), _decimals(Decimal(1) / 7000)
    ('11.6313', '20', '0.0001429')
    """
    if number != number.quantize(Decimal("0.0001")):
        four = Decimal("0.0001") if abs(number) >= 1 else Decimal(1).scaleb(number.adjusted() - 3)
        number = number.quantize(four, rounding=ROUND_HALF_UP)
    return format(number.normalize() + 0, "f")
