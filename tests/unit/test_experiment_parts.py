"""Parts of a run that processes apart answer are joined to the bytes of one process (B4, B19)."""

from __future__ import annotations

import random
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pyarrow
import pytest
from cli_runs import Cli
from error_texts import check_error, raises
from experiment_runs import PLAN, files, run_into, written
from served import served

from graph_service import Service
from graph_service.cli.cluster import experiment as engine_run
from graph_service.cli.cluster.experiment import PartTask
from graph_service.client import Client
from graph_service.errors import InputError
from queries.experiment import parts as parts_module
from queries.experiment.answering import Experiment
from queries.experiment.opening import open_experiment
from queries.experiment.parts import Part, join_parts, missing_parts, parts_of, write_part
from queries.experiment.plan_file import read_plan
from queries.experiment.runner import ANSWERS_NAME, TIMINGS_NAME
from queries.experiment.scoring import SCORES


def opened(plan: Path, service: Service, folder: Path | None = None) -> Experiment:
    read = read_plan(plan, scores=SCORES)
    return open_experiment(read, Client.over(service), folder=folder).experiment


def test_a_part_is_a_graph_and_a_view_of_at_most_so_many_answers(
    demo_service: Service, tmp_path: Path
) -> None:
    """Without knowledge and on the base there are 2 cells each of 4 questions, then 2 of each view."""
    text = PLAN.replace("[0.5]", "[0.5, 0.9]")
    experiment = opened(written(tmp_path, text), demo_service)
    assert parts_of(experiment) == (Part(0, 16), Part(16, 24), Part(24, 32))
    assert parts_of(experiment, most=10) == (
        Part(0, 10),
        Part(10, 16),
        Part(16, 24),
        Part(24, 32),
    )


def test_parts_in_any_order_are_joined_to_the_bytes_of_one_process(
    demo_service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = written(tmp_path)
    run_into(tmp_path / "near", plan, demo_service)
    expected = files(tmp_path / "near")
    monkeypatch.setattr(parts_module.parts_of, "__kwdefaults__", {"most": 5})
    draw = random.Random(4)
    for cut in (0, 1, 7, 15, 24):
        out = tmp_path / f"parts-{cut}"
        out.mkdir()
        experiment = opened(plan, demo_service, out)
        lines = expected[ANSWERS_NAME].splitlines(keepends=True)
        # A run that one process began, and that ended in the middle of a line.
        (out / ANSWERS_NAME).write_bytes(b"".join(lines[:cut]) + b'{"torn')
        missing = list(missing_parts(experiment, out))
        assert [part.first for part in missing] == [
            part.first for part in parts_of(experiment) if part.end > cut
        ]
        draw.shuffle(missing)
        for part in missing[1:]:
            write_part(experiment, part, out)
        if missing:
            assert missing_parts(experiment, out) == (missing[0],)
            with pytest.raises(InputError, match="was not answered"):
                join_parts(experiment, out)
            write_part(experiment, missing[0], out)
        join_parts(experiment, out)
        assert (out / ANSWERS_NAME).read_bytes() == expected[ANSWERS_NAME]
        assert not (out / "parts").exists()
        assert missing_parts(experiment, out) == ()
        if cut == 0:
            assert len((out / TIMINGS_NAME).read_bytes().splitlines()) == 24


def test_a_part_of_another_run_is_refused(demo_service: Service, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    experiment = opened(written(tmp_path), demo_service, out)
    first, second = missing_parts(experiment, out)
    write_part(experiment, second, out)
    second.answers_file(out).rename(first.answers_file(out))
    with raises(InputError):
        join_parts(experiment, out)
    assert replace(first, end=1).answers_file(out) == first.answers_file(out)


class TasksHere:
    """A session that runs its tasks in this process, for want of an engine."""

    def range(self, start: int, end: int, step: int, tasks: int) -> TasksHere:
        self._indices = pyarrow.RecordBatch.from_pydict({"id": list(range(start, end, step))})
        return self

    def mapInArrow(self, task: PartTask, schema: str) -> TasksHere:  # noqa: N802
        assert schema == "first long, error string"
        self._rows = [row for batch in task(iter([self._indices])) for row in batch.to_pylist()]
        return self

    def collect(self) -> list[dict[str, object]]:
        return self._rows


def test_tasks_of_an_engine_open_the_store_or_ask_the_server(
    demo_cli: Cli, demo_service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    monkeypatch.setattr(engine_run, "open_session", lambda _: nullcontext(TasksHere()))
    assert demo_cli("experiment", "run", "plan.yaml", "--out", "near").code == 0
    expected = files(tmp_path / "near")
    run = ("cluster", "experiment", "run", "plan.yaml", "--out")
    opened = demo_cli(*run, "store")
    assert opened.code == 0, opened.err
    assert files(tmp_path / "store") == expected
    with served(demo_service) as url:
        asked = demo_cli(*run, "server", "--server", url)
    assert asked.code == 0, asked.err
    assert files(tmp_path / "server")[ANSWERS_NAME] == expected[ANSWERS_NAME]


def test_models_are_refused_by_name(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, PLAN + "models: [{name: gpt-x, settings: [okgqa-zero]}]\n")
    run = cli("cluster", "experiment", "run", "plan.yaml", "--out", "out")
    assert run.code == 2
    check_error(run.err)
    assert not (tmp_path / "out").exists()
