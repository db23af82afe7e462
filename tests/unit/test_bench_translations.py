"""Questions of the demo in other languages: all there, and counted as said (row B12)."""

from __future__ import annotations

from collections import Counter

from benchmarks.translations import LANGUAGES, Fared, read_translations, table
from graph_service.text.function_words import is_plainly_english


def test_every_question_is_there_in_every_language() -> None:
    questions = list(read_translations())
    counts = Counter(question.language for question in questions)
    assert counts == dict.fromkeys(LANGUAGES, 25)
    assert len({question.text for question in questions}) == len(questions)
    assert sum(question.gold.lacking for question in questions) == 4 * len(LANGUAGES)


def test_no_translation_is_taken_for_plain_english() -> None:
    for question in read_translations():
        if question.language != "en":
            assert not is_plainly_english(question.text), question.text


def test_shares_are_of_those_that_have_an_answer() -> None:
    fared = [
        Fared("de", is_linked=True, has_answer=True, is_right=True, is_ok=True),
        Fared("de", is_linked=True, has_answer=True, is_right=False, is_ok=False),
        Fared("de", is_linked=False, has_answer=False, is_right=False, is_ok=True),
        Fared("de", is_linked=True, has_answer=False, is_right=False, is_ok=False),
    ]
    # Three of four are linked; one of the two with an answer is right; of two ok one is right.
    assert table(fared, ["de"])[1].split() == ["de", "4", "0.750", "0.500", "2", "1"]
