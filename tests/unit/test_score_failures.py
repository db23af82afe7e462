"""Scores where a judge fails, a reason is missing, or there is more than was asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hand_chat import HandChat
from query_samples import HandRetriever, triple, triplets

from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.score.case import TextCase
from queries.score.citation import CitationRow, citation_row
from queries.score.criteria import load_criteria
from queries.score.entailment import Judgement, Pair, WordOverlap
from queries.score.judge import Judge
from queries.score.not_available import NotAvailableRow, not_available_row
from queries.score.rubric import parse_rubric
from queries.score.talec import Division, Method, Talec, complete_messages, label_messages
from queries.score.talec_export import tuning_records
from queries.score.withholding import score_rounds

A, B = (triple(f"k{i}", f"Q{i}", f"relation {i}", f"value {i}") for i in (1, 2))


class Silent:
    """A model that entails nothing, and does not judge the second pair."""

    name = "silent"
    notes = ()

    def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
        return [Judgement(False, 0.0), Judgement(None, None, failure="no reply")]


def test_an_answer_that_the_model_did_not_judge_counts_no_sentence() -> None:
    text = "Something is missing [NA]."
    item = Answer("a", "Who?", text, parse_answer(text, (A, B)), (A, B), None, "hand")
    row = not_available_row(item, [A, B], entailment=Silent())
    assert (row.sentences, row.right, row.beside, row.hit) == (0, 0, None, 0)
    assert (row.absent, row.failure) == (2, "no reply")


def test_an_answer_that_failed_counts_nothing() -> None:
    failed = Answer("a", "Who?", "", (), (), None, "hand", failure="late")
    absent = not_available_row(failed, [A, B], entailment=Silent())
    assert absent == NotAvailableRow("a", 0, 0, None, 0, 2, "late")
    gold = GoldQuestion("a", "Who?", entity_ids=("Q1",), statement_ids=("k1",), kind="who")
    cited = citation_row(failed, gold)
    assert cited == CitationRow("a", "who", None, None, 0, 0, 0, None, gold.lacking, "late")
    assert citation_row(failed, None) == CitationRow(
        "a", "", None, None, 0, 0, 0, None, None, "late"
    )


def test_no_more_is_withheld_than_the_rounds_asked_for() -> None:
    rounds = score_rounds(
        [GoldQuestion("two", "Who?", entity_ids=("Q1",), statement_ids=("k1", "k2"))],
        retriever=HandRetriever(lambda *_: triplets([(A, 1.0)])),
        statements=lambda ids: {"k1": A, "k2": B},
        entailment=WordOverlap(),
        rounds=1,
    )
    assert [round_.withheld for round_ in rounds] == [0, 1]


def test_a_quality_of_several_lines_keeps_them() -> None:
    rubric = parse_rubric("wit", "Wit\nHow witty it is.\nAnd how dry.\n- Read it.\n- Laugh.")
    assert rubric.criterion == "How witty it is.\nAnd how dry."


@pytest.mark.parametrize("reason", ["", " "])
def test_a_verdict_without_a_reason_has_no_line_of_judgement(reason: str) -> None:
    criteria = load_criteria()
    fault = criteria.labels[0].name
    case = TextCase("7", "Who?", "Ada.", human={fault: 1}, reasons={fault: reason})
    lines = tuning_records(criteria, [case])[-1].messages[-1].content.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Criterion", "Verdict"]


def test_a_text_is_judged_by_its_knowledge_and_its_context() -> None:
    criteria = load_criteria()
    case = TextCase("7", "Who?", "Ada.", knowledge=("a known line",), context="a given context")
    for rendered in (
        label_messages(criteria, criteria.labels[0], case, shots=False),
        complete_messages(criteria, case, division=Division.SCORE, shots=False),
    ):
        shown = "\n".join(message.content for message in rendered)
        assert "a known line" in shown
        assert "a given context" in shown


def test_a_joint_judgement_names_the_prompts_of_all_three() -> None:
    label = Talec(Judge(HandChat(str)), load_criteria(), method=Method.JOINT).label
    named = [part for part in ("talec-label", "talec-shot", "talec-joint") if part in label]
    assert named == ["talec-label", "talec-shot", "talec-joint"]
