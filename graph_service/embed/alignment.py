"""A linear map from the vectors of one encoder to those of another, learned from texts of both.

Two encoders that read the same texts put them alike, up to a linear map: that is how vectors of
words of two languages were first aligned (Mikolov et al. 2013). A map that is learned from English
alone carries the other languages of a multilingual encoder with it, since that one puts a text
where its translation is. So a question in any language has a vector among those of an English
encoder, and whatever was trained on these reads it.

The map is the ridge regression of the one's vectors on the other's (``fitted``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.embed.exact import STATE_BITS, WEIGHT_BITS, Float64, to_grid, to_unit_length
from graph_service.embed.protocol import Float32
from graph_service.errors import InputError
from graph_service.weights_file import decode_weights, encode_weights

_FORM = "alignment"
_VERSION = 1


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The map, and from where to where it leads.

    Attributes:
        matrix: Float64 [from, to], on a grid.
        bias: Added, float64 [to].
        least_agreement: Cosine of a text's mapped vector and the target's own under which the
            target does not read the text.
        source, target: Names of the encoders.
        data: Hash of the texts that it was learned from.
        notes: How it was learned.
    """

    matrix: Float64
    bias: Float64
    least_agreement: float
    source: str
    target: str
    data: str
    notes: Mapping[str, Any] = field(default_factory=dict)

    def mapped(self, vectors: Float32, /) -> Float32:
        """Returns vectors among those of the target, of length 1, float32 [n, to].

        A vector has the same bits in any company.
        """
        exact = vectors.astype(np.float64)
        to_grid(exact, STATE_BITS)
        result = exact @ self.matrix
        result += self.bias
        to_unit_length(result)
        return result.astype(np.float32)


def fitted(source: Float32, target: Float32, /, *, ridge: float) -> tuple[Float64, Float64]:
    """Returns the matrix and the bias of the ridge regression, float64 [from, to] and [to].

    Args:
        source: Vectors of texts, [n, from].
        target: Vectors of the same texts, [n, to].
        ridge: Added to the squares of each direction.
    """
    mean = source.mean(axis=0, dtype=np.float64)
    goal = target.mean(axis=0, dtype=np.float64)
    spread = source.astype(np.float64) - mean
    square = spread.T @ spread + ridge * np.eye(spread.shape[1])
    matrix = np.linalg.solve(square, spread.T @ (target.astype(np.float64) - goal))
    bias: Float64 = goal - mean @ matrix
    return matrix, bias


def encode_alignment(alignment: Alignment, /) -> bytes:
    """Returns an alignment as the bytes of its file; of the same one the same."""
    arrays: dict[str, npt.NDArray[np.floating]] = {
        "matrix": alignment.matrix.astype(np.float16),
        "bias": alignment.bias.astype(np.float32),
    }
    meta = {
        "form": _FORM,
        "version": _VERSION,
        "least_agreement": alignment.least_agreement,
        "source": alignment.source,
        "target": alignment.target,
        "data": alignment.data,
        "notes": dict(alignment.notes),
    }
    return encode_weights(arrays, meta)


def decode_alignment(data: bytes, /) -> Alignment:
    """Returns the alignment of a file's bytes.

    Raises:
        InputError: They are no such file, of another version or damaged.
    """
    try:
        arrays, meta = decode_weights(data, form=_FORM, version=_VERSION)
        matrix, bias = arrays["matrix"].astype(np.float64), arrays["bias"].astype(np.float64)
        if matrix.ndim != 2 or bias.shape != matrix.shape[1:]:
            raise ValueError(f"a matrix of {matrix.shape} with a bias of {bias.shape}")
        if not (np.isfinite(matrix).all() and np.isfinite(bias).all()):
            raise ValueError("a number of it is not finite")
        to_grid(matrix, WEIGHT_BITS)
        return Alignment(
            matrix,
            bias,
            float(meta["least_agreement"]),
            str(meta["source"]),
            str(meta["target"]),
            str(meta["data"]),
            meta["notes"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"no alignment of encoders: {error}", argument="embedder") from error
