"""Names that differ by a letter from one of the graph: slips of the pen, and other names."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

COUNTRIES = """country,capital,currency,population
Ireland,Dublin,Euro,5300000
Portugal,Lisbon,Euro,10400000
Austria,Vienna,Euro,9000000
Zimbabwe,Harare,Dollar,16000000
"""
CITIES = """city,country,founded
Dublin,Ireland,841
Cork,Ireland,1185
Lisbon,Portugal,1147
Porto,Portugal,1123
"""

service = service_of({"countries": COUNTRIES, "cities": CITIES})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the capital of Portugual?", {"Lisbon"}),
        ("What is the capital of Zimbabve?", {"Harare"}),
        ("Which currency does Portugual use?", {"Euro"}),
    ],
)
def test_slips_of_the_pen_are_read(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Iceland?",
        "What is the capital of Australia?",
        "Which currency does Iceland use?",
        "How many people live in Iceland?",
        "Which cities are in Iceland?",
        "How many cities are in Iceland?",
        "Is Dublin the capital of Iceland?",
        "Is Iceland larger than Portugal?",
    ],
)
def test_a_word_of_the_language_is_another_name(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK
