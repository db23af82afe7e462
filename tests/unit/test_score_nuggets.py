"""TREC's figures where a nugget is a statement: vital, okay, strict and all, beside KaLMA's recall."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Cli
from error_texts import check_text

from graph_service.model.result import EntityRef, RelationRef, Triple
from graph_service.model.values import StringValue
from queries.datasets.demo_set import demo_questions
from queries.datasets.gold import GoldQuestion, parse_gold_questions
from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.score.entailment import WordOverlap
from queries.score.nuggets import nugget_row, nuggets_report

ADA = EntityRef("Q1", "Ada")
TRIPLES = {
    id_: Triple(id_, ADA, RelationRef("P1", relation), StringValue(value), value)
    for id_, relation, value in (
        ("s1", "mother", "Bea"),
        ("s2", "home", "Rome"),
        ("s3", "work", "poet"),
        ("s4", "pet", "cat"),
    )
}
GOLD = GoldQuestion("7", "Who?", statement_ids=("s1", "s2"), okay_ids=("s3", "s4", "gone", "s1"))


def answered(text: str, failure: str | None = None) -> Answer:
    given = tuple(TRIPLES.values())
    return Answer("7", "Who?", text, parse_answer(text, given), given, None, "m", failure=failure)


def test_what_is_said_and_what_is_cited_are_counted_apart() -> None:
    # Says s1 and s3. Cites s1 where it is said, and s2 at a sentence that does not say it.
    text = "Ada's mother is Bea [Q1, mother: Bea]. Ada's work: poet. Ada sang [Q1, home: Rome]."
    row = nugget_row(answered(text), GOLD, TRIPLES, entailment=WordOverlap(threshold=1.0))
    # s1 is vital already, and "gone" is not in the graph.
    assert (row.vital, row.okay, row.unknown) == (2, 2, 1)
    assert (row.vital_stated, row.okay_stated, row.vital_cited) == (1, 1, 2)
    report = nuggets_report([row], judged_by="words")
    values = {name: score.value for name, score in report.scores.items()}
    assert values["vital, strict"] == pytest.approx(1 / 2)
    assert values["all, strict"] == pytest.approx(2 / 4)
    # (1 + .5 * 1) / (2 + .5 * 2).
    assert values["weighted, strict"] == pytest.approx(1.5 / 3)
    assert values["okay, strict, micro"] == pytest.approx(1 / 2)
    assert values["recall of citations, micro"] == 1.0
    check_text(report.notes)


def test_failed_answers_and_questions_without_nuggets_are_in_no_mean() -> None:
    rows = [
        nugget_row(answered("", "timeout"), GOLD, TRIPLES, entailment=WordOverlap()),
        nugget_row(answered("Ada."), GoldQuestion("7", "Who?"), TRIPLES, entailment=WordOverlap()),
    ]
    report = nuggets_report(rows, judged_by="words")
    score = report.score("vital, strict")
    assert (score.value, score.failed) == (None, 1)
    assert report.has_failed


def test_okay_statements_are_read_from_a_gold_file() -> None:
    line = json.dumps({"question": "Who?", "statement_ids": ["s1"], "okay_ids": ["s2"]})
    (question,) = parse_gold_questions([line], source="gold.jsonl")
    assert question.okay_ids == ("s2",)


def test_the_verb_scores_answers_of_the_demo(demo_cli: Cli, tmp_path: Path) -> None:
    ran = demo_cli("answer", demo_questions()[0].question, "--graph", "demo")
    assert ran.code == 0, ran.err
    rows = [
        {"id": question.id, "question": question.question, "answer": f"It is {question.answers[0]}.",
         "entity_ids": question.entity_ids}
        for question in demo_questions()[:3]
    ]  # fmt: skip
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    demo_cli("answer", "--questions", "texts.jsonl", "--graph", "demo", "--out", "run.jsonl")
    scored = demo_cli("score", "nuggets", "run.jsonl", "--graph", "demo", "--json")
    assert scored.code == 0, scored.err
    figures = scored.json["scores"]
    assert figures["vital, strict"]["n"] == 3
    assert 0 <= figures["vital, strict"]["value"] <= 1
    assert figures["recall of citations, micro"]["n"] == 3
    lost = demo_cli("score", "nuggets", "run.jsonl", "--graph", "demo", "--gold", "texts.jsonl")
    assert lost.code in (0, 2)
