"""What the views of an experiment break: statements, minimum sets and nearest answers (O10, O11)."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from error_texts import check_line, raises
from experiment_runs import QUESTIONS, run_into, written

from graph_service import Service
from graph_service.cli.experiment.steps import StoreSteps
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from queries.datasets.gold import GoldQuestion
from queries.experiment.answering import Experiment
from queries.experiment.impact import (
    NO_ARRAYS,
    OF_WORDS,
    VIEWS_NAME,
    impacts_of,
    read_views,
    write_views,
)
from queries.experiment.opening import open_experiment
from queries.experiment.plan_file import read_plan
from queries.experiment.scoring import SCORES

GOLD = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 12}
methods: [ed]
levels: [0.0, 1.0]
views: [no-husband]
strategies: [triplets, paths]
retrieval: {max_hops: 1}
answers: verbaliser
"""


def opened(plan: Path, service: Service) -> Experiment:
    return open_experiment(read_plan(plan, scores=SCORES), Client.over(service)).experiment


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / VIEWS_NAME).read_text().splitlines()]


def test_of_a_withheld_minimum_set_all_is_broken_and_of_the_base_nothing_o11(
    demo_cli: Cli, tmp_path: Path
) -> None:
    asked = GOLD[:12]
    husband = asked[0]["statement_ids"][0]
    assert asked[0]["question"] == "Who is Maria Shriver's husband?"
    demo_cli("view", "create", "--method", "withholding", "--name", "no-husband",
        "--statement", husband)  # fmt: skip
    written(tmp_path, PLAN)
    assert demo_cli("experiment", "run", "plan.yaml", "--out", "out").code == 0
    # A line a view and question, for both strategies together.
    assert len(lines(tmp_path / "out")) == 3 * 12
    said = demo_cli("experiment", "report", "plan.yaml", "--out", "out", "--no-figures", "--json")
    nothing, everything, withheld = said.json["views"]
    assert (nothing["method"], nothing["level"], nothing["random_seed"]) == (
        "edge-deletion", 0.0, 0,
    )  # fmt: skip
    statements = sum(len(row["statement_ids"]) for row in asked)
    for row in (nothing, everything, withheld):
        assert (row["questions"], row["statements"]["of"]) == (12, statements)
        assert row["sets"]["of"] == sum(bool(row["statement_ids"]) for row in asked)
        assert row["why"] == ""
    assert [nothing[name]["broken"] for name in ("statements", "sets", "answers")] == [0, 0, 0]
    uses = sum(row["statement_ids"].count(husband) for row in asked)
    assert withheld["statements"]["broken"] == uses > 0
    assert withheld["answers"]["broken"] == 0, "her husband has her as his spouse still"
    # All entities are cut off from one another; dates stay.
    assert everything["answers"]["broken"] == everything["answers"]["of"] > 0
    assert everything["statements"]["broken"] > 0.8 * statements
    with (tmp_path / "out" / "views.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["method"] for row in table] == ["edge-deletion", "edge-deletion", "no-husband"]
    assert table[1]["answers_share"] == "1.0"
    report = (tmp_path / "out" / "report.md").read_text()
    check_line(report, "What the views")
    shown = (
        "question one-01: broke `Maria Shriver | spouse | Arnold Schwarzenegger`; the answer is 1 "
        "step away on the base, none on the view"
    )
    assert f"* demo, edge-deletion/1/0, {shown}" in report
    assert f"* demo, no-husband, {shown.partition(';')[0]}\n" in report
    (tmp_path / "out" / VIEWS_NAME).unlink()
    lost = demo_cli("experiment", "report", "plan.yaml", "--out", "out", "--no-figures")
    assert (lost.code, "Run the plan" in lost.err) == (2, True)


SMALL = PLAN.replace("views: [no-husband]\n", "").replace("first: 12", "first: 3")


def test_lines_that_are_right_are_kept_and_others_made_again_b4(
    demo_service: Service, tmp_path: Path
) -> None:
    plan = written(tmp_path, SMALL)
    folder = tmp_path / "out"
    run_into(folder, plan, demo_service)
    whole = (folder / VIEWS_NAME).read_bytes()
    asked: list[tuple[str, ViewRef | None]] = []
    counter = StoreSteps(demo_service)

    def count(question: GoldQuestion, graph: str, view: ViewRef | None) -> int | None:
        asked.append((question.id, view))
        return counter.count(question, graph, view)

    experiment = opened(plan, demo_service)
    write_views(experiment, folder, count_steps=count, count_changes=counter.changes)
    assert (asked, (folder / VIEWS_NAME).read_bytes()) == ([], whole)
    first, second, *rest = whole.splitlines(keepends=True)
    (folder / VIEWS_NAME).write_bytes(first + second.replace(b'"kept"', b'"lost"') + b"".join(rest))
    write_views(experiment, folder, count_steps=count, count_changes=counter.changes)
    assert (folder / VIEWS_NAME).read_bytes() == whole
    assert {id_ for id_, _ in asked} == {GOLD[1]["id"]}
    (folder / VIEWS_NAME).unlink()
    asked.clear()
    write_views(experiment, folder, count_steps=count, count_changes=counter.changes)
    assert (folder / VIEWS_NAME).read_bytes() == whole
    assert len(asked) == len({(id_, str(view)) for id_, view in asked}) > 0, "two strategies, once"
    (folder / VIEWS_NAME).unlink()
    write_views(experiment, folder)
    assert {line["why"] for line in lines(folder)} == {NO_ARRAYS}
    (row, _) = impacts_of(experiment.cells, read_views(folder)).rows
    assert (row.answers.of, row.answers.share, row.why) == (0, None, NO_ARRAYS)
    assert row.statements.of == 3


@pytest.mark.parametrize("text", ["{", "{}", '{"graph": 5}'])
def test_a_line_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / VIEWS_NAME).write_text(text + "\n")
    with raises(InputError) as caught:
        read_views(tmp_path)
    assert "Delete" in str(caught.value.hint)


def test_a_view_of_a_questions_words_can_only_be_retrieved_on(
    demo_service: Service, tmp_path: Path
) -> None:
    plan = written(tmp_path, SMALL + "scope: {of_question: true}\n")
    run_into(tmp_path / "out", plan, demo_service)
    found = lines(tmp_path / "out")
    assert {(line["why"], line["fate"], line["statements"]) for line in found} == {
        (OF_WORDS, None, 0)
    }


def test_a_question_that_lacks_ids_has_no_steps(demo_service: Service) -> None:
    count = StoreSteps(demo_service).count
    known = GoldQuestion("1", "Who?", entity_ids=("Q230654",), answer_ids=("Q2685", "Q0"))
    assert count(known, "demo", None) == 1
    assert count(replace(known, entity_ids=()), "demo", None) is None
    assert count(replace(known, answer_ids=()), "demo", None) is None
    assert count(replace(known, entity_ids=("Q0",)), "demo", None) is None
