"""From a plan to an experiment that can run: questions, gold, lock, calibration, what it will take."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.serialise import from_plain, to_plain
from queries.datasets.case import Case
from queries.experiment.answering import (
    Experiment,
    SharedRetrieval,
    answer_cell,
    request_of,
)
from queries.experiment.cells import Cell, CellKind, cells_of
from queries.experiment.extractive import Calibration, calibrate
from queries.experiment.judging import Judging, OpenJudge, count_judging
from queries.experiment.plan import Answerer, AnswererKind, Plan
from queries.experiment.plan_lock import lock_of, read_lock, require_same, write_lock
from queries.experiment.subjects import Subject, find_gold, questions_of, split_questions
from queries.generate.answer import Answer, Request
from queries.generate.plan import Plan as AskingPlan
from queries.generate.plan import Source, estimate
from queries.llm import ChatModel
from queries.question_views import view_of_question

_TIMED = 3


@dataclass(frozen=True, slots=True)
class Opened:
    """An experiment, and what its lock says of it.

    Attributes:
        calibrations: By ``graph/strategy/preset``; empty where none was asked for.
        excluded: Questions of each graph that the rule was calibrated on.
        left_out: Questions of each graph that lack what a view of each question aims at; no cell
            asks them, so that all cells ask the same.
    """

    experiment: Experiment
    calibrations: Mapping[str, Calibration]
    excluded: Mapping[str, int]
    left_out: Mapping[str, tuple[str, ...]]


def open_experiment(
    plan: Plan,
    client: Client,
    /,
    *,
    folder: Path | None = None,
    embedder: str = "",
    models: Mapping[str, ChatModel] | None = None,
    judges: Sequence[OpenJudge] = (),
) -> Opened:
    """Returns the experiment of a plan, and locks the folder to it.

    Args:
        plan: The plan.
        client: Reaches the graphs.
        folder: Of the run; None to look at the plan alone.
        embedder: Name of the embedder; empty where a server decides it.
        models: By the name of the answerer.
        judges: Of the plan, with their models.

    Raises:
        InputError: A graph, a view or a file is missing or wrong, or the folder's run was made of
            another plan or graph; what differs is listed.
    """
    cells = cells_of(plan)
    now = lock_of(plan, client, embedder=embedder)
    stored_lock = read_lock(folder) if folder is not None else None
    if stored_lock is not None and folder is not None:
        require_same(stored_lock, now, folder)
    subjects: dict[str, tuple[Subject, ...]] = {}
    calibrations: dict[str, Calibration] = {}
    calibration_counts: dict[str, int] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    for graph in plan.graphs:
        apart, measured = split_questions(
            questions_of(plan, graph),
            share=plan.extractive.calibration_share,
            random_seed=plan.extractive.random_seed,
        )
        subjects_of_graph = find_gold(measured, client, graph=graph)
        left_out[graph] = _without_target(plan, subjects_of_graph)
        subjects[graph] = tuple(
            subject for subject in subjects_of_graph if subject.case.id not in left_out[graph]
        )
        if not subjects[graph]:
            raise InputError(
                f"{plan.source}: no question on graph {graph!r} has what its views of each "
                "question aim at",
                argument="plan",
                hint="Give the questions entity_ids, answer_ids or statement_ids.",
            )
        calibration_counts[graph] = len(apart)
        if stored_lock is None and apart:
            calibrations |= _calibrated(plan, cells, apart, client, graph)
    if stored_lock is not None:
        calibrations = {
            name: from_plain(Calibration, plain)
            for name, plain in stored_lock["extractive"].items()
        }
    elif folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_lock(folder, {**now, "extractive": to_plain(calibrations)})
    bases = {cell.condition.retrieval for cell in cells if cell.condition.strategy is not None}
    least = dict.fromkeys(bases, plan.extractive.min_score)
    least |= {name: calibration.min_score for name, calibration in calibrations.items()}
    experiment = Experiment(plan, client, cells, subjects, least, models or {}, tuple(judges))
    return Opened(experiment, calibrations, calibration_counts, left_out)


def _without_target(plan: Plan, subjects: Sequence[Subject]) -> tuple[str, ...]:
    """Ids of the questions that lack what a view of each question aims at."""
    aimed = [(view.specs[0], view.aim) for view in plan.views if view.aim is not None]
    return tuple(
        subject.case.id
        for subject in subjects
        if any(view_of_question(spec, subject.gold, aim=aim) is None for spec, aim in aimed)
    )


def _calibrated(
    plan: Plan, cells: Sequence[Cell], cases: Sequence[Case], client: Client, graph: str
) -> dict[str, Calibration]:
    golds = {subject.case.id: subject.gold for subject in find_gold(cases, client, graph=graph)}
    calibrations: dict[str, Calibration] = {}
    for cell in cells:
        condition = cell.condition
        if (
            condition.graph != graph
            or condition.kind is not CellKind.BASE
            or condition.answerer.kind is not AnswererKind.EXTRACTIVE
        ):
            continue
        calibrations[condition.retrieval] = calibrate(
            [
                (
                    request_of(cell, case, plan, view=None).fetch(
                        case.question, client, history=case.history
                    ),
                    golds[case.id],
                )
                for case in cases
            ]
        )
    return calibrations


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run may take; that of models at most, and nothing for replies that are kept.

    Attributes:
        answers: Of all cells.
        done: Of these, answers that are there already.
        retrievals: That are asked; answerers of one cell share them.
        seconds: For the retrievals, from some that were asked; models take theirs beside.
        judging: What the judges may take beside: of all answers, as templates word them.
        cost: Of the models that answer, by the prices of the plan; None without a price.
    """

    cells: int
    answers: int
    done: int
    retrievals: int
    requests: int
    prompt_tokens: int
    reply_tokens: int
    seconds: float
    judging: Judging = Judging()
    cost: float | None = None

    def lines(self) -> list[str]:
        """Returns what a run will take, one line a resource."""
        shown = [
            f"{self.cells:,} cells, {self.answers:,} answers, {self.done:,} of them there already",
            f"{self.retrievals:,} retrievals",
        ]
        if self.requests:
            shown.append(
                f"up to {self.requests:,} requests to models: about {self.prompt_tokens:,} tokens "
                f"of prompts, at most {self.reply_tokens:,} of replies"
            )
        if self.cost is not None:
            shown.append(f"up to {self.cost:,.2f} for answers, by the prices of the plan")
        if self.judging.requests:
            shown.append(
                f"up to {self.judging.requests:,} requests to judges: about "
                f"{self.judging.prompt_tokens:,} tokens of prompts, at most "
                f"{self.judging.reply_tokens:,} of replies"
            )
        return shown


def expect(experiment: Experiment, /, *, done: int = 0) -> Expected:
    """Returns what the rest of a run may take; asks some retrievals, and no model.

    Args:
        experiment: What is asked.
        done: Answers that are there already, from the beginning of the order.
    """
    left = experiment.cell_subjects()[done:]
    request_counts: dict[str, int] = {}
    requests = prompts = replies = 0
    costs: list[float] = []
    timed: dict[str, float] = {}
    retriever = SharedRetrieval(experiment.client)
    distinct: set[tuple[str, str, str]] = set()
    for cell, subject in left:
        request_counts[cell.id] = request_counts.get(cell.id, 0) + 1
        if cell.condition.strategy is not None:
            distinct.add((cell.condition.retrieval, repr(cell.view), subject.case.id))
    estimates: dict[tuple[str, str], tuple[float, float, float]] = {}
    for cell in experiment.cells:
        if cell.id not in request_counts:
            continue
        condition = cell.condition
        subjects = experiment.subjects[condition.graph]
        cases = [subject.case for subject in subjects]
        if condition.strategy is not None and condition.retrieval not in timed:
            timed[condition.retrieval] = _seconds(experiment, cell, subjects)
        setting = condition.answerer.setting
        if setting is None:
            continue
        key = (condition.retrieval, condition.answerer.name)
        if key not in estimates:
            estimated = estimate(
                cases,
                AskingPlan(
                    setting=setting,
                    generation=experiment.plan.generation_of(setting),
                    request=_base_request(cell, experiment.plan),
                    source=Source.NONE if condition.strategy is None else Source.RETRIEVED,
                    given_entities=experiment.plan.given_entities,
                ),
                retriever=retriever,
            )
            estimates[key] = (
                estimated.requests / estimated.questions,
                estimated.prompt_tokens / estimated.questions,
                estimated.reply_tokens / estimated.questions,
            )
        each = estimates[key]
        requests += round(each[0] * request_counts[cell.id])
        prompts += round(each[1] * request_counts[cell.id])
        replies += round(each[2] * request_counts[cell.id])
        price = experiment.plan.budget.prices.get(condition.answerer.model)
        if price is not None:
            tokens = (round(part * request_counts[cell.id]) for part in each[1:])
            costs.append(price.of(*tokens))
    seconds = sum(timed[name] for name, _, _ in distinct)
    return Expected(
        len(experiment.cells),
        done + len(left),
        done,
        len(distinct),
        requests,
        prompts,
        replies,
        seconds,
        _judging(experiment, retriever),
        sum(costs) if costs else None,
    )


