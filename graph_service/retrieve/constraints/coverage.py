"""Which words of a question a relation accounts for, and which side of it a noun names.

*Children* is what stands at the end of ``child``, and where ``father`` comes from; *parents* are the
other way about. Who counts children must not count parents. Labels tell that, and the wordings of
common relations (``text.relation_phrases``) do for nouns that labels lack.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.reading import kin_of
from graph_service.retrieve.learned.relation_names import stem
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.relation_phrases import read_phrases

_IN_LAW = re.compile(r"[\s-]in[\s-]law\b", re.IGNORECASE)
_VERB_PREPOSITIONS = frozenset({"by", "in", "at", "from", "to", "with", "on", "for", "as"})
_KIN = frozenset(
    [
        "aunt",
        "brother",
        "child",
        "cousin",
        "daughter",
        "father",
        "granddaughter",
        "grandfather",
        "grandmother",
        "grandparent",
        "grandson",
        "grandchild",
        "husband",
        "mother",
        "nephew",
        "niece",
        "parent",
        "sibling",
        "sister",
        "son",
        "spouse",
        "uncle",
        "wife",
        "descendant",
        "ancestor",
        "relative",
        "stepson",
        "stepdaughter",
        "stepchild",
        "stepfather",
        "stepmother",
        "twin",
    ]
)
_NEAREST_KIN = frozenset(
    ["child", "daughter", "father", "husband", "mother", "parent", "son", "spouse", "wife"]
)
"""What no other kin leads to."""
_OF_SPOUSE = frozenset(["brother", "father", "mother", "sibling", "sister"])
"""Kin by marriage that are kin of a spouse: a *mother-in-law*. Parents may be two relations."""
_SPOUSE_OF = frozenset(["brother", "child", "daughter", "sibling", "sister", "son"])
"""Kin by marriage that are spouses of kin: a *son-in-law*."""
_MUTUAL = frozenset(["cousin", "relative", "sibling", "spouse", "twin"])


@dataclass(frozen=True, slots=True)
class Side:
    """What is said of one end of a relation.

    Attributes:
        nouns: Stems of nouns for what stands there.
        words: Stems of all words that ask for it.
    """

    nouns: frozenset[str]
    words: frozenset[str]


@lru_cache(maxsize=1 << 14)
def root(word: str, /) -> str:
    """Returns the stem of a word, a noun in the singular, a doubled last letter once.

    >>> root("starring") == root("stars")
    True
    """
    word_stem = stem(singular(word))
    return (
        word_stem[:-1]
        if len(word_stem) > 3 and word_stem[-1] == word_stem[-2] != "s"
        else word_stem
    )


def stems_of(text: Iterable[str], /) -> frozenset[str]:
    """Returns the stems of some folded words, nouns in the singular, function words left out."""
    return frozenset(root(word) for word in text if word not in EMPTY_IN_ENGLISH and len(word) > 1)


def label_spans(question: str, labels: Iterable[str], /) -> list[tuple[int, int]]:
    """Returns the characters of a question's words that are the whole of a label of several words.

    >>> label_spans("What is the latest version of X?", ["latest version", "first version"])
    [(12, 26)]
    """
    spans = word_spans(question)
    question_words = [word for word, _, _ in spans]
    of_labels: list[tuple[int, int]] = []
    for label_words in dict.fromkeys(tuple(words(label)) for label in labels):
        count = len(label_words)
        if count > 1:
            of_labels += [
                (spans[at][1], spans[at + count - 1][2])
                for at in range(len(spans) - count + 1)
                if tuple(question_words[at : at + count]) == label_words
            ]
    return of_labels


_FAMILIAR = {"dad": "father", "daddy": "father", "kid": "child", "mom": "mother", "mum": "mother",
           "mummy": "mother"}  # fmt: skip
"""Nouns of kin as people say them."""


def _singular(noun: str) -> str:
    own = noun[:-3] if noun.endswith("children") else singular(noun)
    return _FAMILIAR.get(own, own)


def is_kin(noun: str, /) -> bool:
    """Returns whether a noun says how somebody is related: only a relation of that meaning will do.

    >>> is_kin("grandchildren"), is_kin("kids"), is_kin("films")
    (True, True, False)
    """
    own = _singular(noun)
    return own in _KIN or own.removeprefix("great") in _KIN


def is_by_marriage(question: str, noun_end: int, /) -> bool:
    """Returns whether a noun of kin that ends at a character says kin by marriage.

    >>> is_by_marriage("Who is her brother-in-law?", 18), is_by_marriage("Her son in Rome", 7)
    (True, False)
    """
    return _IN_LAW.match(question, noun_end) is not None


def follows_from_kin(noun: str, /) -> bool:
    """Returns whether other kin may lead to what a noun of kin says: a sister is a parent's child.

    >>> follows_from_kin("sisters"), follows_from_kin("grandmother"), follows_from_kin("mother")
    (True, True, False)
    """
    return is_kin(noun) and _singular(noun) not in _NEAREST_KIN


def is_mutual(noun: str, /) -> bool:
    """Returns whether a noun of kin names either of two people: the husband of X has X for a spouse.

    >>> is_mutual("sisters"), is_mutual("mother")
    (True, False)
    """
    own = _singular(noun)
    return not _MUTUAL.isdisjoint({own, kin_of(own)})


@lru_cache(maxsize=1 << 14)
def sides_of(label: str, /) -> tuple[Side, Side]:
    """Returns what is said of a relation's values, and of its subjects.

    >>> forward, backward = sides_of("child")
    >>> "child" in forward.nouns, "child" in backward.nouns, "parent" in backward.nouns
    (True, False, True)
    >>> "part" in sides_of("part of")[1].nouns
    True
    >>> "writ" in sides_of("authors")[0].words
    True
    """
    name_words = words(label)
    own = frozenset(_nouns_of_name(name_words))
    values, subjects = (
        (frozenset[str](), own) if name_words[-1:] == ["of"] else (own, frozenset[str]())
    )
    key = [word for word in name_words if word not in {"has", "is"}]
    # A column of several authors is called so.
    of_each = [*key[:-1], *map(singular, key[-1:])]
    known = _known().get("".join(key)) or _known().get("".join(of_each))
    every = stems_of(name_words)
    if known is None:
        return Side(values, every), Side(subjects, every)
    forward, backward = known
    return (
        Side(values | forward.nouns, every | forward.words),
        Side(subjects | (backward.nouns - values), every | backward.words),
    )


def _nouns_of_name(name_words: list[str]) -> set[str]:
    """Returns the noun that a relation's name is, as a stem: ``part`` of ``has part``, ``part of``."""
    if name_words[-1:] == ["of"]:
        name_words = name_words[:-1]
    elif name_words[-1:] and name_words[-1] in _VERB_PREPOSITIONS:
        return set()
    content = [word for word in name_words if word not in EMPTY_IN_ENGLISH]
    return {root(content[-1])} if content else set()


