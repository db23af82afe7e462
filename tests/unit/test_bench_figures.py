"""The arithmetic of figures, and what a person reads of them."""

from __future__ import annotations

import gc

import pytest
from error_texts import check_text

from benchmarks.figures import Measured, figure, notes, spread, table_rows, timed


def test_figure_is_the_median_the_95th_percentile_and_the_ratio() -> None:
    # Of 1..21 the median is 11 and the 95th percentile 20; of 4, 5, 60 the median is 5.
    made = figure(
        "one", Measured([*range(21, 0, -1)], [60.0, 4.0, 5.0]), what="work", reference="other"
    )
    assert (made.own_median_ms, made.own_p95_ms, made.runs) == (11.0, 20.0, 21)
    assert (made.reference_median_ms, made.reference_runs, made.ratio) == (5.0, 3, 2.2)
    assert made.skipped is None


def test_a_reference_that_did_not_run_has_a_reason_and_no_ratio() -> None:
    made = figure("one", Measured([2.0], (), "it is not installed"), what="work", reference="other")
    assert made.reference_median_ms is None
    assert made.ratio is None
    head, row = table_rows([made])
    assert len(head) == len(row)
    assert row == ["one", "2", "2", "1", "-", "-", "other"]
    check_text(notes([made]), "one: work")


def test_details_are_said() -> None:
    made = figure(
        "one",
        Measured([2.0], [1.0], None, {"edges": 32888, "error": 1.5e-7, "walk": "both"}),
        what="work",
        reference="other",
    )
    assert notes([made]) == ["one: work; edges 32,888; error 1.5e-07; walk both"]


def test_timed_runs_each_case_once_in_order_and_collects_garbage_again() -> None:
    seen: list[int] = []
    times = timed(seen.append, [3, 1, 2])
    assert seen == [3, 1, 2]
    assert len(times) == 3
    assert min(times) >= 0.0
    assert gc.isenabled()

    def fail(_: int) -> None:
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        timed(fail, [1])
    assert gc.isenabled()


@pytest.mark.parametrize(("size", "count"), [(100, 20), (100, 3), (5, 9), (1, 1), (0, 4)])
def test_spread_takes_distinct_items_in_order_from_the_first(size: int, count: int) -> None:
    items = list(range(size))
    taken = spread(items, count)
    assert len(taken) == min(size, count)
    assert taken == sorted(set(taken))
    assert taken[:1] == items[:1]
