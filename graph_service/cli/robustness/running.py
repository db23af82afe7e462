"""robustness run: an experiment over frozen sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph_service.cli.experiment.options import RunOptions as ExperimentOptions
from graph_service.cli.experiment.running import run as run_experiment
from graph_service.cli.output import Output
from graph_service.cli.robustness.making import make_sets
from graph_service.cli.robustness.options import RunOptions
from graph_service.cli.robustness.set_graph import store_url
from graph_service.errors import InputError
from queries.experiment.analysis import Row, analyse
from queries.experiment.cells import cells_of
from queries.experiment.plan_file import read_plan
from queries.experiment.report.words import difference, estimate_words, p_words
from queries.experiment.scoring import SCORES, TITLES, read_scores
from queries.line_file import write_atomically
from queries.robustness.building import (
    PLAN_NAME,
    QUESTIONS_NAME,
    Folder,
    is_made,
    plan_text,
    shown_scores,
)
from queries.robustness.recipe import SetRecipe, find_sets


def run(options: RunOptions, output: Output, /) -> int:
    """Asks the questions of sets, and prints each score with its interval."""
    if not options.sets:
        raise InputError("name a set, or a source for all of its sets", argument="sets")
    recipes = find_sets(options.sets)
    _make_missing(recipes, options, output)
    results = []
    code = 0
    for recipe in recipes:
        folder = Folder(options.out, recipe)
        if not is_made(folder):
            raise InputError(
                f"{recipe.name} was not made in {options.out}",
                argument="out",
                hint=f"Make it: graph-service robustness make {recipe.name} --data FOLDER "
                f"--out {options.out}",
            )
        path = folder.path / "runs" / _run_name(options)
        path.mkdir(parents=True, exist_ok=True)
        write_atomically(path / PLAN_NAME, _plan_of(recipe, options).encode())
        code = max(code, _run_plan(folder, path, options, output))
        rows = _rows(path, recipe)
        results.append({"set": recipe.name, "folder": path, "rows": rows})
        output.line(f"{recipe.name}: {path}")
        output.table(_table(rows))
    output.object({"sets": results})
    return code


def _make_missing(recipes: Sequence[SetRecipe], options: RunOptions, output: Output) -> None:
    """Makes the sets that are not there yet, if the download is named."""
    missing = tuple(recipe.name for recipe in recipes if not is_made(Folder(options.out, recipe)))
    if missing and options.data is not None:
        for folder, _ in make_sets(missing, options.data, options.out, output.note):
            output.note(f"{folder.recipe.name}: made in {folder.path}")


def _run_name(options: RunOptions) -> str:
    """The folder of a run: another one for other strategies, presets or numbers of questions."""
    first = () if options.first is None else (f"first-{options.first}",)
    strategies = (strategy.value for strategy in options.strategies)
    return "+".join((*strategies, *options.presets, *first))


def _plan_of(recipe: SetRecipe, options: RunOptions) -> str:
    return plan_text(
        recipe,
        strategies=[strategy.value for strategy in options.strategies],
        presets=options.presets,
        questions=f"../../{QUESTIONS_NAME}",
        first=options.first,
    )


def _run_plan(folder: Folder, path: Path, options: RunOptions, output: Output) -> int:
    experiment = ExperimentOptions(
        plan=path / PLAN_NAME,
        out=path,
        store=store_url(folder),
        embedder=options.embedder,
        workers=options.workers,
    )
    # Its words are of one plan; this verb prints one object for all sets.
    return run_experiment(experiment, Output() if not output.as_json else _Silent())


class _Silent(Output):
    """Prints no line and no object."""

    def line(self, text: str = "", /) -> None:
        """Prints nothing, since the verb prints one object for all sets."""

    def object(self, item: object, /) -> None:
        """Prints nothing, since the verb prints one object for all sets."""


def _rows(path: Path, recipe: SetRecipe) -> tuple[Row, ...]:
    plan = read_plan(path / PLAN_NAME, scores=SCORES)
    return analyse(cells_of(plan), read_scores(path), scores=shown_scores(recipe)).rows


def _table(rows: tuple[Row, ...]) -> list[list[str]]:
    table = [["score", "condition", "mean", "against the base", "p"]]
    table.extend(
        [
            TITLES[row.score],
            row.condition.name(),
            estimate_words(row.mean),
            difference(row.base),
            "" if row.base_p is None else p_words(row.base_p),
        ]
        for row in rows
        if row.condition.strategy is not None
    )
    return table
