"""Averages and totals that people ask of tables: what is answered, and what is refused (B12)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.answer import AnswerKind, AnswerMeasure
from graph_service.model.result import Status

TABLES = {
    "vans": """Van,Depot,Type,Payload (kg),Bought,Electric
V-01,Northgate,box van,1200,2019-03-04,no
V-02,Northgate,pickup,850.5,2021-07-12,no
V-03,Quayside,box van,1400,2023-01-30,yes
V-04,Quayside,pickup,,2020-05-19,no
""",
    "repairs": """Repair,Van,Garage,Date,Cost (EUR),Hours
R-1,V-01,Hilltop Motors,2024-01-09,420.00,3
R-2,V-01,Speedy Fix,2024-02-20,80.50,1
R-3,V-03,Hilltop Motors,2024-03-05,150.00,2
R-4,V-02,Speedy Fix,2024-03-29,80.50,1
R-5,V-04,Hilltop Motors,2024-04-02,,4
""",
    "depots": """Depot,Manager,Staff,Yearly rent
Northgate,Ilse Berg,12,"18,000 EUR"
Quayside,Omar Sayed,7,"21,500 USD"
""",
}


service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "kind", "value", "measure"),
    [
        (
            "What is the average payload of the vans?",
            AnswerKind.AVERAGE,
            "1150.1667",
            AnswerMeasure("kg", 3, 1),
        ),
        # Of two repairs for one price both count.
        (
            "What is the total cost of the repairs?",
            AnswerKind.TOTAL,
            "731",
            AnswerMeasure("EUR", 4, 1),
        ),
        ("What is the average cost?", AnswerKind.AVERAGE, "182.75", AnswerMeasure("EUR", 4, 1)),
        (
            "How much did the repairs cost on average?",
            AnswerKind.AVERAGE,
            "182.75",
            AnswerMeasure("EUR", 4, 1),
        ),
        (
            "How much do we pay for repairs in total?",
            AnswerKind.TOTAL,
            "731",
            AnswerMeasure("EUR", 4, 1),
        ),
        (
            "What is the total cost of the repairs by Hilltop Motors?",
            AnswerKind.TOTAL,
            "570",
            AnswerMeasure("EUR", 2, 1),
        ),
        (
            "What is the average payload of the box vans?",
            AnswerKind.AVERAGE,
            "1300",
            AnswerMeasure("kg", 2, 0),
        ),
        (
            "How many hours of repairs did Hilltop Motors do in total?",
            AnswerKind.TOTAL,
            "9",
            AnswerMeasure(None, 3, 0),
        ),
        (
            "What is the total cost of the repairs in March 2024?",
            AnswerKind.TOTAL,
            "230.5",
            AnswerMeasure("EUR", 2, 0),
        ),
    ],
)
def test_numbers_are_averaged_and_added_up(
    service: Service, question: str, kind: AnswerKind, value: str, measure: AnswerMeasure
) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert result.answer is not None
    assert (result.answer.kind, result.answer.value) == (kind, value)
    assert result.answer.measure == measure
    # The statements of the numbers are cited.
    numbers = {row.triple.statement_id for row in result.answer.basis}
    assert len(numbers) >= measure.values


def test_the_text_tells_of_how_many_numbers_it_is(service: Service) -> None:
    answer = retrieve(service, "What is the average payload of the vans?").answer
    assert answer is not None
    assert answer.text == "1150.1667 kg (average of 3; 1 has none)"
    assert answer.values == ("1150.1667",)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        # Repairs without a cost count for nothing.
        ("What is the average cost per garage?", "Hilltop Motors: 285 EUR; Speedy Fix: 80.5 EUR"),
        ("What is the average payload of each depot?", "Quayside: 1400 kg; Northgate: 1025.25 kg"),
        ("Which depot has the highest average payload?", "Quayside"),
    ],
)
def test_averages_of_groups(service: Service, question: str, value: str) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert result.answer is not None
    assert result.answer.value == value


def test_the_query_is_said_in_words_and_in_cypher(service: Service) -> None:
    read = retrieve(service, "What is the average payload of the vans?").interpretation
    assert read is not None
    assert read.text == "the average payload of vans"
    assert "avg(number)" in read.cypher


@pytest.mark.parametrize(
    "question",
    [
        # Euros and dollars are not added up.
        "What is the total yearly rent of the depots?",
        "What is the average yearly rent?",
        # No table has it.
        "What is the average mileage of the vans?",
        "What is the total profit?",
        # What no number is cannot be added up.
        "What is the average manager of the depots?",
        "What is the median payload of the vans?",
    ],
)
def test_what_has_no_average_or_total_is_refused(service: Service, question: str) -> None:
    result = retrieve(service, question)
    assert result.status is not Status.OK
    assert result.answer is None


def test_a_count_is_no_total(service: Service) -> None:
    answer = retrieve(service, "How many vans are there in total?").answer
    assert answer is not None
    assert (answer.kind, answer.value, answer.measure) == (AnswerKind.COUNT, "4", None)


def test_numbers_are_added_up_and_not_counted(service: Service) -> None:
    """Two repairs took an hour each."""
    answer = retrieve(service, "How many hours at Speedy Fix were there?").answer
    assert answer is not None
    assert (answer.kind, answer.value) == (AnswerKind.TOTAL, "2")
