"""deepeval over our answers and our retrievals, with its own metrics and a stand-in model (B18)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import ContextualRecallMetric, ExactMatchMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase
from demo_graph import ARNOLD, QUESTION
from evaluators.answered import IDS, LOST, answered
from served import served

from graph_service import Service
from graph_service.server.options import ServerOptions
from queries.datasets.demo_set import demo_question_file, demo_questions
from queries.evaluators.deepeval import GraphServiceRetriever, export_answers

QUIET = DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False)


class Reader(DeepEvalBaseLLM):
    """Stands in for a judge: a context supports the answer if it names it."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        super().__init__("stand-in")

    def load_model(self) -> Any:
        return self

    def generate(self, prompt: str, schema: Any = None) -> Any:
        self.prompts.append(prompt)
        verdicts = [{"verdict": "yes", "reason": "node 1 names her"}]
        fields = {"verdicts": verdicts, "reason": "it is there"}
        reply = {name: fields[name] for name in schema.model_fields}
        return schema(**reply)

    async def a_generate(self, prompt: str, schema: Any = None) -> Any:
        return self.generate(prompt, schema)

    def get_model_name(self) -> str:
        return "stand-in"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """deepeval writes its results where it is started."""
    monkeypatch.chdir(tmp_path)


def test_answers_are_its_test_cases(demo_service: Service, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    answers = {item.question_id: item for item in answered(demo_service, path)}
    exported = export_answers(path, gold=demo_question_file())
    assert exported.failures == {LOST: "timeout: no reply"}
    assert [case.name for case in exported.test_cases] == list(IDS)
    gold = {question.id: question for question in demo_questions()}
    for id_, case in zip(IDS, exported.test_cases, strict=True):
        assert case.metadata["retrieved_ids"] == list(
            dict.fromkeys(triple.statement_id for triple in answers[id_].knowledge)
        )
        assert len(case.retrieval_context) == len(answers[id_].knowledge)
        lacking = gold[id_].lacking
        assert case.metadata["reference_ids"] == ([] if lacking else list(gold[id_].statement_ids))
    known = [case for case in exported.test_cases if case.expected_output]
    assert len(known) == 3
    # An answer in sentences is not the bare name; the same case with the name alone is right.
    bare = known[0].model_copy(update={"actual_output": known[0].expected_output})
    result = evaluate(
        [*known, bare],
        metrics=[ExactMatchMetric()],
        async_config=AsyncConfig(run_async=False),
        cache_config=CacheConfig(write_cache=False),
        display_config=QUIET,
    )
    assert [each.success for each in result.test_results] == [False, False, False, True]


def test_a_retriever_fills_test_cases_in_process_and_over_http(demo_service: Service) -> None:
    case = LLMTestCase(input=QUESTION, expected_output="Aurelia", metadata={"mine": 1})
    near = GraphServiceRetriever(service=demo_service, graph="demo", k=3).fill(case)
    assert len(near.retrieval_context) == 3
    assert "Aurelia Schwarzenegger" in near.retrieval_context[0]
    assert (near.metadata["mine"], near.metadata["status"]) == (1, "ok")
    assert any(id_.startswith(f"{ARNOLD}$") for id_ in near.metadata["retrieved_ids"])
    assert near.metadata["provenance"]["preset"] == "default-6"
    assert case.retrieval_context is None
    with served(demo_service, ServerOptions(api_key="secret")) as url:
        far = GraphServiceRetriever(url, api_key="secret", graph="demo", k=3)
        filled = far.fill(case)
        far.close()
    assert filled.model_dump() == near.model_dump()


def test_a_metric_that_asks_a_model_reads_our_contexts(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service, graph="demo", k=2)
    filled = retriever.fill(
        LLMTestCase(input=QUESTION, actual_output="Aurelia", expected_output="Aurelia")
    )
    reader = Reader()
    metric = ContextualRecallMetric(model=reader, async_mode=False)
    assert metric.measure(filled, _show_indicator=False) == 1.0
    shown = "\n".join(reader.prompts)
    assert all(text in shown for text in filled.retrieval_context)
    json.dumps(filled.metadata)
