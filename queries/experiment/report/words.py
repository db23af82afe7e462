"""Figures in words, alike in every table."""

from __future__ import annotations

from queries.experiment.statistics import Estimate, Paired
from queries.score.report import RunSpread


def number(value: float, /) -> str:
    """Returns a number with three decimals; what rounds to 0 has no sign.

    >>> number(-0.0001), number(0.5)
    ('0.000', '0.500')
    """
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def estimate_words(found: Estimate, /) -> str:
    """Returns a mean with its interval.

    >>> estimate_words(Estimate(0.5, 9, 0.25, 0.75))
    '0.500 (0.250 to 0.750)'
    """
    if found.value is None:
        return "-"
    if found.low is None or found.high is None:
        return number(found.value)
    return f"{number(found.value)} ({number(found.low)} to {number(found.high)})"


def seeds_words(found: RunSpread, /) -> str:
    """Returns mean and deviation over random seeds, and how many; empty for fewer than two.

    >>> seeds_words(RunSpread((0.5, 0.7), 0.6, 0.14142, 0))
    '0.600 ± 0.141 (2)'
    """
    if found.mean is None or found.deviation is None:
        return ""
    count = sum(value is not None for value in found.values)
    return f"{number(found.mean)} ± {number(found.deviation)} ({count})"


def difference(found: Paired | None, /) -> str:
    """Returns a difference with its interval and sign; empty where there is none.

    >>> difference(Paired(Estimate(0.5, 9, 0.25, 0.75), 0.01, 1.0))
    '+0.500 (0.250 to 0.750)'
    """
    if found is None:
        return ""
    words = estimate_words(found.difference)
    return f"+{words}" if found.difference.value and not words.startswith(("-", "0.000")) else words


def p_words(p: float | None, /) -> str:
    """Returns a p value.

    >>> p_words(0.0004), p_words(0.04), p_words(None)
    ('< .001', '.040', '')
    """
    if p is None:
        return ""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
