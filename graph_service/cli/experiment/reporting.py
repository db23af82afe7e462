"""experiment report and experiment compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graph_service.cli.experiment.options import CompareOptions, ReportOptions
from graph_service.cli.output import Output, counted
from graph_service.errors import InputError
from queries.experiment.analysis import Analysis, analyse
from queries.experiment.cells import Condition, cells_of
from queries.experiment.comparison import compare as compare_pairs
from queries.experiment.comparison import find_condition
from queries.experiment.impact import Impacts, impacts_of, read_views
from queries.experiment.plan import Plan
from queries.experiment.plan_file import read_plan
from queries.experiment.plan_lock import LOCK_NAME, plain_plan, read_lock, require_same
from queries.experiment.report.words import difference, estimate_words, p_words
from queries.experiment.report.writing import REPORT_NAME, write_report
from queries.experiment.scoring import SCORES, TITLES, read_scores
from queries.experiment.table import Table, tables_of
from queries.experiment.usage import usage_of


def report(options: ReportOptions, output: Output, /) -> int:
    """Writes the tables, statistics and figures of a run."""
    plan = read_plan(options.plan, scores=SCORES)
    analysis, impacts, written = write_tables(plan, options.out, figures=not options.no_figures)
    output.object(
        {
            "written": written,
            "rows": analysis.rows,
            "curves": analysis.curves,
            "views": impacts.rows,
        }
    )
    figures = sum(name.endswith(".png") for name in written)
    output.line(
        f"{options.out / REPORT_NAME}: {len(analysis.rows)} figures of conditions, "
        f"{len(analysis.curves)} curves, {figures} pictures"
    )
    return 0


def write_tables(
    plan: Plan, folder: Path, /, *, figures: bool
) -> tuple[Analysis, Impacts, list[str]]:
    """Writes the report of a run; returns what it shows, and the names of the files."""
    lock = _lock(plan, folder)
    cells = cells_of(plan)
    analysis = analyse(cells, read_scores(folder), scores=plan.scores)
    impacts = impacts_of(cells, read_views(folder))
    uses = usage_of(folder, cells)
    written = write_report(plan, analysis, impacts, lock, folder, figures=figures, uses=uses)
    return analysis, impacts, written


def compare(options: CompareOptions, output: Output, /) -> int:
    """Compares two conditions of a run, or those of two runs, question by question."""
    plan = read_plan(options.plan, scores=SCORES)
    _lock(plan, options.out)
    own = _tables(plan, options.out)
    other = own if options.other is None else _tables(plan, options.other)
    if options.first is None:
        if options.other is None or options.second is not None:
            raise InputError(
                "name two conditions (--first, --second), or another run (--other)",
                argument="first",
            )
        pairs = [(own[condition], other[condition]) for condition in own if condition in other]
    else:
        first = find_condition(own, options.first)
        pairs = [(first, find_condition(other, options.second or options.first))]
    comparison = compare_pairs(pairs)
    output.object({"compared": comparison})
    output.table(
        [
            ["score", "first", "second", "mean", "mean of the second", "difference", "p"],
            *(
                [
                    TITLES[row.score],
                    row.first,
                    row.second,
                    estimate_words(row.first_mean),
                    estimate_words(row.second_mean),
                    difference(row.difference),
                    p_words(row.p),
                ]
                for row in comparison
                if not plan.scores or row.score in plan.scores
            ),
        ]
    )
    lost = max(row.only_first + row.only_second for row in comparison)
    if lost:
        output.note(
            f"{counted(lost, 'question is', 'questions are')} in one of the two alone, and in no figure"
        )
    return 0


def _lock(plan: Plan, folder: Path) -> dict[str, Any]:
    """The lock of a run, after a look whether it is of this plan."""
    lock = read_lock(folder)
    if lock is None:
        raise InputError(
            f"there is no {folder / LOCK_NAME}",
            argument="out",
            hint="Run the plan first: graph-service experiment run PLAN.yaml --out DIR",
        )
    require_same(lock, {"plan": plain_plan(plan)}, folder)
    return lock


def _tables(plan: Plan, folder: Path) -> dict[Condition, Table]:
    return tables_of(cells_of(plan), read_scores(folder))
