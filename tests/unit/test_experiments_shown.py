"""Experiments as files, over GraphQL: what is read of a folder, and what is not."""

from __future__ import annotations

import csv
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_text
from experiment_folder import EDGES, make_experiment
from made_keys import made_key
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.api.schema import execute
from graph_service.errors import LimitError, SetupError
from graph_service.model.experiment import Experiment, ExperimentState
from graph_service.model.result import Strategy
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.service import experiments
from graph_service.service.experiments import ExperimentFolder, check_folder

LIST = "{ experiments { name title state problem answers graphs { name } scores } }"
ONE = """query($name: String!, $score: String) { experiment(name: $name) {
  name title state updatedAt toolVersion questions answerers plan
  graphs { name edgesFingerprint }
  rows(score: $score) { score questions missing failed
    condition { graph method level count strategy preset answerer }
    mean { value low high } toBase { mean { value low high } p adjustedP effect }
    toNothing { mean { value } } }
  curves(score: $score) { score condition { method level } area { value } crossing
    points { level mean { value low high } } }
  parts(score: $score) { by part answers questions mean { value } toBase { p } } } }"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiments")
    make_experiment(folder / "small")
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    """A folder with the experiment ``small``, which a test may change."""
    (tmp_path / "small").mkdir()
    for file in (kept / "small").iterdir():
        (tmp_path / "small" / file.name).write_bytes(file.read_bytes())
    return tmp_path


def asked(service: Service, folder: Path | None, document: str, **variables: Any) -> Any:
    shown = None if folder is None else ExperimentFolder(folder)
    answer = execute(service, document, variables, experiments=shown)
    assert "errors" not in answer, answer
    return answer["data"]


def small(folder: Path) -> Experiment:
    found = ExperimentFolder(folder).experiment("small")
    assert found is not None
    return found


def test_all_that_a_report_says_comes_over_graphql(demo_service: Service, kept: Path) -> None:
    (listed,) = asked(demo_service, kept, LIST)["experiments"]
    assert listed == {
        "name": "small",
        "title": "Small",
        "state": "REPORTED",
        "problem": None,
        "answers": 60,
        "graphs": [{"name": "demo"}],
        "scores": ["f1", "retrieved"],
    }
    found = asked(demo_service, kept, ONE, name="small")["experiment"]
    assert found["graphs"] == [{"name": "demo", "edgesFingerprint": EDGES}]
    assert found["questions"] == ["q.jsonl"]
    assert '"name":"Small"' in found["plan"]
    tables = {
        name: list(csv.DictReader(StringIO((kept / "small" / f"{name}.csv").read_text())))
        for name in ("conditions", "curves", "parts")
    }
    assert len(found["rows"]) == len(tables["conditions"]) > 10
    for row, line in zip(found["rows"], tables["conditions"], strict=True):
        condition = row["condition"]
        assert (row["score"], condition["method"]) == (line["score"], line["method"])
        assert condition["strategy"] == (line["strategy"].upper() or None)
        assert str(row["mean"]["value"]) == line["mean"]
        there = row["toBase"] and row["toBase"]["mean"]["value"]
        assert there == (float(line["base_difference"]) if line["base_difference"] else None)
    assert sum(len(one["points"]) for one in found["curves"]) == len(tables["curves"])
    assert all([p["level"] for p in one["points"]] == [0, 0.1, 0.5] for one in found["curves"])
    assert len(found["parts"]) == len(tables["parts"])
    assert {one["by"] for one in found["parts"]} == {"fate", "kind"}
    some = asked(demo_service, kept, ONE, name="small", score="f1")["experiment"]
    assert {one["score"] for one in some["rows"] + some["curves"]} == {"f1"}


def test_without_a_folder_there_is_nothing_to_list(demo_service: Service) -> None:
    assert asked(demo_service, None, LIST) == {"experiments": None}
    assert asked(demo_service, None, ONE, name="small") == {"experiment": None}


@pytest.mark.parametrize(
    "name", ["none", "", "..", "../small", "small/", "small/../small", "/etc", "\0", "small\0"]
)
def test_a_name_leads_nowhere_but_to_a_folder_of_that_name(
    demo_service: Service, kept: Path, name: str
) -> None:
    assert asked(demo_service, kept / "small" / "..", ONE, name=name) == {"experiment": None}


def test_a_folder_that_is_one_experiment_is_listed_itself(kept: Path) -> None:
    (found,) = ExperimentFolder(kept / "small").experiments()
    assert (found.name, found.state) == ("small", ExperimentState.REPORTED)


def test_links_out_of_the_folder_are_not_followed(folder: Path, tmp_path_factory: Any) -> None:
    outside = make_experiment(tmp_path_factory.mktemp("outside") / "secret", name="Secret")
    (folder / "linked").symlink_to(outside)
    assert [one.name for one in ExperimentFolder(folder).experiments()] == ["small"]
    for name in ("plan.lock.json", "conditions.csv", "curves.csv", "parts.csv", "answers.jsonl"):
        own = folder / "small" / name
        data = own.read_bytes()
        own.unlink()
        own.symlink_to(outside / name)
        found = small(folder)
        assert found.state == ExperimentState.DAMAGED
        check_text(found.problem, name)
        assert "Secret" not in found.title + found.plan
        own.unlink()
        own.write_bytes(data)
    assert small(folder).state is ExperimentState.REPORTED


def test_a_pipe_is_no_file(folder: Path) -> None:
    (folder / "small" / "curves.csv").unlink()
    os.mkfifo(folder / "small" / "curves.csv")
    check_text(small(folder).problem, "curves.csv")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("plan.lock.json", lambda data: data[:40]),
        ("plan.lock.json", lambda _: b"[]"),
        ("plan.lock.json", lambda _: b'{"plan": {"name": 5}}'),
        ("curves.csv", lambda data: data[:-9]),
        ("curves.csv", lambda _: b""),
        ("conditions.csv", lambda data: data.replace(b",0.5,", b",much,", 1)),
        ("conditions.csv", lambda data: data.replace(b"mean", b"mode", 1)),
        ("parts.csv", lambda data: data + b"one,two\n"),
        ("parts.csv", lambda data: data + b"\xff\n"),
        ("conditions.csv", lambda data: data.replace(b"paths", b"roads", 1)),
    ],
    ids=range(10),
)
def test_damaged_files_are_a_problem_and_no_error(
    demo_service: Service, folder: Path, name: str, change: Any
) -> None:
    file = folder / "small" / name
    file.write_bytes(change(file.read_bytes()))
    make_experiment(folder / "whole")
    broken, whole = asked(demo_service, folder, LIST)["experiments"]
    assert (broken["state"], whole["state"]) == ("DAMAGED", "REPORTED")
    check_text(broken["problem"])
    assert str(folder) not in broken["problem"]


def test_a_run_without_report_and_half_a_report(folder: Path) -> None:
    (folder / "small" / "curves.csv").unlink()
    check_text(small(folder).problem, "curves.csv")
    (folder / "small" / "conditions.csv").unlink()
    (folder / "small" / "parts.csv").unlink()
    found = small(folder)
    assert (found.state, found.problem, found.answers) == (ExperimentState.RUNNING, None, 60)
    with (folder / "small" / "answers.jsonl").open("ab") as file:
        file.write(b'{}\n{"half')
    assert small(folder).answers == 61


def test_files_are_read_again_when_they_change(folder: Path) -> None:
    shown = ExperimentFolder(folder)
    (first,) = shown.experiments()
    assert shown.experiments()[0] is first, "what did not change is not read again"
    file = folder / "small" / "conditions.csv"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:2]))
    (second,) = shown.experiments()
    assert (len(first.rows) > 2, len(second.rows)) == (True, 1)


def test_large_files_and_crowds_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "MAX_ROWS", 3)
    check_text(small(folder).problem, "conditions.csv", "3 lines")
    monkeypatch.setattr(experiments, "MAX_FILE_BYTES", 100)
    check_text(small(folder).problem, "plan.lock.json", "100 bytes")
    monkeypatch.setattr(experiments, "MAX_EXPERIMENTS", 0)
    with pytest.raises(LimitError, match="more than 0 experiments"):
        ExperimentFolder(folder).experiments()


def test_columns_that_are_not_known_change_nothing(folder: Path) -> None:
    file = folder / "small" / "conditions.csv"
    lines = file.read_text().splitlines()
    file.write_text("".join(f"{line},{at or 'new'}\n" for at, line in enumerate(lines)))
    found = small(folder)
    assert found.state is ExperimentState.REPORTED
    assert {row.condition.strategy for row in found.rows} == {None, Strategy.PATHS}


def test_a_key_sees_the_experiments_of_its_graphs_alone(
    demo_service: Service, folder: Path, tmp_path: Path
) -> None:
    make_experiment(folder / "other", graph="other")
    (folder / "broken").mkdir()
    (folder / "broken" / "plan.lock.json").write_text("{")
    file, tokens = tmp_path / "keys.json", {}
    for name, graphs in (("all", None), ("demo", {"demo"}), ("none", {"third"})):
        tokens[name] = made_key(file, name, graphs=graphs)
    app = make_app(demo_service, ServerOptions(keys=file, experiments=folder))
    client = TestClient(app, base_url="http://localhost")
    seen = {}
    for name, token in tokens.items():
        data = client.post(
            "/graphql",
            json={"query": '{ experiments { name } other: experiment(name: "other") { name } }'},
            headers={"x-api-key": token},
        ).json()["data"]
        seen[name] = ([one["name"] for one in data["experiments"]], data["other"] is not None)
    assert seen == {
        "all": (["broken", "other", "small"], True),
        "demo": (["small"], False),
        "none": ([], False),
    }


def test_a_server_does_not_start_over_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--experiments DIR"):
        check_folder(tmp_path / "none")
    check_folder(tmp_path)
    assert ExperimentFolder(tmp_path / "gone").experiments() == []
