"""Reports of scores: what people read of them, their JSON and their exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from graph_service.cli.output import Output
from queries.score.metric import Score, mean_score
from queries.score.report import Groups, PlainReport, Section, Table, files_report, make_report


@dataclass(frozen=True)
class Row:
    id: str
    value: float
    groups: Groups = Groups()
    failure: str | None = None
    failures: tuple[str, ...] = ()


def test_figures_and_tables_stand_in_columns_and_sections_are_indented() -> None:
    report = PlainReport(
        {},
        [
            "two cases",
            {"F1": Score(0.5, 2), "recall, macro": "0.5 -> 0.6"},
            Section("outer", ("a line", Section("inner", ({"k": Score(1.0, 1)}, {})))),
            Table([["score", "x", "y"], ["F1", "", "0.5"], ["long name", "1", ""]]),
        ],
    )
    assert report.lines() == [
        "two cases",
        "F1             0.500 (n=2)",
        "recall, macro  0.5 -> 0.6",
        "outer",
        "  a line",
        "  inner",
        "    k  1.000 (n=1)",
        "score      x  y",
        "F1            0.5",
        "long name  1",
    ]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (Row("a", 1.0), 0),
        (Row("a", 1.0, failure="late: no reply"), 1),
        (Row("a", 1.0, failures=("late",)), 1),
    ],
)
def test_the_exit_code_says_whether_a_case_or_a_part_of_one_failed(
    row: Row, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    report = make_report("length", [row], lambda rows: {"mean": mean_score([1.0])})
    assert Output().report(report) == code
    assert capsys.readouterr().out.splitlines()[0] == (
        f"length: 1 cases, {int(row.failure is not None)} failed"
    )
    assert Output(as_json=True).report(report) == code
    printed = json.loads(capsys.readouterr().out)
    assert printed["rows"] == [
        {"id": "a", "value": 1.0, "groups": {"kind": "", "level": "", "references": None},
         "failure": row.failure, "failures": list(row.failures)}
    ]  # fmt: skip
    both = files_report({"one": make_report("length", [], lambda rows: {}), "two": report})
    assert (both.has_failed, [part["file"] for part in both.to_plain()["files"]]) == (
        bool(code), ["one", "two"],
    )  # fmt: skip
    assert both.lines()[:3] == [
        "one", "  length: 0 cases, 0 failed", "two",
    ]  # fmt: skip
