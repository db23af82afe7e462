"""Judges held against a few labels of people: calibrated means, length, retests, a panel (B16)."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Cli
from error_texts import check_line, check_text, raises

from graph_service.errors import InputError
from queries.score.agreement import RatedCase
from queries.score.judges import (
    ALL_LABELLED,
    NO_LABELS,
    TOO_FEW,
    calibrate_mean,
    judges_report,
)
from tools.judges import CONDITIONS, simulate

JUDGED = [1.0, 1.0, 1.0, 1.0, 0.0] * 8
LABELS: list[float | None] = [1.0, 1.0, 0.0, 1.0, 0.0] * 3 + [None] * 25


def test_the_estimate_is_the_judges_mean_less_its_error_on_what_people_labelled() -> None:
    calibrated = calibrate_mean(JUDGED, LABELS)
    # On 15 labelled cases the judge has .8 and people .6, over the other 25 the judge has .8.
    assert calibrated.plain.value == pytest.approx(0.8)
    assert calibrated.people.value == pytest.approx(0.6)
    assert calibrated.error.value == pytest.approx(0.2)
    # Each mean of the judge is .8: whatever its weight, .8w + .6 - .8w.
    assert calibrated.estimate.value == pytest.approx(0.6)
    assert calibrated.estimate.n == 15
    # Covariance 9 * .08 + 3 * ... by statistics; the variance is of all 40 values.
    labelled = [label for label in LABELS if label is not None]
    covariance = statistics.covariance(JUDGED[:15], labelled)
    weight = covariance / (statistics.variance(JUDGED) * (1 + 15 / 25))
    assert calibrated.weight == pytest.approx(weight)
    assert calibrated.estimate.low is not None
    assert calibrated.estimate.low < 0.6 < (calibrated.estimate.high or 0)


def test_a_judge_that_says_the_same_as_people_makes_the_interval_shorter() -> None:
    random = np.random.default_rng(3)
    truth = (random.random(400) < 0.6).astype(float).tolist()
    labels: list[float | None] = [*truth[:50], *([None] * 350)]
    right, useless = (
        calibrate_mean(judged, labels).estimate
        for judged in ([*truth[:49], 1 - truth[49], *truth[50:]], [1.0] * 400)
    )
    people = calibrate_mean(truth, labels).people
    widths = [(score.high or 0) - (score.low or 0) for score in (right, people, useless)]
    assert widths[0] < 0.7 * widths[1]
    # A judge that always says yes tells nothing: people alone.
    assert useless.value == people.value
    assert widths[2] == pytest.approx(widths[1])


def test_an_interval_has_a_width_where_all_labels_are_equal() -> None:
    judged = [1.0] * 20 + [1.0, 0.0] * 40
    score = calibrate_mean(judged, [*([1.0] * 20), *([None] * 80)]).estimate
    # The judge tells nothing of these labels, so its weight is 0: people's mean is 1. Of 20 labels
    # none is wrong, and 1 - .025 ** (1 / 20) of the others may be (Clopper and Pearson).
    assert (score.value, score.high) == (1.0, 1.0)
    assert score.low == pytest.approx(0.025 ** (1 / 20))


def test_facts_of_one_text_are_no_independent_cases() -> None:
    judged = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0] * 10
    labels: list[float | None] = [*judged[:40], *([None] * 40)]
    labels[0] = 0.0
    alone = calibrate_mean(judged, labels)
    of_texts = calibrate_mean(judged, labels, clusters=[index // 4 for index in range(80)])
    widths = [(each.people.high or 0) - (each.people.low or 0) for each in (alone, of_texts)]
    # Four equal facts a text are about one case: the interval is about twice as wide.
    assert 1.6 < widths[1] / widths[0] < 2.6


def test_without_labels_or_with_few_nothing_is_calibrated() -> None:
    nothing: list[float | None] = [None] * 40
    assert calibrate_mean(JUDGED, nothing).estimate.reason == NO_LABELS
    assert calibrate_mean(JUDGED, [1.0, *nothing[1:]]).estimate.reason == TOO_FEW
    assert calibrate_mean(JUDGED, JUDGED).estimate.reason == ALL_LABELLED


@pytest.mark.parametrize("index", [1, 2])
def test_calibrated_intervals_hold_the_truth_and_the_judges_own_do_not(index: int) -> None:
    row = simulate(CONDITIONS[index], np.random.default_rng(38 + index), 250)
    # 250 sets: .95 within four standard errors of .0138.
    assert 0.895 <= row.calibrated <= 1.0
    assert row.plain < 0.85


def rated(count: int = 60) -> list[RatedCase]:
    """Judge long says yes to long texts, judge fair says what people say."""
    cases = []
    for index in range(count):
        is_true, is_long = index % 3 > 0, index % 2 > 0
        ratings: dict[str, Any] = {"fair": is_true, "long": is_true or is_long}
        if index < 24:
            ratings["people"] = is_true
        cases.append(RatedCase(f"c{index:02d}", ratings, f"t{index:02d}"))
    return cases


def test_judges_side_by_side_with_a_panel_and_what_makes_one_doubtful() -> None:
    lengths = {f"t{index:02d}": 90 if index % 2 else 10 for index in range(60)}
    report = judges_report(
        rated(),
        models={"fair": "F", "long": "L"},
        lengths=lengths,
        generators=("L",),
    )
    assert [each.name for each in report.judges] == ["fair", "long", "panel"]
    assert (report.cases, report.labelled) == (60, 24)
    fair, long = report.judge("fair"), report.judge("long")
    # Two of three cases are true; judge long says yes to half of the others too.
    assert fair.calibrated.plain.value == pytest.approx(2 / 3)
    assert long.calibrated.plain.value == pytest.approx(5 / 6)
    assert long.calibrated.error.value == pytest.approx(1 / 6)
    assert long.calibrated.estimate.value == pytest.approx(2 / 3, abs=0.02)
    assert fair.warnings == ()
    check_line(long.warnings[0], "L judges")
    check_line(long.warnings, "length of the text")
    # The panel is the mean of the judges: halfway.
    assert report.judge("panel").calibrated.plain.value == pytest.approx(0.75)
    with raises(InputError):
        report.judge("x")
    lines = "\n".join(report.lines())
    check_line(lines, "warning, long", "L judges")


def test_one_judge_asked_twice_is_a_retest_and_no_panel() -> None:
    cases = [RatedCase(f"{index}", {"a": index % 5 > 0, "b": index % 4 > 0}) for index in range(20)]
    report = judges_report(cases, models={"a": "M", "b": "M"})
    assert [each.name for each in report.judges] == ["a", "b"]
    (retest,) = report.retests
    # They differ where one of 4 and 5 divides and the other does not: 3 + 4 of 20.
    assert retest.equal.value == pytest.approx(13 / 20)
    check_text(report.judge("a").length.reason)
    with raises(InputError):
        judges_report([RatedCase("1", {"a": "good"})])


def test_the_verb_reads_runs_labels_and_texts(cli: Cli, tmp_path: Path) -> None:
    basis = "factscore by {} (temperature 0); 5 texts a search; prompts x"
    groups = {"kind": "", "level": "", "references": None}
    for name in ("J", "K"):
        rows = [
            {
                "basis": basis.format(name),
                "row": {
                    "id": f"{index}",
                    "groups": groups,
                    "facts": [
                        {"text": "Ada sang", "sentence": 0,
                         "supported": name == "J" or index % 2 == 0, "relevant": None,
                         "failure": None}
                    ],
                    "usage": {"prompt_tokens": 0, "completion_tokens": 0, "estimated": False},
                    "failure": None,
                    "missing": None,
                },
            }
            for index in range(30)
        ]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = [
        {"id": f"{index}", "question": "Who?", "text": "Ada " * (index + 1), "model": "J"}
        for index in range(30)
    ]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
    drawn = cli("score", "judges", "J.jsonl", "K.jsonl", "--draw", "12", "--out", "draw.jsonl")
    assert drawn.code == 0, drawn.err
    lines = [json.loads(line) for line in (tmp_path / "draw.jsonl").read_text().splitlines()]
    assert len({line["id"] for line in lines}) == 12
    labels = [{**line, "human": int(line["group"]) % 2 == 0} for line in lines]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    ran = cli("score", "judges", "J.jsonl", "K.jsonl", "--labels", "labels.jsonl", "--texts",
              "texts.jsonl")  # fmt: skip
    assert ran.code == 0, ran.err
    check_line(ran.out, "30 cases", "12 of")
    check_line(ran.out, "warning, J", "it wrote itself")
    # K says what people say: half of all.
    share = sum(label["human"] for label in labels) / 12
    figures = cli("score", "judges", "J.jsonl", "K.jsonl", "--labels", "labels.jsonl",
                  "--json").json["judges"]  # fmt: skip
    assert [each["name"] for each in figures] == ["J", "K", "panel"]
    assert figures[0]["calibrated"]["error"]["value"] == pytest.approx(1 - share)
    assert figures[1]["calibrated"]["error"]["value"] == 0
    assert not math.isclose(figures[0]["calibrated"]["estimate"]["value"], 1.0)
    again = cli("score", "judges", "J.jsonl", "--labels", "texts.jsonl")
    assert again.code == 2
    assert "texts.jsonl, line 1, field human" in again.err
