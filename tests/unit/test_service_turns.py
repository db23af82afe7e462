"""Several questions in one text, and questions that go on with earlier ones (B13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from demo_graph import ARNOLD, MARIA, request
from error_texts import raises

from graph_service import Service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    PathsResult,
    RetrievalResult,
    ScoredPath,
    Status,
    Strategy,
    single_results,
)
from graph_service.service.turns import TurnReader
from graph_service.text.questions import read_questions

BORN_AND_WIFE = "When was Arnold Schwarzenegger born and who is he married to?"


def ask(
    service: Service,
    question: str,
    *earlier: str,
    strategy: Strategy = Strategy.PATHS,
    **options: object,
) -> RetrievalResult:
    asked = RetrieveRequest(question, strategy, graph="demo", earlier=earlier, limit=10)
    return service.retrieve(replace(asked, **options))  # type: ignore[arg-type]


def end(result: RetrievalResult) -> str:
    """The end of a result's first path."""
    first = result.items[0]
    assert isinstance(first, ScoredPath)
    last = first.steps[-1]
    return last.triple.head.label if last.reversed else last.triple.value_label


def linked(result: RetrievalResult) -> list[tuple[str, int, str]]:
    return [(each.mention, each.start, each.entity.id) for each in result.linked]


def test_two_questions_have_two_answers(demo_service: Service) -> None:
    result = ask(demo_service, BORN_AND_WIFE)
    born, wife = single_results(result)
    assert (born.question, wife.question) == (
        "When was Arnold Schwarzenegger born",
        "who is Arnold Schwarzenegger married to?",
    )
    assert (end(born), end(wife)) == ("1947-07-30", "Maria Shriver")
    alone = [ask(demo_service, each.question) for each in (born, wife)]
    for part, single in zip((born, wife), alone, strict=True):
        assert (part.status, part.confidence) == (single.status, single.confidence)
        assert part.interpretation == single.interpretation
    assert result.status is Status.OK
    assert result.confidence == min(each.confidence or 0.0 for each in alone)
    assert [item.steps[-1].triple.relation.label for item in result.items[:2]] == [  # type: ignore[union-attr]
        "date of birth",
        "spouse",
    ]
    assert len(result.items) <= 10
    name = BORN_AND_WIFE.index("Arnold"), BORN_AND_WIFE.index("he married")
    assert linked(result) == [
        ("Arnold Schwarzenegger", name[0], ARNOLD),
        ("he", name[1], ARNOLD),
    ]


def test_a_pronoun_stands_for_whom_the_question_before_asks_for(demo_service: Service) -> None:
    result = ask(demo_service, "Who is Arnold Schwarzenegger's wife and where was she born?")
    wife, birth = single_results(result)
    assert end(wife) == "Maria Shriver"
    assert birth.question == "where was Maria Shriver born?"
    assert [each.entity.id for each in birth.linked] == [MARIA]
    assert birth.confidence is not None
    assert wife.confidence is not None
    # It is right only if the answer before it is.
    alone = ask(demo_service, birth.question).confidence
    assert birth.confidence == pytest.approx((alone or 0.0) * wife.confidence, abs=1e-4)


@pytest.mark.parametrize(
    ("earlier", "question", "first", "entity"),
    [
        (["Who is Arnold Schwarzenegger's wife?"], "When was she born?", "1955-11-06", MARIA),
        (["When was Arnold Schwarzenegger born?"], "And his wife?", "Maria Shriver", ARNOLD),
        (["Who is the mother of Maria Shriver?"], "And the father?", "Sargent Shriver", MARIA),
        (
            ["Who is the spouse of Arnold Schwarzenegger?", "And when was she born?"],
            "And where did she study?",
            None,
            MARIA,
        ),
        # A husband is not meant by she, nor a wife by he.
        (["Who is Maria Shriver's husband?"], "When was she born?", "1955-11-06", MARIA),
        (["Who is Arnold Schwarzenegger's wife?"], "When was he born?", "1947-07-30", ARNOLD),
        (["Who are Maria Shriver's brothers?"], "When was she born?", "1955-11-06", MARIA),
        (["When was Maria Shriver born?"], "And Arnold Schwarzenegger?", "1947-07-30", ARNOLD),
        (
            ["When was Maria Shriver born?"],
            "When was Arnold Schwarzenegger born?",
            "1947-07-30",
            ARNOLD,
        ),
    ],
)
def test_a_follow_up_takes_its_entity_from_earlier_questions(
    demo_service: Service, earlier: Sequence[str], question: str, first: str | None, entity: str
) -> None:
    result = ask(demo_service, question, *earlier)
    assert result.question == question
    assert [each.entity.id for each in result.linked] == [entity]
    for each in result.linked:
        assert each.mention == (question[each.start : each.end] if each.start >= 0 else "")
    if first is not None:
        assert end(result) == first
    assert result.parts == ()
    assert result.id != ask(demo_service, question).id


def test_one_of_several_is_not_told_by_a_pronoun(demo_service: Service) -> None:
    result = ask(demo_service, "When was he born?", "Who are Maria Shriver's brothers?")
    assert result.status is Status.LOW_CONFIDENCE


def test_the_sentence_that_asks_is_read(demo_service: Service) -> None:
    text = (
        "We watched an old film last night, and my brother said that nobody remembers names. "
        "He likes Maria Shriver, I think. Who is the spouse of Arnold Schwarzenegger? Thank you!"
    )
    result = ask(demo_service, text)
    assert end(result) == "Maria Shriver"
    assert [(each.start, each.entity.id) for each in result.linked] == [
        (text.index("Arnold"), ARNOLD)
    ]
    context = "I read about Arnold Schwarzenegger. When was he born?"
    result = ask(demo_service, context)
    assert end(result) == "1947-07-30"
    assert linked(result) == [("he", context.index("he born"), ARNOLD)]


