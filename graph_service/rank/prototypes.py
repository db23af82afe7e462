"""What a question for a relation looks like, told from the relation's text alone.

Of each relation in the training data the mean of its questions' vectors is known. Of any other it
is predicted: the mean over all relations of its direction, moved a little towards the relation's
own text, plus what the means of relations with similar texts differ from that (kernel ridge
regression). A question is then scored by linear discriminant analysis: its distance to each mean,
measured by how questions for one and the same relation scatter, so that the entity's name, which
makes most of that scatter, counts for little. All is computed in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.ranking import Bool, Float32, Float64

PULL = 0.2
"""How far a mean is predicted towards the relation's own text."""
SIMILARITY_POWER = 4
"""Power of the cosine of two relations' texts; of opposite directions a fifth of it counts."""
OPPOSITE = 0.2
SCALE = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Discriminants:
    """A linear score for each relation.

    Attributes:
        weights: [relations, d].
        offsets: [relations].
    """

    weights: Float64
    offsets: Float64

    def score(self, questions: Float32, /) -> Float64:
        """Returns log-likelihoods up to a constant by question, [questions, relations]."""
        score: Float64 = SCALE * (questions.astype(np.float64) @ self.weights.T - self.offsets)
        return score


@dataclass(frozen=True, slots=True, eq=False)
class Prototypes:
    """Means of questions by relation, known and predicted.

    Attributes:
        texts: Vectors of the trained relations' texts, float32 [n, d].
        reverse: Direction of each, bool [n].
        centre: Mean of the trained texts, [d].
        means: Mean of questions by direction, [2, d].
        residuals: Weights of the kernel regression, [n, d].
        precision: Inverse scatter, scaled to a mean of about one, [d, d].
    """

    texts: Float32
    reverse: Bool
    centre: Float32
    means: Float32
    residuals: Float32
    precision: Float32

    def similarity(self, texts: Float32, reverse: Bool, /) -> Float64:
        """Returns how like relations are to the trained ones, [len(texts), n], 0 to 1."""
        cosines = texts.astype(np.float64) @ self.texts.T.astype(np.float64)
        same = reverse[:, None] == self.reverse[None]
        similarities: Float64 = np.maximum(cosines, 0.0) ** SIMILARITY_POWER * np.where(
            same, 1.0, OPPOSITE
        )
        return similarities

    def predicted(self, texts: Float32, reverse: Bool, /) -> Float64:
        """Returns the mean of questions for relations by their texts, [len(texts), d]."""
        side = self.means.astype(np.float64)[reverse.astype(np.int64)]
        moved = side + PULL * (texts.astype(np.float64) - self.centre)
        prediction: Float64 = moved + self.similarity(texts, reverse) @ self.residuals.astype(
            np.float64
        )
        return prediction

    def discriminants(self, texts: Float32, reverse: Bool, /) -> Discriminants:
        """Returns what questions are scored by, for relations by their texts."""
        means = self.predicted(texts, reverse)
        weighed = means @ self.precision.astype(np.float64)
        return Discriminants(weighed, 0.5 * np.einsum("ij,ij->i", weighed, means))
