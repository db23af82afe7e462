"""The names of a region's relations, as vectors and as stems of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.text.fold import words
from graph_service.text.function_words import FUNCTION_WORDS


@dataclass(frozen=True, slots=True, eq=False)
class RelationTexts:
    """The names of a region's relations, ``r`` relations of ``n`` names.

    Attributes:
        vectors: Unit vectors of all names, those of one relation together, float64 [n, d].
        first: Place of each relation's first name, its label, int64 [r].
        stems: Stems of each name's words, by relation.
    """

    vectors: Float64
    first: Int64
    stems: tuple[tuple[frozenset[str], ...], ...]

    @property
    def labels(self) -> Float64:
        """Vectors of the labels, float64 [r, d]."""
        return self.vectors[self.first]

    def likeness(self, texts: Float64, /) -> Float64:
        """Returns the cosine of each text with the nearest name of each relation, [texts, r]."""
        if not len(texts):
            return np.zeros((0, len(self.first)))
        nearest: Float64 = np.maximum.reduceat(texts @ self.vectors.T, self.first, axis=1)
        return nearest


def stem(word: str, /) -> str:
    """Returns an English word without its commonest endings.

    >>> stem("directed"), stem("director"), stem("films")
    ('direct', 'direct', 'film')
    """
    for ending, least in (
        ("ing", 6),
        ("ed", 5),
        ("es", 5),
        ("er", 5),
        ("or", 5),
        ("s", 4),
        ("e", 4),
    ):
        if word.endswith(ending) and len(word) >= least:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=1 << 16)
def stems_of(name: str, /) -> frozenset[str]:
    """Returns the stems of a name's words, function words left out."""
    return frozenset(stem(word) for word in words(name) if word not in FUNCTION_WORDS)
