"""Questions about a graph for people who see it for the first time, each checked by retrieval.

They are made of the statements of the graph's central entities: over two steps, how many, over one
step, for a number or a date, and one that the graph does not answer. A question is taken only if
retrieval gives the answer that the statements give.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from graph_service.model.answer import AnswerKind
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.introduction import ExampleQuestion
from graph_service.model.result import EntityRef, RetrievalResult, Status, Triple
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, Quantity, Time
from graph_service.query.label_words import plural
from graph_service.service.introduction import PEOPLE
from graph_service.text.fold import words
from graph_service.text.nouns import singular

MOST_TRIES = 8
"""Questions of a kind that are tried before the kind is left out."""
_MOST_ANSWERS = 3
_MOST_COUNTED = 40
_LABEL = re.compile(r"[a-z][a-z' -]{2,40}")
_PARTICIPLE = re.compile(r"[a-z]{2,}[a-df-z]ed")
"""Words such as *founded*, and not *seed* or *bed*."""
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_NO_NOUN = frozenset(
    [
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "into",
        "of",
        "on",
        "to",
        "with",
        "held",
        "played",
    ]
)
_TYPE_RELATIONS = frozenset({"P21"}) | INSTANCE_RELATIONS
"""Relations that say what kind of thing an entity is."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question and what the statements answer: labels, a number, or nothing."""

    question: str
    labels: frozenset[str] = frozenset()
    count: int | None = None

    def answer(self, result: RetrievalResult, /) -> ExampleQuestion | None:
        """Returns the question with its answer; None if retrieval answers something else."""
        if not self.labels and self.count is None:
            is_missing = result.status is Status.NOT_IN_GRAPH
            return ExampleQuestion(self.question, None) if is_missing else None
        if result.status is not Status.OK:
            return None
        answer = result.answer
        if self.count is not None:
            is_right = (
                answer is not None
                and answer.kind is AnswerKind.COUNT
                and answer.value == str(self.count)
            )
            return ExampleQuestion(self.question, answer.text) if answer and is_right else None
        if answer is None:
            return None
        labels = frozenset(entity.label for entity in answer.entities)
        is_right = labels == self.labels if labels else answer.text in self.labels
        return ExampleQuestion(self.question, answer.text) if is_right else None


