"""Arithmetic whose results have the same bits on every machine.

Libraries sum a matrix product in an order of their own, and rounded sums depend on the order. So
both factors are brought to a grid, multiples of a power of 2, so coarse that every product and
every partial sum is a whole number of quanta under 2^53: float64 holds each exactly, and the
order changes nothing. What is left is taken element by element, which IEEE 754 rounds alike
everywhere, or summed in an order fixed here.

Grids are told by their binary digits after the point.
"""

from __future__ import annotations

from math import factorial, frexp
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Number = TypeVar("Number", np.float32, np.float64)

STATE_BITS = 20
"""Of normalised states, and of what attention gathers."""
WEIGHT_BITS = 22
_WIDE_BITS = 19
_GELU_BLOCK = 3 * 2**13


def to_grid(values: Float64, bits: int) -> None:
    """Rounds to multiples of 2^-bits, in place; for values under 2^(51 - bits).

    Beside so large a number float64 has no finer digits, and rounds to the nearest.
    """
    large = 1.5 * 2.0 ** (52 - bits)
    values += large
    values -= large


def unused_bits(sums: Float64) -> int:
    """Returns how many binary digits both factors of a product may have together.

    Args:
        sums: Bounds of the sums of the product's absolute terms.
    """
    # A tenth for what rounding to the grids adds; the exponent e has sum < 2^e.
    return 53 - frexp(1.1 * float(sums.max(initial=0.0)))[1]


def row_sums(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Returns the sum of each row, in an order fixed here, [rows]."""
    width = values.shape[1]
    while width % 2 == 0:
        width //= 2
        values = values[:, :width] + values[:, width:]
    total = values[:, 0].copy()
    for column in range(1, width):
        total += values[:, column]
    return total


def normalise(state: Float64, scale: Float64, shift: Float64, epsilon: float) -> None:
    """Brings each row to mean 0 and variance 1, scales and shifts it, to the grid, in place."""
    width = state.shape[1]
    state -= (row_sums(state) / width)[:, None]
    variance = row_sums(state * state) / width
    state /= np.sqrt(variance + epsilon)[:, None]
    state *= scale
    state += shift
    to_grid(state, STATE_BITS)


def to_unit_length(rows: Float64) -> None:
    """Brings each row to length 1, in place; one of zeros stays so."""
    lengths = np.sqrt(row_sums(rows * rows))
    lengths[lengths == 0.0] = 1.0
    rows /= lengths[:, None]


# exp(x) = (1 + y + y^2 / 2! + ...)^64, y = x / 64: to 1e-7 from -16 on.
_EXP_SQUARINGS = 6
_EXP_TERMS = tuple(1.0 / factorial(power) for power in range(6, -1, -1))
# Under this a share is less than half of its grid's quantum.
_EXP_LEAST = -16.0


def exp(values: Float64) -> None:
    """Replaces x, at most 0, by its exponential, in place; libraries' own differ in their last bits."""
    np.maximum(values, _EXP_LEAST, out=values)
    values *= 2.0**-_EXP_SQUARINGS
    sums = values * _EXP_TERMS[0]
    for term in _EXP_TERMS[1:-1]:
        sums += term
        sums *= values
    sums += _EXP_TERMS[-1]
    for _ in range(_EXP_SQUARINGS):
        sums *= sums
    values[...] = sums


# erfc(z) = (1 + a1 z + ... + a6 z^6)^-16, z >= 0, to 3e-7
# (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.28), for z = x / sqrt 2.
_ERFC_A = tuple(
    np.float32(a / 2.0 ** (power / 2))
    for power, a in (
        (6, 0.0000430638),
        (5, 0.0002765672),
        (4, 0.0001520143),
        (3, 0.0092705272),
        (2, 0.0422820123),
        (1, 0.0705230784),
        (0, 1.0),
    )
)
# From here on the tail is nothing, and its power would pass float32's greatest number.
_ERFC_MOST = np.float32(10.0)


def gelu(values: Float64, bits: int = _WIDE_BITS) -> None:
    """Replaces x by x times the normal distribution function at x, to a grid, in place.

    As max(x, 0) - |x| erfc(|x| / sqrt 2) / 2, in float32 and in blocks that stay in a core's cache.
    """
    flat = values.reshape(-1)
    for start in range(0, len(flat), _GELU_BLOCK):
        part = flat[start : start + _GELU_BLOCK]
        block = part.astype(np.float32)
        size = np.abs(block)
        near = np.minimum(size, _ERFC_MOST)
        power = near * _ERFC_A[0]
        for a in _ERFC_A[1:-1]:
            power += a
            power *= near
        power += _ERFC_A[-1]
        for _ in range(4):
            power *= power
        size *= np.float32(0.5)
        size /= power
        np.maximum(block, np.float32(0.0), out=block)
        block -= size
        part[...] = block
        to_grid(part, bits)


def relu(values: Float64, bits: int = _WIDE_BITS) -> None:
    """Replaces x by the greater of x and 0, to a grid, in place."""
    np.maximum(values, 0.0, out=values)
    to_grid(values, bits)


def tanh(values: Float64, bits: int = _WIDE_BITS) -> None:
    """Replaces x by its hyperbolic tangent, to a grid, in place; to 3e-7."""
    small = -2.0 * np.abs(values)
    exp(small)
    values[...] = np.copysign((1.0 - small) / (1.0 + small), values)
    to_grid(values, bits)


def identity(values: Float64, bits: int = _WIDE_BITS) -> None:
    """Brings values to a grid, in place."""
    to_grid(values, bits)
