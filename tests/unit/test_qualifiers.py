"""What narrows a question is read, or the answer is doubted; what it leaves out is left out."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

service = service_of(
    {
        "plays": """Play,Author,Director,Premiere,Venue
The Glass Orchard,Nora Feld,Ivo Stanek,2009-03-14,Lantern House
Ashes at Noon,Nora Feld,Carla Menz,2015-10-02,Lantern House
Three Quiet Men,Pavel Horn,Ivo Stanek,2012-05-20,Mill Stage
The Clockmaker,Pavel Horn,Ben Adeyemi,2021-01-30,Old Brewery
""",
        "flats": """Flat,Owner,Rooms,Built
Mill Lane 1,Edith Dahl,2,1965
Mill Lane 2,Edith Dahl,4,1965
Castle Row 9,Noor Haddad,5,1907
Harbour View 3,Noor Haddad,3,1998
""",
        "tenancies": """Tenancy,Flat,Tenant
T1,Mill Lane 1,Alice Rowe
T2,Castle Row 9,Bo Nilsen
""",
    }
)


@pytest.mark.parametrize(
    "question",
    [
        "Which plays has Pavel Horn written alone?",
        "who directed The Clockmaker in German?",
        "who previously directed The Clockmaker?",
        "who co-wrote The Clockmaker?",
        "who is the second director of The Clockmaker?",
        "how many comedies did Pavel Horn write?",
        "which rainy plays did Pavel Horn write?",
        "which plays did Pavel Horn write before 700?",
    ],
)
def test_a_qualifier_that_nothing_reads_is_doubted(service: Service, question: str) -> None:
    assert retrieve(service, question).status is Status.LOW_CONFIDENCE


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which plays did Pavel Horn write?", "The Clockmaker, Three Quiet Men"),
        ("who directed The Clockmaker?", "Ben Adeyemi"),
        ("which plays did Pavel Horn write after 2015?", "The Clockmaker"),
        ("which plays did Pavel Horn write after 700?", "The Clockmaker, Three Quiet Men"),
        ("plays by Pavel Horn except The Clockmaker", "Three Quiet Men"),
        ("plays at Lantern House except Ashes at Noon", "The Glass Orchard"),
        ("flats built before 1970 except Mill Lane 1", "Castle Row 9, Mill Lane 2"),
        ("flats owned by Edith Dahl except Mill Lane 1", "Mill Lane 2"),
    ],
)
def test_what_is_read_is_answered(service: Service, question: str, answer: str) -> None:
    result = retrieve(service, question)
    assert result.answer is not None
    assert result.status is Status.OK
    assert sorted(entity.label for entity in result.answer.entities) == answer.split(", ")


@pytest.mark.parametrize(
    "question",
    ["did Edith Dahl sell Mill Lane 1?", "flats sold by Edith Dahl", "flats renovated before 1970"],
)
def test_yes_or_no_and_classes_hear_another_verb(service: Service, question: str) -> None:
    assert retrieve(service, question).status is Status.LOW_CONFIDENCE
