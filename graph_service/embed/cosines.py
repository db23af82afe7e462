"""Cosines that are the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_DIGITS = 5
_BLOCK_ROWS = 8192


def cosine(
    matrix: npt.NDArray[np.floating[Any]], vector: npt.NDArray[np.floating[Any]], /
) -> npt.NDArray[np.float64]:
    """Returns the cosine of each row with a vector, rounded to 1e-5, float64 [n].

    Taken in float64, whose last bits depend on the machine too, but lie eleven digits below
    those that are kept. A row or vector of zeros has cosine 0.

    Args:
        matrix: One vector a row, [n, d], of any length.
        vector: [d].

    >>> cosine(np.array([[1.0, 0.0], [3.0, 4.0]]), np.array([2.0, 0.0])).tolist()
    [1.0, 0.6]
    """
    query = vector.astype(np.float64)
    result = np.zeros(len(matrix), dtype=np.float64)
    size = float(np.sqrt(query @ query))
    if size == 0.0:
        return result
    for start in range(0, len(matrix), _BLOCK_ROWS):
        rows = matrix[start : start + _BLOCK_ROWS].astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        lengths[lengths == 0.0] = np.inf
        result[start : start + len(rows)] = (rows @ query) / (lengths * size)
    # Adding zero makes -0.0 into 0.0, so that equal values print alike.
    rounded: npt.NDArray[np.float64] = np.round(result, _DIGITS) + 0.0
    return rounded
