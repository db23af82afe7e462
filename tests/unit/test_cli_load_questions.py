"""What ``load`` says may be asked of tables: questions that are answered for sure (B13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_service import open_service
from graph_service.cli import main
from graph_service.cli.graph import loading
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Status, Strategy

FLEET = """Boat,Captain,Home port,Built
Kestrel,Ada Brook,Hull,2007
Petrel,Jon Vale,Goole,2019
Santa Rosa,Mia Lund,Porto,2001
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "boats.csv"
    path.write_text(FLEET)
    return path


def load(table: Path, *options: str) -> str:
    """Loads a table; returns the address of its store."""
    url = f"sqlite:///{table.with_name('g.db')}"
    assert main(["load", str(table), "--graph", "boats", "--store", url, *options]) == 0
    return url


def test_questions_after_a_load_are_answered_for_sure(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_SECONDS", 600.0)
    url = load(table, "--row", "Boat")
    lines = capsys.readouterr().err.splitlines()
    questions = [line.removeprefix("ask it: ") for line in lines if line.startswith("ask it: ")]
    assert 1 <= len(questions) <= 3
    with open_service(url) as service:
        for question in questions:
            result = service.retrieve(RetrieveRequest(question, Strategy.PATHS, graph="boats"))
            assert result.status is Status.OK, question


def test_a_question_about_several_says_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_SECONDS", 600.0)
    path = tmp_path / "rooms.csv"
    path.write_text("Room,Beds\nElm,4\nOak,2\nAsh,6\n")
    load(path)
    assert "ask it: What are the beds of " in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_nothing_is_asked_where_nobody_reads(
    table: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    load(table, "--row", "Boat", option)
    assert "ask it: " not in capsys.readouterr().err


def test_no_question_is_tried_after_its_time(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_SECONDS", -1.0)
    load(table, "--row", "Boat")
    assert "ask it: " not in capsys.readouterr().err
