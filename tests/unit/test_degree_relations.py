"""Words of degree go by values of their own: who was hired first is not the oldest (P4)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status
from graph_service.retrieve.degree_relations import compares
from graph_service.retrieve.degree_words import DEGREE_WORDS

service = service_of(
    {
        "crew": "Name,Hired,Start date,Last updated,Salary\n"
        "Ada Moe,2018-03-12,2018-04-01,2024-01-01,61000\n"
        "Ben Roy,2021-01-18,2021-02-01,2023-05-01,52000\n"
        "Cleo Fox,2019-06-03,2019-07-01,2022-04-01,47000\n",
        "orders": "Order No,Due date,Width,Revenue (EUR)\nA-1,2024-01-05,3,100\n"
        "A-2,2024-03-05,5,300\nA-3,2024-02-05,4,200\n",
        "players": "Player,Age,Weight\nAnn Lee,31,60\nBob Ray,25,80\nCid Poe,40,70\n",
        "shops": "Shop,Since,Opened\nAlpine Dairy,2021-04-10,1999-02-01\n"
        "Fjord Tours,2020-03-03,2005-07-09\nCasa Verde,2022-02-15,2001-01-01\n",
        "clubs": "Club,Since\nGate Rovers,2021-04-10\nOld Moor,2024-03-03\nPort Sea,2022-01-01\n",
    }
)


@pytest.mark.parametrize(
    "question",
    [
        "Who is older, Ada Moe or Ben Roy?",
        "Who is younger, Ada Moe or Ben Roy?",
        "Is Ada Moe older than Ben Roy?",
        "Who was born earlier, Ada Moe or Ben Roy?",
        "Was Ada Moe born before Ben Roy?",
        "Who died first, Ada Moe or Ben Roy?",
        "Who retired earlier, Ada Moe or Ben Roy?",
        "Which of the crew is the oldest?",
        "Which is older, Gate Rovers or Old Moor?",
        "Which club is the oldest?",
        "Which order is older, A-1 or A-2?",
        "Which order is newer, A-1 or A-2?",
        "Which order is the oldest?",
        "Which order is the latest?",
        "Which order came first, A-1 or A-2?",
        "Which order is longer, A-1 or A-2?",
        "Which order is bigger, A-1 or A-2?",
        "Which order is the longest?",
        "Which order is cheaper, A-1 or A-2?",
        "Which order is the cheapest?",
        "Who is taller, Ann Lee or Bob Ray?",
    ],
)
def test_no_other_value_answers_what_the_table_lacks(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who was hired earlier, Ada Moe or Ben Roy?", "Ada Moe"),
        ("Who joined earlier, Ada Moe or Ben Roy?", "Ada Moe"),
        ("Which shop is older, Alpine Dairy or Fjord Tours?", "Alpine Dairy"),
        ("Which shop is the oldest?", "Alpine Dairy"),
        ("Which order is wider, A-1 or A-2?", "A-2"),
        ("Who is heavier, Ann Lee or Bob Ray?", "Bob Ray"),
        ("Who is older, Ann Lee or Bob Ray?", "Ann Lee"),
        ("Is Bob Ray younger than Ann Lee?", "yes"),
        ("Who is the oldest player?", "Cid Poe"),
        ("Which player is the youngest?", "Bob Ray"),
    ],
)
def test_a_value_of_its_own_answers(service: Service, question: str, answer: str) -> None:
    assert sure_answers(service, question) == {answer}


def test_what_is_first_or_newest_goes_by_no_end() -> None:
    newest = DEGREE_WORDS["newest"].meanings
    labels = ("published", "since", "due date", "end time", "last updated", "date of death")
    assert [compares(newest, label) for label in labels] == [True, True, *[False] * 4]
