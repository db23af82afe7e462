"""Kin by marriage, of the sex that a noun says, and which of several kin is meant."""

from __future__ import annotations

import pytest
from table_service import answers, retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

_PEOPLE = """Name,Sex,Father,Mother,Spouse,Town
Aron Vik,male,Olav Vik,Britt Moe,Lisa Holm,Hamar
Bodil Vik,female,Olav Vik,Britt Moe,Karl Dahl,Moss
Egil Vik,male,Olav Vik,Britt Moe,Nora Lund,Hamar
Lisa Holm,female,Per Holm,Siri Aas,Aron Vik,Moss
Karl Dahl,male,,,Bodil Vik,Skien
Nora Lund,female,,,Egil Vik,Moss
Olav Vik,male,,,Britt Moe,Hamar
Britt Moe,female,,,Olav Vik,Hamar
Per Holm,male,,,Siri Aas,Skien
Siri Aas,female,,,Per Holm,Skien
"""
service = service_of({"people": _PEOPLE})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Aron Vik's mother-in-law?", {"Siri Aas"}),
        ("Who is Aron Vik's father in law?", {"Per Holm"}),
        ("Who is Olav Vik's son-in-law?", {"Karl Dahl"}),
        ("Who are the daughters-in-law of Britt Moe?", {"Lisa Holm", "Nora Lund"}),
    ],
)
def test_kin_by_marriage_in_a_table(service: Service, question: str, expected: set[str]) -> None:
    result = retrieve(service, question)
    assert (result.status, answers(result)) == (Status.OK, expected)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Maria Shriver's mother-in-law?", {"Aurelia Schwarzenegger"}),
        ("Who is Arnold Schwarzenegger's father in law?", {"Sargent Shriver"}),
        ("Who is Chris Pratt's mother in law?", {"Maria Shriver"}),
        ("Who is Sargent Shriver's son-in-law?", {"Arnold Schwarzenegger"}),
        ("Who is Maria Shriver's sister-in-law?", {"Malissa Feruzzi", "Alina Shriver"}),
        (
            "Who is Chris Pratt's brother in law?",
            {"Christopher Schwarzenegger", "Patrick Schwarzenegger"},
        ),
    ],
)
def test_kin_by_marriage_in_the_demo(
    demo_service: Service, question: str, expected: set[str]
) -> None:
    result = retrieve(demo_service, question)
    assert (result.status, answers(result)) == (Status.OK, expected)


@pytest.mark.parametrize(
    "question",
    ["Who is Maria Shriver's brother in law?", "Who is Maria Shriver's brother-in-law?"],
)
def test_wives_of_brothers_are_no_brothers_in_law(demo_service: Service, question: str) -> None:
    result = retrieve(demo_service, question)
    assert (result.status, result.answer) == (Status.LOW_CONFIDENCE, None)


def test_a_sex_is_that_of_the_kin_that_it_is_said_of(demo_service: Service) -> None:
    result = retrieve(demo_service, "Who are the daughters of Maria Shriver's husband?")
    assert answers(result) == {"Katherine Schwarzenegger", "Christina Schwarzenegger"}
    assert result.status is Status.OK


@pytest.mark.parametrize(
    "question",
    [
        "Who is Maria Shriver's half-brother?",
        "Who is Chris Pratt's ex-wife?",
        "Who was Ted Kennedy's first wife?",
        "Who was Ted Kennedy's second wife?",
        "Who was Joan Bennett Kennedy's first husband?",
        "Who is Arnold Schwarzenegger's adopted son?",
    ],
)
def test_which_of_several_kin_is_meant_has_to_be_read(demo_service: Service, question: str) -> None:
    result = retrieve(demo_service, question)
    assert (result.status, result.answer) == (Status.LOW_CONFIDENCE, None)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Arnold Schwarzenegger's first child?", {"Katherine Schwarzenegger"}),
        ("Who is Maria Shriver's youngest brother?", {"Anthony Shriver"}),
    ],
)
def test_kin_is_ordered_by_birth(demo_service: Service, question: str, expected: set[str]) -> None:
    result = retrieve(demo_service, question)
    assert (result.status, answers(result)) == (Status.OK, expected)
