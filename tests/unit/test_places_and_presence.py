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
