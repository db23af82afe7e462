"""Misspelt words that say a relation: *supervisr*, *ownes*.

A word is misspelt if it is none of the language, and one letter off a word by which the graph or
people call a relation. Names are left alone: the linker reads those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from rapidfuzz.distance import OSA

from graph_service.retrieve.constraints.meant_words import MEANT_WORDS
from graph_service.text.fold import word_spans, words
from graph_service.text.questions import Piece, Wording
from graph_service.text.relation_phrases import read_phrases

_LEAST_LETTERS = 5


def corrected_question(
    question: str,
    names: Sequence[tuple[int, int]],
    labels: Iterable[str],
    /,
    *,
    is_word: Callable[[str], bool],
) -> Wording | None:
    """Returns a question with its misspelt words corrected; None where it has none.

    Args:
        question: As asked.
        names: The characters that name something.
        labels: Of the graph's relations, looked at if a word may be misspelt.
        is_word: Whether a word is one of the language as it is written.

    >>> corrected = corrected_question("who ownes it", [], ["owned by"], is_word=lambda word: word != "ownes")
    >>> corrected.text, corrected.written(4, 9)
    ('who owned it', (4, 9))
    """
    misspelt = [
        (word, start, end)
        for word, start, end in word_spans(question)
        if len(word) >= _LEAST_LETTERS
        and word.isalpha()
        and question[start:end].islower()
        and not any(start < right and left < end for left, right in names)
        and not is_word(word)
    ]
    if not misspelt:
        return None
    own = {word for label in labels for word in words(label)}
    wording = Wording((Piece(question, 0, len(question)),))
    for word, start, end in reversed(misspelt):
        meant = "" if word in own else _meant(word, own) or _meant(word, _phrase_words())
        if meant:
            wording = wording.replaced(start, end, meant)
    return wording if wording.text != question else None


def _meant(misspelt: str, known: Iterable[str]) -> str:
    """Returns the only word that is one letter off another; "" where none or several are."""
    near = [
        word
        for word in known
        if len(word) >= _LEAST_LETTERS
        and word[0] == misspelt[0]
        and OSA.distance(word, misspelt, score_cutoff=1) == 1
    ]
    return near[0] if len(near) == 1 else ""


@cache
def _phrase_words() -> frozenset[str]:
    """Returns the words by which people say relations."""
    phrases = (phrase for _, each in read_phrases() for phrase in each.all())
    return MEANT_WORDS.union(word for phrase in phrases for word in words(phrase))
