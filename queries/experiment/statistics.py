"""Statistics of paired values: questions by random seeds, missing values as NaN.

Questions and random seeds are both random: a value is a mean, an effect of its question, an effect
of its random seed, and what is left. The variance of a mean has a part of the questions and one of
the random seeds, estimated from the mean squares of that model. Each part has Student's t of its
own degrees of freedom (Cochran 1964). Satterthwaite's formula has one t for their sum, and covers
less where few seeds seem to have no effect (``make simulate-statistics``). Nothing is drawn at
random. ``values`` is float64 [questions, seeds] throughout; on the base there is one column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from queries.experiment.distributions import beta_cdf, f_p, solve_falling, t_p, t_quantile
from queries.score.metric import COVERAGE, Float64, Score
from queries.score.report import RunSpread, over_runs

Bool = npt.NDArray[np.bool_]

NO_VALUE = "no answer has one"
ALPHA = round(1 - COVERAGE, 9)
FIRM_SEEDS = 5
"""Random seeds from which their variance is estimated well enough for any claim."""
FIRM_SEED_P = 0.2
_LEAST_P = 1e-12
UNIT = (0.0, 1.0)
"""Range of most scores."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        n: Questions that have a value.
        low, high: Ends of the 95 % interval; None for fewer than two questions.
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
        p: Two-sided, of the same model as the interval: it is under .05 where the interval leaves
            out 0. None for fewer than two questions.
        effect: Cohen's d_z: mean over standard deviation (n - 1) of the questions' differences;
            None where that is 0 or there are fewer than two.
        seeds: Random seeds that it is taken over; 0 where neither side has any.
        seed_variance: Estimated variance of the effect of a random seed, 0 or more; None where it
            cannot be estimated.
        seed_p: Of the F test that random seeds have no effect; None where there is none.
    """

    difference: Estimate
    p: float | None
    effect: float | None
    seeds: int = 0
    seed_variance: float | None = None
    seed_p: float | None = None

    @property
    def is_firm(self) -> bool:
        """Whether enough is known of random seeds for a star.

        There are five or more, or none at all, or their variance is estimated 0 and its F test
        has p > .2.
        """
        if not self.seeds or self.seeds >= FIRM_SEEDS:
            return True
        return self.seed_variance == 0 and self.seed_p is not None and self.seed_p > FIRM_SEED_P


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the variance of a mean, and the degrees of freedom of its estimate."""

    variance: float
    degrees: float


@dataclass(frozen=True, slots=True)
class _Seeds:
    """What random seeds add to the variance of a mean.

    Attributes:
        variance: Of the effect of a random seed, 0 or more.
        p: Of the F test that there is no effect.
        part: Of the variance of the mean.
    """

    variance: float
    p: float
    part: _Part


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean with the parts of its variance as an estimate."""

    value: float
    n: int
    questions: _Part
    seeds: tuple[_Seeds, ...] = ()

    @property
    def parts(self) -> tuple[_Part, ...]:
        """Those parts that are not 0."""
        parts = (self.questions, *(own.part for own in self.seeds))
        return tuple(part for part in parts if part.variance > 0)

    def half_width(self, p: float, /) -> float:
        """Returns the distance from the mean whose two-sided p is ``p``."""
        return math.sqrt(
            sum(t_quantile(part.degrees, p) ** 2 * part.variance for part in self.parts)
        )

    def p(self) -> float:
        """Returns the two-sided p of 0: the one whose half width is the mean."""
        distance = abs(self.value)
        # No part alone has a greater p than all together.
        low = max(t_p(distance / math.sqrt(part.variance), part.degrees) for part in self.parts)
        if len(self.parts) == 1 or not distance or low < _LEAST_P:
            return low
        return solve_falling(
            lambda log_p: self.half_width(math.exp(log_p)) - distance, math.log(low)
        )


def question_means(values: Float64, /) -> Float64:
    """Returns each question's mean over its seeds, float64 [questions]; NaN where none has any."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    means: Float64 = np.full(len(values), np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def _mean_of(values: Float64) -> _Mean:
    """The mean of all values that are known; of no value NaN.

    Questions count by the variance of their sums, as clusters of unequal size do. Where every value
    is known, their part is MS questions / values, and that of seeds
    (MS seeds - MS rest / 2) / values: half of the rest stays, so that an effect of seeds that is too
    small to be seen counts.
    """
    known = ~np.isnan(values)
    values, known = values[known.any(axis=1)], known[known.any(axis=1)]
    count = int(known.sum())
    n = len(values)
    if not n:
        return _Mean(math.nan, 0, _Part(0.0, 1))
    filled = np.where(known, values, 0.0)
    mean = float(filled.sum() / count)
    if n < 2:
        return _Mean(mean, n, _Part(0.0, 1))
    sums = np.where(known, values - mean, 0.0).sum(axis=1)
    variance = float((sums**2).sum()) / count**2 * n / (n - 1)
    # Equal values differ by rounding alone.
    questions = _Part(variance if variance > (1e-12 * mean) ** 2 else 0.0, n - 1)
    seeds = _seeds_of(filled, known)
    return _Mean(mean, n, questions, () if seeds is None else (seeds,))


