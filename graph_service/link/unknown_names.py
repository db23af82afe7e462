"""Words beside a part of a name that make it part of another name, which the graph lacks.

*Where is bob marley buried?* holds a part of the label Bob Kane. But ``marley`` belongs to the name
too, and that label does not have it: another Bob is meant. What stands beside a part of a name
is not of it where it is a function word, a word that people ask for relations with or that names a
relation of the graph, a title or a common noun, in any of its forms. And another number is another
thing: *Shaft S-99* is not Shaft S-12. Only of English questions is it known which words these are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from graph_service.link.function_words import COMMON_NOUNS, TITLES
from graph_service.link.inflection import stem
from graph_service.link.partial_names import is_initial, names_of
from graph_service.link.question_context import QuestionContext
from graph_service.text.fold import words
from graph_service.text.function_words import FUNCTION_WORDS, is_english
from graph_service.text.question_form import DO
from graph_service.text.relation_phrases import asking_words, read_phrases

_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def without_others(
    reading: QuestionContext, left: int, right: int, nodes: Sequence[int], /
) -> list[int]:
    """Returns those of some entities whose name atoms ``left`` to ``right`` may be, or a part of.

    Args:
        reading: The question.
        left: Place of the first atom.
        right: Place behind the last.
        nodes: Entities of which these words are a name, or a part of the label.
    """
    neighbours = _neighbours(reading, left, right) if nodes else ()
    number = _number_after(reading, right)
    if not (neighbours or number):
        return list(nodes)
    numbers = np.array(nodes, dtype=np.int32)
    labels = names_of(reading.graph, numbers, (*reading.languages, "en", "mul"))
    return [
        node
        for node, label in zip(nodes, labels, strict=True)
        if label is not None and _holds_all(label, neighbours) and _may_have(label, number)
    ]


def _number_after(reading: QuestionContext, right: int) -> str:
    """Returns the number that follows a place at once, after a letter of its code or none; empty
    where there is none, or where it is an amount or a year.
    """
    atoms = reading.atoms
    while right < len(atoms) and atoms[right].near and is_initial(atoms[right].text):
        right += 1
    if right >= len(atoms) or right in reading.amounts or not atoms[right].near:
        return ""
    text = atoms[right].text
    return text if text.isdigit() and not _YEAR.fullmatch(text) else ""


def _may_have(label: str, number: str) -> bool:
    """Returns whether a label has a number, or none at all: *Shaft S-99* is not Shaft S-12."""
    held = [word for word in words(label) if word.isdigit()]
    return not number or not held or number in held


def _neighbours(reading: QuestionContext, left: int, right: int) -> tuple[str, ...]:
    """Returns the words next to atoms ``left`` to ``right`` that may belong to the same name.

    Initials in between are passed over (``john d rockefeller``); a comma ends a name.
    """
    atoms = reading.atoms
    if not is_english(atom.text for atom in atoms):
        return ()
    before, after = left, right - 1
    while before > 0 and atoms[before].near:
        before -= 1
        if not is_initial(atoms[before].text):
            break
    while after + 1 < len(atoms) and atoms[after + 1].near:
        after += 1
        if not is_initial(atoms[after].text):
            break
    neighbours = dict.fromkeys(
        atoms[index].text
        for index in (before, after)
        if not left <= index < right and not _is_its_verb(reading, left, index)
    )
    return tuple(word for word in neighbours if not _is_ordinary(word, reading))


def _is_its_verb(reading: QuestionContext, left: int, index: int) -> bool:
    """Returns whether a word is what a name does, the last of a question: *what does the Saddle cost*.

    In *where does Bob Marley live* it is not, since a verb is to come.
    """
    words_before = [atom.text for atom in reading.atoms[:left]]
    if words_before[-1:] == ["the"]:
        words_before.pop()
    words_after = (atom.text for atom in reading.atoms[index + 1 :])
    follows_do = bool(words_before) and words_before[-1] in DO
    return follows_do and index > left and FUNCTION_WORDS.issuperset(words_after)


def _holds_all(label: str, neighbours: Sequence[str]) -> bool:
    """Returns whether a label has each of some words, or its initials in one (``jrr tolkien``)."""
    held = words(label)
    initials = "".join(filter(is_initial, held))
    return all(word in held or word == initials for word in neighbours)


def _is_ordinary(word: str, reading: QuestionContext) -> bool:
    return (
        is_initial(word)
        or any(letter.isdigit() for letter in word)
        or word in FUNCTION_WORDS
        or stem(word) in _ordinary_stems()
        or stem(word) in reading.lexicon.relation_stems
        or reading.lexicon.is_plain(word)
    )


@cache
def _ordinary_stems() -> frozenset[str]:
    named = {word for names, _ in read_phrases() for name in names for word in words(name)}
    return frozenset(map(stem, named | asking_words() | COMMON_NOUNS | TITLES))
