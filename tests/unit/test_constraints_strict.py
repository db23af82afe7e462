"""A misread question gets no computed answer; comparisons of two and negations are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from film_graph import ENTITIES, STATEMENTS, TellsWays, Way
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Status, Strategy
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue, SomeValue, StringValue, Time
from graph_service.retrieve.constraints.coverage import is_kin, means, sides_of
from graph_service.retrieve.constraints.reading import AnswerForm, read_answer
from graph_service.settings import Settings
from graph_service.store.protocol import Store

DIRECTED: Way = [("P57", True)]
DIRECTOR: Way = [("P57", False)]
STARRED: Way = [("P161", True)]
CAST: Way = [("P161", False)]
CHILD: Way = [("P40", False)]
PARENT: Way = [("P40", True)]
CITIES: Way = [("P150", False)]
BORN: Way = [("P569", False)]
MOTHER = [
    Entity("Q7", labels={"en": "Ann Lee"}),
    Entity("Q8", labels={"en": "Gil Ash"}),
    Entity("Q9", labels={"en": "Kyoto"}),
    Entity("P17", EntityKind.PROPERTY, labels={"en": "country"}),
    Entity("P19", EntityKind.PROPERTY, labels={"en": "place of birth"}),
    Entity("P9999", EntityKind.PROPERTY, labels={"en": "retired"}),
    Entity("P1366", EntityKind.PROPERTY, labels={"en": "replaced by"}),
]
"""A second Ann Lee, who was born in Kyoto as Gil Ash was."""


@pytest.fixture
def service(tmp_store: Store, tmp_path: Path) -> Service:
    more = [
        make_statement("Q7", "P19", EntityValue("Q9")),
        make_statement("Q8", "P19", EntityValue("Q9")),
        make_statement("Q7", "P106", EntityValue("Q42")),
        make_statement("Q7", "P569", Time("1961-01-01T00:00:00Z", 11)),
        make_statement("Q8", "P106", EntityValue("Q41")),
        make_statement("Q8", "P40", EntityValue("Q1")),
        make_statement("Q8", "P569", Time("1930-01-01T00:00:00Z", 11)),
        make_statement("Q8", "P1366", SomeValue()),
        make_statement("Q8", "P9999", StringValue("false", "boolean")),
        make_statement("Q4", "P9999", StringValue("true", "boolean")),
        make_statement("Q9", "P17", EntityValue("Q9")),
    ]
    load_graph(tmp_store, "films", [*STATEMENTS, *more], [*ENTITIES, *MOTHER])
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph="films"
    )
    return open_service(tmp_store, settings=settings, embedder=CountingWords())


def ask(service: Service, question: str, *ways: Way) -> PathsResult:
    with service.ranking_by(TellsWays(*ways)):
        found = service.retrieve(RetrieveRequest(question, Strategy.PATHS, limit=10))
    assert isinstance(found, PathsResult)
    return found


def value(found: PathsResult) -> str | None:
    return None if found.answer is None else found.answer.value


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is older, Dora Lee or Eve Lee?", "Dora Lee"),
        ("Who is younger, Dora Lee or Eve Lee?", "Eve Lee"),
        ("Which is more populous, Bergen or Oslo?", "Oslo"),
    ],
)
def test_comparison_of_two_answers_one_of_them(
    service: Service, question: str, answer: str
) -> None:
    found = ask(service, question, PARENT)
    assert value(found) == answer
    assert found.status is Status.OK
    assert found.items[0].steps[0].triple.head.label == answer


@pytest.mark.parametrize(
    "question",
    ["Which is heavier, Bergen or Oslo?", "Which is more beautiful, Bergen or Oslo?"],
)
def test_comparison_that_the_graph_does_not_decide_is_doubted(
    service: Service, question: str
) -> None:
    found = ask(service, question, [("P150", True)])
    assert found.answer is None
    assert found.status is Status.LOW_CONFIDENCE


def test_children_are_counted_where_parents_rank_first(service: Service) -> None:
    question = "How many children does Eve Lee have?"
    found = ask(service, question, PARENT)
    # Eve Lee has no child here; her parent is none.
    assert found.answer is None
    assert found.status is Status.LOW_CONFIDENCE


@pytest.mark.parametrize(
    ("question", "way", "count"),
    [
        ("How many daughters does Ann Lee have?", CHILD, "2"),
        ("How many grandchildren does Ann Lee have?", CHILD, None),
        ("How many sisters does Eve Lee have?", PARENT, None),
        ("How many cities does Norland contain?", CITIES, "3"),
        ("How many cities does Norland contain on islands?", CITIES, None),
        ("How many actors are in Snow?", CAST, "2"),
        ("How many films did Bob Ray star in?", STARRED, "3"),
    ],
)
def test_count_is_of_what_the_noun_names(
    service: Service, question: str, way: Way, count: str | None
) -> None:
    assert value(ask(service, question, way)) == count


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which films of Ann Lee are not drama?", "Rain"),
        ("Which children of Ann Lee are not male?", "Eve Lee; Dora Lee"),
    ],
)
def test_what_is_named_after_not_is_left_out(service: Service, question: str, answer: str) -> None:
    way = DIRECTED if "films" in question else CHILD
    found = ask(service, question, way)
    assert value(found) == answer
    assert found.constraints[0].text.startswith("not ")


def test_of_what_nothing_is_said_it_is_not_said_that_it_is_not_so(service: Service) -> None:
    # Finn Lee has no occupation: nobody says that he is no actor.
    assert value(ask(service, "Which children of Ann Lee are not actors?", CHILD)) == "Eve Lee"


def test_negation_that_nothing_meets_is_doubted(service: Service) -> None:
    found = ask(service, "Which films did Ann Lee not direct?", DIRECTED)
    assert found.status is Status.LOW_CONFIDENCE
    assert found.answer is None


def test_clause_that_tells_namesakes_apart_is_not_what_is_asked(service: Service) -> None:
    born_there: Way = [("P19", True)]
    job: Way = [("P106", False)]
    question = "What is the occupation of the Ann Lee who was born in Kyoto?"
    found = ask(service, question, born_there, job)
    first = found.items[0].steps
    assert [step.triple.relation.id for step in first] == ["P106"]
    assert first[0].triple.head.id == "Q7"


def test_words_of_a_name_are_no_negation() -> None:
    question = "How many actors are in Who Is Not There?"
    name = (question.index("Who"), len(question) - 1)
    assert read_answer(question, [name], strict=True).form is AnswerForm.COUNT
    assert read_answer(question, [name]).is_negated


def test_words_of_a_name_are_no_question() -> None:
    question = "Did Vera Lund appear in Who Is Not There?"
    name = (question.index("Who"), len(question) - 1)
    assert read_answer(question, [name], strict=True).form is AnswerForm.YES_NO
    assert read_answer(question, [(4, 13)], strict=True).form is not AnswerForm.YES_NO


def test_or_without_a_word_of_degree_compares_nothing() -> None:
    question = "Which films did Ann Lee or Bob Ray direct?"
    names = [(16, 23), (27, 34)]
    assert read_answer(question, names, strict=True).compared == ()
    older = "Who is older, Ann Lee or Bob Ray?"
    assert read_answer(older, [(14, 21), (25, 32)], strict=True).compared == ((14, 21), (25, 32))


@pytest.mark.parametrize(
    ("label", "noun", "side"),
    [
        ("child", "children", 0),
        ("child", "parents", 1),
        ("father", "children", 1),
        ("has mother", "sons", 1),
        ("part of", "parts", 1),
        ("has part", "parts", 0),
    ],
)
def test_noun_names_one_side(label: str, noun: str, side: int) -> None:
    sides = sides_of(label)
    assert means(noun, sides[side])
    assert not means(noun, sides[1 - side])


def test_kin_is_told_by_the_noun() -> None:
    assert [is_kin(noun) for noun in ("grandchildren", "nephews", "films")] == [True, True, False]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is Dora Lee a child of Ann Lee?", "yes"),
        ("Is Dora Lee a child of Gil Ash?", "no"),
        ("Is Dora Lee a grandchild of Gil Ash?", "yes"),
        ("Is Ann Lee a grandchild of Gil Ash?", None),
        ("Is Dora Lee a granddaughter of Gil Ash?", None),
        ("Is Dora Lee a niece of Gil Ash?", None),
    ],
)
def test_kin_is_walked_as_often_as_it_is_said(
    service: Service, question: str, answer: str | None
) -> None:
    """A child of a child is a grandchild and no child; what is not decided is doubted."""
    result = ask(service, question, [*CHILD, *CHILD], CHILD, PARENT, [*PARENT, *PARENT])
    assert value(result) == answer
    assert result.status is (Status.OK if answer else Status.LOW_CONFIDENCE)


@pytest.mark.parametrize(
    ("question", "way", "status"),
    [
        ("What is the occupation of Gil Ash?", [("P106", False)], Status.OK),
        ("Who is the spouse of Gil Ash?", [*CHILD, ("P26", False)], Status.LOW_CONFIDENCE),
        ("Who is the spouse of the child of Gil Ash?", [*CHILD, ("P26", False)], Status.OK),
        ("Who is the child of Gil Ash's spouse?", [*CHILD, ("P26", False)], Status.LOW_CONFIDENCE),
        ("Who is the child of Gil Ash?", CHILD, Status.OK),
        ("Who is the child of Gil Ash?", [*CHILD, *CHILD], Status.LOW_CONFIDENCE),
        ("Who is the child of Gil Ash's child?", CHILD, Status.LOW_CONFIDENCE),
        ("Who is the child of Gil Ash's child?", [*CHILD, *CHILD], Status.OK),
        ("Which grandchild of Gil Ash is known?", CHILD, Status.LOW_CONFIDENCE),
        ("Who is the grandchild of Gil Ash?", [*CHILD, *CHILD], Status.OK),
        ("Who is the uncle of Gil Ash?", CHILD, Status.LOW_CONFIDENCE),
        ("Who is the mother-in-law of Dora Lee?", PARENT, Status.LOW_CONFIDENCE),
        ("Who is the mother of Dora Lee?", PARENT, Status.OK),
        ("Who is the mother-in-law of Bob Ray?", [("P26", True), *PARENT], Status.OK),
        # Her who is reached by marriage comes before the spouse.
        ("Who is the mother-in-law of Bob Ray?", [("P26", True)], Status.OK),
    ],
)
def test_a_step_that_nothing_says_is_doubted(
    service: Service, question: str, way: Way, status: Status
) -> None:
    """The spouse of his child is not his, and a grandchild is no child."""
    assert ask(service, question, way).status is status


def test_several_values_are_no_answer_to_which_is_the_first(service: Service) -> None:
    """Nothing says how high a film is: all of his films are not the highest."""
    result = ask(service, "What is the highest film of Bob Ray?", STARRED)
    assert result.answer is None
    assert result.status is Status.LOW_CONFIDENCE


def test_children_with_an_occupation_are_no_grandchildren(service: Service) -> None:
    """Dora is the actor among them; she is a child of Gil's child."""
    result = ask(service, "Which of Gil Ash's children became an actor?", [*CHILD, *CHILD], CHILD)
    assert len(result.items[0].steps) == 1
    assert result.status is Status.LOW_CONFIDENCE


