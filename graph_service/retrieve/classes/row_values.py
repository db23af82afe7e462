"""Values in rows of two keys: *what mark did Ana get in Physics*, *Leeds' points in 1992*.

A row of marks has a student, a subject and a mark. The question names values of some columns, which
say which rows are meant, and asks for what stands in another.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int64
from graph_service.query.algebra import (
    Among,
    Condition,
    Entities,
    Filter,
    Fold,
    InstanceOf,
    Instances,
    Query,
    Relation,
    Step,
    paths_of,
)
from graph_service.query.enumeration import (
    NamedThing,
    ScoredQuery,
    Span,
)
from graph_service.query.walking import Walks
from graph_service.retrieve.classes.filtered import filtered_instances
from graph_service.retrieve.classes.graph_reading import GraphReading
from graph_service.retrieve.classes.meanings import ClassMeaning, Names
from graph_service.retrieve.classes.profile import RelationProfile, ValueKind, profile_relations
from graph_service.retrieve.classes.reading import ClassReading, content_of, read_class_question
from graph_service.retrieve.classes.row_words import name_rows, says_rows
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.classes.vocabulary import LIGHT, QUANTITIES
from graph_service.retrieve.classes.wording import OWN_WORD, Word, word_fit
from graph_service.retrieve.constraints.coverage import root
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import read_form

_MOST_ROWS = 20_000
_MOST_CLASSES = 4
_LEAST_KEYS = 2
_BY_NAME, _BY_QUANTITY = 1.0, 0.8


@dataclass(frozen=True, slots=True, eq=False)
class RowValueQuery:
    """A query for what stands in a column of rows.

    Attributes:
        scored: The query.
        reading: How the question was read.
        unread: The content words that nothing accounts for.
        class_id: Of the rows.
    """

    scored: ScoredQuery
    reading: ClassReading
    unread: tuple[str, ...]
    class_id: str


class RowValueReader:
    """Finds the queries for values in rows.

    Args:
        reading: Of the question.
        names: What it names.
    """

    def __init__(self, reading: GraphReading, names: Names, /) -> None:
        self._question = reading.question
        self._names = names
        self._walker = reading.walker
        self._labels = reading.labels
        self._relation_labels = reading.relation_labels
        self._cosines = reading.cosines
        self._joined = reading.joined
        self._are_rows = reading.are_rows

    def queries(self) -> Iterator[RowValueQuery]:
        """Yields the queries for each class of rows that have what the question names."""
        for class_id in self._classes()[:_MOST_CLASSES]:
            rows = np.unique(self._walker.instances((class_id,)).targets)
            if len(rows) <= _MOST_ROWS:
                yield from self._of_class(class_id, rows)

    def _classes(self) -> list[str]:
        """Returns the classes of the rows that refer to what the question names."""
        classes: dict[str, None] = {}
        for node in dict.fromkeys(node for _, node, _ in self._names.entities):
            at = Walks.at(np.array([node], dtype=np.int64))
            for own in self._walker.relations_at(at.targets):
                if not own.backward or own.id in INSTANCE_RELATIONS:
                    continue
                rows = np.unique(self._walker.follow(at, own).targets)[: CLASS_RULES.bridged]
                if self._are_rows(rows):
                    of_rows = np.unique(self._walker.classes_of(rows).targets)
                    classes |= dict.fromkeys(self._walker.graph.node_ids.take(of_rows))
        return list(classes)

    def _of_class(self, class_id: str, rows: Int64) -> Iterator[RowValueQuery]:
        # No words name the rows.
        thing = NamedThing(class_id, (0, 0), is_class=True)
        meaning = ClassMeaning((thing,), self._names.entities)
        profiles = profile_relations(self._walker, rows, dict(self._relation_labels))
        reading = read_class_question(
            self._question, (thing,), self._joined(meaning, rows), profiles, self._cosines
        )
        if reading.parts.degrees or reading.parts.fold not in (Fold.LIST, Fold.COUNT):
            return
        own = {root(each.of_class) for each in name_rows(self._walker, self._labels, rows)}
        for scored in filtered_instances(reading.parts, self._walker):
            for column, fit in self._columns(scored, reading, profiles, own):
                # Marks of a table of marks are no rows, however many columns say which.
                least = 1 if root(column.label) in own else _LEAST_KEYS
                query = _in_rows(scored.query, class_id, column.id, least=least)
                if query is not None:
                    valued = ScoredQuery(query, scored.score + fit, scored.spans)
                    unread = self._unread(valued, reading, rows)
                    yield RowValueQuery(valued, reading, unread, class_id)

    def _columns(
        self,
        scored: ScoredQuery,
        reading: ClassReading,
        profiles: Sequence[RelationProfile],
        own: Container[str],
    ) -> Iterator[tuple[RelationProfile, float]]:
        """Yields the columns that the question may ask for beside those that say which rows are
        meant, and how well they fit: *how many sales* counts rows whose own name is *sales*.
        """
        used = paths_of(scored.query)
        free = [word for word in content_of(self._question) if _is_free(word, scored.spans)]
        is_counted = reading.parts.fold is Fold.COUNT
        asks_who = read_form(self._question).word == "who"
        for profile in profiles:
            is_number = profile.kind is ValueKind.NUMBER
            if profile.id in used or (asks_who and profile.kind is not ValueKind.ENTITY):
                continue
            if not is_counted and _is_named(profile.label, free):
                yield profile, _BY_NAME
            elif (
                is_number and self._counts_a_name(scored.spans, own) and _is_quantity(profile.label)
            ):
                yield profile, _BY_QUANTITY

    def _counts_a_name(self, spans: Sequence[Span], own: Container[str]) -> bool:
        """Returns whether *how many* or *how much* comes right before a name that tells the rows,
        but for their own.
        """
        form = read_form(self._question)
        counting = form.count_span or form.how_much_span
        return counting is not None and any(
            start >= counting[1] and self._question[counting[1] : start].strip() in {"", "of"}
            for start, end in spans
            if start < end and root(self._question[start:end].lower()) not in own
        )

    def _unread(self, scored: ScoredQuery, reading: ClassReading, rows: Int64) -> tuple[str, ...]:
        counted = read_form(self._question).how_much_span
        spans = [*scored.spans, *([counted] if counted else [])]
        left = reading.unread(spans, sorted(paths_of(scored.query)))
        left = tuple(word for word in left if root(word) not in LIGHT)
        names = name_rows(self._walker, self._labels, rows) if left else []
        if any(says_rows(left, each, self._question, self._cosines) for each in names):
            return ()
        return left


def _in_rows(query: Query, class_id: str, column_id: str, *, least: int) -> Query | None:
    """Returns the query for what stands in a column of the rows that a query is for; None where
    fewer than the least number of columns say which, or none of them by an entity.
    """
    if not isinstance(query.start, Instances) or query.path or query.order is not None:
        return None
    if len(query.filters) < least:
        return None
    key = next((each for each in query.filters if _is_key(each)), None)
    if not isinstance(key, Condition) or not isinstance(key.test, Among):
        return None
    others = [each for each in query.filters if each is not key]
    of_class = Condition((), InstanceOf((class_id,)))
    to_rows = Step(key.path[0].reversed, (of_class, *others))
    return Query(Entities(key.test.ids), (to_rows, Step(Relation(column_id))))


def _is_key(filter: Filter) -> bool:
    return (
        isinstance(filter, Condition)
        and isinstance(filter.test, Among)
        and len(filter.path) == 1
        and not filter.path[0].backward
    )


def _is_free(word: Word, spans: Sequence[Span]) -> bool:
    return not any(start < word.end and word.start < end for start, end in spans)


def _is_named(label: str, free: Sequence[Word]) -> bool:
    """Returns whether words of a question are the whole label of a column."""
    own = [each for each in words(label) if each not in EMPTY_IN_ENGLISH]
    return bool(own) and all(
        any(word_fit(word.text, each) >= OWN_WORD for word in free) for each in own
    )


def _is_quantity(label: str) -> bool:
    return not QUANTITIES.isdisjoint(map(root, words(label)))
