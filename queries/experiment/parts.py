"""Parts of a run that processes apart answer, joined to the bytes that one process writes.

A part is what the questions of a graph ask on one view, in the order of the plan. Whoever answers
it writes its lines to a file of its own, which is there whole or not at all. So a process that is
killed costs its part, and a run that goes on answers the parts that have no file.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import InputError
from queries.experiment.answering import Experiment
from queries.experiment.runner import (
    ANSWERS_NAME,
    TIMINGS_NAME,
    AnswerCounter,
    answers_of,
    lines_of,
)
from queries.line_file import LineFile, write_lines

PARTS_NAME = "parts"
MOST_ANSWERS = 2_000
"""Answers of a part at most."""


@dataclass(frozen=True, slots=True)
class Part:
    """Answers of a run that one process makes.

    Attributes:
        first: Position of its first question in ``Experiment.cell_subjects``.
        end: Position after its last one.
    """

    first: int
    end: int

    def answers_file(self, folder: Path, /) -> Path:
        """Returns where its answers are written, in a run's folder."""
        return folder / PARTS_NAME / f"{self.first:09}-{ANSWERS_NAME}"

    def timings_file(self, folder: Path, /) -> Path:
        """Returns where its timings are written, in a run's folder."""
        return folder / PARTS_NAME / f"{self.first:09}-{TIMINGS_NAME}"


def parts_of(experiment: Experiment, /, *, most: int = MOST_ANSWERS) -> tuple[Part, ...]:
    """Returns the parts of a run, in the order of the plan.

    Args:
        experiment: What is asked.
        most: Answers of a part at most; a view that more questions ask has several parts.
    """
    parts: list[Part] = []
    last: tuple[str, str] | None = None
    for index, (cell, _) in enumerate(experiment.cell_subjects()):
        key = (cell.condition.graph, cell.view_name)
        if key != last or index - parts[-1].first == most:
            parts.append(Part(index, index))
            last = key
        parts[-1] = Part(parts[-1].first, index + 1)
    return tuple(parts)


def write_part(experiment: Experiment, part: Part, folder: Path, /) -> None:
    """Answers a part and writes its lines.

    Raises:
        InputError: A question can't be asked, or nothing can be written.
        SetupError, LimitError, StoreError: As ``answer_cell``.
    """
    questions = experiment.cell_subjects()[part.first : part.end]
    pairs = [lines_of(answer) for answer in answers_of(experiment, questions)]
    path = part.answers_file(folder)
    try:
        path.parent.mkdir(exist_ok=True)
        write_lines(part.timings_file(folder), (timings for _, timings in pairs))
        # Last: a part is done where this file is.
        write_lines(path, (line for line, _ in pairs))
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}", argument="out") from error


def missing_parts(experiment: Experiment, folder: Path, /) -> tuple[Part, ...]:
    """Returns the parts that are left to answer, after cutting off a torn end of the run.

    Raises:
        InputError: The folder holds another run.
    """
    done = _resume(experiment, folder)
    return tuple(
        part
        for part in parts_of(experiment)
        if part.end > done and not part.answers_file(folder).is_file()
    )


def join_parts(experiment: Experiment, folder: Path, /) -> None:
    """Writes the lines of all parts into the run's files, in the order of the plan.

    Raises:
        InputError: A part is missing, or has lines of another run.
    """
    done = _resume(experiment, folder)
    answers, timings = LineFile(folder / ANSWERS_NAME), LineFile(folder / TIMINGS_NAME)
    questions = experiment.cell_subjects()
    for part in parts_of(experiment):
        if part.end <= done:
            continue
        counter = AnswerCounter(questions[part.first : part.end])
        lines = list(_lines(part.answers_file(folder), counter))
        begin = max(0, done - part.first)
        clocks = part.timings_file(folder).read_bytes().splitlines(keepends=True)
        timings.append_bytes(clocks[begin:])
        answers.append_bytes(lines[begin:])
    shutil.rmtree(folder / PARTS_NAME, ignore_errors=True)


def _resume(experiment: Experiment, folder: Path) -> int:
    counter = AnswerCounter(experiment.cell_subjects())
    LineFile(folder / ANSWERS_NAME).resume(counter.is_valid)
    return counter.count


def _lines(path: Path, counter: AnswerCounter) -> Iterator[bytes]:
    try:
        lines: Sequence[bytes] = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise InputError(
            f"the part of {path} was not answered: {error.strerror}",
            argument="out",
            hint="Run the same command again; the parts that were answered stay.",
        ) from error
    for index, line in enumerate(lines, 1):
        counter.is_valid(line.rstrip(b"\n"), f"{path.name}, line {index}")
        yield line
