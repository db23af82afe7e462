"""Self-consistency: several answers to one question become one (O8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graph_service.text.fold import index_tokens


def most_agreed(answers: Sequence[str], /) -> int:
    """Returns the place of the answer that shares most words with the others; the first of equals.

    Two answers agree by the F1 of their words, counted as often as they occur. For answers of one
    word this is the vote of the self-consistency paper; open answers never repeat each other
    exactly, and a vote over whole texts would decide nothing.

    >>> most_agreed(["Rome", "It is Paris", "It is Rome", "Rome is it"])
    2
    """
    counts = [Counter(index_tokens(text)) for text in answers]
    agreement = [
        sum(_f1(own, other) for j, other in enumerate(counts) if j != i)
        for i, own in enumerate(counts)
    ]
    # Rounded, so that the order of a sum's terms decides nothing.
    return max(range(len(answers)), key=lambda i: (round(agreement[i], 9), -i))


def _f1(first: Counter[str], other: Counter[str]) -> float:
    total = first.total() + other.total()
    return 2.0 * (first & other).total() / total if total else 0.0
