"""Asks ten questions about each of twelve messy tables, and prints how many answers are right.

    python -m benchmarks.messy_tables --misses 10
    python -m benchmarks.messy_tables --split unread
    python -m benchmarks.messy_tables --folders --misses 30

Of the half ``unread`` only figures are printed, never a question.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.class_questions.__main__ import grade_all
from benchmarks.messy_tables.question_set import load_tables, read_folders, read_split
from benchmarks.own_questions.grading import report_lines
from benchmarks.own_questions.question_set import Split
from graph_service.service import Service, open_service
from graph_service.settings import read_settings


def main(arguments: Sequence[str] | None = None, /) -> None:
    """Loads the tables, asks, and prints the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.messy_tables", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--split", choices=[split.value for split in Split], default=Split.READ)
    parser.add_argument("--folders", action="store_true", help="ask about the twelve folders")
    parser.add_argument("--preset", default="default", help="of the retrieval")
    parser.add_argument("--misses", type=int, default=0, help="print so many wrong answers")
    options = parser.parse_args(arguments)
    split = Split(options.split)
    if split is Split.UNREAD and options.misses:
        parser.error("--misses would print unread questions; leave it out, or take --split read")
    with (
        tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder,
        open_tables(Path(folder)) as service,
    ):
        questions = read_folders() if options.folders else read_split(split)
        grades = grade_all(service, questions, preset=options.preset)
    print(f"{'folders' if options.folders else f'split {split.value}'}, preset {options.preset}")
    print("\n".join(report_lines(grades, misses=options.misses)))


@contextmanager
def open_tables(folder: Path, /) -> Iterator[Service]:
    """Yields a service over a store in a folder that holds each table and folder as a graph."""
    settings = replace(
        read_settings(),
        store=f"sqlite:///{folder / 'tables.db'}",
        cache_dir=str(folder),
        vectors=read_settings().vectors or str(folder / "vectors.db"),
    )
    with open_service(settings=settings) as service:
        load_tables(service.store, rejects=folder / "rejects.jsonl")
        yield service


if __name__ == "__main__":
    main()
