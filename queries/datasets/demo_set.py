"""The slice of Wikidata and the fifty gold questions that ship with the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from graph_service.errors import SetupError
from queries.datasets.gold import GoldQuestion, read_gold_questions

DEMO_QUESTION_ID = "two-01"
DEMO_UNANSWERABLE_ID = "lack-01"
DEMO_COUNT_QUESTION = "How many siblings does Maria Shriver have?"


def demo_slice() -> Path:
    """Returns the path of the slice: Wikibase entity documents, one a line (CC0).

    Raises:
        SetupError: The package was installed without its data.
    """
    return _data("wikidata.jsonl")


def demo_question_file() -> Path:
    """Returns the path of the gold questions over the slice; those that it lacks stand last.

    Raises:
        SetupError: The package was installed without its data.
    """
    return _data("questions.jsonl")


@cache
def demo_questions() -> tuple[GoldQuestion, ...]:
    """Returns the gold questions over the slice, in file order.

    Raises:
        SetupError: The package was installed without its data.

    >>> len(demo_questions())
    50
    """
    return read_gold_questions(demo_question_file())


def demo_question(id_: str, /) -> GoldQuestion:
    """Returns one gold question.

    Raises:
        KeyError: No question has that id.

    >>> demo_question(DEMO_QUESTION_ID).question
    "Who is the mother of Maria Shriver's husband?"
    """
    return {question.id: question for question in demo_questions()}[id_]


def _data(name: str) -> Path:
    path = files("queries.datasets").joinpath("demo", name)
    # The store and the loader read files by path; a package run from a zip archive has none.
    if not isinstance(path, Path) or not path.is_file():
        raise SetupError(
            f"the demo's {name} was expected among the package's files, at {path}; it is missing.",
            hint="Install the package again: pip install --force-reinstall graph-service",
        )
    return path
