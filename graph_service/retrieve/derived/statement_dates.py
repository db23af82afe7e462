"""When a statement began or ceased to hold, by the dates that qualify it.

*When did X become governor?* asks for the start of the statement that X held that office, and *When
did X divorce?* for the end of the marriage. The statement is found by the words of the question:
each must be one of its value, or of what is said of its relation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.days import days_of
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue, Value, display_value
from graph_service.query.algebra import Among, Condition, Entities, Query, Relation, Step
from graph_service.query.walking import Walks
from graph_service.retrieve.constraints.coverage import root, sides_of
from graph_service.retrieve.derived.named_question import MARKS, NamedQuestion
from graph_service.retrieve.derived.request import DerivedAnswer, DerivedRequest, DerivedWalk
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
        verb: That the relation must have among what is said of it; empty for none.
        content: Folded words that the value or the relation must have.
        names_other: Whether the other name must be the value's, or words of its label.
    """

    is_end: bool
    verb: str
    content: tuple[str, ...]
    names_other: bool


@dataclass(frozen=True, slots=True)
class _Match:
    """A statement that a question may mean.

    Attributes:
        relation: Of the statement.
        edge: Its global number.
        value: The node of its value.
        begins: Whether the label of the value begins with the words of the question.
        by_value: Whether a word of the question is the value's, and not the relation's.
    """

    relation: Relation
    edge: int
    value: int
    begins: bool
    by_value: bool


def derive_date(question: NamedQuestion, request: DerivedRequest, /) -> DerivedAnswer | None:
    """Returns when a statement began or ended; None where the question asks for something else, or
    one of the statements that it may mean has no such date.
    """
    date_question = _read(question)
    if date_question is None:
        return None
    matches = _only(_matches(question, request, date_question))
    if not matches or len({each.relation for each in matches}) > 1:
        return None
    walker = request.walker()
    ids = walker.statement_ids([each.edge for each in matches])
    statements = request.statements(ids)
    dates = [_date(statements, id_, date_question, request) for id_ in ids]
    known = sorted({date for date in dates if date is not None})
    if len(known) == 0 or None in dates:
        return None
    values = [walker.value(each.value) for each in matches]
    meant = tuple(value.id for value in values if isinstance(value, EntityValue))
    start = walker.value(question.names[0].node)
    assert isinstance(start, EntityValue)
    is_narrowed = any(each.by_value for each in matches) and len(meant) == len(matches)
    return DerivedAnswer(
        AnswerKind.ENTITIES,
        "; ".join(text for _, text in known),
        (),
        tuple(DerivedWalk((each.edge,), (False,)) for each in matches),
        (),
        question.names if date_question.names_other else question.names[:1],
        Query(
            Entities((start.id,)),
            (Step(matches[0].relation),),
            (Condition((), Among(meant)),) if is_narrowed else (),
        ),
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
            return _DateQuestion(True, "marry", content, names_other)
        if verb in _OF_RELATIONS:
            return _DateQuestion(False, verb, content, names_other)
        if verb in _BEGINNING | _ENDING and (content or names_other):
            return _DateQuestion(verb in _ENDING, "", content, names_other)
        return None
    return None


def _matches(
    question: NamedQuestion, request: DerivedRequest, date_question: _DateQuestion
) -> list[_Match]:
    """Returns the statements of the first name of which a question says nothing that is not theirs."""
    walker, labels = request.walker(), request.labels
    nodes = np.array([question.names[0].node], dtype=np.int64)
    other = question.names[1] if date_question.names_other else None
    matches: list[_Match] = []
    for relation in walker.relations_at(nodes):
        of_relation = sides_of(labels.relation(relation.id))[0].words
        if relation.backward or (
            date_question.verb and root(date_question.verb) not in of_relation
        ):
            continue
        walks = walker.follow(Walks.at(nodes), relation)
        texts = labels.nodes(walks.targets)
        for edge, target, text in zip(walks.edges[:, 0], walks.targets, texts, strict=True):
            own = words(text)
            roots = set(map(root, own))
            content = [*date_question.content]
            if other is not None and other.node != target:
                content += words(request.question[other.start : other.end])
                content = [word for word in content if word not in EMPTY_IN_ENGLISH]
                if not roots.issuperset(
                    map(root, words(request.question[other.start : other.end]))
                ):
                    continue
            of_value = [word for word in content if root(word) in roots]
            if all(word in of_value or root(word) in of_relation for word in content):
                begins = [root(word) for word in own[: len(content)]] == list(map(root, content))
                by_value = bool(of_value) or other is not None
                if by_value or date_question.verb or content:
                    matches.append(_Match(relation, int(edge), int(target), begins, by_value))
    return matches


def _only(matches: Sequence[_Match]) -> list[_Match]:
    """Returns those of some statements that are meant: of several values the one whose label begins
    with the words said, if they say any; none where they do not tell.
    """
    by_value = [each for each in matches if each.by_value]
    if not by_value:
        return list(matches)
    if len({each.value for each in by_value}) > 1:
        by_value = [each for each in by_value if each.begins]
    return by_value if len({each.value for each in by_value}) == 1 else []


def _date(
    statements: Mapping[str, Statement],
    id_: str,
    date_question: _DateQuestion,
    request: DerivedRequest,
) -> tuple[int, str] | None:
    """Returns when a statement began or ended, as a day to sort by and as text; None for no date or
    several.
    """
    statement = statements.get(id_)
    if statement is None:
        return None
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
