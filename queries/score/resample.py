"""Statistics of paired values under resampling weights.

A bootstrap resample is told by how often it holds each case: a row of ``weights`` float64
[resamples, cases]. A statistic of all resamples at once is then a few matrix products, and a
bootstrap by cluster (all facts of one claim together) differs from one by case in its weights alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from graph_service.errors import InputError
from queries.score.metric import (
    RESAMPLES,
    Float64,
    Int64,
    Score,
    bootstrap_rows,
    interval,
    why_none,
)

Statistic = Callable[[Float64], Float64]

# Weights and their products are made for so many cells at once (float64: 32 MiB each).
_BLOCK_CELLS = 4_000_000


def codes(values: Sequence[Hashable], /) -> tuple[list[Hashable], Int64]:
    """Returns the distinct values in ascending order, and each value's place among them, int64 [n].

    >>> distinct, places = codes([3, 1, 3])
    >>> distinct, places.tolist()
    ([1, 3], [1, 0, 1])
    """
    try:
        distinct = sorted(set(values))  # type: ignore[type-var]
    except TypeError as error:
        raise InputError("values of one kind were expected, all numbers or all texts") from error
    codes_by_value = {value: i for i, value in enumerate(distinct)}
    return distinct, np.asarray([codes_by_value[value] for value in values], dtype=np.int64)


def group_sums(weights: Float64, group_codes: Int64, size: int, /) -> Float64:
    """Returns the weight of each distinct value, float64 [resamples, size]."""
    order = np.argsort(group_codes, kind="stable")
    offsets = np.searchsorted(group_codes[order], np.arange(size))
    sums: Float64 = np.add.reduceat(weights[:, order], offsets, axis=1)
    return sums


def correlation_rows(first: Float64, second: Float64, weights: Float64, /) -> Float64:
    """Returns Pearson's correlation of each resample, float64 [resamples].

    NaN where either side is constant.

    Args:
        first: Values, float64 [cases], or [resamples, cases] where they differ (ranks).
        second: The other side's values, alike.
        weights: float64 [resamples, cases].
    """
    total = weights.sum(axis=1)
    left = _centred(first, weights, total)
    right = _centred(second, weights, total)
    covariance = (weights * left * right).sum(axis=1)
    spread = np.sqrt((weights * left * left).sum(axis=1) * (weights * right * right).sum(axis=1))
    correlations: Float64 = np.full(len(weights), np.nan)
    np.divide(covariance, spread, out=correlations, where=spread > 0)
    return np.clip(correlations, -1.0, 1.0)


def _centred(values: Float64, weights: Float64, total: Float64) -> Float64:
    shown = np.broadcast_to(values, weights.shape)
    # Around a value that occurs, so that a constant side is exactly 0 and known as constant.
    pivot = np.take_along_axis(shown, np.argmax(weights > 0, axis=1)[:, None], axis=1)
    moved = np.where(weights > 0, shown - pivot, 0.0)
    mean = (weights * moved).sum(axis=1) / total
    constant = (moved == 0).all(axis=1)
    centred: Float64 = np.where(constant[:, None], 0.0, moved - mean[:, None])
    return centred


def rank_rows(value_codes: Int64, size: int, weights: Float64, /) -> Float64:
    """Returns each case's mid-rank in each resample, float64 [resamples, cases]."""
    held = group_sums(weights, value_codes, size)
    ranks: Float64 = np.cumsum(held, axis=1) - held / 2 + 0.5
    return ranks[:, value_codes]


