"""The names of a region's relations, as vectors and as stems of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.learned.asked import Asked
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """How like r relations are to a question as asked of an entity.

    Attributes:
        label: Cosine of the question with each one's label, float64 [r].
        nearest: With the nearest of its names, float64 [r].
        words: Of each word with the nearest of its names, float64 [w, r].
    """

    label: Float64
    nearest: Float64
    words: Float64


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

    def likeness(self, asked: Sequence[Asked], /) -> list[Likeness]:
        """Returns how like the relations are to a question as asked of several entities.

        Most of its words are the same for all: each is compared once.
        """
        if not len(self.first):
            none = np.zeros(0)
            return [Likeness(none, none, np.zeros((len(each.words), 0))) for each in asked]
        distinct = dict.fromkeys(word for each in asked for word in each.words)
        place = {word: len(asked) + number for number, word in enumerate(distinct)}
        vectors = np.empty((len(asked) + len(distinct), self.vectors.shape[1]))
        for number, each in enumerate(asked):
            vectors[number] = each.vector
            for word, vector in zip(each.words, each.word_vectors, strict=True):
                vectors[place[word]] = vector
        cosines = vectors @ self.vectors.T
        nearest: Float64 = np.maximum.reduceat(cosines, self.first, axis=1)
        return [
            Likeness(
                cosines[number, self.first],
                nearest[number],
                nearest[[place[word] for word in each.words]],
            )
            for number, each in enumerate(asked)
        ]


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
    return frozenset(stem(word) for word in words(name) if word not in EMPTY_IN_ENGLISH)
