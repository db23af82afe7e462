"""The small queries that a question about a class may mean, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graph_service.model.graph import Int64
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
    paths_of,
)
from graph_service.query.enumeration import (
    EnumerationBudget,
    NamedTest,
    NamedThing,
    QuestionParts,
    ScoredQuery,
    Span,
    enumerate_queries,
    overlap,
)
from graph_service.query.walking import Walker
from graph_service.retrieve.classes.extremes import asks_for_value
from graph_service.retrieve.classes.graph_reading import GraphReading
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
from graph_service.retrieve.classes.request import ClassRequest
from graph_service.retrieve.classes.row_queries import Bridge, RowQueries, bridge_of
from graph_service.retrieve.classes.row_values import RowValueQuery, RowValueReader
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.classes.tallies import StatedTally, read_extreme, read_tally
from graph_service.retrieve.classes.tally_queries import TallyReader
from graph_service.retrieve.classes.vocabulary import HOW_OFTEN
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import lowered, words
from graph_service.text.question_form import read_form

_WORK = root("work")
_BUDGET = EnumerationBudget(beam=16, constrained=24, options=3, queries=200, steps=1)
_VALUE_BUDGET = replace(_BUDGET, steps=2)
_UNCOUNTED = (ValueKind.NUMBER, ValueKind.DATE)


@dataclass(frozen=True, slots=True, eq=False)
class RankedReading:
    """A query, its score less what it leaves unread, the words that it does, whether no words name
    its class, and whether the values that order its answers are asked for.
    """

    scored: ScoredQuery
    reading: ClassReading
    score: float
    unread: tuple[str, ...]
    is_implied: bool
    is_value: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Context:
    """What a question says of the things of one meaning.

    Attributes:
        meaning: The class, or what stands for one.
        nodes: The things.
        reading: The parts of queries that the question says.
        kinds: Of the values of each relation of the things.
        thing_spans: Characters of the entities that are joined to them.
    """

    meaning: ClassMeaning
    nodes: Int64
    reading: ClassReading
    kinds: Mapping[str, ValueKind]
    thing_spans: frozenset[Span]


class QueryRanker:
    """Ranks the queries that a question about a class may mean.

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
        self._meanings = MeaningReader(
            request.question,
            walker,
            labels,
            request.cosines,
            request.encode,
            has_all_classes=request.has_all_classes,
        )

    @cached_property
    def _reading(self) -> GraphReading:
        return GraphReading(
            self._request.question,
            self._walker,
            self._labels,
            self._relation_labels,
            self._request.cosines,
            self._joined,
            self._meanings.are_rows,
        )

    @cached_property
    def _rows(self) -> RowQueries:
        return RowQueries(self._reading)

    def ranked(self) -> list[RankedReading]:
        """Returns the queries of all classes that the question names, best first."""
        ranked: list[RankedReading] = []
        relations = 0
        for meaning in self._meanings.meanings():
            if meaning.are_people and relations >= CLASS_RULES.implied_relations:
                break
            nodes = self._meanings.instances(meaning)
            if meaning.are_people and self._meanings.are_rows(nodes):
                continue
            profiles = profile_relations(self._walker, nodes, self._relation_labels)
            relations += len(profiles)
            ranked += self._queries(meaning, nodes, profiles)
        tallies = self._tallies()
        if tallies or self._is_of_each:
            ranked = tallies
        ranked += self._of_tally(read_extreme(self._request.question))
        ranked = self._with_row_values(ranked)
        ranked.sort(key=lambda each: (-each.score, each.scored.query.key))
        return ranked

    def _with_row_values(self, ranked: list[RankedReading]) -> list[RankedReading]:
        """Returns the queries with those for values in rows; where such a query takes up all words,
        without those for the rows themselves.
        """
        queries = list(RowValueReader(self._reading, self._meanings.names).queries())
        complete = [each for each in queries if not each.unread]
        others = [
            each
            for each in ranked
            if not any(_is_for_rows(each.scored.query, of) for of in complete)
        ]
        return others + [
            RankedReading(
                each.scored,
                each.reading,
                round(each.scored.score - CLASS_RULES.unread * len(each.unread), 4),
                each.unread,
                is_implied=True,
            )
            for each in queries
        ]

    @cached_property
    def _is_of_each(self) -> bool:
        """Whether the question asks for a number of each of some things, which no other query has."""
        stated = self._stated_tally
        return stated is not None and stated.group_from is not None and not stated.is_by

    @cached_property
    def _stated_tally(self) -> StatedTally | None:
        return read_tally(self._request.question)

    def _tallies(self) -> list[RankedReading]:
        """Returns the queries for a count, an average or a total of each of some things."""
        return self._of_tally(self._stated_tally)

    def _of_tally(self, stated: StatedTally | None) -> list[RankedReading]:
        if stated is None:
            return []
        reader = TallyReader(self._reading, stated)
        names = self._meanings.names
        queries = [
            (each, meaning.is_implied)
            for meaning in self._meanings.of_tally()
            for each in reader.queries(meaning, names.classes)
        ]
        classes = self._meanings.largest_classes()
        queries += [(each, False) for each in reader.of_values(names, classes)]
        return [
            RankedReading(
                each.scored,
                each.reading,
                round(each.scored.score - CLASS_RULES.unread * len(each.unread), 4),
                each.unread,
                is_implied,
            )
            for each, is_implied in queries
        ]

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
        reading = read_class_question(
            question,
            meaning.things,
            things,
            profiles,
            self._request.cosines,
            is_claim=meaning.is_claim,
            names=self._well_known(meaning, things),
        )
        enumeration = enumerate_queries(
            self._parts(reading, meaning),
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            budget=_BUDGET if meaning.relation is None else _VALUE_BUDGET,
            deadline=self._request.deadline,
        )
        kinds = {profile.id: profile.kind for profile in profiles}
        context = _Context(meaning, nodes, reading, kinds, frozenset(each.span for each in things))
        ranked = (self._rank(scored, context) for scored in enumeration.queries)
        return [each for each in ranked if each is not None]

    def _parts(self, reading: ClassReading, meaning: ClassMeaning) -> QuestionParts:
        """Returns the parts of queries; of people, as of entities, no text that they are not joined
        to.
        """
        if not meaning.are_people:
            return reading.parts
        question = self._request.question
        tests = [
            test
            for test in reading.parts.tests
            if not _says_text(test, question) or joins_people(question, test.span)
        ]
        return replace(reading.parts, tests=tests)

    def _rank(self, scored: ScoredQuery, context: _Context) -> RankedReading | None:
        """Returns a query with its score; None where it is surely not what is asked."""
        meaning, reading, query = context.meaning, context.reading, scored.query
        if meaning.span not in scored.spans or not self._is_able(query, context):
            return None
        if query.order is not None and read_form(self._request.question).asks_for_time:
            dated = _dated(query, meaning)
            if dated is None:
                return None
            scored = replace(scored, query=dated)
        unread = reading.unread(scored.spans, sorted(paths_of(scored.query)))
        if not self._says_where(scored, context):
            unread = tuple(word for word in unread if root(word) != _WORK)
        pair = bridge_of(query)
        if pair is not None:
            by_rows = self._rows.by_rows(query, pair, unread, context.nodes) if unread else None
            if by_rows is not None:
                scored, unread = replace(scored, query=by_rows), ()
            elif meaning.bridge is not None:
                # "Who makes it?": no word says what the rows are.
                return None
        score = round(scored.score - CLASS_RULES.unread * len(unread), 4)
        is_value = self._asks_value(scored.query, meaning)
        if not is_value and self._lists_rows_for_values(scored.query, context):
            reading = replace(reading, refusal="rows for the values that they are called as")
        return RankedReading(scored, reading, score, unread, meaning.is_implied, is_value)

    def _says_where(self, scored: ScoredQuery, context: _Context) -> bool:
        """Returns whether *work* says something of people: a query names what they work in or at, and
        not that they *work part time*.
        """
        question, spans = self._request.question, scored.spans
        return (
            not context.meaning.are_people
            or not context.thing_spans.isdisjoint(spans)
            or any(joins_people(question, span) for span in spans)
        )

    def _lists_rows_for_values(self, query: Query, context: _Context) -> bool:
        """Returns whether a query lists rows with codes for names by a word that is one of their
        columns too: of marks the numbers are meant.
        """
        if query.fold is not Fold.LIST or query.path or not isinstance(query.start, Instances):
            return False
        noun = root(self._request.question[slice(*context.meaning.span)].casefold())
        columns = {root(self._relation_labels[id_]) for id_ in context.kinds}
        return noun in columns and self._meanings.are_rows(context.nodes)

    def _asks_value(self, query: Query, meaning: ClassMeaning) -> bool:
        """Returns whether the value that orders a query's answers is asked for."""
        order = query.order
        if order is None or len(order.path) != 1 or query.fold is not Fold.LIST:
            return False
        label = self._relation_labels.get(order.path[0].id, "")
        return asks_for_value(self._request.question, query, label, meaning.span)

    def _is_able(self, query: Query, context: _Context) -> bool:
        """Returns whether a query may be meant: it leads to what is asked for, and does with it what
        can be done.
        """
        meaning, question = context.meaning, self._request.question
        steps = meaning.steps_of(query)
        is_value = self._asks_value(query, meaning)
        if steps is None or not _is_meant(query, meaning, steps, is_value=is_value):
            return False
        if steps and self._asks_for_things(meaning) and _begins_at(query, meaning):
            return False
        if not steps and is_one_of_them(question, meaning.span):
            return False
        if meaning.are_people and not (query.filters or query.order):
            return False
        if HOW_OFTEN.search(lowered(question)) and not self._meanings.are_rows(context.nodes):
            # Rows of events, which have codes for names, are times.
            return False
        if meaning.is_claim and (steps or query.order or all(map(is_walked, query.filters))):
            return False
        kind = context.kinds.get(steps[-1].relation.id) if steps else None
        return kind is not ValueKind.FLAG and not (query.fold is Fold.COUNT and kind in _UNCOUNTED)

    def _asks_for_things(self, meaning: ClassMeaning) -> bool:
        """Returns whether the things of a meaning are asked for, and nothing of theirs."""
        question = self._request.question
        if meaning.relation is not None:
            return asks_for_called(question, meaning.span)
        return meaning.are_people or asks_for_instances(question, meaning.span)

    def _well_known(self, meaning: ClassMeaning, things: Sequence[NamedThing]) -> list[Span]:
        """Returns the words that surely name entities beside those that are joined to instances: the
        best known of their name is well known, and written with a capital.
        """
        own = {each.span for each in things} | {meaning.span}
        best: dict[Span, int] = {}
        for span, node, _ in meaning.entities:
            degree = int(self._graph.degrees_of(np.array([node]))[0])
            if span not in own and degree >= CLASS_RULES.well_known:
                known = best.get(span)
                if known is None or degree > self._graph.degrees_of(np.array([known]))[0]:
                    best[span] = node
        labels = self._labels.nodes(np.array(list(best.values()), dtype=np.int64))
        return [span for span, label in zip(best, labels, strict=True) if label[:1].isupper()]

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
            joining = self._walker.relations_to(nodes, node)
            bridges: tuple[Bridge, ...] = ()
            if joining:
                bridges = self._rows.nested(nodes, node, joining)
            elif not meaning.are_measured:
                bridges = self._rows.bridges(nodes, node)
            if joining or bridges:
                id_ = self._graph.node_ids[node]
                is_value = meaning.are_people
                things.append(NamedThing(id_, span, score, is_value=is_value, bridges=bridges))
        return things


