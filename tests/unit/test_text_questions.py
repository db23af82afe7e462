"""Which questions a text asks: what is surely two is divided, and nothing else (B13)."""

from __future__ import annotations

import pytest

from graph_service.text.joined_nouns import joined_names
from graph_service.text.questions import goes_on, pronouns, read_questions

ADDRESS = (
    "We met this morning about the budget. The background is this: two plants run old machines.\n"
    "What I need to know is this: which company supplies the Rotor R-1? Please keep it short."
)


def questions(text: str) -> list[str]:
    return [each.text.strip() for each in read_questions(text).questions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When was Ann born and when did she die?", ["When was Ann born", "when did she die?"]),
        ("Who made Rain and who made Snow?", ["Who made Rain", "who made Snow?"]),
        (
            "How many parts has the lift, and who supplies it?",
            ["How many parts has the lift", "who supplies it?"],
        ),
        ("When and where was Ann born?", ["When was Ann born?", "where was Ann born?"]),
        (
            "What are the capital and the currency of Chile?",
            ["What are the capital of Chile?", "What are the currency of Chile?"],
        ),
        (
            "Who were Ann's mother and her father?",
            ["Who were Ann's mother?", "Who were Ann's father?"],
        ),
        (
            "Who made Rain, who wrote it and when was it shown?",
            ["Who made Rain", "who wrote it", "when was it shown?"],
        ),
        ("Who made Rain? Which films are by Ann?", ["Who made Rain?", "Which films are by Ann?"]),
        ("WHO MADE RAIN AND WHEN WAS IT SHOWN?", ["WHO MADE RAIN", "WHEN WAS IT SHOWN?"]),
        ("Can you help me? Who made Rain?", ["Who made Rain?"]),
        ("I like films. Who made Rain?", ["Who made Rain?"]),
        (ADDRESS, ["which company supplies the Rotor R-1?"]),
    ],
)
def test_each_question_of_a_text_is_told(text: str, expected: list[str]) -> None:
    assert questions(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What are the similarities between tea and the differences of coffee?",
        "Who are the king who reigned and the queen of Chile?",
        "Who wrote War and Peace?",
        "Who wrote What Is It and Who Cares?",
        'Who sang "Where are you and when do you come" first?',
        "Which lakes that have islands and where people live are in Chile?",
        "Who was born in Rome and who died in Bern?",
        "Who is the actor who was born in Rome and who died in Bern?",
        "Which river flows through Rome and which is longer than the Po?",
        "Which film is by Ann and was it shown in Bern?",
        "In what year and for what amount did Ann get the prize?",
        "Which band made Rain and to which Tom Aske was sent?",
        "Did Ann and Bob marry in Rome or Bern?",
        "Who directed Mr. Smith's Dog?",
        "James j. Murakami is the designer of what film?",
        "what ferry sails at night",
        "Ann Lee\nborn",
    ],
)
def test_what_is_one_question_stays_one(text: str) -> None:
    assert questions(text) == [text]
    assert read_questions(text).context == ()


def test_sentences_that_ask_nothing_are_context() -> None:
    assert len(read_questions(ADDRESS).context) == 3
    assert read_questions("I saw Rain. Who made it? Thanks a lot.").context == (
        "I saw Rain.",
        "Thanks a lot.",
    )


def test_characters_of_a_question_are_known_in_its_text() -> None:
    text = "When and where was Ann Lee born?"
    _, where = read_questions(text).questions
    start = where.text.index("Ann Lee")
    assert where.written(start, start + 7) == (text.index("Ann"), text.index("Ann") + 7)
    (she,) = pronouns("And who is her son?")
    text = "Who made Rain? And who is her son?"
    asked = read_questions(text).questions[1]
    named = asked.replaced(she.start, she.end, "Ann Lee's")
    assert named.text.strip() == "And who is Ann Lee's son?"
    start = named.text.index("Ann Lee")
    assert named.written(start, start + 7) == (text.index("her"), text.index("her") + 3)
    assert named.written(start + 10, start + 13) == (text.index("son"), text.index("son") + 3)


def test_pronouns_own_or_stand_alone() -> None:
    told = [(each.word, each.is_possessive) for each in pronouns("Did he meet her in his house?")]
    assert told == [("he", False), ("her", False), ("his", True)]
    assert pronouns("Is it true that Ann was there?") == []


def test_a_question_that_goes_on_begins_with_a_joint() -> None:
    assert goes_on("And Rain?")
    assert goes_on("ok, what about Rain?")
    assert not goes_on("Andalusia?")
    assert not goes_on("Who made Rain?")


def spans_of(text: str, *names: str) -> list[tuple[int, int]]:
    return [(text.index(name), text.index(name) + len(name)) for name in names]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where were Ann, Bob and Cy born?", ["Ann", "Bob", "Cy"]),
        ("When did Ann and Bob die?", ["Ann", "Bob"]),
        ("Did Ann or Bob make Rain?", ["Ann", "Bob"]),
        ("Was the Ann or the Bob built in Bern?", ["Ann", "Bob"]),
    ],
)
def test_the_same_is_asked_of_each_name(text: str, names: list[str]) -> None:
    spans = spans_of(text, *names)
    each = joined_names(text, [*spans, *spans_of(text, "Rain")] if "Rain" in text else spans)
    assert each is not None
    assert [*each.parts] == spans


@pytest.mark.parametrize(
    "text",
    [
        "Where did Ann and Bob meet?",
        "When did Ann and Bob marry?",
        "Is Ann or Bob older?",
        "Is Ann or Bob the most expensive?",
        "Was Ann or Bob born first?",
        "Who made Ann and Bob?",
        "Where is Ann and Bob?",
        "Did Ann make Rain, or Bob?",
        "Where was the film with Ann and Bob made?",
    ],
)
def test_what_is_asked_of_both_together_is_one_question(text: str) -> None:
    assert joined_names(text, spans_of(text, "Ann", "Bob")) is None
