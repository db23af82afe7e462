"""Recipes of frozen sets: what they say is read, and a version of a set never changes (B17)."""

from __future__ import annotations

import json
from hashlib import blake2b
from importlib import resources
from pathlib import Path

import orjson
import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.experiment.cells import CellKind, cells_of
from queries.experiment.plan_file import parse_plan
from queries.experiment.scoring import SCORES
from queries.robustness.building import plan_text
from queries.robustness.recipe import (
    SetRecipe,
    find_sets,
    parse_source,
    read_source,
    source_names,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "frozen_sets.json"
SETS = find_sets(())
TINY = """title: Tiny
licence: {statements: CC0, questions: CC0, may_ship: true, credit: nobody}
files:
  triples: {path: t.tsv, sha256: abc, from: example.org}
graph: {form: triples, files: [triples]}
questions: {form: template}
sets:
  noise/v1:
    about: noise
    plan: {methods: [edge-deletion], levels: [0.5]}
"""


def frozen_digest(recipe: SetRecipe) -> str:
    data = orjson.dumps(to_plain(recipe.frozen), option=orjson.OPT_SORT_KEYS)
    return blake2b(data, digest_size=16).hexdigest()


def test_a_frozen_set_never_changes() -> None:
    """A set that is recorded stays as it is for ever: a changed one is a new version.

    Whoever freezes new sets adds them to the file: ``{name: frozen_digest(set)}``.
    """
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert {recipe.name: frozen_digest(recipe) for recipe in SETS} == recorded


@pytest.mark.parametrize("recipe", SETS, ids=lambda recipe: recipe.name)
def test_a_recipe_is_what_was_frozen_and_its_plan_is_read(
    recipe: SetRecipe, tmp_path: Path
) -> None:
    assert recipe.frozen is not None
    assert recipe.digest() == recipe.frozen.recipe
    ids = recipe.frozen.question_ids
    assert 0 < len(ids) == len(set(ids)) <= recipe.questions.count
    (tmp_path / "questions.jsonl").write_text('{"id": "1", "question": "Who?"}\n')
    plan = parse_plan(plan_text(recipe), source="plan.yaml", folder=tmp_path, scores=SCORES)
    views = {cell.view_name for cell in cells_of(plan) if cell.condition.kind is CellKind.VIEW}
    assert views == recipe.frozen.views.keys()


def test_every_recipe_that_ships_was_frozen_and_is_in_the_package() -> None:
    folder = resources.files("queries.robustness") / "recipes"
    files = {entry.name for entry in folder.iterdir()}
    assert files == {f"{name}{end}" for name in source_names() for end in (".yaml", ".json")}
    for source in source_names():
        assert all(recipe.frozen is not None for recipe in read_source(source))


def test_sets_are_found_by_name_and_by_source() -> None:
    path = find_sets(("pathquestion/path-1/v1",))
    assert [recipe.name for recipe in path] == ["pathquestion/path-1/v1"]
    of_source = find_sets(("pathquestion",))
    assert path[0] in of_source
    assert len(of_source) > 3
    with raises(InputError):
        find_sets(("pathquestion/path-1/v9",))
    with raises(InputError):
        find_sets(("nothing/x/v1",))


def test_a_digest_is_of_what_decides_the_set_alone() -> None:
    (recipe,) = parse_source(TINY, source="tiny")
    assert recipe.name == "tiny/noise/v1"
    for words, same in (
        ("title: Other", True),
        ("credit: someone", True),
        ("sha256: abd", False),
        ("levels: [0.4]", False),
        ("form: template, count: 9", False),
    ):
        name = words.partition(":")[0]
        before = {
            "title": "title: Tiny",
            "credit": "credit: nobody",
            "sha256": "sha256: abc",
            "levels": "levels: [0.5]",
            "form": "form: template",
        }[name]
        (other,) = parse_source(TINY.replace(before, words), source="tiny")
        assert (other.digest() == recipe.digest()) is same, words


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("files: [triples]}", "files: [tripels]}", "tiny.yaml, line 9.*no file 'tripels'"),
        ("form: template", "form: templates", "line 6, field form: expected metaqa or"),
        ("sha256: abc, ", "", "line 4, field triples: missing sha256"),
    ],
)
def test_a_wrong_recipe_names_the_line_and_the_field(before: str, after: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_source(TINY.replace(before, after), source="tiny")
