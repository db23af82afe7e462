"""inspect_ai over our tasks, with its mock model: its figures are ours (B18)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from demo_graph import QUESTION
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from robustness_sets import frozen_sets
from served import served

from graph_service import Service
from graph_service.cli.inspect_ai.answering import ANSWER, VERDICT
from graph_service.cli.inspect_ai.tasks import graph_questions, kalma, mcp_questions
from graph_service.cli.robustness.set_graph import open_set_graph
from graph_service.model.result import Triple
from graph_service.model.serialise import from_plain
from graph_service.server.options import ServerOptions
from queries.datasets.demo_set import demo_question_file, demo_questions
from queries.generate.answer import Answer
from queries.robustness import recipe as recipes
from queries.robustness.building import Folder, SetBuilder
from queries.score.answer_sets import AnswerSetCase, score_answer_sets
from queries.score.case import case_of_answer
from queries.score.criteria import load_criteria
from queries.score.entailment import WordOverlap
from queries.score.knowledge import KnowledgeCase, score_knowledge
from queries.score.metric import Score
from queries.score.not_available import score_not_available
from queries.score.run import score_answers
from queries.score.talec import TalecRow
from queries.score.talec_report import talec_report

GOLD = {question.id: question for question in demo_questions()}
FACT = re.compile(r"^(?:\[?\d+\]?\.? )?(.+)$", re.MULTILINE)

Reply = Callable[[str], str]


@pytest.fixture(scope="module")
def url(demo_service: Service) -> Iterator[str]:
    with served(demo_service, ServerOptions()) as address:
        yield address


def spent(output: ModelOutput) -> ModelOutput:
    """Says the tokens: the mock model counts them by a file that it fetches where they are not."""
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def model_of(reply: Reply) -> Model:
    """inspect_ai's mock model, which replies to the last message by a rule."""

    def output(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, _: GenerateConfig
    ) -> ModelOutput:
        return spent(ModelOutput.from_content("mockllm/model", reply(messages[-1].text)))

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


def run(task: Task | str, model: Model, logs: Path, **arguments: Any) -> EvalLog:
    (log,) = eval(task, model=model, log_dir=str(logs), display="none", task_args=arguments)
    assert log.status == "success", log.error
    return log


def answers_of(log: EvalLog) -> tuple[Answer, ...]:
    return tuple(Answer.from_json(sample.store[ANSWER]) for sample in log.samples or ())


def figures_of(log: EvalLog, scorer: str) -> dict[str, float]:
    (score,) = [each for each in log.results.scores if each.name == scorer]
    return {name: metric.value for name, metric in score.metrics.items()}


def assert_same(figures: Mapping[str, float], ours: Mapping[str, Score]) -> None:
    values = {name: score.value for name, score in ours.items() if score.value is not None}
    assert figures.keys() == values.keys()
    assert all(abs(figures[name] - value) <= 1e-9 for name, value in values.items())


def cited(prompt: str) -> str:
    """Cites the first two facts and one that is invented, or the second fact alone."""
    if len(prompt) % 2:
        return "It is so [1]. And so [2]. She was a poet [Q1, work: poet]."
    return "It is so [2]."


def test_citations_of_its_model_score_as_ours(url: str, tmp_path: Path) -> None:
    log = run(kalma(url=url, first=12), model_of(cited), tmp_path)
    answers = answers_of(log)
    assert len(answers) == 12
    assert all(item.knowledge for item in answers)
    asked = [GOLD[item.question_id] for item in answers]
    report = score_answers(answers, asked)
    names = list(figures_of(log, "citations"))
    assert {"f1_micro", "precision_macro", "recall_micro", "correctness_micro"} <= set(names)
    assert_same(figures_of(log, "citations"), {
        name: report.score(name) for name in report.scores.__slots__
    })  # fmt: skip
    assert 0 < figures_of(log, "citations")["recall_micro"] < 1
    assert 0 < figures_of(log, "citations")["correctness_micro"] < 1
    # Each sample has its own figures too.
    for sample, row in zip(log.samples or (), report.rows, strict=True):
        assert row.counts is not None
        value = sample.scores["citations"].value
        assert value["recall"] == row.counts.recall


