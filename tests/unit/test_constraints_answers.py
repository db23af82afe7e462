"""Constraints decide between what a relation leads to, and the answer is told beside the items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from film_graph import ENTITIES, STATEMENTS, TellsWays, Way
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.model.answer import AnswerKind, ConstraintKind
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, ScoredPath, Strategy, TripletsResult
from graph_service.model.values import EntityValue
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.settings import Settings
from graph_service.store.protocol import Store

DIRECTED: Way = [("P57", True)]
STARRED: Way = [("P161", True)]
CHILD: Way = [("P40", False)]


@pytest.fixture
def service(tmp_store: Store, tmp_path: Path) -> Service:
    load_graph(tmp_store, "films", STATEMENTS, ENTITIES)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph="films"
    )
    return open_service(tmp_store, settings=settings, embedder=CountingWords())


def ask(
    service: Service, question: str, *ways: Way, relevance: float = 0.9, **options: object
) -> PathsResult:
    request = RetrieveRequest(question, Strategy.PATHS, preset="default-6", limit=10)
    with service.ranking_by(TellsWays(*ways, relevance=relevance)):
        found = service.retrieve(replace(request, **options))  # type: ignore[arg-type]
    assert isinstance(found, PathsResult)
    return found


def end(path: ScoredPath) -> str:
    last = path.steps[-1]
    if last.reversed:
        return last.triple.head.label
    return last.triple.value_label


def meeting(found: PathsResult) -> list[str]:
    """The ends of the items of one step that meet all constraints, in their order."""
    met = [item for item in found.items if all(one.met for one in item.constraints)]
    return [end(item) for item in met if len(item.steps) == 1]


@pytest.mark.parametrize(
    ("question", "way", "ends", "text", "kind"),
    [
        ("Which films with Bob Ray came out in 1994?", STARRED, {"Rain", "Hail"}, "in 1994", "date"),
        ("Which films did Ann Lee direct after 1991?", DIRECTED, {"Rain", "Wind"}, "after 1991", "date"),
        ("films by Ann Lee before the 1990s", DIRECTED, None, "before the 1990s", "date"),
        ("Name the drama films that Ann Lee directed.", DIRECTED, {"Snow", "Wind"}, "drama", "value"),
        ("films of Ann Lee with Bob Ray", DIRECTED, {"Snow", "Rain"}, "Bob Ray", "entity"),
        ("Who are the daughters of Ann Lee?", CHILD, {"Dora Lee", "Eve Lee"}, "daughters", "value"),
        ("Which children of Ann Lee are politicians?", CHILD, {"Eve Lee"}, "politicians", "value"),
    ],
)  # fmt: skip
def test_what_meets_a_constraint_comes_first(
    service: Service, question: str, way: Way, ends: set[str] | None, text: str, kind: str
) -> None:
    found = ask(service, question, way)
    (read,) = found.constraints
    assert (read.text, read.kind, read.met) == (text, ConstraintKind(kind), ends is not None)
    if ends is None:
        assert {end(item) for item in found.items[:3]} == {"Snow", "Rain", "Wind"}
        assert found.answer is None
        return
    assert set(meeting(found)) == ends
    assert {end(item) for item in found.items[: len(ends)]} == ends
    unmet = next(item for item in found.items if not item.constraints[0].met)
    assert unmet.score < found.items[0].score
    assert "unmet" in {part.name for part in unmet.parts}
    assert sum(part.amount for part in unmet.parts) == pytest.approx(unmet.score, abs=3e-5)
    assert found.answer is not None
    assert found.answer.kind is AnswerKind.ENTITIES
    assert {one.label for one in found.answer.entities} == ends
    assert set(found.answer.value.split("; ")) == ends


def test_two_constraints_are_met_together(service: Service) -> None:
    found = ask(service, "drama films of Ann Lee with Bob Ray before 1995", DIRECTED)
    assert {one.text for one in found.constraints} == {"drama", "Bob Ray", "before 1995"}
    assert meeting(found) == ["Snow"]
    assert end(found.items[0]) == "Snow"
    assert found.answer is not None
    assert found.answer.value == "Snow"


def test_both_name_what_joins_them(service: Service) -> None:
    found = ask(service, "In which films do both Bob Ray and Cleo Moss appear?", STARRED)
    assert end(found.items[0]) == "Snow"
    assert meeting(found)[0] == "Snow"


def test_what_the_question_says_itself_is_not_asked_for(service: Service) -> None:
    # The ranker puts the film's year and genre first; those the question names.
    for question, further in (
        ("Which films with Bob Ray came out in 1994?", ("P577", False)),
        ("Which drama films is Bob Ray in?", ("P136", False)),
    ):
        found = ask(service, question, [*STARRED, further], STARRED)
        assert len(found.items[0].steps) == 1, question
        assert found.constraints[0].met
    # Where a time is asked for, its year is the answer.
    asked = ask(service, "When did the films with Bob Ray come out?", [*STARRED, ("P577", False)])
    assert len(asked.items[0].steps) == 2


def test_triplets_say_which_constraints_they_meet(service: Service) -> None:
    request = RetrieveRequest(
        "Which films with Bob Ray came out in 1994?", Strategy.TRIPLETS, preset="default-6", limit=9
    )
    with service.ranking_by(TellsWays(STARRED)):
        found = service.retrieve(request)
    assert isinstance(found, TripletsResult)
    assert {item.triple.head.label for item in found.items[:2]} == {"Rain", "Hail"}
    assert [item.constraints[0].met for item in found.items[:2]] == [True, True]
    snow = [item for item in found.items if item.triple.head.label == "Snow"]
    assert not any(item.constraints[0].met for item in snow)


def test_a_count_is_of_distinct_ends_that_meet_the_constraints(service: Service) -> None:
    found = ask(service, "How many films did Ann Lee direct?", DIRECTED)
    assert found.answer is not None
    assert (found.answer.kind, found.answer.value) == (AnswerKind.COUNT, "3")
    assert found.answer.statements == len(found.answer.basis) == 3
    assert not found.answer.truncated
    since = ask(service, "How many films did Ann Lee direct since 1994?", DIRECTED)
    assert since.answer is not None
    assert since.answer.value == "2"
    relations = {one.triple.relation.id for one in since.answer.basis}
    assert relations == {"P57", "P577"}


def test_none_is_a_count_where_all_dates_are_known(service: Service) -> None:
    none = ask(service, "How many films did Ann Lee direct after 2005?", DIRECTED)
    assert none.answer is not None
    assert (none.answer.value, none.answer.statements) == ("0", 3)
    # Of Hamar nothing is known, so there may be one.
    cities = ask(service, "How many cities does Norland contain since 1950?", [("P150", False)])
    assert cities.answer is None


def test_what_lies_outside_of_the_region_makes_an_answer_uncertain(service: Service) -> None:
    for hops, truncated in ((1, True), (2, False)):
        found = ask(service, "What is the latest of Ann Lee's?", DIRECTED, max_hops=hops)
        assert (found.answer is None) == (hops == 1)
        counted = ask(service, "How many drama films did Ann Lee direct?", DIRECTED, max_hops=hops)
        if counted.answer is not None:
            assert counted.answer.truncated == truncated


def test_a_stored_number_goes_before_a_count(service: Service) -> None:
    # Three children are in the graph, which says that there are four.
    found = ask(service, "How many children does Ann Lee have?", CHILD, [("P1971", False)])
    assert found.answer is not None
    assert found.answer.value == "4"
    assert [one.triple.relation.id for one in found.answer.basis] == ["P1971"]
    people = ask(service, "How many people live in Oslo?", [("P1082", False)])
    assert people.answer is not None
    assert people.answer.value == "700000"


def test_no_entity_is_counted_for_a_measure(service: Service) -> None:
    assert ask(service, "How many years did Ann Lee direct?", DIRECTED).answer is None


@pytest.mark.parametrize(
    ("question", "way", "first"),
    [
        ("What is the most recent film of Ann Lee?", DIRECTED, "Wind"),
        ("What is the first film of Ann Lee?", DIRECTED, "Snow"),
        ("Who is the oldest child of Ann Lee?", CHILD, "Dora Lee"),
        ("Who is the youngest child of Ann Lee?", CHILD, "Finn Lee"),
        ("Who is the youngest daughter of Ann Lee?", CHILD, "Eve Lee"),
        ("What is the largest city of Norland?", [("P150", False)], "Oslo"),
        ("What is the smallest city of Norland?", [("P150", False)], "Bergen"),
        ("What is the latest drama film with Bob Ray?", STARRED, "Hail"),
    ],
)
def test_a_superlative_is_decided_by_comparable_values(
    service: Service, question: str, way: Way, first: str
) -> None:
    found = ask(service, question, way)
    assert found.answer is not None
    assert (found.answer.kind, found.answer.value) == (AnswerKind.SUPERLATIVE, first)
    assert end(found.items[0]) == first
    # Of Hamar no population is known.
    assert found.answer.truncated == ("Norland" in question)


def test_what_cannot_be_compared_is_not_guessed(service: Service) -> None:
    for question, way in (
        ("What is the longest film of Ann Lee?", DIRECTED),
        ("What is the deepest city of Norland?", [("P150", False)]),
        ("How many Oscar-winning films did Ann Lee direct?", DIRECTED),
        ("How many films longer than two hours did Ann Lee direct?", DIRECTED),
        ("Who is the oldest living child of Ann Lee?", CHILD),
        ("Where does the oldest child of Ann Lee live?", CHILD),
    ):
        assert ask(service, question, way).answer is None, question


@pytest.mark.parametrize(
    ("question", "way", "value"),
    [
        ("Did Ann Lee direct Snow?", DIRECTED, "yes"),
        ("Did Ann Lee direct Hail?", DIRECTED, "no"),
        ("Is Eve Lee a child of Ann Lee?", CHILD, "yes"),
        # The other way round; no child of Eve is known.
        ("Is Ann Lee a child of Eve Lee?", CHILD, None),
        ("Is Ann Lee Eve Lee's child?", CHILD, None),
        ("Is Eve Lee's occupation politician?", [("P106", False)], "yes"),
        ("Was Dora Lee's date of birth before 1975?", [("P569", False)], "yes"),
        ("Was Dora Lee's date of birth after 1975?", [("P569", False)], "no"),
        ("Did Ann Lee direct Rain in 1994?", DIRECTED, "yes"),
        ("Is Eve Lee a politician?", [("P106", False)], "yes"),
        ("Did Ann Lee not direct Snow?", DIRECTED, None),
        ("Did Ann Lee direct Snow in 1994?", DIRECTED, "no"),
        ("Is Dora Lee a daughter of Ann Lee?", CHILD, "yes"),
        # That a son is no daughter would need that he can't be both.
        ("Is Finn Lee a daughter of Ann Lee?", CHILD, None),
        # Nobody is said to be Bob's child, and of Oslo no director is known.
        ("Did Ann Lee direct Oslo?", DIRECTED, None),
        # The relation is not what is asked.
        ("Did Ann Lee marry Snow?", DIRECTED, None),
        # Of Ann and Finn no death is known, which does not say that they live.
        ("Is Dora Lee still alive?", [("P40", True)], "no"),
        ("Is Dora Lee dead?", [("P570", False)], "yes"),
        ("Has Dora Lee died yet?", [("P570", False)], "yes"),
        ("Is Finn Lee alive?", [("P569", False)], None),
        ("Is Finn Lee dead?", [("P569", False)], None),
    ],
)
def test_yes_or_no_by_what_the_graph_says(
    service: Service, question: str, way: Way, value: str | None
) -> None:
    found = ask(service, question, way, relevance=0.2)
    if value is None:
        assert found.answer is None
        return
    assert found.answer is not None
    assert (found.answer.kind, found.answer.value) == (AnswerKind.YES_NO, value)
    assert found.answer.basis
    if value == "no" and "Hail" in question:
        told = {
            one.triple.value.id
            for one in found.answer.basis
            if one.triple.head.label == "Hail" and isinstance(one.triple.value, EntityValue)
        }
        assert told == {"Q3"}


def test_an_answer_is_not_given_where_little_bears_on_the_question(service: Service) -> None:
    found = ask(service, "How many did Ann Lee direct?", DIRECTED, relevance=0.1)
    assert found.answer is None


def test_a_film_called_by_a_year_is_no_constraint(service: Service) -> None:
    found = ask(service, "Who directed 1984?", [("P57", False)])
    assert found.constraints == ()
    assert end(found.items[0]) == "Bob Ray"


def test_of_a_long_text_the_sentence_that_asks_is_read(service: Service) -> None:
    question = "How many films did Ann Lee direct? " + "Tell me more, please. " * 30
    found = ask(service, question, DIRECTED)
    assert found.answer is not None
    assert (found.constraints, found.answer.value) == ((), "3")


def test_numbers_by_which_constraints_weigh_are_told(service: Service) -> None:
    told = ask(service, "films directed by Ann Lee", DIRECTED).provenance.parameters
    assert told["constraints"] == CONSTRAINT_RULES.parameters()


def test_a_question_without_constraints_has_the_result_it_had(service: Service) -> None:
    found = ask(service, "films directed by Ann Lee", DIRECTED)
    assert found.constraints == ()
    assert found.answer is not None
    assert found.answer.values == ("Q11", "Q12", "Q13")
    assert all(item.constraints == () for item in found.items)
    assert "unmet" not in {part.name for item in found.items for part in item.parts}
