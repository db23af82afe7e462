"""Answers that follow from several statements or from a qualifier: kin, ages, dates of offices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from graphs import load_graph
from table_service import answers, retrieve, sure_answers, table_service

from graph_service import Service, open_service
from graph_service.model.answer import AnswerKind
from graph_service.model.render import is_stated_by
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import PathsResult, Status, Strategy, TripletsResult
from graph_service.model.statement import Entity, EntityKind, Snak, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue, Time, Value
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.settings import Settings
from graph_service.store import open_store

_RELATIONS = {
    "P1": "father", "P2": "mother", "P3": "sex or gender", "P4": "date of birth",
    "P5": "date of death", "P6": "spouse", "P7": "position held", "P8": "sibling",
    "P580": "start time", "P582": "end time", "P585": "point in time", "P9": "award received",
    "since": "since", "P11": "member of", "P12": "employer",
}  # fmt: skip
_PARENTS = {
    "Ida Falk": ("Rolf Falk", "Greta Falk"),
    "Ole Falk": ("Rolf Falk", "Greta Falk"),
    "Ines Falk": ("Rolf Falk", "Greta Falk"),
    "Nils Berg": ("Tor Berg", "Ida Falk"),
    "Lena Berg": ("Tor Berg", "Ida Falk"),
    "Paul Falk": ("Ole Falk", ""),
    "Mia Falk": ("Ole Falk", ""),
    "Kai Berg": ("Nils Berg", ""),
    "Jon Dahl": ("Arn Dahl", ""),
    "Arn Dahl": ("Odd Dahl", ""),
    "Siv Dahl": ("Odd Dahl", ""),
}
_MEN = {"Rolf Falk", "Ole Falk", "Tor Berg", "Nils Berg", "Paul Falk", "Kai Berg", "Jon Dahl",
        "Arn Dahl", "Odd Dahl"}  # fmt: skip
_WITHOUT_SEX = {"Siv Dahl"}
_DATES = {
    "Rolf Falk": ("1901-06-15", "1960-06-14"),
    "Greta Falk": ("1905-06-15", "1960-06-15"),
    "Tor Berg": ("1931-00-00", "1990-00-00"),
    "Ida Falk": ("1930-01-02", ""),
}
_OTHER_HOLDERS = frozenset({"P1365", "P1366"})
_QUALIFIED: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
    ("Rolf Falk", "P6", "Greta Falk", {"P580": "1925-05-01", "P582": "1958-03-00"}),
    ("Tor Berg", "P6", "Ida Falk", {"P580": "1950-07-08"}),
    ("Tor Berg", "P6", "Eva Lund", {"P580": "1975-01-01"}),
    ("Ole Falk", "P6", "Eva Lund", {"P580": "1960-01-01"}),
    ("Ole Falk", "P6", "Una Moe", {}),
    ("Rolf Falk", "P7", "Mayor of Narvik", {"P580": "1930-02-00", "P582": "1941-00-00"}),
    ("Tor Berg", "P7", "Mayor of Narvik", {"P580": "1970-00-00", "P1365": "Ole Falk"}),
    (
        "Tor Berg",
        "P7",
        "Deputy Mayor of Narvik",
        {"P580": "1966-00-00", "P1365": "Jon Dahl", "P1366": "Arn Dahl"},
    ),
    ("Rolf Falk", "P9", "Order of the Whale", {"P585": "1955-01-01"}),
    ("Ida Falk", "P9", "Order of the Whale", {}),
    ("Ida Falk", "P12", "Narvik Shipyard", {"since": "1961-04-01"}),
)


def _time(day: str) -> Time:
    return Time(f"{day}T00:00:00Z", 9 if "-00-00" in day else 10 if day.endswith("-00") else 11)


def _statements() -> Iterator[Statement]:
    def say(
        head: str, relation: str, value: Value, qualifiers: Mapping[str, str] = {}
    ) -> Statement:
        snaks = tuple(
            Snak(key, EntityValue(text) if key in _OTHER_HOLDERS else _time(text))
            for key, text in qualifiers.items()
        )
        return make_statement(head, relation, value, qualifiers=snaks)

    for child, parents in _PARENTS.items():
        for relation, parent in zip(("P1", "P2"), parents, strict=True):
            if parent:
                yield say(child, relation, EntityValue(parent))
    for person in _people() - _WITHOUT_SEX:
        yield say(person, "P3", EntityValue("male" if person in _MEN else "female"))
    for person, days in _DATES.items():
        for relation, day in zip(("P4", "P5"), days, strict=True):
            if day:
                yield say(person, relation, _time(day))
    for head, relation, value, qualifiers in _QUALIFIED:
        yield say(head, relation, EntityValue(value), qualifiers)
    yield say("Ida Falk", "P11", StringValue("rowing club"))


def _people() -> set[str]:
    return {*_PARENTS, *(each for pair in _PARENTS.values() for each in pair if each)}


def _entities() -> Iterator[Entity]:
    for id_, label in _RELATIONS.items():
        yield Entity(id_, EntityKind.PROPERTY, labels={"en": label})
    others = {value for _, _, value, _ in _QUALIFIED} | {"male", "female"}
    for name in sorted(_people() | others):
        yield Entity(name, labels={"en": name})


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("derived")
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load_graph(store, "falks", _statements(), _entities())
        settings = Settings(
            vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph="falks"
        )
        with open_service(store, settings=settings) as service:
            yield service


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the uncle of Nils Berg?", {"Ole Falk"}),
        ("who are nils berg's aunts", {"Ines Falk"}),
        ("Who is a cousin of Paul Falk?", {"Lena Berg", "Nils Berg"}),
        ("Nils Berg's aunts and uncles", {"Ines Falk", "Ole Falk"}),
        ("List the cousins of Lena Berg.", {"Mia Falk", "Paul Falk"}),
        ("Who are the nephews of Ole Falk?", {"Nils Berg"}),
        ("nieces of Ines Falk", {"Lena Berg", "Mia Falk"}),
        ("Who are Rolf Falk's great-grandchildren?", {"Kai Berg"}),
        ("Who is Paul Falk's grandma?", {"Greta Falk"}),
        ("Who was Kai Berg's great-uncle?", {"Ole Falk"}),
        ("How many grandchildren does Greta Falk have?", {"4"}),
        ("Does Nils Berg have an aunt?", {"yes"}),
        ("does nils berg have a sister", {"yes"}),
        ("Did Rolf Falk have any sons?", {"yes"}),
    ],
)
def test_kin_by_way_of_parents(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


def test_kin_are_cited_by_each_step_and_read_as_a_query(service: Service) -> None:
    result = retrieve(service, "Who is the uncle of Nils Berg?")
    assert result.answer is not None
    assert result.interpretation is not None
    (path,) = result.items
    assert [step.triple.relation.label for step in path.steps] == ["mother", "father", "father"]
    assert {row.triple.relation.label for row in result.answer.basis} >= {"sex or gender", "mother"}
    assert "Rolf Falk" in result.interpretation.text


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Who is the aunt of Jon Dahl?", id="a sex that is not said"),
        pytest.param("Who are the uncles of Rolf Falk?", id="no parents"),
        pytest.param("Does Jon Dahl have a cousin?", id="none, which is no no"),
        pytest.param("Does Paul Falk have a brother?", id="no brother, which is no no"),
        pytest.param("Does Paul Falk have a daughter?", id="no children"),
        pytest.param("Who is Nils Berg's great-cousin?", id="a cousin that is none"),
        pytest.param("Which uncles of Nils Berg were born in Oslo?", id="a further condition"),
    ],
)
def test_kin_that_are_not_known(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "age"),
    [
        ("How old was Rolf Falk when he died?", "58"),
        ("At what age did Greta Falk die?", "55"),
        ("how old did greta falk get", "55"),
        ("Rolf Falk's age at death", "58"),
    ],
)
def test_ages_at_death(service: Service, question: str, age: str) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert result.answer is not None
    assert (result.answer.kind, result.answer.text) == (AnswerKind.COUNT, age)
    assert [row.triple.relation.label for row in result.answer.basis] == [
        "date of birth",
        "date of death",
    ]


@pytest.mark.parametrize("label", ["birthday", "born", "dob"])
def test_ages_of_a_table_by_each_word_for_a_birth(tmp_path: Path, label: str) -> None:
    sailors = f"name,{label},died\nAda Finch,1900-01-02,1950-03-04\nBo Reed,1911-05-06,1999-07-08\n"
    with table_service(tmp_path, {"sailors": sailors}) as service:
        result = retrieve(service, "How old was Ada Finch when she died?")
    assert result.answer is not None
    assert result.answer.text == "50"


@pytest.mark.parametrize("name", ["Tor Berg", "Ida Falk", "Ole Falk"])
def test_ages_that_the_dates_do_not_tell(service: Service, name: str) -> None:
    assert retrieve(service, f"How old was {name} when they died?").status is not Status.OK


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Rolf Falk become mayor?", {"1930-02"}),
        ("since when was Rolf Falk mayor of Narvik", {"1930-02"}),
        ("When did Rolf Falk stop being the mayor of Narvik?", {"1941"}),
        ("Until when was Rolf Falk mayor?", {"1941"}),
        ("When did Tor Berg become mayor?", {"1970"}),
        ("When did Tor Berg become deputy mayor?", {"1966"}),
        ("when did tor berg get married", {"1950-07-08", "1975-01-01"}),
        ("When did Tor Berg marry Eva Lund?", {"1975-01-01"}),
        ("When was Rolf Falk married?", {"1925-05-01"}),
        ("When did Rolf Falk and Greta Falk divorce?", {"1958-03"}),
        ("When did Rolf Falk win the Order of the Whale?", {"1955-01-01"}),
        ("In which year did Ida Falk start working at Narvik Shipyard?", {"1961-04-01"}),
    ],
)
def test_dates_of_statements(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


def test_a_date_of_a_statement_cites_it_and_is_no_part_of_what_it_says(service: Service) -> None:
    request = RetrieveRequest("When did Rolf Falk become mayor?", Strategy.TRIPLETS, details=True)
    result = service.retrieve(request)
    assert isinstance(result, TripletsResult)
    assert result.answer is not None
    (row,) = result.answer.basis
    assert row.triple.value_label == "Mayor of Narvik"
    assert {snak.relation for snak in row.triple.qualifiers} == {"P580", "P582"}
    # Who writes an answer of statements must write the date beside them.
    assert not is_stated_by(result.answer, [item.triple for item in result.items])


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("When did Ole Falk marry?", id="a marriage without a date"),
        pytest.param("When did Tor Berg divorce Ida Falk?", id="a marriage without an end"),
        pytest.param("When did Ida Falk win the Order of the Whale?", id="no date"),
        pytest.param("When did Rolf Falk become mayor of Oslo?", id="another place"),
        pytest.param("When did Ida Falk become a dentist?", id="no such statement"),
        pytest.param("When did Rolf Falk become deputy mayor?", id="another office"),
    ],
)
def test_dates_that_no_statement_has(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who did Tor Berg replace as mayor?", {"Ole Falk"}),
        ("who was deputy mayor before tor berg", {"Jon Dahl"}),
        ("Who was Deputy Mayor of Narvik after Tor Berg?", {"Arn Dahl"}),
        ("Who succeeded Tor Berg?", {"Arn Dahl"}),
        ("Who was Tor Berg's successor as deputy mayor?", {"Arn Dahl"}),
    ],
)
def test_who_held_an_office_before_and_after(
    service: Service, question: str, expected: set[str]
) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert answers(result) == expected
    assert [each.start for each in result.linked] == sorted(each.start for each in result.linked)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Who succeeded Tor Berg as mayor?", id="nobody is named"),
        pytest.param("Who did Tor Berg replace?", id="one in each of two offices"),
        pytest.param("Who did Tor Berg replace as mayor of Oslo?", id="another office"),
        pytest.param("Who replaced Ida Falk?", id="no office"),
    ],
)
def test_who_held_an_office_that_is_not_known(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_a_birth_is_nothing_that_somebody_did(service: Service) -> None:
    assert retrieve(service, "When was Ida Falk born?").status is Status.OK
    assert retrieve(service, "When did Ida Falk become a rower?").status is not Status.OK


def test_a_view_without_the_statement_has_no_date_of_it(service: Service) -> None:
    spec = ViewSpec(method=Method.EDGE_DELETION, level=1.0, random_seed=0)
    request = RetrieveRequest("When did Rolf Falk become mayor?", Strategy.PATHS)
    result = service.retrieve(replace(request, view=ViewRef(spec=spec)))
    assert isinstance(result, PathsResult)
    assert result.answer is None


def test_fewer_items_than_the_answer_has_are_said(service: Service) -> None:
    request = RetrieveRequest("grandchildren of Rolf Falk", Strategy.PATHS, limit=2)
    result = service.retrieve(request)
    assert isinstance(result, PathsResult)
    assert len(answers(result)) == 4
    assert len(result.items) == 2
    assert any(cut.what == "items" for cut in result.truncated)
