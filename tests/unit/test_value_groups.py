"""Numbers of each value of a column that is called as no class is: students per form, goals per season (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.answer import AnswerKind
from graph_service.model.result import Status

TABLES = {
    "gliders": """Glider,Berths,Home,Registered
Kite One,2,Vik,1998
Swallow,1,Vik,2003
Heron,2,Moss,2003
Falcon,2,Moss,2011
Robin,,Moss,2011
""",
    "clubs": """Club,Town
Vik Gliding,Vik
Moss Air,Moss
""",
    "loans": """Loan,Glider,Lender,Borrower
L1,Heron,Moss Air,Vik Gliding
L2,Falcon,Moss Air,Vik Gliding
L3,Swallow,Vik Gliding,Moss Air
""",
    "hangars": """Hangar,Berths
North,40
South,2
""",
    "flights": """Glider,Season,Metres,Weather
Kite One,2021,800,sun
Kite One,2022,1200,sun
Heron,2021,650,cloud
Falcon,2022,900,sun
Falcon,2022,100,cloud
""",
}


service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # The berths of hangars are no group of gliders.
        ("How many gliders are there per number of berths?", {"2: 3", "1: 1"}),
        ("number of gliders by berths", {"2: 3", "1: 1"}),
        ("How many gliders were there per registered?", {"2003: 2", "2011: 2", "1998: 1"}),
        ("What are the total metres per season?", {"2022: 2200", "2021: 1450"}),
        ("average metres by season", {"2022: 733.3333", "2021: 725"}),
        ("loans per lender", {"Moss Air: 2", "Vik Gliding: 1"}),
        ("gliders per home", {"Moss: 3", "Vik: 2"}),
        # Two flights of one season.
        (
            "How many seasons does each glider have?",
            {"Kite One: 2", "Falcon: 1", "Heron: 1", "Robin: 0", "Swallow: 0"},
        ),
        ("number of flights in sun per season", {"2022: 2", "2021: 1"}),
    ],
)
def test_values_of_a_column_have_a_number_each(
    service: Service, question: str, expected: set[str]
) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert result.answer is not None
    assert result.answer.kind is AnswerKind.GROUPS
    assert {each.text for each in result.answer.groups} == expected


@pytest.mark.parametrize(
    "question",
    [
        # No column is called so, or a word is not read.
        "How many gliders are there per engine?",
        "number of broken gliders per home",
        # Nobody counts metres: it may be a rate.
        "metres per season",
        "metres per glider",
        # Gliders lend nothing.
        "Who lent the glider with the most flights?",
    ],
)
def test_what_no_column_says_has_no_groups(service: Service, question: str) -> None:
    result = retrieve(service, question)
    assert result.status is not Status.OK
    assert result.answer is None


def test_the_groups_are_said_in_words(service: Service) -> None:
    result = retrieve(service, "How many gliders are there per number of berths?")
    assert result.interpretation is not None
    assert result.interpretation.text == (
        '"berths" that are "berths" of a glider, '
        'the greatest number of gliders whose "berths" it is first'
    )


def test_a_number_of_all_has_no_groups(service: Service) -> None:
    assert sure_answers(service, "How many gliders are there?") == {"5"}
