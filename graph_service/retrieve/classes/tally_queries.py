"""The queries for a count, an average or a total of each of some things.

The things are the instances of a class, and what is counted leads to them: the parts whose supplier
they are. What stands after it in the question is a filter of what is counted, what stands elsewhere
one of the things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int64
from graph_service.model.values import Time, Value
from graph_service.query.algebra import (
    MAX_FILTER_STEPS,
    Comparable,
    Condition,
    Filter,
    Fold,
    InstanceOf,
    Order,
    Present,
    Query,
    Relation,
    Targets,
)
from graph_service.query.enumeration import (
    NamedThing,
    ScoredQuery,
    Span,
    overlap,
)
from graph_service.query.walking import Walks
from graph_service.retrieve.classes.extremes import count_of_class
from graph_service.retrieve.classes.filtered import filtered_instances
from graph_service.retrieve.classes.graph_reading import GraphReading
from graph_service.retrieve.classes.meanings import ClassMeaning, Names
from graph_service.retrieve.classes.profile import (
    RelationProfile,
    ValueKind,
    profile_relations,
)
from graph_service.retrieve.classes.reading import ClassReading, content_of, read_class_question
from graph_service.retrieve.classes.row_words import RowNames, name_rows, says_rows
from graph_service.retrieve.classes.tallies import StatedTally
from graph_service.retrieve.classes.vocabulary import LIGHT
from graph_service.retrieve.classes.wording import Word, word_fit
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.kinds import PERSON_AND_OTHERS, are_like_people
from graph_service.text.fold import lowered, word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import BE, read_form

_NUMBER_OF = re.compile(r"(?:the\s+)?number\s+of\s+(?:the\s+)?")
_YEAR = 9
"""The precision of a date that is a year."""
_MOST_INSTANCES = 20_000
_BOTH = 12
"""Filters of the things, and of what is counted, that are put together."""
_OWN, _ROWS, _THROUGH, _NAMED_SO = 1.0, 0.8, 0.2, 0.3


@dataclass(frozen=True, slots=True, eq=False)
class TallyQuery:
    """A query for a tally, how it was read, and the content words that nothing accounts for."""

    scored: ScoredQuery
    reading: ClassReading
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """What is counted of each thing: instances of a class that a path leads to.

    Attributes:
        path: From a thing to what is counted, or to the numbers that are measured.
        class_id: Of what the first relation leads to; None where a relation alone says what it is.
        span: The words that name it; None for none.
        nodes: What the first relation leads to.
        names: The class and the relations that words of the question may speak of.
        score: How well it fits.
        fold: What is made of it: numbers that *the most bottles* counts are added up.
    """

    path: tuple[Relation, ...]
    class_id: str | None
    span: Span | None
    nodes: Int64
    names: RowNames
    score: float
    fold: Fold | None


class TallyReader:
    """Finds the queries for a tally.

    Args:
        reading: Of the question.
        stated: What it says of one.
    """

    def __init__(self, reading: GraphReading, stated: StatedTally, /) -> None:
        self._question = reading.question
        self._stated = stated
        self._walker = reading.walker
        self._labels = reading.labels
        self._relation_labels = reading.relation_labels
        self._cosines = reading.cosines
        self._joined = reading.joined
        self._are_rows_of_events = reading.are_rows
        self._words = [
            word
            for word in content_of(self._question)
            if not any(overlap((word.start, word.end), span) for span in stated.spans)
        ]

    def queries(
        self, meaning: ClassMeaning, named: Mapping[Span, Sequence[str]], /
    ) -> Iterator[TallyQuery]:
        """Yields the queries for the instances of a class as the things.

        Args:
            meaning: The class of the things.
            named: All classes that the question names, by their words.
        """
        if not self._may_be_things(meaning):
            return
        ids = [each.id for each in meaning.things]
        nodes = np.unique(self._walker.instances(ids).targets)
        if len(nodes) > _MOST_INSTANCES:
            return
        own = self._readings(meaning, nodes, ())
        for counted in self._counted(meaning, nodes, named):
            yield from self._of_counted(meaning, nodes, own, counted)

    def of_values(self, names: Names, classes: Sequence[str], /) -> Iterator[TallyQuery]:
        """Yields the queries for the values of a column as the things, where no class has its name:
        *students per form*, *total goals per season*.

        Args:
            names: What the question names.
            classes: Those that averages and totals may be of where it names none.
        """
        start = self._stated.group_from
        if start is None:
            return
        named: list[tuple[Span | None, str]] = [
            (at, id_) for at, ids in names.classes.items() if at[1] <= start for id_ in ids
        ]
        if not named and self._stated.fold is not Fold.COUNT:
            named = [(None, id_) for id_ in classes]
        for span, class_id in named:
            nodes = np.unique(self._walker.instances((class_id,)).targets)
            if len(nodes) > _MOST_INSTANCES:
                continue
            for column in profile_relations(self._walker, nodes, dict(self._relation_labels)):
                group = self._group_of(column)
                if group is not None and not any(overlap(group, at) for at in names.classes):
                    thing = NamedThing(column.id, group, targets_of=Relation(column.id))
                    meaning = ClassMeaning((thing,), names.entities)
                    for counted in self._of_group(column, class_id, span, nodes):
                        yield from self._of_counted(meaning, nodes, self._own(meaning), counted)

    def _group_of(self, column: RelationProfile) -> Span | None:
        """Returns the words right after *per* that are the name of a column."""
        are_dates = column.kind is ValueKind.DATE and not all(map(_is_year, column.values))
        own = words(column.label)
        if are_dates or not own:
            return None
        start = self._stated.group_from or 0
        prefix = _NUMBER_OF.match(lowered(self._question), start)
        start = prefix.end() if prefix else start
        after = [each for each in word_spans(self._question) if each[1] >= start][: len(own)]
        if [root(word) for word, _, _ in after] != [root(word) for word in own]:
            return None
        return after[0][1], after[-1][2]

    def _of_group(
        self, column: RelationProfile, class_id: str, span: Span | None, nodes: Int64
    ) -> Iterator[_Counted]:
        """Yields what is counted or measured of the instances of a class that have a value."""
        back = Relation(column.id, backward=True)
        names = next(
            each
            for each in name_rows(self._walker, self._labels, nodes)
            if each.class_id == class_id
        )
        if self._stated.fold is Fold.COUNT:
            yield _Counted((back,), class_id, span, nodes, names, _OWN, Fold.COUNT)
            return
        for profile in self._numbers(nodes):
            if profile.id != column.id:
                path = (back, Relation(profile.id))
                score = (_OWN if span else _ROWS) + self._fit(profile)
                fold = self._stated.fold
                yield _Counted(path, class_id, span, nodes, names, score, fold)

    def _own(self, meaning: ClassMeaning) -> list[tuple[ScoredQuery, ClassReading]]:
        """Returns the query for all ends of a relation."""
        (thing,) = meaning.things
        assert thing.targets_of is not None
        reading = read_class_question(self._question, meaning.things, (), (), self._cosines)
        query = Query(Targets((thing.targets_of,)))
        return [(ScoredQuery(query, 0.0, (thing.span,)), reading)]

    def _may_be_things(self, meaning: ClassMeaning) -> bool:
        """Returns whether the words of a class stand where those of the things do."""
        stated, (start, _) = self._stated, meaning.span
        if stated.group_from is not None:
            between = self._question[stated.group_from : start].strip().casefold()
            return start >= stated.group_from and between in {"", "the", "of the"}
        form = read_form(self._question)
        if form.word == "who" and form.following not in BE and not meaning.are_people:
            # Who managed the team with the most points is no team.
            return False
        return start < stated.counted_from

    # What is counted

    def _counted(
        self, meaning: ClassMeaning, nodes: Int64, named: Mapping[Span, Sequence[str]]
    ) -> Iterator[_Counted]:
        relations = self._walker.relations_at(nodes)
        own = {each.id for each in relations if not each.backward}
        if self._stated.fold is None and not (meaning.are_people and not self._are_people(nodes)):
            yield from self._own_numbers(nodes)
        for relation in relations:
            if relation.id in INSTANCE_RELATIONS:
                continue
            if not relation.backward:
                yield from self._values_of(relation, nodes)
                continue
            heads = np.unique(self._walker.follow(Walks.at(nodes), relation).targets)
            for names in name_rows(self._walker, self._labels, heads):
                for counted in self._of_class(meaning, relation, heads, names, named):
                    # The largest population is that of the towns, and not of their twin towns.
                    is_own = counted.path[-1].id in own and counted.fold is not Fold.COUNT
                    if not is_own or counted.span is not None:
                        yield counted

    def _own_numbers(self, nodes: Int64) -> Iterator[_Counted]:
        """Yields the numbers of the things themselves, of which the greatest is meant."""
        for profile in self._numbers(nodes):
            names = RowNames("", profile.label, (profile.label,))
            score = _OWN + _NAMED_SO + self._fit(profile)
            yield _Counted((Relation(profile.id),), None, None, nodes, names, score, None)

    def _are_people(self, nodes: Int64) -> bool:
        """Returns whether a class of some things is called like people."""
        classes = np.unique(self._walker.classes_of(nodes).targets)
        if not len(classes):
            return False
        return are_like_people(self._cosines(self._labels.nodes(classes), PERSON_AND_OTHERS))

    def _values_of(self, relation: Relation, nodes: Int64) -> Iterator[_Counted]:
        """Yields the entities of a relation that the question counts by its name: *the most tags*."""
        if self._stated.fold is not Fold.COUNT or self._stated.is_often:
            return
        label = self._relation_labels[relation.id]
        word = self._noun()
        if word is None or word_fit(word.text, label) < 1.0:
            return
        targets = np.unique(self._walker.follow(Walks.at(nodes), relation).targets)
        if not len(targets) or targets[-1] >= self._walker.graph.entity_count:
            return
        names = RowNames("", label, (label,))
        span = (word.start, word.end)
        yield _Counted((relation,), None, span, targets, names, _OWN, Fold.COUNT)

    def _noun(self) -> Word | None:
        """Returns the first content word of what is counted."""
        after = [word for word in self._words if word.start >= self._stated.counted_from]
        return after[0] if after else None

    def _of_class(
        self,
        meaning: ClassMeaning,
        relation: Relation,
        heads: Int64,
        names: RowNames,
        named: Mapping[Span, Sequence[str]],
    ) -> Iterator[_Counted]:
        spans = [
            span
            for span, ids in named.items()
            if names.class_id in ids and not overlap(span, meaning.span)
        ]
        nodes = np.intersect1d(self._walker.instances((names.class_id,)).targets, heads)
        span = min(spans) if spans else None
        if self._stated.fold is not Fold.COUNT:
            is_extreme_of_who = meaning.are_people and self._stated.fold is None
            if is_extreme_of_who and not self._are_rows_of_events(nodes):
                # The best paid is one of the reporters, and not the desk of one.
                return
            for profile in self._numbers(nodes):
                path = (relation, Relation(profile.id))
                score = (_OWN if span else _ROWS) + self._fit(profile)
                fold = self._stated.fold
                yield _Counted(path, names.class_id, span, nodes, names, score, fold)
            return
        noun = None if self._stated.is_often else self._noun()
        amounts = [] if noun is None or span is not None else self._named_by(noun, nodes)
        for profile in [] if self._stated.is_plain else amounts:
            path = (relation, Relation(profile.id))
            yield _Counted(path, names.class_id, None, nodes, names, _OWN, Fold.SUM)
        if amounts:
            return
        columns = [] if noun is None or span is not None else self._columns(noun, nodes)
        for column in columns:
            # Seasons of rows are fewer than the rows.
            path = (relation, Relation(column.id))
            yield _Counted(path, names.class_id, None, nodes, names, _ROWS, Fold.COUNT)
        if columns:
            return
        if span is not None:
            yield _Counted((relation,), names.class_id, span, nodes, names, _OWN, Fold.COUNT)
        elif self._are_named(names) and (
            not self._stated.is_often or self._are_rows_of_events(nodes)
        ):
            yield _Counted((relation,), names.class_id, None, nodes, names, _ROWS, Fold.COUNT)
        if self._stated.is_often:
            return
        for other in self._walker.relations_at(nodes):
            if other.backward or other.id in INSTANCE_RELATIONS or other.id == relation.id:
                continue
            targets = np.unique(self._walker.follow(Walks.at(nodes), other).targets)
            classes = {
                self._walker.graph.node_ids[each]
                for each in np.unique(self._walker.classes_of(targets).targets).tolist()
            }
            for at in sorted(named):
                # The singers of each voice are counted, and not the buddies of those.
                is_own = at == span or overlap(at, meaning.span)
                if not is_own and not classes.isdisjoint(named[at]):
                    path = (relation, Relation(other.id))
                    score = _OWN - _THROUGH
                    yield _Counted(path, names.class_id, at, nodes, names, score, Fold.COUNT)

    def _are_named(self, names: RowNames) -> bool:
        """Returns whether a verb, or a noun that is like the name of the class, says the rows."""
        if self._stated.is_often:
            before = [word for word in self._words if word.end <= self._stated.spans[0][0]]
            return bool(before) and says_rows(
                [before[-1].text], names, self._question, self._cosines
            )
        noun = self._noun()
        return noun is not None and says_rows([noun.text], names, self._question, self._cosines)

    def _numbers(self, nodes: Int64) -> list[RelationProfile]:
        """Returns the relations of numbers, all of one unit, that the question measures."""
        profiles = profile_relations(self._walker, nodes, dict(self._relation_labels))
        return [
            each
            for each in profiles
            if each.kind is ValueKind.NUMBER
            and not (each.are_years and self._stated.fold is Fold.SUM)
            and self._fit(each) > 0
            and len({getattr(value, "unit", None) for value in each.values}) == 1
        ]

    def _named_by(self, noun: Word, nodes: Int64) -> list[RelationProfile]:
        """Returns the relations of numbers that a noun counts, as *the most bottles*."""
        profiles = profile_relations(self._walker, nodes, dict(self._relation_labels))
        return [
            each
            for each in profiles
            if each.kind is ValueKind.NUMBER
            and not each.are_years
            and self._says_label(noun, each.label)
            and len({getattr(value, "unit", None) for value in each.values}) == 1
        ]

    def _columns(self, noun: Word, nodes: Int64) -> list[RelationProfile]:
        """Returns the relations to literals that are no amounts whose name a noun is."""
        profiles = profile_relations(self._walker, nodes, dict(self._relation_labels))
        return [
            each
            for each in profiles
            if (each.are_years or each.kind in (ValueKind.TEXT, ValueKind.DATE))
            and self._says_label(noun, each.label)
        ]

    def _says_label(self, noun: Word, label: str) -> bool:
        """Returns whether a noun and the words after it are the name of a relation."""
        own = [each for each in words(label) if each not in EMPTY_IN_ENGLISH]
        after = [word.text for word in self._words if word.start >= noun.start][: len(own)]
        return bool(own) and all(any(word_fit(word, each) >= 1.0 for word in after) for each in own)

    def _fit(self, profile: RelationProfile) -> float:
        """Returns how well the words right after an average or a total name numbers."""
        after = [word.text for word in self._words if word.start >= self._stated.counted_from][:2]
        own = [each for each in words(profile.label) if each not in EMPTY_IN_ENGLISH]
        matching = sum(any(word_fit(word, each) for word in after) for each in own)
        best = max((word_fit(word, profile.label) for word in after), default=0.0)
        return best * matching / len(own) if own else 0.0

    # Queries

    def _of_counted(
        self,
        meaning: ClassMeaning,
        nodes: Int64,
        own: Sequence[tuple[ScoredQuery, ClassReading]],
        counted: _Counted,
    ) -> Iterator[TallyQuery]:
        stated = self._stated
        taken = [meaning.span, *stated.spans, *([counted.span] if counted.span else [])]
        of_class = count_of_class(lowered(self._question), meaning.span)
        if of_class is not None and not any(overlap(of_class[0], span) for span in taken):
            taken.append(of_class[0])
        of_counted: Sequence[tuple[ScoredQuery, ClassReading]] = ()
        if counted.class_id is not None:
            at = counted.span or (stated.counted_from, stated.counted_from)
            thing = NamedThing(counted.class_id, at, is_class=True)
            inner_meaning = replace(meaning, things=(thing,), are_people=False, relation=None)
            of_counted = self._readings(inner_meaning, counted.nodes, [meaning.span])
        both: Sequence[tuple[ScoredQuery | None, ClassReading | None]] = of_counted or [
            (None, None)
        ]
        for outer, reading in own:
            for inner, inner_reading in both:
                filters = () if inner is None else inner.query.filters
                inner_spans = [] if inner is None else _filter_spans(inner, counted.span)
                outer_spans = _filter_spans(outer, meaning.span)
                spans = [*taken, *inner_spans, *outer_spans]
                if not _are_apart(spans):
                    continue
                query = self._query(outer.query, counted, filters, nodes, of_class)
                score = outer.score + counted.score + 0.5 + self._own_fit(meaning, counted)
                score += 0.0 if inner is None else inner.score
                # What follows what is counted is said of it.
                score += 0.1 * len(inner_spans)
                unread = self._unread(counted, spans, [reading, inner_reading], query, filters)
                yield TallyQuery(
                    ScoredQuery(query, score, tuple(spans)),
                    _of_both(reading, inner_reading),
                    unread,
                )

    def _own_fit(self, meaning: ClassMeaning, counted: _Counted) -> float:
        """Returns how well the relation to the things is named as they are: ``customer`` of orders,
        and not the one whose ship name it is.
        """
        label = self._relation_labels[counted.path[0].id]
        word = self._question[slice(*meaning.span)]
        return _NAMED_SO * all(word_fit(each, label) >= 1.0 for each in words(word) or [""])

    def _query(
        self,
        outer: Query,
        counted: _Counted,
        filters: Sequence[Filter],
        nodes: Int64,
        of_class: tuple[Span, int] | None,
    ) -> Query:
        stated = self._stated
        first = of_class[1] if of_class is not None and stated.rank == 1 else stated.first
        if counted.class_id is not None:
            filters = (Condition((), InstanceOf((counted.class_id,))), *filters)
        order = Order(
            counted.path,
            Comparable.NUMBERS,
            stated.descending,
            stated.rank if first is None else None,
            None,
            counted.fold,
            tuple(filters),
            first,
        )
        of_things: list[Filter] = [*outer.filters]
        if isinstance(outer.start, Targets) and counted.class_id is not None:
            # Values that others have in a column of that name are no groups.
            of_things.append(Condition(counted.path[:1], InstanceOf((counted.class_id,))))
        elif counted.fold is Fold.COUNT and not self._are_rows(nodes):
            # The values of several columns may be of one class: those of this one are meant.
            of_things.append(Condition(counted.path[:MAX_FILTER_STEPS], Present()))
        return Query(outer.start, (), tuple(of_things), order)

    def _are_rows(self, nodes: Int64) -> bool:
        """Returns whether a table is about some things: it says something of them."""
        return any(
            not each.backward and each.id not in INSTANCE_RELATIONS
            for each in self._walker.relations_at(nodes)
        )

    def _readings(
        self, meaning: ClassMeaning, nodes: Int64, taken: Sequence[Span]
    ) -> list[tuple[ScoredQuery, ClassReading]]:
        """Returns the queries for the instances of a class with filters, best first."""
        profiles = profile_relations(self._walker, nodes, dict(self._relation_labels))
        joined = [
            each
            for each in self._joined(meaning, nodes)
            if not any(overlap(each.span, span) for span in [*taken, *self._stated.spans])
        ]
        reading = read_class_question(
            self._question, meaning.things, joined, profiles, self._cosines
        )
        tests = [
            each
            for each in reading.parts.tests
            if not any(overlap(each.span, span) for span in [*taken, *self._stated.spans])
        ]
        queries = filtered_instances(replace(reading.parts, tests=tests), self._walker)
        return [(each, reading) for each in queries[:_BOTH]]

    def _unread(
        self,
        counted: _Counted,
        spans: Sequence[Span],
        readings: Sequence[ClassReading | None],
        query: Query,
        filters: Sequence[Filter],
    ) -> tuple[str, ...]:
        """Returns the content words that nothing of a query accounts for."""
        companions: set[Span] = set()
        for reading in readings:
            for span, rows in () if reading is None else reading.companions.items():
                if span in spans and reading is not None:
                    content = reading.words.content
                    companions |= {(content[row].start, content[row].end) for row in rows}
        order = query.order
        assert order is not None
        of_order = {relation.id for relation in order.path}
        of_order |= {
            relation.id
            for each in (*filters, *query.filters)
            if isinstance(each, Condition)
            for relation in each.path
        }
        labels = [self._relation_labels[each] for each in sorted(of_order)]
        left = []
        for word in self._words:
            at = (word.start, word.end)
            if any(overlap(at, span) for span in spans) or at in companions:
                continue
            if root(word.text) in LIGHT or any(word_fit(word.text, each) for each in labels):
                continue
            if any(_speaks_of(reading, word, of_order) for reading in readings):
                continue
            if says_rows([word.text], counted.names, self._question, self._cosines):
                continue
            left.append(word.text)
        return tuple(left)


def _is_year(value: Value) -> bool:
    """Returns whether a value is a date that says a year and no more."""
    return isinstance(value, Time) and value.precision == _YEAR


def _speaks_of(reading: ClassReading | None, word: Word, relation_ids: set[str]) -> bool:
    if reading is None:
        return False
    rows = [row for row, each in enumerate(reading.words.content) if each.start == word.start]
    return any(reading.words.speaks_of(row, sorted(relation_ids)) for row in rows)


def _filter_spans(scored: ScoredQuery, class_span: Span | None) -> list[Span]:
    return [span for span in scored.spans if span != class_span and span[0] < span[1]]


def _are_apart(spans: Sequence[Span]) -> bool:
    return not any(
        overlap(span, other) for index, span in enumerate(spans) for other in spans[:index]
    )


def _of_both(reading: ClassReading, inner: ClassReading | None) -> ClassReading:
    """Returns a reading with the things of both, and what speaks against neither."""
    if inner is None:
        return replace(reading, refusal="")
    things = [*reading.parts.things, *inner.parts.things]
    return replace(reading, parts=replace(reading.parts, things=things), refusal="")
