"""When a statement began or ceased to hold, by the dates that qualify it.

*When did X become governor?* asks for the start of the statement that X held that office, and *When
did X divorce?* for the end of the marriage. The statement is found by the words of the question:
each must be one of its value, or of what is said of its relation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph_service.model.answer import AnswerKind
from graph_service.model.days import days_of
from graph_service.model.statement import Statement
from graph_service.model.values import Value, display_value
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

_BEGIN_IDS = ("P580", "P585")
_END_IDS = ("P582",)
_BEGIN_LABELS = frozenset(
    {"begin date", "beginning", "date", "from", "point in time", "since", "start", "start date",
     "start time", "started", "year"}
)  # fmt: skip
_END_LABELS = frozenset({"end", "end date", "end time", "ended", "to", "until"})
_BEGINNING = frozenset({"become", "became", "begin", "enter", "start"})
_ENDING = frozenset(
    {"cease", "finish", "leave", "quit", "resign", "retire", "stop", "stepping", "step"}
)
"""Verbs that say of a statement when it holds, and nothing more."""
_OF_RELATIONS = frozenset({"join", "marry", "receive", "wed", "win"})
"""Verbs of beginning that say of which relation a statement is."""
_PARTING = frozenset({"divorce", "separate", "split"})
"""Verbs that say the end of a marriage."""
_FORMS = {"married": "marry", "got": "get", "divorced": "divorce", "separated": "separate"}
_YEAR = r"(?:in )?(?:what|which) (?:year|month)|on (?:what|which) (?:date|day)"
_PATTERNS = (
    ("", re.compile(rf"(?:when|{_YEAR}) did {{x}}(?P<other> and {{y}})? (?P<clause>.+)")),
    (
        "marry",
        re.compile(
            r"when (?:was|were|is|are) {x}(?P<other> and {y})? (?:first )?married(?P<clause>(?: to {y})?)"
        ),
    ),
    (
        "become",
        re.compile(
            r"(?:since when|since (?:what|which) year) (?:has|have|had|is|are|was|were) {x} "
            r"(?:been )?(?P<clause>.+)"
        ),
    ),
    (
        "stop",
        re.compile(r"(?:un)?till? when (?:was|were|has|have|had|did) {x} (?P<clause>.+)"),
    ),
)


@dataclass(frozen=True, slots=True)
class _DateQuestion:
    """What a question says of a statement.

    Attributes:
        is_end: Whether it asks for the end.
        words: By which the statement is known.
    """

    is_end: bool
    words: StatementWords


def derive_date(question: NamedQuestion, request: DerivedRequest, /) -> DerivedAnswer | None:
    """Returns when a statement began or ended; None where the question asks for something else, or
    one of the statements that it may mean has no such date.
    """
    date_question = _read(question)
    if date_question is None:
        return None
    matches = matching_statements(question, request, date_question.words)
    if not matches or len({each.relation for each in matches}) > 1:
        return None
    dates = [
        None if statement is None else _date(statement, date_question, request)
        for statement in stored_statements(matches, request)
    ]
    known = sorted({date for date in dates if date is not None})
    if None in dates:
        return None
    return DerivedAnswer(
        AnswerKind.ENTITIES,
        "; ".join(text for _, text in known),
        (),
        tuple(DerivedWalk((each.edge,), (False,)) for each in matches),
        (),
        question.names if date_question.words.names_other else question.names[:1],
        query_of(matches, question, request),
    )


def _read(question: NamedQuestion) -> _DateQuestion | None:
    for verb, pattern in _PATTERNS:
        match = pattern.fullmatch(question.text)
        if match is None:
            continue
        clause = match["clause"]
        names_other = MARKS[1] in clause or bool(match.groupdict().get("other"))
        if MARKS[0] in clause or names_other != (len(question.names) > 1):
            return None
        own = [_FORMS.get(word, word) for word in words(clause.replace(MARKS[1], " "))]
        own = own[1:] if own[:1] == ["get"] and len(own) > 1 else own
        if not verb:
            if not own:
                return None
            verb, *own = own
        content = tuple(word for word in own if word not in EMPTY_IN_ENGLISH)
        if verb in _PARTING:
            return _DateQuestion(True, StatementWords("marry", content, names_other))
        if verb in _OF_RELATIONS:
            return _DateQuestion(False, StatementWords(verb, content, names_other))
        if verb in _BEGINNING | _ENDING and (content or names_other):
            return _DateQuestion(verb in _ENDING, StatementWords("", content, names_other))
        return None
    return None


def _date(
    statement: Statement,
    date_question: _DateQuestion,
    request: DerivedRequest,
) -> tuple[int, str] | None:
    """Returns when a statement began or ended, as a day to sort by and as text; None for no date or
    several.
    """
    ids, own = (_END_IDS, _END_LABELS) if date_question.is_end else (_BEGIN_IDS, _BEGIN_LABELS)
    labels = request.labels
    values: dict[str, list[Value]] = {}
    for snak in statement.qualifiers:
        if snak.relation in ids or " ".join(words(labels.relation(snak.relation))) in own:
            values.setdefault(snak.relation, []).append(snak.value)
    if not values:
        return None
    first = min(
        values, key=lambda each: (each not in ids, ids.index(each) if each in ids else each)
    )
    days = [days_of(value) for value in values[first]]
    if len(days) != 1 or days[0] is None:
        return None
    return days[0].first, display_value(values[first][0])