def test_a_place_comes_before_a_date_where_a_place_is_asked_for(service: Service) -> None:
    birthplace: Way = [("P19", False)]
    result = ask(service, "Where was Gil Ash born?", BORN, birthplace)
    assert result.items[0].steps[0].triple.value_label == "Kyoto"
    assert (
        ask(service, "When was Gil Ash born?", BORN, birthplace)
        .items[0]
        .steps[0]
        .triple.relation.id
        == "P569"
    )


@pytest.mark.parametrize(
    ("question", "way", "status"),
    [
        ("What is the date of birth of Gil Ash?", BORN, Status.OK),
        ("Where is the date of birth of Gil Ash?", BORN, Status.LOW_CONFIDENCE),
        ("And to whom is the date of birth of Gil Ash?", BORN, Status.LOW_CONFIDENCE),
        ("Where is the place of birth of Gil Ash?", [("P19", False)], Status.OK),
        ("How old is the date of birth of Gil Ash?", BORN, Status.OK),
        ("How old is the place of birth of Gil Ash?", [("P19", False)], Status.LOW_CONFIDENCE),
        ("When is the date of birth of Gil Ash?", BORN, Status.OK),
        ("Since when is the place of birth of Gil Ash?", [("P19", False)], Status.LOW_CONFIDENCE),
        ("Where is the occupation of Gil Ash?", [("P106", False)], Status.LOW_CONFIDENCE),
        ("What is the occupation of Gil Ash?", [("P106", False)], Status.OK),
        ("Who is the place of birth of Gil Ash?", [("P19", False)], Status.LOW_CONFIDENCE),
        ("By whom is Gil Ash replaced?", [("P1366", False)], Status.LOW_CONFIDENCE),
        ("What is the country of Kyoto?", [("P17", False)], Status.LOW_CONFIDENCE),
    ],
)
def test_what_is_no_answer_to_the_question_word_is_doubted(
    service: Service, question: str, way: Way, status: Status
) -> None:
    """A date says neither where nor who; an unknown value and the thing itself say nothing."""
    assert ask(service, question, way).status is status


