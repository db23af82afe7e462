"""Questions of what changed between two editions of a graph: newer than any model (B17).

An entity and a relation whose values differ give one question. Its answers are the values of the
later edition. Those that the earlier edition lacked are its hard answers, and those that the later
one lacks its stale answers, which a model that learned the earlier edition gives. Where no value is
left, the right answer is that the graph does not say it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from graph_service.model.result import EntityRef
from graph_service.model.statement import Rank, Statement
from graph_service.model.values import (
    EntityValue,
    NoValue,
    Quantity,
    SomeValue,
    Value,
    display_value,
    encode_value,
)
from graph_service.sampling import NonInformative
from graph_service.text.fold import fold
from queries.builders.draws import in_draw_order
from queries.builders.stages import StageCounts
from queries.datasets.gold import NA, GoldQuestion
from queries.generate.citations import one_line
from queries.wordings import value_questions

BUILDER = "live"
QUESTIONS_NAME = "questions.jsonl"
MOST_VALUES = 20
"""Values of an entity's relation; a question for more is a list that nobody remembers."""


class Change(StrEnum):
    """``ADDED``: values came. ``CHANGED``: some came or stayed, and some went. ``REMOVED``: all went."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, order=True)
class Topic:
    """An entity and a relation, whose values a question asks for."""

    head: str
    relation: str

    @property
    def id(self) -> str:
        """The ids of the entity and of the relation, joined by ``|``."""
        return f"{self.head}|{self.relation}"


class EditionReader(Protocol):
    """Reads one edition of a graph."""

    def statements(self, head: str, relation: str | None = None, /) -> Sequence[Statement]:
        """Returns the statements that an entity heads, of one relation or of all, by key."""

    def entities(self, ids: Sequence[str], /) -> Mapping[str, EntityRef]:
        """Returns entities with their labels by the ids that name them, redirects followed."""

    def relation_label(self, id_: str, /) -> str:
        """Returns the name of a relation."""

    def namesakes(self, name: str, /) -> Sequence[str]:
        """Returns the ids of the entities of a name."""


def differing_topics(
    earlier: Iterable[Statement], later: Iterable[Statement], /
) -> frozenset[Topic]:
    """Returns the topics of the statements that two editions do not share.

    Args:
        earlier: The statements of one, in order of their keys; read one by one.
        later: Those of the other, likewise.
    """
    topics: set[Topic] = set()
    left, right = iter(earlier), iter(later)
    old, new = next(left, None), next(right, None)
    while old is not None or new is not None:
        is_old = old is not None and (new is None or old.key <= new.key)
        is_new = new is not None and (old is None or new.key <= old.key)
        if not (is_old and is_new and _content(old) == _content(new)):
            topics |= {_topic(old)} if old is not None and is_old else set()
            topics |= {_topic(new)} if new is not None and is_new else set()
        old = next(left, None) if is_old else old
        new = next(right, None) if is_new else new
    return frozenset(topics)


def _topic(statement: Statement) -> Topic:
    return Topic(statement.head, statement.relation)


def _content(statement: Statement | None) -> tuple[str, str, Value, Rank] | None:
    """What a question rests on: qualifiers and references change no answer."""
    if statement is None:
        return None
    return statement.head, statement.relation, statement.value, statement.rank


@dataclass(frozen=True, slots=True)
class LiveSet:
    """The questions of a difference, and what became of its topics."""

    questions: tuple[GoldQuestion, ...]
    counts: StageCounts


class LeftOutError(Exception):
    """A topic gives no question; says why."""


@dataclass(frozen=True, slots=True)
class _Stated:
    """A value of a topic: its name, and the statements that state it."""

    value: Value
    name: str
    statement_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LiveQuestions:
    """Makes questions of topics that differ.

    Attributes:
        earlier, later: The editions.
        dropped: Relations and data types that inform nobody.
        wordings: Of each question at most.
        random_seed: Of the draws of topics and of wordings.
    """

    earlier: EditionReader
    later: EditionReader
    dropped: NonInformative
    wordings: int = 1
    random_seed: int = 0

    def draw(self, topics: Iterable[Topic], /, *, each: int) -> LiveSet:
        """Returns the questions of as many topics of each change as ``each`` says.

        Topics are tried in the order of a keyed hash, until there are enough of every change.
        """
        by_id = {topic.id: topic for topic in topics}
        made: dict[Change, list[tuple[GoldQuestion, ...]]] = {change: [] for change in Change}
        refused: Counter[str] = Counter()
        tried = 0
        for id_ in in_draw_order(by_id, BUILDER, random_seed=self.random_seed):
            if all(len(questions) >= each for questions in made.values()):
                break
            tried += 1
            try:
                change, questions = self.questions(by_id[id_])
            except LeftOutError as error:
                refused[str(error)] += 1
                continue
            if len(made[change]) < each:
                made[change].append(questions)
            else:
                refused[f"more that are {change} than --each"] += 1
        of_topics = [questions for change in Change for questions in made[change]]
        return LiveSet(
            tuple(question for questions in of_topics for question in questions),
            StageCounts("topics", tried, len(of_topics), dict(sorted(refused.items()))),
        )

    def questions(self, topic: Topic, /) -> tuple[Change, tuple[GoldQuestion, ...]]:
        """Returns how a topic changed, and its question in each wording.

        Raises:
            LeftOutError: It gives none.
        """
        if self.dropped.drops(topic.relation):
            raise LeftOutError("a relation that informs nobody")
        new, old = self._values(self.later, topic), self._values(self.earlier, topic)
        gained = [new[key] for key in new if key not in old]
        lost = [old[key] for key in old if key not in new]
        if not gained and not lost:
            raise LeftOutError("the same values as before")
        values = [*gained, *(new[key] for key in new if key in old)]
        _require_distinct([*values, *lost])
        head, is_there = self._head(topic)
        if values:
            change = Change.CHANGED if lost else Change.ADDED
        else:
            change = Change.REMOVED
            self._require_unstated(topic, lost)
        gold = self._gold(topic, change, gained, values, lost, is_there=is_there)
        texts = self._texts(topic, head)
        return change, tuple(
            replace(gold, id=gold.id if index == 0 else f"{gold.id}#{index + 1}", question=text)
            for index, text in enumerate(texts)
        )

    def _gold(
        self,
        topic: Topic,
        change: Change,
        gained: Sequence[_Stated],
        values: Sequence[_Stated],
        lost: Sequence[_Stated],
        /,
        *,
        is_there: bool,
    ) -> GoldQuestion:
        sets = [(id_,) for value in values for id_ in value.statement_ids]
        ids = [value.value.id for value in values if isinstance(value.value, EntityValue)]
        return GoldQuestion(
            id=topic.id,
            question="",
            kind=str(change),
            entity_ids=(topic.head,) if is_there else (),
            statement_ids=sets[0] if sets else (),
            alternatives=tuple(sets[1:]),
            answer_ids=tuple(ids) if len(ids) == len(values) else (),
            answers=tuple(value.name for value in values) or (NA,),
            hard_answers=tuple(value.name for value in gained),
            stale_answers=tuple(value.name for value in lost),
            hops=1 if values else 0,
            lacking=not values,
            absent=() if values else ((topic.head, topic.relation),),
        )

    def _values(self, edition: EditionReader, topic: Topic) -> dict[str, _Stated]:
        """The values of best rank by what tells them apart; an entity by the id that it has now."""
        stated = [row for row in edition.statements(topic.head, topic.relation) if _is_valid(row)]
        if any(row.rank is Rank.PREFERRED for row in stated):
            stated = [row for row in stated if row.rank is Rank.PREFERRED]
        if any(isinstance(row.value, SomeValue | NoValue) for row in stated):
            raise LeftOutError("a value that is unknown or none")
        if any(self._drops(row.value) for row in stated):
            raise LeftOutError("a value that informs nobody")
        ids = [id_ for row in stated for id_ in _entities_of(row.value)]
        # Renamed since: the later edition's label is what the entity is called now.
        entities = {**edition.entities(ids), **self.later.entities(ids)}
        values: dict[str, _Stated] = {}
        for row in stated:
            value = row.value
            if isinstance(value, EntityValue) and value.id in entities:
                value = EntityValue(entities[value.id].id)
            key = encode_value(value)
            name = one_line(display_value(row.value, lambda id_: _label(entities.get(id_))))
            if not name:
                raise LeftOutError("a value without a name")
            before = values[key].statement_ids if key in values else ()
            values[key] = _Stated(value, name, (*before, row.id))
        if len(values) > MOST_VALUES:
            raise LeftOutError(f"more than {MOST_VALUES} values")
        return values

    def _drops(self, value: Value) -> bool:
        return not isinstance(value, EntityValue) and self.dropped.drops_value(encode_value(value))

    def _head(self, topic: Topic) -> tuple[str, bool]:
        """The name of a topic's entity, and whether the later edition has it."""
        now = self.later.entities([topic.head]).get(topic.head)
        if now is not None and now.id != topic.head:
            raise LeftOutError("an entity that is now another")
        entity = now or self.earlier.entities([topic.head]).get(topic.head)
        name = one_line(_label(entity))
        if not name:
            raise LeftOutError("an entity without a name")
        if set(self.later.namesakes(name)) - {topic.head}:
            raise LeftOutError("an entity whose name others have")
        return name, now is not None

    def _require_unstated(self, topic: Topic, lost: Sequence[_Stated]) -> None:
        """Raises if the later edition still joins an entity with a value that is gone."""
        keys = {encode_value(value.value) for value in lost}
        rows = [*self.later.statements(topic.head)]
        joined = any(encode_value(row.value) in keys for row in rows)
        for value in lost:
            if isinstance(value.value, EntityValue):
                rows = [*self.later.statements(value.value.id)]
                joined |= any(row.value == EntityValue(topic.head) for row in rows)
        if joined:
            raise LeftOutError("another statement still joins it with the value")

    def _texts(self, topic: Topic, head: str) -> tuple[str, ...]:
        label = self.later.relation_label(topic.relation)
        texts = dict.fromkeys(value_questions(head, topic.relation, label))
        order = in_draw_order(texts, f"wording\t{topic.id}", random_seed=self.random_seed)
        return tuple(order[: self.wordings])


def _is_valid(statement: Statement) -> bool:
    return statement.rank is not Rank.DEPRECATED


def _entities_of(value: Value) -> tuple[str, ...]:
    if isinstance(value, EntityValue):
        return (value.id,)
    return (value.unit,) if isinstance(value, Quantity) and value.unit else ()


def _label(entity: EntityRef | None) -> str:
    """The label; empty where there is none, and the id stands for it."""
    return "" if entity is None or entity.label == entity.id else entity.label


def _require_distinct(values: Sequence[_Stated]) -> None:
    """Raises if two values read the same: an answer could not tell them apart."""
    if len({fold(value.name) for value in values}) < len(values):
        raise LeftOutError("two values that read the same")
