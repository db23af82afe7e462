"""Asks the questions of one half, and prints how many answers are right.

    python -m benchmarks.own_questions --misses 10
    python -m benchmarks.own_questions --split unread --out figures.json

The half ``read`` is the default. Of the half ``unread`` only figures are printed, never a question.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import orjson

from benchmarks.own_questions.grading import Grade, figures_by_group, grade, report_lines
from benchmarks.own_questions.question_set import GRAPHS, OwnQuestion, Split, read_split
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.service import Service, open_service
from graph_service.settings import read_settings
from loaders.load import load


def main(arguments: Sequence[str] | None = None, /) -> None:
    """Asks, and prints the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.own_questions", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--split", choices=[split.value for split in Split], default=Split.READ)
    parser.add_argument("--preset", default="default", help="of the retrieval")
    parser.add_argument("--misses", type=int, default=0, help="print so many wrong answers")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args(arguments)
    split = Split(options.split)
    if split is Split.UNREAD and options.misses:
        parser.error("--misses would print unread questions; leave it out, or take --split read")
    with open_graphs() as service:
        grades = grade_all(service, read_split(split), preset=options.preset)
    print(f"split {split.value}, preset {options.preset}")
    print("\n".join(report_lines(grades, misses=options.misses)))
    if options.out is not None:
        figures = {name: asdict(row) for name, row in figures_by_group(grades).items()}
        plain = {"split": split.value, "preset": options.preset, "figures": figures}
        options.out.write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2))


def grade_all(
    service: Service, questions: Sequence[OwnQuestion], /, *, preset: str = "default"
) -> list[Grade]:
    """Returns the grades of questions, each asked for paths with the preset's own limits.

    Args:
        service: Over a store that holds the graphs, by their names.
        questions: To ask.
        preset: Under which retrieval runs.
    """
    grades = []
    for question in questions:
        result = service.retrieve(
            RetrieveRequest(
                question.text,
                Strategy.PATHS,
                graph=question.graph,
                preset=preset,
                earlier=question.earlier,
            )
        )
        assert isinstance(result, PathsResult)
        grades.append(grade(question, result, base=GRAPHS[question.graph].base))
    return grades


@contextmanager
def open_graphs() -> Iterator[Service]:
    """Yields a service over a temporary store that holds the graphs."""
    with tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder:
        settings = replace(
            read_settings(),
            store=f"sqlite:///{Path(folder) / 'questions.db'}",
            cache_dir=folder,
            vectors=read_settings().vectors or str(Path(folder) / "vectors.db"),
        )
        with open_service(settings=settings) as service:
            for name, graph in GRAPHS.items():
                load(graph.source, store=service.store, graph=name, options=graph.options)
            yield service


if __name__ == "__main__":
    main()
