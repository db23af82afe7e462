"""How old somebody was when they died, from the dates of both."""

from __future__ import annotations

import re
from collections.abc import Container

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.days import Days, days_of
from graph_service.query.walking import Walker, Walks
from graph_service.retrieve.degree_relations import BIRTH_WORDS
from graph_service.retrieve.derived.named_question import NamedQuestion
from graph_service.retrieve.derived.request import DerivedAnswer, DerivedRequest, DerivedWalk
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import words

_DEATH = frozenset({"dead", "death", "deceased", "died"})
_WHO = r"(?:he|she|they|{x})"
_DIED = r"(?:died|passed away|was killed|was assassinated)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"how old (?:was|were) {{x}} (?:when {_WHO} {_DIED}|at (?:his|her|their|the) death)",
        r"how old did {x} (?:get|become|live to be)",
        r"(?:at )?(?:what|which) age (?:did {x} die|was {x} when " + rf"{_WHO} {_DIED})",
        r"(?:what (?:is|was) )?{x}'?s? age (?:at|of) death",
        r"(?:what (?:is|was) )?(?:the )?age (?:at death )?of {x}(?: at death| when "
        + rf"{_WHO} {_DIED})",
        r"how long did {x} live",
    )
)


def derive_age(question: NamedQuestion, request: DerivedRequest, /) -> DerivedAnswer | None:
    """Returns the age in years at which somebody died; None where the question asks for something
    else, or their dates do not tell it.
    """
    if len(question.names) != 1 or not any(each.fullmatch(question.text) for each in _PATTERNS):
        return None
    walker, node = request.walker(), question.names[0].node
    born = _date(walker, request.labels, node, BIRTH_WORDS)
    died = _date(walker, request.labels, node, _DEATH)
    if born is None or died is None:
        return None
    least = years_between(born[0].last, died[0].first)
    if least < 0 or least != years_between(born[0].first, died[0].last):
        return None
    walks = tuple(DerivedWalk((edge,), (False,)) for _, edge in (born, died))
    return DerivedAnswer(AnswerKind.COUNT, str(least), (), walks, (), question.names, None)


def years_between(first: int, last: int, /) -> int:
    """Returns how many whole years lie between two days (``model.days``).

    >>> years_between(19170529, 19631122), years_between(19000601, 19000531)
    (46, -1)
    """
    return last // 10_000 - first // 10_000 - (last % 10_000 < first % 10_000)


def _date(
    walker: Walker, labels: Labels, node: int, label_words: Container[str]
) -> tuple[Days, int] | None:
    """Returns the one date that relations with some words in their labels give an entity, and the
    statement of it; None for none or several.
    """
    nodes = np.array([node], dtype=np.int64)
    dates: dict[Days, int] = {}
    for relation in walker.relations_at(nodes):
        own = words(labels.relation(relation.id))
        if relation.backward or not any(word in label_words for word in own):
            continue
        walks = walker.follow(Walks.at(nodes), relation)
        for edge, target in zip(walks.edges[:, 0], walks.targets, strict=True):
            days = days_of(walker.value(int(target)))
            if days is not None:
                dates.setdefault(days, int(edge))
    return next(iter(dates.items())) if len(dates) == 1 else None
