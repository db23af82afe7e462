"""The questions about classes: their SQL over the tables, the halves, and the command (B5, B13).

Failures name ids and never a question, so that the half that is not read stays so.
"""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.class_questions import __main__ as command
from benchmarks.class_questions.question_set import OWN_TABLES, read_split
from benchmarks.own_questions.question_set import AnswerType, Split

QUESTIONS = {split: read_split(split, OWN_TABLES) for split in Split}


def test_only_questions_without_answer_have_no_gold_answers() -> None:
    wrong = [
        question.id
        for questions in QUESTIONS.values()
        for question in questions
        if question.is_absent == bool(question.gold[0].answers)
    ]
    assert wrong == []


def test_both_halves_have_questions_of_each_type_and_no_question_twice() -> None:
    types = {
        split: Counter(question.gold[0].type for question in questions)
        for split, questions in QUESTIONS.items()
    }
    for counts in types.values():
        assert set(counts) == {
            AnswerType.ENTITIES, AnswerType.COUNT, AnswerType.TRUTH, AnswerType.ABSENT,
        }  # fmt: skip
    texts = [question.text for questions in QUESTIONS.values() for question in questions]
    assert len(texts) == len(set(texts)) == 40


def test_gold_answers_are_those_of_the_tables() -> None:
    by_text = {question.text: question.gold[0].answers for question in QUESTIONS[Split.READ]}
    assert by_text["Which part is the most expensive?"] == {"part/w-112"}
    assert by_text["How many suppliers are there?"] == {"6"}
    assert by_text["Are there any parts without a supplier?"] == {"yes"}


def test_unread_questions_are_not_printed() -> None:
    with pytest.raises(SystemExit):
        command.main(["--split", "unread", "--misses", "1"])
