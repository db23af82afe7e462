"""Student's t and Fisher's F, of whole or broken degrees of freedom, without scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

_TINY = 1e-300
_STEPS = 10_000


def beta_cdf(x: float, /, a: float, b: float) -> float:
    """Returns the regularised incomplete beta function I_x(a, b), by its continued fraction.

    >>> round(beta_cdf(0.5, 2.0, 3.0), 6)
    0.6875
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x))
    # The fraction converges fast only under the mean; above it the other tail is taken.
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1.0 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by the method of Lentz."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for step in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + step * d)
            c = _away_from_zero(1.0 + step / c)
            value *= c * d
        if abs(value - before) <= 1e-15 * abs(value):
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def t_p(t: float, degrees: float, /) -> float:
    """Returns the two-sided p of Student's t.

    >>> round(t_p(2.0, 10.0), 6)
    0.073388
    """
    return beta_cdf(degrees / (degrees + t * t), degrees / 2, 0.5)


def f_p(f: float, above: float, below: float, /) -> float:
    """Returns the p of Fisher's F: the chance of one at least as great.

    Args:
        f: The ratio of mean squares; may be infinite.
        above: Degrees of freedom of the numerator.
        below: Those of the denominator.

    >>> round(f_p(3.0, 2.0, 20.0), 6)
    0.072538
    """
    return 0.0 if math.isinf(f) else beta_cdf(below / (below + above * f), below / 2, above / 2)


@lru_cache(maxsize=65_536)
def t_quantile(degrees: float, p: float, /) -> float:
    """Returns the t whose two-sided p is ``p``.

    >>> round(t_quantile(10.0, 0.05), 6)
    2.228139
    """
    if p >= 1.0:
        return 0.0
    target = math.log(p)
    high = 1.0
    while t_p(high, degrees) > p:
        high *= 4.0
    # Between them the logarithm of p is nearly a line over the logarithm of 1 + t.
    log_t = _solve(lambda x: math.log(t_p(math.expm1(x), degrees)) - target, 0.0, math.log1p(high))
    return math.expm1(log_t)


def solve_falling(function: Callable[[float], float], low: float, /) -> float:
    """Returns exp(x) where a function that falls over [low, 0] is 0; 1 where it is over 0 to 0."""
    return math.exp(_solve(function, low, 0.0))


def _solve(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a falling function between two points, by false position (Illinois)."""
    at_low, at_high = function(low), function(high)
    if at_low <= 0 or at_high >= 0:
        return low if at_low <= 0 else high
    side = 0
    for _ in range(200):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        value = function(middle)
        if value == 0 or high - low <= 1e-13 * max(1.0, abs(middle)):
            return middle
        if value > 0:
            low, at_low = middle, value
            at_high = at_high / 2 if side > 0 else at_high
            side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2 if side < 0 else at_low
            side = -1
        if abs(value) <= 1e-13:
            return middle
    return (low + high) / 2
