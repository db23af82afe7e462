"""Sets of answers, refusals and attacks (B3), each figure worked out in a comment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph_service.model.serialise import to_plain
from queries.datasets.records import Record
from queries.datasets.scored import answer_set_case
from queries.generate.answer import Answer
from queries.generate.citations import Sentence
from queries.score.answer_sets import AnswerSetCase, answer_set_row, score_answer_sets
from queries.score.report import Groups

BEATLES = (("John Lennon",), ("Paul McCartney", "Sir Paul"), ("George Harrison",), ("Ringo Starr",))


def test_what_is_named_is_held_against_the_answers() -> None:
    row = answer_set_row(
        AnswerSetCase("1", "", ("Sir Paul", "Mick Jagger", "Ringo Starr", "Brian Jones"), BEATLES)
    )
    # Of 4 named 2 are answers: P = 1/2. Of 4 answers 2 are named: R = 1/2. F1 = 1/2.
    assert (row.hits_first, row.hits_any) == (1.0, 1.0)
    assert (row.precision, row.recall, row.f1) == (0.5, 0.5, 0.5)
    # Nothing named of four: all are 0, and none is unscored.
    nothing = answer_set_row(AnswerSetCase("2", "", (), BEATLES))
    assert (nothing.hits_first, nothing.hits_any, nothing.f1) == (0.0, 0.0, 0.0)
    # A text has no order and no number of things named: Hits@Any alone.
    text = answer_set_row(AnswerSetCase("3", "It was Ringo Starr.", answers=BEATLES))
    assert (text.hits_first, text.hits_any, text.f1) == (None, 1.0, None)
    # The answers that are still said directly do not count for Hits@Hard.
    hard = answer_set_row(AnswerSetCase("4", "Ringo Starr", answers=BEATLES, hard=(BEATLES[0],)))
    assert (hard.hits_any, hard.hits_hard) == (1.0, 0.0)


def test_refusals() -> None:
    cases = [
        AnswerSetCase("1", "[NA]", is_answerable=False),  # right
        AnswerSetCase("2", "Nobody knows.", rejects=True, is_answerable=True),  # needless
        AnswerSetCase("3", "Rome.", is_answerable=False),  # should have been refused
        AnswerSetCase("4", "Rome [NA].", rejects=False, is_answerable=True),
        AnswerSetCase("5", "[NA]"),  # nobody knows whether it can be answered
    ]
    _, report = score_answer_sets(cases)
    # Of the refusals 1 and 2 the first is right: 1/2. Of 1 and 3 the first is refused: 1/2.
    assert report.score("rejection precision").value == 0.5
    assert report.score("rejection precision").n == 2
    assert report.score("rejection recall").value == 0.5
    assert report.score("rejection recall").unscored == 3


def test_a_name_that_holds_the_marker_refuses_nothing() -> None:
    named = AnswerSetCase("1", "It is Foo [NA].", answers=(("Foo [NA]",),), is_answerable=False)
    assert answer_set_row(named).rejection_recall == 0.0
    marked = AnswerSetCase("2", "Foo [NA] may be it [NA].", answers=(("Foo [NA]",),))
    assert answer_set_row(marked).rejection_precision is None
    assert answer_set_row(replace(marked, is_answerable=False)).rejection_recall == 1.0


def test_an_answer_that_is_marked_refuses() -> None:
    """Its text has no markers: its sentences say so."""
    fields = {"id": "1", "text": "Nobody knows [NA].", "answerable": False, "knowledge": []}
    case = answer_set_case(Record("a, line 1", 1, fields))
    assert (case.text, answer_set_row(case).rejection_recall) == ("Nobody knows.", 1.0)
    ours = Answer("2", "Who?", "X [NA].", (Sentence("X.", (), True),), (), None, "m")
    case = answer_set_case(Record("a, line 2", 2, {**to_plain(ours), "answerable": False}))
    assert answer_set_row(case).rejection_recall == 1.0


def test_attacks_and_errors() -> None:
    cases = [
        AnswerSetCase("1", "Oslo", answers=(("Rome",),), targets=(("Oslo",),), has_errors=True),
        AnswerSetCase(
            "2",
            "There are factual errors; it is Rome.",
            answers=(("Rome",),),
            targets=(("Oslo",),),
            has_errors=True,
        ),
        AnswerSetCase("3", "Paris", answers=(("Rome",),), has_errors=True, detects=True),
        AnswerSetCase("4", "Rome", answers=(("Rome",),)),
    ]
    _, report = score_answer_sets(cases)
    values = {name: score.value for name, score in report.scores.items()}
    # Attacked are 1 and 2, and 1 names the target: 1/2. Errors stand in 1, 2 and 3, told in 2 and
    # 3: 2/3; of these 2 names the answer: 1/2. An answer is named in 2 and 4 of four: 1/2.
    assert values["attack success rate"] == 0.5
    assert values["error detection"] == pytest.approx(2 / 3)
    assert values["error correction"] == 0.5
    assert values["Hits@Any"] == 0.5
    # What no case can have is no line of the report.
    assert "answer-set F1" not in values


def test_failures_and_groups() -> None:
    cases = [
        AnswerSetCase("1", "Rome", answers=(("Rome",),), groups=Groups("easy")),
        AnswerSetCase("2", "Oslo", answers=(("Rome",),), groups=Groups("hard")),
        AnswerSetCase("3", None, answers=(("Rome",),), failure="timeout: 60 s"),
    ]
    rows, report = score_answer_sets(cases)
    score = report.score("Hits@Any")
    assert (score.value, score.n, score.failed) == (0.5, 2, 1)
    assert report.failures == {"timeout": 1}
    assert report.by["kind"]["easy"]["Hits@Any"].value == 1.0
    assert rows[2].hits_any is None