def _seeds_of(filled: Float64, known: Bool) -> _Seeds | None:
    """What random seeds add; None where that cannot be told from what is left.

    Sums of squares are those of seeds after questions, so that answers may be missing (Henderson's
    third method): E[SS seeds] = (values - questions) seed variance + (seeds - 1) rest.
    """
    columns = known.any(axis=0)
    filled, known = filled[:, columns], known[:, columns]
    weights = known.astype(np.float64)
    n, count = len(filled), float(weights.sum())
    per_question = weights.sum(axis=1)
    centred = np.where(known, filled - (filled.sum(axis=1) / per_question)[:, None], 0.0)
    normal = np.diag(weights.sum(axis=0)) - weights.T @ (weights / per_question[:, None])
    right = centred.sum(axis=0)
    effects, _, independent, _ = np.linalg.lstsq(normal, right, rcond=1e-9)
    rank = int(independent)
    left = count - n - rank
    if not rank or left < 1:
        return None
    total = float((centred**2).sum())
    # Equal columns differ by rounding alone.
    least = 1e-12 * max(total, 1e-12 * float((filled**2).sum()))
    sums = [float(effects @ right), total - float(effects @ right)]
    of_seeds, rest = (
        square / degrees if square > least else 0.0
        for square, degrees in zip(sums, (rank, left), strict=True)
    )
    multiple = rank / (count - n)
    ratio = of_seeds / rest if rest else (math.inf if of_seeds else 0.0)
    share = float((weights.sum(axis=0) ** 2).sum()) / count**2
    return _Seeds(
        max(0.0, of_seeds - rest) * multiple,
        f_p(ratio, rank, left),
        _Part(max(0.0, of_seeds - rest / 2) * multiple * share, rank),
    )


def _difference_of(values: Float64, reference: Float64, *, are_seeds_shared: bool) -> _Mean:
    """The mean difference; seeds of the two sides are paired, or each side adds its own."""
    if are_seeds_shared or 1 in (values.shape[1], reference.shape[1]):
        return _mean_of(values - reference)
    both = ~np.isnan(question_means(values)) & ~np.isnan(question_means(reference))
    sides = [side[both] for side in (values, reference)]
    means = _mean_of((question_means(sides[0]) - question_means(sides[1]))[:, None])
    if means.n < 2:
        return means
    seeds = [_seeds_of(np.nan_to_num(side), ~np.isnan(side)) for side in sides]
    return replace(means, seeds=tuple(own for own in seeds if own is not None))


def estimate(values: Float64, /, *, bounds: tuple[float, float] = UNIT) -> Estimate:
    """Returns the mean of all values with its interval.

    The interval is Wilson's, of the number of questions that would give the same variance if they
    were independent hits. Where all values are equal, it has Clopper and Pearson's bound.

    Args:
        values: float64 [questions, seeds].
        bounds: The least and the greatest value that the score can have.

    >>> estimate(np.array([[1.0], [0.0], [np.nan]])).value
    0.5
    """
    mean = _mean_of(values)
    if not mean.n:
        return Estimate(None, 0)
    if mean.n < 2:
        return Estimate(mean.value, mean.n)
    low, high = bounds
    width = high - low
    share = min(1.0, max(0.0, (mean.value - low) / width))
    if not mean.parts or share in (0.0, 1.0):
        return Estimate(mean.value, mean.n, *_constant_interval(mean.value, mean.n, bounds))
    square = (mean.half_width(ALPHA) / width) ** 2 / (share * (1 - share))
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return Estimate(
        mean.value,
        mean.n,
        low + width * max(0.0, middle - half),
        low + width * min(1.0, middle + half),
    )


