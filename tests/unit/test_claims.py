"""A question for yes or no: which way the relation goes, and what it does not tell."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "people": """Name,Student of,Country of citizenship,Position held,Award received
Nils Aker,Ida Falk,Norvia,Lord Keeper,Golden Oar
Ida Falk,Ole Dahl,Norvia,Harbour Master,Silver Oar
Ole Dahl,,Suland,Lord Keeper,Golden Oar
""",
    "firms": """Name,Owner of,Parent organization,Subsidiary,Country,Founded
Brisk Holding,Lantern Press,,Lantern Press,Norvia,1899-03-01
Lantern Press,Otter Films,Brisk Holding,Otter Films,Norvia,1912-05-07
Otter Films,,Lantern Press,,Suland,1950-10-02
""",
    "countries": """Name,Official language,Language taught,Kind
Norvia,Norvian,Sulish,kingdom
Suland,Sulish,Norvian,republic
""",
    "cities": """Name,Country,Capital of,Kind
Kelmouth,Norvia,Norvia,port
Saltwick,Suland,Suland,port
""",
    "deities": """Name,Emblem,Shrine
Janor,Janor,Kelmouth
Vesper,star,Saltwick
""",
    "presidents": """Name,Highest office of,Holders
President of Norvia,Norvia,Nils Aker; Ida Falk
President of Suland,Suland,Ole Dahl
""",
    "films": """Name,Director
Star Otter,Ida Falk
Star Otter VI,Ole Dahl
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    "question",
    [
        "Was Nils Aker a student of Ida Falk?",
        "Was Ida Falk a student of Ole Dahl?",
        "Does Brisk Holding own Lantern Press?",
        "Is Brisk Holding the owner of Lantern Press?",
        "Is Otter Films a subsidiary of Lantern Press?",
        "Is Kelmouth the capital of Norvia?",
        "Is Kelmouth in Norvia?",
        "Was Nils Aker ever Lord Keeper?",
        "Did Nils Aker receive the Golden Oar?",
    ],
)
def test_what_the_graph_says_is_so(service: Service, question: str) -> None:
    result = retrieve(service, question)
    assert result.answer is not None
    assert (result.status, result.answer.value) == (Status.OK, "yes")


@pytest.mark.parametrize(
    "question",
    [
        "Was Ida Falk a student of Nils Aker?",
        "Was Nils Aker the teacher of Ida Falk?",
        "Does Lantern Press own Brisk Holding?",
        "Is Lantern Press the owner of Brisk Holding?",
        "Is Lantern Press owned by Otter Films?",
        "Is Lantern Press a subsidiary of Otter Films?",
        "Is Norvia the capital of Kelmouth?",
        "Is Norvia in Kelmouth?",
        "Is Nils Aker in Norvia?",
    ],
)
def test_the_other_way_about_it_is_not(service: Service, question: str) -> None:
    result = retrieve(service, question)
    is_yes = result.answer is not None and result.answer.value == "yes"
    assert not (result.status is Status.OK and is_yes)


@pytest.mark.parametrize(
    "question",
    [
        "Was Nils Aker born in Norvia?",  # a citizen of it
        "Is Kelmouth a country?",  # it has one
        "Is Norvian spoken in Suland?",  # its official language is another
        "Is Nils Aker in Norvia?",
        "Was Star Otter IV directed by Ida Falk?",
        "Who directed Star Otter IV?",
        "How long has Otter Films existed?",  # a day is no span of time
        "What is Janor the deity of?",  # itself, by its emblem
        "How many presidents of Norvia were there?",  # one office
        "Which students of Ole Dahl are still alive?",  # who is dead is not said
    ],
)
def test_what_the_graph_does_not_tell_is_not_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_a_name_with_its_number_is_read(service: Service) -> None:
    result = retrieve(service, "Who directed Star Otter VI?")
    assert result.answer is not None
    assert (result.status, result.answer.value) == (Status.OK, "Ole Dahl")


def test_a_claim_names_what_the_graph_says_alone(service: Service) -> None:
    result = retrieve(service, "Was Nils Aker ever Lord Keeper?")
    assert result.interpretation is not None
    assert result.interpretation.text == "whether the position held of Nils Aker is Lord Keeper"