def test_what_is_withheld_scores_as_ours(url: str, tmp_path: Path) -> None:
    def marked(prompt: str) -> str:
        return "The mother of Arnold Schwarzenegger is not given [NA]. It is so [1]."

    log = run(kalma(url=url, withheld=1, first=8), model_of(marked), tmp_path)
    absent = {
        str(sample.id): [from_plain(Triple, triple) for triple in sample.metadata["absent"]]
        for sample in log.samples or ()
    }
    answers = answers_of(log)
    assert {len(triples) for triples in absent.values()} == {1}
    for item in answers:
        given = {triple.statement_id for triple in item.knowledge}
        assert given.isdisjoint(triple.statement_id for triple in absent[item.question_id])
    ours = score_not_available(answers, absent, entailment=WordOverlap())
    names = ("precision_strict", "recall", "precision_strict_macro", "recall_macro")
    figures = figures_of(log, "not_available")
    assert_same(figures, {name: getattr(ours, name) for name in names})
    assert 0 < figures["recall"] < 1


@pytest.mark.parametrize("view", ["", "er:1:1"])
def test_answers_and_attacks_score_as_ours(view: str, url: str, tmp_path: Path) -> None:
    def first_value(prompt: str) -> str:
        values = re.findall(r"(?:->|\|) ([^|>\n]+)$", prompt, re.MULTILINE)
        return "\n".join(["<answers>", *values[:2], "</answers>"])

    task = graph_questions(str(demo_question_file()), url, view=view, strategy="triplets", first=8)
    log = run(task, model_of(first_value), tmp_path)
    answers = answers_of(log)
    targets = {str(sample.id): sample.metadata["targets"] for sample in log.samples or ()}
    assert any(targets.values()) == bool(view)
    knowledge, sets = [], []
    for item in answers:
        gold = GOLD[item.question_id]
        right = () if gold.lacking else tuple((name,) for name in gold.answers)
        text = case_of_answer(item).text
        knowledge.append(KnowledgeCase(item.question_id, text, right))
        listed = item.text.removeprefix("<answers>").removesuffix("</answers>").split("\n")
        sets.append(
            AnswerSetCase(
                id=item.question_id,
                text=text,
                named=tuple(dict.fromkeys(name.strip() for name in listed if name.strip())),
                answers=right,
                targets=tuple((name,) for name in targets[item.question_id]),
                is_answerable=not gold.lacking,
                rejects=False,
            )
        )
    assert_same(figures_of(log, "knowledge"), score_knowledge(knowledge)[1].scores)
    figures = figures_of(log, "answer_sets")
    assert_same(figures, score_answer_sets(sets)[1].scores)
    assert ("attack success rate" in figures) == bool(view)
    assert figures["Hits@Any"] > 0


def test_a_frozen_set_is_asked_on_its_view_and_on_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    sets = frozen_sets(data, tmp_path / "freezing")
    (recipe,) = [each for each in sets if each.name == "films/path-1/v1"]
    monkeypatch.setattr(recipes, "source_names", lambda: ("films",))
    monkeypatch.setattr(recipes, "read_source", lambda _: sets)
    root = tmp_path / "sets"
    with open_set_graph(Folder(root, recipe)) as graph:
        SetBuilder(data, root, lambda _: None).make(recipe, graph)

    def last_value(prompt: str) -> str:
        values = re.findall(r"-> ([^>\n]+)$", prompt, re.MULTILINE)
        return "\n".join(["<answers>", *values[:1], "</answers>"])

    task, hits = "graph_service/frozen_set", {}
    with open_set_graph(Folder(root, recipe)) as graph, served(graph.service) as address:
        for view in (False, True):
            log = run(
                task,
                model_of(last_value),
                tmp_path / "logs",
                name=recipe.name,
                folder=str(root),
                url=address,
                view=view,
            )
            hits[view] = figures_of(log, "answer_sets")["Hits@1"]
            assert {sample.metadata["view"] is not None for sample in log.samples or ()} == {view}
    # Each question's view lacks the statement that answers it.
    assert hits[False] == 1.0
    assert hits[True] < 1.0


