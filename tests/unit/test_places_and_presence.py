"""Where something was done, and whether somebody has any of something (B13)."""

from __future__ import annotations

import pytest
from demo_graph import request
from table_service import answers, retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status, Strategy

BOOKS = """Book,Publisher,Printed in,Author
Grey Harbour,Kestrel Press,Oslo,Ann Moe
Salt Lane,Kestrel Press,Bergen,Bo Lind
Night Ferry,Heron House,Oslo,Ann Moe
"""
service = service_of({"books": BOOKS})


@pytest.mark.parametrize(
    "question", ["Where was Grey Harbour published?", "where was night ferry published"]
)
def test_who_published_is_no_place(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_a_place_of_the_verb_is_answered(service: Service) -> None:
    result = retrieve(service, "Where was Grey Harbour printed?")
    assert (result.status, answers(result)) == (Status.OK, {"Oslo"})


@pytest.mark.parametrize(
    "question", ["where was True Lies filmed", "Where was Total Recall filmed?"]
)
def test_the_country_of_a_film_is_not_where_it_was_filmed(
    demo_service: Service, question: str
) -> None:
    assert demo_service.retrieve(request(question, Strategy.PATHS)).status is not Status.OK


@pytest.mark.parametrize(
    "question",
    [
        "Has John F. Kennedy won an award?",
        "did ted kennedy ever win an award?",
        "Does Maria Shriver have any siblings?",
        "Does Rory Kennedy have a job?",
    ],
)
def test_whether_there_is_any_is_answered_with_yes(demo_service: Service, question: str) -> None:
    result = demo_service.retrieve(request(question, Strategy.PATHS))
    assert result.status is Status.OK
    assert result.answer is not None
    assert result.answer.value == "yes"


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Has John F. Kennedy won a Nobel Prize?", id="a certain one"),
        pytest.param("Did JFK win an Oscar?", id="another word"),
        pytest.param("Has Arnold Schwarzenegger won an award?", id="none, which is no no"),
    ],
)
def test_what_is_not_known_is_no_yes(demo_service: Service, question: str) -> None:
    result = demo_service.retrieve(request(question, Strategy.PATHS))
    assert result.answer is None or result.answer.value != "yes"


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("In which state was Maria Shriver born?", id="a city is no state"),
        pytest.param(
            "In which city is the university where the mother of Katherine Schwarzenegger studied?",
            id="a university is no city",
        ),
        pytest.param("In which city did Maria Shriver study?", id="nor is hers"),
        pytest.param("In which county is Brookline?", id="a state may be no county"),
        pytest.param(
            "In which hospital did Jacqueline Kennedy Onassis die?", id="a city is no hospital"
        ),
        pytest.param("Who is Maria Shriver's sister?", id="brothers are no sisters"),
        pytest.param("Who is John F. Kennedy's husband?", id="a wife is no husband"),
        pytest.param("In which country was Arnold Schwarzenegger born?", id="no citizenship"),
        pytest.param(
            "Who are the parents of Arnold Schwarzenegger's wife?", id="a father is one of two"
        ),
    ],
)
def test_another_kind_of_place_or_one_of_two_is_not_sure(
    demo_service: Service, question: str
) -> None:
    assert demo_service.retrieve(request(question, Strategy.PATHS)).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("In which city was John F. Kennedy Jr. born?", {"Washington, D.C."}),
        ("What state was John F. Kennedy born in?", {"Massachusetts"}),
        ("In which state is Brookline?", {"Massachusetts"}),
        ("Which country is Cambridge in?", {"United States of America"}),
        ("Who is a parent of Maria Shriver?", {"Sargent Shriver", "Eunice Kennedy Shriver"}),
        ("Whose daughter is Katherine Schwarzenegger?", {"Arnold Schwarzenegger", "Maria Shriver"}),
        ("At which university did Maria Shriver study?", {"Georgetown University"}),
    ],
)
def test_the_kind_of_place_that_is_meant_is_answered(
    demo_service: Service, question: str, expected: set[str]
) -> None:
    result = retrieve(demo_service, question)
    assert (result.status, answers(result)) == (Status.OK, expected)
