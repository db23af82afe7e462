"""Prizes by rank of similarity (row O4; OKGQA section 3.2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Bool, Float64, Int64

SIMILARITY_DIGITS = 5
"""Matrix products differ in the last bits by batch and threads; these digits do not."""


def cosines(question: npt.NDArray[np.float32], texts: npt.NDArray[np.float32], /) -> Float64:
    """Returns the cosine of one unit vector with some others, float64, rounded to 1e-5.

    Args:
        question: float32 [d].
        texts: float32 [n, d].
    """
    if not len(texts):
        return np.zeros(0)
    products = texts.astype(np.float64) @ question.astype(np.float64)
    # Adding zero turns -0.0, which sorts like 0.0 and prints unlike it, into 0.0.
    rounded: Float64 = np.round(products, SIMILARITY_DIGITS) + 0.0
    return rounded


def rank_prizes(
    similarity: Float64, k: int, /, *, keys: Int64, eligible: Bool | None = None
) -> Float64:
    """Returns k for the item most like the question, k - 1 for the next, and so on; then 0.

    Each item has a place of its own, whatever its text: ten statements of one relation can take
    ten places. Ties of similarity go by the smallest key.

    Args:
        similarity: Rounded cosines, float64 [n].
        k: Places that carry a prize.
        keys: Key of each item, int64 [n].
        eligible: Which may have a prize, bool [n]; None for all.
    """
    prizes = np.zeros(len(similarity))
    order = np.lexsort((keys, -similarity))
    if eligible is not None:
        order = order[eligible[order]]
    top = order[:k]
    prizes[top] = np.arange(k, k - len(top), -1)
    return prizes
