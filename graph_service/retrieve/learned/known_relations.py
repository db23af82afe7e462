"""What people call relations of which a graph gives but a label.

Wikidata has other names for its properties (*also known as*); other sources have one label, such as
``gender``, and who asks *what sex is Ann?* does not say it. A relation without other names takes
those of the common relations that its label is most like, and the words that people ask for them
with (``relation_phrases.jsonl``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.context import Encode
from graph_service.text.function_words import content_words
from graph_service.text.relation_phrases import read_phrases

LEAST_LIKE = 0.7
"""Cosine of a label with a name of a common relation from which on they may mean the same."""
MARGIN = 0.02
"""Relations whose nearest names are so much less like the label at most count as well."""
_DIGITS = 5


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The common relations.

    Attributes:
        names: All their names, n of them.
        owner: The relation of each name, int64 [n].
        words: By relation, its names and what people say for it.
    """

    names: tuple[str, ...]
    owner: Int64
    words: tuple[tuple[str, ...], ...]


def names_like(labels: Sequence[str], encode: Encode, /) -> list[tuple[str, ...] | None]:
    """Returns the names of the common relations that each label is most like.

    Args:
        labels: Of relations, distinct.
        encode: Texts to unit vectors; zeros for lack of time.

    Returns:
        None for a label where a vector was lacking.
    """
    table = _read()
    vectors = encode([*labels, *table.names]).astype(np.float64)
    of_labels, of_names = vectors[: len(labels)], vectors[len(labels) :]
    if not of_names.any(axis=1).all():
        return [None] * len(labels)
    cosines: Float64 = np.round(of_labels @ of_names.T, _DIGITS)
    near = cosines >= np.maximum(cosines.max(axis=1, keepdims=True) - MARGIN, LEAST_LIKE)
    return [
        tuple(
            dict.fromkeys(
                name for known in np.unique(table.owner[row]) for name in table.words[known]
            )
        )
        if vector.any()
        else None
        for row, vector in zip(near, of_labels, strict=True)
    ]


def common_names() -> tuple[str, ...]:
    """Returns all names of the common relations: what ``names_like`` compares a label with."""
    return _read().names


@cache
def _read() -> _Table:
    names: list[str] = []
    owner: list[int] = []
    words: list[tuple[str, ...]] = []
    for index, (own, phrases) in enumerate(read_phrases()):
        names.extend(own)
        owner.extend([index] * len(own))
        phrase_words = (
            " ".join(content_words(each.replace("{x}", "")) or ()) for each in phrases.all()
        )
        words.append(tuple(dict.fromkeys((*own, *filter(None, phrase_words)))))
    return _Table(tuple(names), np.array(owner, dtype=np.int64), tuple(words))
