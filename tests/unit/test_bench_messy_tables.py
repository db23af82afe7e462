"""Ten questions about each of twelve messy tables and twelve folders of exports: right answers, and
none wrong and sure (B14).

Failures name ids and never a question, so that the half that is not read stays so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.class_questions.__main__ import grade_all
from benchmarks.messy_tables import __main__ as command
from benchmarks.messy_tables.question_set import FOLDERS, TABLES, read_folders, read_split
from benchmarks.own_questions.grading import Grade, Verdict
from benchmarks.own_questions.question_set import Split
from graph_service.service import Service

QUESTIONS = {split: read_split(split) for split in Split}
RIGHT = {Split.READ: 58, Split.UNREAD: 59}
"""At least so many of 60 are right, as they were on 28 November 2026."""
RIGHT_OF_FOLDERS = 104
"""Of 120, on the same day."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with command.open_tables(tmp_path_factory.mktemp("tables")) as service:
        yield service


@pytest.fixture(scope="module")
def grades(service: Service) -> dict[Split, list[Grade]]:
    return {split: grade_all(service, questions) for split, questions in QUESTIONS.items()}


@pytest.fixture(scope="module")
def folder_grades(service: Service) -> list[Grade]:
    return grade_all(service, read_folders())


def test_each_table_has_ten_questions_and_is_of_one_half() -> None:
    counts = {
        split: Counter(question.graph for question in questions)
        for split, questions in QUESTIONS.items()
    }
    assert counts[Split.READ].keys() | counts[Split.UNREAD].keys() == TABLES.keys()
    assert not counts[Split.READ].keys() & counts[Split.UNREAD].keys()
    assert all(set(count.values()) == {10} and len(count) == 6 for count in counts.values())
    ids = [question.id for questions in QUESTIONS.values() for question in questions]
    assert len(set(ids)) == 120


@pytest.mark.parametrize("split", Split)
def test_questions_about_messy_tables_are_answered(
    grades: dict[Split, list[Grade]], split: Split
) -> None:
    others = [row.question.id for row in grades[split] if row.verdict is not Verdict.RIGHT]
    assert 60 - len(others) >= RIGHT[split], others


@pytest.mark.parametrize("split", Split)
def test_no_answer_about_a_messy_table_is_wrong_and_sure(
    grades: dict[Split, list[Grade]], split: Split
) -> None:
    assert [r.question.id for r in grades[split] if r.verdict is Verdict.WRONG_AND_OK] == []


def test_each_folder_has_ten_questions() -> None:
    assert Counter(each.graph for each in read_folders()) == dict.fromkeys(FOLDERS, 10)
    assert len(FOLDERS) == 12


def test_questions_about_folders_are_answered(folder_grades: list[Grade]) -> None:
    others = [row.question.id for row in folder_grades if row.verdict is not Verdict.RIGHT]
    assert 120 - len(others) >= RIGHT_OF_FOLDERS, others


def test_no_answer_about_a_folder_is_wrong_and_sure(folder_grades: list[Grade]) -> None:
    assert [r.question.id for r in folder_grades if r.verdict is Verdict.WRONG_AND_OK] == []


def test_unread_questions_are_not_printed() -> None:
    with pytest.raises(SystemExit):
        command.main(["--split", "unread", "--misses", "1"])
