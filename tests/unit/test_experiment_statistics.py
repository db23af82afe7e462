"""Statistics of experiments against scipy, and against their definitions (S7, B16)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from graph_service.errors import InputError
from queries.experiment.distributions import beta_cdf, f_p, t_p, t_quantile
from queries.experiment.statistics import (
    Estimate,
    area,
    crossing,
    effect_size,
    estimate,
    holm,
    over_seeds,
    paired,
    question_means,
    smallest_loss,
)
from queries.score.metric import Float64
from tools.inference import difference_row, mean_row, mixed, mixed_mean, two_views

GENERATOR = np.random.default_rng(5)
ANY = (-1e3, 1e3)


def dummies(known: Float64) -> tuple[Float64, Float64]:
    """Columns of questions and of random seeds, for a model by least squares."""
    rows, columns = np.nonzero(known)
    return (
        (rows[:, None] == np.arange(known.shape[0])).astype(float),
        (columns[:, None] == np.arange(known.shape[1])).astype(float),
    )


def left_over(design: Float64, values: Float64) -> float:
    """The sum of squares that a linear model leaves."""
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(((values - fitted) ** 2).sum())


def test_t_and_f_are_scipys() -> None:
    for degrees in (1.0, 1.7, 2.0, 9.5, 99.0, 1e5):
        for t in (0.0, 0.3, 2.0, 12.0, 80.0):
            assert t_p(t, degrees) == pytest.approx(2 * stats.t.sf(t, degrees), rel=1e-9, abs=1e-15)
        for p in (0.05, 0.3, 1e-4):
            assert t_quantile(degrees, p) == pytest.approx(stats.t.isf(p / 2, degrees), rel=1e-9)
    for f, above, below in ((0.2, 2, 198), (3.0, 4, 17.5), (40.0, 2, 30), (0.0, 2, 9)):
        assert f_p(f, above, below) == pytest.approx(stats.f.sf(f, above, below), rel=1e-9)
    assert f_p(float("inf"), 2, 9) == 0.0
    for x, a, b in ((0.3, 2.5, 0.5), (0.9, 60.0, 3.0), (0.0, 1.0, 1.0), (1.0, 2.0, 3.0)):
        assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-9)


def test_with_one_seed_a_difference_is_scipys_paired_t_test() -> None:
    values, others = GENERATOR.normal(0.3, 1, 40), GENERATOR.normal(0, 1, 40)
    expected = stats.ttest_rel(values, others)
    difference = paired(values[:, None], others[:, None], bounds=ANY)
    assert difference.p == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval(0.95)
    assert (difference.difference.low, difference.difference.high) == pytest.approx(tuple(ends))
    assert (difference.seeds, difference.seed_p, difference.is_firm) == (0, None, True)


def test_seeds_widen_a_difference_by_the_mean_squares_of_both() -> None:
    """Two-way analysis of variance with one value a cell, by sums over the margins."""
    n, seeds = 30, 4
    x = GENERATOR.normal(0, 1, (n, 1)) + GENERATOR.normal(0, 1, (1, seeds))
    x = x + GENERATOR.normal(0, 1, (n, seeds))
    of_questions = seeds * ((x.mean(1) - x.mean()) ** 2).sum() / (n - 1)
    of_seeds = n * ((x.mean(0) - x.mean()) ** 2).sum() / (seeds - 1)
    rest = x - x.mean(1)[:, None] - x.mean(0) + x.mean()
    within = (rest**2).sum() / ((n - 1) * (seeds - 1))
    assert of_seeds > within, "these seeds differ"
    parts = [(of_questions, n - 1), (of_seeds - within / 2, seeds - 1)]

    def half(p: float) -> float:
        squares = [stats.t.isf(p / 2, degrees) ** 2 * part for part, degrees in parts]
        return float((sum(squares) / (n * seeds)) ** 0.5)

    difference = paired(x, np.zeros((n, 1)), bounds=ANY)
    assert difference.difference.low == pytest.approx(x.mean() - half(0.05))
    assert difference.difference.high == pytest.approx(x.mean() + half(0.05))
    assert difference.p == pytest.approx(
        optimize.brentq(lambda p: half(p) - abs(x.mean()), 1e-9, 1.0)
    )
    assert difference.seed_variance == pytest.approx((of_seeds - within) / n)
    assert difference.seed_p == pytest.approx(
        stats.f.sf(of_seeds / within, seeds - 1, (n - 1) * (seeds - 1))
    )


def test_missing_values_leave_the_mean_squares_of_nested_models() -> None:
    x = GENERATOR.normal(0, 1, (25, 4)) + np.array([0.0, 1.0, 2.0, 0.5])
    x[GENERATOR.random((25, 4)) < 0.3] = np.nan
    x = x[~np.isnan(x).all(axis=1)]
    values = x[~np.isnan(x)]
    questions, seeds = dummies((~np.isnan(x)).astype(float))
    both = left_over(np.hstack([questions, seeds]), values)
    left = len(values) - len(x) - 3
    between = left_over(questions, values) - both
    difference = paired(x, np.zeros((len(x), 1)), bounds=ANY)
    assert difference.seed_p == pytest.approx(stats.f.sf(between / 3 / (both / left), 3, left))
    assert difference.seed_variance == pytest.approx(
        (between / 3 - both / left) * 3 / (len(values) - len(x))
    )


def test_common_seeds_are_paired_and_others_add_their_own() -> None:
    shift = np.array([[0.0, 2.0, -1.0, 1.0, -2.0]])
    noise = GENERATOR.normal(0, 0.1, (2, 50, 5))
    first, second = shift + noise[0] + 0.2, shift + noise[1]
    together = paired(first, second, are_seeds_shared=True, bounds=ANY)
    apart = paired(first, second, bounds=ANY)
    assert together.difference.value == pytest.approx(apart.difference.value)
    assert width(together.difference) < 0.2 < 3 < width(apart.difference)
    assert together.p is not None
    assert together.p < 1e-6
    assert apart.p is not None
    assert apart.p > 0.5
    # Each side adds n times its mean square of seeds: seeds of sd 1.58 over 5, twice.
    assert apart.seed_variance == pytest.approx(float(shift.var(ddof=1)), rel=0.1)
    assert (together.seeds, apart.seeds) == (5, 5)


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


def test_p_and_interval_agree() -> None:
    seen = set()
    for n, seeds in itertools.product((2, 3, 10, 40), (1, 2, 3, 6)):
        for shift in (0.0, 0.2, 0.5, 1.0):
            x = (GENERATOR.random((n, seeds)) < shift).astype(float)
            y = (GENERATOR.random((n, 1)) < 0.2).astype(float)
            difference = paired(x, y)
            low, high = difference.difference.low, difference.difference.high
            assert low is not None
            assert high is not None
            assert difference.p is not None
            assert (difference.p < 0.05) == (not low <= 0 <= high)
            seen.add(difference.p < 0.05)
    assert seen == {True, False}


def test_a_star_needs_five_seeds_or_seeds_without_effect() -> None:
    noise = GENERATOR.normal(0, 1, (40, 5))
    # Columns of one mean: the mean square of seeds is 0.
    level = noise - noise.mean(axis=0)
    zero = np.zeros((40, 1))
    assert paired(level[:, :3], zero, bounds=ANY).is_firm
    apart = level + np.arange(5.0)
    three = paired(apart[:, :3], zero, bounds=ANY)
    assert three.seed_variance == pytest.approx(1.0, rel=0.1)
    assert not three.is_firm
    assert paired(apart, zero, bounds=ANY).is_firm
    assert not paired(level[:, :1], zero, seeds=1, bounds=ANY).is_firm, (
        "of one seed nothing is known"
    )


def test_differences_of_one_value_have_clopper_and_pearsons_bound() -> None:
    for n in (2, 6, 50):
        bound = stats.binomtest(0, n).proportion_ci(0.95, method="exact").high
        none = paired(np.ones((n, 3)), np.ones((n, 1)))
        assert (none.difference.low, none.difference.high) == pytest.approx((-bound, bound))
        assert none.p == 1.0
        lost = paired(np.zeros((n, 1)), np.ones((n, 1)))
        # From -1 to what the share of others brings at 1 each.
        assert (lost.difference.low, lost.difference.high) == pytest.approx((-1, -1 + 2 * bound))
        assert lost.p == pytest.approx(stats.binomtest(n, n, 0.5).pvalue), "the sign test"
        third = paired(np.full((n, 1), 0.3), np.full((n, 1), 0.1))
        assert third.difference.low is not None
        assert third.p is not None
        assert (third.p < 0.05) == (third.difference.low > 0)


def test_a_mean_has_wilsons_interval() -> None:
    hits = (GENERATOR.random((60, 1)) < 0.9).astype(float)
    found = estimate(hits)
    share, size = float(hits.mean()), 59.0
    # Its ends are where the score test with t of n - 1 degrees just rejects.
    for end in (found.low, found.high):
        assert end is not None
        error = (end * (1 - end) / size) ** 0.5
        assert abs(share - end) / error == pytest.approx(stats.t.isf(0.025, 59))
    for value, n in ((1.0, 50), (0.0, 6)):
        alike = estimate(np.full((n, 3), value))
        exact = stats.binomtest(int(value * n), n).proportion_ci(0.95, method="exact")
        assert (alike.low, alike.high) == pytest.approx(tuple(exact))
    # The same values as 1 to 5.
    scaled = estimate(1 + 4 * hits, bounds=(1, 5))
    assert scaled.low == pytest.approx(1 + 4 * (found.low or 0))
    # A value that depends on the seed alone has the seeds' deviation, of 3 degrees of freedom.
    of_seeds = estimate(np.tile(np.array([0.0, 1.0, 0.0, 1.0]), (200, 1)))
    assert of_seeds.low is not None
    size = 0.25 / (float(np.var([0, 1, 0, 1], ddof=1)) / 4)
    error = (of_seeds.low * (1 - of_seeds.low) / size) ** 0.5
    assert (0.5 - of_seeds.low) / error == pytest.approx(stats.t.isf(0.025, 3))


def test_the_smallest_loss_is_seen_in_80_percent_of_runs() -> None:
    loss, runs = smallest_loss(100), 400
    assert loss is not None
    seen = 0
    for _ in range(runs):
        hits = (GENERATOR.random((100, 1)) >= loss).astype(np.float64)
        difference = paired(np.repeat(hits, 5, axis=1), np.ones((100, 1)))
        seen += difference.p is not None and difference.p < 0.05
    # Four standard errors.
    assert seen / runs == pytest.approx(0.8, abs=4 * (0.8 * 0.2 / runs) ** 0.5)
    assert smallest_loss(1) is None
    assert smallest_loss(4) is None, "t of 3 in 4 has p = .058, and 4 in 4 have 2 / 2^4"
    five = smallest_loss(5)
    assert five is not None
    assert stats.binom.sf(3, 5, five) == pytest.approx(0.8), "4 in 5 have p = .016"


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """A small part of ``make simulate-statistics``, at its fixed random seed."""
    draw = partial(mixed, n=60, seeds=5, seed_sd=0.5)
    row = mean_row("mixed", draw, mixed_mean(0.5), sets=300)
    # Four standard errors of 300 sets around .95.
    assert row.coverage == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / 300) ** 0.5)
    views = difference_row("views", partial(two_views, n=60, seeds=5, seed_sd=0.3), sets=300)
    assert views.errors is not None
    assert views.errors <= 0.07 + 4 * (0.05 * 0.95 / 300) ** 0.5
    assert views.errors == pytest.approx(1 - views.coverage)
    assert mixed_mean(0.5) == pytest.approx(
        integrate.quad(
            lambda x: stats.norm.pdf(x, scale=2.5**0.5) / (1 + np.exp(-x) * 3 / 7), -20, 20
        )[0]
    )
    assert not replace(row, coverage=0.92).is_good
    assert not replace(views, errors=0.08).is_good


def test_d_z_is_t_over_the_root_of_n() -> None:
    values, others = GENERATOR.normal(1, 1, 30), GENERATOR.normal(0, 1, 30)
    expected = stats.ttest_rel(values, others).statistic / 30**0.5
    assert effect_size(values - others) == pytest.approx(expected, abs=1e-12)
    assert paired(values[:, None], others[:, None], bounds=ANY).effect == pytest.approx(
        expected, abs=1e-12
    )
    assert effect_size(np.full(4, 0.1)) is None
    assert effect_size(np.array([1.0])) is None


def closed_bonferroni(p_values: list[float]) -> list[float]:
    """Holm's method by the closure principle: the worst of all intersections with a hypothesis."""
    places = range(len(p_values))
    return [
        min(
            1.0,
            max(
                len(subset) * min(p_values[i] for i in subset)
                for size in range(1, len(p_values) + 1)
                for subset in itertools.combinations(places, size)
                if place in subset
            ),
        )
        for place in places
    ]


