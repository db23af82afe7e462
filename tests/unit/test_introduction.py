"""What a graph is about, and questions about it that were asked before they are shown (B20)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import check_text

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, Status, Strategy
from graph_service.service.example_questions import ExampleBuilder, _is_noun
from graph_service.service.introduction import introduction_text
from graph_service.settings import Settings
from loaders.load import load
from loaders.options import LoadOptions


def test_the_demo_is_introduced_by_its_classes_and_central_people(demo_service: Service) -> None:
    introduction = demo_service.introduction(graph="demo")
    check_text(introduction.text, "331 people")
    named = introduction.text.partition(" around ")[2].split(" and ")
    assert named == [entity.label for entity in introduction.central[:2]]
    # A gender is the value of most statements, and has none of its own.
    assert "male" not in {entity.label for entity in introduction.central}


@pytest.mark.parametrize(
    ("classes", "central", "text"),
    [
        ([], [], "1,200 things"),
        ([], ["A"], "1,200 things around A"),
        (["person"], ["A", "B", "C"], "1,200 people and other things around A and B"),
        (["city", "human", "bus"], [], "1,200 cities, people and other things"),
        ([], ["word " * 40], "1,200 things around " + ("word " * 12).rstrip() + "…"),
        ([], ["x" * 200], "1,200 things around " + "x" * 60 + "…"),
    ],
)
def test_an_introduction_says_what_there_is(
    classes: list[str], central: list[str], text: str
) -> None:
    assert introduction_text(1_200, classes, central) == text


def test_example_questions_are_answered_as_they_say(demo_service: Service) -> None:
    examples = demo_service.example_questions(graph="demo")
    assert len(examples) == 5
    assert len({example.question for example in examples}) == 5
    assert [example.answer is None for example in examples] == [False] * 4 + [True]
    for example in examples:
        result = asked(demo_service, example.question)
        if example.answer is None:
            assert result.status is Status.NOT_IN_GRAPH
        else:
            assert result.status is Status.OK
            assert example.question.startswith(("Who is the ", "What is the ", "How many "))


def test_example_questions_are_made_once_for_an_edition(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = demo_service.example_questions(graph="demo")

    def fail(request: RetrieveRequest) -> RetrievalResult:
        raise AssertionError(request)

    monkeypatch.setattr(demo_service, "retrieve", fail)
    assert demo_service.example_questions(graph="demo") == examples


def test_a_question_that_retrieval_gets_wrong_is_no_example(demo_service: Service) -> None:
    """Every question gets the result of another: no count, no entity and no gap is as stated."""
    other = asked(demo_service, "Who directed The Terminator?")
    assert other.status is Status.OK
    introduction = demo_service.introduction(graph="demo")

    def triples_of(id_: str) -> list:  # type: ignore[type-arg]
        return [row.edge.triple for row in demo_service.statements.of(id_, graph="demo")]

    def examples_if(result: RetrievalResult) -> tuple[object, ...]:
        return ExampleBuilder(introduction.central, triples_of, lambda question: result).make()

    assert examples_if(other) == ()
    unsure = replace(other, status=Status.LOW_CONFIDENCE)
    assert examples_if(unsure) == ()
    missing = examples_if(replace(other, status=Status.NOT_IN_GRAPH))
    assert len(missing) == 1


def test_questions_of_a_table_are_said_as_people_say_them(
    tmp_path: Path, demo_settings: Settings
) -> None:
    """No question is *What is the founded of Terra?*: a participle asks when."""
    folder = tmp_path / "makers"
    folder.mkdir()
    (folder / "makers.csv").write_text(
        "maker,city,founded\nAsh,Bergen,1911\nTerra,Porto,1998\nVetro,Murano,2004\n",
        encoding="utf-8",
    )
    with open_service(f"sqlite:///{tmp_path}/made.db", settings=demo_settings) as service:
        load(str(folder), store=service.store, graph="made", options=LoadOptions(row="maker"))
        examples = service.example_questions(graph="made")
    questions = {each.question: each.answer for each in examples}
    assert not any("the founded" in question for question in questions)
    years = {"Ash": "1911", "Terra": "1998", "Vetro": "2004"}
    assert [
        questions[f"When was {maker} founded?"] == year
        for maker, year in years.items()
        if f"When was {maker} founded?" in questions
    ] == [True]
    assert _is_noun("speed")
    assert not _is_noun("founded")
    assert not _is_noun("year founded")


def test_graphql_has_the_introduction_and_the_questions(demo_service: Service) -> None:
    document = """{ graph(name: "demo") {
      introduction { text items { label } }
      exampleQuestions { question answer }
    } }"""
    response = execute(demo_service, document)
    assert "errors" not in response, response["errors"]
    graph = response["data"]["graph"]
    introduction = demo_service.introduction(graph="demo")
    assert graph["introduction"]["text"] == introduction.text
    labels = [item["label"] for item in graph["introduction"]["items"]]
    assert labels == [entity.label for entity in introduction.central]
    examples = demo_service.example_questions(graph="demo")
    assert graph["exampleQuestions"] == [
        {"question": example.question, "answer": example.answer} for example in examples
    ]


def asked(service: Service, question: str) -> RetrievalResult:
    return service.retrieve(RetrieveRequest(question, Strategy.PATHS, graph="demo"))
