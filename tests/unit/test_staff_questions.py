"""Questions about people of a table whose class they do not name, and claims that compare (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status
from graph_service.retrieve.classes.question_text import joins_people, people_span
from graph_service.retrieve.constraints.reading import AnswerForm, read_answer

TEACHERS = """Teacher,School,Mentor,Salary,Employed since,Part time,Lessons per week
Rosa Lind,North College,Omar Haddad,41000 EUR,2019-08-01,yes,14
Omar Haddad,North College,,58000 EUR,2008-02-15,no,22
Ivy Chen,Lakeside School,Omar Haddad,47000 EUR,2014-09-01,no,24
Paul Moreau,Lakeside School,Ivy Chen,39000 EUR,2022-01-10,no,20
Nora Petit,North College,Ivy Chen,44500 EUR,2016-03-01,yes,12
"""
SCHOOLS = """School,Pupils,Opened
North College,640,1975-09-01
Lakeside School,410,1998-08-20
"""


service = service_of({"teachers": TEACHERS, "schools": SCHOOLS})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who has the highest salary?", {"Omar Haddad"}),
        ("Who earns the least?", {"Paul Moreau"}),
        ("Who was employed last?", {"Paul Moreau"}),
        ("Who works part time?", {"Rosa Lind", "Nora Petit"}),
        ("Who has no mentor?", {"Omar Haddad"}),
        ("Who works at Lakeside School since 2022?", {"Paul Moreau"}),
        ("How many people work at North College?", {"3"}),
        ("Who works at North College and earns more than 43000?", {"Omar Haddad", "Nora Petit"}),
        ("List all teachers at North College who earn more than 43000",
         {"Omar Haddad", "Nora Petit"}),
        ("What is the highest salary of North College?", {"58000 EUR"}),
        ("What is the earliest employed since at Lakeside School?", {"2014-09-01"}),
        ("Does Ivy Chen earn more than Rosa Lind?", {"yes"}),
        ("Does Rosa Lind earn more than Ivy Chen?", {"no"}),
        ("Who earns less, Rosa Lind or Ivy Chen?", {"Rosa Lind"}),
        ("Is the salary of Nora Petit higher than the salary of Ivy Chen?", {"no"}),
        ("Was North College opened before Lakeside School?", {"yes"}),
        ("Was North College opened after Lakeside School?", {"no"}),
    ],
)  # fmt: skip
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who does Ivy Chen mentor?",
        "Who left in 2020?",
        "Who has the most children?",
        "Who was promoted last?",
        "Who is a rap rock artist?",
        "Does Ivy Chen earn more than Rosa Lind and Omar Haddad?",
        "Does Ivy Chen have more pupils than Rosa Lind?",
        "Was Ivy Chen hired before North College?",
    ],
)
def test_what_is_not_answered_for_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("Who has the highest salary?", "Who"),
        ("How many people work in Sales?", "people"),
        ("List all persons in Sales", "persons"),
        ("Who does Ann report to?", None),
        ("Who was Ann hired by?", None),
        ("Which parts are sold?", None),
    ],
)
def test_words_for_people_of_no_stated_class(question: str, people: str | None) -> None:
    span = people_span(question)
    assert (None if span is None else question[slice(*span)].strip()) == people


@pytest.mark.parametrize(
    ("question", "joins"),
    [
        ("Who works in Sales?", True),
        ("Who works for the Sales?", True),
        ("Who reports to Sales?", True),
        ("Who manages Sales?", False),
        ("Who is in Sales?", False),
        ("Who is the head of Sales?", False),
    ],
)
def test_what_people_are_joined_to(question: str, joins: bool) -> None:
    start = question.index("Sales")
    assert joins_people(question, (start, start + len("Sales"))) is joins


@pytest.mark.parametrize(
    ("question", "greatest", "meanings"),
    [
        ("Is Ann taller than Bob?", True, {"height"}),
        ("Does Ann weigh less than Bob?", False, {"mass", "weight"}),
        ("Is the budget of Ann bigger than the budget of Bob?", True, {"budget"}),
        ("Is Ann's budget bigger than that of Bob?", True, {"budget"}),
        ("Has Ann a bigger budget than Bob?", True, None),
        ("Was Ann born after Bob?", True, {"date of birth"}),
        ("Was Ann hired earlier than Bob?", False, {"hired"}),
        ("Does Ann have more children than Bob?", None, None),
        ("Is Ann better than Bob?", None, None),
        ("Is Ann taller than Bob in shoes?", None, None),
        ("Who is taller than Bob, Ann?", None, None),
    ],
)
def test_claims_that_compare_two(
    question: str, greatest: bool | None, meanings: set[str] | None
) -> None:
    names = [(question.index(name), question.index(name) + 3) for name in ("Ann", "Bob")]
    answer = read_answer(question, names, strict=True)
    if greatest is None:
        assert not answer.is_claim
        return
    assert answer.form is AnswerForm.COMPARISON
    assert answer.is_claim
    assert answer.superlative is not None
    assert answer.superlative.greatest is greatest
    assert meanings is None or meanings <= set(answer.superlative.meanings)
