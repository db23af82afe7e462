"""A question to be answered, with what its file knows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graph_service.errors import InputError
from graph_service.model.result import Triple
from queries.llm import Message


@dataclass(frozen=True, slots=True)
class Case:
    """A question, with what its file knows of it.

    Attributes:
        id: Unique in its file.
        kind: Type of the question; empty where the file says none.
        entity_ids: The entities it names.
        history: What was said before, in a conversation.
        statement_ids: A gold set by id.
        knowledge: A gold set as the file gives it.
        answers: The answers as text.
        lacking: Whether the file says that the graph cannot answer it.
        question_vector: Its vector, in place of the embedder's; None where the file has none.
        alternatives: Other gold sets by id that are as good.
        answer_ids: The entities that answer it.
        gold_triples: A gold set as ``(head, relation, value)``, ids or labels as the file has
            them; what a graph calls these statements is looked up there.
        hard_answers: Ids or texts of the answers that no statement gives directly once a view has
            taken some away (BRINK), or that an earlier edition lacked.
        stale_answers: Texts of answers that an earlier edition gave and that are wrong now.
    """

    id: str
    question: str
    kind: str = ""
    entity_ids: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    statement_ids: tuple[str, ...] = ()
    knowledge: tuple[Triple, ...] = ()
    answers: tuple[str, ...] = ()
    lacking: bool = False
    question_vector: tuple[float, ...] | None = None
    alternatives: tuple[tuple[str, ...], ...] = ()
    answer_ids: tuple[str, ...] = ()
    gold_triples: tuple[tuple[str, str, str], ...] = ()
    hard_answers: tuple[str, ...] = ()
    stale_answers: tuple[str, ...] = ()


GENERAL, SPECIFIC = "general", "specific"


def both_wordings(
    general: Sequence[Case], specific: Sequence[Case], /, *, source: str
) -> tuple[Case, ...]:
    """Returns each question in its general and its specific wording, one after the other (K10).

    Ids become ``1/general`` and ``1/specific``, and kinds ``general`` and ``specific``, so that
    every score of the answers is given for both.

    Args:
        general: Of one file.
        specific: Of the other, in the same order.
        source: Name of the other file, for errors.

    Raises:
        InputError: They are not wordings of the same questions: an id, an entity or a fact differs.
    """
    if len(general) != len(specific):
        raise InputError(
            f"{source}: as many questions as in the general file were expected, {len(general)}; "
            f"{len(specific)} came",
            argument="specific",
        )
    cases: list[Case] = []
    for first, other in zip(general, specific, strict=True):
        for name in ("id", "entity_ids", "statement_ids", "knowledge"):
            if getattr(first, name) != getattr(other, name):
                raise InputError(
                    f"{source}, question {other.id!r}: {name} is not that of question {first.id!r} "
                    "of the general file; both wordings of one question have the same",
                    argument="specific",
                )
        cases.append(replace(first, id=f"{first.id}/{GENERAL}", kind=GENERAL))
        cases.append(replace(other, id=f"{other.id}/{SPECIFIC}", kind=SPECIFIC))
    return tuple(cases)


def distinct(cases: Iterator[Case], /, *, source: str) -> tuple[Case, ...]:
    """Returns cases as they come.

    Raises:
        InputError: Two have the same id, or there is none.
    """
    cases_by_id: dict[str, Case] = {}
    for index, case in enumerate(cases, 1):
        if case.id in cases_by_id:
            first = list(cases_by_id).index(case.id) + 1
            raise InputError(
                f"{source}, question {index}, field id: {case.id!r} is also the id of question "
                f"{first}; give each question its own id",
                argument="questions",
            )
        cases_by_id[case.id] = case
    if not cases_by_id:
        raise InputError(
            f'{source} holds no question; lines of {{"id", "question"}} were expected',
            argument="questions",
        )
    return tuple(cases_by_id.values())
