"""Verbs in the names of relations: *own* of owner, *publish* of published by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from graph_service.retrieve.constraints.coverage import root, sides_of
from graph_service.retrieve.constraints.meant_words import is_meant
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.participles import base_form, is_participle
from graph_service.text.question_form import read_form

DOES = re.compile(r"\b(?:do|does|did)\s+(?:the\s+)?$", re.IGNORECASE)
"""What stands before a name that does what the next verb says: *did* of *did Ann sell the boat*."""
_NO_DOERS = frozenset(
    [
        "border",
        "brother",
        "chapter",
        "character",
        "center",
        "color",
        "colour",
        "corner",
        "cover",
        "customer",
        "daughter",
        "doctor",
        "door",
        "error",
        "factor",
        "father",
        "finger",
        "floor",
        "flower",
        "letter",
        "master",
        "matter",
        "mayor",
        "member",
        "minister",
        "mirror",
        "mother",
        "motor",
        "number",
        "officer",
        "order",
        "paper",
        "partner",
        "power",
        "professor",
        "quarter",
        "river",
        "sector",
        "semester",
        "sister",
        "soldier",
        "summer",
        "tower",
        "water",
        "weather",
        "winter",
    ]
)
"""Nouns that end as those for who does something, and are made of no verb."""
DOERS = frozenset(
    {"author", "boss", "captain", "chair", "coach", "father", "guide", "head", "host", "lead",
     "mentor", "mother", "sponsor", "tutor"}
)  # fmt: skip
"""Nouns for who does what the same word says as a verb."""
_LIKE_A_WORD = 5
"""Letters in common from which on two words are forms of one: discovered, discovery."""


def content_of_label(label: str, /) -> list[str]:
    """Returns the words of a label that are no function words."""
    return [word for word in words(label) if word not in EMPTY_IN_ENGLISH and len(word) > 1]


@lru_cache(maxsize=1 << 14)
def verb_root(verb: str, /) -> str:
    """Returns the stem of a verb in its base form."""
    return root(base_form(verb))


def is_past(word: str, /) -> bool:
    """Returns whether a word is a past tense or a participle."""
    return is_participle(word) or base_form(word) != word


def verbs_in(
    question: str, own_words: Sequence[tuple[str, int, int]], names: Iterable[tuple[int, int]], /
) -> list[tuple[str, int, int]]:
    """Returns those of a question's words that are verbs: past tenses, participles, what one of some
    names does, and what *who* does.

    >>> verbs_in("Did Ann sell it?", [("sell", 8, 12)], [(4, 7)])
    [('sell', 8, 12)]
    >>> verbs_in("Who works in Hull?", [("works", 4, 9), ("hull", 13, 17)], [(13, 17)])
    [('works', 4, 9)]
    """
    form = read_form(question)
    acted_until = form.following_end if form.asks_who_acts else -1
    verbs = [word for word in own_words if is_past(word[0]) or word[2] == acted_until]
    for start, end in names:
        if start >= 0 and DOES.search(question[:start]):
            verbs += [word for word in own_words if word[1] >= end][:1]
    return list(dict.fromkeys(verbs))


def verbs_of(label: str, /) -> list[str]:
    """Returns the words of a label that are made of verbs: participles, but for those that describe
    a noun after them, and who does something.

    >>> [verbs_of(label) for label in ("owner", "published by", "captain", "unmarried spouse")]
    [['owner'], ['published'], [], []]
    """
    content = content_of_label(label)
    last = singular(content[-1]) if content else ""
    following = [*words(label)[1:], ""]
    participles = [
        word
        for word, after in zip(words(label), following, strict=False)
        if is_participle(word) and (not after or after in EMPTY_IN_ENGLISH)
    ]
    return participles + [last] * _has_doer_suffix(last)


def is_doer(noun: str, /) -> bool:
    """Returns whether a noun says who does what a verb made of it, or the same word, says.

    >>> [is_doer(noun) for noun in ("manager", "tutor", "boss", "number")]
    [True, True, True, False]
    """
    return noun in DOERS or _has_doer_suffix(noun)


def _has_doer_suffix(noun: str) -> bool:
    return noun.endswith(("er", "or")) and len(noun) > 4 and noun not in _NO_DOERS


def says(verb: str, label: str, /) -> bool:
    """Returns whether the root of a verb is one of the words that say a relation, or a form of one.

    >>> says(verb_root("built"), "builder"), says(verb_root("sold"), "owner")
    (True, False)
    >>> says(verb_root("reports"), "manager")
    True
    """
    return (
        names(verb, label)
        or is_meant(verb, label)
        or any(verb in side.words for side in sides_of(label))
    )


def names(verb: str, label: str, /) -> bool:
    """Returns whether the root of a verb is a word of a label, or a form of one.

    >>> names(verb_root("bordered"), "shares border with"), names(verb_root("made"), "maker")
    (True, True)
    """
    return any(
        verb in (each, verb_root(each))
        or (len(verb) >= _LIKE_A_WORD and verb[:_LIKE_A_WORD] == verb_root(each)[:_LIKE_A_WORD])
        for each in content_of_label(label)
    )
