"""The nouns that a name owns in a question: *the boss of X*, *X's boss*."""

from __future__ import annotations

import re

from graph_service.text.fold import word_spans
from graph_service.text.function_words import ARTICLES, EMPTY_IN_ENGLISH

_APOSTROPHES = "'’"
_HAD = re.compile(r"\b(?:what|which)\s+([\w-]+)\s+(?:do|does|did)\s+(?:the\s+)?$", re.IGNORECASE)
"""Before the name of *what rating does X have*."""


def owned_phrases(question: str, name: tuple[int, int], /) -> list[list[tuple[str, int, int]]]:
    """Returns the nouns that a name owns, *boss* of *the boss of X*, the innermost first.

    Each with the characters that it stands at.

    >>> [[word for word, _, _ in each] for each in owned_phrases("the boss of Al's wife", (12, 14))]
    [['wife'], ['boss']]
    >>> [[word for word, _, _ in each] for each in owned_phrases("What age does Al have?", (14, 16))]
    [['age']]
    >>> owned_phrases("What kind of car does Al have?", (22, 24))
    []
    """
    start, end = name
    if start < 0:
        return []
    spans = word_spans(question)
    before = [span for span in spans if span[2] <= start]
    after = [span for span in spans if span[1] >= end]
    phrases: list[list[tuple[str, int, int]]] = []
    had = _HAD.search(question[:start]) if after and after[0][0] == "have" else None
    if had is not None:
        return [[span for span in before if had.start(1) <= span[1] < had.end(1)]]
    while after and after[0][0] == "s" and question[after[0][1] - 1] in _APOSTROPHES:
        count = next(
            (at for at, span in enumerate(after[1:]) if span[0] in EMPTY_IN_ENGLISH), len(after) - 1
        )
        phrases.append(after[1 : 1 + count])
        after = after[1 + count :]
    while before:
        while before and before[-1][0] in ARTICLES:
            before.pop()
        if not before or before.pop()[0] != "of":
            break
        phrase: list[tuple[str, int, int]] = []
        while before and before[-1][0] not in EMPTY_IN_ENGLISH:
            phrase.insert(0, before.pop())
        phrases.append(phrase)
    return [phrase for phrase in phrases if phrase]
