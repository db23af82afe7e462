"""Nouns that a name owns, which name relations that a graph lacks."""

from __future__ import annotations

import pytest
from table_service import answers, retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

service = service_of(
    {
        "people": """Name,Spouse,Captain,Town
Aron Vik,Lisa Holm,Tor Lund,Hamar
Karl Dahl,Bodil Vik,Ida Ruud,Moss
Egil Moe,Nora Lund,Tor Lund,Skien
"""
    }
)


@pytest.mark.parametrize(
    "question",
    [
        "Who was Ted Kennedy's roommate?",
        "Who was Ted Kennedy's girlfriend?",
        "Who is Maria Shriver's boyfriend?",
        "Who was the bodyguard of Robert F. Kennedy?",
        "Who is Arnold Schwarzenegger's idol?",
    ],
)
def test_a_noun_of_a_relation_that_the_demo_lacks(demo_service: Service, question: str) -> None:
    result = retrieve(demo_service, question)
    assert (result.status, result.answer) == (Status.LOW_CONFIDENCE, None)


@pytest.mark.parametrize("noun", ["roommate", "girlfriend", "lover", "idol", "rival"])
def test_a_noun_of_a_relation_that_a_table_lacks(service: Service, noun: str) -> None:
    for question in (f"Who is Aron Vik's {noun}?", f"Who is the {noun} of Aron Vik?"):
        assert retrieve(service, question).status is Status.LOW_CONFIDENCE, question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Aron Vik's wife?", {"Lisa Holm"}),
        ("Who is Aron Vik's captain?", {"Tor Lund"}),
        ("Who is Aron Vik's skipper?", {"Tor Lund"}),
    ],
)
def test_a_noun_of_a_relation_that_a_table_has(
    service: Service, question: str, expected: set[str]
) -> None:
    result = retrieve(service, question)
    assert (result.status, answers(result)) == (Status.OK, expected)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was John F. Kennedy's partner?", {"Jacqueline Kennedy Onassis"}),
        ("Who is the star of True Lies?", {"Arnold Schwarzenegger", "Bobby Shriver"}),
        ("Who is Maria Shriver's mom?", {"Eunice Kennedy Shriver"}),
        ("How did Robert Kennedy die?", {"ballistic trauma"}),
    ],
)
def test_other_nouns_for_relations_of_the_demo(
    demo_service: Service, question: str, expected: set[str]
) -> None:
    result = retrieve(demo_service, question)
    assert (result.status, answers(result)) == (Status.OK, expected)


def test_who_replaced_somebody_is_not_what_they_were(demo_service: Service) -> None:
    result = retrieve(demo_service, "Who replaced John F. Kennedy as president?")
    assert (result.status, answers(result)) == (Status.OK, {"Lyndon B. Johnson"})
