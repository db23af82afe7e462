"""What a verb right before *first* or *last* orders by (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

BOATS = """Sail No,Boat,Skipper,Length (m),Built
NOR 12,Havørn,Ida Vik,8.0,2004
SWE 7,Lillan,Per Ek,7.68,1968
DEN 33,Maage,Bo Krag,8.0,2010
GER 5,Welle,Uta Rau,8.9,1995
"""
RACES = """Race,Sail No,Place,Finish
R1,NOR 12,1,13:05
R1,SWE 7,2,13:22
R1,DEN 33,3,13:40
R2,DEN 33,1,12:58
R2,NOR 12,2,13:01
R2,GER 5,3,13:19
"""

service = service_of({"boats": BOATS, "races": RACES})


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Which boat was built first?", {"Lillan"}), ("Which boat was built last?", {"Maage"})],
)
def test_a_verb_of_making_orders_by_the_year_of_it(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question", ["Which boat finished first in R2?", "Which boat arrived last in R1?"]
)
def test_another_verb_does_not(service: Service, question: str) -> None:
    """Welle was built first of the boats of R2, and it finished last."""
    assert retrieve(service, question).status is not Status.OK
