"""Plain look-ups have an answer too: all that the best paths lead to, on every strategy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from table_service import service_of

from graph_service import Service, open_service
from graph_service.model.answer import AnswerKind
from graph_service.model.render import is_stated_by
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Answer, PathsResult, Status, Strategy, TripletsResult
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load

service = service_of(
    {
        "people": """Name,Mother,Born,Teacher
Ida Falk,Ann Berg,1951-02-03,Bo Lind
Ole Falk,Ann Berg,1953-07-01,Bo Lind
Per Falk,Ann Berg,1958-09-12,
Ann Berg,Eva Moe,1920-01-05,Bo Lind
Eva Moe,,1895-11-30,
Bo Lind,Eva Moe,1922-04-04,
"""
    }
)
CHILDREN = RetrieveRequest("Whose mother is Ann Berg?", Strategy.PATHS, limit=2)


def answer(service: Service, question: str, strategy: Strategy = Strategy.PATHS) -> Answer:
    result = service.retrieve(RetrieveRequest(question, strategy))
    assert result.status is Status.OK
    assert result.answer is not None
    return result.answer


@pytest.mark.parametrize("strategy", [*Strategy])
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the mother of Ida Falk?", "Ann Berg"),
        ("Who is the mother of Ida Falk's mother?", "Eva Moe"),
        ("When was Ida Falk born?", "1951-02-03"),
    ],
)
def test_a_look_up_has_its_answer(
    service: Service, strategy: Strategy, question: str, text: str
) -> None:
    single = answer(service, question, strategy)
    assert (single.kind, single.text, single.truncated) == (AnswerKind.ENTITIES, text, False)
    assert single.basis


def test_a_date_is_told_as_a_value(service: Service) -> None:
    single = answer(service, "When was Ida Falk born?")
    assert single.entities == ()
    assert single.values == ("1951-02-03",)


def test_all_is_listed_where_fewer_paths_are_shown(service: Service) -> None:
    result = service.retrieve(CHILDREN)
    assert isinstance(result, PathsResult)
    assert result.answer is not None
    assert len(result.items) == 2
    assert set(result.answer.text.split(", ")) == {"Ida Falk", "Ole Falk", "Per Falk"}
    assert result.answer.statements == 3
    # The first of its statements are those that the paths show.
    shown = [item.steps[-1].triple.statement_id for item in result.items]
    assert [row.triple.statement_id for row in result.answer.basis][:2] == shown


def test_statements_that_say_a_part_of_it_and_nothing_else_state_it(service: Service) -> None:
    result = service.retrieve(replace(CHILDREN, strategy=Strategy.TRIPLETS))
    assert isinstance(result, TripletsResult)
    assert result.answer is not None
    triples = [item.triple for item in result.items]
    assert len(triples) == 2
    assert is_stated_by(result.answer, triples)
    other = service.retrieve(RetrieveRequest("When was Ida Falk born?", Strategy.TRIPLETS))
    assert isinstance(other, TripletsResult)
    assert not is_stated_by(result.answer, [*triples, other.items[0].triple])
    assert not is_stated_by(result.answer, [])


def test_an_answer_that_is_not_sure_is_none(service: Service) -> None:
    result = service.retrieve(RetrieveRequest("What does Ida Falk eat?", Strategy.PATHS))
    assert result.status is not Status.OK
    assert result.answer is None


def test_a_word_that_nothing_accounts_for_leaves_the_paths_alone(service: Service) -> None:
    result = service.retrieve(
        RetrieveRequest("Who was the first mother of Ida Falk?", Strategy.PATHS)
    )
    assert result.answer is None


def test_of_two_namesakes_neither_is_the_answer_alone(tmp_path: Path) -> None:
    facts = tmp_path / "people.ttl"
    facts.write_text(
        """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:occupation rdfs:label "occupation" . :born rdfs:label "place of birth" .
:p1 rdfs:label "Lena Orr" ; :occupation :actor ; :born :oslo .
:p2 rdfs:label "Lena Orr" ; :occupation :stunts ; :born :bergen .
:p3 rdfs:label "Ivo Dahl" ; :occupation :actor ; :born :oslo .
:actor rdfs:label "actor" . :stunts rdfs:label "stunt performer" .
:oslo rdfs:label "Oslo" . :bergen rdfs:label "Bergen" .
"""
    )
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        load(facts, store=store, graph="people")
        with open_service(store, settings=Settings(graph="people")) as service:
            result = service.retrieve(
                RetrieveRequest("What is Lena Orr's occupation?", Strategy.PATHS)
            )
            assert isinstance(result, PathsResult)
            assert result.answer is None
            ends = [item.steps[-1].triple.value_label for item in result.items[:2]]
            assert set(ends) == {"actor", "stunt performer"}
            assert answer(service, "What is Ivo Dahl's occupation?").text == "actor"


def test_items_without_a_label_are_no_rows_with_codes(tmp_path: Path) -> None:
    facts = tmp_path / "clubs.ttl"
    facts.write_text(
        """@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:P112 rdfs:label "founded by" . wd:P31 rdfs:label "instance of" .
wd:Q1 rdfs:label "Juventa FC" ; wdt:P112 wd:Q982438 ; wdt:P31 wd:Q6 .
wd:Q2 rdfs:label "Torrent FC" ; wdt:P112 wd:Q982440 ; wdt:P31 wd:Q6 .
wd:Q982438 wdt:P31 wd:Q5 . wd:Q982440 wdt:P31 wd:Q5 .
wd:Q5 rdfs:label "human" . wd:Q6 rdfs:label "football club" .
"""
    )
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        load(facts, store=store, graph="clubs")
        with open_service(store, settings=Settings(graph="clubs")) as service:
            assert answer(service, "Who founded Juventa FC?").text == "Q982438"
