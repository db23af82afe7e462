"""Agreement of ratings and its intervals, against scipy and against counting by hand (K8, O14)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from error_texts import check_line, check_text, raises
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from graph_service.errors import InputError
from queries.score.agreement import (
    KappaWeights,
    RatedCase,
    agreement,
    auroc,
    cohen_kappa,
    default_measures,
    equal_share,
    kendall_tau_b,
    pearson,
    spearman,
)
from queries.score.metric import Score, bootstrap_rows
from queries.score.resample import bootstrap_score, correlation_rows, tau_b_rows

SCALE = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)
REALS = st.lists(
    st.tuples(st.integers(-50, 50).map(lambda i: i / 7), st.integers(-50, 50).map(lambda i: i / 7)),
    min_size=2,
    max_size=30,
)


def kappa_by_hand(first: list[int], second: list[int], power: int) -> float | None:
    """The definition: 1 - observed cost / cost expected from the raters' own shares."""
    n = len(first)

    def cost(a: int, b: int) -> float:
        return float(a != b) if power == 0 else float(abs(a - b) ** power)

    observed = sum(cost(a, b) for a, b in zip(first, second, strict=True)) / n
    expected = sum(cost(a, b) for a in first for b in second) / n**2
    return None if expected == 0 else 1 - observed / expected


