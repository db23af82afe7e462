"""The part of the trained ranker that knows the relations it was trained on better.

One hidden layer over the question's vector and its words gives each trained relation a correction
of its prototype's score. A relation takes over the corrections of trained ones as far as its text
is like theirs; of one that is like none, nothing is corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.model.ranking import Float32, Float64
from graph_service.rank.words import Int32

WORDS_DROPPED = 0.2
"""Share of words that each step of the training leaves out; all of them count here."""
WORD_SCALE = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Weights; ``d`` is the vectors' length, ``w`` the layer's width, ``n`` the number of
    trained relations.

    Attributes:
        vector: [d, w].
        word: By word or pair, [terms + 1, w]; the last row, which fills up, is zero.
        bias: [w].
        out: [w, n].
        direct: [d, n].
        level: [n].
    """

    vector: Float32
    word: Float32
    bias: Float32
    out: Float32
    direct: Float32
    level: Float32

    def corrections(
        self, questions: Float32, terms: Int32, /, *, joined: Float64 | None = None
    ) -> Float64:
        """Returns corrections by question and trained relation, [questions, n].

        ``joined`` is what parses give the hidden layer, where there are any, [questions, w].

        In float64: in float32 the order of sums, which is the library's, changes rounded scores.
        """
        inputs = (questions * length(questions)).astype(np.float64)
        hidden: Float64 = inputs @ self.vector.astype(np.float64) + self.bias
        weights = word_weights(terms, len(self.word) - 1).astype(np.float64)
        hidden += (1.0 - WORDS_DROPPED) * _weighed(weights, self.word[terms].astype(np.float64))
        if joined is not None:
            hidden += joined
        np.maximum(hidden, 0.0, out=hidden)
        corrections: Float64 = hidden @ self.out.astype(np.float64)
        corrections += inputs @ self.direct.astype(np.float64)
        corrections += self.level
        return corrections

    def from_words(self, terms: Int32, dropout_mask: Float32 | None = None, /) -> Float32:
        """Returns what words give the hidden layer, [questions, w]."""
        weights = word_weights(terms, len(self.word) - 1)
        if dropout_mask is not None:
            weights *= dropout_mask
        summed: Float32 = _weighed(weights, self.word[terms])
        return summed


def _weighed(weights: npt.NDArray[Any], words: npt.NDArray[Any]) -> Any:
    return np.einsum("ij,ijk->ik", weights, words)


def word_weights(terms: Int32, padding: int, /) -> Float32:
    """Returns the weight of each word: all of a question weigh the same, together as one vector."""
    real = (terms != padding).astype(np.float32)
    counts = np.maximum(real.sum(axis=1, keepdims=True), 1.0)
    weights: Float32 = np.float32(WORD_SCALE) * real / np.sqrt(counts)
    return weights


def length(questions: Float32, /) -> np.float32:
    """Returns what brings the numbers of unit vectors to about one."""
    return np.float32(np.sqrt(questions.shape[1]))
