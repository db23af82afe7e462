"""Several runs of one model: requests of their own, means and deviations as in papers (B4, O9)."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from cli_runs import Cli
from error_texts import check_line, raises
from experiment_runs import written
from openai_stand_in import by_rule, stand_in

from graph_service.errors import InputError
from queries.experiment.analysis import analyse
from queries.experiment.cells import CellKind, cells_of
from queries.experiment.plan import Plan
from queries.experiment.plan_file import parse_plan
from queries.experiment.plan_lock import plain_plan
from queries.experiment.report.tables import latex_tables
from queries.experiment.scoring import ScoreLine
from queries.experiment.subjects import Fate
from queries.experiment.table import tables_of
from queries.generate.setting import Setting

TEXT = """graphs: [demo]
questions: questions.jsonl
answers: verbaliser
models: [m]
generation: {temperature: 0.7}
"""


def parsed(text: str, folder: Path) -> Plan:
    written(folder, text)
    return parse_plan(text, source="plan.yaml", folder=folder)


def test_a_model_has_a_cell_each_run_and_templates_have_one(tmp_path: Path) -> None:
    plan = parsed(TEXT + "runs: 2\n", tmp_path)
    assert [cell.id for cell in cells_of(plan)] == [
        "demo/no-knowledge/verbaliser",
        "demo/no-knowledge/m+kalma-numbered/run1",
        "demo/no-knowledge/m+kalma-numbered/run2",
        "demo/base/paths/default/verbaliser",
        "demo/base/paths/default/m+kalma-numbered/run1",
        "demo/base/paths/default/m+kalma-numbered/run2",
    ]
    assert "runs" not in plain_plan(parsed(TEXT, tmp_path)), "older locks have no runs"
    assert plain_plan(plan)["runs"] == 2


def test_runs_never_share_a_random_seed(tmp_path: Path) -> None:
    plan = parsed(TEXT.replace("0.7}", "0.7, random_seed: 5, samples: 4}") + "runs: 3\n", tmp_path)
    seeds = [plan.generation_of(Setting.KALMA, run).random_seed for run in (None, 1, 2, 3)]
    assert seeds == [5, 5, 6, 7]
    # Self-consistency counts four samples up from each.
    sampled = [plan.generation_of(Setting.OKGQA_SC, run).random_seed for run in (1, 2, 3)]
    assert sampled == [5, 9, 13]
    plan = parsed(TEXT + "runs: 2\n", tmp_path)
    assert plan.generation_of(Setting.KALMA, 1).random_seed is None, "as a plan without runs asks"
    assert plan.generation_of(Setting.KALMA, 2).random_seed == 1


@pytest.mark.parametrize(
    "text",
    [
        TEXT + "runs: 0\n",
        TEXT.replace("models: [m]\n", "") + "runs: 2\n",
        TEXT.replace("0.7", "0") + "runs: 2\n",
    ],
)
def test_runs_that_could_not_differ_are_refused(tmp_path: Path, text: str) -> None:
    with raises(InputError):
        parsed(text, tmp_path)


def test_means_and_deviations_of_runs_by_hand(tmp_path: Path) -> None:
    plan = parsed(TEXT + "runs: 3\nmethods: [ed]\nlevels: [0.5]\nrandom_seeds: 0-1\n", tmp_path)
    # Each run's own share of four questions right, on the base 1, 3/4 and 1/2.
    right = {1: 4, 2: 3, 3: 2}
    lines: list[ScoreLine] = []
    for cell in cells_of(plan):
        if cell.run is None or cell.condition.kind is CellKind.NO_KNOWLEDGE:
            continue
        lost = 2 if cell.condition.kind is CellKind.VIEW else 0
        for number in range(4):
            value = float(number < right[cell.run] - lost)
            failed = (number, cell.run, lost) == (3, 3, 0)
            lines.append(
                ScoreLine(cell.id, str(number), "", Fate.KEPT, "f1",
                          None if failed else value, "failed" if failed else None)
            )  # fmt: skip
    cells = cells_of(plan)
    tables = {table.condition.name(): table for table in tables_of(cells, lines).values()}
    base = tables["demo/base/paths/default/m+kalma-numbered"]
    # Question 3 is right in the first run, wrong in the second, and failed in the third.
    assert base.values("f1").tolist() == [[1.0], [1.0], [pytest.approx(2 / 3)], [0.5]]
    assert base.values_of_runs("f1")[2].tolist() == [1.0, 1.0, 0.0]
    assert (base.failed, base.failures_of_runs, base.missing("f1")) == (1, [0, 0, 1], 1)
    analysis = analyse(cells, lines)
    rows = {row.condition.kind: row for row in analysis.rows if row.score == "f1"}
    assert rows[CellKind.BASE].runs.values == pytest.approx((1.0, 0.75, 2 / 3))
    view = rows[CellKind.VIEW]
    # Both seeds have 2/4, 1/4 and 0/4: mean 1/4, deviation 1/4.
    assert view.runs.values == (0.5, 0.25, 0.0)
    assert (view.runs.mean, view.runs.deviation) == (0.25, 0.25)
    assert view.seeds.values == (0.25, 0.25)
    assert view.mean.n == 4
    assert view.base is not None
    assert view.base.seeds == 2, "runs are no random seeds of a view"
    latex = latex_tables(analysis)
    assert r"0.792 $\pm$ 0.173 & 0.250 $\pm$ 0.000" in latex
    check_line(latex, "2 random", "3 runs")


def test_each_run_asks_by_itself_and_replays(
    demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with stand_in(by_rule) as server:
        text = TEXT.replace("[m]", f'[{{name: m, url: "{server.url}"}}]')
        text = text.replace("questions.jsonl", "{file: questions.jsonl, first: 2}")
        written(tmp_path, text + "runs: 3\nbudget: {prices: {m: {prompt: 1000, reply: 2000}}}\n")
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        planned = demo_cli("experiment", "plan", "plan.yaml")
        check_line(planned.out, "12 requests")
        check_line(planned.out, "for answers", "prices")
        check_line(planned.err, "matplotlib is not")
        assert demo_cli("experiment", "run", "plan.yaml", "--out", "out").code == 0
        # Two questions, with knowledge and without.
        assert len(server.requests) == 12
        seeds = [request.get("seed") for request in server.requests]
        assert sorted(seeds, key=str) == [1] * 4 + [2] * 4 + [None] * 4
    replay = ("experiment", "run", "plan.yaml", "--out", "out", "--replay")
    assert demo_cli(*replay).code == 0
    assert demo_cli("experiment", "report", "plan.yaml", "--out", "out", "--no-figures").code == 0
    report = (tmp_path / "out" / "report.md").read_text()
    assert "| over seeds | over runs |" in report
    with (tmp_path / "out" / "conditions.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["answerer"] == "m+kalma-numbered"]
    assert {row["runs"] for row in rows} == {"3"}
    # The stand-in says the same whatever the random seed is.
    assert {row["run_deviation"] for row in rows} == {"0.0"}
    answers = (tmp_path / "out" / "answers.jsonl").read_bytes()
    lines = [json.loads(line) for line in answers.splitlines()]
    usages = [usage for line in lines if (usage := line["answer"]["usage"])]
    prompts, replies = (
        sum(usage[f"{name}_tokens"] for usage in usages) for name in ("prompt", "completion")
    )
    # A thousand for a million tokens of prompts, and two thousand for one of replies.
    assert f"cost {prompts / 1000 + replies / 500:.2f}" in report
    assert [line["answer"]["parameters"].get("random_seed") for line in lines
            if line["cell"].endswith("run3")] == [2, 2, 2, 2]  # fmt: skip