def test_holm_is_the_closed_test_of_bonferroni() -> None:
    for n in (1, 2, 5, 7):
        p_values = [float(p) for p in GENERATOR.uniform(0, 0.3, n)]
        assert holm(p_values) == pytest.approx(closed_bonferroni(p_values), abs=1e-12)
    # The example of Holm's paper's form: 3 * .01, 2 * .02, 1 * .9.
    assert holm([0.9, 0.01, 0.02]) == pytest.approx([0.9, 0.03, 0.04])
    assert holm([0.5, None, 0.6]) == [1.0, None, 1.0]


def test_the_area_is_scipys_trapezoid() -> None:
    levels = np.array([0.0, 0.1, 0.4, 1.0])
    curves = GENERATOR.uniform(0, 1, (7, 4))
    assert area(levels, curves) == pytest.approx(integrate.trapezoid(curves, levels, axis=-1))
    assert area(levels[:3], np.full(3, 0.7)) == pytest.approx(0.7)
    with pytest.raises(InputError, match="rising"):
        area(np.array([0.3, 0.1]), np.array([1.0, 1.0]))


def test_the_crossing_is_the_root_of_the_interpolated_curve() -> None:
    levels, heights = [0.0, 0.1, 0.5, 0.9], [0.4, 0.3, 0.05, -0.2]
    root = optimize.brentq(lambda x: np.interp(x, levels, heights), 0.0, 0.9)
    assert crossing(levels, heights) == pytest.approx(root)
    assert crossing([0.0, 1.0], [-0.1, 0.5]) == 0.0
    assert crossing([0.0, 1.0], [0.1, 0.0]) is None


