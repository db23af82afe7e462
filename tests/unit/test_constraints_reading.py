"""What a question says beside its relations: dates, the form of its answer, and its traps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.model.days import Days, day, days_of, years
from graph_service.model.values import Quantity, StringValue, Time, Value
from graph_service.retrieve.constraints.reading import (
    AnswerForm,
    kin_of,
    read_answer,
    sex_of,
)
from graph_service.text.nouns import singular

NINETIES = years(1990, 1999)


@pytest.mark.parametrize(
    ("question", "text", "days"),
    [
        ("Which films came out in 1994?", "in 1994", years(1994, 1994)),
        ("the 1994 films of Ann Lee", "1994", years(1994, 1994)),
        ("films after 1990", "after 1990", years(1990, 1990).after()),
        ("books published later than 1990", "later than 1990", years(1990, 1990).after()),
        ("what had she starred in before 1966?", "before 1966", years(1966, 1966).before()),
        ("albums since 2001", "since 2001", years(2001, 2001).since()),
        ("albums from 2001 onwards", "from 2001 onwards", years(2001, 2001).since()),
        ("albums made in 2001 or later", "in 2001 or later", years(2001, 2001).since()),
        ("until 1950 he wrote what?", "until 1950", years(1950, 1950).until()),
        ("films from 1994", "from 1994", years(1994, 1994)),
        ("films between 1993 and 1998", "between 1993 and 1998", years(1993, 1998)),
        ("films from 1993 to 1998", "from 1993 to 1998", years(1993, 1998)),
        ("his songs, 1993-1998", "1993-1998", years(1993, 1998)),
        ("films in the 90s", "in the 90s", NINETIES),
        ("films of the '90s", "of the '90s", NINETIES),
        ("films of the nineties", "of the nineties", NINETIES),
        ("films from the 1990s", "from the 1990s", NINETIES),
        ("films after the 1990s", "after the 1990s", NINETIES.after()),
        ("kings of the 12th century", "of the 12th century", years(1101, 1200)),
        ("kings in the nineteenth century", "in the nineteenth century", years(1801, 1900)),
        ("born in March 1952", "in March 1952", day(1952, 3)),
        ("born on 11 March 1952", "on 11 March 1952", day(1952, 3, 11)),
        ("born on March 11th, 1952", "on March 11th, 1952", day(1952, 3, 11)),
        ("born on 1952-03-11", "on 1952-03-11", day(1952, 3, 11)),
        ("died in 44 BC", "in 44 BC", years(-44, -44)),
    ],
)
def test_dates_are_read_with_what_stands_before_them(question: str, text: str, days: Days) -> None:
    (date,) = read_answer(question).dates
    assert (date.text, date.days) == (text, days)
    assert question[date.start : date.end] == text


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("twenties", 1920),
        ("thirties", 1930),
        ("forties", 1940),
        ("fifties", 1950),
        ("sixties", 1960),
        ("seventies", 1970),
        ("eighties", 1980),
        ("nineties", 1990),
    ],
)
def test_each_decade_has_a_word(word: str, first: int) -> None:
    (date,) = read_answer(f"films of the {word}").dates
    assert date.days == years(first, first + 9)


def test_dates_after_a_span_are_read_too() -> None:
    read = read_answer("films between 1993 and 1998 by people born in 1950")
    assert [date.days for date in read.dates] == [years(1993, 1998), years(1950, 1950)]


@pytest.mark.parametrize(
    "question",
    [
        "Who lives in room 90210?",
        "How many people live in Oslo?",
        "Which of the 90 films is his?",
        "What is order 20011 for?",
        "between 10 and 20 films",
        "films longer than 90 minutes",
    ],
)
def test_other_numbers_are_no_dates(question: str) -> None:
    assert read_answer(question).dates == ()


def spans(question: str, *names: str) -> list[tuple[int, int]]:
    return [(question.index(name), question.index(name) + len(name)) for name in names]


def test_a_year_that_is_a_name_is_a_date_only_beside_another_name() -> None:
    # "1984" is a film here.
    for question, names, read in (
        ("who starred in 1984?", ("1984",), 0),
        ("did John Hurt like 1984?", ("John Hurt", "1984"), 0),
        ("what did John Hurt star in in 1984?", ("John Hurt", "1984"), 1),
        ("who won the 1996 Summer Olympics?", ("1996 Summer Olympics",), 0),
        ("who directed 2001: A Space Odyssey?", ("2001: A Space Odyssey",), 0),
    ):
        assert len(read_answer(question, spans(question, *names)).dates) == read, question


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How many films did Ann Lee direct?", AnswerForm.COUNT),
        ("what is the number of children of Ann Lee?", AnswerForm.COUNT),
        ("how many times was she married?", AnswerForm.ENTITIES),
        ("what is the atomic number of gold?", AnswerForm.ENTITIES),
        ("what is the phone number of Ann Lee?", AnswerForm.ENTITIES),
        ("Did Ann Lee direct Snow?", AnswerForm.YES_NO),
        ("Is Bob a child of Ann Lee?", AnswerForm.YES_NO),
        ("was Ann Lee born in Oslo?", AnswerForm.YES_NO),
        ("Do you know who directed Snow?", AnswerForm.ENTITIES),
        ("Is it known who directed Snow?", AnswerForm.ENTITIES),
        ("Was Ann Lee or Bob the director?", AnswerForm.ENTITIES),
        ("who is Ann Lee?", AnswerForm.ENTITIES),
        ("What is the most recent film starring Ann Lee?", AnswerForm.SUPERLATIVE),
        ("Who is the oldest child of Ann Lee?", AnswerForm.SUPERLATIVE),
        ("Who was the first lady?", AnswerForm.ENTITIES),
        ("What is the first name of Ann Lee?", AnswerForm.ENTITIES),
        ("What did she direct last year?", AnswerForm.ENTITIES),
        ("where was she at last?", AnswerForm.ENTITIES),
        ("the longest river and the largest lake of Norway", AnswerForm.ENTITIES),
        ("Which child of Ann Lee is the oldest?", AnswerForm.SUPERLATIVE),
        # The first is not what is asked for, but something of it.
        ("When did the first film of Ann Lee come out?", AnswerForm.ENTITIES),
        ("Where was the oldest child of Ann Lee born?", AnswerForm.ENTITIES),
        ("Who wrote the last film of Ann Lee?", AnswerForm.ENTITIES),
    ],
)
def test_the_form_of_an_answer_is_read(question: str, form: AnswerForm) -> None:
    assert read_answer(question).form is form


def test_a_superlative_in_a_name_orders_nothing() -> None:
    question = "Who starred in The Longest Day?"
    assert read_answer(question, spans(question, "The Longest Day")).superlative is None


@pytest.mark.parametrize(
    ("question", "greatest", "is_date", "meaning"),
    [
        ("Who is the oldest child of Ann?", False, True, "date of birth"),
        ("Who is the youngest sister of Ann?", True, True, "date of birth"),
        ("What is the first child of Ann called?", False, True, "date of birth"),
        ("What was her first film?", False, True, "publication date"),
        ("What is the latest album of Ann?", True, True, "publication date"),
        ("the longest river of Norway", True, False, "length"),
        ("the smallest country of Europe", False, False, "area"),
        ("the most populous city of Norway", True, False, "population"),
    ],
)
def test_what_a_superlative_compares(
    question: str, greatest: bool, is_date: bool, meaning: str
) -> None:
    found = read_answer(question).superlative
    assert found is not None
    assert (found.greatest, found.is_date, found.meanings[0]) == (greatest, is_date, meaning)


def test_what_is_said_not_to_be_is_not_read() -> None:
    for question in (
        "Which films were not released in 1994?",
        "films of Ann Lee except those after 1990",
        "Didn't Ann Lee direct Snow?",
    ):
        found = read_answer(question)
        assert (found.dates, found.form) == ((), AnswerForm.ENTITIES), question
        assert found.is_negated


def test_comparisons_that_are_not_read_are_told() -> None:
    for question, understood in (
        ("How many films longer than two hours did she direct?", False),
        ("Which cities have more than 300000 people?", False),
        ("who has at least three children?", False),
        ("films later than 1990", True),
        ("films other people made", True),
    ):
        assert read_answer(question).is_understood == understood, question


def test_words_before_what_is_counted_must_be_taken_into_account() -> None:
    for question, words in (
        ("How many Oscar-winning films did she direct?", ("oscar", "winning")),
        ("How many films did she direct?", ()),
        ("How many films starring Bob are there?", ()),
        ("Who is the oldest living child of Ann?", ("living",)),
    ):
        names = spans(question, "Bob") if "Bob" in question else []
        assert tuple(word for word, _, _ in read_answer(question, names).modifiers) == words


@pytest.mark.parametrize(
    ("value", "days"),
    [
        (Time("1994-05-03T00:00:00Z", 11), day(1994, 5, 3)),
        (Time("1994-05-00T00:00:00Z", 10), day(1994, 5)),
        (Time("1994-00-00T00:00:00Z", 9), years(1994, 1994)),
        (Time("1990-01-01T00:00:00Z", 8), NINETIES),
        (Time("1900-01-01T00:00:00Z", 7), years(1801, 1900)),
        (Time("-0044-03-15T00:00:00Z", 9), years(-44, -44)),
        (StringValue("1994"), years(1994, 1994)),
        (StringValue("1994-05-03"), day(1994, 5, 3)),
        (StringValue("room 1994"), None),
        (Quantity("1994"), None),
        (Time("-13000000000-00-00T00:00:00Z", 3), None),
    ],
)
def test_a_stored_date_means_all_days_of_its_precision(value: Value, days: Days | None) -> None:
    assert days_of(value) == days


def test_a_date_is_met_only_where_all_it_may_mean_is_within() -> None:
    assert NINETIES.holds(years(1994, 1994))
    assert not day(1994, 5).holds(years(1994, 1994))
    assert not years(1994, 1994).after().holds(years(1994, 1994))
    assert years(1994, 1994).until().holds(day(1994, 12, 31))
    assert years(-50, -40).holds(years(-44, -44))


@given(st.text() | st.from_regex(r"(in |the |1990|'?90s| - |between |and |who |\\?|\u0130){0,12}"))
def test_any_text_is_read_within_its_bounds(text: str) -> None:
    for date in read_answer(text, [(0, 3)]).dates:
        assert 0 <= date.start < date.end <= len(text)
        assert text[date.start : date.end] == date.text
        assert date.days.first <= date.days.last


def test_nouns_in_the_singular_of_kin_and_sex() -> None:
    words = ("cities", "actresses", "films", "children", "boss", "bus", "wives", "boxes")
    assert [singular(word) for word in words] == [
        "city", "actress", "film", "child", "boss", "bus", "wife", "box",
    ]  # fmt: skip
    assert (sex_of("daughter"), kin_of("daughter")) == ("female", "child")
    assert (sex_of("film"), kin_of("film")) == ("", "")
