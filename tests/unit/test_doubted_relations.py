"""Answers by the nearest relation, where the question says another one (B13)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from table_service import answers, retrieve, service_of

from graph_service import Service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Status, Strategy
from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.judging import CandidateJudge
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.said_labels import walks_the_noun_of_its_name
from graph_service.text.fold import word_spans
from graph_service.text.question_form import read_form

MEMBERS = """Member,Club,Leads
Uma Falk,Chess Circle,
Ned Orr,Rowing Crew,
Ivo Lang,Chess Circle,Chess
Mia Sand,Rowing Crew,Rowing
"""
PEAKS = """Peak,Altitude,Climbed by
Grey Horn,3120 m,Uma Falk
Blue Tooth,2480 m,Ned Orr
White Cap,3990 m,Ned Orr
"""
GAMES = """Game,Designer,Playing time
Copper Lane,Mia Sand,45
Nine Locks,Ivo Lang,60
Salt Road,Mia Sand,90
"""
service = service_of({"members": MEMBERS, "peaks": PEAKS, "games": GAMES})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the highest peak?", {"White Cap"}),
        ("highest peak", {"White Cap"}),
        ("Which peak is the lowest?", {"Blue Tooth"}),
    ],
)
def test_the_highest_is_that_of_the_greatest_altitude(
    service: Service, question: str, expected: set[str]
) -> None:
    result = retrieve(service, question)
    assert answers(result) == expected
    assert result.status is Status.OK


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Who leads the Chess Circle?", id="a verb that names another relation"),
        pytest.param("Who led the Chess Circle?", id="a past tense of it"),
        pytest.param("How many times was Nine Locks played?", id="times are no time"),
    ],
)
def test_another_relation_is_not_answered_for_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def judged(question: str, name: str, *labels: str) -> tuple[CandidateJudge, CandidateWalks]:
    """Returns a judge of a question, and walks of some relations from what a name of it is of."""
    start = question.index(name)
    span = (start, start + len(name))
    judge = SimpleNamespace(
        question=question,
        form=read_form(question),
        span=lambda _: span,
        texts=dict(enumerate(labels)),
        own_words=[each for each in word_spans(question) if not overlap(each[1:], span)],
    )
    walks = SimpleNamespace(relations=tuple(range(len(labels))))
    return cast(CandidateJudge, judge), cast(CandidateWalks, walks)


@pytest.mark.parametrize(
    ("question", "labels", "expected"),
    [
        ("Who proposed the motion Lower Fees?", ("proposed by", "motion"), True),
        ("Who proposed the motion to Lower Fees?", ("proposed by", "motion"), True),
        ("Who proposed the motion Lower Fees?", ("motion", "proposed by"), False),
        ("Who opposed a motion after the motion Lower Fees?", ("opposed by", "motion"), False),
        ("Which motion followed the motion Lower Fees?", ("proposed by", "motion"), False),
        ("Who proposed the motion Lower Fees?", ("motion",), False),
        ("Who is the mother of Lower Fees?", ("spouse", "mother"), False),
    ],
)
def test_the_noun_of_a_name_is_no_step_to_people(
    question: str, labels: tuple[str, ...], expected: bool
) -> None:
    assert walks_the_noun_of_its_name(*judged(question, "Lower Fees", *labels)) is expected


def test_others_leave_out_what_was_spoken_of(service: Service) -> None:
    request = RetrieveRequest(
        "and which other games did she design?",
        Strategy.PATHS,
        earlier=("Who designed Copper Lane?",),
    )
    result = service.retrieve(request)
    assert result.status is Status.OK
    assert result.answer is not None
    assert result.answer.value == "Salt Road"


CONCERTS = """Concert,Tickets sold
Winter Light,208
Spring Song,164
Harvest,free entry
"""
DEVICES = """Device,Kind,Warranty until,Status
D-1,laptop,2025-05-16,in use
D-2,printer,2026-02-02,repair
"""
columns = service_of({"concerts": CONCERTS, "devices": DEVICES})


def test_a_remark_in_the_place_of_a_number_is_not_counted(columns: Service) -> None:
    assert answers(retrieve(columns, "How many tickets were sold for Winter Light?")) == {"208"}
    result = retrieve(columns, "How many tickets were sold for Harvest?")
    assert result.status is not Status.OK


def test_things_that_are_listed_are_not_left_for_their_values(columns: Service) -> None:
    result = retrieve(columns, "devices in repair")
    assert result.status is not Status.OK or answers(result) == {"D-2"}
