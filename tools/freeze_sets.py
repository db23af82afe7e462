"""Freezes sets whose recipe was written: draws their questions and writes every fingerprint.

python -m tools.freeze_sets metaqa --data ../shared/data --out build/sets

A set that is frozen already stays as it is: a changed set is a new version with a name of its own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import orjson

from graph_service.cli.robustness.set_graph import StoredSetGraph, open_set_graph
from graph_service.model.serialise import to_plain
from queries.robustness.building import (
    Folder,
    SetBuilder,
    gone_statements,
    view_fingerprints,
)
from queries.robustness.questions import draw_questions, questions_of
from queries.robustness.recipe import Frozen, QuestionForm, SetRecipe, read_source, source_names

RECIPES = Path(__file__).parents[1] / "queries" / "robustness" / "recipes"


def freeze(recipe: SetRecipe, builder: SetBuilder, graph: StoredSetGraph, /) -> Frozen:
    """Returns what a set is, from a download."""
    fingerprints = builder.load_graph(recipe, graph)
    material = builder.material(recipe)
    questions = questions_of(recipe, builder.data, material)
    folder = Folder(builder.root, recipe)
    if recipe.questions.form in (QuestionForm.RESTORABLE, QuestionForm.INCOMPLETE):
        builder.write_questions(recipe, [questions[0].id], graph)
        gone = gone_statements(folder, graph)
        questions = [item for item in questions if item.hard_answers(material, gone)]
    chosen = draw_questions(questions, count=recipe.questions.count)
    if not chosen:
        raise SystemExit(f"{recipe.name}: no question can be drawn")
    ids = [question.id for question in chosen]
    return Frozen(
        recipe.digest(),
        tuple(ids),
        builder.write_questions(recipe, ids, graph),
        fingerprints.edges,
        fingerprints.content,
        view_fingerprints(folder, graph, say=builder.say),
    )


def main() -> int:
    """Freezes the sets of some sources; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", default=source_names())
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("build/sets"))
    options = parser.parse_args()

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    builder = SetBuilder(options.data, options.out, say)
    for source in options.sources:
        path = RECIPES / f"{source}.json"
        frozen = orjson.loads(path.read_bytes()) if path.is_file() else {}
        for recipe in read_source(source):
            name = recipe.name.removeprefix(f"{source}/")
            if recipe.frozen is not None:
                continue
            with open_set_graph(Folder(options.out, recipe)) as graph:
                made = freeze(recipe, builder, graph)
            frozen[name] = to_plain(made)
            path.write_bytes(orjson.dumps(frozen, option=orjson.OPT_INDENT_2) + b"\n")
            say(f"{recipe.name}: frozen, {len(made.question_ids)} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
