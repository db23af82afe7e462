"""A run of all cells in one process: one line an answer, in the plan's order, resumed after any end.

The lines of ``answers.jsonl`` are the beginning of the plan's order at every moment, however many
threads answer. So a run that goes on makes only what follows. Timings, which the clock decides,
have a file of their own. Replies of models are kept before anything is made of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.experiment.answering import Experiment, Fates, SharedRetrieval, answer_cell
from queries.experiment.cells import Cell
from queries.experiment.subjects import Fate, GoldFate, Subject
from queries.generate.answer import Answer
from queries.generate.run import in_order

ANSWERS_NAME = "answers.jsonl"
TIMINGS_NAME = "timings.jsonl"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        cell: The cell of the last answer, and ``place`` its number from 1, of ``cells``.
        done: Answers that are written, those of earlier runs included.
        total: Answers of the plan.
        fresh: Answers of this run.
        failed: Failures of this run.
        seconds: Since it began.
    """

    cell: str
    place: int
    cells: int
    done: int
    total: int
    fresh: int
    failed: int
    seconds: float

    @property
    def seconds_left(self) -> float:
        """Returns what is left at the pace of this run, in seconds."""
        return self.seconds / max(self.fresh, 1) * (self.total - self.done)

    def text(self) -> str:
        """Returns ``cell 3 of 9 demo/base/...: 20 of 90 answers, 0 failed, 4 s, about 14 s left``."""
        return (
            f"cell {self.place} of {self.cells} {self.cell}: {self.done:,} of {self.total:,} "
            f"answers, {self.failed} failed, {self.seconds:.0f} s, about "
            f"{self.seconds_left:.0f} s left"
        )


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """A line of ``answers.jsonl``.

    Attributes:
        cell: Id of the cell.
        gold: What its view leaves of the question's gold; None where there is none to look at, or
            it was not looked up.
    """

    cell: str
    gold: GoldFate | None
    answer: Answer

    @property
    def fate(self) -> Fate | None:
        """What its view leaves of the best set of the question's gold."""
        return None if self.gold is None else self.gold.fate


@dataclass(frozen=True, slots=True)
class CellGold:
    """What a line of ``answers.jsonl`` says of a question's gold, without the answer.

    Attributes:
        cell, question: Ids.
        gold: As in ``CellAnswer``.
    """

    cell: str
    question: str
    gold: GoldFate | None


def read_cell_answers(path: Path, /) -> Iterator[CellAnswer]:
    """Yields the lines of a run, in order.

    Raises:
        InputError: A line is none; names it.
    """
    for found in _lines(path):
        yield CellAnswer(
            found["cell"], _gold(found), Answer.from_json(orjson.dumps(found["answer"]))
        )


def read_cell_gold(path: Path, /) -> Iterator[CellGold]:
    """Yields what the lines of a run say of gold, in order.

    Raises:
        InputError: A line is none; names it.
    """
    for found in _lines(path):
        yield CellGold(found["cell"], found["answer"]["question_id"], _gold(found))


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="out", hint="Run the plan first.")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            yield _line(line, f"{path.name}, line {number}")


def _gold(line: Mapping[str, Any]) -> GoldFate | None:
    fate = line["fate"]
    return None if fate is None else GoldFate(Fate(fate), tuple(line["broken"]))


