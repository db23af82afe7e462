"""Words of degree: which of several comes first, and by what values.

One table for questions about entities and about classes: a word that names what it compares (*the
heaviest*: mass), or only orders what a noun names (*the greatest depth*).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DegreeWord:
    """What a word of degree says.

    Attributes:
        greatest: Whether the greatest value is meant, or the latest date; else the least.
        is_date: Whether dates are compared; else numbers.
        meanings: Names that the relation of such values may have; none where a noun has to name it.
    """

    greatest: bool
    is_date: bool
    meanings: tuple[str, ...] = ()


BORN = ("date of birth", "birth year")
BORN_OR_MADE = (*BORN, "inception", "date founded")
AGE = ("age",)
"""Names of relations of numbers that are the greater, the older something is."""
_SHOWN = (
    "publication date", "release year", "release date", "date", "year", "start time", "inception",
)  # fmt: skip
_SIZE = ("area", "population", "size")
_MASS = ("mass", "weight")
_PRICE = ("price", "cost", "fee", "rent", "fare", "charge", "toll")
_PAY = ("salary", "wage", "income", "pay", "earnings")
_DURATION = ("length", "duration", "running time", "runtime")
_ELEVATION = ("elevation above sea level", "height", "altitude", "elevation")
_DEPTH = ("depth", "vertical depth")
_SPEED = ("speed", "maximum speed", "velocity")
DEGREE_WORDS: Mapping[str, DegreeWord] = {
    "first": DegreeWord(False, True, _SHOWN),
    "earliest": DegreeWord(False, True, _SHOWN),
    "oldest": DegreeWord(False, True, (*BORN_OR_MADE, *_SHOWN)),
    "eldest": DegreeWord(False, True, BORN),
    "firstborn": DegreeWord(False, True, BORN),
    "last": DegreeWord(True, True, _SHOWN),
    "latest": DegreeWord(True, True, _SHOWN),
    "newest": DegreeWord(True, True, (*_SHOWN, *BORN_OR_MADE)),
    "youngest": DegreeWord(True, True, BORN_OR_MADE),
    "most recent": DegreeWord(True, True, _SHOWN),
    "most recently": DegreeWord(True, True, _SHOWN),
    "most recently released": DegreeWord(True, True, _SHOWN),
    "longest": DegreeWord(True, False, _DURATION),
    "shortest": DegreeWord(False, False, (*_DURATION, "height")),
    "largest": DegreeWord(True, False, _SIZE),
    "biggest": DegreeWord(True, False, _SIZE),
    "smallest": DegreeWord(False, False, _SIZE),
    "highest": DegreeWord(True, False, _ELEVATION),
    "tallest": DegreeWord(True, False, ("height", "elevation above sea level", "elevation")),
    "lowest": DegreeWord(False, False, _ELEVATION),
    "heaviest": DegreeWord(True, False, _MASS),
    "lightest": DegreeWord(False, False, _MASS),
    "most expensive": DegreeWord(True, False, _PRICE),
    "priciest": DegreeWord(True, False, _PRICE),
    "costliest": DegreeWord(True, False, _PRICE),
    "dearest": DegreeWord(True, False, _PRICE),
    "cheapest": DegreeWord(False, False, _PRICE),
    "least expensive": DegreeWord(False, False, _PRICE),
    "deepest": DegreeWord(True, False, _DEPTH),
    "shallowest": DegreeWord(False, False, _DEPTH),
    "most populous": DegreeWord(True, False, ("population",)),
    "most populated": DegreeWord(True, False, ("population",)),
    "least populated": DegreeWord(False, False, ("population",)),
    "widest": DegreeWord(True, False, ("width",)),
    "narrowest": DegreeWord(False, False, ("width",)),
    "fastest": DegreeWord(True, False, _SPEED),
    "slowest": DegreeWord(False, False, _SPEED),
    "earns most": DegreeWord(True, False, _PAY),
    "earns least": DegreeWord(False, False, _PAY),
    "costs most": DegreeWord(True, False, _PRICE),
    "costs least": DegreeWord(False, False, _PRICE),
    "weighs most": DegreeWord(True, False, _MASS),
    "weighs least": DegreeWord(False, False, _MASS),
    "most": DegreeWord(True, False),
    "greatest": DegreeWord(True, False),
    "maximum": DegreeWord(True, False),
    "fewest": DegreeWord(False, False),
    "least": DegreeWord(False, False),
    "minimum": DegreeWord(False, False),
}
MEANINGS = frozenset(degree.meanings for degree in DEGREE_WORDS.values()) | {BORN, AGE}
"""The names of relations that some word of degree means by itself."""
_WITH_MEANING = {word: degree for word, degree in DEGREE_WORDS.items() if degree.meanings}
_ANY = "|".join(sorted(map(re.escape, _WITH_MEANING), key=len, reverse=True))
DEGREE = re.compile(rf"\b({_ANY})\b(?!-)")
"""A word that says by itself what is compared."""
CLOSING_DEGREE = re.compile(rf"\b(?:is|are|was|were)\s+the\s+(?:{_ANY})\s*[?.]?\s*$")
"""*Which of them is the oldest?*"""
_BY_A_NOUN = (
    "most", "fewest", "least", "highest", "lowest", "largest", "greatest", "biggest", "smallest",
    "longest", "shortest", "maximum", "minimum", "earliest", "latest", "newest", "oldest",
)  # fmt: skip
DEGREE_OF_NOUN = re.compile(
    rf"\b({'|'.join(_BY_A_NOUN)}|(?:first|last|most recently)(?=\s*\?*$))\b"
)
"""A word that may order what a noun or a verb near it names: *the highest salary*, *hired last*."""
OF_NUMBERS = (
    "highest", "largest", "greatest", "biggest", "maximum", "lowest", "smallest", "minimum",
)  # fmt: skip
"""Words of degree of a count: *the lowest number of orders*."""
OF_MEASURES = (*OF_NUMBERS, "best", "longest", "shortest", "worst")
"""Words of degree of an average or a total: *the best average score*."""
LEAST = frozenset(word for word, degree in DEGREE_WORDS.items() if not degree.greatest) | {"worst"}
"""Words that mean the least value."""
COMPARATIVES: Mapping[str, str] = {
    **{
        degree.removesuffix("est") + "er": degree
        for degree in _WITH_MEANING
        if degree.endswith("est") and degree not in {"first", "latest"}
    },
    **{
        degree.replace("most ", "more ").replace("least ", "less "): degree
        for degree in _WITH_MEANING
        if degree.startswith(("most ", "least "))
    },
    **{
        f"{verb}{ending} {word}": f"{verb}s {degree}"
        for verb in ("earn", "cost", "weigh")
        for ending in ("", "s", "ed")
        for word, degree in (("more", "most"), ("less", "least"))
    },
    "first": "first",
    "last": "last",
    "later": "latest",
    "elder": "eldest",
}
"""The superlative of each comparative."""
COMPARATIVE = re.compile(
    rf"\b({'|'.join(sorted(map(re.escape, COMPARATIVES), key=len, reverse=True))}"
    r"|(?:more|less)\s+\w+|better|worse|(?!other|over|under|after|never|ever|either)\w{3,}ier)\b"
)
