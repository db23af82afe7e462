"""A candidate that may misread the question is doubted, and the doubt has a name."""

from __future__ import annotations

import pytest
from film_graph import TellsWays
from table_service import answers, retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status
from graph_service.retrieve.constraints import choosing
from graph_service.retrieve.constraints.doubts import (
    AGAINST_WORDING,
    DOUBTS,
    UNSAID,
    first_doubt,
)
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.learned.confidence import DOUBTED

TABLES = {
    "people": """Name,Mother,Teacher,Boss,Blood type,Wife
Rose Hill,Ida Falk,Bo Lind,Per Holm,A,Ann Berg
Ida Falk,Ann Berg,Ole Dahl,Bo Lind,B,
Ann Berg,Eva Moe,Ida Falk,Ole Dahl,AB,
Bo Lind,Eva Moe,Per Holm,Ole Dahl,,Ida Falk
Per Holm,Ida Falk,Ole Dahl,Ann Berg,A,Eva Moe
Ole Dahl,Eva Moe,Bo Lind,Ida Falk,B,
Eva Moe,Ann Berg,Per Holm,Rose Hill,A,
""",
    "singers": """Name,Place of birth
Tove Lake,Kelmouth
Jon Ferry,Saltwick
""",
}


service = service_of(TABLES)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the list that the names of doubts are added to."""
    names: list[str] = []

    def note(judge: CandidateJudge, best: JudgedCandidate, /, *, is_plain: bool) -> str:
        names.append(first_doubt(judge, best, is_plain=is_plain))
        return names[-1]

    monkeypatch.setattr(choosing, "first_doubt", note)
    return names


def test_the_names_of_doubts_differ() -> None:
    assert len({doubt.name for doubt in DOUBTS}) == len(DOUBTS)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the grandmother of Rose Hill?", "other kin"),
        ("Who is the son of Rose Hill?", "the other side of kin"),
        ("Who is the child of Ida Falk?", "the other side of kin"),
        ("Who is the son of Rose Hill's mother?", "the other side of kin"),
        ("Who is the grandchild of Rose Hill?", "other kin"),
        ("How tall is Rose Hill?", "another kind of value"),
        ("When is the teacher of Rose Hill?", "another kind of value"),
        ("Who does Eva Moe boss?", "the other side of a verb"),
        ("Who is the lawyer of Rose Hill?", "another relation is named"),
        ("Who is not the teacher of Rose Hill?", "a negation that is not read"),
        ("Who is older than Rose Hill by 10?", "a comparison that is not read"),
        ("How many dogs does Rose Hill have?", "another noun is counted"),
        ("Who is Rose Hill's boss's boss's boss's boss?", "a step said more often"),
        ("What was the blood type of Bo Lind?", "a step unsaid"),
        ("What does Rose Hill eat?", "all steps unsaid"),
        ("Who is the teacher of Rose Hill that nobody likes?", "a qualifier that is not read"),
        ("Who should be the teacher of Rose Hill?", "what should be"),
    ],
)
def test_a_doubt_is_named(service: Service, names: list[str], question: str, expected: str) -> None:
    result = retrieve(service, question)
    assert result.status is Status.LOW_CONFIDENCE
    assert result.confidence is not None
    assert result.confidence <= DOUBTED
    assert names == [expected]


def test_what_is_read_is_not_doubted(service: Service, names: list[str]) -> None:
    for question in (
        "Who is the teacher of Rose Hill's teacher's teacher?",
        "Who is the mother of Rose Hill's mother?",
        "Whose mother is Ida Falk?",
    ):
        assert retrieve(service, question).status is Status.OK, question
    assert not any(names)


games = service_of(
    {
        "games": """Game,Designer,Publisher,Year published
Ember Court,Agnes Moor,Lantern,2010
Nine Bridges,Rui Sa,Lantern,2019
Paper Zeppelins,Agnes Moor,Otter,2003
Salt Road,Ada Finch,Otter,2019
"""
    }
)


undated = service_of(
    {
        "games": """Game,Designer,Publisher
Ember Court,Agnes Moor,Lantern
Nine Bridges,Rui Sa,Lantern
Paper Zeppelins,Agnes Moor,Otter
"""
    }
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which game did Agnes Moor design in 2019?", "a date that nothing meets"),
        ("What did Agnes Moor design after 2015?", "a date that nothing meets"),
        ("Who designed Ember Court in 2012?", "a date that nothing meets"),
        ("Which games by Lantern did Ada Finch design?", "a name that nothing meets"),
        ("Which Otter games did Rui Sa design?", "a name that nothing meets"),
        ("Which games by Zephyr did Rui Sa design?", "a name that is not read"),
        ("Who published the game Zephyr by Rui Sa?", "a name that is not read"),
    ],
)
def test_a_constraint_that_nothing_meets_is_doubted(
    games: Service, names: list[str], question: str, expected: str
) -> None:
    assert retrieve(games, question).status is Status.LOW_CONFIDENCE
    assert names == [expected]


def test_a_date_is_no_span_of_time(games: Service, names: list[str]) -> None:
    result = retrieve(games, "How long did they publish Ember Court?")
    assert (result.status, names) == (Status.LOW_CONFIDENCE, ["another kind of value"])


wars = service_of(
    {
        "wars": """War,End time,Side
