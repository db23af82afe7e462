"""Asks questions about classes over tables, and prints how many answers are right.

    python -m benchmarks.class_questions --misses 10
    python -m benchmarks.class_questions --northwind FOLDER --split unread

Of the half ``unread`` only figures are printed, never a question. Northwind's tables are not part of
the project: the questions about them are left out without their folder.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.class_questions.question_set import NORTHWIND, OWN_TABLES, read_split
from benchmarks.own_questions.grading import Grade, grade, report_lines
from benchmarks.own_questions.question_set import OwnQuestion, Split
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.service import Service, open_service
from graph_service.settings import read_settings
from loaders.load import load
from loaders.options import LoadOptions

_ITEMS = 100
"""More than any question has answers."""


def main(arguments: Sequence[str] | None = None, /) -> None:
    """Loads the tables, asks, and prints the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.class_questions", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--split", choices=[split.value for split in Split], default=Split.READ)
    parser.add_argument("--preset", default="default", help="of the retrieval")
    parser.add_argument("--northwind", type=Path, help="folder of Northwind as CSV tables")
    parser.add_argument("--misses", type=int, default=0, help="print so many wrong answers")
    options = parser.parse_args(arguments)
    split = Split(options.split)
    if split is Split.UNREAD and options.misses:
        parser.error("--misses would print unread questions; leave it out, or take --split read")
    folders = dict(OWN_TABLES)
    if options.northwind is not None:
        folders[NORTHWIND] = options.northwind
    with open_tables(folders) as service:
        grades = grade_all(service, read_split(split, folders), preset=options.preset)
    print(f"split {split.value}, preset {options.preset}")
    print("\n".join(report_lines(grades, misses=options.misses)))


@contextmanager
def open_tables(folders: Mapping[str, Path] = OWN_TABLES, /) -> Iterator[Service]:
    """Yields a service over a temporary store that holds folders of tables, by their names."""
    with tempfile.TemporaryDirectory(prefix="graph-service-bench-") as temporary:
        settings = replace(
            read_settings(),
            store=f"sqlite:///{Path(temporary) / 'tables.db'}",
            cache_dir=temporary,
            vectors=read_settings().vectors or str(Path(temporary) / "vectors.db"),
        )
        with open_service(settings=settings) as service:
            for name, folder in folders.items():
                load(folder, store=service.store, graph=name, options=LoadOptions(row="auto"))
            yield service


def grade_all(
    service: Service, questions: Sequence[OwnQuestion], /, *, preset: str = "default"
) -> list[Grade]:
    """Returns the grades of questions, each asked for paths."""
    grades = []
    for question in questions:
        result = service.retrieve(
            RetrieveRequest(
                question.text, Strategy.PATHS, graph=question.graph, preset=preset, limit=_ITEMS
            )
        )
        assert isinstance(result, PathsResult)
        grades.append(grade(question, result))
    return grades


if __name__ == "__main__":
    main()