def is_walked(filter: Filter, /) -> bool:
    """Returns whether walks tell what passes a filter: that leads to an entity, or is of a class."""
    return (
        isinstance(filter, Condition)
        and isinstance(filter.test, Among | InstanceOf)
        and len(filter.path) < 2
    )


def _is_meant(
    query: Query, meaning: ClassMeaning, steps: Sequence[Step], *, is_value: bool
) -> bool:
    """Returns whether a query has what a meaning that no words name is known by: numbers that are
    added up or of which the highest is asked for, which no step leads away from, or the rows that
    lead to an entity.
    """
    is_measure = query.fold in MEASURES or is_value
    if (is_measure and steps) or (meaning.are_measured and not is_measure):
        return False
    return meaning.bridge is None or (not steps and bridge_of(query) == meaning.bridge)


def _is_for_rows(query: Query, values: RowValueQuery) -> bool:
    """Returns whether a query lists or counts the rows whose values another is for."""
    if query.order is not None or query.fold not in (Fold.LIST, Fold.COUNT):
        return False
    if isinstance(query.start, Instances):
        return not query.path and values.class_id in query.start.class_ids
    of_rows = {each.id for each in values.reading.words.profiles}
    return bool(query.path) and query.relations[-1].backward and query.relations[-1].id in of_rows


def _begins_at(query: Query, meaning: ClassMeaning) -> bool:
    return meaning.relation is not None or not isinstance(query.start, Entities)


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