@pytest.mark.parametrize(
    ("question", "way", "status"),
    [
        ("Whom did Snow direct?", DIRECTOR, Status.LOW_CONFIDENCE),
        ("Who directed Snow?", DIRECTOR, Status.OK),
        ("What does Ann Lee direct?", DIRECTED, Status.OK),
    ],
)
def test_who_does_a_thing_is_not_who_it_is_done_to(
    service: Service, question: str, way: Way, status: Status
) -> None:
    assert ask(service, question, way).status is status


def test_what_says_nothing_stands_behind_what_does(service: Service) -> None:
    result = ask(service, "What is the country of Kyoto?", [("P17", False)], [("P19", True)])
    assert result.items[0].steps[0].triple.relation.id == "P19"


@pytest.mark.parametrize(
    ("question", "way", "value"),
    [
        ("Is Gil Ash retired?", [("P9999", False)], "no"),
        ("Is Dora Lee retired?", [("P9999", False)], "yes"),
        ("Is Gil Ash tall?", [("P9999", False)], None),
        ("Is Gil Ash a retired singer?", [("P106", False)], None),
    ],
)
def test_a_true_or_false_value_answers_yes_or_no(
    service: Service, question: str, way: Way, value: str | None
) -> None:
    result = ask(service, question, way)
    assert (result.answer and result.answer.value) == value
    if value:
        assert result.interpretation is not None
        assert '"true"' in result.interpretation.text
