"""demo: the whole line on the slice of Wikidata that ships with the package."""

from __future__ import annotations

import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph_service.cli.answer.answering import answer_lines
from graph_service.cli.answer.chat_model import chat_model
from graph_service.cli.ask.reading import result_lines
from graph_service.cli.demo_options import DemoOptions
from graph_service.cli.output import Output
from graph_service.client import Client
from graph_service.model.render import citation
from graph_service.model.result import (
    EntityRef,
    RelationRef,
    RetrievalResult,
    Strategy,
    Triple,
)
from graph_service.model.values import display_value
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service import Service, open_service
from graph_service.settings import read_settings
from loaders.load import load
from queries.datasets.demo_set import (
    DEMO_QUESTION_ID,
    DEMO_UNANSWERABLE_ID,
    demo_question,
    demo_question_file,
    demo_questions,
    demo_slice,
)
from queries.datasets.gold import GoldQuestion
from queries.experiment.analysis import Row, analyse
from queries.experiment.cells import CellKind
from queries.experiment.example import ChangedStatement, find_changed
from queries.experiment.opening import open_experiment
from queries.experiment.plan import Answerer, AnswererKind, Plan, QuestionFile, ViewFamily
from queries.experiment.report.words import number
from queries.experiment.runner import CellAnswer, answers_of
from queries.experiment.scoring import TITLES, score_answer, score_lines
from queries.generate.answer import Answer, Setting, answer
from queries.llm import ChatModel
from queries.score.run import score_answers

GRAPH = "demo"
LEVEL = 0.3
HOPS = 2
"""A third makes thousands of texts to embed on ten views, for four of the questions."""
SCORES = ("precision", "recall", "f1")
ITEMS = 5
WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Demo:
    """What every part of the demo uses."""

    service: Service
    client: Client
    output: Output


@dataclass(frozen=True, slots=True)
class _Perturbed:
    """What the demo's experiment came to.

    Attributes:
        rows: Each score on the base and on the views.
        example: A changed statement that an answer was given; None if there was none.
    """

    rows: tuple[Row, ...]
    example: ChangedStatement | None


def demo(options: DemoOptions, output: Output, /) -> int:
    """Loads, retrieves, answers, scores and perturbs, and says what to try next."""
    started = time.perf_counter()
    folder = Path(tempfile.mkdtemp(prefix="graph-service-"))
    path = options.keep or folder / "demo.db"
    try:
        with open_service(f"sqlite:///{path}", settings=read_settings()) as service:
            parts = _Demo(service, Client.over(service), output)
            with chat_model(options, service.settings) as model:
                record = _run(parts, options, model)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    record["seconds"] = round(time.perf_counter() - started, 1)
    output.line()
    output.line(f"Done in {record['seconds']} s. Next:")
    output.line("  1. a page in your browser, and GraphQL, on a graph that stays:")
    output.line("       graph-service demo --keep demo.db")
    output.line("       graph-service serve --store sqlite:///demo.db")
    output.line("  2. your own subgraph, from a Wikidata dump, RDF or a table:")
    output.line("       graph-service load FILE --graph mine")
    output.line("  3. the same answers by a model behind any OpenAI-compatible address:")
    output.line("       graph-service demo --model NAME --model-url http://localhost:11434/v1")
    output.object(record)
    return 0


def _run(parts: _Demo, options: DemoOptions, model: ChatModel | None) -> dict[str, Any]:
    record: dict[str, Any] = {"load": _load(parts)}
    question = demo_question(DEMO_QUESTION_ID)
    record["retrieved"] = _retrieve(parts, question)
    _head(parts, f"Answered: {question.question}")
    first = answer(
        question.question,
        retriever=parts.client,
        model=model,
        graph=GRAPH,
        question_id=question.id,
    )
    _print_answer(parts, first)
    unanswerable = demo_question(DEMO_UNANSWERABLE_ID)
    _head(parts, f"Asked what the graph lacks: {unanswerable.question}")
    second = answer(
        unanswerable.question,
        retriever=parts.client,
        model=model,
        graph=GRAPH,
        question_id=unanswerable.id,
    )
    _print_answer(parts, second)
    record["answers"] = [first, second]
    record["score"] = _score(parts, question, first)
    record["experiment"] = _perturb(parts, options.random_seeds, model)
    return record


