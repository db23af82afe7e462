"""A text such as *12.4 km* is a number of a unit, in a graph that has no types of values."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status
from graph_service.model.values import EntityValue, StringValue
from graph_service.query.readings import amount_of

TABLES = {
    "caves": """head,relation,tail
Hollow Deep,is a,cave
Marl Pot,is a,cave
Otter Sink,is a,cave
Hollow Deep,has depth,211 m
Marl Pot,has depth,94 m
Otter Sink,has depth,58 m
Hollow Deep,has length,12.4 km
Marl Pot,has length,3.9 km
Otter Sink,has length,600 m
Hollow Deep,lies under,Carrow Fell
Otter Sink,lies under,Bleak Hill
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the deepest cave?", {"Hollow Deep"}),
        ("Which cave is the shallowest?", {"Otter Sink"}),
        ("Which caves are deeper than 60 m?", {"Hollow Deep", "Marl Pot"}),
        ("How many caves are shallower than 100 metres?", {"2"}),
        ("Is Marl Pot deeper than Hollow Deep?", {"no"}),
        ("How long is Hollow Deep?", {"12.4 km"}),
        ("What is the average depth of the caves?", {"121"}),
        ("Which cave is the longest?", {"Hollow Deep"}),
    ],
)
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question", ["Which cave is the shortest?", "Which caves are longer than 0.5 km?"]
)
def test_values_in_other_units_leave_an_answer_open(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_only_units_make_a_text_a_number() -> None:
    assert amount_of(StringValue("12 Monkeys")) is None
    assert amount_of(StringValue("12 km", "external-id")) is None
    measured = amount_of(EntityValue("1.5 EUR"))
    assert measured is not None
    assert (str(measured.number), measured.unit) == ("1.5", "EUR")
