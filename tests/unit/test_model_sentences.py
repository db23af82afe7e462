"""Sentences end where a reader would end them (K1: citations are by sentence)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.text.sentences import sentence_spans, split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["J. F. Kennedy was president.", "He was shot."],
        ["It cost $3.50 in 1952.", "That was much!", "Was it?", "Yes."],
        ["Dr. No met Mr. Smith and St. John.", "They left."],
        ["He said “Stop.”", "She did."],
        ["He lived in Washington, D.C. for years.", "Then he left."],
        ["He lived in the U.S.", "He moved later."],
        ["Martin Luther King Jr. Day is a holiday.", "It is in January."],
        ["He was John Kennedy Jr.", "He was a lawyer."],
        ["Apples, pears, etc. were sold.", "All of them."],
        ["It was No. 5 of vol. 3.", "The answer was no.", "It was late."],
        ["Wait... what is it?", "Nothing..."],
        ["Yahoo! was founded in 1994.", "It grew!"],
        ["他出生于北京。", "他是作家。", "真的吗？"],
        ["वह लेखक है।", "वह दिल्ली में रहता है।"],
        ["ولد في بغداد.", "هل كان كاتبا؟", "نعم."],
        ["Он родился в Москве.", "Он писатель."],
        ["See e.g. the list, i.e. all of it.", "Done."],
        ["Version 2.0.1 came out.", "It worked"],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    glue = "" if "。" in sentences[0] else " "
    assert split_sentences(glue.join(sentences)) == sentences


def test_lines_end_sentences() -> None:
    assert split_sentences("- one\n- two\r\n\nthree") == ["- one", "- two", "three"]


def test_names_are_not_cut() -> None:
    name = "Who Is Afraid? No. 3"
    text = f"She saw {name}. It was good."
    assert split_sentences(text, names=[name]) == [f"She saw {name}.", "It was good."]
    assert len(split_sentences(text)) == 3
    for name in ("What is love?", "Yahoo!", "Washington, D.C."):
        assert split_sentences(f"She saw {name}. It was good.", names=[name]) == [
            f"She saw {name}.",
            "It was good.",
        ]
    assert split_sentences("It was sold. [a] was not.", names=["[a]"])[1] == "[a] was not."


@given(st.text(max_size=120), st.lists(st.text(max_size=8), max_size=3))
def test_nothing_but_white_space_is_lost(text: str, names: list[str]) -> None:
    spans = sentence_spans(text, names=names)
    end = 0
    for start, stop in spans:
        assert start >= end
        assert text[end:start].strip() == ""
        assert start < stop
        end = stop
    assert text[end:].strip() == ""