Salt War,1945-09-02,Norvia; Suland
Rope War,1951-03-04,Suland
"""
    }
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did the Salt War begin?", "the contrary"),
        ("When did the Salt War end?", ""),
        ("What side of the Salt War lies north?", "a qualifier that is not read"),
    ],
)
def test_what_a_relation_does_not_say_is_doubted(
    wars: Service, names: list[str], question: str, expected: str
) -> None:
    retrieve(wars, question)
    assert names == [expected]


def test_of_a_date_that_nothing_meets_there_are_none(games: Service, names: list[str]) -> None:
    result = retrieve(games, "How many games did Agnes Moor design in 2019?")
    assert result.answer is not None
    assert (result.status, result.answer.value) == (Status.OK, "0")
    assert retrieve(games, "Which games did Agnes Moor design in 2010?").status is Status.OK
    assert not any(names)


def test_things_without_dates_are_not_counted_by_a_date(undated: Service, names: list[str]) -> None:
    result = retrieve(undated, "How many games did Agnes Moor design after 2015?")
    assert (result.status, result.answer) == (Status.LOW_CONFIDENCE, None)
    assert names == ["a date that nothing meets"]


def test_wordings_that_the_cross_encoder_does_not_read_stay_doubted(
    service: Service, names: list[str]
) -> None:
    result = retrieve(service, "where did Tove Lake hail from?")
    assert names == [UNSAID]
    assert result.confidence == DOUBTED


films = service_of(
    {
        "films": """head,relation,tail
Low Water,written by,Ada Finch
Low Water,written by,Rui Sa
Low Water,has tags,lighthouses
Two Keys,written by,Ada Finch
Two Keys,written by,Ole Moor
Two Keys,has tags,locksmiths
Salt Hour,written by,Rui Sa
Salt Hour,has tags,lighthouses
"""
    }
)


@pytest.mark.parametrize(
    "question",
    ["who wrote films together with Ada Finch", "who co-wrote films with Ada Finch"],
)
def test_the_walk_to_others_of_the_same_thing_says_together(films: Service, question: str) -> None:
    result = retrieve(films, question)
    assert result.interpretation is not None
    assert result.status is Status.OK, result.interpretation
    assert result.interpretation.text == "what those that are written by Ada Finch are written by"


def test_together_narrows_what_somebody_made(films: Service) -> None:
    assert retrieve(films, "Which films did Ada Finch co-write?").status is not Status.OK


def test_a_cross_encoder_that_is_sure_outweighs_that_no_word_speaks_of_it(
    films: Service, names: list[str]
) -> None:
    assert retrieve(films, "which films are about lighthouses").status is Status.OK
    assert names == [UNSAID]


def test_a_name_that_something_meets_is_not_doubted(games: Service, names: list[str]) -> None:
    result = retrieve(games, "Which games by Lantern did Agnes Moor design?")
    assert result.answer is not None
    assert (result.status, result.answer.value) == (Status.OK, "Ember Court")
    assert not any(names)


heirs = service_of(
    {
        "people": """Name,Child,Gender
Ada Holm,Bo Holm,female
Bo Holm,Cy Holm,male
Cy Holm,Di Holm,male
Di Holm,Ed Holm,female
Ed Holm,,male
"""
    }
)


@pytest.mark.parametrize(
    ("question", "way", "expected"),
    [
        (
            "the gender of the offspring of Ada Holm's child",
            "child gender",
            "a step said more often",
        ),
        (
            "the offspring of the offspring of Ada Holm's kid",
            "child child",
            "a step said more often",
        ),
        ("the gender of the offspring of Ada Holm's son", "child child", "an outer noun unsaid"),
        ("the offspring of Ada Holm's son", "child child", ""),
        ("the name of the offspring of Ada Holm's son", "child child", ""),
    ],
)
def test_each_noun_that_another_owns_is_a_step(
    heirs: Service, names: list[str], question: str, way: str, expected: str
) -> None:
    with heirs.ranking_by(TellsWays([(relation, False) for relation in way.split()])):
        retrieve(heirs, f"What is {question}?")
    assert names == [expected]


thinkers = service_of(
    {
        "thinkers": """Name,Student,Notable work,Town
Ada Moor,Bo Lind,Low Tide,Hull
Bo Lind,Cy Falk; Dan Roe,High Tide,Hull
Cy Falk,,Salt,Ely
""",
    }
)


@pytest.mark.parametrize(
    ("question", "way", "expected"),
    [
        ("Who was taught by Bo Lind?", ("student", True), AGAINST_WORDING),
        ("Who taught Bo Lind?", ("student", False), AGAINST_WORDING),
        ("Who is the student of Bo Lind?", ("student", False), ""),
        ("What is Bo Lind's notable work?", ("notable work", False), ""),
    ],
)
def test_the_other_way_than_known_words_ask_is_doubted(
    thinkers: Service, names: list[str], question: str, way: tuple[str, bool], expected: str
) -> None:
    with thinkers.ranking_by(TellsWays([way])):
        retrieve(thinkers, question)
    assert names == [expected]


def test_known_words_ask_for_one_way_of_a_relation(thinkers: Service) -> None:
    with thinkers.ranking_by(TellsWays([("student", True)])):
        result = retrieve(thinkers, "Who did Bo Lind teach?")
    assert result.status is not Status.OK or answers(result) == {"Cy Falk", "Dan Roe"}
