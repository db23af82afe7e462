"""What a question asks for is not answered by another kind of thing, location, date or degree."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "films": """Name,Cast member,Characters,Voice actor,Series
Otter Wars,Ada Moor; Bo Lind,Captain Vane,Cy Falk; Dan Roe,Otter Saga
Otter Wars II,Ada Moor,Captain Vane; Mira,Cy Falk,Otter Saga
Harbour Lights,Bo Lind,Mira,Dan Roe,
""",
    "albums": """Name,Performer,Publication date
Low Tide,Ada Moor,2012-01-27
High Tide,Ada Moor,2014-06-13
""",
    "songs": """Name,Performer
Salt,Ada Moor
Rope,Ada Moor
""",
    "animals": """Name,Habitat
Norvian otter,Norvia
""",
    "people": """Name,Position held,Date of birth,Residence,Member of
Ada Moor,Harbour Master,1961-04-03,Suland,The Tides
Bo Lind,Harbour Master,1948-09-12,Suland,
Dan Roe,Harbour Master,1955-02-01,Norvia,
""",
    "towns": """Name,Country
Saltwick,Ostmark
Kelmouth,Ostmark
""",
    "wars": """Name,End time,Location
Salt War,1945-09-02,Norvia
Rope War,1951-03-04,Suland
""",
    "countries": """Name,Population,Shares border with,Country,Currency,Continent,Embassy,Water,Founded
Norvia,5000000,Suland,Ostmark,Krone; Pfund,Africa,,Grey Sea,1905-06-07
Suland,9000000,Norvia,Ostmark,Krone,Europe,Africa,Blue Sea,1830-02-03
Ostmark,7000000,,,Pfund,Africa,,Grey Sea,1815-05-06
Westria,4000000,,,Krone,Africa,,Grey Sea,1815-05-06
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    "question",
    [
        "Which country does Ostmark belong to?",  # no town
        "Who did Ada Moor play in Otter Wars?",  # no film
        "Which film character did Bo Lind play?",
        "Who voices Captain Vane?",  # not each voice of the films
        "Which animals live in Suland?",  # no residents
        "How many years did the Salt War last?",  # no date
        "What currency did Norvia use before the Krone?",
        "Who was the first Harbour Master?",  # not the oldest
        "Which is the largest country?",  # not the most populous
    ],
)
def test_another_kind_is_not_sure(service: Service, question: str) -> None:
    result = retrieve(service, question)
    assert result.status is not Status.OK, (result.answer, result.interpretation)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which countries in Africa use the Krone?", {"Norvia", "Westria"}),
        ("Which countries border Norvia?", {"Suland"}),
        ("When did the Salt War end?", {"1945-09-02"}),
        ("Which country has the largest population?", {"Suland"}),
        ("Who was born first, Ada Moor or Bo Lind?", {"Bo Lind"}),
        ("Who acted in Harbour Lights?", {"Bo Lind"}),
    ],
)
def test_what_is_meant_is_sure(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected
