"""experiment plan and experiment run."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.answer.chat_model import openai_chat
from graph_service.cli.experiment.options import PlanOptions, ReachOptions, RunOptions
from graph_service.cli.experiment.steps import StoreSteps
from graph_service.cli.opening import open_from, refuse_store_options, settings_of
from graph_service.cli.output import Output, counted
from graph_service.cli.progress import LINE_EVERY_S, ProgressPrinter
from graph_service.client import Client
from queries.experiment.answering import Experiment
from queries.experiment.budget import BudgetedChat, RequestBudget
from queries.experiment.cells import Cell, CellKind
from queries.experiment.deposit.packing import REPLIES_NAME
from queries.experiment.impact import CountChanges, CountSteps, write_views
from queries.experiment.judging import OpenJudge, open_judge
from queries.experiment.opening import expect, open_experiment
from queries.experiment.plan import Answerer, AnswererKind, JudgePlan, Plan
from queries.experiment.plan_file import read_plan
from queries.experiment.retry_window import RetryingTransport
from queries.experiment.runner import ANSWERS_NAME, count_answers
from queries.experiment.runner import run as run_experiment
from queries.experiment.scoring import SCORES, write_scores
from queries.experiment.statistics import FIRM_SEEDS, smallest_loss
from queries.llm import CachedChat, ChatModel, TokenMeter, open_cache
from queries.lock import one_writer
from queries.run import Progress

READ_TIMEOUT_S = 600.0
"""Nobody waits for one read of an experiment, and the first on a large view draws it."""


def plan(options: PlanOptions, output: Output, /) -> int:
    """Says what a plan asks and may take."""
    read = read_plan(options.plan, scores=SCORES)
    with reach(options, output) as reached:
        opened = open_experiment(read, reached.client, embedder=reached.embedder)
        experiment = opened.experiment
        done = 0
        if options.out is not None:
            done = count_answers(options.out, experiment.cell_subjects())
        expected = expect(experiment, done=done)
    for cell in experiment.cells:
        output.line(cell.id)
    for line in expected.lines():
        output.line(line)
    output.note(f"retrievals take about {expected.seconds:,.0f} s")
    if importlib.util.find_spec("matplotlib") is None:
        output.note(
            "matplotlib is not installed: the report will have its tables and no pictures; "
            "pip install 'graph-service[experiment]'"
        )
    for graph, subjects in experiment.subjects.items():
        gold = sum(bool(subject.gold.statement_ids) for subject in subjects)
        incomplete = sum(subject.is_incomplete for subject in subjects)
        known = sum(
            bool(subject.gold.answer_ids or subject.gold.answers) and not subject.gold.lacking
            for subject in subjects
        )
        output.line(
            f"graph {graph}: {len(subjects)} questions, {gold} with gold statements, {known} with "
            f"answers, {incomplete} whose gold the graph lacks; {opened.excluded[graph]} kept for "
            "calibration"
        )
        for line in _smallest(read, graph, len(subjects), experiment.cells):
            output.line(line)
        left_out = opened.left_out[graph]
        if left_out:
            output.line(
                f"graph {graph}: {counted(len(left_out), 'question is', 'questions are')} left out, "
                f"such as {left_out[0]}, without what a view of each question aims at"
            )
    output.object({"cells": [cell.id for cell in experiment.cells], "expected": expected})
    return 0


def _smallest(read: Plan, graph: str, questions: int, cells: Sequence[Cell]) -> Iterator[str]:
    """What a plan can find, and whether it has too few random seeds for stars."""
    views = {
        cell.condition
        for cell in cells
        if cell.condition.graph == graph and cell.condition.kind is CellKind.VIEW
    }
    single, adjusted = (
        smallest_loss(questions, comparisons=count) for count in (1, max(1, len(views)))
    )
    if single is None or adjusted is None or not views:
        return
    yield (
        f"graph {graph}: a view that loses {single:.3f} of the hits is seen in 80 % of runs, "
        f"{adjusted:.3f} after Holm over {len(views)} conditions, if random seeds have no effect"
    )
    if any(
        0 < len({spec.random_seed for spec in family.specs}) < FIRM_SEEDS for family in read.views
    ):
        yield (
            f"with fewer than {FIRM_SEEDS} random seeds there are stars only where seeds seem to "
            f"have no effect; random_seeds: 0-{FIRM_SEEDS - 1} is enough"
        )


def run(options: RunOptions, output: Output, /) -> int:
    """Answers and scores the cells of a plan."""
    assert options.out is not None
    read = read_plan(options.plan, scores=SCORES)
    options.out.mkdir(parents=True, exist_ok=True)
    with (
        one_writer(options.out / ANSWERS_NAME),
        reach(options, output) as reached,
        _models(read, options, options.out) as models,
    ):
        opened = open_experiment(
            read,
            reached.client,
            folder=options.out,
            embedder=reached.embedder,
            models=models.answerers,
            judges=models.judges,
        )
        made, failed = answer_and_score(
            opened.experiment,
            options.out,
            reached,
            workers=options.workers,
            retry_failed=options.retry_failed,
        )
    total = len(opened.experiment.cell_subjects())
    output.show(
        {
            "cells": len(opened.experiment.cells),
            "answers": total,
            "made": made.fresh,
            "failed": failed,
        },
        f"{len(opened.experiment.cells):,} cells, {total:,} answers, {made.fresh:,} of them made now, "
        f"{failed} failed",
    )
    output.note(f"{made.seconds:.1f} s; graph-service experiment report shows it")
    return 1 if failed else 0


def answer_and_score(
    experiment: Experiment,
    folder: Path,
    reached: Reached,
    /,
    *,
    workers: int,
    retry_failed: bool = False,
) -> tuple[Progress, int]:
    """Answers and scores what is left of an experiment.

    Args:
        experiment: What is asked.
        folder: Of the run.
        reached: Its graphs.
        workers: Answers at once.
        retry_failed: Whether the first answer that failed, and all after it, are made again.

    Returns:
        How far the answers are, and how many failed.
    """
    print_progress = ProgressPrinter()
    last = Progress(0, 0)
    for last in run_experiment(experiment, folder, workers=workers, retry_failed=retry_failed):
        print_progress(last)
    write_views(
        experiment,
        folder,
        count_steps=reached.count_steps,
        count_changes=reached.count_changes,
        say=_NowAndThen(),
    )
    return last, write_scores(experiment, folder, workers=workers, say=_NowAndThen())


@dataclass(frozen=True, slots=True)
class Reached:
    """The graphs of a plan, in a store or on a server.

    Attributes:
        embedder: Its name; empty where a server decides it.
        count_steps: Counts steps to answers; None on a server.
        count_changes: Counts what views change; None on a server.
    """

    client: Client
    embedder: str = ""
    count_steps: CountSteps | None = None
    count_changes: CountChanges | None = None


@contextlib.contextmanager
def reach(options: ReachOptions, output: Output, /) -> Iterator[Reached]:
    """Opens the store or reaches the server that the options name; gives what asks its graphs."""
    settings = settings_of(options)
    if options.server:
        refuse_store_options(options)
        # Imported when needed: httpx takes longer than the rest of the client.
        from graph_service.client.http import Http

        served = Http(options.server, api_key=settings.api_key)
        retrying = RetryingTransport(served, retry_window_s=options.patience, say=output.note)
        with Client(retrying) as client:
            output.note(f"server {options.server}")
            yield Reached(client)
        return
    limit_s = max(settings.read_timeout_s, READ_TIMEOUT_S)
    with open_from(options, output, read_timeout_s=limit_s) as service:
        counter = StoreSteps(service)
        yield Reached(Client.over(service), settings.embedder, counter.count, counter.changes)


@dataclass(frozen=True, slots=True)
class _Models:
    """The models of a plan, opened: by the name of the answerer, and the judges."""

    answerers: Mapping[str, ChatModel]
    judges: tuple[OpenJudge, ...]


@contextlib.contextmanager
def _models(read: Plan, options: RunOptions, folder: Path) -> Iterator[_Models]:
    """Opens the models of a plan; in a replay the replies alone."""
    model_answerers = [entry for entry in read.answerers if entry.kind is AnswererKind.MODEL]
    if not model_answerers and not read.judges:
        yield _Models({}, ())
        return
    settings = settings_of(options)
    limits = [entry for entry in (options.token_limit, read.budget.tokens) if entry is not None]
    meter = TokenMeter(limit=min(limits, default=None))
    budget = RequestBudget(read.budget.requests)
    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(open_cache(folder / REPLIES_NAME, must_exist=options.replay))
        opened: dict[tuple[str, str], ChatModel] = {}

        def model_of(entry: Answerer | JudgePlan) -> ChatModel:
            key = (entry.model, entry.url)
            if key not in opened and not options.replay:
                inner = openai_chat(
                    entry.model,
                    settings,
                    options,
                    url=entry.url,
                    concurrency=options.workers,
                    meter=meter,
                )
                opened[key] = BudgetedChat(stack.enter_context(inner), budget)
            return CachedChat(
                cache, entry.model, inner=opened.get(key), retry_failed=options.retry_failed
            )

        yield _Models(
            {entry.name: model_of(entry) for entry in model_answerers},
            tuple(open_judge(entry, model_of(entry)) for entry in read.judges),
        )


class _NowAndThen:
    """Tells what it is told on stderr, a line every ten seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, text: str) -> None:
        if time.monotonic() - self._last >= LINE_EVERY_S:
            self._last = time.monotonic()
            print(text, file=sys.stderr, flush=True)
