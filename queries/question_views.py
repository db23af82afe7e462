"""A view of its own for each question of a set (B3).

What a specification says of all questions becomes a view of each: path deletion and chains aim at
the question's entities and answers, withholding at its minimum set, and other methods change what
lies around its entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from graph_service.errors import InputError
from graph_service.model.view_spec import Change, Method, ViewSpec
from queries.datasets.gold import GoldQuestion


@dataclass(frozen=True, slots=True)
class QuestionViews:
    """The views of some questions.

    Attributes:
        specs: The specification of each question's own view, by the question's id.
        left_out: Ids of the questions that lack what the method aims at.
    """

    specs: dict[str, ViewSpec]
    left_out: tuple[str, ...]


class Aim(StrEnum):
    """What the view of a question aims at.

    ``ENTITIES``: the paths from its entities to its answers, by the methods that know of paths; its
    minimum set, by withholding; by all others what lies around its entities. ``GOLD``: the
    statements of its minimum set alone.
    """

    ENTITIES = "entities"
    GOLD = "gold"


def view_of_question(
    spec: ViewSpec, question: GoldQuestion, /, *, aim: Aim = Aim.ENTITIES
) -> ViewSpec | None:
    """Returns a question's own view; None where it lacks what the view aims at.

    >>> asked = GoldQuestion("1", "Who?", entity_ids=("Q1",), answer_ids=("Q2",))
    >>> view_of_question(ViewSpec(Method.PATH_DELETION, count=1), asked).to_json()
    '{"algorithm":1,"answerIds":["Q2"],"count":1,"entityIds":["Q1"],\
"method":"path-deletion","randomSeed":0,"sampling":"exact"}'
    >>> view_of_question(ViewSpec(Method.EDGE_DELETION, count=1), asked).scope.around_entity_ids
    ('Q1',)
    """
    parameters = spec.takes.parameters
    if aim is Aim.GOLD:
        made = _on_gold(spec, question)
    elif spec.method is Method.WITHHOLDING:
        ids = question.statement_ids
        count = spec.count if spec.count is None else min(spec.count, len(ids))
        made = replace(spec, statement_ids=ids, count=count) if ids else None
    elif spec.method is Method.INSERTION and spec.count is None:
        # Statements at random have a level; chains have a count.
        made = _around(spec, question)
    elif "entity_ids" in parameters:
        aimed = question.entity_ids and question.answer_ids
        made = (
            replace(spec, entity_ids=question.entity_ids, answer_ids=question.answer_ids)
            if aimed
            else None
        )
    else:
        made = _around(spec, question)
    if made is not None:
        made.validate()
    return made


def _on_gold(spec: ViewSpec, question: GoldQuestion) -> ViewSpec | None:
    if not question.statement_ids:
        return None
    return replace(spec, scope=replace(spec.scope, statement_ids=question.statement_ids))


def _around(spec: ViewSpec, question: GoldQuestion) -> ViewSpec | None:
    if not question.entity_ids:
        return None
    return replace(spec, scope=replace(spec.scope, around_entity_ids=question.entity_ids))


def views_of_questions(spec: ViewSpec, questions: Iterable[GoldQuestion], /) -> QuestionViews:
    """Returns the view of each question of a set that has what the method aims at."""
    specs: dict[str, ViewSpec] = {}
    left_out: list[str] = []
    for question in questions:
        made = view_of_question(spec, question)
        if made is None:
            left_out.append(question.id)
        else:
            specs[question.id] = made
    return QuestionViews(specs, tuple(left_out))


def changes_of_questions(
    changes: Mapping[str, tuple[Change, ...]], questions: Iterable[GoldQuestion], /
) -> QuestionViews:
    """Returns each question's own changes as its view.

    Args:
        changes: By the question's id.
        questions: The set.

    Raises:
        InputError: The changes name a question that the set lacks.
    """
    ids = [question.id for question in questions]
    unknown = sorted(changes.keys() - set(ids))
    if unknown:
        raise InputError(
            f"there are changes for question {unknown[0]!r}, which the question file lacks",
            argument="changes",
        )
    return QuestionViews(
        {id_: ViewSpec(Method.CUSTOM, changes=changes[id_]) for id_ in ids if id_ in changes},
        tuple(id_ for id_ in ids if id_ not in changes),
    )
