"""The first page of a report: its claim, over how many questions, and what could not be seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from queries.experiment.analysis import Analysis, Row
from queries.experiment.attacks import RIGHT
from queries.experiment.cells import CellKind
from queries.experiment.plan import AnswererKind, Plan
from queries.experiment.report.words import (
    difference,
    estimate_words,
    number,
    p_words,
    table_lines,
)
from queries.experiment.scoring import TITLES
from queries.experiment.statistics import FIRM_SEEDS, smallest_loss
from queries.experiment.usage import ModelUse

_MAIN = (*RIGHT, "f1", "retrieved")
"""The score of the first page: the first of these that any view has."""
_MOST_ROWS = 40


def summary_lines(
    plan: Plan, analysis: Analysis, lock: Mapping[str, Any], uses: Sequence[ModelUse], /
) -> Iterator[str]:
    """Yields the first page of a report.

    Args:
        plan: The plan.
        analysis: Its figures.
        lock: Of the run.
        uses: What was asked of models.
    """
    rows = _main_rows(analysis)
    yield from _claim(rows)
    yield ""
    yield from table_lines(
        ["what", "value"], [*_sizes(plan, rows), *_models(uses, plan), *_made(lock)]
    )
    if rows:
        yield ""
        yield f"**{TITLES[rows[0].score]}**, by view:"
        yield ""
        yield from _figure(rows)
    yield ""
    yield from _smallest(rows)


def main_score(analysis: Analysis, /) -> str:
    """Returns the score of the first page; empty if no view has any of them."""
    rows = _main_rows(analysis)
    return rows[0].score if rows else ""


def _main_rows(analysis: Analysis) -> list[Row]:
    """The base and the views of the main score; of models alone where a model answered."""
    for score in _MAIN:
        rows = [
            row
            for row in analysis.rows
            if row.score == score and row.condition.kind is not CellKind.NO_KNOWLEDGE
        ]
        if any(row.condition.kind is CellKind.VIEW for row in rows):
            of_models = [row for row in rows if row.condition.answerer.kind is AnswererKind.MODEL]
            of_rule = [
                row for row in rows if row.condition.answerer.kind is AnswererKind.EXTRACTIVE
            ]
            return of_models or of_rule or rows
    return []


def _claim(rows: Sequence[Row]) -> Iterator[str]:
    views = [row for row in rows if row.condition.kind is CellKind.VIEW]
    if not views:
        yield "The run has no view with a score, so it claims nothing of one."
        return
    starred = [row for row in views if row.has_star]
    lower = [row for row in starred if row.base and (row.base.difference.value or 0) < 0]
    higher = [row for row in starred if row not in lower]
    title = TITLES[rows[0].score]
    yield (
        f"Of {len(views)} conditions with a view, {len(lower)} lower {title} and {len(higher)} raise "
        "it (a star: p < .05 after Holm's method)."
    )
    shown = sorted(lower, key=lambda row: (row.base and row.base.difference.value) or 0.0)[:3]
    if shown:
        yield "The greatest losses: " + "; ".join(_loss(row) for row in shown) + "."
    if len(starred) < len(views):
        yield (
            f"Of {len(views) - len(starred)} others no difference to the base is shown, which is not "
            "to say that there is none."
        )


def _loss(row: Row) -> str:
    return f"`{row.condition.name()}` {difference(row.base)}"


def _sizes(plan: Plan, rows: Sequence[Row]) -> Iterator[list[str]]:
    counts = sorted({row.mean.n for row in rows})
    if counts:
        yield [
            "questions",
            " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1]))),
        ]
    seeds = sorted({len({spec.random_seed for spec in view.specs}) for view in plan.views})
    if seeds:
        yield ["random seeds of a view", ", ".join(map(str, seeds))]
    yield ["runs of a model", str(plan.runs)]


def _models(uses: Sequence[ModelUse], plan: Plan) -> Iterator[list[str]]:
    for use in uses:
        temperature = "the endpoint's" if use.temperature is None else f"{use.temperature:g}"
        about = "about " if use.is_estimated else ""
        price = plan.budget.prices.get(use.model)
        cost = "cost unknown: the plan has no price of it"
        if price is not None:
            cost = f"cost {about}{price.of(use.prompt_tokens, use.reply_tokens):.2f} by the plan's price"
        yield [
            f"model {use.name}",
            f"temperature {temperature}; {use.answers:,} answers, {use.requests:,} requests, {about}"
            f"{use.prompt_tokens:,} tokens of prompts, {use.reply_tokens:,} of replies; {use.date}; "
            f"{cost}",
        ]


def _made(lock: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["graph-service", str(lock["versions"]["graph_service"])]


def _figure(rows: Sequence[Row]) -> Iterator[str]:
    yield from table_lines(
        ["view", "level", "strategy", "answers by", "mean", "n", "to base", "p"],
        [
            [
                row.condition.method or "base",
                row.condition.amount,
                "" if row.condition.strategy is None else row.condition.strategy.value,
                row.condition.answerer.name,
                estimate_words(row.mean),
                str(row.mean.n),
                difference(row.base),
                p_words(row.base_p) + "*" * row.has_star,
            ]
            for row in rows[:_MOST_ROWS]
        ],
    )
    if len(rows) > _MOST_ROWS:
        yield ""
        yield f"{len(rows) - _MOST_ROWS} more stand in the appendix."


def _smallest(rows: Sequence[Row]) -> Iterator[str]:
    views = [row for row in rows if row.condition.kind is CellKind.VIEW]
    if not views:
        return
    n = min(row.mean.n for row in views)
    family = max(1, len(views))
    single, adjusted = (smallest_loss(n, comparisons=count) for count in (1, family))
    if single is None or adjusted is None:
        yield f"With {n} questions not even the loss of all hits would be seen in 80 % of runs."
        return
    yield (
        f"The smallest loss that {n} questions show in 80 % of runs is {number(single)} of the hits, "
        f"and {number(adjusted)} after Holm's method over these {family} conditions, if random seeds "
        "have no effect."
    )
    if any(row.base is not None and not row.base.is_firm for row in views):
        yield (
            f"Conditions with fewer than {FIRM_SEEDS} random seeds, and an effect of these, have no star."
        )