def _line(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = orjson.loads(line)
        if isinstance(found["cell"], str) and isinstance(found["answer"]["question_id"], str):
            _gold(found)
            return found
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        pass
    raise InputError(
        f"{where}: a line of an experiment was expected; {line[:60].decode(errors='replace')!r} "
        "came",
        argument="out",
        hint="Write to another folder.",
    )


def resume(
    folder: Path, asked: Sequence[tuple[Cell, Subject]], /, *, retry_failed: bool = False
) -> int:
    """Returns how many answers a folder has; what is torn at the end of its file is cut off.

    Args:
        folder: Of the run.
        asked: Every question of every cell, in order.
        retry_failed: Whether the first answer that failed, and all after it, are made again:
            replies that were kept are not asked for again.

    Raises:
        InputError: A line is not the one that the plan has in its place.
    """
    path = folder / ANSWERS_NAME
    if not path.exists():
        return 0
    done = whole = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            where = f"{path.name}, line {done + 1}"
            found = _line(line, where)
            if retry_failed and found["answer"].get("failure") is not None:
                break
            came = (found["cell"], found["answer"]["question_id"])
            wanted = (
                (asked[done][0].id, asked[done][1].case.id) if done < len(asked) else ("none", "")
            )
            if came != wanted:
                raise InputError(
                    f"{where}: cell {wanted[0]!r}, question {wanted[1]!r} was expected; "
                    f"{came[0]!r}, {came[1]!r} came",
                    argument="out",
                    hint="Write to another folder.",
                )
            done += 1
            whole += len(line)
    _cut(path, whole)
    timings = folder / TIMINGS_NAME
    if timings.exists():
        _cut(timings, timings.read_bytes().rfind(b"\n") + 1)
    return done


def _cut(path: Path, size: int) -> None:
    if size < path.stat().st_size:
        with path.open("r+b") as file:
            file.truncate(size)


def answers_of(
    experiment: Experiment,
    asked: Iterable[tuple[Cell, Subject]],
    /,
    *,
    workers: int = 1,
    with_fates: bool = True,
) -> Iterator[CellAnswer]:
    """Yields the answers to questions of an experiment, in order, and writes nothing.

    Args:
        experiment: Whose cells they are of.
        asked: Each question and the cell that asks it.
        workers: Threads that answer.
        with_fates: Whether what each view leaves of the gold is looked up, which takes about as
            long as a retrieval.

    Raises:
        InputError: A question can't be asked.
        SetupError, LimitError, StoreError: As ``answer_cell``.
    """
    retriever, fates = SharedRetrieval(experiment.client), Fates(experiment.client)

    def make(one: tuple[Cell, Subject]) -> CellAnswer:
        cell, subject = one
        try:
            made = answer_cell(cell, subject, experiment, retriever)
            return CellAnswer(cell.id, fates.of(cell, subject) if with_fates else None, made)
        except InputError as error:
            raise InputError(
                f"cell {cell.id}, question {subject.case.id!r}: {error.message}",
                argument=error.argument,
                hint=error.hint,
            ) from error

    return in_order(asked, make, workers)


def run(
    experiment: Experiment, folder: Path, /, *, workers: int = 1, retry_failed: bool = False
) -> Iterator[Progress]:
    """Answers what is left of an experiment, and yields how far it is after each line.

    Args:
        experiment: What is asked.
        folder: Where ``answers.jsonl`` and ``timings.jsonl`` are; one process at a time.
        workers: Threads that answer; the bytes of the answers do not depend on it.
        retry_failed: As ``resume`` has it.

    Raises:
        InputError: The folder holds another run, or a question can't be asked.
        SetupError, LimitError, StoreError: As ``answer_cell``; what was answered is written.
    """
    asked = experiment.asked()
    done = resume(folder, asked, retry_failed=retry_failed)
    left = asked[done:]
    places = {cell.id: place for place, cell in enumerate(experiment.cells, 1)}
    started = time.monotonic()
    failed = 0
    with (
        (folder / ANSWERS_NAME).open("ab") as answers,
        (folder / TIMINGS_NAME).open("ab") as timings,
    ):
        for fresh, made in enumerate(answers_of(experiment, left, workers=workers), 1):
            line, clock = _written(made)
            timings.write(clock)
            timings.flush()
            answers.write(line)
            answers.flush()
            failed += made.answer.failure is not None
            last = fresh == len(left) or left[fresh][0].id != made.cell
            if last:
                os.fsync(answers.fileno())
            yield Progress(
                made.cell,
                places[made.cell],
                len(experiment.cells),
                done + fresh,
                len(asked),
                fresh,
                failed,
                time.monotonic() - started,
            )


def _written(made: CellAnswer) -> tuple[bytes, bytes]:
    """The line of an answer, and the line of its timings."""
    item = made.answer
    spent: dict[str, Any] = {"answer": dict(item.timings_ms)}
    result = item.result
    if result is not None:
        spent["retrieval"] = dict(result.timings_ms)
        result = replace(result, timings_ms={})
    # The query is the cell's, and its document the same in every line.
    plain = to_plain(replace(item, timings_ms={}, result=result, query=None))
    key = {"cell": made.cell, "question": item.question_id}
    broken = () if made.gold is None else made.gold.broken
    line = {**key, "fate": made.fate, "broken": broken, "answer": plain}
    return orjson.dumps(line) + b"\n", orjson.dumps({**key, "ms": spent}) + b"\n"
