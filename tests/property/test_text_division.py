"""A text is divided into its own words, and lists and titles with ``and`` are not divided."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graph_service.text.questions import MAX_QUESTIONS, read_questions

NOUNS = st.sampled_from(["capital", "author", "currency", "parts", "river", "son", "name"])
TITLES = st.sampled_from([
    "War and Peace", "When and Where", "What and Who", "Pride and Prejudice", "Stop and How It Began",
    "Cape and Where Is It", "Rome and Which Is the Best",
])  # fmt: skip
OPENINGS = st.sampled_from(["What is the", "Who is the", "Which is the", "How many are the"])
WORDS = st.lists(
    st.sampled_from(
        [
            "who",
            "what",
            "when",
            "where",
            "and",
            "which",
            "did",
            "was",
            "is",
            "it",
            "he",
            "she",
            "their",
            "by",
            "Ann",
            "Rain",
            "the",
            "in",
            "?",
            ".",
            ",",
            ":",
            '"',
            "\n",
        ]
    ),
    max_size=24,
).map(" ".join)


@given(OPENINGS, NOUNS, NOUNS, TITLES)
def test_lists_and_titles_stay_whole(opening: str, one: str, other: str, title: str) -> None:
    # Two nouns of one thing are asked for one by one.
    parts = [f"{opening} {noun} of {title}?" for noun in (one, other)]
    for text, divided in (
        (f"{opening} {one} and the {other} of {title}?", parts),
        (f"{opening} {one} and {other} of {title}?", parts),
        (f"Which {one} has a {other} and an author of {title}?", []),
    ):
        texts = [each.text for each in read_questions(text).questions]
        assert texts == [text] or (one != other and texts == divided)


@given(WORDS)
def test_a_question_consists_of_words_of_its_text(text: str) -> None:
    read = read_questions(text)
    assert 1 <= len(read.questions) <= MAX_QUESTIONS
    for question in read.questions:
        for piece in question.pieces:
            assert piece.text.split() == text[piece.start : piece.end].split()
        assert question.written(0, len(question.text))[0] <= len(text)
