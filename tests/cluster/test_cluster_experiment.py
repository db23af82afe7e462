"""A run whose parts an engine's tasks answer has the bytes of one machine's (B4, B19)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from experiment_runs import PLAN, files, written
from served import served

from graph_service import Service
from graph_service.cli.cluster import experiment
from queries.experiment.impact import VIEWS_NAME


@pytest.fixture
def one_session(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark on this machine can be started once a process."""

    @contextmanager
    def open_again(_: str) -> Iterator[Any]:
        yield session

    monkeypatch.setattr(experiment, "open_session", open_again)


@pytest.mark.usefixtures("one_session")
def test_answers_and_scores_are_one_machines(
    demo_cli: Cli, demo_service: Service, tmp_path: Path
) -> None:
    written(tmp_path, PLAN.replace("[0.5]", "[0.3, 0.9]"))
    run = ("experiment", "run", "plan.yaml", "--out")
    assert demo_cli(*run, "near").code == 0
    expected = files(tmp_path / "near")
    opened = demo_cli("cluster", *run, "store", "--tasks", "2")
    assert opened.code == 0, opened.err
    assert "3 parts to answer by sail" in opened.err
    assert files(tmp_path / "store") == expected
    again = demo_cli("cluster", *run, "store")
    assert "0 parts to answer by sail" in again.err
    assert files(tmp_path / "store") == expected
    with served(demo_service) as url:
        asked = demo_cli("cluster", *run, "server", "--server", url)
        assert asked.code == 0, asked.err
    by_server = files(tmp_path / "server")
    # Steps are counted in the store alone.
    assert {name for name in expected if by_server[name] != expected[name]} == {VIEWS_NAME}


@pytest.mark.usefixtures("one_session")
def test_an_error_of_an_executor_is_told(demo_cli: Cli, tmp_path: Path) -> None:
    written(tmp_path)
    run = ("cluster", "experiment", "run", "plan.yaml", "--out", "out")
    (tmp_path / "out").mkdir()
    # What the executors are to write parts to is no folder.
    (tmp_path / "out" / "parts").write_text("")
    opened = demo_cli(*run)
    assert opened.code != 0
    assert "an executor could not answer: can't write" in opened.err
