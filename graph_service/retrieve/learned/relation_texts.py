"""How like the names of a region's relations are to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.learned.asked import Asked
from graph_service.retrieve.learned.relation_names import NamedRelation


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
        named: The names of each.
        vectors: Unit vectors of all names, those of one relation together, float64 [n, d].
        first: Place of each relation's first name, its label, int64 [r].
    """

    named: Sequence[NamedRelation]
    vectors: Float64
    first: Int64

    @classmethod
    def of(cls, named: Sequence[NamedRelation], /) -> RelationTexts:
        """Returns the names of some relations together."""
        parts = [relation.vectors for relation in named] or [np.zeros((0, 0), dtype=np.float32)]
        counts = np.array([len(relation.vectors) for relation in named], dtype=np.int64)
        return cls(named, np.concatenate(parts, dtype=np.float64), np.cumsum(counts) - counts)

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
