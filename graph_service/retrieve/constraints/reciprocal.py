"""Relations that hold both ways: what *borders*, *interacts with* or is a *sibling* of another has
it for one too. A graph often states them once, either way about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from graph_service.query.algebra import (
    Among,
    Condition,
    Entities,
    Filter,
    Query,
    Relation,
    Targets,
    either_way,
)
from graph_service.retrieve.constraints.coverage import root
from graph_service.text.fold import words
from graph_service.text.nouns import singular

_EMPTY = frozenset({"are", "be", "been", "has", "have", "is", "was", "were", "a", "an", "the"})


def _roots(*verbs: str) -> frozenset[str]:
    return frozenset(map(root, verbs))


_PAIRED = _roots("adjoin", "adjoins", "border", "borders", "bordering", "intersects", "marries",
                 "married", "neighbours", "neighbors", "overlaps")  # fmt: skip
"""Verbs of two that are equals, whose object follows them at once."""
_TO = _roots("adjacent", "connects", "connected", "married", "related", "similar")
_WITH = _PAIRED | _roots(
    "adjacent", "allied", "collaborates", "collaborated", "competes", "competed", "connects",
    "connected", "cooperates", "corresponds", "corresponded", "friends", "interacts", "interact",
    "linked", "lives", "lived", "merges", "partners", "partnered", "performs", "performed", "plays",
    "played", "related", "shares", "shared", "synonymous", "trades", "traded", "trained", "trains",
    "twin", "twinned", "works", "worked",
)  # fmt: skip
_EQUALS = _roots("ally", "classmate", "colleague", "counterpart", "cousin", "friend", "neighbor",
                 "neighbour", "partner", "relative", "rival", "sibling", "spouse", "synonym",
                 "twin")  # fmt: skip
"""Nouns for what something is to what is the same to it."""


@lru_cache(maxsize=1 << 12)
def is_reciprocal(label: str, /) -> bool:
    """Returns whether a relation of a label holds both ways.

    >>> [is_reciprocal(label) for label in ("interacts with", "borders", "friend of", "spouse")]
    [True, True, True, True]
    >>> [is_reciprocal(label) for label in ("replaced with", "links to", "child", "works for")]
    [False, False, False, False]
    """
    content = [word for word in words(label) if word not in _EMPTY]
    if not content:
        return False
    first, last = root(content[0]), content[-1]
    if last == "with":
        return first in _WITH
    if last == "to":
        return first in _TO
    nouns = content[:-1] if last == "of" else content
    return len(nouns) == 1 and root(singular(nouns[0])) in _EQUALS | _PAIRED


def both_ways(query: Query, label_of: Callable[[str], str], /) -> Query:
    """Returns a query that follows what holds both ways either way about: from the entity that it
    starts at by one relation, or to the entities that its answers have.

    Args:
        query: Any query.
        label_of: Gives the label of a relation by id.
    """
    filters = tuple(_either_way(filter, label_of) for filter in query.filters)
    if isinstance(query.start, Entities) and len(query.path) == 1:
        relation = query.path[0].relation
        if is_reciprocal(label_of(relation.id)):
            is_of_start = either_way(relation.reversed, Among(query.start.ids))
            start = Targets((relation, relation.reversed))
            return replace(query, start=start, path=(), filters=(is_of_start, *filters))
    return replace(query, filters=filters)


def _either_way(filter: Filter, label_of: Callable[[str], str]) -> Filter:
    match filter:
        case Condition((Relation() as relation,), Among() as named):
            if is_reciprocal(label_of(relation.id)):
                return either_way(relation, named)
    return filter
