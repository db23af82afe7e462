"""Statistics of paired values: questions by random seeds, missing values as NaN.

All draws are made by a keyed hash, so that a figure that was written down is found again on any
machine. ``values`` is float64 [questions, seeds] throughout; on the base there is one column.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graph_service.errors import InputError
from queries.score.metric import Float64, Score, bootstrap_rows, interval
from queries.score.report import RunSpread, over_runs

_SEEDS_SALT = 1 << 40
_EXACT_BITS = 20
NO_VALUE = "no answer has one"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        n: Questions that have a value.
        low, high: Middle 95 % of the bootstrap; None for fewer than two questions.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Paired:
    """A mean difference of the same questions.

    Attributes:
        difference: With its interval.
        p: Of the two-sided sign-flip permutation test over questions; None without questions.
        effect: Cohen's d_z: mean over standard deviation (n - 1) of the questions' differences;
            None where that is 0 or there are fewer than two.
    """

    difference: Estimate
    p: float | None
    effect: float | None


def question_means(values: Float64, /) -> Float64:
    """Returns each question's mean over its seeds, float64 [questions]; NaN where none has any."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    means: Float64 = np.full(len(values), np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def resampled_means(values: Float64, /, *, resamples: int, random_seed: int) -> Float64:
    """Returns the mean of each resample of a two-level bootstrap, float64 [resamples].

    Questions and seeds are drawn with replacement, each on its own, and the mean is taken over
    all drawn pairs that have a value; NaN where none has. Resample i draws the same questions
    for all values of one shape, so that curves and differences are resampled together.

    Args:
        values: float64 [questions, seeds].
        resamples: How many.
        random_seed: Of the draws.
    """
    questions, seeds = values.shape
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    of_questions = _weights(questions, resamples, random_seed)
    of_seeds = _weights(seeds, resamples, random_seed + _SEEDS_SALT)
    total = ((of_questions @ filled) * of_seeds).sum(axis=1)
    count = ((of_questions @ known.astype(np.float64)) * of_seeds).sum(axis=1)
    means: Float64 = np.full(resamples, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


@lru_cache(maxsize=16)
def _weights(n: int, resamples: int, random_seed: int) -> Float64:
    """How often each resample holds each of n, float64 [resamples, n]."""
    rows = bootstrap_rows(n, resamples=resamples, random_seed=random_seed)
    flat = (np.arange(resamples)[:, None] * n + rows).ravel()
    counts = np.bincount(flat, minlength=resamples * n).reshape(resamples, n)
    weights: Float64 = counts.astype(np.float64)
    weights.flags.writeable = False
    return weights


def estimate(values: Float64, /, *, resamples: int = 1000, random_seed: int = 0) -> Estimate:
    """Returns the mean of all values with its interval by the two-level bootstrap.

    >>> estimate(np.array([[1.0], [0.0], [np.nan]])).value
    0.5
    """
    known = ~np.isnan(values)
    n = int(known.any(axis=1).sum())
    if not n:
        return Estimate(None, 0)
    mean = float(values[known].mean())
    if n < 2:
        return Estimate(mean, n)
    means = resampled_means(values, resamples=resamples, random_seed=random_seed)
    bounds = interval(means)
    return Estimate(mean, n, *(bounds or (None, None)))


def over_seeds(values: Float64, /, *, failed: Sequence[int] = ()) -> RunSpread:
    """Returns mean and deviation over random seeds of each seed's mean over its questions.

    Args:
        values: float64 [questions, seeds].
        failed: Answers of each seed that failed.

    >>> over_seeds(np.array([[1.0, 0.0], [0.0, np.nan]])).text()
    '0.250 +- 0.354 (runs 0.500 0.000)'
    """
    scores: list[Score] = []
    for seed, column in enumerate(values.T):
        known = column[~np.isnan(column)]
        mean = float(known.mean()) if len(known) else None
        lost = failed[seed] if failed else 0
        scores.append(Score(mean, len(known), lost, reason=None if len(known) else NO_VALUE))
    return over_runs(scores)


def paired(
    values: Float64,
    reference: Float64,
    /,
    *,
    resamples: int = 1000,
    permutations: int = 10_000,
    random_seed: int = 0,
) -> Paired:
    """Returns how values differ from those of the same questions elsewhere.

    Args:
        values: float64 [questions, seeds].
        reference: float64 [questions].
        resamples: Draws of the interval.
        permutations: Draws of the test.
        random_seed: Of both.
    """
    differences = values - reference[:, None]
    means = question_means(differences)
    means = means[~np.isnan(means)]
    return Paired(
        estimate(differences, resamples=resamples, random_seed=random_seed),
        sign_flip_p(means, permutations=permutations, random_seed=random_seed),
        effect_size(means),
    )


def effect_size(differences: Float64, /) -> float | None:
    """Returns Cohen's d_z of paired differences; None where it is not defined.

    >>> effect_size(np.array([1.0, 0.0, 1.0, 0.0]))
    0.8660254037844387
    """
    if len(differences) < 2:
        return None
    spread = float(differences.std(ddof=1))
    # Equal differences have a spread of rounding alone.
    if spread <= 1e-12 * max(1.0, float(np.abs(differences).max())):
        return None
    return float(differences.mean()) / spread


def sign_flip_p(
    differences: Float64, /, *, permutations: int = 10_000, random_seed: int = 0
) -> float | None:
    """Returns the two-sided p of a sign-flip permutation test of the mean; None without values.

    All sign patterns are tried where there are no more than ``permutations``; else some are drawn,
    and p = (1 + as extreme) / (1 + drawn), which is never 0 (Phipson and Smyth 2010). Differences
    of 0 change no sum and are left out of the patterns.

    >>> sign_flip_p(np.array([1.0, 2.0, 3.0]))
    0.25
    """
    if not len(differences):
        return None
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 1.0
    least = abs(float(nonzero.sum())) - 1e-9 * float(np.abs(nonzero).sum())
    if len(nonzero) <= _EXACT_BITS and 2 ** len(nonzero) <= permutations:
        patterns = np.arange(2 ** len(nonzero))[:, None] >> np.arange(len(nonzero)) & 1
        sums = (1.0 - 2.0 * patterns) @ nonzero
        return float((np.abs(sums) >= least).mean())
    sums = _signs(len(nonzero), permutations, random_seed) @ nonzero
    return float((1 + (np.abs(sums) >= least).sum()) / (1 + permutations))


@lru_cache(maxsize=8)
def _signs(n: int, permutations: int, random_seed: int) -> Float64:
    """Signs by a keyed hash, float64 [permutations, n], 1 or -1."""
    width = (n + 7) // 8
    key = f"sign-flip/{random_seed}/{n}".encode()
    stream = hashlib.shake_128(key).digest(width * permutations)
    raw = np.frombuffer(stream, dtype=np.uint8).reshape(permutations, width)
    signs: Float64 = 1.0 - 2.0 * np.unpackbits(raw, axis=1)[:, :n].astype(np.float64)
    signs.flags.writeable = False
    return signs


def holm(p_values: Sequence[float | None], /) -> list[float | None]:
    """Returns p adjusted by Holm's method over a family; those that are None are no part of it.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, position) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p))
        adjusted[position] = highest
    return adjusted


def area(levels: Float64, means: Float64, /) -> Float64:
    """Returns the area under curves over levels, by trapezoids, over the range of the levels.

    A curve that stays where it begins has that value for its area.

    Args:
        levels: float64 [levels], rising.
        means: float64 [..., levels].

    Raises:
        InputError: There are fewer than two levels, or they do not rise.
    """
    if len(levels) < 2 or (np.diff(levels) <= 0).any():
        raise InputError("an area needs at least two levels, rising", argument="levels")
    widths = np.diff(levels)
    heights = (means[..., 1:] + means[..., :-1]) / 2
    areas: Float64 = (heights * widths).sum(axis=-1) / (levels[-1] - levels[0])
    return areas


def crossing(levels: Sequence[float], differences: Sequence[float], /) -> float | None:
    """Returns the first level at which a curve falls under its reference; None where it never does.

    Between two levels it is found on the straight line.

    Args:
        levels: Rising.
        differences: Curve minus reference at each.

    >>> crossing([0.0, 0.5, 1.0], [0.5, 0.25, -0.25])
    0.75
    """
    for index, (level, height) in enumerate(zip(levels, differences, strict=True)):
        if height >= 0:
            continue
        if not index:
            return level
        before, above = levels[index - 1], differences[index - 1]
        return before + (level - before) * above / (above - height)
    return None
