"""A question as it is asked of one entity: what is left of it without that entity's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.context import Encoder
from graph_service.text.fold import word_spans
from graph_service.text.function_words import function_words_in

FEATURE_WORDS = ("who", "where", "when", "which", "what", "how many", "how", "whose")
"""Question words that the shipped weights were trained on, anywhere in a question, in this order."""
_NESTING = frozenset({"of", "s", "that", "whose", "by"})
"""Words that hang one noun on another."""
_OTHERS = frozenset({
    "also", "alongside", "another", "common", "else", "fellow", "other", "others", "same", "share",
    "shared", "shares", "sharing", "together",
})  # fmt: skip
"""Words that ask for what stands to something as the named does."""
_Spans: TypeAlias = Sequence[tuple[str, int, int]]
"""Words of a question with the characters where each begins and ends."""


@dataclass(frozen=True, slots=True, eq=False)
class EntityQuestion:
    """What a question asks of an entity that it names at one place.

    Attributes:
        text: The question less the name.
        vector: Its unit vector, float64 [d].
        words: The words that are no function words, in order; the name's are left out.
        word_vectors: Their unit vectors, float64 [w, d].
        distance: Words from the name, int64 [w]: below 0 before it, above 0 after it.
        nesting: How many words of the rest hang one noun on another (``of``, ``'s``).
        possessive: Whether the name owns what follows (``X's``).
        owned: Whether what stands before the name is said to be of it (``of X``).
        position: Middle of the name in the question, 0 to 1; a half where it is not named.
        of_others: Whether it asks for others beside the named (*the same*, *together with*).
    """

    text: str
    vector: Float64
    words: tuple[str, ...]
    word_vectors: Float64
    distance: Int64
    nesting: int
    possessive: bool
    owned: bool
    position: float
    of_others: bool

    def by_closeness(self) -> Int64:
        """Returns the places of the words, those that the name hangs on first.

        After ``X's`` what follows comes before what stands ahead of the name, and after ``of X``
        the other way about; else the nearer word comes first, and of two as near the one before.
        """
        after = self.distance > 0
        far = 2 * np.abs(self.distance) + after
        if self.possessive or self.owned:
            far = far + 4 * (np.abs(self.distance).max(initial=0) + 1) * (after != self.possessive)
        return np.argsort(far, kind="stable")


def without_mentions(question: str, mentions: Sequence[tuple[int, int]], /) -> str:
    """Returns the question less the names in it, or the question where nothing else is left.

    >>> without_mentions("Who is Ada's mother?", [(7, 10)])
    "Who is 's mother?"
    """
    rest = question
    for start, end in sorted(mentions, reverse=True):
        if 0 <= start < end <= len(question):
            rest = rest[:start] + " " + rest[end:]
    rest = " ".join(rest.split()).replace(" '", " '").strip()
    return rest if any(letter.isalnum() for letter in rest) else question


def text_without(question: str, mention: tuple[int, int] | None, /) -> str:
    """Returns a question as it is asked of what it names at a mention, or of all of it."""
    return without_mentions(question, [mention] if mention else [])


def compared_words(question: str, mention: tuple[int, int] | None, /) -> tuple[str, ...]:
    """Returns the words of ``read_entity_question``: those that are no function words, the name's left out."""
    spans = word_spans(question)
    outside = _outside(spans, *_words_of_name(spans, mention))
    return tuple(word for word, _ in _content(spans, outside))


def read_entity_question(
    question: str, mention: tuple[int, int] | None, encode: Encoder, /
) -> EntityQuestion:
    """Returns a question as asked of what it names at a mention, or of all of it.

    Args:
        question: As written.
        mention: Characters of the name, ``(start, end)``; None where the caller gave the entity
            and the question does not name it.
        encode: Texts to vectors, each once.
    """
    text = text_without(question, mention)
    start, end = mention or (-1, -1)
    spans = word_spans(question)
    first, last = _words_of_name(spans, mention)
    inside = first >= 0
    outside = _outside(spans, first, last)
    content = _content(spans, outside)
    words = tuple(word for word, _ in content)
    vectors = encode(list(words)).astype(np.float64) if words else np.zeros((0, 1))
    vector = encode.question(text).astype(np.float64)
    following = spans[last + 1][0] if inside and last + 1 < len(spans) else ""
    preceding = _before(spans, first) if inside else ""
    return EntityQuestion(
        text=text,
        vector=vector,
        words=words,
        word_vectors=vectors if words else np.zeros((0, len(vector))),
        distance=np.array([distance for _, distance in content], dtype=np.int64),
        nesting=sum(word in _NESTING for word, _ in outside),
        possessive=following == "s",
        owned=preceding == "of",
        position=(start + end) / 2 / max(len(question), 1) if mention else 0.5,
        of_others=any(word in _OTHERS for word, _ in outside),
    )


def _words_of_name(spans: _Spans, mention: tuple[int, int] | None) -> tuple[int, int]:
    """Returns the places of the first and the last word of a name; -1 twice where there is none."""
    start, end = mention or (-1, -1)
    inside = [
        position
        for position, (_, left, right) in enumerate(spans)
        if left >= start and right <= end
    ]
    return (inside[0], inside[-1]) if inside else (-1, -1)


def _outside(spans: _Spans, first: int, last: int) -> list[tuple[str, int]]:
    """Returns the words before and after a name, with their distance from it."""
    return [
        (word, position - first if position < first else position - last)
        for position, (word, _, _) in enumerate(spans)
        if first < 0 or not first <= position <= last
    ]


def _content(spans: _Spans, outside: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Returns those of some words of a question that are no function words."""
    empty = function_words_in(word for word, _, _ in spans)
    return [(word, distance) for word, distance in outside if len(word) > 1 and word not in empty]


def _before(spans: _Spans, first: int) -> str:
    """Returns the word before a name, an article between them left out."""
    position = first - 1
    if position >= 0 and spans[position][0] in {"the", "a", "an"}:
        position -= 1
    return spans[position][0] if position >= 0 else ""


def question_word_features(question: str, /) -> Float64:
    """Returns which of ``FEATURE_WORDS`` a question holds, and last whether none: float64 [9]."""
    text = f" {' '.join(word for word, _, _ in word_spans(question))} "
    features = np.array([float(f" {word} " in text) for word in FEATURE_WORDS] + [0.0])
    features[-1] = float(not features.any())
    return features
