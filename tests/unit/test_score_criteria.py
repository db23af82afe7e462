"""Criteria files: their form, errors with line numbers, rules, the lint of shots (T1, T4, T7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_text, raises

from graph_service.errors import InputError
from queries.score.criteria import (
    CITED_ANSWERS,
    Criteria,
    Measure,
    Rule,
    count,
    criteria_names,
    lint_criteria,
    load_criteria,
    parse_criteria,
)

GOOD = """\
task: Say who it is.
labels:
  - name: wrong
    title: Wrong
    class: unacceptable
    description: It is wrong.
    shots:
      - question: Who?
        text: Nobody.
        reason: The text names nobody. The question asks for a name.
        present: true
      - question: Who?
        text: Ada.
        knowledge: [NO, 1985]
        reason: The text names Ada. The question asks for a name.
        present: false
  - name: stiff
    title: Stiff
    class: acceptable
    description: Nobody speaks like that.
rules:
  - {name: long, title: Long, class: acceptable, measure: words, most: 3}
"""


def parse(text: str) -> Criteria:
    return parse_criteria(text, source="own.yaml")


def test_criteria_are_data_t1() -> None:
    criteria = parse(GOOD)
    assert criteria.name == "own"
    assert criteria.classes == {"wrong": True, "stiff": False, "long": False}
    shot = criteria.labels[0].shots[1]
    # YAML's own reading would make these false and a number.
    assert shot.knowledge == ("NO", "1985")
    assert (shot.present, shot.line) == (False, 12)
    assert criteria.labels[0].shots[0].knowledge == ()
    assert criteria.version == parse(GOOD.replace("\n", "\r\n")).version
    assert criteria.version != parse(GOOD.replace("Ada", "Eva")).version


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class: unacceptable", "class: bad"),
        ("title: Wrong", "titel: Wrong"),
        ("    title: Stiff\n", ""),
        ("name: stiff", "name: wrong"),
        ("name: stiff", "name: Not This"),
        ("present: true", "present: maybe"),
        ("reason: The text names Ada. The question asks for a name.", "reason:"),
        ("task: Say who it is.", "task: [a, b]"),
        ("most: 3", "most: three"),
        ("most: 3", "pattern: x"),
        ("measure: words, most: 3", "measure: pattern, pattern: '['"),
        ("most: 3", "most: 3, least: 5"),
        ("title: Wrong", "title: Wrong\n    title: Again"),
        ("  - name: stiff", "\t- name: stiff"),
        ("knowledge: [NO, 1985]", "knowledge: NO"),
        ("class: acceptable, measure: words, most: 3", "class: acceptable, measure: words"),
        ("measure: words, most: 3", "measure: pattern, most: 3"),
        ("measure: words", "measure: lines"),
        ("name: long", "name: none"),
        ("name: long", "name: stiff"),
        ("most: 3", "most: -3"),
        ("most: 3", "most: 3, mots: 4"),
        ("task: Say who it is.\n", ""),
        ("name: stiff", "name: [a]"),
        ("most: 3", "most: 3, least: x"),
        ("description: It is wrong.", "description: {a: b}"),
    ],
)
def test_errors_name_file_and_line_t1(old: str, new: str) -> None:
    assert old in GOOD
    with raises(InputError):
        parse(GOOD.replace(old, new, 1))


def test_files_that_are_no_criteria_are_told(tmp_path: Path) -> None:
    with raises(InputError):
        parse("# nothing\n")
    with raises(InputError):
        parse("- a\n")
    for brackets in ("[" * 20_000, "- " * 20_000):
        with raises(InputError):
            parse(brackets)
    with raises(InputError):
        parse("task: x\nlabels: []\n")
    with raises(InputError):
        load_criteria(str(tmp_path / "none.yaml"))
    with raises(InputError):
        load_criteria("x")
    file = tmp_path / "own.yaml"
    file.write_text("\ufeff" + GOOD, encoding="utf-8")
    assert load_criteria(str(file)).name == "own"


def test_rules_count_what_a_model_cannot_t7() -> None:
    words = Rule("w", "W", False, Measure.WORDS, least=2, most=3)
    assert [words.present(text) for text in ("one", "one two", "one, two - three!", "a b c d")] == [
        True, False, False, True
    ]  # fmt: skip
    assert count("北京市是首都", Measure.WORDS) == 6
    assert count("", Measure.WORDS) == 0
    assert count(" ab ", Measure.CHARACTERS) == 2
    assert count("Mr. Ada sang. She slept.", Measure.SENTENCES) == 2
    assert Rule("p", "P", True, Measure.PATTERN, pattern=r"https?://").present("see http://x")


def test_the_lint_warns_of_turning_words_in_the_first_half_of_a_reason_t4() -> None:
    text = GOOD.replace(
        "The text names nobody. The question asks for a name.",
        "The text is fine, but it names nobody, which the question asks for.",
    ).replace(
        "The text names Ada. The question asks for a name.",
        "The text names Ada, as the question asks, and so the verdict is [[B]].",
    )
    warnings = lint_criteria(parse(text))
    assert [item.line for item in warnings] == [8, 12, 17]
    assert [item.label for item in warnings] == ["wrong", "wrong", "stiff"]
    check_text([item.words for item in warnings])
    one_sided = parse(GOOD.replace("present: false", "present: true"))
    assert [item.line for item in lint_criteria(one_sided)] == [3, 17]
    assert [item.label for item in lint_criteria(one_sided)] == ["wrong", "stiff"]
    check_text([item.words for item in lint_criteria(one_sided)])
    turned = parse(GOOD.replace("present: true", "present: false"))
    check_text(lint_criteria(turned)[0].words)
    # Of an odd number of words the one in the middle belongs to the first half.
    for reason, warned in (("Good text but too long.", True), ("Good, fine text but long.", False)):
        told = lint_criteria(
            parse(GOOD.replace("The text names nobody. The question asks for a name.", reason))
        )
        assert ("too soon" in told[0].words) is warned
    for word, warned in (("and", True), ("However", True), ("but", True), ("or", False)):
        reason = f"The text {word} more. It is all that the question asks for."
        told = lint_criteria(
            parse(GOOD.replace("The text names nobody. The question asks for a name.", reason))
        )
        assert ("too soon" in told[0].words) is warned


def test_the_criteria_that_ship_are_complete_t1() -> None:
    criteria = load_criteria()
    assert criteria_names() == (CITED_ANSWERS,)
    assert lint_criteria(criteria) == ()
    assert set(criteria.classes.values()) == {True, False}
    for label in criteria.labels:
        assert {shot.present for shot in label.shots} == {True, False}
    assert criteria.rules
