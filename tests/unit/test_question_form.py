"""One reader of question words serves all of retrieval."""

from __future__ import annotations

import pytest

from graph_service.text.question_form import read_form


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was Ann born?", True),
        ("And when was she born?", True),
        ("Since when is it so?", True),
        ("On which date did it open?", True),
        ("What time does it start?", True),
        ("In what month did it end?", True),
        ("Which dates are dried?", False),
        ("Which time zone is it in?", False),
        ("Who died when it ended?", False),
    ],
)
def test_which_questions_ask_for_a_time(question: str, expected: bool) -> None:
    assert read_form(question).asks_for_time is expected


def test_a_time_may_be_asked_for_by_any_words() -> None:
    for question in ("when was she born?", "what year did she win?", "how old was he in 1990?"):
        assert read_form(question).mentions_time, question
    for question in ("which films came out in the year 1994?", "what did she do before 1990?"):
        assert not read_form(question).mentions_time, question


@pytest.mark.parametrize(
    ("question", "degree"),
    [
        ("How tall is Ann?", "tall"),
        ("so how FAR is it", "far"),
        ("for how long?", "long"),
        ("How do I know?", ""),
        ("How many are tall?", ""),
    ],
)
def test_which_amount_is_asked_for(question: str, degree: str) -> None:
    assert read_form(question).degree == degree


@pytest.mark.parametrize(
    ("question", "what", "who"),
    [
        ("What did Ann borrow?", True, False),
        ("And what does she sell?", True, False),
        ("For what did Ann pay?", False, False),
        ("What is Ann?", False, False),
        ("Who bought the lamp?", False, True),
        ("Who has borrowed it?", False, True),
        ("Who does Ann know?", False, False),
        ("Who?", False, False),
    ],
)
def test_which_questions_ask_for_a_deed(question: str, what: bool, who: bool) -> None:
    form = read_form(question)
    assert (form.asks_what_is_done, form.asks_who_acts) == (what, who)


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("In which of the towns is it?", ("towns", "is")),
        ("How many films are there?", ("films", "are")),
        ("What?", ()),
        ("Who is ill?", ()),
    ],
)
def test_the_noun_of_what_is_asked_for(question: str, nouns: tuple[str, ...]) -> None:
    assert read_form(question).nouns == nouns


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is Ann ill?", True),
        ("And didn't she call?", True),
        ("Do you know Ann?", False),
        ("Can Ann sing?", False),
        ("Who is Ann?", False),
    ],
)
def test_which_questions_are_for_yes_or_no(question: str, expected: bool) -> None:
    assert read_form(question).is_for_yes_or_no is expected


def test_the_words_that_count_are_marked() -> None:
    for question, expected in (
        ("How many films are there?", "How many"),
        ("Tell me the number of films", "Tell me the number of"),
        ("How many times did it win?", None),
    ):
        span = read_form(question).count_span
        assert (span and question[slice(*span)]) == expected
    assert read_form("And how much is it?").how_much_span == (4, 12)


@pytest.mark.parametrize(
    "question",
    [
        "Describe the career of X.",
        "please explain what Y did",
        "why is X remembered?",
        "How has X influenced later thrillers?",
        "how did X die",
        "What role did politics play in the life of X?",
        "What happened to X in the end?",
        "Tell me about X",
        "Tell me all about X",
        "tell us everything about X",
        "What do we know about the private life of X?",
        "What is the relationship between X and Y?",
    ],
)
def test_a_question_asks_for_an_account(question: str) -> None:
    assert read_form(question).asks_for_account


@pytest.mark.parametrize(
    "question",
    [
        "How old is X?",
        "how many films did X direct",
        "how long is X",
        "Who is X?",
        "what is the capital of X",
        "whydah gally ship class",
        "who wrote Why We Fight",
        "tell me the director of X",
        "give me the birthplace of X",
        "",
    ],
)
def test_a_question_asks_for_a_value(question: str) -> None:
    assert not read_form(question).asks_for_account