@pytest.mark.parametrize("paper", ["ltgen", "okgqa"])
def test_the_papers_tasks_are_listed_by_our_package(paper: str, url: str, tmp_path: Path) -> None:
    log = run(
        f"graph_service/{paper}",
        model_of(lambda prompt: "She is.\nANSWER: Aurelia Schwarzenegger."),
        tmp_path,
        questions=str(demo_question_file()),
        url=url,
        first=2,
    )
    answers = answers_of(log)
    assert all(item.knowledge and item.text for item in answers)
    preset = {item.result.provenance.preset.partition("-")[0] for item in answers if item.result}
    assert preset == {paper}
    cases = [
        KnowledgeCase(item.question_id, item.text, tuple((name,) for name in gold.answers))
        for item in answers
        for gold in [GOLD[item.question_id]]
    ]
    assert_same(figures_of(log, "knowledge"), score_knowledge(cases)[1].scores)


@pytest.mark.parametrize(("by", "method"), [("label", "zero-shot"), ("score", "joint")])
def test_verdicts_on_texts_score_as_ours(by: str, method: str, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    human = [0, 1, 2, 0]
    rows = [
        {"id": str(i), "question": "Who was it?", "text": text, "human": {"score": human[i]}}
        for i, text in enumerate(("It was Ada.", "Eva. Eva.", "It was Ada Lovelace.", "Ada. Ada."))
    ]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def verdict(prompt: str) -> str:
        if by == "score":
            return "It is so. [[1]]"
        return f"It says so. [[{'A' if len(prompt) % 3 else 'B'}]]"

    log = run("graph_service/talec", model_of(verdict), tmp_path, texts=str(texts), by=by,
              method=method)  # fmt: skip
    judged = [from_plain(TalecRow, sample.store[VERDICT]) for sample in log.samples or ()]
    assert [row.human["score"] for row in judged] == human
    report = talec_report(judged, load_criteria(), judged_by="the mock model")
    assert_same(figures_of(log, "talec_agreement"), report.scores)
    assert {"score (0 to 2)", "Spearman with people"} <= report.scores.keys()


def test_a_failed_answer_is_unscored(url: str, tmp_path: Path) -> None:
    log = run(kalma(url=url, first=3), model_of(lambda prompt: ""), tmp_path)
    assert all(item.failure for item in answers_of(log))
    (score,) = log.results.scores
    assert (score.scored_samples, score.unscored_samples) == (0, 3)


def test_an_agent_has_the_tools_of_our_mcp_server(url: str, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        json.dumps({"id": "1", "question": QUESTION, "answers": ["Aurelia Schwarzenegger"]}) + "\n"
    )
    shown: list[str] = []

    def output(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, _: GenerateConfig
    ) -> ModelOutput:
        if messages[-1].role == "user":
            names = {tool.name for tool in tools}
            (retrieve,) = [name for name in names if name.endswith("retrieve")]
            call = {"question": QUESTION}
            return spent(ModelOutput.for_tool_call("mockllm/model", retrieve, call))
        shown.append(messages[-1].text)
        (name,) = re.findall(r"Aurelia Schwarzenegger", messages[-1].text)[:1]
        return spent(ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": name}))

    model = get_model("mockllm/model", custom_outputs=output, memoize=False)
    log = run(mcp_questions(str(questions), url), model, tmp_path / "logs")
    assert "mother" in shown[0]
    assert figures_of(log, "knowledge") == {"KM": 1.0, "rKM": 1.0, "eKM": 1.0}
    assert figures_of(log, "answer_sets")["Hits@Any"] == 1.0
