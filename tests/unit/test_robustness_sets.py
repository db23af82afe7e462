"""Frozen sets are made of a user's own download, the same everywhere; others are refused (B17)."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from error_texts import check_line, check_text, raises
from robustness_sets import frozen_sets
from waiting import wait_until

from graph_service.cli.robustness.set_graph import open_set_graph
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from queries.robustness import recipe as recipes
from queries.robustness.building import (
    VIEWS_NAME,
    Folder,
    SetBuilder,
    is_made,
    set_differences,
)
from queries.robustness.recipe import SetRecipe


@pytest.fixture(scope="module")
def download(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("download")


@pytest.fixture(scope="module")
def sets(download: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, SetRecipe]:
    listed = frozen_sets(download, tmp_path_factory.mktemp("freezing"))
    return {recipe.name.split("/")[1]: recipe for recipe in listed}


def make(recipe: SetRecipe, data: Path, root: Path, say: list[str] | None = None) -> None:
    lines = [] if say is None else say
    with open_set_graph(Folder(root, recipe)) as graph:
        SetBuilder(data, root, lines.append).make(recipe, graph)


def test_a_set_is_the_same_wherever_it_is_made(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "packed"
    packed.mkdir()
    # Another packing of the same bytes, and the rows of the table stay where they were.
    for file in download.iterdir():
        (packed / f"{file.name}.xz").write_bytes(lzma.compress(file.read_bytes()))
    for recipe in sets.values():
        make(recipe, packed, tmp_path / "sets")
        folder = Folder(tmp_path / "sets", recipe)
        assert is_made(folder)
        with open_set_graph(folder) as graph:
            assert set_differences(folder, graph, say=lambda _: None) == []
        assert not list(folder.of_source.glob("*.tsv"))


def test_questions_name_their_answers_and_statements(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path
) -> None:
    make(sets["path-1"], download, tmp_path)
    folder = Folder(tmp_path, sets["path-1"])
    lines = (folder.path / "questions.jsonl").read_text().splitlines()
    assert len(lines) == 6
    question = json.loads(lines[0])
    ((head, relation, value),) = question["gold_triples"]
    assert question["question"] == f"who directed {head}"
    assert relation == "directed_by"
    assert question["entity_ids"] == [head]
    assert question["answer_ids"] == [value]
    assert question["answers"] == [value.replace("_", " ")]
    with open_set_graph(folder) as graph:
        (statement,) = [
            item
            for item in graph.client.statements(head, graph="films")
            if item.triple.relation.id == relation
        ]
    assert question["statement_ids"] == [statement.triple.statement_id]


def test_a_set_of_names_has_codes_as_ids(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path
) -> None:
    make(sets["names"], download, tmp_path)
    folder = Folder(tmp_path, sets["names"])
    line = json.loads((folder.path / "questions.jsonl").read_text().splitlines()[0])
    (entity,) = line["entity_ids"]
    assert entity.startswith("n")
    assert len(entity) == 17
    with open_set_graph(folder) as graph:
        statement = graph.client.statements(entity, graph="films-codes")[0]
    assert line["question"] == f"who directed {statement.triple.head.label}"
    assert "_" not in line["question"]


def test_another_download_is_refused(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(download, other)
    (other / "films.tsv").write_text((download / "films.tsv").read_text() + "A\tb\tC\n")
    with raises(InputError):
        make(sets["noise-30"], other, tmp_path / "sets")
    (other / "films.tsv").unlink()
    with raises(InputError) as caught:
        make(sets["noise-30"], other, tmp_path / "sets")
    assert caught.value.hint == "Download it: example.org"


@pytest.mark.parametrize("part", ["edges", "questions", "views", "recipe"])
def test_what_was_frozen_otherwise_is_refused(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path, part: str
) -> None:
    recipe = sets["noise-30"]
    assert recipe.frozen is not None
    views = {**recipe.frozen.views, "edge-deletion/0.3/0": "0" * 32}
    value: Any = views if part == "views" else "0" * 32
    wrong = replace(recipe, frozen=replace(recipe.frozen, **{part: value}))
    with raises(InputError):
        make(wrong, download, tmp_path)
    assert not is_made(Folder(tmp_path, wrong))


def test_verify_says_what_differs(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path
) -> None:
    recipe = sets["noise-30"]
    make(recipe, download, tmp_path)
    folder = Folder(tmp_path, recipe)
    assert recipe.frozen is not None
    views = {**recipe.frozen.views, "edge-rewiring/0.3/1": "0" * 32}
    other = replace(folder, recipe=replace(recipe, frozen=replace(recipe.frozen, views=views)))
    questions = folder.path / "questions.jsonl"
    with open_set_graph(folder) as graph:
        (line,) = set_differences(other, graph, say=lambda _: None)
        assert line.startswith(f"views edge-rewiring/0.3/1: {'0' * 32} was frozen; ")
        questions.write_text(questions.read_text().replace("who directed", "who made", 1))
        (folder.path / "plan.yaml").write_text("{}")
        lines = set_differences(folder, graph, say=lambda _: None)
    assert [line.partition(":")[0] for line in lines] == ["questions", "plan.yaml"]


def test_a_build_that_was_stopped_goes_on_with_the_next_view(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path
) -> None:
    recipe = sets["noise-30"]

    class StoppedError(Exception):
        pass

    def stop(text: str) -> None:
        if "edge-rewiring/0.3/0" in text:
            raise StoppedError

    with open_set_graph(Folder(tmp_path, recipe)) as graph, pytest.raises(StoppedError):
        SetBuilder(download, tmp_path, stop).make(recipe, graph)
    views = Folder(tmp_path, recipe).path / VIEWS_NAME
    # A line that the kill tore is drawn again.
    views.write_bytes(views.read_bytes() + b'{"view":"edge-rew')
    said: list[str] = []
    make(recipe, download, tmp_path, said)
    assert said == [f"{recipe.name}: drawing edge-rewiring/0.3/{seed}" for seed in (0, 1)]
    assert is_made(Folder(tmp_path, recipe))


def test_fingerprints_tell_views_apart_and_not_the_same_view_twice(
    sets: dict[str, SetRecipe], download: Path, tmp_path: Path
) -> None:
    make(sets["names"], download, tmp_path)
    names = ["ed:0.3:0", "ed:0.3:1", "er:0.3:0", "names:0.5:0", "names:0.5:1", "ed:0.3:0"]
    with open_set_graph(Folder(tmp_path, sets["names"])) as graph:
        prints = [graph.view_fingerprint(_view(name)) for name in names]
    assert len(set(prints[:-1])) == 5
    assert prints[0] == prints[-1]


def _view(name: str) -> ViewRef:
    from graph_service.cli.readers import view_ref

    view = view_ref(name)
    assert view is not None
    return view


def test_the_command_line_lists_makes_runs_and_verifies(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    sets: dict[str, SetRecipe],
    download: Path,
) -> None:
    monkeypatch.setattr(recipes, "source_names", lambda: ("films",))
    monkeypatch.setattr(recipes, "read_source", lambda _: tuple(sets.values()))
    listed = cli("robustness", "list", "--json").json["sets"]
    assert [item["name"] for item in listed] == [recipe.name for recipe in sets.values()]
    name = "films/path-1/v1"
    early = cli("robustness", "run", name, "--out", "sets")
    assert (early.code, "was not made" in early.err) == (2, True)
    made = cli("robustness", "make", name, "--data", str(download), "--out", "sets")
    assert made.code == 0
    check_text(made.out, name, "6 questions", "2 views")
    wrong = cli("robustness", "run", name, "--out", "sets", "--strategies", "paths,trees")
    assert (
        wrong.code,
        "--strategies takes triplets, paths, subgraph; got 'trees'" in wrong.err,
    ) == (
        2,
        True,
    )
    both = cli("robustness", "run", name, "--out", "sets", "--strategies", "paths,triplets")
    assert both.code == 0, both.err
    assert "/paths/" in both.out
    assert "/triplets/" in both.out
    run = cli("robustness", "run", name, "--out", "sets", "--strategies", "paths", "--json")
    assert run.code == 0, run.err
    (result,) = run.json["sets"]
    hits = {
        row["condition"]["method"]: row["mean"]["value"]
        for row in result["rows"]
        if row["score"] == "hits_at_1" and row["condition"]["strategy"]
    }
    # A path that is one statement long is gone with it; beside it nothing is lost.
    assert hits == {"": 1.0, "path-deletion": 0.0, "path-control": 1.0}
    answers = Path(result["folder"], "answers.jsonl").read_bytes()
    cut = answers[: len(answers) // 2]
    Path(result["folder"], "answers.jsonl").write_bytes(cut)
    again = cli("robustness", "run", name, "--out", "sets", "--strategies", "paths")
    assert "against the base" in again.out
    assert Path(result["folder"], "answers.jsonl").read_bytes() == answers
    verified = cli("robustness", "verify", "--out", "sets", "--data", str(download))
    assert (verified.code, verified.out) == (0, f"{name}: as frozen\n")
    Path("sets", name, "questions.jsonl").write_text("")
    Path("sets", name, "plan.yaml").unlink()
    damaged = cli("robustness", "verify", "--out", "sets", "--json")
    assert damaged.code == 1
    assert len(damaged.json["differences"][name]) == 2


def _either(path: Path, process: subprocess.Popen[bytes]) -> Callable[[], bool]:
    return lambda: path.exists() or process.poll() is not None


@pytest.mark.data
def test_a_build_that_was_killed_goes_on(data_dir: Path, tmp_path: Path) -> None:
    """On PathQuestion: killed once its graph is begun, and once its first view is drawn."""
    name = "pathquestion/noise-30/v1"
    command = [
        *(sys.executable, "-m", "graph_service.cli", "robustness", "make", name),
        *("--data", str(data_dir), "--out", str(tmp_path)),
    ]
    of_set = tmp_path / name
    for awaited in (tmp_path / "pathquestion" / "pathquestion.db", of_set / VIEWS_NAME):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            wait_until(_either(awaited, process))
            os.kill(process.pid, signal.SIGKILL)
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    check_line(ended.stdout, "200 questions", "20 views")
