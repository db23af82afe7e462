"""demo: the first minute; its sweep is an experiment, whose plan a file can hold too (S7, B20)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from cli_runs import Cli, process
from error_texts import check_error, check_line
from openai_stand_in import Scripted, by_rule, ok, stand_in
from waiting import wait_until

from graph_service.cli.demo import first_minute
from queries.datasets.demo_set import demo_question_file, demo_questions
from queries.experiment.scoring import read_scores

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "docs" / "first-minute.txt"
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
MOST_LINES = 20


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no reason for another output."""
    monkeypatch.setenv("GRAPH_SERVICE_READ_TIMEOUT_S", "300")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, patient: None) -> None:
    """Has the sweep ask the first questions alone."""
    monkeypatch.setattr(
        "graph_service.cli.demo.sweeping.demo_questions", lambda: demo_questions()[:FEW]
    )


@pytest.mark.usefixtures("patient")
def test_the_first_minute_is_as_the_documents_record_it(cli: Cli, tmp_path: Path) -> None:
    shown = cli("demo")
    assert shown.code == 0, shown.err
    assert not list(tmp_path.iterdir())
    recorded = f"$ graph-service demo\n{shown.out}"
    if os.environ.get("GRAPH_SERVICE_UPDATE_DOCS"):
        RECORDING.write_text(recorded, encoding="utf-8")
    assert recorded == RECORDING.read_text(encoding="utf-8")
    lines = shown.out.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= first_minute.WIDTH


@pytest.mark.usefixtures("patient")
def test_the_first_minute_says_what_retrieval_gives(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other questions and another view bring other answers: none is written down."""
    monkeypatch.setattr(
        first_minute, "DEMO_COUNT_QUESTION", "How many children did Robert F. Kennedy have?"
    )
    monkeypatch.setattr(first_minute, "DEMO_QUESTION_ID", "one-04")
    monkeypatch.setattr(first_minute, "DEMO_UNANSWERABLE_ID", "one-02")
    found = cli("demo", "--json").json
    first, count, known = found["answers"]
    assert first["question"] == "Who was the father of Sargent Shriver?"
    assert count["result"]["answer"]["value"] == "11"
    assert "29 May 1917" in known["text"]
    shown = cli("demo").out
    assert "\nAnswer     11: " in shown
    assert "Not known" not in shown.partition("What if")[0]
    assert found["introduction"]["text"] in shown


def test_the_first_line_waits_for_no_import() -> None:
    code = """
import sys
from graph_service.cli import main
from graph_service.cli.output import Output
def first(self, text=""):
    heavy = {"numpy", "strawberry", "neo4j", "tokenizers", "httpx", "networkx"} & set(sys.modules)
    raise SystemExit(str(heavy) if heavy else 0)
Output.line = first
main(["demo"])
raise SystemExit("no line")
"""
    done = process("-c", code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [("--serve", "--model", "m"), ("--model-url", "http://x")])
def test_options_of_a_model_that_nobody_asks_are_refused(cli: Cli, words: tuple[str, ...]) -> None:
    run = cli("demo", *words)
    assert (run.code, run.out) == (2, "")
    check_error(run.err)


def page_of(address: str) -> bytes:
    """The page at an address; nothing while nobody listens there."""
    try:
        with urllib.request.urlopen(address, timeout=600) as page:
            text: bytes = page.read()
            return text
    except urllib.error.URLError:
        return b""


def test_the_demo_is_served_as_a_page_and_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "graph_service.cli", "demo", "--serve", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stderr is not None
        said = ""
        while (address := re.search(r"Explorer on (\S+)", said)) is None:
            line = running.stderr.readline()
            assert line, said
            said += line
        wait_until(lambda: b"<title>" in page_of(address[1]))
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=600)
    finally:
        running.kill()
        running.communicate()
    assert not list(temporary.iterdir())


def test_the_demo_takes_its_page_or_its_sweep(cli: Cli) -> None:
    refused = cli("demo", "--serve", "--sweep")
    assert refused.code == 2
    check_error(refused.err)


@pytest.mark.usefixtures("few")
def test_a_plan_of_ones_own_finds_the_figures_that_the_demo_prints_s7(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = cli("demo", "--sweep", "--random-seeds", "2", "--keep", "demo.db")
    assert shown.code == 0, shown.err
    assert not (tmp_path / "answers.jsonl").exists()
    head = "28 questions, at most 2 steps each, on the graph and on 2 perturbed views\n"
    part = shown.out.partition(head)[2]
    assert "  28 questions, paths, relation-replacement at 30%, 2 random seeds\n" in part
    said = re.search(r"^  one changed statement: (.+?\))\n", part, re.MULTILINE | re.DOTALL)
    assert said is not None
    assert re.search(
        r".+ \(.+ says: .+; random seed [01], .+-\d\d\)$",
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
        model = ("--model", "m", "--model-url", server.url)
        found = cli("demo", "--sweep", "--random-seeds", "1", *model)
    assert found.code == 0, found.err
    # Without knowledge nothing is asked.
    assert len(server.requests) == FEW * 2
    check_line(found.out, "2 answers failed")
    assert re.search(
        r"^  citation F1         base 0\.\d{3}, views 0\.\d{3}$", found.out, re.MULTILINE
    )


def test_the_questions_that_the_slice_lacks_stand_last() -> None:
    """The sweep asks the others: so many of the file's first."""
    lacking = [item.lacking for item in demo_questions()]
    assert lacking == sorted(lacking)
    assert lacking.count(False) == 45