@given(SCALE)
def test_kappa_is_its_definition_o14(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    for power, weights in ((0, "none"), (1, "linear"), (2, "quadratic")):
        found = cohen_kappa(first, second, weights=KappaWeights(weights))
        wanted = kappa_by_hand(first, second, power)
        assert (found.value is None) == (wanted is None)
        if wanted is not None:
            assert found.value == pytest.approx(wanted, abs=1e-12)
            assert (found.low is None) == (found.high is None)
            if found.low is not None and found.high is not None:
                assert found.low <= found.high <= 1


def test_kappa_of_a_published_table() -> None:
    """Cohen's table of two readers of 50 proposals: 20, 5, 10, 15: kappa .4."""
    cells = [("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)]
    first = [a for a, _, n in cells for _ in range(n)]
    second = [b for _, b, n in cells for _ in range(n)]
    # Observed .7; by chance .5 * .6 + .5 * .4 = .5.
    assert cohen_kappa(first, second).value == pytest.approx(0.4)
    assert cohen_kappa(first, second).n == 50
    assert equal_share(first, second).value == pytest.approx(0.7)


def test_values_of_the_scale_that_nobody_gave_change_nothing_o14() -> None:
    """Ratings 1, 2 and 5: 5 is three steps from 2, not one."""
    first, second = [1, 2, 5, 5], [1, 5, 5, 2]
    # Observed (9 + 9) / 4; expected over the 16 cross pairs by the squares of the distances.
    crossed = sum((a - b) ** 2 for a in first for b in second) / 16
    found = cohen_kappa(first, second, weights=KappaWeights.QUADRATIC).value
    assert found == pytest.approx(1 - (18 / 4) / crossed)


@pytest.mark.parametrize("factor", [-3.0, 3.0])
def test_a_correlation_is_never_past_one(factor: float) -> None:
    """Rounding carries a sixth of these quotients past it."""
    for seed in range(60):
        values = np.random.Generator(np.random.PCG64(seed)).random(7)
        found = correlation_rows(values, factor * values + 0.1, np.ones((1, 7)))[0]
        assert abs(found) <= 1.0
        assert found == pytest.approx(math.copysign(1.0, factor))
        ranks = np.random.Generator(np.random.PCG64(seed)).integers(0, 4, 9)
        other = ranks if factor > 0 else 3 - ranks
        tau = tau_b_rows(ranks, other, np.ones((1, 9)))[0]
        assert abs(tau) <= 1.0
        assert tau == pytest.approx(math.copysign(1.0, factor))


def test_what_is_not_drawn_makes_no_side_vary() -> None:
    """Cases of weight 0 and of 1: the deviations of 0.1 from its rounded mean are no variation."""
    weights = np.array([[0.0, *[1.0] * 7], [0.0, *[2.0] * 7]])
    values, other = np.array([7.3, *[0.1] * 7]), np.arange(8.0)
    assert np.isnan(correlation_rows(values, other, weights)).all()
    assert np.isnan(correlation_rows(other, values, weights)).all()
    assert correlation_rows(other, other, weights) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("sample", ["scale", "reals"])
def test_correlations_agree_with_scipy(sample: str) -> None:
    rng = np.random.default_rng(5)
    for n in (2, 3, 10, 200):
        if sample == "scale":
            x, y = rng.integers(1, 6, n).astype(float), rng.integers(1, 6, n).astype(float)
        else:
            x = rng.normal(1e6, 1, n)
            y = x + rng.normal(0, 1, n)
        if len(set(x)) < 2 or len(set(y)) < 2:
            continue
        a, b = x.tolist(), y.tolist()
        assert pearson(a, b).value == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
        assert spearman(a, b).value == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-12)
        assert kendall_tau_b(a, b).value == pytest.approx(stats.kendalltau(x, y)[0], abs=1e-12)


@settings(max_examples=60)
@given(REALS)
def test_correlations_agree_with_scipy_on_any_values(pairs: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    if len(set(x)) < 2 or len(set(y)) < 2:
        for measure in (pearson, spearman, kendall_tau_b):
            score = measure(x, y)
            assert score.value is None
            assert score.n == len(x)
            assert score.reason is not None
            assert "same value" in score.reason
        return
    if len(x) > 2:
        assert pearson(x, y).value == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
    assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-9)
    assert kendall_tau_b(x, y).value == pytest.approx(stats.kendalltau(x, y)[0], abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=20))
def test_auroc_counts_pairs_in_the_right_order(cases: list[tuple[bool, int]]) -> None:
    labels, scores = [a for a, _ in cases], [float(b) for _, b in cases]
    high = [s for yes, s in zip(labels, scores, strict=True) if yes]
    low = [s for yes, s in zip(labels, scores, strict=True) if not yes]
    found = auroc(labels, scores)
    if not high or not low:
        assert found.value is None
        check_text(found.reason)
    else:
        right = sum((a > b) + (a == b) / 2 for a, b in itertools.product(high, low))
        assert found.value == pytest.approx(right / (len(high) * len(low)))


def test_intervals_are_those_of_resampled_cases() -> None:
    """Each resample computed on its own by scipy gives the same ends."""
    rng = np.random.default_rng(1)
    x = rng.integers(1, 6, 25).astype(float)
    y = np.clip(x + rng.integers(-1, 2, 25), 1, 5).astype(float)
    rows = bootstrap_rows(25)
    for measure, oracle in (
        (pearson, stats.pearsonr),
        (spearman, stats.spearmanr),
        (kendall_tau_b, stats.kendalltau),
    ):
        values = sorted(oracle(x[row], y[row])[0] for row in rows)
        found = measure(x.tolist(), y.tolist())
        assert found.low == pytest.approx(values[math.floor(0.025 * 999)])
        assert found.high == pytest.approx(values[math.ceil(0.975 * 999)])


def test_one_cluster_has_no_interval_and_keeps_its_counts() -> None:
    found = bootstrap_score(
        lambda drawn: drawn.sum(axis=1), 3, clusters=["a"] * 3, failed=1, unscored=2
    )
    assert found == Score(3.0, 3, 1, 2)
    assert (found.low, found.high) == (None, None)


def test_whole_clusters_are_drawn() -> None:
    """Ten facts of one claim are one draw: the interval of repeated cases is that of one copy."""
    first, second = [1, 2, 3, 4, 5, 2], [1, 3, 3, 5, 4, 1]
    once = pearson(first, second)
    copies = pearson(
        [v for v in first for _ in range(10)],
        [v for v in second for _ in range(10)],
        clusters=[i for i in range(6) for _ in range(10)],
    )
    assert copies.n == 60
    assert copies.value == pytest.approx(once.value)
    assert copies.low == pytest.approx(once.low)
    assert copies.high == pytest.approx(once.high)
    assert pearson(first, second, clusters=["one"] * 6).low is None


def test_missing_ratings_are_unscored_and_empty_has_a_reason() -> None:
    score = spearman([1, None, 3, 4], [1, 2, None, 9])
    assert (score.n, score.unscored, score.value) == (2, 2, 1.0)
    check_text(pearson([None], [1]).reason)
    with raises(InputError):
        pearson([1, 2], [1])
    with pytest.raises(InputError, match=r"finite number.*'bad'"):
        cohen_kappa(["good", "bad"], ["bad", "bad"], weights=KappaWeights.LINEAR)
    with pytest.raises(InputError, match="finite number"):
        pearson([1.0, math.nan], [1.0, 2.0])
    with raises(InputError):
        cohen_kappa([1, "yes"], [1, 1])


def test_many_raters_are_compared_on_one_fixed_set_o14() -> None:
    cases = [
        RatedCase("1", {"human": 5, "judge-a": 5, "judge-b": 4}),
        RatedCase("2", {"human": 1, "judge-a": 2, "judge-b": 1}),
        RatedCase("3", {"human": 3, "judge-a": 3, "judge-b": 3}),
        RatedCase("4", {"human": 3, "judge-a": 3}),
    ]
    report = agreement(cases)
    assert (report.cases, report.unscored) == (3, 1)
    assert [(pair.first, pair.second) for pair in report.pairs] == [
        ("human", "judge-a"), ("human", "judge-b"), ("judge-a", "judge-b")
    ]  # fmt: skip
    # The fourth case counts for no pair, not even the one that has both ratings.
    assert report.pairs[0].scores["equal"].value == pytest.approx(2 / 3)
    assert "kappa-quadratic" in report.pairs[0].scores
    assert default_measures([RatedCase("1", {"a": True, "b": False})]) == ("equal", "kappa")
    assert any("human and judge-a" in line for line in report.lines())
    with pytest.raises(InputError, match="needs two raters"):
        agreement([RatedCase("1", {"a": 1})])
    with pytest.raises(InputError, match="unknown measure 'rho'"):
        agreement(cases, measures=["rho"])


def test_agreement_by_group_and_pooled_over_groups_k8() -> None:
    """Two groups of three: in one the raters always agree, in the other never."""
    cases = [
        RatedCase(f"{group}{i}", {"a": 1, "b": int(group == "x")}, group)
        for group in "xy"
        for i in range(3)
    ]
    report = agreement(cases, measures=["equal"], by_group=True)
    pooled = report.pairs[0].scores["equal"]
    # A resample of groups has both, or one of them twice: .5, 1 or 0. Resampled cases would
    # nearly never be all of one group.
    assert (pooled.value, pooled.low, pooled.high) == (0.5, 0.0, 1.0)
    assert report.clusters == 2
    assert {name: group.cases for name, group in report.groups.items()} == {"x": 3, "y": 3}
    assert [group.pairs[0].scores["equal"].value for group in report.groups.values()] == [1, 0]
    assert agreement(cases, measures=["equal"]).groups == {}
    shown = report.lines()
    check_line(shown, "whole groups", "2")
    assert "group x: 3 cases" in shown
