"""view sweep and view figure on the command line (O10, O11).

Of S7 this is the grid of method, level and random seed with its table and figure, and that it goes
on where it was stopped; the figure has O12's form with the deviation for a score.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cli_runs import Cli
from error_texts import check_line, check_text

from graph_service.cli.view.figure import points_of

SWEEP = ("view", "sweep", "--methods", "rs,ed", "--levels", "0.1,0.5", "--random-seeds", "0-1")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_sweep_stores_and_measures_every_view_o11(demo_cli: Cli, tmp_path: Path) -> None:
    """S7, O11: every method, level and random seed once, and a table of means."""
    out = tmp_path / "sweep.jsonl"
    code, said, _ = demo_cli(*SWEEP, "--out", str(out))
    assert code == 0
    found = rows(out)
    assert [(row["method"], row["level"], row["random_seed"]) for row in found] == [
        (method, level, seed)
        for method in ("relation-swapping", "edge-deletion")
        for level in (0.1, 0.5)
        for seed in (0, 1)
    ]
    listed = json.loads(demo_cli("view", "list", "--json")[1])["views"]
    assert {view["id"] for view in listed} == {row["view"] for row in found}
    measured = {view["id"]: view["deviation"] for view in listed}
    for row in found:
        assert row["ats"] == measured[row["view"]]["ats"]
        assert row["changed"] == pytest.approx(row["level"] * 1081, abs=2)
    lines = said.splitlines()
    assert lines[0].split() == ["method", "level", "reached", "ats", "sc2d", "sd2"]
    assert len(lines) == 5
    mean = (found[0]["ats"] + found[1]["ats"]) / 2
    assert float(lines[1].split()[3]) == pytest.approx(mean, abs=5e-5)


def test_a_stopped_sweep_goes_on_o11(demo_cli: Cli, tmp_path: Path) -> None:
    """S7, O11: lines that were written are not measured again, a torn one is."""
    out = tmp_path / "sweep.jsonl"
    demo_cli(*SWEEP, "--out", str(out))
    whole = out.read_bytes()
    lines = whole.splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    code, _, noted = demo_cli(*SWEEP, "--out", str(out))
    assert code == 0
    assert out.read_bytes() == whole, "half a line is written anew, and nothing twice"
    check_line(noted, "3 of 8 views")
    assert "5 of 5 views made" in noted
    code, said, noted = demo_cli(*SWEEP, "--out", str(out), "--json")
    assert len(json.loads(said)["views"]) == 8
    assert "views made" not in noted
    out.write_text('{"other": 1}\n')
    code, _, said = demo_cli(*SWEEP, "--out", str(out))
    assert code == 2
    check_line(said, "no line")


def test_a_sweep_without_a_file_prints_its_lines(demo_cli: Cli) -> None:
    code, said, _ = demo_cli(*SWEEP)
    assert code == 0
    assert len([json.loads(line) for line in said.splitlines()]) == 8


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--methods", "shuffle"),
        ("--methods", ","),
        ("--levels", "a"),
        ("--levels", "1.5"),
        ("--random-seeds", "x"),
        ("--random-seeds", "0-5000"),
        ("--random-seeds", "5-2"),
    ],
)
def test_a_sweep_says_what_is_wrong(demo_cli: Cli, option: str, value: str) -> None:
    code, _, said = demo_cli("view", "sweep", option, value)
    assert code == 2
    check_text(said)


def test_the_figure_of_a_sweep_has_every_point_o11(demo_cli: Cli, tmp_path: Path) -> None:
    """Three panels; a mark a level and method in each; means and ranges over random seeds."""
    out, drawn = tmp_path / "sweep.jsonl", tmp_path / "sweep.svg"
    demo_cli(*SWEEP, "--out", str(out))
    code, said, _ = demo_cli("view", "figure", str(out), "--out", str(drawn))
    assert code == 0
    assert said == f"{drawn}: 8 views\n"
    root = ElementTree.parse(drawn).getroot()
    space = "{http://www.w3.org/2000/svg}"
    lines = root.findall(f"{space}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [2] * 6
    bands = root.findall(f"{space}polygon")
    assert [len(band.attrib["points"].split()) for band in bands] == [4] * 6
    texts = {text.text for text in root.findall(f"{space}text")}
    assert {"ATS", "SC2D", "SD2", "relation swapping", "edge deletion", "base"} <= texts
    check_line(filter(None, texts), "2 random seeds")
    points = points_of([row for row in rows(out) if row["method"] == "edge-deletion"], "sd2")
    sd2 = [row["sd2"] for row in rows(out) if row["method"] == "edge-deletion"]
    assert points[0].mean == pytest.approx((sd2[0] + sd2[1]) / 2)
    assert (points[1].least, points[1].largest) == (min(sd2[2:]), max(sd2[2:]))
    # Panel SD2 begins 50 + 2 * 364 from the left, is 300 wide, and 240 high from 40 down.
    x, y = (float(number) for number in lines[5].attrib["points"].split()[0].split(","))
    assert x == pytest.approx(778 + 0.1 * 300, abs=0.06)
    assert y == pytest.approx(40 + 240 * (1 - points[0].mean), abs=0.06)


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep.jsonl",),
        ("sweep.jsonl", "--out", "figure.png"),
        ("none.jsonl", "--out", "figure.svg"),
        ("empty.jsonl", "--out", "figure.svg"),
        ("sweep.jsonl", "--out", "figure.svg"),
    ],
)
def test_a_figure_says_what_is_wrong(demo_cli: Cli, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "sweep.jsonl").write_text('{"other": 1}\n')
    code, _, said = demo_cli("view", "figure", *arguments)
    assert code == 2
    check_text(said)


QUESTIONS = """\
{"id": "a", "question": "Who?", "entity_ids": ["Q230654"], "answer_ids": ["Q2685"]}
{"id": "b", "question": "What?", "entity_ids": ["Q2685"], "answer_ids": ["Q230654"]}
{"id": "c", "question": "Nobody?"}
"""


def test_each_question_has_a_view_of_its_own_b3(demo_cli: Cli, tmp_path: Path) -> None:
    """The two questions that name who they are about; the third is counted."""
    questions, out = tmp_path / "questions.jsonl", tmp_path / "views.jsonl"
    questions.write_text(QUESTIONS)
    aimed = ("view", "sweep", "--each-question", str(questions), "--methods", "path-deletion")
    arguments = (*aimed, "--levels", "0.5,1", "--random-seeds", "0", "--out", str(out))
    code, said, noted = demo_cli(*arguments)
    assert code == 0
    check_line(noted, "1 of 3 questions", "such as c")
    found = rows(out)
    assert [(row["question"], row["level"]) for row in found] == [
        ("a", 0.5),
        ("b", 0.5),
        ("a", 1.0),
        ("b", 1.0),
    ]
    assert len({row["view"] for row in found}) == 4
    assert said.splitlines()[1].split()[0] == "path-deletion"
    out.write_bytes(b"".join(out.read_bytes().splitlines(keepends=True)[:3]))
    code, _, noted = demo_cli(*arguments)
    check_line(noted, "3 of 4 views")
    assert [row["view"] for row in rows(out)] == [row["view"] for row in found]
    # A method that aims at no path changes what lies around the question's entities.
    out.unlink()
    code, _, _ = demo_cli(*SWEEP, "--each-question", str(questions), "--out", str(out))
    assert code == 0
    assert {row["question"] for row in rows(out)} == {"a", "b"}
    assert max(row["changed"] for row in rows(out)) < 1081 / 2


def test_changes_by_question_b3(demo_cli: Cli, tmp_path: Path) -> None:
    questions, changes = tmp_path / "questions.jsonl", tmp_path / "changes.tsv"
    out = tmp_path / "views.jsonl"
    questions.write_text(QUESTIONS)
    changes.write_text(
        "questionId\thead\trelation\tvalue\n"
        "a\tQ230654\tP26\tQ9696\nb\tQ2685\tP26\tQ9696\na\tQ230654\tP40\tQ9696\n"
    )
    own = ("view", "sweep", "--changes", str(changes))
    code, _, noted = demo_cli(*own)
    assert code == 2
    assert "--each-question" in noted
    arguments = (*own, "--each-question", str(questions), "--out", str(out))
    code, _, noted = demo_cli(*arguments)
    assert code == 0
    assert [(row["question"], row["changed"]) for row in rows(out)] == [("a", 2), ("b", 1)]
    changes.write_text('{"questionId": "z", "head": "Q1", "relation": "P1", "value": "Q2"}\n')
    code, _, noted = demo_cli(*arguments)
    assert (code, "question 'z'" in noted) == (2, True)
    changes.write_text('{"head": "Q1", "relation": "P1", "value": "Q2"}\n')
    code, _, noted = demo_cli(*arguments)
    assert (code, "line 1: field 'questionId'" in noted) == (2, True)


def test_a_scope_narrows_the_views_of_a_sweep(demo_cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "sweep.jsonl"
    scope = ("--around-entity", "Q230654", "--hops", "1")
    assert demo_cli(*SWEEP, *scope, "--out", str(out))[0] == 0
    assert max(row["changed"] for row in rows(out)) < 100
