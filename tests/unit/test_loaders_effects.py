"""Options of load that have no effect on its source are refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_line, check_text

from graph_service.cli import main

TABLE = "id,name,price\n1,A,3\n2,B,4\n"
TRIPLE = "<http://x/a> <http://x/p> <http://x/b> .\n"


def run(path: Path, text: str, *options: str) -> int:
    path.write_text(text)
    store = f"sqlite:///{path.parent / 'g.db'}"
    rejects = () if "--rejects-path" in options else ("--rejects-path", str(path.parent / "r"))
    return main(
        ["load", str(path), "--graph", "g", "--store", store, "--quiet", *rejects, *options]
    )


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("t.csv", TABLE, ["--source-database", "other"]),
        ("t.csv", TABLE, ["--no-cache"]),
        ("t.csv", TABLE, ["--redirects", "alias"]),
        ("t.csv", TABLE, ["--mix-truthy"]),
        ("t.csv", TABLE, ["--columns", "head,relation,tail", "--row", "id"]),
        ("t.csv", "head,relation,tail\na,p,b\n", ["--redirects", "resolve"]),
        ("t.tsv", "node1\tlabel\tnode2\nQ1\tP1\tQ2\n", ["--columns", "head,relation,tail"]),
        ("t.nt", TRIPLE, ["--columns", "head,relation,tail"]),
        ("t.nt", TRIPLE, ["--encoding", "cp1252"]),
        ("t.nt", TRIPLE, ["--edge-relation", "knows"]),
        ("t.nt", TRIPLE, ["--source-database", "other"]),
    ],
)
def test_an_option_without_effect_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str,
    options: list[str],
) -> None:
    assert run(tmp_path / name, text, *options) == 2
    check_line(capsys.readouterr().err, options[0])
    assert run(tmp_path / name, text) == 0


def test_options_that_one_file_takes_are_taken(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_bytes("id,label\nhttp://x/a,Caf\u00e9\n".encode("cp1252"))
    options = ("--encoding", "cp1252", "--label-file", str(labels))
    assert run(tmp_path / "t.nt", TRIPLE, *options) == 0


@pytest.mark.parametrize("folder", ["none/r", "."])
def test_a_place_for_rejects_is_checked_before_the_source_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    assert run(tmp_path / "t.csv", TABLE, "--rejects-path", str(tmp_path / folder)) == 2
    check_text(capsys.readouterr().err)
    assert not (tmp_path / "g.db").exists() or run(tmp_path / "t.csv", TABLE) == 0
