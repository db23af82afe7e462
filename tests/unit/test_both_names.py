"""What is said of two names by *and* is so of both, by one relation, the same way about."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "thinkers": """Name,Influenced by,Friend,Born in
Ada Moor,Bo Lind; Cy Falk,Dan Roe,Kelmouth
Dan Roe,Bo Lind,Cy Falk,Kelmouth
Eva Sund,Cy Falk,,Saltwick
Bo Lind,Fay Oak,,Saltwick
Cy Falk,Bo Lind,Eva Sund,Kelmouth
Fay Oak,Cy Falk,,Kelmouth
""",
    "countries": """Name,Borders,Trades with
Norvia,Suland; Ostmark,Westria
Suland,Ostmark,Norvia
Ostmark,Westria,Norvia
Westria,Suland,Ostmark
Island,,Norvia
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was influenced by both Bo Lind and Cy Falk?", {"Ada Moor"}),
        ("Which countries border both Norvia and Westria?", {"Suland", "Ostmark"}),
        ("Which countries border Norvia and Westria?", {"Suland", "Ostmark"}),
    ],
)
def test_both_are_met_by_the_relation_that_is_said(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who was influenced by both Bo Lind and Eva Sund?",  # nobody
        "Which countries border both Island and Westria?",  # Norvia trades with the island
    ],
)
def test_what_holds_of_one_name_alone_is_not_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK
