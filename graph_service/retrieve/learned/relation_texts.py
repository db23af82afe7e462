"""How like the names of a region's relations are to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64
from graph_service.retrieve.learned.entity_question import EntityQuestion
from graph_service.retrieve.learned.relation_names import NamedRelation

_AT_ONCE = 256
"""Names that are compared in one go: their vectors in float64 take 800 kB."""


@dataclass(frozen=True, slots=True, eq=False)
class Similarities:
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
        labels: Unit vectors of their first names, their labels, float64 [r, d].
    """

    named: Sequence[NamedRelation]
    labels: Float64

    @classmethod
    def of(cls, named: Sequence[NamedRelation], /) -> RelationTexts:
        """Returns the names of some relations together."""
        labels = [relation.vectors[0] for relation in named] or np.zeros((0, 0))
        return cls(named, np.array(labels, dtype=np.float64))

    def similarities(self, questions: Sequence[EntityQuestion], /) -> list[Similarities]:
        """Returns how like the relations are to a question as asked of several entities.

        Most of its words are the same for all: each is compared once.
        """
        if not self.named:
            none = np.zeros(0)
            return [Similarities(none, none, np.zeros((len(each.words), 0))) for each in questions]
        distinct = dict.fromkeys(word for each in questions for word in each.words)
        row_of = {word: len(questions) + row for row, word in enumerate(distinct)}
        vectors = np.empty((len(questions) + len(distinct), self.labels.shape[1]))
        for row, each in enumerate(questions):
            vectors[row] = each.vector
            for word, vector in zip(each.words, each.word_vectors, strict=True):
                vectors[row_of[word]] = vector
        label, nearest = self._cosines(vectors)
        return [
            Similarities(
                label[row],
                nearest[row],
                nearest[[row_of[word] for word in each.words]],
            )
            for row, each in enumerate(questions)
        ]

    def _cosines(self, vectors: Float64) -> tuple[Float64, Float64]:
        """Returns the cosine of some texts with each relation's label and with its nearest name.

        All names are compared in parts that stay near the processor; both are float64 [t, r].
        """
        counts = np.array([len(relation.vectors) for relation in self.named])
        end = np.cumsum(counts)
        cosines = np.empty((len(vectors), int(end[-1])))
        names = np.empty((max(_AT_ONCE, int(counts.max())), vectors.shape[1]))
        begin = 0
        while begin < len(self.named):
            done = int(end[begin - 1]) if begin else 0
            stop = max(int(np.searchsorted(end, done + _AT_ONCE, side="right")), begin + 1)
            some = names[: int(end[stop - 1]) - done]
            np.concatenate([relation.vectors for relation in self.named[begin:stop]], out=some)
            np.matmul(vectors, some.T, out=cosines[:, done : done + len(some)])
            begin = stop
        first = end - counts
        return cosines[:, first], np.maximum.reduceat(cosines, first, axis=1)
