"""Small sources of frozen sets, for tests: tables of films and of a family that a test writes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from graph_service.cli.robustness.set_graph import open_set_graph
from queries.robustness.building import Folder, SetBuilder
from queries.robustness.recipe import SetRecipe, parse_source
from tools.freeze_sets import freeze

FILMS = 12
RECIPE = """title: Films of a test
licence: {{statements: CC0, questions: CC0, may_ship: true, credit: nobody}}
files:
  triples: {{path: films.tsv, sha256: {triples}, from: example.org}}
  questions: {{path: questions.tsv, sha256: {questions}, from: example.org}}
graph: {{form: triples, files: [triples]}}
questions: {{form: metaqa, files: [questions], count: 6}}
sets:
  path-1/v1:
    about: one statement goes
    plan:
      methods:
        - {{method: path-deletion, each_question: entities, counts: [1]}}
        - {{method: path-deletion, name: path-control, each_question: entities, control: true,
           counts: [1]}}
  noise-30/v1:
    about: noise
    plan: {{methods: [edge-deletion, edge-rewiring], levels: [0.3], random_seeds: 0-1}}
  names/v1:
    about: names
    graph: {{form: triples, files: [triples], has_codes: true}}
    plan:
      entities: linked
      methods:
        - {{method: names, naming: slips, each_question: entities, scope: {{hops: 0}},
           levels: [1.0]}}
"""
FAMILY = """title: A family of a test
licence: {{statements: CC0, questions: CC0, may_ship: true, credit: nobody}}
files:
  triples: {{path: family.tsv, sha256: {triples}, from: example.org}}
graph: {{form: triples, files: [triples]}}
questions: {{form: incomplete, relations: [child], phrases: {{child: "Who is a child of {{}}?"}}}}
sets:
  brink/v1:
    about: what rules could restore is gone
    plan:
      methods:
        - {{method: rule-deletion, levels: [1.0], rule_confidence: 0.3, rule_support: 10}}
      answers: [extractive, verbaliser]
      scores: [hits_at_any, hits_at_hard, set_f1, hits_at_1]
"""


def write_download(folder: Path) -> tuple[SetRecipe, ...]:
    """Writes a download of films, and returns the recipes of its sets, not frozen."""
    folder.mkdir(exist_ok=True)
    rows, asked = [], []
    for index in range(FILMS):
        film = f"Film_{chr(65 + index)}{'abcdefghijkl'[index] * 3}"
        director, year = f"Director_{index // 2}", str(1990 + index % 3)
        rows += [
            (film, "directed_by", director),
            (film, "release_year", year),
            (film, "starred_actors", f"Actor_{index % 5}"),
        ]
        asked.append(f"who directed [{film}]\t{film}\tmovie_to_director\t{director}")
    table = "".join("\t".join(row) + "\n" for row in rows).encode()
    questions = ("\n".join(asked) + "\n").encode()
    (folder / "films.tsv").write_bytes(table)
    (folder / "questions.tsv").write_bytes(questions)
    text = RECIPE.format(
        triples=hashlib.sha256(table).hexdigest(),
        questions=hashlib.sha256(questions).hexdigest(),
    )
    return parse_source(text, source="films")


def frozen_sets(data: Path, root: Path) -> tuple[SetRecipe, ...]:
    """Returns the sets of a download, frozen; what that took is in a folder of its own."""
    return _freeze(write_download(data), data, root)


def frozen_family(data: Path, root: Path) -> SetRecipe:
    """Returns BRINK's protocol over a download of twelve mothers with three children each, frozen."""
    data.mkdir(exist_ok=True)
    rows = []
    for index in range(12):
        for child in ("Ann", "Ben", "Cy"):
            rows += [
                (f"Mother_{index}", "child", f"{child}_{chr(65 + index)}"),
                (f"{child}_{chr(65 + index)}", "mother", f"Mother_{index}"),
            ]
    table = "".join("\t".join(row) + "\n" for row in rows).encode()
    (data / "family.tsv").write_bytes(table)
    text = FAMILY.format(triples=hashlib.sha256(table).hexdigest())
    (recipe,) = _freeze(parse_source(text, source="family"), data, root)
    return recipe


def _freeze(recipes: Sequence[SetRecipe], data: Path, root: Path) -> tuple[SetRecipe, ...]:
    builder = SetBuilder(data, root, lambda _: None)
    sets = []
    for recipe in recipes:
        with open_set_graph(Folder(root, recipe)) as graph:
            sets.append(replace(recipe, frozen=freeze(recipe, builder, graph)))
    return tuple(sets)
