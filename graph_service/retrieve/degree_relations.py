"""Which relations have the values that a word of degree compares, by the names of the relations.

A table may lack what a question compares. Then another date or number is no answer: who was hired
first is not the oldest, and what is widest is not the longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.degree_words import BORN, DEGREE_WORDS
from graph_service.text.fold import words
from graph_service.text.nouns import singular

_SHOWN = DEGREE_WORDS["first"].meanings
_SIZE = DEGREE_WORDS["largest"].meanings


def _roots(text: Iterable[str]) -> frozenset[str]:
    return frozenset(map(root, text))


_TIMES = frozenset(
    map(root, ("date", "year", "time", "day", "official", "of", "the", "on", "in", "at"))
)
BIRTH_WORDS = frozenset({"birth", "birthdate", "birthday", "born", "dob"})
"""Words of the names of relations to the day of a birth."""
_BIRTH = _roots(BIRTH_WORDS)
_MADE = _roots(
    ("inception", "founded", "foundation", "established", "establishment", "formed", "formation",
     "creation", "built", "building", "construction", "constructed", "opened", "introduced",
     "launched", "published", "publication", "released", "issued", "made", "manufactured",
     "manufacture", "produced", "production", "premiered", "debut", "painted", "written",
     "composed", "invented", "flight", "vintage", "begun")
)  # fmt: skip
"""Words for the day on which a thing began to be."""
_NOT_FIRST = _roots(
    ("end", "ended", "due", "deadline", "death", "died", "dead", "burial", "buried", "closed",
     "closing", "expires", "expiry", "expiration", "until", "till", "updated", "update",
     "modified", "modification", "edited", "changed", "revised", "retired", "dissolved",
     "abolished", "demolished", "discontinued", "cancelled", "last", "next", "review", "renewal",
     "reminder", "left")
)  # fmt: skip
"""Words for days that do not tell what came first or is the newest."""


_PEOPLE = _roots(("population", "inhabitants"))
_LANDS = frozenset(
    {"continent", "country", "county", "desert", "district", "forest", "island", "lake", "nation",
     "ocean", "park", "province", "region", "sea", "state", "territory"}
)  # fmt: skip
"""Nouns for what is the larger, the more land or water it has: not the more people live there."""
_SAME = (
    _roots(
        ("inception", "founded", "foundation", "established", "formed", "formation", "created",
         "creation", "opened", "built", "construction", "launched", "started", "begun", "began")
    ),
    _roots(
        ("published", "publication", "released", "issued", "premiered", "debut", "produced",
         "production", "made", "launched", "written")
    ),
    _roots(("death", "died", "dead")),
    _roots(("hired", "joined", "started", "employed")),
    _roots(("ended", "end", "closed", "dissolved", "abolished")),
)  # fmt: skip
"""Words that say the same of a day."""


def compares(
    meanings: Sequence[str], label: str, /, *, of_people: bool = False, own: Iterable[str] = ()
) -> bool:
    """Returns whether a relation has the values that a word of degree means by itself.

    Args:
        meanings: Names that the relation of such values may have, as ``DegreeWord`` has them.
        label: Words of the relation.
        of_people: Whether people are compared: they are as old as their birth says.
        own: Words for the things: an order is as old as its ``order date``.

    >>> age, long = DEGREE_WORDS["oldest"].meanings, DEGREE_WORDS["longest"].meanings
    >>> compares(DEGREE_WORDS["first"].meanings, "date of birth")
    False
    >>> [compares(DEGREE_WORDS["largest"].meanings, "population", own=[own]) for own in ("city", "country")]
    [True, False]
    >>> [compares(age, label) for label in ("founded", "date of birth", "hired", "due date")]
    [True, True, False, False]
    >>> compares(age, "founded", of_people=True), compares(age, "order date", own=["order"])
    (False, True)
    >>> compares(long, "length"), compares(long, "width")
    (True, False)
    """
    names = _roots(words(label)) - _TIMES
    if meanings[0] == BORN[0]:
        is_of_making = not of_people and tuple(meanings) != BORN
        return not names.isdisjoint(_BIRTH) or (
            is_of_making and (not names.isdisjoint(_MADE) or names <= _roots(own))
        )
    if meanings[0] == _SHOWN[0]:
        # Who was born first was not president first.
        others = _NOT_FIRST | _BIRTH | (_MADE if of_people else frozenset())
        return names.isdisjoint(others)
    if tuple(meanings) == _SIZE and not names.isdisjoint(_PEOPLE):
        return _LANDS.isdisjoint(map(singular, own))
    return any(_roots(words(meaning)) - _TIMES <= names for meaning in meanings)


def says_the_same(word: str, label: str, /) -> bool:
    """Returns whether a verb or a noun says what the name of a relation says.

    >>> says_the_same("founded", "inception"), says_the_same("died", "started")
    (True, False)
    """
    stem, names = root(word), _roots(words(label))
    return stem in names or any(stem in group and not names.isdisjoint(group) for group in _SAME)