def test_missing_values_are_in_no_mean() -> None:
    values = np.array([[1.0, np.nan], [np.nan, np.nan], [0.0, 1.0]])
    assert question_means(values).tolist()[0::2] == [1.0, 0.5]
    found = estimate(values)
    assert found.value == pytest.approx(2 / 3)
    assert found.n == 2
    assert estimate(np.full((2, 1), np.nan)).value is None
    compared = paired(values, np.array([[0.5], [1.0], [np.nan]]))
    assert (compared.difference.value, compared.difference.n) == (0.5, 1)
    assert (compared.p, compared.difference.low) == (None, None)
    # Of seeds that no question shares nothing is known.
    apart = np.array([[1.0, np.nan], [np.nan, 0.0], [0.5, np.nan]])
    assert paired(apart, np.zeros((3, 1))).seed_p is None


def test_the_deviation_over_seeds_is_that_of_their_means_o9() -> None:
    values = np.array([[1.0, 0.0, np.nan], [0.5, np.nan, np.nan]])
    found = over_seeds(values, failed=[0, 1, 2])
    # Means .75 and 0, the third seed has none: mean .375, deviation .75 / sqrt 2.
    assert found.values == (0.75, 0.0, None)
    assert found.mean == 0.375
    assert found.deviation == pytest.approx(0.75 / 2**0.5)
    assert found.failed == 3
    assert over_seeds(values[:, :1]).deviation is None
