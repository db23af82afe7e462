"""A noun that names another relation than the one walked is noticed."""

from __future__ import annotations

import pytest
from demo_graph import request

from graph_service import Service
from graph_service.model.result import Status, Strategy
from graph_service.retrieve.constraints.owned_nouns import owned_phrases


@pytest.mark.parametrize(
    ("question", "name", "phrases"),
    [
        ("Who is the boss of Ann Lee?", "Ann Lee", [["boss"]]),
        ("What is Ann Lee's shoe size?", "Ann Lee", [["shoe", "size"]]),
        ("What is the cause of death of Ann Lee?", "Ann Lee", [["death"], ["cause"]]),
        ("Who is the mother of Ann Lee's husband?", "Ann Lee", [["husband"], ["mother"]]),
        ("Who is Ann’s brother’s boss?", "Ann", [["brother"], ["boss"]]),
        ("Where was Ann Lee born?", "Ann Lee", []),
        ("Is Ann Lee's?", "Ann Lee", []),
    ],
)
def test_nouns_that_a_name_owns(question: str, name: str, phrases: list[list[str]]) -> None:
    start = question.index(name)
    owned = owned_phrases(question, (start, start + len(name)))
    assert [[word for word, _, _ in phrase] for phrase in owned] == phrases
    assert owned_phrases(question, (-1, -1)) == []


@pytest.mark.parametrize(
    "noun", ["boss", "hobby", "supervisor", "skill", "colleague", "income", "blood type"]
)
def test_a_relation_that_the_graph_lacks_is_not_answered_by_its_neighbour(
    demo_service: Service, noun: str
) -> None:
    for question in (
        f"Who is the {noun} of Arnold Schwarzenegger?",
        f"What is Arnold Schwarzenegger's {noun}?",
    ):
        asked = request(question, Strategy.PATHS, graph="demo")
        assert demo_service.retrieve(asked).status is not Status.OK, question


@pytest.mark.parametrize("noun", ["profession", "career", "wife", "birthday", "gender", "party"])
def test_other_words_for_a_relation_of_the_graph_are_read(demo_service: Service, noun: str) -> None:
    asked = request(f"What is the {noun} of Arnold Schwarzenegger?", Strategy.PATHS, graph="demo")
    assert demo_service.retrieve(asked).status is Status.OK
