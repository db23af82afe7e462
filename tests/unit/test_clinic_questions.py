"""Questions about things by a value that they have, and by rows that are about them (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status
from graph_service.retrieve.classes.question_text import calls_things

PATIENTS = """Patient,Species,Owner,Born,Weight (kg),Neutered,Floors
Bella,dog,Maria Lopez,2018-04-02,28.5,yes,1
Rocky,dog,John Petersen,2015-11-20,31.2,no,1
Minka,cat,Maria Lopez,2020-01-15,4.1,no,2
Tiger,cat,Ingrid Olsen,2012-06-30,5.6,yes,2
Coco,parrot,Paul Meier,2009-09-09,0.45,no,9
"""
OWNERS = """Owner,City
Maria Lopez,Springfield
John Petersen,Riverton
Ingrid Olsen,Springfield
Paul Meier,Lakeside
"""
VISITS = """Visit,Patient,Date,Diagnosis,Room,Fee,Paid,Status,Closed
V001,Bella,2024-01-12,allergy,North Room,45 EUR,yes,closed,2024-05-01
V002,Rocky,2024-01-15,arthritis,South Room,120 EUR,yes,closed,2024-01-20
V003,Tiger,2024-02-03,kidney disease,South Room,210 EUR,no,open,
V004,Bella,2024-03-18,allergy,North Room,65 EUR,no,open,
V005,Tiger,2024-04-20,kidney disease,North Room,95 EUR,yes,closed,2024-04-22
"""
ROOMS = """Room,Floors,Beds
North Room,4,2
South Room,1,3
"""


service = service_of({"patients": PATIENTS, "owners": OWNERS, "visits": VISITS, "rooms": ROOMS})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("Which dog is the heaviest?", {"Rocky"}, id="a value names the things"),
        pytest.param("How many cats are there?", {"2"}, id="and is counted"),
        pytest.param("Which dogs are not neutered?", {"Rocky"}, id="with a flag"),
        pytest.param("Who is the youngest cat?", {"Minka"}, id="after a degree"),
        pytest.param("Who owns a parrot?", {"Paul Meier"}, id="one of them, and a further step"),
        pytest.param("How many visits are unpaid?", {"2"}, id="un- before a flag"),
        pytest.param("When was Bella's last visit?", {"2024-03-18"}, id="when asks for the date"),
        pytest.param("When was the last visit?", {"2024-04-20"}, id="of all"),
        pytest.param("Which visit was closed last?", {"V001"}, id="by the day when it was"),
        pytest.param("Which visit was the cheapest?", {"V001"}, id="the one column of money"),
        pytest.param("Which visits cost more than 100 euros?", {"V002", "V003"}, id="of a currency"),
        pytest.param("Which patients have kidney disease?", {"Tiger"}, id="by their visits"),
        pytest.param("Which patients from Springfield weigh over 5 kg?", {"Bella", "Tiger"},
                     id="by the city of their owner"),
        pytest.param("How many visits are in North Room?", {"3"}, id="no number of its floors"),
        pytest.param("How many beds does North Room have?", {"2"}, id="the number that is said"),
    ],
)  # fmt: skip
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Who has not paid?", id="visits are no people"),
        pytest.param("Who treated Rocky?", id="nobody by a visit"),
        pytest.param("What is a parrot?", id="no list of parrots"),
        pytest.param("Which horse is the heaviest?", id="nothing has the value"),
        pytest.param("Which dog has the most visits?", id="a word that nothing takes up"),
        pytest.param("How tall is Bella?", id="kilograms say no height"),
    ],
)
def test_what_is_not_answered(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_what_rows_say_of_a_thing_is_in_the_graph(service: Service) -> None:
    assert retrieve(service, "What was the fee of Tiger?").status is Status.LOW_CONFIDENCE
    assert retrieve(service, "What is the city of North Room?").status is Status.NOT_IN_GRAPH


def test_the_reading_is_said_in_words(service: Service) -> None:
    result = retrieve(service, "Which patients have kidney disease?")
    assert result.interpretation is not None
    expected = "patients that are the patient of something whose diagnosis is kidney disease"
    assert result.interpretation.text == expected
    result = retrieve(service, "Which dog is the heaviest?")
    assert result.interpretation is not None
    assert result.interpretation.text == "the heaviest of those whose species is dog"


@pytest.mark.parametrize(
    ("question", "name", "calls"),
    [
        ("List all the dogs", "dogs", True),
        ("Who is the manager?", "manager", True),
        ("Who is the manager of Ann?", "manager", False),
        ("Which of the dogs bark?", "dogs", True),
        ("Is Rex a dog?", "dog", False),
        ("Where do dogs live?", "dogs", False),
    ],
)
def test_which_names_call_the_things(question: str, name: str, calls: bool) -> None:
    start = question.index(name)
    assert calls_things(question, (start, start + len(name))) is calls
