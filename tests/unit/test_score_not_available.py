"""``[NA]`` precision and recall (K6); the paper's Figure 3."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from error_texts import check_text, raises
from hand_chat import HandChat, script
from query_samples import triple

from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.llm import ReplyError, ReplyFault
from queries.score.entailment import Judgement, Pair, WordOverlap, triple_hypothesis
from queries.score.judge import Judge
from queries.score.not_available import (
    NotAvailableRow,
    not_available_row,
    off_question_judge,
    score_not_available,
)

K = {f"k{i}": triple(f"k{i}", f"Q{i}", f"relation {i}", f"value {i}") for i in range(1, 10)}


class Says:
    """Entails exactly the pairs it is told, premise first."""

    name = "by hand"
    notes = ("made by hand",)

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self.pairs = {Pair(*pair) for pair in pairs}
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
        self.asked.extend(pairs)
        return [Judgement(pair in self.pairs, float(pair in self.pairs)) for pair in pairs]


FIGURE_3 = "First thing [1][NA]. Second thing [3][6][NA]. Third thing [6][9]."


def figure_3() -> Answer:
    knowledge = tuple(K.values())
    return Answer("a", "Who?", FIGURE_3, parse_answer(FIGURE_3, knowledge), knowledge, None, "hand")


def test_figure_3_of_kalma_k6() -> None:
    absent = [K["k2"], K["k4"], K["k5"]]
    says = Says(("First thing.", triple_hypothesis(K["k2"])))
    report = score_not_available([figure_3()], {"a": absent}, entailment=says)
    # Two sentences are marked; the first entails k2, the second none of k2 k4 k5: 1/2.
    assert report.precision_strict.value == 1 / 2
    assert report.precision_strict.n == 2
    # Of k2 k4 k5 one is entailed: 1/3.
    assert report.recall.value == pytest.approx(1 / 3)
    assert report.recall.n == 3
    # The sentence is the premise, without markers; the third is not marked and not asked about.
    assert says.asked == [
        Pair(text, triple_hypothesis(item))
        for text in ("First thing.", "Second thing.")
        for item in absent
    ]
    assert report.precision_lenient.value is None
    assert "no judge" in str(report.precision_lenient.reason)
    assert report.entailment == "by hand"


def test_a_sentence_beside_the_question_is_right_when_lenient_k6() -> None:
    says = Says(("First thing.", triple_hypothesis(K["k2"])))
    report = score_not_available(
        [figure_3()],
        {"a": [K["k2"]]},
        entailment=says,
        is_off_question=lambda question, sentence: (
            (question, sentence) == ("Who?", "Second thing.")
        ),
    )
    assert report.precision_strict.value == 0.5
    assert report.precision_lenient.value == 1.0


def test_a_marked_sentence_counts_once_k6() -> None:
    text = "It [NA] is [NA] unknown [NA]."
    item = Answer("a", "Who?", text, parse_answer(text, ()), (), None, "hand")
    report = score_not_available([item], {"a": [K["k1"]]}, entailment=Says())
    assert report.precision_strict.n == 1
    assert (report.precision_strict.value, report.recall.value) == (0.0, 0.0)


def test_failures_and_nothing_absent_k6() -> None:
    failed = Answer("b", "Who?", "", (), (), None, "hand", failure="late")
    report = score_not_available([figure_3(), failed], {}, entailment=Says())
    assert report.recall.value is None
    assert report.recall.failed == 1
    assert report.precision_strict.value == 0.0
    assert report.precision_strict_macro.n == 1
    assert report.recall_macro.reason == "nothing is absent"


def test_word_overlap_has_a_direction() -> None:
    overlap = WordOverlap(threshold=1.0)
    long, short = "The place of birth of Ada is Rome.", "place of birth: Rome"
    judged = overlap.judge([Pair(long, short), Pair(short, long), Pair(long, "")])
    assert [item.entailed for item in judged] == [True, False, False]
    # "place", "of", "birth", "rome": 1 of 4 in "She was born in Rome".
    assert WordOverlap().judge([Pair("She was born in Rome", short)])[0].score == 0.25


def test_a_sentence_counts_once_however_it_is_right_k6() -> None:
    """Both sentences entail something absent; a judge that calls them beside adds nothing."""
    absent = [K["k2"], K["k4"]]
    says = Says(
        ("First thing.", triple_hypothesis(K["k2"])), ("Second thing.", triple_hypothesis(K["k4"]))
    )
    asked: list[str] = []

    def beside(_: str, sentence: str) -> bool:
        asked.append(sentence)
        return True

    report = score_not_available(
        [figure_3()], {"a": absent}, entailment=says, is_off_question=beside
    )
    # 2 of 2 marked sentences, not (2 + 2) / 2; and what is right already is not asked about.
    assert report.precision_strict.value == 1.0
    assert report.precision_lenient.value == 1.0
    assert report.rows[0].beside == 0
    assert asked == []
    assert report.notes == ("made by hand",)


def test_an_answer_whose_judge_failed_is_failed_k6() -> None:
    class Fails:
        name = "fails"
        notes = ()

        def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
            return [Judgement(None, None, failure="timeout: no answer in 60 s") for _ in pairs]

    report = score_not_available([figure_3()], {"a": [K["k2"]]}, entailment=Fails())
    assert report.recall.value is None
    assert report.recall.failed == 1
    check_text(report.rows[0].failure, "60 s")


def test_a_chat_model_says_whether_a_sentence_is_beside_its_question_k6() -> None:
    model = HandChat(script("It does. [[answers]]", "[[Beside]]", "Perhaps.", "Perhaps."))
    beside = off_question_judge(Judge(model))
    assert beside("Who\nwas it?", "It was\nAda.") is False
    assert beside("Who was it?", "She liked tea.") is True
    with raises(ReplyError) as caught:
        beside("Who was it?", "She liked tea.")
    assert caught.value.fault is ReplyFault.MALFORMED
    assert model.asked[0].last == "Question: Who was it?\n\nSentence: It was Ada."


def test_an_answer_whose_sentence_nobody_could_place_is_failed_k6() -> None:
    row = not_available_row(
        figure_3(),
        [K["k2"], K["k4"]],
        entailment=Says(),
        is_off_question=off_question_judge(Judge(HandChat(script("Perhaps.")))),
    )
    assert row == NotAvailableRow(
        "a", 0, 0, None, 0, 2,
        "unreadable: it has to end with [[answers]] or [[beside]], and has neither",
    )  # fmt: skip


def test_a_triple_is_worded_as_it_is_asked_for_k6() -> None:
    says = Says(("First thing.", "k2!"))
    report = score_not_available(
        [figure_3()],
        {"a": [K["k2"]]},
        entailment=says,
        hypothesis=lambda item: f"{item.statement_id}!",
    )
    assert report.rows[0].right == 1
    assert {pair.hypothesis for pair in says.asked} == {"k2!"}