def tau_b_rows(first: Int64, second: Int64, weights: Float64, /) -> Float64:
    """Returns Kendall's tau-b of each resample, float64 [resamples]; NaN for a constant side.

    Args:
        first: Places of the values in their order, int64 [cases].
        second: The other side's places.
        weights: float64 [resamples, cases], whole numbers.
    """
    # Twice concordant minus discordant pairs is w' C w with C the products of the signs.
    balance = np.zeros(len(weights))
    step = max(1, _BLOCK_CELLS // len(first))
    for start in range(0, len(first), step):
        signs = np.sign(first[start : start + step, None] - first[None, :]) * np.sign(
            second[start : start + step, None] - second[None, :]
        )
        balance += (weights[:, start : start + step] * (weights @ signs.T)).sum(axis=1)
    total = weights.sum(axis=1)
    pairs = total * (total - 1)
    untied = [
        pairs - (held * (held - 1)).sum(axis=1)
        for held in (
            group_sums(weights, value_codes, int(value_codes.max()) + 1)
            for value_codes in (first, second)
        )
    ]
    spread = np.sqrt(untied[0] * untied[1])
    taus: Float64 = np.full(len(weights), np.nan)
    np.divide(balance, spread, out=taus, where=spread > 0)
    return np.clip(taus, -1.0, 1.0)


def kappa_rows(first: Int64, second: Int64, costs: Float64, weights: Float64, /) -> Float64:
    """Returns Cohen's kappa of each resample, float64 [resamples].

    One minus the cost of the disagreements over that expected by chance; NaN where chance alone
    leaves none (both raters always give one and the same value).

    Args:
        first: Places of the ratings among all categories, int64 [cases].
        second: The other rater's places.
        costs: What a disagreement costs, float64 [categories, categories], 0 on the diagonal.
        weights: float64 [resamples, cases].
    """
    size = len(costs)
    total = weights.sum(axis=1)
    seen = weights @ costs[first, second] / total
    rows = np.stack([weights @ (first == i).astype(np.float64) for i in range(size)], axis=1)
    columns = np.stack([weights @ (second == i).astype(np.float64) for i in range(size)], axis=1)
    chance = np.einsum("ri,ij,rj->r", rows, costs, columns) / total**2
    kappas: Float64 = np.full(len(weights), np.nan)
    np.divide(seen, chance, out=kappas, where=chance > 0)
    return 1.0 - kappas


def auroc_rows(positive: Int64, value_codes: Int64, size: int, weights: Float64, /) -> Float64:
    """Returns the area under the ROC curve of each resample, float64 [resamples].

    The share of (positive, negative) pairs in the right order, equal scores counted half; NaN
    where a resample lacks either.

    Args:
        positive: 1 or 0, int64 [cases].
        value_codes: Places of the scores in their order, int64 [cases].
        size: Number of distinct scores.
        weights: float64 [resamples, cases].
    """
    up = group_sums(weights * positive, value_codes, size)
    down = group_sums(weights * (1 - positive), value_codes, size)
    below = np.cumsum(down, axis=1) - down
    right = (up * (below + down / 2)).sum(axis=1)
    pairs = up.sum(axis=1) * down.sum(axis=1)
    areas: Float64 = np.full(len(weights), np.nan)
    np.divide(right, pairs, out=areas, where=pairs > 0)
    return areas


def bootstrap_score(
    statistic: Statistic,
    n: int,
    /,
    *,
    clusters: Sequence[Hashable] | None = None,
    failed: int = 0,
    unscored: int = 0,
    empty: str = "no case could be scored",
    undefined: str = "it is not defined for these values",
) -> Score:
    """Returns a statistic of ``n`` cases with its bootstrap interval.

    Args:
        statistic: From weights float64 [resamples, n] to values float64 [resamples], NaN where
            a resample has none.
        n: Number of cases.
        clusters: What each case belongs to; whole clusters are drawn. None draws cases.
        failed: Cases that failed and are not among the ``n``.
        unscored: Cases that cannot be scored and are not among the ``n``.
        empty: The reason given where there is no case.
        undefined: The reason given where all the cases together have no value.
    """
    if not n:
        return Score(None, 0, failed, unscored, why_none(unscored, failed, empty))
    value = float(statistic(np.ones((1, n)))[0])
    if np.isnan(value):
        return Score(None, n, failed, unscored, undefined)
    members = np.arange(n) if clusters is None else codes([str(name) for name in clusters])[1]
    group_count = int(members.max()) + 1
    if group_count < 2:
        return Score(value, n, failed, unscored)
    rows = bootstrap_rows(group_count)
    values: Float64 = np.empty(RESAMPLES)
    step = max(1, _BLOCK_CELLS // n)
    for start in range(0, RESAMPLES, step):
        part = rows[start : start + step]
        flat = (np.arange(len(part))[:, None] * group_count + part).ravel()
        times = np.bincount(flat, minlength=len(part) * group_count).reshape(len(part), group_count)
        values[start : start + step] = statistic(times[:, members].astype(np.float64))
    bounds = interval(values)
    low, high = bounds if bounds is not None else (None, None)
    return Score(value, n, failed, unscored, None, low, high)
