"""Statistics of experiments against scipy, and against what follows from their definitions (S7)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from graph_service.errors import InputError
from queries.experiment.statistics import (
    area,
    crossing,
    effect_size,
    estimate,
    holm,
    over_seeds,
    paired,
    question_means,
    resampled_means,
    sign_flip_p,
)

GENERATOR = np.random.default_rng(5)


@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_an_exact_sign_flip_p_is_scipys(n: int) -> None:
    for _ in range(5):
        values = np.round(GENERATOR.normal(0.3, 1, n), 2)
        expected = stats.permutation_test(
            (values,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
            n_resamples=np.inf, vectorized=True,
        ).pvalue  # fmt: skip
        assert sign_flip_p(values) == pytest.approx(expected, abs=1e-12)


def test_a_drawn_sign_flip_p_is_scipys_within_its_error() -> None:
    values = GENERATOR.normal(0.25, 1, 60)
    exact = stats.permutation_test(
        (values,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
        n_resamples=100_000, vectorized=True, rng=np.random.default_rng(1), batch=10_000,
    ).pvalue  # fmt: skip
    found = sign_flip_p(values, permutations=20_000)
    assert found is not None
    # Four standard errors of 20,000 draws.
    assert found == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)
    assert found == sign_flip_p(values, permutations=20_000)
    assert found != sign_flip_p(values, permutations=20_000, random_seed=1)
    least = sign_flip_p(np.ones(60), permutations=999)
    assert least == pytest.approx(1 / 1000), "a drawn p is never 0"
    assert sign_flip_p(np.zeros(5)) == 1.0
    assert sign_flip_p(np.zeros(0)) is None


def test_d_z_is_t_over_the_root_of_n() -> None:
    values, others = GENERATOR.normal(1, 1, 30), GENERATOR.normal(0, 1, 30)
    expected = stats.ttest_rel(values, others).statistic / 30**0.5
    assert effect_size(values - others) == pytest.approx(expected, abs=1e-12)
    assert paired(values[:, None], others).effect == pytest.approx(expected, abs=1e-12)
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


def test_the_two_level_bootstrap_is_that_of_all_draws() -> None:
    """2 questions and 2 seeds have 16 equally likely draws: its mean and deviation are exact."""
    values = np.array([[0.0, 1.0], [2.0, 6.0]])
    every = [
        values[np.ix_(rows, columns)].mean()
        for rows in itertools.product((0, 1), repeat=2)
        for columns in itertools.product((0, 1), repeat=2)
    ]
    drawn = resampled_means(values, resamples=4000, random_seed=2)
    assert set(drawn.tolist()) == set(every)
    assert drawn.mean() == pytest.approx(np.mean(every), abs=4 * np.std(every) / 4000**0.5)
    assert drawn.std() == pytest.approx(np.std(every), rel=0.05)


def test_with_one_seed_it_is_scipys_bootstrap_over_questions() -> None:
    values = GENERATOR.normal(0, 1, 200)
    found = estimate(values[:, None], resamples=4000)
    expected = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=4000, rng=np.random.default_rng(2)
    ).confidence_interval
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.02)
    # Seeds that differ widen it: a value that depends on the seed alone has the seeds' deviation.
    of_seeds = np.tile(np.array([0.0, 1.0, 0.0, 1.0]), (200, 1))
    wide = estimate(of_seeds, resamples=4000)
    assert wide.low is not None
    assert wide.high is not None
    assert wide.high - wide.low == pytest.approx(1.0)


def test_missing_values_are_in_no_mean() -> None:
    values = np.array([[1.0, np.nan], [np.nan, np.nan], [0.0, 1.0]])
    assert question_means(values).tolist()[0::2] == [1.0, 0.5]
    found = estimate(values)
    assert found.value == pytest.approx(2 / 3)
    assert found.n == 2
    assert estimate(np.full((2, 1), np.nan)).value is None
    compared = paired(values, np.array([0.5, 1.0, np.nan]))
    assert (compared.difference.value, compared.difference.n) == (0.5, 1)
    assert compared.p == 1.0


def test_the_deviation_over_seeds_is_that_of_their_means_o9() -> None:
    values = np.array([[1.0, 0.0, np.nan], [0.5, np.nan, np.nan]])
    found = over_seeds(values, failed=[0, 1, 2])
    # Means .75 and 0, the third seed has none: mean .375, deviation .75 / sqrt 2.
    assert found.values == (0.75, 0.0, None)
    assert found.mean == 0.375
    assert found.deviation == pytest.approx(0.75 / 2**0.5)
    assert found.failed == 3
    assert over_seeds(values[:, :1]).deviation is None
