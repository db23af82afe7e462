"""The command line's help, and what it says to the misspelt."""

from __future__ import annotations

import argparse
import re
import shlex

import pytest
from cli_runs import Cli, process
from error_texts import check_line, check_text

from graph_service.cli import main
from graph_service.cli.examples import EXAMPLES
from graph_service.cli.parser import make_parser


def test_help_imports_nothing_heavy() -> None:
    code = """
import sys
from graph_service.cli import main
for arguments in (["--help"], ["retrieve", "--help"], ["load", "--help"], ["demo", "--help"]):
    try:
        main(arguments)
    except SystemExit as done:
        assert done.code == 0
heavy = {"numpy", "strawberry", "neo4j", "tokenizers", "httpx", "openai", "networkx", "rdflib",
         "starlette", "uvicorn", "sqlite3", "shtab"} & set(sys.modules)
assert not heavy, heavy
"""
    done = process("-c", code)
    assert done.returncode == 0, done.stderr
    verbs = {"load", "graphs", "search", "item", "retrieve", "view", "answer", "score", "serve"}
    for verb in verbs | {"doctor", "bench", "demo", "model"}:
        assert f"\n    {verb} " in done.stdout


def test_version_and_no_verb(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert done.value.code == 0
    assert re.fullmatch(r"graph-service \d+\.\d+\.\d+\n", capsys.readouterr().out)
    nothing = cli()
    assert nothing.code == 2
    check_line(nothing.out, "graph-service demo")


def verbs() -> dict[str, argparse.ArgumentParser]:
    """The parsers of all verbs, by the words that lead to them."""
    found: dict[str, argparse.ArgumentParser] = {}

    def walk(parser: argparse.ArgumentParser, words: str) -> None:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, verb in action.choices.items():
                    found[f"{words}{name}"] = verb
                    walk(verb, f"{words}{name} ")

    walk(make_parser(), "")
    return found


def test_every_verb_has_examples_that_parse() -> None:
    assert {*EXAMPLES} == {name for name in verbs() if " " not in name}
    for name, lines in EXAMPLES.items():
        for line in lines:
            assert line.split()[0] == name
            make_parser().parse_args(shlex.split(line))
    assert "examples:\n  graph-service item Q42\n" in verbs()["item"].format_help()


def test_every_option_is_explained() -> None:
    """One voice: each says what it does, in words that begin small and have no full stop."""
    for name, verb in verbs().items():
        for action in verb._actions:
            where = (name, action.option_strings or action.dest)
            if isinstance(action, argparse._SubParsersAction):
                continue
            assert action.help or action.choices, where
            assert not (action.help or "").endswith("."), where
            # One word for one thing: entity, relation, random seed.
            words = {*re.findall("[a-z]+", (action.help or "").lower())}
            assert not words & {"item", "items", "predicate", "subject"}, where
        assert verb.format_usage().count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        ("retrieve q --stratgy paths", "retrieve [options] [QUESTION]"),
        ("retrieve q -limit=3", "retrieve [options] [QUESTION]"),
        ("ask q", "[options] VERB ..."),
        ("demo --rndom-seeds 3", "demo [options]"),
        ("score citations f --gld g", "score citations [options] FILE"),
        ("export demo --out x.nt", "export [options]"),
        ("retrieve q --xyzzy", "retrieve [options] [QUESTION]"),
        ("--store sqlite:///x.db load y", "[options] VERB ..."),
        ("--hep", "[options] VERB ..."),
        ("serch x", "[options] VERB ..."),
        ("score citaton f", "score [options] WHAT ..."),
        ("retrieve q --strategy path", "retrieve [options] [QUESTION]"),
        ("bench speed", "bench [options] {quality}"),
        ("bench", "bench [options] {quality}"),
        ("documents clint", "documents [options] [{client,explorer}]"),
        ("retrieve paths Who?", "retrieve [options] [QUESTION]"),
        ("search douglas adams", "search [options] NAME"),
        ("search x --limit few", "search [options] NAME"),
        ("view create --level much", "view [options] {"),
        ("experiment run p.yaml", "experiment run [options] --out DIR PLAN.yaml"),
        ("compare q", "compare [options] QUESTION VIEW"),
        ("compare", "compare [options] QUESTION VIEW"),
        ("keys", "keys [options] WHAT ..."),
        ("rank", "rank [options] WHAT ..."),
        ("view crate", "view [options] {"),
    ],
)  # fmt: skip
def test_what_is_misspelt_is_said_with_what_may_be_meant(
    cli: Cli, arguments: str, usage: str
) -> None:
    done = cli(*arguments.split())
    first, error = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert first.startswith(f"usage: graph-service {usage}")
    check_text(error)


def test_a_misspelt_option_is_named_in_json(cli: Cli) -> None:
    error = cli("search", "x", "--lmit", "3", "--json").json["error"]
    assert (error["code"], error["argument"]) == ("BAD_INPUT", "lmit")
    check_text(error["hint"], "--limit")
