"""A verb that says no relation walked is doubted, where the relation is named by another verb."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status
from graph_service.retrieve.learned.confidence import DOUBTED

ships = service_of(
    {
        "ships": """Ship,Owner,Builder,Captain,Launched,Home port
Meridian Rose,Halden Lines,Storvik,Oskar Thune,1998,Bergen
Grey Heron,Pell & Sons,Storvik,Mila Aro,2004,Turku
Saltwind,Pell & Sons,Mercer Dock,Jonas Brack,2011,Hull
""",
        "captains": """Captain,Born,Retired,Teacher
Oskar Thune,1961,2019,Ada Lunde
Mila Aro,1970,,Ada Lunde
Jonas Brack,1968,2021,Rolf Eng
""",
    }
)
plays = service_of(
    {
        "plays": """Play,Author,Director,Premiere,Venue
The Glass Orchard,Nora Feld,Ivo Stanek,2009-03-14,Lantern House
Three Quiet Men,Pavel Horn,Carla Menz,2012-05-20,Mill Stage
The Clockmaker,Pavel Horn,Ben Adeyemi,2021-01-30,Old Brewery
""",
        "wars": """War,Won by,Lost by,Started,Ended
Salt War,Ama Torrin,Rok Velden,1711,
Crown War,Rok Velden,Ama Torrin,1718,1720
War of the Fords,Hal Torrin,Rok Velden,1690,1694
""",
    }
)


@pytest.mark.parametrize(
    "question",
    [
        "who bought the Meridian Rose?",
        "who repaired the Grey Heron?",
        "when was the Saltwind rebuilt?",
        "when did Mila Aro die?",
    ],
)
def test_a_verb_beside_a_relation_of_another_verb_is_doubted(ships: Service, question: str) -> None:
    result = retrieve(ships, question)
    assert result.status is Status.LOW_CONFIDENCE
    assert result.confidence is not None
    assert result.confidence <= DOUBTED


@pytest.mark.parametrize(
    "question",
    [
        "who translated Three Quiet Men?",
        "who reviewed The Glass Orchard?",
        "which wars did Hal Torrin lose?",
        "when did the Salt War end?",
        "which plays did Carla Menz write?",
        "which plays did Nora Feld reject?",
    ],
)
def test_neither_likeness_nor_unknown_words_answer_for_a_verb(
    plays: Service, question: str
) -> None:
    assert retrieve(plays, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who owns the Grey Heron?", "Pell & Sons"),
        ("who built the Saltwind?", "Mercer Dock"),
        ("who skippers the Saltwind?", "Jonas Brack"),
        ("when was the Saltwind launched?", "2011"),
        ("when did Jonas Brack retire?", "2021"),
        ("who taught Mila Aro?", "Ada Lunde"),
    ],
)
def test_a_verb_of_the_name_of_a_relation_is_read_in_each_form(
    ships: Service, question: str, answer: str
) -> None:
    result = retrieve(ships, question)
    assert result.answer is not None
    assert (result.status, result.answer.value) == (Status.OK, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who wrote The Clockmaker?", "Pavel Horn"),
        ("where was The Clockmaker performed?", "Old Brewery"),
        ("who lost the Crown War?", "Ama Torrin"),
        ("which wars did Rok Velden win?", "Crown War"),
    ],
)
def test_other_verbs_for_a_relation_without_one_are_read(
    plays: Service, question: str, answer: str
) -> None:
    result = retrieve(plays, question)
    assert result.answer is not None
    assert (result.status, result.answer.value) == (Status.OK, answer)
