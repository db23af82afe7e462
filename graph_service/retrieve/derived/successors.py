"""Who held an office before or after somebody, by what qualifies the statement of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue
from graph_service.retrieve.derived.named_question import MARKS, NamedQuestion
from graph_service.retrieve.derived.request import DerivedAnswer, DerivedRequest, DerivedWalk
from graph_service.retrieve.derived.statements import (
    StatementWords,
    matching_statements,
    query_of,
    stored_statements,
)
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH

_BEFORE = frozenset({"P155", "P1365", "follows", "predecessor", "replaces"})
_AFTER = frozenset({"P156", "P1366", "followed by", "replaced by", "successor"})
_OFFICE = r"(?: (?:as|in) (?P<office>.+))?"
_PATTERNS = tuple(
    (relations, re.compile(pattern))
    for relations, patterns in (
        (
            _BEFORE,
            (
                rf"whom? did {{x}} (?:replace|succeed|follow|take over from){_OFFICE}",
                rf"who (?:preceded|came before) {{x}}{_OFFICE}",
                r"who (?:is|was|were) (?P<office>.+) before {x}",
                rf"(?:who (?:is|was) )?{{x}}'s predecessor{_OFFICE}",
                rf"(?:who (?:is|was) )?(?:the )?predecessor (?:of|to) {{x}}{_OFFICE}",
            ),
        ),
        (
            _AFTER,
            (
                rf"who (?:replaced|succeeded|followed|came after|took over from) {{x}}{_OFFICE}",
                r"who (?:is|was|were|became) (?P<office>.+) after {x}",
                rf"(?:who (?:is|was) )?{{x}}'s successor{_OFFICE}",
                rf"(?:who (?:is|was) )?(?:the )?successor (?:of|to) {{x}}{_OFFICE}",
            ),
        ),
    )
    for pattern in patterns
)


def derive_successor(question: NamedQuestion, request: DerivedRequest, /) -> DerivedAnswer | None:
    """Returns who came before or after somebody in an office; None where the question asks for
    something else, somebody's own statements say it, or several statements say so.
    """
    for relations, pattern in _PATTERNS:
        match = pattern.fullmatch(question.text)
        if match is not None:
            office = match.groupdict().get("office") or ""
            return _by_qualifier(question, request, relations, office)
    return None


def _by_qualifier(
    question: NamedQuestion, request: DerivedRequest, relations: frozenset[str], office: str
) -> DerivedAnswer | None:
    names_other = MARKS[1] in office
    if names_other != (len(question.names) > 1) or _states_itself(question, request, relations):
        return None
    content = tuple(
        word for word in words(office.replace(MARKS[1], " ")) if word not in EMPTY_IN_ENGLISH
    )
    matches = matching_statements(question, request, StatementWords("", content, names_other))
    pairs = [
        (match, ids)
        for match, statement in zip(matches, stored_statements(matches, request), strict=True)
        if statement is not None and (ids := _qualifying(statement, relations, request))
    ]
    others = {id_ for _, each in pairs for id_ in each}
    node = request.graph.find_node(others.pop()) if len(others) == 1 else None
    if node is None:
        return None
    own = [match for match, _ in pairs]
    return DerivedAnswer(
        AnswerKind.ENTITIES,
        None,
        (node,),
        tuple(DerivedWalk((each.edge,), (False,)) for each in own),
        (),
        question.names,
        query_of([replace(each, by_value=True) for each in own], question, request),
    )


def _qualifying(
    statement: Statement, relations: frozenset[str], request: DerivedRequest
) -> Sequence[str]:
    """Returns the entities that qualify a statement by some relations."""
    return [
        snak.value.id
        for snak in statement.qualifiers
        if isinstance(snak.value, EntityValue) and _is_of(snak.relation, relations, request)
    ]


def _is_of(relation: str, relations: frozenset[str], request: DerivedRequest) -> bool:
    return relation in relations or request.labels.relation(relation).casefold() in relations


def _states_itself(
    question: NamedQuestion, request: DerivedRequest, relations: frozenset[str]
) -> bool:
    """Returns whether a statement of the first name says what came before or after it."""
    nodes = np.array([question.names[0].node], dtype=np.int64)
    return any(
        not each.backward and _is_of(each.id, relations, request)
        for each in request.walker().relations_at(nodes)
    )
