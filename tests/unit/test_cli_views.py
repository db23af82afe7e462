"""Views on the command line whose base changes, or goes (O10)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from cli_runs import Cli
from demo_graph import QUESTION, copy_store
from error_texts import check_error, check_line


@pytest.fixture(autouse=True)
def _store(monkeypatch: pytest.MonkeyPatch, demo_file: Path, tmp_path: Path, cli: Cli) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))


def test_the_command_that_an_error_names_makes_the_view_anew(cli: Cli, tmp_path: Path) -> None:
    """O10: under the name and note it had, so that whatever asks for it goes on."""
    made = cli("view", "create", "--method", "er", "--level", "0.2", "--name", "n", "--note", "why")
    assert made.code == 0
    (tmp_path / "more.tsv").write_text("Q230654\tP26\tQ11696\n")
    assert cli("load", "more.tsv", "--graph", "demo").code == 0
    stale = cli("retrieve", QUESTION, "--view", "n")
    assert stale.code != 0
    command = stale.err.partition("Make it anew: graph-service ")[2]
    anew = cli(*shlex.split(command), "--json").json["view"]
    assert (anew["name"], anew["note"], anew["stale"]) == ("n", "why", False)
    assert cli("retrieve", QUESTION, "--view", "n").code == 0


def test_search_finds_by_the_names_of_a_view(cli: Cli) -> None:
    """B3: stored and inline."""
    made = cli(
        "view", "create", "--method", "names", "--naming", "gone", "--level", "1", "--name", "g"
    )
    assert "names-changed; level asked 1, reached 1 of" in made.out
    assert "entities" in made.out
    assert "Arnold Schwarzenegger, now" in cli("view", "diff", "g", "--limit", "1000").out
    assert "Q2685" in cli("search", "Arnold Schwarzenegger").out
    assert cli("search", "Arnold Schwarzenegger", "--view", "g").out == "nothing found\n"
    slipped = cli("search", "Arnold Schwarzenegger", "--view", "names:1:3", "--json").json["hits"]
    assert "Q2685" not in {hit["entity"]["id"] for hit in slipped}
    check_line(cli("retrieve", QUESTION, "--view", "g").out, "no entity of the graph")
    check_error(cli("retrieve", "x", "--view", "names:1:3:question").err)


def test_a_view_that_was_there_already_keeps_its_name_and_says_so(cli: Cli) -> None:
    made = cli("view", "create", "--method", "ed", "--level", "0.2", "--name", "first", "--json")
    assert made.json["view"]["reused"] is False
    again = cli("view", "create", "--method", "ed", "--level", "0.2", "--name", "second")
    assert again.code == 0
    assert again.out.splitlines()[0].endswith("first")
    assert "was there already" in again.out.splitlines()[-1]
    assert "graph-service view update" in again.out.splitlines()[-1]
    assert cli("view", "create", "--method", "ed", "--level", "0.2", "--json").json["view"][
        "reused"
    ]
    renamed = cli("view", "update", "first", "--name", "second", "--note", "n", "--json")
    assert (renamed.json["view"]["name"], renamed.json["view"]["note"]) == ("second", "n")
    assert cli("view", "show", "first").code == 2
    assert cli("view", "update", "second", "--name", "ed:0.2:1").code == 2
    assert cli("view", "update", "second").code == 2


def test_views_go_with_their_graph_and_that_is_said(cli: Cli) -> None:
    """O10."""
    cli("view", "create", "--method", "ed", "--level", "0.2")
    assert "and 1 view" in cli("graphs", "delete", "demo", "--yes").out
    assert "no graph" in cli("view", "list", "--graph", "demo").err
