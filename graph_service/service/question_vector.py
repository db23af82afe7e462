"""A caller's own vector of a question, in place of the embedder's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from graph_service.embed import Embedder
from graph_service.errors import InputError
from graph_service.model.identity import digest


def read_vector(numbers: Sequence[float], embedder: Embedder, /) -> npt.NDArray[np.float32]:
    """Returns a unit vector in the direction of some numbers, float32 [dimension].

    Args:
        numbers: As many numbers as the vectors have that the graph's texts are compared by.
        embedder: Makes those.

    Raises:
        InputError: There are more or fewer, one is not finite, or all are 0.
    """
    expected = f"embedder {embedder.name} has vectors of {embedder.dimension} numbers"
    if len(numbers) != embedder.dimension:
        raise InputError(
            f"{expected}, and question_vector has {len(numbers)}",
            argument="question_vector",
            hint="Make it with the same model as the graph's texts: see provenance.embedder.",
        )
    vector = np.array(numbers, dtype=np.float64)
    if not np.isfinite(vector).all():
        index = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InputError(
            f"{expected}, all finite; number {index} of question_vector is {vector[index]}",
            argument="question_vector",
        )
    most = float(np.abs(vector).max())
    if most == 0.0:
        raise InputError(
            f"{expected}, not all of them 0 as in question_vector", argument="question_vector"
        )
    vector /= most  # Squares of very large or small numbers would be infinite or 0.
    return (vector / np.sqrt(vector @ vector)).astype(np.float32)


def vector_hash(numbers: Sequence[float], /) -> str:
    """Returns what a result names a caller's vector by: the same numbers, the same hash."""
    exact = np.array(numbers, dtype="<f8") + 0.0  # Makes -0.0 into 0.0.
    return digest((exact.tobytes().hex(),), person=b"question-vector").hex()