class ExampleBuilder:
    """Builds the example questions of a graph.

    Args:
        central: Its most central entities, in order.
        triples_of: Gives the triples that have an entity as their head, by its id.
        retrieve: Asks a question by paths.
        is_over: Returns whether no more questions may be tried.
    """

    def __init__(
        self,
        central: Sequence[EntityRef],
        triples_of: Callable[[str], Sequence[Triple]],
        retrieve: Callable[[str], RetrievalResult],
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._central = central
        self._read = triples_of
        self._retrieve = retrieve
        self._is_over = is_over
        self._groups: dict[str, Mapping[str, list[Triple]]] = {}

    def make(self) -> tuple[ExampleQuestion, ...]:
        """Returns a question of each kind that the graph allows."""
        return tuple(self.questions())

    def questions(self) -> Iterator[ExampleQuestion]:
        """Yields a question of each kind, as soon as one is checked."""
        kinds = (
            self._two_steps,
            self._count,
            self._literal,
            self._one_step,
            self._unknown,
        )
        for position, kind in enumerate(kinds):
            # Each kind begins at another entity, so that the questions are about several.
            turned = [*self._central[position:], *self._central[:position]]
            candidates = (next(kind(entity), None) for entity in turned)
            tried = islice((each for each in candidates if each is not None), MOST_TRIES)
            in_time = takewhile(lambda _: not self._is_over(), tried)
            checked = (each.answer(self._retrieve(each.question)) for each in in_time)
            first = next((question for question in checked if question is not None), None)
            if first is not None:
                yield first

    def _triples(self, id_: str) -> Mapping[str, list[Triple]]:
        """Returns the triples of an entity by their relations, those with fewer values first."""
        if id_ not in self._groups:
            groups: dict[str, list[Triple]] = {}
            for triple in self._read(id_):
                if triple.rank is not Rank.DEPRECATED:
                    groups.setdefault(triple.relation.id, []).append(triple)
            self._groups[id_] = dict(sorted(groups.items(), key=lambda row: (len(row[1]), row[0])))
        return self._groups[id_]

    def _named(self, id_: str, type_: type | tuple[type, ...]) -> Iterator[list[Triple]]:
        """Yields the triples of each relation that a question can name, with values of a type."""
        for relation, triples in self._triples(id_).items():
            if (
                relation not in _TYPE_RELATIONS
                and _is_noun(triples[0].relation.label)
                and all(isinstance(triple.value, type_) for triple in triples)
            ):
                yield triples

    def _one_step(self, entity: EntityRef) -> Iterator[_Candidate]:
        for triples in self._named(entity.id, EntityValue):
            if len(triples) <= _MOST_ANSWERS:
                label = triples[0].relation.label
                question = f"{self._asks(triples)} the {label} of {entity.label}?"
                yield _Candidate(question, _values(triples))

    def _two_steps(self, entity: EntityRef) -> Iterator[_Candidate]:
        """Yields questions over two steps, those for people first."""
        yield from sorted(
            self._over_two(entity), key=lambda each: not each.question.startswith("Who")
        )

    def _over_two(self, entity: EntityRef) -> Iterator[_Candidate]:
        for first in self._named(entity.id, EntityValue):
            if len(first) > 1:
                continue
            value = first[0].value
            assert isinstance(value, EntityValue)
            for second in self._named(value.id, EntityValue):
                if (
                    second[0].relation.id == first[0].relation.id
                    or len(second) > _MOST_ANSWERS
                    or entity.label in _values(second)
                ):
                    continue
                labels = (second[0].relation.label, first[0].relation.label)
                question = f"{self._asks(second)} the {labels[0]} of the {labels[1]} of"
                yield _Candidate(f"{question} {entity.label}?", _values(second))

    def _count(self, entity: EntityRef) -> Iterator[_Candidate]:
        for triples in reversed(list(self._named(entity.id, EntityValue))):
            if _MOST_ANSWERS <= len(triples) <= _MOST_COUNTED:
                several = plural(triples[0].relation.label)
                question = f"How many {several} does {entity.label} have?"
                yield _Candidate(question, count=len(triples))

    def _literal(self, entity: EntityRef) -> Iterator[_Candidate]:
        for triples in self._named(entity.id, (Time, Quantity)):
            if len(triples) == 1:
                label = triples[0].relation.label
                last = words(label)[-1]
                is_or_are = "is" if singular(last) == last else "are"
                question = f"What {is_or_are} the {label} of {entity.label}?"
                yield _Candidate(question, _values(triples))
        for triples in self._triples(entity.id).values():
            label = triples[0].relation.label
            if len(triples) == 1 and _PARTICIPLE.fullmatch(label) and _is_when(triples[0]):
                yield _Candidate(f"When was {entity.label} {label}?", _values(triples))

    def _unknown(self, entity: EntityRef) -> Iterator[_Candidate]:
        for other in self._central:
            for triples in self._named(other.id, EntityValue):
                relation = triples[0].relation
                if len(triples) == 1 and relation.id not in self._triples(entity.id):
                    asks = self._asks(triples)
                    yield _Candidate(f"{asks} the {relation.label} of {entity.label}?")

    def _asks(self, triples: Sequence[Triple]) -> str:
        """Returns how a question for the values of some triples begins, by their first value."""
        value = triples[0].value
        classes = self._triples(value.id) if isinstance(value, EntityValue) else {}
        is_person = any(
            triple.value_label.lower() in PEOPLE
            for relation in INSTANCE_RELATIONS
            for triple in classes.get(relation, ())
        )
        return "Who is" if is_person else "What is"


def _is_noun(label: str) -> bool:
    """Returns whether a label can follow "the": a few words that end in no preposition or verb."""
    words = label.split()
    return (
        bool(_LABEL.fullmatch(label))
        and words[-1] not in _NO_NOUN
        and not _PARTICIPLE.fullmatch(words[-1])
        and words[0] not in ("member", "part", "participant")
    )


def _is_when(triple: Triple) -> bool:
    """Returns whether the value of a triple is a date, or a number that reads as a year."""
    return isinstance(triple.value, Time) or (
        isinstance(triple.value, Quantity) and bool(_YEAR.fullmatch(triple.value_label))
    )


def _values(triples: Sequence[Triple]) -> frozenset[str]:
    return frozenset(triple.value_label for triple in triples)
