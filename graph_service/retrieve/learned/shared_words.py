"""Whether steps of a walk are said by words of their own."""

from __future__ import annotations

from collections.abc import Sequence

from graph_service.retrieve.constraints.coverage import root, stems_of
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import ASKING_WORDS


def labels_within_others(
    question: str, labels: Sequence[str], /
) -> list[tuple[str, tuple[str, ...]]]:
    """Returns the labels whose words stand within another label that is walked too and that the
    question says, where it says them once; each with the other words of the question, which may
    mean it.

    Args:
        question: As asked, without the name that the walk starts at.
        labels: Of the relations walked.

    >>> steps = ["account manager", "manager"]
    >>> labels_within_others("Who is X's account manager?", steps)
    [('manager', ())]
    >>> labels_within_others("Who is the manager of X's account manager?", steps)
    []
    >>> labels_within_others("Who is the boss of X's account manager?", steps)
    [('manager', ('boss',))]
    """
    distinct = list(dict.fromkeys(labels))
    names = [stems_of(words(label)) for label in distinct]
    content = [
        word
        for word in words(question)
        if word not in EMPTY_IN_ENGLISH | ASKING_WORDS and len(word) > 1
    ]
    stems = [root(word) for word in content]
    within: list[tuple[str, tuple[str, ...]]] = []
    for inner, label in zip(names, distinct, strict=True):
        outer = next((each for each in names if inner < each), None)
        if not inner or outer is None or not outer.issubset(stems):
            continue
        if min(stems.count(stem) for stem in inner) < sum(inner <= each for each in names):
            others = [word for word in content if root(word) not in outer]
            within.append((label, tuple(others)))
    return within
