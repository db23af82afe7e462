"""The noun or verb that says what a question asks for, and the candidates that end in it."""

from __future__ import annotations

import doctest

import pytest

from graph_service.retrieve.learned import asked_nouns
from graph_service.retrieve.learned.asked_nouns import requested_bonus, requested_stems


def test_examples() -> None:
    assert doctest.testmod(asked_nouns).failed == 0


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("who directed the films that X wrote?", {"direct"}),
        ("By whom were the films of X directed?", {"direct"}),
        ("Name all the languages of films by X.", {"languag"}),
        ("tell me the genre of X", {"genr"}),
        ("what languages do they speak in X?", {"languag"}),
        # Neither says what is asked for.
        ("what kind of films are by X", set()),
        ("what is X?", set()),
        ("who is X?", set()),
        ("where was X born?", set()),
    ],
)
def test_what_says_what_is_asked_for(question: str, stems: set[str]) -> None:
    assert requested_stems(question) == stems


def bonus(question: str, *last: tuple[str, bool]) -> list[bool]:
    """Whether two steps of which each of these is the last one gain by what a question asks for."""
    bonuses = requested_bonus(question, [[("cast member", True), step] for step in last])
    return [bool(each > 0) for each in bonuses]


def test_the_last_step_is_what_the_noun_names() -> None:
    last = [("directed by", False), ("directed by", True), ("director", False), ("genre", False)]
    assert bonus("who directed the films that X wrote?", *last) == [True, False, True, False]
    assert not any(bonus("who is X?", *last))
    parts = [("part of", False), ("part of", True), ("has part", False), ("has part", True)]
    assert bonus("Which part of X is the heaviest?", *parts) == [False, True, True, False]


def test_one_step_gains_nothing() -> None:
    assert not requested_bonus("who directed X?", [[("directed by", False)]]).any()
