"""Words of a walked relation's name are used up: they name no thing, and no second step (P4)."""

from __future__ import annotations

import pytest
from table_service import answers, retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

service = service_of(
    {
        "customers": "Customer,Account manager,Country\nAlpine Dairy,Tomas Novak,Austria\n"
        "Bergen Fish,Sam Brien,Norway\nCasa Verde,Priya Raman,Spain\nGamma Labs,,Germany\n"
        "Delta Print,Lena Fischer,Norway\n",
        "parts": "Part,Supplier,Price (EUR),Colour\nSaddle,Kestrel,1301.60,blue\n"
        "Hub Bearing,Pola Plastics,98.97,red\nBrake Disc,Pola Plastics,287.04,red\n",
        "tenants": "Tenant,Monthly fee\nOslo Ski,450\nVoss Bikes,99\nMoss Boats,1900\n",
        "shows": "Show,Art director\nTall Ships,Ann Lee\nOld Moor,Bob Ray\nGate Hill,Ann Lee\n",
        "artists": "Artist,Director,Fee\nAnn Lee,Cid Poe,10\nBob Ray,Dora Fox,20\nCid Poe,,30\n"
        "Dora Fox,Cid Poe,40\n",
        "staff": "No,Name,Job title,Manager,City\nE1,Amina Diallo,Head of Sales,,Lyon\n"
        "E2,Tomas Novak,Account Manager,Amina Diallo,Brno\n"
        "E3,Priya Raman,Account Manager,Lena Fischer,Chennai\n"
        "E4,Lena Fischer,Engineer,Amina Diallo,Ulm\nE5,Sam Brien,Account Manager,Amina Diallo,Cork\n",
    }
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is the account manager of Alpine Dairy?", "Tomas Novak"),
        # Her job is another one.
        ("Who is the account manager of Delta Print?", "Lena Fischer"),
        ("Who is Casa Verde's account manager?", "Priya Raman"),
        ("Who is Alpine Dairy's account manager?", "Tomas Novak"),
        ("Who is Delta Print's account manager?", "Lena Fischer"),
        ("Who is Tall Ships' art director?", "Ann Lee"),
        ("Who is the director of Tall Ships' art director?", "Cid Poe"),
        ("Who is the manager of Delta Print's account manager?", "Amina Diallo"),
        ("Who is the manager of the account manager of Casa Verde?", "Lena Fischer"),
        ("Is Tomas Novak an account manager?", "yes"),
    ],
)
def test_a_name_that_is_a_relation_of_the_walk_is_used_up(
    service: Service, question: str, answer: str
) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert answers(result) == {answer}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does the Saddle cost?", "1301.60 EUR"),
        ("How much did Saddle cost?", "1301.60 EUR"),
        ("What does Kestrel supply?", "Saddle"),
        ("What does the Brake Disc cost?", "287.04 EUR"),
    ],
)
def test_the_verb_after_a_name_is_no_part_of_it(
    service: Service, question: str, answer: str
) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert answers(result) == {answer}


def test_a_name_with_another_word_before_its_verb_is_another(service: Service) -> None:
    assert retrieve(service, "What does Saddle Miller cost?").status is not Status.OK


def test_what_is_paid_is_a_fee(service: Service) -> None:
    result = retrieve(service, "Which tenants pay more than 400?")
    assert result.status is Status.OK
    assert answers(result) == {"Oslo Ski", "Moss Boats"}