def _load(parts: _Demo) -> dict[str, Any]:
    _head(parts, "Loaded: real Wikidata statements, by the loader that reads its dumps")
    report = load(demo_slice(), store=parts.service.store, graph=GRAPH, replace=True)
    for line in report.lines():
        if not line.startswith("source:"):
            parts.output.line(f"  {line}")
    return report.to_json()


def _retrieve(parts: _Demo, question: GoldQuestion) -> dict[str, RetrievalResult]:
    _head(parts, f"Asked: {question.question}")
    names = {
        Strategy.TRIPLETS: "Top triplets",
        Strategy.PATHS: "Paths",
        Strategy.SUBGRAPH: "Subgraph",
    }
    results: dict[str, RetrievalResult] = {}
    for strategy, name in names.items():
        result = parts.client.retrieve(strategy, question.question, graph=GRAPH, limit=ITEMS)
        results[strategy.value] = result
        parts.output.line(f"{name} ({result.provenance.preset}):")
        lines = result_lines(result)
        shown = lines if strategy is Strategy.TRIPLETS else lines[len(result.linked) :]
        for line in shown:
            parts.output.line(f"  {line}")
    return results


def _score(parts: _Demo, question: GoldQuestion, first: Answer) -> dict[str, Any]:
    _head(parts, "Scored: the gold statements of the first question, and what was cited")
    statements = parts.service.store.statements(
        parts.service.graph(GRAPH).edition, list(question.statement_ids)
    )
    ids = {part for edge in statements.values() for part in (edge.head, edge.relation)}
    ids |= {getattr(edge.value, "id", "") for edge in statements.values()} - {""}
    labels = {
        id_: entity.labels.get("en", id_)
        for id_, entity in parts.service.entities(sorted(ids), graph=GRAPH).entities.items()
    }
    for id_ in question.statement_ids:
        edge = statements[id_]
        triple = Triple(
            id_,
            EntityRef(edge.head, labels.get(edge.head, edge.head)),
            RelationRef(edge.relation, labels.get(edge.relation, edge.relation)),
            edge.value,
            display_value(edge.value, lambda raw: labels.get(raw, raw)),
        )
        parts.output.line(f"  gold  {citation([triple])}  {triple.head.label}")
    report = score_answers([first], [question])
    for name in SCORES:
        value = report.score(f"{name}_micro").value
        parts.output.line(f"  {TITLES[name]:<18} {'none' if value is None else number(value)}")
    return report.to_plain()


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


def _perturb(parts: _Demo, seeds: int, model: ChatModel | None) -> _Perturbed:
    plan = _plan(seeds, model)
    models = {} if model is None else {plan.answerers[0].name: model}
    experiment = open_experiment(plan, parts.client, models=models).experiment
    # What a model says without knowledge would cost a tenth more requests.
    cells = tuple(cell for cell in experiment.cells if cell.condition.strategy is not None)
    pairs = replace(experiment, cells=cells).asked()
    count = len(experiment.subjects[GRAPH])
    _head(
        parts,
        f"Asked again on {seeds} random seeds of relation replacement at {LEVEL:.0%}: "
        f"{count} questions, {HOPS} hops",
    )
    shown = not parts.output.as_json and sys.stderr.isatty()
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
            parts.output.line(f"  {part}")
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


def _print_answer(parts: _Demo, item: Answer) -> None:
    for line in answer_lines(item):
        wrapped = textwrap.wrap(
            line, WIDTH - 2, break_long_words=False, break_on_hyphens=False
        ) or [""]
        for part in wrapped:
            parts.output.line(f"  {part}")


def _head(parts: _Demo, text: str) -> None:
    parts.output.line()
    parts.output.line(f"== {text}")