def _judging(experiment: Experiment, retriever: SharedRetrieval) -> Judging:
    """What the judges may take: of some answers of templates on the base, for all answers."""
    plan = experiment.plan
    if not plan.judges:
        return Judging()
    requests = prompts = replies = 0.0
    counted: dict[str, tuple[Judging, int]] = {}
    for cell in experiment.cells:
        condition = cell.condition
        subjects = experiment.subjects[condition.graph]
        if condition.retrieval not in counted:
            sampled = _spread(subjects)
            answers = [_stated(cell, subject, experiment, retriever) for subject in sampled]
            counted[condition.retrieval] = count_judging(plan.judges, answers), len(sampled)
        counts, count = counted[condition.retrieval]
        requests += counts.requests / count * len(subjects)
        prompts += counts.prompt_tokens / count * len(subjects)
        replies += counts.reply_tokens / count * len(subjects)
    return Judging(round(requests), round(prompts), round(replies))


def _stated(
    cell: Cell, subject: Subject, experiment: Experiment, retriever: SharedRetrieval
) -> Answer:
    """The answer of templates to a question, on a cell's base."""
    stated = replace(cell.condition, answerer=Answerer("", AnswererKind.VERBALISER))
    if stated.strategy is not None:
        stated = replace(stated, kind=CellKind.BASE)
    return answer_cell(Cell(stated), subject, experiment, retriever)


def _spread(subjects: Sequence[Subject]) -> list[Subject]:
    """Returns some of the questions, evenly spread over their order."""
    count = min(_TIMED, len(subjects))
    return [subjects[i * len(subjects) // count] for i in range(count)]


def _base_request(cell: Cell, plan: Plan) -> Request:
    if cell.condition.strategy is None:
        return Request()
    return request_of(cell, Case("", ""), plan, view=None)


def _seconds(experiment: Experiment, cell: Cell, subjects: Sequence[Subject]) -> float:
    """Seconds of one retrieval, from some questions on a view where the plan has one."""
    on = next((cell for cell in experiment.cells if cell.view is not None), cell)
    sampled = _spread(subjects)
    requests = [
        request_of(cell, subject.case, experiment.plan, view=on.view_of(subject.gold))
        for subject in sampled
    ]
    # The first retrieval opens the graph and lays the view; it is no measure of the others.
    case = sampled[0].case
    requests[0].fetch(case.question, experiment.client, history=case.history)
    started = time.perf_counter()
    for request, sample in zip(requests, sampled, strict=True):
        request.fetch(sample.case.question, experiment.client, history=sample.case.history)
    return (time.perf_counter() - started) / len(sampled)
