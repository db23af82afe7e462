"""Relations that are called as DBpedia's are, asked for in common words."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "people": """Name,birth place,death place,alma mater,father
Nils Aker,Kelmouth,Saltwick,Orrin College,Ole Dahl
Ida Falk,Saltwick,Kelmouth,Orrin College,
Ole Dahl,Kelmouth,Kelmouth,Vessel School,
""",
    "films": """Name,starring,director
The Grey Otter,Nils Aker; Ida Falk,Ole Dahl
Winter Lantern,Ida Falk,Nils Aker
""",
    "labels": """Name,parent company,sister station
Lantern Records,Brisk Holding,Radio Otter
Radio Otter,Brisk Holding,Radio Brisk
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who died in Kelmouth?", {"Ida Falk", "Ole Dahl"}),
        ("Who is the parent company of Lantern Records?", {"Brisk Holding"}),
        ("What is the sister station of Radio Otter?", {"Radio Brisk"}),
        ("Who is the father of Nils Aker?", {"Ole Dahl"}),
    ],
)
def test_question_in_common_words_has_its_relation(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    ["Did Nils Aker star in The Grey Otter?", "Does The Grey Otter star Nils Aker?"],
)
def test_who_stars_in_a_film_is_its_starring(service: Service, question: str) -> None:
    assert sure_answers(service, question) == {"yes"}


def test_film_stars_in_nobody(service: Service) -> None:
    assert retrieve(service, "Does The Grey Otter star in Nils Aker?").status is not Status.OK


@pytest.mark.parametrize(
    "question",
    ["Who is the parent of Lantern Records?", "Who is the sister of Radio Otter?"],
)
def test_first_word_of_a_relation_alone_is_kin(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK
