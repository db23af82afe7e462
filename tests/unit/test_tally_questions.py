"""Counts and averages of each of some things, the first few, and the highest value itself (B13)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from table_service import answers, retrieve, table_service

from graph_service import Service
from graph_service.model.answer import AnswerKind
from graph_service.model.result import Status

PILOTS = """Pilot,Base,Salary,Hired
Edda Thorne,Bergen,71000 EUR,2009-04-01
Luis Prado,Porto,64000 EUR,2016-10-15
Mika Aalto,Bergen,59000 EUR,2020-01-07
Zoe Marsh,Porto,80000 EUR,2003-06-30
Finn Oder,Turku,52000 EUR,2022-02-01
"""
AIRCRAFT = """Aircraft,Model,Seats
Snow Goose,Dash 8,50
Tern,ATR 42,48
Grey Owl,Dash 8,50
"""
FLIGHTS = """Flight No,Pilot,Aircraft,Flight date,Landed on,Duration,Passengers
FL-1,Edda Thorne,Snow Goose,2023-03-01,2023-03-01,95,41
FL-2,Edda Thorne,Tern,2023-03-09,2023-03-09,60,20
FL-3,Luis Prado,Snow Goose,2023-12-31,2024-01-01,130,50
FL-4,Mika Aalto,Grey Owl,2024-02-02,2024-02-02,45,33
FL-5,Edda Thorne,Grey Owl,2024-02-03,2024-02-03,80,12
FL-6,Luis Prado,Snow Goose,2024-05-20,2024-05-20,100,44
FL-7,Zoe Marsh,Tern,2024-06-11,2024-06-11,70,18
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    tables = {"pilots": PILOTS, "aircraft": AIRCRAFT, "flights": FLIGHTS}
    with table_service(tmp_path_factory.mktemp("flights"), tables) as service:
        yield service


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which pilot has the most flights?", {"Edda Thorne"}),
        ("Which pilot made the most flights in 2024?",
         {"Edda Thorne", "Luis Prado", "Mika Aalto", "Zoe Marsh"}),
        ("Which pilot has the second most flights?", {"Luis Prado"}),
        ("Which pilot has the fewest flights?", {"Finn Oder"}),
        ("Which two pilots have the most flights?", {"Edda Thorne", "Luis Prado"}),
        ("Who flew most often?", {"Edda Thorne"}),
        ("Which aircraft has the highest number of flights?", {"Snow Goose"}),
        ("Top 2 pilots by number of flights", {"Edda Thorne", "Luis Prado"}),
        ("Which base has the most pilots?", {"Bergen", "Porto"}),
        ("Which base has the highest average salary?", {"Porto"}),
        ("Which aircraft has the most passengers on average?", set()),
        ("What is the highest salary?", {"80000 EUR"}),
        ("What is the lowest salary of the pilots in Bergen?", {"59000 EUR"}),
        ("What is the second highest salary?", {"71000 EUR"}),
        ("What is the longest duration?", {"130"}),
        ("Who are the two best paid pilots?", set()),
        ("Who is the best paid?", {"Zoe Marsh"}),
        ("Who has the lowest salary?", {"Finn Oder"}),
        ("Which three pilots have the highest salary?", {"Zoe Marsh", "Edda Thorne", "Luis Prado"}),
        ("Top 3 flights by passengers", {"FL-3", "FL-6", "FL-1"}),
        ("What are the last two flights?", {"FL-6", "FL-7"}),
        ("When was the first flight?", {"2023-03-01"}),
        ("How many flights were there in 2024?", {"4"}),
        ("Which pilot has the most passengers?", {"Luis Prado"}),
        ("Which aircraft had the longest duration?", {"Snow Goose"}),
        ("How many pilots do we have?", {"5"}),
        ("Which is our newest pilot?", set()),
        ("Does Edda Thorne earn more than 70000 euros?", {"yes"}),
        ("Does Edda Thorne earn less than 70000 euros?", {"no"}),
        ("Was Edda Thorne hired before 2010?", {"yes"}),
        ("Did Edda Thorne land before 2010?", set()),
        ("Does the Tern have more than 48 seats?", {"no"}),
        ("How many times did Edda Thorne fly the Tern?", set()),
        ("What is the salary of the best paid pilot?", set()),
        ("What is the duration of the longest flight?", {"130"}),
        ("Who is the pilot of the shortest flight?", set()),
        ("How many pilots are older than 50?", set()),
        ("How often did Edda Thorne arrive in the Tern?", set()),
    ],
)  # fmt: skip
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    result = retrieve(service, question)
    if not expected:
        # No wrong answer, at least.
        assert result.status is not Status.OK
        return
    assert result.status is Status.OK
    assert answers(result) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many flights does each pilot have?",
         "Edda Thorne: 3; Luis Prado: 2; Mika Aalto: 1; Zoe Marsh: 1; Finn Oder: 0"),
        ("How many flights are there per aircraft in 2023?",
         "Snow Goose: 2; Tern: 1; Grey Owl: 0"),
        ("What is the average salary per base?",
         "Porto: 72000 EUR; Bergen: 65000 EUR; Turku: 52000 EUR"),
        ("Number of pilots by base", "Bergen: 2; Porto: 2; Turku: 1"),
    ],
)  # fmt: skip
def test_a_number_of_each(service: Service, question: str, expected: str) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert result.answer is not None
    assert result.answer.kind is AnswerKind.GROUPS
    rows = result.answer.value.split("; ")
    assert sorted(rows) == sorted(expected.split("; "))
    groups = result.answer.groups
    assert [group.text for group in groups] == rows
    assert [group.entity for group in groups] == [*result.answer.entities]
    assert all(group.value.isdecimal() for group in groups)
    assert result.answer.statements > 0


def test_a_claim_that_is_false_shows_the_value(service: Service) -> None:
    result = retrieve(service, "Does the Tern have more than 48 seats?")
    assert result.interpretation is not None
    assert result.interpretation.text == 'whether the "seats" of Tern is over 48'
    (path,) = result.items
    assert path.steps[0].triple.value_label == "48"


@pytest.mark.parametrize(
    "question",
    [
        "How many flights does each runway have?",
        "What is the average age per base?",
        "Which pilot cancelled the most flights?",
        "Which pilot has the most flights per year?",
        "How many delayed flights does each pilot have?",
        "How many customers did Edda Thorne fly?",
        "How many mechanics repaired the Tern?",
        "Who won the Tern?",
        "Which aircraft did Edda Thorne cancel?",
        "What is the best duration of the Tern?",
        "What is the median salary?",
        "What share of the flights were flown by Edda Thorne?",
        "What percentage of pilots are based in Porto?",
    ],
)
def test_what_is_not_read_is_not_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK
