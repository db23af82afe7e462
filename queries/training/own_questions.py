"""A user's own questions, from a file, as what is right for them on a graph (B7).

What is right is told by the line's ``relations`` (signed, in the order walked), by its gold
statements, or by the ids or names of its answers; the first of these that is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import normalise_statement_guid
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue
from graph_service.service import Service
from graph_service.text.fold import normalise_name
from queries.datasets.cases import QuestionFormat, format_of, read_question_file
from queries.datasets.records import Record, read_records
from queries.training.blending import OWN
from queries.training.examples import AnsweredQuestion, SignedStep

Chain = tuple[str, tuple[SignedStep, ...]]
_SAME_NAME = 20


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A question of a file with all that the file says is right.

    Attributes:
        text: The question.
        entity_ids: What it is about.
        relations: Signed ids, ``-P25`` for a relation walked from value to subject.
        statement_sets: Gold sets of statements by id, each in the order in which it is walked.
        answers: Ids or names of answers.
    """

    text: str
    entity_ids: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    statement_sets: tuple[tuple[str, ...], ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(slots=True)
class OwnQuestions:
    """The questions of a file that can be learned from, and how many can't be, by reason."""

    questions: list[AnsweredQuestion] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, why: str, /) -> None:
        """Counts a question that can't be learned from."""
        self.left_out[why] = self.left_out.get(why, 0) + 1


def read_own_questions(
    path: str | Path, /, *, question_format: str | None = None, language: str = "en"
) -> list[OwnQuestion]:
    """Returns the questions of a file of any format that ``answer`` reads, in its order.

    Raises:
        InputError: The file cannot be read or is wrong; names the line and the field.
    """
    kind = format_of(path, question_format)
    if kind is QuestionFormat.LINES:
        questions = [_own(record) for record in read_records(path)]
    else:
        questions = [
            OwnQuestion(case.question, case.entity_ids, (), (case.statement_ids,), case.answers)
            for case in read_question_file(path, question_format=kind, language=language)
        ]
    if not questions:
        raise InputError(f"{path} holds no questions", argument="questions")
    return questions


def _own(record: Record) -> OwnQuestion:
    if record.has("messages"):
        # A turn of a conversation says nothing of what is right.
        return OwnQuestion("")
    alternatives = record.fields.get("alternatives") or []
    if not isinstance(alternatives, list) or not all(isinstance(ids, list) for ids in alternatives):
        raise record.error("alternatives", "a list of lists of statement ids")
    answers = record.fields.get("answers")
    return OwnQuestion(
        record.text("question"),
        record.texts("entity_ids"),
        record.texts("relations"),
        tuple(
            tuple(normalise_statement_guid(str(id_)) or str(id_) for id_ in ids)
            for ids in (record.texts("statement_ids"), *alternatives)
            if ids
        ),
        record.texts("answer_ids")
        or (tuple(map(str, answers)) if isinstance(answers, list) else ()),
    )


def answered(service: Service, graph: str, questions: Iterable[OwnQuestion], /) -> OwnQuestions:
    """Returns questions with what is right for them on a graph.

    Args:
        service: With the graph.
        graph: Its name.
        questions: Of a file.
    """
    own = OwnQuestions()
    for question in questions:
        if not question.text.strip():
            own.leave_out("a conversation")
            continue
        resolved = _resolved(service, graph, question)
        if isinstance(resolved, str):
            own.leave_out(resolved)
        else:
            own.questions.append(resolved)
    return own


def _resolved(service: Service, graph: str, question: OwnQuestion) -> AnsweredQuestion | str:
    """Returns a question with what is right, or why it can't be told."""
    known = (
        service.entities(question.entity_ids, graph=graph).entities if question.entity_ids else {}
    )
    if len(known) < len(set(question.entity_ids)):
        return "an entity of it is not in the graph"
    entities = tuple(dict.fromkeys(entity.id for entity in known.values()))
    chains: tuple[Chain, ...] = ()
    if question.relations:
        steps = tuple(
            (relation.removeprefix("-"), relation.startswith("-"))
            for relation in question.relations
        )
        chains = tuple((entity, steps) for entity in entities)
    elif question.statement_sets:
        info = service.graph(graph)
        statement_ids = [id_ for ids in question.statement_sets for id_ in ids]
        statements = service.store.statements(info.edition, statement_ids)
        chains = tuple(
            chain
            for ids in question.statement_sets
            if (chain := _chain(ids, statements, entities)) is not None
        )
    if chains:
        start_ids = tuple(dict.fromkeys(start for start, _ in chains))
        return AnsweredQuestion(question.text, graph, OWN, start_ids, chains)
    if not entities:
        return "it says neither entity nor gold statements of the graph"
    answers = frozenset(
        id_ for answer in question.answers if (id_ := _answer(service, graph, answer)) is not None
    )
    if not question.answers or len(answers) < len(set(question.answers)):
        return "it says no relations, gold statements in a row or answers that the graph has"
    return AnsweredQuestion(question.text, graph, OWN, entities, (), answers)


def _chain(
    ids: Sequence[str], statements: Mapping[str, Statement], entities: Sequence[str]
) -> Chain | None:
    """Returns the walk of some statements, from an entity of the question where it names any."""
    gold = [statements[id_] for id_ in ids if id_ in statements]
    if not gold or len(gold) < len(ids):
        return None
    start_candidates = entities or tuple(id_ for id_ in _endpoints(gold[0]) if id_ is not None)
    for start in start_candidates:
        here: str | None = start
        steps: list[SignedStep] = []
        for statement in gold:
            head, value = _endpoints(statement)
            if here is None or here not in (head, value):
                break
            backward = here != head
            steps.append((statement.relation, backward))
            here = head if backward else value
        else:
            return start, tuple(steps)
    return None


def _endpoints(statement: Statement) -> tuple[str, str | None]:
    value = statement.value
    return statement.head, value.id if isinstance(value, EntityValue) else None


def _answer(service: Service, graph: str, answer: str) -> str | None:
    """Returns the id of an answer: as it stands, or of the one entity of that name."""
    try:
        entities = service.entities([answer], graph=graph).entities
    except InputError:
        entities = {}
    if entities:
        return next(iter(entities.values())).id
    if not answer.strip():
        return None
    name = normalise_name(answer)
    hits = service.search(answer, graph=graph, limit=_SAME_NAME)
    same = {hit.entity.id for hit in hits if normalise_name(hit.matched) == name}
    return same.pop() if len(same) == 1 else None
