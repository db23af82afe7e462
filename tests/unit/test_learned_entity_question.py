"""A question as it is asked of one name: what is left of it, and where its words stand."""

from __future__ import annotations

import numpy as np
import pytest
from word_vectors import WordVectors

from graph_service.retrieve.context import Encoder
from graph_service.retrieve.learned.entity_question import (
    FEATURE_WORDS,
    EntityQuestion,
    question_word_features,
    read_entity_question,
)


def read(question: str, name: str | None) -> EntityQuestion:
    span = None if name is None else (question.index(name), question.index(name) + len(name))
    return read_entity_question(question, span, Encoder(WordVectors().encode))


@pytest.mark.parametrize(
    ("question", "name", "words", "distance", "near", "far"),
    [
        # The name owns what follows it: that comes first.
        ("what is the sex of Ann's darling ?", "Ann", ("sex", "darling"), [-2, 2], 1, 0),
        # What stands before "of the name" hangs on it.
        ("what is the religion of the heir of Ann", "Ann", ("religion", "heir"), [-5, -2], 1, 0),
        # Else the nearest word.
        ("what school did Ann go to", "Ann", ("school", "go"), [-2, 1], 1, 0),
    ],
)
def test_words_by_their_distance_from_the_name(
    question: str, name: str, words: tuple[str, ...], distance: list[int], near: int, far: int
) -> None:
    asked = read(question, name)
    assert asked.words == words
    assert asked.distance.tolist() == distance
    assert asked.by_closeness().tolist() == [near, far]


def test_the_name_is_no_word_and_no_text() -> None:
    asked = read("who is Ann Lee's mother?", "Ann Lee")
    assert asked.text == "who is 's mother?"
    assert asked.words == ("mother",)
    assert asked.possessive
    assert not asked.owned
    assert asked.position == pytest.approx(10.5 / 24)


def test_nesting_counts_what_hangs_a_noun_on_another() -> None:
    assert read("the gender of the mother of Ann's son", "Ann").nesting == 3
    assert read("where was Ann born", "Ann").nesting == 0


@pytest.mark.parametrize(
    ("question", "owned"),
    [
        ("mother of Ann", True),
        ("mother of the Ann", True),
        ("mother to Ann", False),
        ("Ann", False),
    ],
)
def test_of_before_the_name_says_that_it_owns(question: str, owned: bool) -> None:
    assert read(question, "Ann").owned is owned


def test_an_entity_that_is_not_named_leaves_the_whole_question() -> None:
    asked = read("who directed it", None)
    assert asked.text == "who directed it"
    assert asked.words == ("directed",)
    assert asked.position == 0.5


def test_a_question_without_words_of_its_own_has_none_by_closeness() -> None:
    asked = read("what is Ann?", "Ann")
    assert asked.words == ()
    assert asked.word_vectors.shape == (0, len(asked.vector))
    assert asked.by_closeness().tolist() == []


def test_question_words_are_found_as_words() -> None:
    found = question_word_features("How many films did Whoopi make, and where?")
    assert dict(zip([*FEATURE_WORDS, "none"], found.tolist(), strict=True)) == {
        "who": 0.0, "where": 1.0, "when": 0.0, "which": 0.0, "what": 0.0, "how many": 1.0,
        "how": 1.0, "whose": 0.0, "none": 0.0,
    }  # fmt: skip
    assert question_word_features("name his films").tolist() == [*np.zeros(8), 1.0]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("where did Ann die?", ("die",)),
        ("which war was Ann in", ("war",)),
        ("who is the son of Ann?", ("son",)),
        ("wer sind die Eltern von Ann", ("eltern",)),
        ("wer war die Mutter von Ann", ("mutter",)),
    ],
)
def test_words_of_english_are_said_though_another_language_has_them(
    question: str, said: tuple[str, ...]
) -> None:
    assert read(question, "Ann").words == said


@pytest.mark.parametrize(
    "word",
    [
        "also",
        "alongside",
        "another",
        "common",
        "else",
        "fellow",
        "other",
        "others",
        "same",
        "share",
        "shared",
    ],
)
def test_words_that_ask_for_what_else_stands_so(word: str) -> None:
    assert read(f"who {word} starred with Ann", "Ann").of_others
    # The name itself asks for nothing.
    assert not read(f"who starred with Ann {word}", f"Ann {word}").of_others
