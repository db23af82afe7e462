"""What docs/reference/scores.md says: its verbs exist, its criteria are well formed, its commands are read."""

from __future__ import annotations

import importlib
import inspect
import re
import shlex
import textwrap
from pathlib import Path

import pytest
from cli_runs import Cli

from graph_service import Service
from graph_service.cli.parser import make_parser
from graph_service.client import Client
from graph_service.errors import InputError
from queries.datasets.demo_set import demo_questions
from queries.score.criteria import lint_criteria, parse_criteria
from queries.score.entailment import WordOverlap
from queries.score.matching import names
from queries.score.withholding import score_rounds

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "reference" / "scores.md").read_text(encoding="utf-8")
FOREIGN = (DOCS / "how-to" / "score-another-system.md").read_text(encoding="utf-8")
COMMANDS = re.findall(
    r"^ {4,6}graph-service (.+?)(?:   #.*)?$",
    re.sub(r"\\\n +", "", TEXT + FOREIGN),
    re.MULTILINE,
)


def test_the_criteria_of_the_page_are_well_formed_t1() -> None:
    shown = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert shown is not None
    criteria = parse_criteria(shown.group(1), source="scores.md")
    assert lint_criteria(criteria) == ()


NAMED = re.findall(r"^\| (.+?) \| (.+?) \| (yes|no) \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("text", "name", "said"), NAMED)
def test_the_examples_of_matching_are_as_the_page_says_l8(text: str, name: str, said: str) -> None:
    assert names(text, name) is (said == "yes")


def test_the_page_has_examples_of_matching() -> None:
    assert len(NAMED) > 30


SECTION = FOREIGN.partition("\nPublished files")[0]


def theirs(folder: Path) -> Path:
    shown = re.search(r"```json\n(.*?)```", SECTION, re.DOTALL)
    assert shown is not None
    (folder / "theirs.jsonl").write_text(shown.group(1), encoding="utf-8")
    return folder


def test_the_example_of_another_system_is_scored_as_shown(cli: Cli, tmp_path: Path) -> None:
    theirs(tmp_path)
    shown = re.search(r"```text\n(.*?)```", SECTION, re.DOTALL)
    assert shown is not None
    done = cli("score", "citations", "theirs.jsonl")
    assert done.code == 0, done.err
    assert done.out.startswith(shown.group(1))


@pytest.mark.parametrize(
    "command", re.findall(r"^    graph-service (score .+ theirs.jsonl.*)$", SECTION, re.MULTILINE)
)
def test_the_commands_on_the_example_of_another_system_run(
    cli: Cli, tmp_path: Path, command: str
) -> None:
    theirs(tmp_path)
    done = cli(*shlex.split(command))
    assert done.code == 0, done.err


def test_the_error_of_the_example_is_the_one_shown(cli: Cli, tmp_path: Path) -> None:
    theirs(tmp_path)
    first, second = (tmp_path / "theirs.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "theirs.jsonl").write_text(f"{first}\n{second.replace('value', 'other')}\n")
    shown = re.search(r"^      (error: .+)$", SECTION, re.MULTILINE)
    assert shown is not None
    done = cli("score", "citations", "theirs.jsonl")
    assert (done.code, done.err.strip()) == (2, shown.group(1))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_are_understood(command: str) -> None:
    assert make_parser().parse_args(shlex.split(command)).run is not None


def test_every_score_is_a_function_with_a_worked_example() -> None:
    """The examples are doctests, which run with the others; withholding's needs a graph."""
    table = TEXT.partition("| verb |")[2].partition("\n\n")[0]
    named = re.findall(r"`(score\.\w+)\.(\w+)`", table)
    assert len(named) >= 16
    for module, name in named:
        function = getattr(importlib.import_module(f"queries.{module}"), name)
        shown = inspect.getdoc(function) or ""
        # Of a case and its report one example shows both.
        assert ">>>" in shown or "::\n" in shown or name in ("geval_report", "nugget_row"), name


def test_the_example_of_withholding_runs_k6(
    demo_service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = inspect.getdoc(score_rounds) or ""
    code = textwrap.dedent(shown.partition("::\n")[2])
    known = {
        "Client": Client,
        "WordOverlap": WordOverlap,
        "demo_questions": lambda: demo_questions()[:4],
        "score_rounds": score_rounds,
        "service": demo_service,
    }
    exec(code, known)
    assert re.match(r"\d\.\d{3} \(", capsys.readouterr().out)


def test_the_table_has_every_verb() -> None:
    assert len(COMMANDS) >= 6
    listed = re.findall(r"^\| (`.+?) \|", TEXT, re.MULTILINE)
    named = {name for cell in listed[:14] for name in re.findall(r"`([\w-]+)`", cell)}
    for name in named:
        with pytest.raises((InputError, SystemExit)):
            make_parser().parse_args(["score", name, "--no-such-option"])
    assert {"citations", "na", "withheld", "knowledge", "answer-sets", "entailment", "factscore", "safe",
            "geval",
            "side-by-side", "talec", "compare", "lint", "export", "agreement"} <= named  # fmt: skip