def test_a_part_that_is_not_known_is_said_to_be_so(demo_service: Service) -> None:
    result = ask(demo_service, "When was Arnold Schwarzenegger born and what is his shoe size?")
    born, size = single_results(result)
    assert born.status is Status.OK
    assert size.status is not Status.OK
    assert result.status is Status.LOW_CONFIDENCE


@pytest.mark.parametrize("strategy", [Strategy.TRIPLETS, Strategy.SUBGRAPH])
def test_each_strategy_has_parts(demo_service: Service, strategy: Strategy) -> None:
    result = ask(demo_service, BORN_AND_WIFE, strategy=strategy)
    assert len(result.parts) == 2
    assert all(part.item_indexes for part in result.parts)
    shown = [index for part in result.parts for index in part.item_indexes]
    assert sorted(shown) == list(range(len(result.items)))


def test_many_and_the_client_give_the_same(demo_service: Service) -> None:
    asked = request(BORN_AND_WIFE, Strategy.PATHS, details=True)
    direct = demo_service.retrieve(asked)
    (one, other) = demo_service.retrieve_many([asked, request(strategy=Strategy.PATHS)])
    assert one == direct
    assert isinstance(other, PathsResult)
    assert other.parts == ()
    with Client.over(demo_service, writable=False) as client:
        over = client.retrieve(Strategy.PATHS, BORN_AND_WIFE, graph="demo")
        assert over.parts == replace(demo_service.retrieve(replace(asked, details=False))).parts
        follow = client.retrieve(
            Strategy.PATHS, "And his wife?", graph="demo", earlier=["Who is Arnold Schwarzenegger?"]
        )
    assert end(follow) == "Maria Shriver"


def test_presets_of_papers_read_a_text_as_one(demo_service: Service) -> None:
    result = ask(demo_service, BORN_AND_WIFE, preset="okgqa")
    assert result.parts == ()
    assert result.question == BORN_AND_WIFE


def test_an_earlier_question_has_a_bound(demo_service: Service) -> None:
    with raises(InputError):
        ask(demo_service, "And his wife?", "x" * 10_001)


@pytest.mark.parametrize("question", ["When was he born?", "And what about her?"])
def test_each_earlier_question_is_read_once(demo_service: Service, question: str) -> None:
    """Where none names anything, each goes on with all before it: 2 to the 60th, read anew."""
    unlinked = ask(demo_service, "When was he born?")
    retrieved: list[RetrieveRequest] = []

    def retrieve(single: RetrieveRequest) -> RetrievalResult:
        retrieved.append(single)
        return unlinked

    reader = TurnReader(retrieve, lambda single: ())
    earlier = tuple(f"{question} {index}" for index in range(60))
    conversation = RetrieveRequest(question, Strategy.PATHS, graph="demo", earlier=earlier)
    reader.read(conversation, read_questions(question))
    assert 60 < len(retrieved) <= 2 * 61


def test_a_hundred_earlier_questions_are_read(demo_service: Service) -> None:
    """As many as a request may have, with what they go on with at the very beginning."""
    earlier = ["Who is Maria Shriver?", *["When was she born?"] * 99]
    result = ask(demo_service, "When was she born?", *earlier)
    assert (result.status, end(result)) == (Status.OK, "1955-11-06")


@pytest.mark.parametrize("follow_up", ["what about Ted?", "And Ted?"])
def test_a_part_of_a_name_is_what_the_question_before_is_asked_of(
    demo_service: Service, follow_up: str
) -> None:
    earlier = "Where was Robert F. Kennedy born?"
    result = ask(demo_service, follow_up, earlier)
    assert (end(result), result.linked[0].entity.label) == ("Boston", "Ted Kennedy")
    result = ask(demo_service, "And how many children did he have?", earlier, follow_up)
    assert result.linked[0].entity.label == "Ted Kennedy"
    assert result.answer is None or result.answer.value == "3"


def test_a_pronoun_after_a_name_that_is_not_known_stands_for_none_before_it(
    demo_service: Service,
) -> None:
    earlier = ("Where was Robert F. Kennedy born?", "And Zed?")
    result = ask(demo_service, "How many children did he have?", *earlier)
    assert (result.status, result.linked) == (Status.NO_ENTITY_LINKED, ())


@pytest.mark.parametrize(
    ("question", "earlier", "expected"),
    [
        (
            "Which other films did he direct?",
            "Who directed True Lies?",
            {"The Terminator", "Terminator 2: Judgment Day"},
        ),
        (
            "what other films was she in?",
            "Was Anna Faris in Brokeback Mountain?",
            {
                "Lost in Translation",
                "Cloudy with a Chance of Meatballs",
                "Cloudy with a Chance of Meatballs 2",
            },
        ),
    ],
)
def test_others_are_all_but_those_that_were_spoken_of(
    demo_service: Service, question: str, earlier: str, expected: set[str]
) -> None:
    result = ask(demo_service, question, earlier)
    assert result.status is Status.OK
    assert result.answer is not None
    assert {each.label for each in result.answer.entities} == expected
    assert set(result.answer.value.split("; ")) == expected
    assert isinstance(result, PathsResult)
    ends = {end(replace(result, items=(item,))) for item in result.items}
    assert expected <= ends
    assert ends.isdisjoint({"True Lies", "Brokeback Mountain"})
    assert result.interpretation is not None
    assert "but for" in result.interpretation.text
