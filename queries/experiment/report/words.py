"""Figures in words, alike in every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from queries.experiment.statistics import Estimate, Paired
from queries.score.report import RunSpread


def number(value: float, /) -> str:
    """Returns a number with three decimals; what rounds to 0 has no sign.

    >>> number(-0.0001), number(0.5)
    ('0.000', '0.500')
    """
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def estimate_words(estimate: Estimate, /) -> str:
    """Returns a mean with its interval.

    >>> estimate_words(Estimate(0.5, 9, 0.25, 0.75))
    '0.500 (0.250 to 0.750)'
    """
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"


def seeds_words(estimate: RunSpread, /) -> str:
    """Returns mean and deviation over random seeds, and how many; empty for fewer than two.

    >>> seeds_words(RunSpread((0.5, 0.7), 0.6, 0.14142, 0))
    '0.600 ± 0.141 (2)'
    """
    if estimate.mean is None or estimate.deviation is None:
        return ""
    count = sum(value is not None for value in estimate.values)
    return f"{number(estimate.mean)} ± {number(estimate.deviation)} ({count})"


def difference(paired: Paired | None, /) -> str:
    """Returns a difference with its interval and sign; empty where there is none.

    >>> difference(Paired(Estimate(0.5, 9, 0.25, 0.75), 0.01, 1.0))
    '+0.500 (0.250 to 0.750)'
    """
    if paired is None:
        return ""
    words = estimate_words(paired.difference)
    return (
        f"+{words}" if paired.difference.value and not words.startswith(("-", "0.000")) else words
    )


def p_words(p: float | None, /) -> str:
    """Returns a p value.

    >>> p_words(0.0004), p_words(0.04), p_words(None)
    ('< .001', '.040', '')
    """
    if p is None:
        return ""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], /) -> Iterator[str]:
    r"""Yields the lines of a table in Markdown.

    >>> list(table_lines(["score"], [["a|b"]]))
    ['| score |', '| --- |', '| a\\|b |']
    """
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
