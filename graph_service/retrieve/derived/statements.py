"""The statements of an entity that the words of a question may mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue
from graph_service.query.algebra import Among, Condition, Entities, Query, Relation, Step
from graph_service.query.walking import Walks
from graph_service.retrieve.constraints.coverage import root, sides_of
from graph_service.retrieve.derived.named_question import NamedQuestion
from graph_service.retrieve.derived.request import DerivedRequest
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH

_MOST = 200
"""Statements of which qualifiers are read, at most."""


@dataclass(frozen=True, slots=True)
class StatementWords:
    """What a question says of a statement.

    Attributes:
        verb: That the relation must have among what is said of it; empty for none.
        content: Folded words that the value or the relation must have.
        names_other: Whether the other name must be the value's, or words of its label.
    """

    verb: str
    content: tuple[str, ...]
    names_other: bool


@dataclass(frozen=True, slots=True)
class MatchingStatement:
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


def matching_statements(
    question: NamedQuestion, request: DerivedRequest, meant: StatementWords, /
) -> list[MatchingStatement]:
    """Returns the statements of the first name of which a question says nothing that is not theirs;
    of several values the one whose label begins with the words of the question, and none where
    these do not tell.
    """
    walker, labels = request.walker(), request.labels
    nodes = np.array([question.names[0].node], dtype=np.int64)
    other = question.names[1] if meant.names_other else None
    name = "" if other is None else request.question[other.start : other.end]
    name_roots = {root(word) for word in words(name) if word not in EMPTY_IN_ENGLISH}
    matches: list[MatchingStatement] = []
    for relation in walker.relations_at(nodes):
        of_relation = sides_of(labels.relation(relation.id))[0].words
        if relation.backward or (meant.verb and root(meant.verb) not in of_relation):
            continue
        walks = walker.follow(Walks.at(nodes), relation)
        texts = labels.nodes(walks.targets)
        for edge, target, text in zip(walks.edges[:, 0], walks.targets, texts, strict=True):
            own, content = list(map(root, words(text))), list(map(root, meant.content))
            if other is not None and other.node != target and not name_roots.issubset(own):
                continue
            if all(word in own or word in of_relation for word in content):
                begins = own[: len(content)] == content
                by_value = other is not None or not set(own).isdisjoint(content)
                matches.append(
                    MatchingStatement(relation, int(edge), int(target), begins, by_value)
                )
    return _only(matches) if len(matches) <= _MOST else []


def _only(matches: Sequence[MatchingStatement]) -> list[MatchingStatement]:
    """Returns those of some statements that are meant: of several values the one whose label begins
    with the words said, if they say any; none where they do not tell.
    """
    by_value = [each for each in matches if each.by_value]
    if not by_value:
        return list(matches)
    if len({each.value for each in by_value}) > 1:
        by_value = [each for each in by_value if each.begins]
    return by_value if len({each.value for each in by_value}) == 1 else []


def stored_statements(
    matches: Sequence[MatchingStatement], request: DerivedRequest, /
) -> list[Statement | None]:
    """Returns statements with their qualifiers; None for those that a view made."""
    ids = request.walker().statement_ids([each.edge for each in matches])
    statements = request.statements(ids)
    return [statements.get(id_) for id_ in ids]


def query_of(
    matches: Sequence[MatchingStatement], question: NamedQuestion, request: DerivedRequest, /
) -> Query:
    """Returns the query that leads to the values of some statements of one relation."""
    walker = request.walker()
    start = walker.value(question.names[0].node)
    assert isinstance(start, EntityValue)
    values = [walker.value(each.value) for each in matches]
    ids = tuple(value.id for value in values if isinstance(value, EntityValue))
    is_narrowed = any(each.by_value for each in matches) and len(ids) == len(matches)
    filters = (Condition((), Among(ids)),) if is_narrowed else ()
    return Query(Entities((start.id,)), (Step(matches[0].relation),), filters)
