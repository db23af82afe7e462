"""The status of what the graph does not say, told from that of what is not sure."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import load_graph

from graph_service import open_service
from graph_service.client.decode import _read
from graph_service.mcp.shapes import ADVICE
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import STATUS_TEXTS, PathsResult, Status, Strategy
from graph_service.model.shapes import parts_of
from graph_service.model.statement import Entity, make_statement
from graph_service.model.values import EntityValue
from graph_service.service import Service
from graph_service.settings import Settings
from graph_service.store.protocol import Store


def status_of(service: Service, question: str, **options: object) -> Status:
    request = RetrieveRequest(question, Strategy.PATHS, **options)  # type: ignore[arg-type]
    return service.retrieve(request).status


@pytest.mark.parametrize(
    "question",
    [
        # By the prior of relations: the demo has no place of birth at all.
        "Where was Arnold Schwarzenegger born?",
        # By the words of the label of a common relation.
        "What was the blood type of Jacqueline Kennedy Onassis?",
    ],
)
def test_a_relation_that_is_sure_and_has_no_statement_is_not_in_the_graph(
    demo_service: Service, question: str
) -> None:
    assert status_of(demo_service, question) is Status.NOT_IN_GRAPH
    result = demo_service.retrieve(RetrieveRequest(question, Strategy.PATHS))
    assert result.confidence is not None
    assert result.confidence < 0.05
    # An answer that is hardly sure gives way to it.
    assert status_of(demo_service, question, min_confidence=0.1) is Status.NOT_IN_GRAPH
    # What a caller leaves out may be in the graph.
    assert status_of(demo_service, question, exclude_relation_ids=("P40",)) is Status.LOW_CONFIDENCE


@pytest.mark.parametrize(
    "question",
    [
        # No relation of that name is known.
        "What is the shoe size of Maria Shriver?",
        "Who is the boss of Arnold Schwarzenegger?",
        # Two relations, of which the graph lacks neither.
        "Who is the brother of the mother of the husband of Maria Shriver?",
        # Yes or no is another question.
        "Was Arnold Schwarzenegger born in Graz?",
    ],
)
def test_what_is_not_sure_is_not_said_to_be_missing(demo_service: Service, question: str) -> None:
    assert status_of(demo_service, question) is not Status.NOT_IN_GRAPH


@pytest.mark.parametrize(
    "question", ["Who is Maria Shriver's husband?", "When was Maria Shriver born?"]
)
def test_what_the_graph_says_is_ok(demo_service: Service, question: str) -> None:
    assert status_of(demo_service, question) is Status.OK


def test_what_the_museum_of_a_painting_says_is_not_said_to_be_missing(
    tmp_store: Store, tmp_path: Path
) -> None:
    statements = [
        make_statement("clocks", "museum", EntityValue("casa")),
        make_statement("clocks", "artist", EntityValue("ibarra")),
        make_statement("stairs", "artist", EntityValue("ibarra")),
        make_statement("stairs", "city", EntityValue("bilbao")),
    ]
    city_of_museum = make_statement("casa", "city", EntityValue("bilbao"))
    labels = {
        "clocks": "The Clock Eaters", "casa": "Casa Ibarra", "ibarra": "Tomas Ibarra",
        "bilbao": "Bilbao", "stairs": "Blue Staircase", "museum": "museum", "artist": "artist", "city": "city",
    }  # fmt: skip
    entities = [Entity(id_, labels={"en": label}) for id_, label in labels.items()]
    load_graph(tmp_store, "near", [*statements, city_of_museum], entities)
    load_graph(tmp_store, "bare", statements, entities)
    settings = Settings(vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"))
    service = open_service(tmp_store, settings=settings)
    question = "In what city is The Clock Eaters?"
    assert status_of(service, question, graph="bare") is Status.NOT_IN_GRAPH
    assert status_of(service, question, graph="near") is not Status.NOT_IN_GRAPH


def test_every_status_has_its_texts() -> None:
    assert set(STATUS_TEXTS) == set(ADVICE) == set(Status)


def test_a_client_takes_a_status_that_it_does_not_know_for_a_doubt() -> None:
    (part,) = (each for each in parts_of(PathsResult) if each.name == "status")
    read = _read(part)
    assert read is not None
    assert read("NOT_IN_GRAPH") is Status.NOT_IN_GRAPH
    assert read("OF_A_NEWER_SERVER") is Status.LOW_CONFIDENCE
