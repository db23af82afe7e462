"""A score is a value or nothing with a reason; means leave failures out and say so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.errors import InputError
from queries.score.metric import (
    Score,
    bootstrap_rows,
    harmonic,
    harmonic_score,
    interval,
    mean_score,
    ratio_score,
)


def test_a_score_is_never_nan() -> None:
    with pytest.raises(InputError, match="finite"):
        Score(float("nan"), 1)
    with pytest.raises(InputError, match="finite"):
        Score(0.5, 1, low=float("inf"), high=1.0)
    with pytest.raises(InputError, match="reason"):
        Score(None, 0)
    with pytest.raises(InputError, match="reason"):
        Score(0.5, 1, reason="none")
    assert Score(0.5, 4, failed=1, unscored=2).text() == "0.500 (n=4, failed=1, unscored=2)"
    assert Score(None, 0, reason="no answer").text() == "none (no answer)"
    assert Score(None, 0, 2, 1, "no fact").text() == "none (no fact, failed=2, unscored=1)"


def test_mean_leaves_out_what_has_no_value() -> None:
    score = mean_score([1.0, None, 0.0, 0.5], failed=2)
    assert (score.value, score.n, score.failed, score.unscored) == (0.5, 3, 2, 1)
    assert mean_score([None], empty="why").reason == "why"
    # Where nothing else came, that everything failed is the reason.
    assert mean_score([], failed=2, empty="why").text() == "none (every case failed, failed=2)"
    assert mean_score([None], failed=2, empty="why").reason == "why"
    assert ratio_score([], [], failed=1, empty="why").reason == "every case failed"
    assert ratio_score([0], [0], failed=1, empty="why").reason == "why"
    assert ratio_score([], [], failed=1, unscored=1, empty="why").reason == "why"
    one = mean_score([0.3])
    assert (one.value, one.low, one.high) == (0.3, None, None)


def test_ratio_is_micro() -> None:
    # (1 + 3) / (2 + 8) and not the mean of 1/2 and 3/8.
    score = ratio_score([1, 3], [2, 8])
    assert (score.value, score.n) == (0.4, 10)
    assert score.low == pytest.approx(3 / 8)
    assert score.high == pytest.approx(1 / 2)
    assert ratio_score([0, 0], [0, 0], empty="why").reason == "why"


def test_resamples_are_the_same_everywhere() -> None:
    rows = bootstrap_rows(5, resamples=3)
    # Recorded; a change here changes every interval that was ever written down.
    assert rows.tolist() == RECORDED
    with pytest.raises(InputError, match="at least one"):
        bootstrap_rows(0)
    # As docs/reference/scores.md says of every interval.
    assert len(bootstrap_rows(5)) == 1000


RECORDED = [[1, 3, 0, 2, 4], [1, 1, 3, 2, 1], [4, 3, 1, 2, 1]]


def test_resamples_are_even() -> None:
    rows = bootstrap_rows(10, resamples=2000)
    counts = np.bincount(rows.ravel(), minlength=10)
    # 20,000 draws: 2,000 each, standard deviation 42.
    assert counts.min() > 1800
    assert counts.max() < 2200


def test_interval_of_means_covers_the_normal_one() -> None:
    values = [float(i % 2) for i in range(400)]
    score = mean_score(values)
    assert score.low is not None
    assert score.high is not None
    # Mean .5, standard error .5 / 20 = .025: about .451 to .549.
    assert score.low == pytest.approx(0.451, abs=0.008)
    assert score.high == pytest.approx(0.549, abs=0.008)


def test_interval_drops_what_is_undefined() -> None:
    assert interval(np.array([np.nan, 0.2, 0.4])) == (0.2, 0.4)
    assert interval(np.array([np.nan])) is None


def test_harmonic() -> None:
    assert harmonic(0.0, 0.0) == 0.0
    assert harmonic(None, 1.0) is None
    missing = harmonic_score(Score(None, 0, reason="no citation"), Score(1.0, 3, failed=1))
    assert (missing.value, missing.reason, missing.failed) == (None, "no citation", 1)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=20))
def test_an_interval_holds_between_least_and_greatest(values: list[float | None]) -> None:
    score = mean_score(values)
    kept = [value for value in values if value is not None]
    assert score.n + score.unscored == len(values)
    if score.low is not None and score.high is not None:
        assert min(kept) - 1e-12 <= score.low <= score.high <= max(kept) + 1e-12
