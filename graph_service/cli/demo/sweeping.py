"""demo --sweep: scores of answers on the demo's graph and on perturbed views of it."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_service.cli.output import Output
from graph_service.client import Client
from graph_service.model.view_spec import Method, ViewSpec
from queries.datasets.demo_set import (
    demo_question_file,
    demo_questions,
)
from queries.experiment.analysis import Row, analyse
from queries.experiment.cells import CellKind
from queries.experiment.example import ChangedStatement, find_changed
from queries.experiment.opening import open_experiment
from queries.experiment.plan import Answerer, AnswererKind, Plan, QuestionFile, ViewFamily
from queries.experiment.report.words import number
from queries.experiment.runner import CellAnswer, answers_of
from queries.experiment.scoring import TITLES, score_answer, score_lines
from queries.generate.answer import Setting
from queries.llm import ChatModel

GRAPH = "demo"
LEVEL = 0.3
HOPS = 2
"""A third makes thousands of texts to embed on ten views, for four of the questions."""
SCORES = ("precision", "recall", "f1")
ITEMS = 5
WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Perturbed:
    """What the demo's experiment came to.

    Attributes:
        rows: Each score on the base and on the views.
        example: A changed statement that an answer was given; None if there was none.
    """

    rows: tuple[Row, ...]
    example: ChangedStatement | None


def sweep(
    client: Client, output: Output, /, *, seeds: int, model: ChatModel | None
) -> dict[str, Any]:
    """Prints the scores of the answers to the demo's questions, on the graph and on views of it.

    Args:
        client: Over the demo's graph.
        output: Where the scores are printed.
        seeds: How many views, each drawn by a random seed of its own.
        model: Writes the answers; None for template sentences.

    Returns:
        What was shown, for ``--json``.
    """
    return {"experiment": _perturb(client, output, seeds, model)}


def _plan(seeds: int, model: ChatModel | None) -> Plan:
    """The demo's experiment: the questions that the slice can answer, on its base and on views."""
    answerer = Answerer(AnswererKind.VERBALISER.value, AnswererKind.VERBALISER)
    if model is not None:
        setting = Setting.KALMA_NUMBERED
        name = f"{model.name}+{setting.value}"
        answerer = Answerer(name, AnswererKind.MODEL, model.name, setting=setting)
    method = Method.RELATION_REPLACEMENT
    specs = [ViewSpec(method, level=LEVEL, random_seed=seed) for seed in range(seeds)]
    known = sum(not item.lacking for item in demo_questions())
    return Plan(
        name="Demo",
        source="demo",
        graphs=(GRAPH,),
        questions=(QuestionFile("questions.jsonl", demo_question_file(), first=known),),
        views=(ViewFamily(method.value, tuple(specs)),),
        retrieval={"max_hops": HOPS},
        answerers=(answerer,),
        scores=SCORES,
    )


def _perturb(client: Client, output: Output, seeds: int, model: ChatModel | None) -> _Perturbed:
    plan = _plan(seeds, model)
    models = {} if model is None else {plan.answerers[0].name: model}
    experiment = open_experiment(plan, client, models=models).experiment
    # What a model says without knowledge would cost a tenth more requests.
    cells = tuple(cell for cell in experiment.cells if cell.condition.strategy is not None)
    pairs = replace(experiment, cells=cells).cell_subjects()
    count = len(experiment.subjects[GRAPH])
    output.line()
    output.line(
        f"{count} questions, at most {HOPS} steps each, on the graph and on {seeds} perturbed views"
    )
    shown = not output.as_json and sys.stderr.isatty()
    answers: list[CellAnswer] = []
    for made in answers_of(experiment, pairs, with_fates=False):
        answers.append(made)
        if shown:
            end = "\n" if len(answers) == len(pairs) else ""
            print(f"\r  {len(answers)} of {len(pairs)}", end=end, file=sys.stderr, flush=True)
    scored = [
        line
        for (cell, subject), made in zip(pairs, answers, strict=True)
        for line in score_lines(
            made, subject.gold.kind, score_answer(made.answer, subject.gold, cell)
        )
    ]
    analysis = analyse(cells, scored, scores=plan.scores)
    failed = sum(made.answer.failure is not None for made in answers)
    example = find_changed(cells, answers)
    strategy, method = plan.strategies[0].value, plan.views[0].name
    lines = [f"{count} questions, {strategy}, {method} at {LEVEL:.0%}, {seeds} random seeds"]
    lines += [_compared(name, analysis.rows) for name in SCORES]
    if failed:
        lines.append(f"{failed} answers failed, and are in no score")
    if example is not None:
        lines.append(f"one changed statement: {example.text()}")
    for line in lines:
        for part in textwrap.wrap(line, WIDTH - 2, subsequent_indent="    "):
            output.line(f"  {part}")
    return _Perturbed(analysis.rows, example)


def _compared(score: str, rows: Sequence[Row]) -> str:
    """A score on the base, and its mean and range over the views' random seeds."""
    title = f"{TITLES[score]:<{max(len(TITLES[name]) for name in SCORES)}}"
    of_kind = {row.condition.kind: row for row in rows if row.score == score}
    base, views = of_kind.get(CellKind.BASE), of_kind.get(CellKind.VIEW)
    seeds = [value for value in views.seeds.values if value is not None] if views else []
    between = f" ({number(min(seeds))} to {number(max(seeds))})" if len(seeds) > 1 else ""
    return f"{title}  base {_mean(base)}, views {_mean(views)}{between}"


def _mean(row: Row | None) -> str:
    return "none" if row is None or row.mean.value is None else number(row.mean.value)
