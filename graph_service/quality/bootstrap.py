"""Intervals of means by a bootstrap over groups: what asks for the same stands or falls together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_RESAMPLES = 1000


def bootstrap_interval(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    groups: Sequence[str],
    /,
    *,
    random_seed: int,
) -> tuple[float, float]:
    """Returns the interval of 95 % of the mean, whole groups drawn with replacement.

    Args:
        values: Of each question, float64 [n].
        groups: To which chain each belongs, [n].
        random_seed: Of the draws.
    """
    means = bootstrap_means(values, groups, random_seed=random_seed)
    return float(np.percentile(means, 2.5)), float(np.percentile(means, 97.5))


def bootstrap_means(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    groups: Sequence[str],
    /,
    *,
    random_seed: int,
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Returns the means of draws of whole groups with replacement, float64 [resamples]."""
    numbers = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    which = np.array([numbers[group] for group in groups])
    sums = np.bincount(which, weights=values)
    counts = np.bincount(which)
    draws = np.random.default_rng(random_seed).integers(0, len(sums), (_RESAMPLES, len(sums)))
    means: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    return means
