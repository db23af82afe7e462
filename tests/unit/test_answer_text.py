"""The text and the values of an answer, of every kind that an answer is."""

from __future__ import annotations

import pytest

from graph_service.model.answer import AnswerKind
from graph_service.model.result import (
    Answer,
    AnswerGroup,
    BasisStatement,
    EntityRef,
    RelationRef,
    Triple,
)
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
    display_value,
    plain_value,
)

UNITS = {"Q11570": "kg"}


def entities(*labels: str) -> tuple[EntityRef, ...]:
    return tuple(EntityRef(f"Q{index}", label) for index, label in enumerate(labels, 1))


def basis(*values: Value) -> tuple[BasisStatement, ...]:
    return tuple(
        BasisStatement(
            Triple(
                f"Q9-{index}",
                EntityRef("Q9", "motor"),
                RelationRef("P1", "says"),
                value,
                display_value(value, lambda id_: UNITS.get(id_, id_)),
            )
        )
        for index, value in enumerate(values)
    )


def literal(*values: Value) -> Answer:
    labels = [display_value(value, lambda id_: UNITS.get(id_, id_)) for value in values]
    return Answer(AnswerKind.ENTITIES, "; ".join(dict.fromkeys(labels)), basis=basis(*values))


@pytest.mark.parametrize(
    ("value", "text", "plain"),
    [
        (Time("1947-07-30T00:00:00Z"), "1947-07-30", "1947-07-30"),
        (Time("1947-07-00T00:00:00Z", 10), "1947-07", "1947-07"),
        (Time("1952-00-00T00:00:00Z", 9), "1952", "1952"),
        (Time("1952-01-01T00:00:00Z", 9), "1952", "1952"),
        (Time("1801-00-00T00:00:00Z", 7), "19th century", "1801"),
        (Time("-0109-01-01T00:00:00Z", 9), "109 BC", "-0109"),
        (Time("2001-02-03T04:05:00Z", 13), "2001-02-03 04:05:00", "2001-02-03T04:05:00Z"),
        (Quantity("5.2", "Q11570"), "5.2 kg", "5.2"),
        (Quantity("-12"), "-12", "-12"),
        (StringValue("a; b"), "a; b", "a; b"),
        (MonolingualText("Ende", "de"), "Ende", "Ende"),
        (Coordinates(47.5, 8.0), "47.5, 8", "47.5, 8"),
        (Iri("https://example.org/"), "https://example.org/", "https://example.org/"),
    ],
)
def test_a_literal_has_a_text_and_a_value(value: Value, text: str, plain: str) -> None:
    answer = literal(value)
    assert (answer.text, answer.values) == (text, (plain,))


def test_entities_are_named_and_compared_by_id() -> None:
    answer = Answer(AnswerKind.ENTITIES, "Rome; Bern", entities("Rome", "Bern"))
    assert (answer.text, answer.values) == ("Rome, Bern", ("Q1", "Q2"))


def test_entities_of_one_label_are_two() -> None:
    answer = Answer(AnswerKind.ENTITIES, "Rome", entities("Rome", "Rome"))
    assert (answer.text, answer.values) == ("Rome, Rome", ("Q1", "Q2"))


def test_a_long_list_says_how_many_more() -> None:
    labels = [f"item {index}" for index in range(25)]
    answer = Answer(AnswerKind.ENTITIES, "; ".join(labels), entities(*labels))
    assert answer.text == ", ".join([*labels[:20], "and 5 more"])
    assert len(answer.values) == 25


def test_a_count_says_the_number_and_the_first_five() -> None:
    labels = ["rotor", "stator", "shaft", "frame", "brush", "coil", "fan"]
    answer = Answer(AnswerKind.COUNT, "7", entities(*labels))
    assert answer.text == "7: rotor, stator, shaft, frame, brush, and 2 more"
    assert answer.values == ("7",)


def test_a_count_of_more_than_the_entities_says_so() -> None:
    answer = Answer(AnswerKind.COUNT, "4", entities("rotor", "stator"))
    assert answer.text == "4: rotor, stator, and 2 more"


def test_a_stored_number_has_its_unit() -> None:
    answer = Answer(AnswerKind.COUNT, "5.2", basis=basis(Quantity("5.2", "Q11570")))
    assert (answer.text, answer.values) == ("5.2 kg", ("5.2",))


def test_none_is_zero() -> None:
    answer = Answer(AnswerKind.COUNT, "0", basis=basis(Time("1990-00-00T00:00:00Z", 9)))
    assert (answer.text, answer.values) == ("0", ("0",))


@pytest.mark.parametrize(("word", "value"), [("yes", "true"), ("no", "false")])
def test_yes_and_no(word: str, value: str) -> None:
    answer = Answer(AnswerKind.YES_NO, word)
    assert (answer.text, answer.values) == (word, (value,))


def test_what_is_compared_is_no_part_of_a_superlative() -> None:
    answer = Answer(
        AnswerKind.SUPERLATIVE,
        "Ann",
        entities("Ann"),
        basis(Time("1990-00-00T00:00:00Z", 9), StringValue("Ann")),
    )
    assert (answer.text, answer.values) == ("Ann", ("Q1",))


def test_entities_and_literals_of_one_answer() -> None:
    answer = Answer(
        AnswerKind.ENTITIES, "Rome; 1990", entities("Rome"), basis(Time("1990-00-00T00:00:00Z", 9))
    )
    assert (answer.text, answer.values) == ("Rome, 1990", ("Q1", "1990"))


def test_literals_beyond_the_basis_are_compared_by_their_text() -> None:
    answer = Answer(AnswerKind.ENTITIES, "1990; 1991", basis=basis(Time("1990-00-00T00:00:00Z", 9)))
    assert (answer.text, answer.values) == ("1990, 1991", ("1990", "1991"))


def test_an_id_stands_for_an_entity() -> None:
    assert plain_value(EntityValue("Q42")) == "Q42"


def test_groups_are_told_one_by_one_whatever_their_labels_hold() -> None:
    (box,) = entities("bolts; nuts")
    groups = (AnswerGroup(box, box.label, "3"), AnswerGroup(None, "red", "1.5", "kg"))
    answer = Answer(AnswerKind.GROUPS, "bolts; nuts: 3; red: 1.5 kg", (box,), groups=groups)
    assert answer.text == "bolts; nuts: 3, red: 1.5 kg"
