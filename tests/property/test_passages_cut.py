"""Cutting documents into passages loses nothing (L6)."""

from __future__ import annotations

import lzma
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.errors import InputError
from graph_service.text.sentences import split_sentences
from loaders.passages.cut import Cutter, count_words, cut

WORDS = st.sampled_from(
    ["Rome", "is", "old", "J.", "F.", "no.", "3.50", "a,", "b;", "c:", "end.", "What?", "北京市",
     "很大。", "ไทย", "…", "(x)", "-", "Dr.", "é\u0301", "«"]
)  # fmt: skip
SPACES = st.sampled_from([" ", "  ", "\n", "\t", "\n\n", "\u3000", " \u00a0"])
TEXTS = st.lists(st.tuples(WORDS, SPACES), max_size=120).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


def letters(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, st.integers(1, 12))
def test_no_word_is_lost_and_none_comes_twice(text: str, most: int) -> None:
    """L6: the passages joined are the text but for white space; none is too long or empty."""
    passages = cut(text, max_words=most)
    assert letters("".join(passages)) == letters(text)
    assert all(1 <= count_words(passage) <= most for passage in passages)
    assert all(passage == " ".join(passage.split()) for passage in passages)


@given(st.text(max_size=300), st.integers(1, 9))
def test_any_text_at_all(text: str, most: int) -> None:
    """L6: control characters, marks without letters, anything."""
    passages = cut(text, max_words=most)
    assert letters("".join(passages)) == letters(text)
    assert all(count_words(passage) <= most for passage in passages)


@given(TEXTS, st.integers(1, 12))
def test_cuts_stand_at_sentence_ends(text: str, most: int) -> None:
    """L6: a passage ends where a sentence does, unless that sentence is too long for any; and
    it is full: the next sentence would not have fitted.
    """
    sentences = [" ".join(one.split()) for one in split_sentences(text)]
    if any(count_words(one) > most for one in sentences):
        return
    expected: list[list[str]] = []
    for sentence in sentences:
        if expected and count_words(" ".join([*expected[-1], sentence])) <= most:
            expected[-1].append(sentence)
        else:
            expected.append([sentence])
    assert cut(text, max_words=most) == [" ".join(one) for one in expected]


@given(st.lists(TEXTS.map(lambda text: text.replace("\n", " ")), max_size=6), st.integers(1, 12))
def test_going_on_from_what_is_pending(lines: list[str], most: int) -> None:
    """L6: a load that is interrupted between lines cuts as an unbroken one does."""
    whole = Cutter(max_words=most)
    expected = [passage for line in lines for passage in whole.add(line)] + list(whole.end())
    found: list[str] = []
    pending = ""
    for line in lines:
        cutter = Cutter(max_words=most, pending=pending)
        found += cutter.add(line)
        pending = cutter.pending
    assert found + list(Cutter(max_words=most, pending=pending).end()) == expected


def test_long_sentences_are_cut_at_clauses() -> None:
    """L6: behind a comma in the second half of what fits, else at the limit."""
    assert cut("a b, c d e f.", max_words=3) == ["a b,", "c d e", "f."]
    assert cut("a, b c d e.", max_words=4) == ["a, b c d", "e."]
    assert cut("one two three four", max_words=2) == ["one two", "three four"]


def test_line_breaks_end_sentences() -> None:
    """L6: a heading is not run into the sentence below it."""
    assert cut("Early life\nHe was born.", max_words=4) == ["Early life", "He was born."]


def test_scripts_without_spaces_count_characters() -> None:
    """L6: a page of Chinese is not one word."""
    assert cut("他出生于北京。他是作家。", max_words=7) == ["他出生于北京。", "他是作家。"]
    assert [count_words(piece) for piece in cut("京" * 250)] == [100, 100, 50]


def test_a_limit_below_one_is_refused() -> None:
    """L6: no passage is empty."""
    with pytest.raises(InputError, match="at least 1 word"):
        cut("a", max_words=0)


@pytest.mark.data
def test_real_articles(data_dir: Path) -> None:
    """L6: the evidence of WiCE, web pages cited by Wikipedia: nothing is lost, nearly every
    passage ends with its sentence.
    """
    with lzma.open(data_dir / "wice" / "oracle_chunks_claim_dev.jsonl.xz") as file:
        rows = [orjson.loads(line) for line in file.readlines()[:300]]
    ends = total = 0
    for row in rows:
        text = "\n".join(row["evidence"])
        passages = cut(text)
        assert letters("".join(passages)) == letters(text)
        assert all(count_words(passage) <= 100 for passage in passages)
        lasts = {one.split()[-1] for one in split_sentences(text)}
        ends += sum(passage.split()[-1] in lasts for passage in passages)
        total += len(passages)
    assert total > 500
    assert ends / total > 0.97
