"""The prior of relations: what words of a question ask for, and its file."""

from __future__ import annotations

import numpy as np
import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.retrieve.learned.relation_prior import (
    decode_relation_prior,
    encode_relation_prior,
    masked_words,
    runs_of,
    shipped_prior,
)
from queries.training.relation_prior import PriorOptions, QuestionSteps, train_prior
from tools.relation_prior import parse_candidate, without_copies

NAMES = [f"name{number}" for number in range(12)]
QUESTIONS = [
    *(
        QuestionSteps(f"where was {name} born", "a", name, (("place of birth", False),))
        for name in NAMES
    ),
    *(
        QuestionSteps(f"who was born in {name}", "a", name, (("place of birth", True),))
        for name in NAMES
    ),
    *(QuestionSteps(f"what did {name} write", "a", name, (("author", True),)) for name in NAMES),
]
OPTIONS = PriorOptions(width=8, epochs=60, batch=12)


def best(question: str, name: str) -> tuple[str, bool]:
    prior = train_prior(QUESTIONS, options=OPTIONS)
    labels = ["place of birth", "author"]
    start = question.index(name)
    fit = prior.fit([masked_words(question, (start, start + len(name)))], labels)[0]
    row, backward = np.unravel_index(int(fit.argmax()), fit.shape)
    return labels[int(row)], bool(backward)


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("where was Ada born", ("place of birth", False)),
        ("who was born in Ada", ("place of birth", True)),
        ("what did Ada write", ("author", True)),
    ],
)
def test_words_choose_the_relation_and_its_way(question: str, step: tuple[str, bool]) -> None:
    assert best(question, "Ada") == step


def test_words_and_labels_that_nobody_learned_say_nothing() -> None:
    prior = train_prior(QUESTIONS, options=OPTIONS)
    assert not prior.fit([["zzz"]], ["place of birth"]).any()
    assert not prior.fit([["where", "was", "_", "born"]], []).size


def test_file_gives_back_the_tables_and_refuses_damage() -> None:
    prior = train_prior(QUESTIONS, options=OPTIONS, notes={"sets": ["a"]})
    data = encode_relation_prior(prior)
    assert data == encode_relation_prior(
        train_prior(QUESTIONS, options=OPTIONS, notes={"sets": ["a"]})
    )
    found = decode_relation_prior(data)
    assert found.data == prior.data
    assert found.notes == prior.notes
    np.testing.assert_allclose(found.run_vectors, prior.run_vectors, atol=1e-2)
    with raises(InputError):
        decode_relation_prior(data[:-40])


def test_shipped_prior_tells_children_from_parents() -> None:
    question = "How many children does Ada have?"
    fit = shipped_prior().fit([masked_words(question, (23, 26))], ["child", "genre"])[0]
    assert fit[0, 0] > fit[0, 1]
    assert fit[0, 0] > fit[1].max()


def test_runs_are_of_one_to_three_words_and_never_the_name_alone() -> None:
    assert runs_of(["who", "_"]) == ["who", "^ who", "who _", "_ $", "^ who _", "who _ $"]


def test_candidates_are_read_as_the_file_writes_them() -> None:
    assert parse_candidate("it -> child = ? (2)") == ("", (("child", False),))


def test_near_copies_of_held_questions_are_left_out() -> None:
    held = ["where was barack obama born"]
    copies = ["where was barack obama born?", "where was Barack Obama really born"]
    other = "where was angela merkel born"
    rows = [QuestionSteps(text, "a", "", (("place of birth", False),)) for text in (*copies, other)]
    assert [each.text for each in without_copies(rows, held)] == [other]
