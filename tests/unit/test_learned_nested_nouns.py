"""Nouns that a name owns one inside the other: each is a step of its own."""

from __future__ import annotations

import doctest
from collections.abc import Iterator

import pytest
from table_service import retrieve

from graph_service import Service, open_service
from graph_service.model.result import Status
from graph_service.retrieve.learned import nested_nouns
from graph_service.retrieve.learned.nested_nouns import nested_bonus
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions

CHILD, GENDER, BIRTH = ("children", False), ("gender", False), ("date of birth", False)
NAME = ("given name", False)
PEOPLE = {
    "Ada Holm": ("Bo Reed", "female"),
    "Bo Reed": ("Cy Lund", "male"),
    "Cy Lund": ("Di Moss", "male"),
    "Di Moss": ("Ed Vale", "female"),
    "Ed Vale": ("Flo Nye", "male"),
    "Flo Nye": ("Gil Orr", "female"),
}
TRIPLES = [
    triple
    for name, (child, gender) in PEOPLE.items()
    for triple in ((name, "children", child), (name, "gender", gender))
]


def test_documentation() -> None:
    assert doctest.testmod(nested_nouns).failed == 0


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("the gender of the offspring of Al's child", [3.0, 6.0, 9.0]),
        ("Al's kid's child's gender", [3.0, 6.0, 9.0]),
        ("the gender of Al's child", [3.0, 6.0, 6.0]),
        ("the child of the gender of Al", [3.0, 3.0, 3.0]),
        ("the child of Al", [0.0, 0.0, 0.0]),
        ("the better half of Al's child", [3.0, 3.0, 3.0]),
    ],
)
def test_candidates_rise_by_each_noun_that_they_walk(question: str, expected: list[float]) -> None:
    start = question.index("Al")
    sequences = [[CHILD], [CHILD, GENDER], [CHILD, CHILD, GENDER]]
    names = [(start, start + 2)] * len(sequences)
    assert nested_bonus(question, names, sequences).tolist() == expected


def test_the_words_of_one_label_are_one_noun() -> None:
    bonus = nested_bonus(
        "the date of birth of Al's child",
        [(21, 23), (21, 23), None],
        [[CHILD, BIRTH], [CHILD, CHILD, BIRTH], [CHILD, BIRTH]],
    )
    assert bonus.tolist() == [6.0, 6.0, 0.0]


def test_the_name_of_something_is_no_step() -> None:
    bonus = nested_bonus("the name of Al's child", [(12, 14)] * 2, [[CHILD], [CHILD, NAME]])
    assert bonus.tolist() == [0.0, 0.0]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("nested")
    file = folder / "people.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), encoding="utf-8")
    settings = Settings(vectors=str(folder / "vectors.db"), graph="people", read_timeout_s=300.0)
    options = LoadOptions(format="tsv", columns=("head", "relation", "tail"), header=False)
    with open_store(f"sqlite:///{folder / 'graph.db'}") as store:
        load(file, store=store, graph="people", options=options)
        with open_service(store, settings=settings) as opened:
            yield opened


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the gender of the offspring of Ada Holm's child?", "male"),
        ("What is Ada Holm's kid's offspring's offspring?", "Di Moss"),
        ("Who is the offspring of the offspring of Ada Holm's son?", "Di Moss"),
        ("the sex of the offspring of Ada Holm's son", "male"),
        ("Is the offspring of Di Moss's child a man or a woman?", "female"),
        ("Is Di Moss's child a man or a woman?", "male"),
    ],
)
def test_the_first_path_walks_every_noun(service: Service, question: str, answer: str) -> None:
    result = retrieve(service, question)
    assert result.items[0].steps[-1].triple.value_label == answer
    if result.status is Status.OK:
        assert result.answer is not None
        assert result.answer.value == answer