def _constant_interval(value: float, n: int, bounds: tuple[float, float]) -> tuple[float, float]:
    """The interval of a mean of n equal values.

    The share of questions that differ is at most Clopper and Pearson's bound (1934) of none of n.
    """
    share = 1 - (ALPHA / 2) ** (1 / n)
    return value - share * (value - bounds[0]), value + share * (bounds[1] - value)


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
    are_seeds_shared: bool = False,
    seeds: int | None = None,
    bounds: tuple[float, float] = UNIT,
) -> Paired:
    """Returns how values differ from those of the same questions elsewhere.

    Where all differences are one value, no variance can be estimated: interval and p then come of
    Clopper and Pearson's bound.

    Args:
        values: float64 [questions, seeds].
        reference: float64 [questions, seeds of its own]; of one column if it has no seeds.
        are_seeds_shared: Whether column i is of one random seed in both, so that it is paired.
        seeds: Random seeds that the difference is taken over, 0 for none; by default the columns
            of the side that has fewer, of those with more than one.
        bounds: The least and the greatest value that the score can have.

    >>> difference = paired(np.array([[1.0], [0.0], [1.0], [1.0]]), np.zeros((4, 1)))
    >>> difference.difference.value, round(difference.p, 3)
    (0.75, 0.058)
    """
    mean = _difference_of(values, reference, are_seeds_shared=are_seeds_shared)
    widths = [side.shape[1] for side in (values, reference) if side.shape[1] > 1]
    taken = (min(widths) if widths else 0) if seeds is None else seeds
    if mean.n < 2:
        return Paired(Estimate(mean.value if mean.n else None, mean.n), None, None, taken)
    width = bounds[1] - bounds[0]
    if mean.parts:
        p, half = mean.p(), mean.half_width(ALPHA)
        low, high = max(-width, mean.value - half), min(width, mean.value + half)
    else:
        low, high = _constant_interval(mean.value, mean.n, (-width, width))
        # The share of others that would bring the mean to 0.
        others = abs(mean.value) / (abs(mean.value) + width)
        p = min(1.0, 2 * (1 - others) ** mean.n)
    differences = question_means(values) - question_means(reference)
    return Paired(
        Estimate(mean.value, mean.n, low, high),
        p,
        effect_size(differences[~np.isnan(differences)]),
        taken,
        max((own.variance for own in mean.seeds), default=None),
        min((own.p for own in mean.seeds), default=None),
    )


_POWER = 0.8
"""Share of the runs of a plan that are to find a loss."""


def smallest_loss(n: int, /, *, comparisons: int = 1) -> float | None:
    """Returns the smallest share of lost hits that a plan finds in 80 % of its runs.

    A question is lost by all random seeds or by none, and none is gained. So few lost questions as
    the test sees are a binomial tail. Random seeds with an effect of their own make it greater.

    Args:
        n: Questions.
        comparisons: That p is adjusted for, each by Bonferroni's share.

    Returns:
        None if not even the loss of all is found.

    >>> round(smallest_loss(100), 3), round(smallest_loss(100, comparisons=36), 3)
    (0.054, 0.123)
    """
    seen = next((lost for lost in range(1, n + 1) if _loss_p(lost, n) < ALPHA / comparisons), None)
    if seen is None:
        return None
    tail = partial(beta_cdf, a=seen, b=n - seen + 1)
    return solve_falling(lambda log_share: _POWER - tail(math.exp(log_share)), math.log(1e-9))


def _loss_p(lost: int, n: int) -> float:
    """The p of the mean of differences, some -1 and all others 0."""
    return t_p(math.sqrt(lost * (n - 1) / (n - lost)), n - 1) if lost < n else 2 * 0.5**n


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
