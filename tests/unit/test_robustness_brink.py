"""BRINK's protocol (B3, B17): questions of a graph that lacks what rules could restore, from one command."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from cli_runs import Cli
from robustness_sets import frozen_family

from graph_service.cli.readers import view_ref
from graph_service.cli.robustness.set_graph import open_set_graph
from graph_service.model.browsing import ItemStatement
from graph_service.model.values import EntityValue
from queries.robustness import recipe as recipes
from queries.robustness.building import Folder
from queries.robustness.recipe import SetRecipe, find_sets

NAME = "family/brink/v1"
VIEW = "rule-deletion:1.0:0"


@pytest.fixture(scope="module")
def download(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("download")


@pytest.fixture(scope="module")
def family(download: Path, tmp_path_factory: pytest.TempPathFactory) -> SetRecipe:
    return frozen_family(download, tmp_path_factory.mktemp("freezing"))


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch, family: SetRecipe) -> None:
    monkeypatch.setattr(recipes, "source_names", lambda: ("family",))
    monkeypatch.setattr(recipes, "read_source", lambda _: (family,))


def test_the_protocol_ships_over_films_wikidata_and_a_family() -> None:
    names = {recipe.name for recipe in find_sets(()) if "/brink/" in recipe.name}
    assert names == {"metaqa/brink/v1", "codex-s/brink/v1", "biokalma/brink/v1"}


@pytest.mark.usefixtures("shipped")
def test_one_command_makes_the_set_and_scores_hard_answers(
    cli: Cli, download: Path, family: SetRecipe
) -> None:
    command = ("robustness", "run", NAME, "--out", "sets", "--strategies", "triplets")
    ran = cli(*command, "--data", str(download), "--json")
    assert ran.code == 0, ran.err
    (result,) = ran.json["sets"]
    means = {
        (row["score"], row["condition"]["kind"], row["condition"]["answerer"]["name"]): row["mean"]
        for row in result["rows"]
    }
    scores = {score for score, _, _ in means}
    assert scores == {"hits_at_any", "hits_at_hard", "set_f1", "hits_at_1"}
    # The complete graph states all three children: whoever lists what it states lists all of them.
    assert means["hits_at_hard", "base", "verbaliser"]["value"] == 1.0
    # The rule names one entity at most.
    for kind in ("base", "view"):
        first, any_hit = (means[name, kind, "extractive"] for name in ("hits_at_1", "hits_at_any"))
        assert first == any_hit
    assert family.frozen is not None
    assert means["hits_at_hard", "view", "verbaliser"]["n"] == len(family.frozen.question_ids)


@pytest.mark.usefixtures("shipped")
def test_hard_answers_are_those_that_the_view_no_longer_states(
    cli: Cli, download: Path, family: SetRecipe
) -> None:
    assert cli("robustness", "make", NAME, "--data", str(download), "--out", "sets").code == 0
    folder = Folder(Path("sets"), family)
    text = (folder.path / "questions.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) > 6
    view = view_ref(VIEW)
    counts = set()
    with open_set_graph(folder) as graph:
        for line in lines:
            (mother,) = line["entity_ids"]
            stated = _values(graph.client.statements(mother, graph="family", view=view), "child")
            hard = set(line["hard_answers"])
            assert hard
            assert hard == set(line["answer_ids"]) - stated
            # The body of the rule stays: who reads it can still infer the answer.
            for child in hard:
                rows = graph.client.statements(child, graph="family", view=view)
                assert _values(rows, "mother") == {mother}
            counts.add(len(hard))
    # Some questions have easy answers too.
    assert counts - {3}


def _values(statements: Iterable[ItemStatement], relation: str) -> set[str]:
    return {
        statement.triple.value.id
        for statement in statements
        if statement.triple.relation.id == relation
        and isinstance(statement.triple.value, EntityValue)
    }
