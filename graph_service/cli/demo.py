"""demo: the whole line on the slice of Wikidata that ships with the package."""

from __future__ import annotations

import shutil
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from graph_service.cli.answer.answering import answer_lines
from graph_service.cli.answer.chat_model import chat_model
from graph_service.cli.ask.reading import result_lines
from graph_service.cli.demo_options import DemoOptions
from graph_service.cli.output import Output
from graph_service.client import Client
from graph_service.model.render import citation
from graph_service.model.request import RetrieveOptions
from graph_service.model.result import (
    EntityRef,
    RelationRef,
    RetrievalResult,
    Strategy,
    Triple,
)
from graph_service.model.values import display_value
from graph_service.model.view_spec import Method
from graph_service.service import Service, open_service
from graph_service.settings import read_settings
from loaders.load import load
from queries.datasets.demo_set import (
    DEMO_LACKING_ID,
    DEMO_QUESTION_ID,
    demo_question,
    demo_questions,
    demo_slice,
)
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer, answer
from queries.llm import ChatModel
from queries.robustness import SweepReport, sweep
from queries.score.run import CitationReport, score_answers

GRAPH = "demo"
LEVEL = 0.3
SWEEP_HOPS = 2
"""A third makes thousands of texts to embed on ten views, for four of the questions."""
ITEMS = 5
WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Demo:
    """What every part of the demo uses."""

    service: Service
    client: Client
    output: Output


@dataclass(frozen=True, slots=True)
class _NearRetriever:
    """Retrieves within ``SWEEP_HOPS`` steps of the question's entities."""

    client: Client

    def retrieve(
        self,
        strategy: Strategy,
        question: str,
        /,
        **options: Unpack[RetrieveOptions],
    ) -> RetrievalResult:
        near: RetrieveOptions = {**options, "max_hops": SWEEP_HOPS}
        return self.client.retrieve(strategy, question, **near)


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
    lacking = demo_question(DEMO_LACKING_ID)
    _head(parts, f"Asked what the graph lacks: {lacking.question}")
    second = answer(
        lacking.question, retriever=parts.client, model=model, graph=GRAPH, question_id=lacking.id
    )
    _print_answer(parts, second)
    record["answers"] = [first, second]
    record["score"] = _score(parts, question, first)
    record["robustness"] = _perturb(parts, options.random_seeds, model)
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
    ids = {part for one in statements.values() for part in (one.head, one.relation)}
    ids |= {getattr(one.value, "id", "") for one in statements.values()} - {""}
    labels = {
        id_: entity.labels.get("en", id_)
        for id_, entity in parts.service.entities(sorted(ids), graph=GRAPH).found.items()
    }
    for id_ in question.statement_ids:
        one = statements[id_]
        triple = Triple(
            id_,
            EntityRef(one.head, labels.get(one.head, one.head)),
            RelationRef(one.relation, labels.get(one.relation, one.relation)),
            one.value,
            display_value(one.value, lambda raw: labels.get(raw, raw)),
        )
        parts.output.line(f"  gold  {citation([triple])}  {triple.head.label}")
    report = score_answers([first], [question])
    for name, title in _SCORES.items():
        parts.output.line(f"  {title:<18} {_figure(report, name)}")
    return report.to_plain()


_SCORES = {
    "precision_micro": "citation precision",
    "recall_micro": "citation recall",
    "f1_micro": "citation F1",
}


def _figure(report: CitationReport, name: str) -> str:
    value = report.score(name).value
    return "none" if value is None else f"{value:.3f}"


def _perturb(parts: _Demo, seeds: int, model: Any) -> SweepReport:
    questions = [item for item in demo_questions() if not item.lacking]
    _head(
        parts,
        f"Asked again on {seeds} random seeds of relation replacement at {LEVEL:.0%}: "
        f"{len(questions)} questions, {SWEEP_HOPS} hops",
    )
    shown = not parts.output.as_json and sys.stderr.isatty()

    def progress(done: int, total: int) -> None:
        if shown:
            end = "\n" if done == total else ""
            print(f"\r  {done} of {total}", end=end, file=sys.stderr, flush=True)

    report = sweep(
        questions,
        retriever=_NearRetriever(parts.client),
        graph=GRAPH,
        method=Method.RELATION_REPLACEMENT,
        level=LEVEL,
        random_seeds=range(seeds),
        model=model,
        progress=progress,
    )
    for line in report.lines():
        for part in textwrap.wrap(line, WIDTH - 2, subsequent_indent="    "):
            parts.output.line(f"  {part}")
    return report


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
