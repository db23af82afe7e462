"""Matrix products that float32 holds exactly, of factors that are rounded to few digits.

``exact`` rounds factors so little that a vector hardly shows it, and float64 holds their products.
Where half the time counts for more than the last digits, rows and columns are cut into blocks, and
scaled until no part is longer than what float32 allows: it holds every partial sum of a product of
parts as a whole number, for by Cauchy and Schwarz none is greater than the lengths multiplied. A
product differs from that of the unrounded by some .00005 of the whole lengths, and is the same on
every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from graph_service.embed.exact import Float64, row_sums
from graph_service.embed.protocol import Float32

_BLOCK = 96
"""Numbers of a block at most: products of fewer take longer, of more are less near."""
_LONGEST = 4088.0
"""Of a part before it is rounded. That adds half the root of its numbers at most, so that the
square stays under 2^24, up to which float32 holds each whole number.
"""


@dataclass(frozen=True, slots=True, eq=False)
class RoundedWeights:
    """Weights [in, out] whose products with float64 rows are ``rows @ weights``.

    Attributes:
        numbers: Whole numbers, float32 [blocks, in / blocks, out].
        units: What one of them stands for in each column, float32 [out].
    """

    numbers: Float32
    units: Float32

    # Numpy's arrays leave the product to ``__rmatmul__``.
    __array_ufunc__ = None

    @classmethod
    def of(cls, weights: Float64, /) -> RoundedWeights:
        """Returns weights rounded."""
        numbers, units = _rounded(weights.T, gcd(len(weights), _BLOCK))
        return cls(np.ascontiguousarray(numbers.transpose(1, 2, 0)), units)

    def __rmatmul__(self, rows: Float64) -> Float64:
        numbers, units = _rounded(rows, self.numbers.shape[1])
        sums: Float32 = numbers[:, 0] @ self.numbers[0]
        for i in range(1, len(self.numbers)):
            sums += numbers[:, i] @ self.numbers[i]
        sums *= units[:, None]
        sums *= self.units
        return sums.astype(np.float64)


def _rounded(rows: Float64, block: int) -> tuple[Float32, Float32]:
    """Returns rows as whole numbers, [rows, blocks, block], and what one of them stands for in each,
    [rows].
    """
    parts: Float32 = rows.astype(np.float32, order="C").reshape(-1, block)
    squares = row_sums(parts * parts).reshape(len(rows), -1)
    lengths: Float32 = np.sqrt(squares.max(axis=1))
    lengths[lengths == 0.0] = 1.0
    units: Float32 = lengths / np.float32(_LONGEST)
    blocks = parts.reshape(len(rows), -1, block)
    blocks /= units[:, None, None]
    return np.rint(blocks, out=blocks), units
