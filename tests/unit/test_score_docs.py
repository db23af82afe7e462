"""What docs/scores.md says: its verbs exist, its criteria are well formed, its commands are read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from graph_service.cli.parser import make_parser
from graph_service.errors import InputError
from queries.score.criteria import lint_criteria, parse_criteria

TEXT = (Path(__file__).parents[2] / "docs" / "scores.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    graph-service (.+?)(?:   #.*)?$", TEXT, re.MULTILINE)


def test_the_criteria_of_the_page_are_well_formed_t1() -> None:
    shown = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert shown is not None
    criteria = parse_criteria(shown.group(1), source="scores.md")
    assert lint_criteria(criteria) == ()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_are_understood(command: str) -> None:
    assert make_parser().parse_args(shlex.split(command)).run is not None


def test_the_table_has_every_verb() -> None:
    assert len(COMMANDS) >= 6
    listed = re.findall(r"^\| (`.+?) \|", TEXT, re.MULTILINE)
    named = {name for cell in listed[:11] for name in re.findall(r"`(\w+)`", cell)}
    for name in named:
        with pytest.raises((InputError, SystemExit)):
            make_parser().parse_args(["score", name, "--no-such-option"])
    assert {"citations", "na", "withheld", "knowledge", "entailment", "factscore", "safe", "geval",
            "spread", "talec", "compare", "lint", "export", "agreement"} <= named  # fmt: skip
