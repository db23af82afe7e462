"""A run whose parts an engine's tasks answer has the bytes of one machine's (B4, B19)."""

from __future__ import annotations

from pathlib import Path

from cli_runs import Cli
from experiment_runs import PLAN, files, written
from served import served

from graph_service import Service
from graph_service.cluster.session import name_of_engine
from queries.experiment.impact import VIEWS_NAME


def test_answers_and_scores_are_one_machines(
    address: str, demo_cli: Cli, demo_service: Service, tmp_path: Path
) -> None:
    written(tmp_path, PLAN.replace("[0.5]", "[0.3, 0.9]"))
    run = ("experiment", "run", "plan.yaml", "--out")
    engine = ("--remote", address)
    assert demo_cli(*run, "near").code == 0
    expected = files(tmp_path / "near")
    opened = demo_cli("cluster", *run, "store", *engine, "--tasks", "2")
    assert opened.code == 0, opened.err
    assert "3 parts to" in opened.err
    assert name_of_engine(address) in opened.err
    assert files(tmp_path / "store") == expected
    again = demo_cli("cluster", *run, "store", *engine)
    assert "0 parts to" in again.err
    assert files(tmp_path / "store") == expected
    with served(demo_service) as url:
        served_run = demo_cli("cluster", *run, "server", *engine, "--server", url)
        assert served_run.code == 0, served_run.err
    by_server = files(tmp_path / "server")
    # Steps are counted in the store alone.
    assert {name for name in expected if by_server[name] != expected[name]} == {VIEWS_NAME}


def test_an_error_of_an_executor_reaches_the_user(
    address: str, demo_cli: Cli, tmp_path: Path
) -> None:
    written(tmp_path)
    run = ("cluster", "experiment", "run", "plan.yaml", "--out", "out", "--remote", address)
    (tmp_path / "out").mkdir()
    # What the executors are to write parts to is no folder.
    (tmp_path / "out" / "parts").write_text("")
    opened = demo_cli(*run)
    assert opened.code != 0
    assert "executor could not" in opened.err
