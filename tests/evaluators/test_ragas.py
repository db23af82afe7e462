"""ragas over our answers and our retrievals, with its own metrics and a stand-in model (B18)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from demo_graph import ARNOLD, QUESTION
from evaluators.answered import IDS, LOST, answered
from langchain_openai import ChatOpenAI
from openai_stand_in import Scripted, ok, stand_in
from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.llms import LangchainLLMWrapper
from ragas.metrics._aspect_critic import AspectCritic
from ragas.metrics._context_precision import IDBasedContextPrecision
from ragas.metrics._context_recall import IDBasedContextRecall
from served import served

from graph_service import Service
from graph_service.server.options import ServerOptions
from queries.datasets.demo_set import demo_question_file, demo_questions
from queries.evaluators.ragas import GraphServiceRetriever, export_answers


def test_its_scores_by_id_are_those_of_our_statements(
    demo_service: Service, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    answers = {item.question_id: item for item in answered(demo_service, path)}
    exported = export_answers(path, gold=demo_question_file())
    assert exported.failures == {LOST: "timeout: no reply"}
    assert [sample.user_input for sample in exported.dataset] == [
        answers[id_].question for id_ in IDS
    ]
    gold = {question.id: question for question in demo_questions()}
    for id_, sample in zip(IDS, exported.dataset, strict=True):
        assert "[Q" not in sample.response
        if gold[id_].lacking:
            assert (sample.reference, sample.reference_context_ids) == (None, None)
        else:
            assert sample.reference == ", ".join(gold[id_].answers)
    # A sample without reference ids has no such score.
    known = [sample for sample in exported.dataset if sample.reference_context_ids]
    scored = evaluate(
        EvaluationDataset(samples=known),
        metrics=[IDBasedContextRecall(), IDBasedContextPrecision()],
        show_progress=False,
    )
    assert len(scored.scores) == 3
    for scores, sample in zip(scored.scores, known, strict=True):
        (id_,) = [each for each in IDS if answers[each].question == sample.user_input]
        ids = {triple.statement_id for triple in answers[id_].knowledge}
        hit = len(ids & set(gold[id_].statement_ids))
        assert scores["id_based_context_recall"] == hit / len(gold[id_].statement_ids)
        assert scores["id_based_context_precision"] == hit / len(ids)


def test_a_retriever_fills_samples_in_process_and_over_http(demo_service: Service) -> None:
    sample = SingleTurnSample(user_input=QUESTION, reference="Aurelia Schwarzenegger")
    dataset = EvaluationDataset(samples=[sample])
    (near,) = GraphServiceRetriever(service=demo_service, graph="demo", k=3).fill_dataset(dataset)
    assert len(near.retrieved_contexts) == 3
    assert "Aurelia Schwarzenegger" in near.retrieved_contexts[0]
    assert any(id_.startswith(f"{ARNOLD}$") for id_ in near.retrieved_context_ids)
    assert near.reference == sample.reference
    assert sample.retrieved_contexts is None
    with served(demo_service, ServerOptions(api_key="secret")) as url:
        far = GraphServiceRetriever(url, api_key="secret", graph="demo", k=3)
        assert far.fill(sample) == near
        far.close()


def test_nothing_retrieved_is_no_context(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service)
    filled = retriever.fill(SingleTurnSample(user_input="What is a zorblax?"))
    assert (filled.retrieved_contexts, filled.retrieved_context_ids) == ([], [])
    assert retriever.retrieve("What is a zorblax?").metadata == {"status": "no-entity-linked"}


def test_a_metric_that_asks_a_model_reads_our_contexts(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(body: dict[str, Any]) -> Scripted:
        grounded = "Aurelia Schwarzenegger" in body["messages"][-1]["content"]
        return ok(json.dumps({"reason": "it names her", "verdict": int(grounded)}))

    retriever = GraphServiceRetriever(service=demo_service, graph="demo", k=2)
    bare = SingleTurnSample(user_input=QUESTION, response="Arnold's mother", retrieved_contexts=[])
    filled = retriever.fill(bare)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with stand_in(judged) as server:
        model = LangchainLLMWrapper(ChatOpenAI(model="stand-in", base_url=server.url))
        metric = AspectCritic(name="grounded", definition="Do the contexts name her?", llm=model)
        scored = evaluate(
            EvaluationDataset(samples=[bare, filled]), metrics=[metric], show_progress=False
        )
    assert [scores["grounded"] for scores in scored.scores] == [0, 1]
    prompts = [body["messages"][-1]["content"] for body in server.requests]
    assert any(all(text in prompt for text in filled.retrieved_contexts) for prompt in prompts)
