"""Whether a question asks *where* or *who*, and an answer says something else.

*Where is the maker of X?* asks for the place of the maker. The maker is no answer. *Where was X
married?* does not ask for the spouse, nor *who* for a place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.retrieve.constraints.coverage import is_kin, root, stems_of
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.verb_labels import DOERS
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.similarity import SIMILARITY_DIGITS
from graph_service.text.fold import words
from graph_service.text.nouns import singular

_SETTLEMENTS = frozenset(
    {"borough", "capital", "city", "commune", "hamlet", "locality", "metropolis", "municipality",
     "neighborhood", "place", "quarter", "settlement", "suburb", "town", "township", "village"}
)  # fmt: skip
_COUNTRIES = frozenset(
    {"country", "empire", "kingdom", "monarchy", "nation", "republic", "state", "territory"}
)
_REGIONS = frozenset({"district", "province", "region", "state", "territory"})
_SITES = frozenset(
    {"airport", "castle", "cemetery", "church", "college", "cathedral", "hospital", "hotel", "house",
     "island", "library", "museum", "palace", "park", "prison", "school", "stadium", "street",
     "theater", "theatre", "university"}
)  # fmt: skip
_CLASS_WORDS = {
    **dict.fromkeys(("city", "town", "village"), _SETTLEMENTS),
    **dict.fromkeys(("country", "nation"), _COUNTRIES),
    **dict.fromkeys(("province", "state"), _REGIONS),
    "continent": frozenset({"continent"}),
    "county": frozenset({"county", "district", "parish"}),
    **{noun: frozenset({noun}) for noun in _SITES},
}
"""For nouns of places the words that name classes of such places: people call a town a city."""
Encode = Callable[[Sequence[str]], np.ndarray]
"""Texts to unit vectors."""
_LOCATED = ("place", "location", "country", "city", "school", "company", "organization")
_UNLOCATED = ("person", "family", "profession", "position held", "award", "date", "film")
_LIVED_IN = ("city", "town", "place")
_WORKED_IN = ("school", "university", "company", "organization", "building")
_SOMEBODY = ("person", "organization", "company", "team", "character")
_IMPERSONAL = ("place", "city", "country", "date", "year", "number")
_FROM_WHERE = frozenset({"at", "from"})
_LEAST_LEAN = 0.1
"""By how much more a label must be like what is not asked for. Of published questions with *where*
that loses 6 in 1,000, of those with *who* 11. Of the other's relations 36 and 60 in 100 are so.
"""
_SUFFIXES_OF_DOERS = ("er", "or", "ist", "ian", "man", "person")
_LOCATIONS = frozenset(
    {"border", "center", "chamber", "container", "corner", "corridor", "counter", "drawer", "floor",
     "folder", "harbor", "locker", "manor", "quarter", "river", "sector", "server", "shelter",
     "theater", "tower", "trailer"}
)  # fmt: skip
"""Common nouns for where something is that end as those for who does something."""
_CLAUSE = re.compile(
    r"\bthe\s+[\w\s-]+?\s(?:that|which|who|whom|whose|\w+ed\s+by)\b[^,;]*$", re.IGNORECASE
)
_LEAST_LETTERS = 5


def describes_by_clause(text: str, /) -> bool:
    """Returns whether a question's words before a name describe something by what it has to do with
    that name: a place is asked for then, and not what is described.

    >>> [describes_by_clause(text) for text in ("Where is the firm that makes ", "where did ")]
    [True, False]
    """
    return _CLAUSE.search(text) is not None


def names_location(noun: str, /) -> bool:
    """Returns whether a noun in the singular says a kind of place: city, state, country."""
    return noun in _CLASS_WORDS


def are_other_locations(
    noun: str,
    label: str,
    classes: Sequence[str],
    encode: Encode,
    /,
    *,
    target_labels: Sequence[str] = (),
) -> bool:
    """Returns whether nothing says that some things are what a noun of places says.

    Their classes may, and their own labels: Tarrant County. Things of no class that is known may be so by the label of the relation that
    leads to them, which is then not clearly more like that of something else; counties and
    continents are not.

    Args:
        noun: In the singular.
        label: Of the relation, without the noun.
        classes: Labels of the things' classes.
        encode: Texts to unit vectors.
        target_labels: Labels of the things.
    """
    if any(noun in words(each) for each in target_labels):
        return False
    names = _CLASS_WORDS[noun]
    is_one = any(not names.isdisjoint(map(singular, words(each))) for each in classes)
    if is_one:
        return False
    if noun in _SITES:
        return _leans(label, (noun,), _LIVED_IN, encode)
    if classes:
        return True
    if names is _SETTLEMENTS:
        return _leans(label, _LIVED_IN, _WORKED_IN, encode)
    is_located_in = names is _COUNTRIES or names is _REGIONS
    # A company operates in countries.
    others = (*_LIVED_IN, "school", "university")
    return not is_located_in or _leans(label, ("country", "state"), others, encode)


def names_somebody(noun: str, /) -> bool:
    """Returns whether a noun says what somebody does or how they are related.

    >>> [noun for noun in ("maker", "mother", "captain", "city", "tower") if names_somebody(noun)]
    ['maker', 'mother', 'captain']
    """
    own = singular(noun)
    if is_kin(own) or own in DOERS:
        return True
    return len(own) >= _LEAST_LETTERS and own.endswith(_SUFFIXES_OF_DOERS) and own not in _LOCATIONS


def lead_to_somebody(
    question: str,
    candidates: Candidates,
    numbers: Int64,
    texts: Sequence[str],
    encode: Encode,
    /,
) -> Bool:
    """Returns whether each candidate ends at somebody that a question names by what they do.

    Of the steps of such a candidate the noun (*maker*) fits the last best, and that step is less
    like a place than like the noun.

    Args:
        question: Less the name of the start.
        candidates: Of the question.
        numbers: Which of them.
        texts: Words of each of the candidates' relations.
        encode: Texts to unit vectors.
    """
    nouns = [word for word in words(question) if names_somebody(word)]
    if not nouns or not len(numbers):
        return np.zeros(len(numbers), dtype=np.bool_)
    vectors = encode([*texts, *nouns, "place"]).astype(np.float64)
    relations, others = vectors[: len(texts)], vectors[len(texts) :]
    fits: Float64 = np.round(relations @ others.T, SIMILARITY_DIGITS)
    of_noun, of_where = fits[:, :-1].max(axis=1), fits[:, -1]
    roots = set(map(root, nouns))
    is_stated = [not roots.isdisjoint(stems_of(words(text))) for text in texts]
    of_noun = of_noun + np.array(is_stated)
    steps = np.where(candidates.steps[numbers], of_noun[candidates.relations[numbers]], -np.inf)
    rows = np.arange(len(numbers))
    last = candidates.length[numbers] - 1
    last_relations = candidates.relations[numbers][rows, last]
    is_last: Bool = (steps[rows, last] >= steps.max(axis=1)) & (
        (fits[:, :-1].max(axis=1) >= of_where)[last_relations]
    )
    return is_last


def names_no_location(label: str, encode: Encode, /) -> bool:
    """Returns whether the label of a relation is surely that of values that are nowhere: of kin, an
    office, an award. Where somebody works or learns is a place, and so is what a doctorate is *from*.
    """
    if words(label)[-1:] and words(label)[-1] in _FROM_WHERE:
        return False
    return any(map(is_kin, words(label))) or _leans(label, _LOCATED, _UNLOCATED, encode)


def names_nobody(label: str, encode: Encode, /) -> bool:
    """Returns whether the label of a relation is surely that of values that are nobody: places, dates
    and numbers.
    """
    return not any(map(is_kin, words(label))) and _leans(label, _SOMEBODY, _IMPERSONAL, encode)


def _leans(label: str, meant: Sequence[str], others: Sequence[str], encode: Encode) -> bool:
    """Returns whether a label is clearly more like one of some other nouns than like those meant."""
    fits = _fits(label, (*meant, *others), encode)
    own, other = fits[: len(meant)].max(), fits[len(meant) :].max()
    return bool(own + _LEAST_LEAN < other >= CONSTRAINT_RULES.spoken)


def _fits(label: str, nouns: Sequence[str], encode: Encode) -> Float64:
    """Returns the cosine of a label with each of some nouns, float64 [nouns]."""
    vectors = encode([label, *nouns]).astype(np.float64)
    fits: Float64 = np.round(vectors[1:] @ vectors[0], SIMILARITY_DIGITS)
    return fits
