"""What a score is, and how scores are averaged.

A score is a value, or nothing with the reason; never NaN. Failures and cases that cannot be
scored are counted beside it and are no part of any mean.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

RESAMPLES = 1000
COVERAGE = 0.95
ALL_FAILED = "every case failed"


@dataclass(frozen=True, slots=True)
class Score:
    """A figure with what it rests on.

    Attributes:
        value: The figure; None where there is nothing to take it over.
        n: How many cases (answers, citations, statements) it is taken over.
        failed: Cases that should have counted and failed (a model's error); not in the value.
        unscored: Cases that cannot have this score (no minimum set); not in the value.
        reason: Why ``value`` is None; None where it is a number.
        low, high: Interval of 95 % by bootstrap over answers; None where there is none.
    """

    value: float | None
    n: int
    failed: int = 0
    unscored: int = 0
    reason: str | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for figure in (self.value, self.low, self.high):
            if figure is not None and not np.isfinite(figure):
                raise InputError(f"a score is a finite number or None, got {figure}")
        if (self.value is None) == (self.reason is None):
            raise InputError("a score has a value or a reason why not, and not both")

    def text(self) -> str:
        """Returns the score for people: ``0.500 (0.250 to 0.750, n=6)``."""
        if self.value is None:
            return f"none ({', '.join([str(self.reason), *self._lost()])})"
        parts = []
        if self.low is not None and self.high is not None:
            parts.append(f"{self.low:.3f} to {self.high:.3f}")
        parts.append(f"n={self.n}")
        return f"{self.value:.3f} ({', '.join([*parts, *self._lost()])})"

    def _lost(self) -> list[str]:
        counts = (("failed", self.failed), ("unscored", self.unscored))
        return [f"{name}={count}" for name, count in counts if count]


def harmonic(first: float | None, second: float | None, /) -> float | None:
    """Returns the harmonic mean of precision and recall: F1; 0 where both are 0.

    >>> harmonic(0.5, 0.4)
    0.4444444444444445
    >>> harmonic(None, 0.4) is None
    True
    """
    if first is None or second is None:
        return None
    total = first + second
    return 2 * first * second / total if total else 0.0


@lru_cache(maxsize=8)
def bootstrap_rows(n: int, /, *, resamples: int = RESAMPLES) -> Int64:
    """Returns rows drawn with replacement, read-only int64 [resamples, n], values 0 to n - 1.

    Drawn by a keyed hash (SHAKE-128 of n and draw), so that an interval that was
    written down is found again on any machine and library version.
    """
    if n < 1:
        raise InputError(f"a bootstrap needs at least one case, got {n}")
    rows = np.empty((resamples, n), dtype=np.int64)
    for i in range(resamples):
        stream = hashlib.shake_128(f"bootstrap/0/{n}/{i}".encode()).digest(8 * n)
        rows[i] = (np.frombuffer(stream, dtype="<u8") % np.uint64(n)).astype(np.int64)
    rows.flags.writeable = False
    return rows


def interval(values: Float64, /, *, coverage: float = COVERAGE) -> tuple[float, float] | None:
    """Returns the middle share of resampled values, or None where none is defined.

    Args:
        values: One value a resample, float64; NaN where a resample had nothing to divide by.
        coverage: Share of the values inside.
    """
    defined = np.sort(values[~np.isnan(values)])
    if not len(defined):
        return None
    tail = (1 - coverage) / 2
    # Of sorted values the nearest rank: an interval's ends are values that occurred.
    low = int(np.floor(tail * (len(defined) - 1)))
    high = int(np.ceil((1 - tail) * (len(defined) - 1)))
    return float(defined[low]), float(defined[high])


def why_none(cases: int, failed: int, empty: str, /) -> str:
    """Returns why there is no figure: ``empty``, but where there were failures and nothing else."""
    return ALL_FAILED if failed and not cases else empty


def mean_score(
    values: Sequence[float | None],
    /,
    *,
    failed: int = 0,
    empty: str = "no case could be scored",
) -> Score:
    """Returns the mean over the cases that have a value, with a bootstrap interval.

    Args:
        values: One a case; None counts as unscored.
        failed: Cases that failed, and so are not among the values.
        empty: The reason given where no case has a value.

    >>> mean_score([1.0, 0.0, None]).value
    0.5
    >>> mean_score([]).reason
    'no case could be scored'
    """
    known = np.asarray([value for value in values if value is not None], dtype=np.float64)
    unscored = len(values) - len(known)
    if not len(known):
        return Score(None, 0, failed, unscored, why_none(len(values), failed, empty))
    low = high = None
    if len(known) > 1:
        rows = bootstrap_rows(len(known))
        bounds = interval(known[rows].mean(axis=1))
        low, high = bounds if bounds is not None else (None, None)
    return Score(float(known.mean()), len(known), failed, unscored, None, low, high)


def ratio_score(
    hits: Sequence[int],
    totals: Sequence[int],
    /,
    *,
    failed: int = 0,
    unscored: int = 0,
    empty: str = "nothing to divide by",
) -> Score:
    """Returns the micro average: all hits over all totals, resampled by case.

    Args:
        hits: What counts in each case (an answer).
        totals: Out of how many in each case, ``hit <= total``.
        failed: Cases left out because they failed.
        unscored: Cases left out because they cannot have this score.
        empty: The reason given where the totals sum to 0.

    >>> ratio_score([3, 0], [6, 0]).value
    0.5
    """
    above = np.asarray(hits, dtype=np.float64)
    below = np.asarray(totals, dtype=np.float64)
    total = int(below.sum())
    if not total:
        return Score(None, 0, failed, unscored, why_none(len(hits) + unscored, failed, empty))
    low = high = None
    if len(below) > 1:
        rows = bootstrap_rows(len(below))
        bounds = interval(divide(above[rows].sum(axis=1), below[rows].sum(axis=1)))
        low, high = bounds if bounds is not None else (None, None)
    return Score(float(above.sum() / total), total, failed, unscored, None, low, high)


def divide(above: Float64, below: Float64, /) -> Float64:
    """Returns the quotients, NaN where the divisor is 0 (for ``interval``, which drops them)."""
    quotients: Float64 = np.full(len(below), np.nan)
    np.divide(above, below, out=quotients, where=below != 0)
    return quotients


def harmonic_score(precision: Score, recall: Score, resampled: Float64 | None = None, /) -> Score:
    """Returns F1 of two scores; None with the reason of the one that is None.

    Args:
        precision: One of them.
        recall: The other; F1 takes over its counts.
        resampled: F1 of each resample, float64, for the interval.
    """
    value = harmonic(precision.value, recall.value)
    if value is None:
        missing = precision if precision.value is None else recall
        return Score(None, 0, recall.failed, recall.unscored, missing.reason)
    bounds = interval(resampled) if resampled is not None else None
    low, high = bounds if bounds is not None else (None, None)
    return Score(value, recall.n, recall.failed, recall.unscored, None, low, high)


def harmonic_rows(precision: Float64, recall: Float64, /) -> Float64:
    """Returns F1 of each pair, float64: 0 where both are 0, NaN where one is."""
    total = precision + recall
    f1: Float64 = np.where(total == 0, 0.0, divide(2 * precision * recall, total))
    return f1
