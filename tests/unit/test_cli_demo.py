"""demo: its part with views is an experiment, whose plan a file can hold too (S7)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from cli_runs import Cli
from openai_stand_in import Scripted, by_rule, ok, stand_in

from queries.datasets.demo_set import demo_question_file, demo_questions
from queries.experiment.scoring import read_scores

PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 28}
methods: [relation-replacement]
levels: [0.3]
random_seeds: 0-1
retrieval: {max_hops: 2}
answers: verbaliser
scores: [precision, recall, f1]
"""
TITLES = {"precision": "citation precision", "recall": "citation recall", "f1": "citation F1"}


FEW = 28


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the demo ask the first questions again; all of them are asked by the README's test."""
    monkeypatch.setenv("GRAPH_SERVICE_READ_TIMEOUT_S", "300")
    monkeypatch.setattr("graph_service.cli.demo.demo_questions", lambda: demo_questions()[:FEW])


@pytest.mark.usefixtures("few")
def test_a_plan_of_ones_own_finds_the_figures_that_the_demo_prints_s7(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = cli("demo", "--random-seeds", "2", "--keep", "demo.db")
    assert shown.code == 0, shown.err
    assert not (tmp_path / "answers.jsonl").exists()
    part = shown.out.partition("== Asked again on ")[2]
    assert part.startswith("2 random seeds of relation replacement at 30%: 28 questions, 2 hops\n")
    assert "  28 questions, paths, relation-replacement at 30%, 2 random seeds\n" in part
    said = re.search(r"^  one changed statement: (.+?\))\n", part, re.MULTILINE | re.DOTALL)
    assert said is not None
    assert re.search(
        r".+ \(the base graph says: .+; random seed [01], question [a-z]+-\d\d\)$",
        " ".join(said[1].split()),
    )
    monkeypatch.setenv("GRAPH_SERVICE_STORE", "sqlite:///demo.db")
    shutil.copyfile(demo_question_file(), tmp_path / "questions.jsonl")
    (tmp_path / "plan.yaml").write_text(PLAN)
    run = cli("experiment", "run", "plan.yaml", "--out", "run")
    assert run.code == 0, run.err
    found: dict[tuple[str, str], list[float]] = {}
    for line in read_scores(tmp_path / "run"):
        if line.value is not None:
            found.setdefault((line.score, line.cell), []).append(line.value)
    for score, title in TITLES.items():
        base = mean(found[score, "demo/base/paths/default/verbaliser"])
        seeds = [
            mean(found[score, f"demo/relation-replacement/0.3/{seed}/paths/default/verbaliser"])
            for seed in (0, 1)
        ]
        assert min(seeds) < max(seeds) < base
        # Every question has a value by either seed.
        assert (
            f"  {title:<18}  base {base:.3f}, views {mean(seeds):.3f} "
            f"({min(seeds):.3f} to {max(seeds):.3f})\n"
        ) in part


@pytest.mark.usefixtures("few")
def test_a_model_answers_on_the_base_and_on_each_view(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    withheld = demo_questions()[3].question

    def judged(body: dict[str, Any]) -> Scripted:
        if withheld in body["messages"][-1]["content"]:
            return ok("", finish="content_filter")
        return by_rule(body)

    with stand_in(judged) as server:
        found = cli("demo", "--random-seeds", "1", "--model", "m", "--model-url", server.url)
    assert found.code == 0, found.err
    # Two questions of the parts before; without knowledge nothing is asked.
    assert len(server.requests) == 2 + FEW * 2
    assert "  2 answers failed, and are in no score\n" in found.out
    assert re.search(
        r"^  citation F1         base 0\.\d{3}, views 0\.\d{3}$", found.out, re.MULTILINE
    )


def test_the_questions_that_the_slice_lacks_stand_last() -> None:
    """The demo asks the others again: so many of the file's first."""
    lacking = [item.lacking for item in demo_questions()]
    assert lacking == sorted(lacking)
    assert lacking.count(False) == 45
