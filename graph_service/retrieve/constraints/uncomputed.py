"""Figures that walks do not compute: shares, medians, differences, how often, ages at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable

from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.degree_relations import BIRTH_WORDS
from graph_service.text.fold import lowered, words

_FIGURES = re.compile(
    r"(?:(?:\b(?:what|which|how\s+(?:big|large|high)(?:\s+a)?)\s+(?:is\s+the\s+|was\s+the\s+|a\s+)?"
    r"|^\W*(?:the\s+)?)(?P<share>share|percentages?|per\s?cent|proportion|fraction|ratio)\s+of"
    r"|\b(?P<median>median|standard deviation|variance|quartile|percentile)\b"
    r"|\bhow\s+(?:many\s+(?P<times>times)|(?P<often>often|frequently))\b"
    r"|\bhow\s+(?P<old>old)\s+(?:was|were)\b.*\bwhen\b"
    r"|\b(?P<difference>difference)\s+(?:in\s+\w+\s+)?between"
    r"|\bhow\s+(?:much|many)(?:\s+\w+)?\s+(?P<more>more|less|fewer)(?:\s+\w+){0,6}\s+than\b(?!\s+\d)"
    r"|\bhow\s+much\s+(?P<degree>\w{3,}er)(?:\s+\w+){0,6}\s+than\b(?!\s+\d))"
)
_DEGREES = frozenset(
    {"best", "worst", "fastest", "slowest", "quickest", "strongest", "weakest", "hottest", "coldest",
     "warmest", "richest", "poorest", "safest", "busiest", "easiest", "hardest", "finest", "nearest",
     "closest", "farthest", "thickest", "thinnest", "loudest", "steepest", "strictest"}
)  # fmt: skip
"""Degrees of which no word says by what values they order."""


_MOST_OF = re.compile(
    r"\b(?:by|has|have|had|with|got|made)\s+the\s+(?:most|fewest)\s+(?!\w+(?:ed|ly|ive|ous)\b)\w+s\b"
)


def asks_for_most(question: str, /) -> bool:
    """Returns whether a question asks for what has the most of some things.

    >>> asks_for_most("Which room was booked by the most guests, A or B?")
    True
    >>> asks_for_most("Who has the most famous works?")
    False
    """
    return bool(_MOST_OF.search(lowered(question)))


def leaves_a_degree(unread: Iterable[str], /) -> bool:
    """Returns whether a word of degree is among the words that nothing accounts for.

    >>> leaves_a_degree(["best"]), leaves_a_degree(["time"])
    (True, False)
    """
    return not _DEGREES.isdisjoint(unread)


_WHEN_DID = re.compile(r"\b(?:when|(?:what|which) (?:year|month|day|date))\s+did\b")


def asks_of_another_day(question: str, labels: Iterable[str], /) -> bool:
    """Returns whether a question asks when somebody did something, and the relations of some labels
    lead to the day of a birth: nobody is born by becoming an actor.

    >>> asks_of_another_day("When did Ann become an actor?", ["date of birth"])
    True
    >>> asks_of_another_day("When did Ann give birth to Bob?", ["child", "date of birth"])
    False
    """
    if not _WHEN_DID.search(lowered(question)) or not BIRTH_WORDS.isdisjoint(words(question)):
        return False
    return any(not BIRTH_WORDS.isdisjoint(words(label)) for label in labels)


def asks_uncomputed(question: str, labels: Iterable[str] = (), /) -> bool:
    """Returns whether a question asks for a figure that walks do not compute, and that no relation
    of some labels states.

    >>> asks_uncomputed("What share of the parts is red?"), asks_uncomputed("What is the share?")
    (True, False)
    >>> asks_uncomputed("What is the median price?"), asks_uncomputed("percentage of games won")
    (True, True)
    >>> asks_uncomputed("What is the median price?", ["median price"])
    False
    >>> asks_uncomputed("How many times was it played?", ["playing time"])
    True
    >>> asks_uncomputed("How old was Ann when she died?", ["date of death"])
    True
    """
    match = _FIGURES.search(lowered(question))
    if match is None:
        return False
    label_words = [word for label in labels for word in words(label)]
    if match["times"]:
        # The playing time is no number of times.
        return "times" not in label_words
    if match["old"]:
        return "age" not in label_words
    own = set(map(root, label_words))
    return not any(root(text) in own for text in match.groups() if text)
