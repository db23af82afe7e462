"""How many of the nouns that a question nests a candidate walks, each by a step of its own.

*The sex of the child of X's sister* owns three nouns, one inside the other. A candidate that walks
them in their order is three steps long, and one that leaves one out answers a part of the question.
That is a sign, and no proof: the score of a candidate rises by a little for each noun that it
walks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from graph_service.model.graph import Float64
from graph_service.retrieve.constraints.coverage import means, root, sides_of, stems_of
from graph_service.retrieve.constraints.owned_nouns import owned_phrases
from graph_service.text.fold import words

_BONUS = 3.0
"""What is added to the learned score of a candidate for each noun."""
_SAYS_NOTHING = stems_of(["kind", "name", "sort", "type"])


def nested_bonus(
    question: str,
    names: Sequence[tuple[int, int] | None],
    sequences: Sequence[Sequence[tuple[str, bool]]],
    /,
) -> Float64:
    """Returns what is added to the scores of some candidates, float64 [n]; nothing where a name owns
    fewer than two nouns.

    Args:
        question: As asked.
        names: Of each candidate the characters of the name that it starts at.
        sequences: Of each the labels of its relations, and whether each is walked from value to
            head.
    """
    labels = {label for steps in sequences for label, _ in steps}
    phrases = {
        name: nested_phrases(question, name, labels) for name in set(names) if name is not None
    }
    counts = [
        _walked(phrases.get(name, ()) if name else (), steps)
        for name, steps in zip(names, sequences, strict=True)
    ]
    return _BONUS * np.array(counts, dtype=np.float64)


def nested_phrases(
    question: str, name: tuple[int, int], labels: Iterable[str], /
) -> list[list[str]]:
    """Returns the words of each noun that a name owns, the innermost first; none of a single noun.
    The words of one label are one noun, and *the name of* is none.

    >>> nested_phrases("the date of birth of Al's wife", (21, 23), ["spouse", "date of birth"])
    [['wife'], ['date', 'birth']]
    """
    names = [stems_of(words(label)) for label in labels]
    phrases: list[list[str]] = []
    for owned in owned_phrases(question, name):
        nouns = [word for word, _, _ in owned]
        if all(root(noun) in _SAYS_NOTHING for noun in nouns):
            continue
        joined = [*nouns, *phrases[-1]] if phrases else []
        stems = stems_of(joined)
        # The child of X's child is no word of a label twice.
        if joined and len(stems) == len(joined) and any(stems <= each for each in names):
            phrases[-1] = joined
        else:
            phrases.append(nouns)
    return phrases if len(phrases) > 1 else []


def _walked(phrases: Sequence[Sequence[str]], steps: Sequence[tuple[str, bool]]) -> int:
    """Returns how many phrases some steps say in their order, each by a step of its own."""
    longest = [0] * (len(steps) + 1)
    for phrase in phrases:
        before = list(longest)
        for column, (label, backward) in enumerate(steps, 1):
            match = before[column - 1] + _names(phrase, label, backward)
            longest[column] = max(before[column], longest[column - 1], match)
    return longest[-1]


def _names(phrase: Sequence[str], label: str, backward: bool) -> bool:
    """Returns whether a noun names what a step leads to."""
    side, stems = sides_of(label)[backward], stems_of(words(label))
    return any(means(word, side) or root(word) in stems for word in phrase)
