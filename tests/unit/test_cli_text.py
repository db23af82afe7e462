"""Labels are text of strangers: on the command line they act on no terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import Cli

from graph_service.text.visible import visible

ATTACK = "\x1b]0;owned\x07\x9b2J\u202egnp.exe\u2066\u2028\rdone\nerror: none"
LABEL = f"Ada {ATTACK} Lovelace"
TRIPLES = f"""<http://e/ada> <http://e/born> <http://e/london> .
<http://e/ada> <http://e/wrote> {json.dumps("note " + ATTACK)} .
<http://e/ada> <http://www.w3.org/2000/01/rdf-schema#label> {json.dumps(LABEL)}@en .
<http://e/born> <http://www.w3.org/2000/01/rdf-schema#label> {json.dumps("born " + ATTACK)}@en .
<http://e/london> <http://www.w3.org/2000/01/rdf-schema#label> "London"@en .
"""
PRINTING = [
    ("search", "Ada"),
    ("item", "http://e/ada"),
    ("retrieve", "Who was born in London?"),
    ("retrieve", "Who was born in London?", "--explain"),
    ("retrieve", "Who was born in London?", "--text", "numbered"),
    ("retrieve", "Who was born in London?", "--strategy", "paths"),
    ("compare", "Who was born in London?", "edge-deletion:0.5:0"),
    ("rank", "relations", "Who was born in London?"),
    ("item", f"http://e/{ATTACK}"),
    ("graphs", "--delete", f"none {ATTACK}"),
    ("score", "citations", f"/nowhere/{ATTACK}"),
]


@pytest.fixture
def store(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", f"sqlite:///{tmp_path}/attacked.db")
    source = tmp_path / "attacked.nt"
    source.write_text(TRIPLES)
    assert cli("load", str(source), "--graph", "attacked").code == 0
    return str(tmp_path / "attacked.db")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("arguments", PRINTING, ids=lambda one: " ".join(one[:2])[:30])
def test_no_verb_prints_what_acts_on_a_terminal(cli: Cli, arguments: tuple[str, ...]) -> None:
    _, out, err = cli(*arguments)
    assert r"\x1b]0;owned" in out + err
    assert visible(out + err) == out + err
    assert "\nerror: none" not in out + err
    assert len([line for line in err.splitlines() if line.startswith("error")]) <= 1


@pytest.mark.usefixtures("store")
def test_raw_prints_text_as_it_is(cli: Cli) -> None:
    assert ATTACK in cli("search", "Ada", "--raw").out


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("arguments", PRINTING[:3], ids=lambda one: one[0])
def test_json_holds_the_text_in_escapes(cli: Cli, arguments: tuple[str, ...]) -> None:
    run = cli(*arguments, "--json")
    assert visible(run.out) == run.out
    assert json.dumps(ATTACK)[1:-1] in json.dumps(run.json)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_an_export_is_data_but_on_a_terminal(store: str) -> None:
    export = [sys.executable, "-m", "graph_service.cli", "export", "-", "--format", "tsv"]
    export += ["--store", f"sqlite:///{store}"]
    piped = subprocess.run(export, capture_output=True, check=True).stdout.decode()
    assert "\x9b2J" in piped
    ours, theirs = os.openpty()
    with subprocess.Popen(export, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
        os.close(ours)
    assert process.returncode == 0
    assert "\x9b2J" not in shown.decode()
    assert r"\x9b2J" in shown.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux tells so that the other end is closed.
        return b""