@cache
def _known() -> Mapping[str, tuple[Side, Side]]:
    """Returns both sides of each common relation, by each of its names without spaces; a name of
    several has those of all.
    """
    sides_by_name: dict[str, list[tuple[Side, Side]]] = defaultdict(list)
    for names, phrases in read_phrases():
        values, subjects = set[str](), set[str]()
        for name in names:
            name_words = words(name)
            (subjects if name_words[-1:] == ["of"] else values).update(_nouns_of_name(name_words))
        values |= {noun for phrase in phrases.noun if (noun := _noun_of_phrase(phrase))}
        subjects |= {noun for phrase in phrases.noun_backward if (noun := _noun_of_phrase(phrase))}
        forward = Side(frozenset(values), _words_of((*names, *phrases.forward, *phrases.noun)))
        backward = Side(
            frozenset(subjects - values),
            _words_of((*names, *phrases.backward, *phrases.noun_backward)),
        )
        for name in names:
            sides_by_name["".join(words(name))].append((forward, backward))
    return {
        name: (_joined(side for side, _ in sides), _joined(side for _, side in sides))
        for name, sides in sides_by_name.items()
        if name
    }


def _joined(sides: Iterable[Side]) -> Side:
    every = list(sides)
    return Side(
        frozenset[str]().union(*(side.nouns for side in every)),
        frozenset[str]().union(*(side.words for side in every)),
    )


def _words_of(phrases: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(
        *(stems_of(words(phrase.replace("{x}", " "))) for phrase in phrases)
    )


def _noun_of_phrase(phrase: str) -> str:
    """Returns the stem of the noun that a phrase is about: of ``{x}'s son`` and ``the son of {x}``."""
    owned = phrase.startswith("{x}'s")
    content = [
        word
        for word in words(phrase.replace("{x}'s", " ").replace("{x}", " "))
        if word not in EMPTY_IN_ENGLISH
    ]
    return root(content[-1 if owned else 0]) if content else ""


def means(noun: str, side: Side, /) -> bool:
    """Returns whether a noun names what stands at one side of a relation.

    >>> means("daughters", sides_of("child")[0]), means("grandchildren", sides_of("child")[0])
    (True, False)
    """
    own = _singular(noun)
    return bool({root(own), root(kin_of(own))} & (side.nouns - {""}))


def side_of(walks: CandidateWalks, step: int, texts: Mapping[int, str], /) -> Side:
    """Returns what is said of the end that a step leads to; ``texts`` are words of relations."""
    return sides_of(texts[walks.relations[step]])[walks.backward[step]]


def names_end(noun: str, walks: CandidateWalks, texts: Mapping[int, str], /) -> bool:
    """Returns whether a noun names what a candidate's last step leads to."""
    return means(noun, side_of(walks, -1, texts))


def names_other_end(noun: str, walks: CandidateWalks, texts: Mapping[int, str], /) -> bool:
    """Returns whether a noun names what the last step comes from: parents, where children are."""
    return means(noun, sides_of(texts[walks.relations[-1]])[not walks.backward[-1]])


def marriage_step(noun: str, walks: CandidateWalks, texts: Mapping[int, str], /) -> int | None:
    """Returns which step of a candidate joins spouses, if it leads to somebody's ``noun``-in-law: to
    kin of a spouse, or to a spouse of kin.
    """
    if len(walks.relations) != 2:
        return None
    first, last = (side_of(walks, step, texts) for step in range(2))
    joins_spouses = [
        any(means("spouse", side) for side in sides_of(texts[relation]))
        for relation in walks.relations
    ]
    own = singular(noun)
    if own in _OF_SPOUSE and joins_spouses[0] and means(own, last):
        return 0
    return 1 if own in _SPOUSE_OF and means(own, first) and joins_spouses[1] else None
