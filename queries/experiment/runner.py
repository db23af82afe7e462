"""A run of all cells in one process: one line an answer, in the plan's order, resumed after any end.

The lines of ``answers.jsonl`` are the beginning of the plan's order at every moment, however many
threads answer. So a run that goes on makes only what follows. Timings, which the clock decides,
have a file of their own. Replies of models are kept before anything is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.experiment.answering import Effect, Effects, Experiment, SharedRetrieval, answer_cell
from queries.experiment.cells import Cell
from queries.experiment.short_answers import Name
from queries.experiment.subjects import Fate, GoldFate, Subject
from queries.generate.answer import Answer
from queries.line_file import LineFile
from queries.run import Progress, run_items

ANSWERS_NAME = "answers.jsonl"
TIMINGS_NAME = "timings.jsonl"


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """A line of ``answers.jsonl``.

    Attributes:
        cell: Id of the cell.
        gold: What its view leaves of the question's gold; None where there is none to look at, or
            it was not looked up.
        targets: The false answers that its view leads to.
    """

    cell: str
    gold: GoldFate | None
    answer: Answer
    targets: tuple[Name, ...] = ()

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
    for fields in read_fields(path):
        yield CellAnswer(
            fields["cell"],
            _gold(fields),
            Answer.from_json(orjson.dumps(fields["answer"])),
            tuple(Name(text, id_) for text, id_ in fields.get("targets", ())),
        )


def read_cell_gold(path: Path, /) -> Iterator[CellGold]:
    """Yields what the lines of a run say of gold, in order.

    Raises:
        InputError: A line is none; names it.
    """
    for fields in read_fields(path):
        yield CellGold(fields["cell"], fields["answer"]["question_id"], _gold(fields))


def read_fields(path: Path, /) -> Iterator[Mapping[str, Any]]:
    """Yields the lines of a run as JSON has them, in order.

    Raises:
        InputError: A line is none; names it.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="out", hint="Run the plan first.")
    with path.open("rb") as file:
        for index, line in enumerate(file, 1):
            yield _line(line, f"{path.name}, line {index}")


def _gold(line: Mapping[str, Any]) -> GoldFate | None:
    fate = line["fate"]
    return None if fate is None else GoldFate(Fate(fate), tuple(line["broken"]))


def _line(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        fields: Mapping[str, Any] = orjson.loads(line)
        if isinstance(fields["cell"], str) and isinstance(fields["answer"]["question_id"], str):
            _gold(fields)
            return fields
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        pass
    raise InputError(
        f"{where}: a line of an experiment was expected; {line[:60].decode(errors='replace')!r} "
        "came",
        argument="out",
        hint="Write to another folder.",
    )


class AnswerCounter:
    """Counts the lines of a run that stay: those that the plan has in their place.

    Args:
        questions: Every question of every cell, in order.
        retry_failed: Whether the first answer that failed, and all after it, are made again.
    """

    def __init__(
        self, questions: Sequence[tuple[Cell, Subject]], /, *, retry_failed: bool = False
    ) -> None:
        self._questions = questions
        self._retry_failed = retry_failed
        self.count = 0

    def is_valid(self, line: bytes, where: str, /) -> bool:
        """Returns whether a line stays, and counts it.

        Raises:
            InputError: It is not the one that the plan has in its place.
        """
        fields = _line(line, where)
        if self._retry_failed and fields["answer"].get("failure") is not None:
            return False
        came = (fields["cell"], fields["answer"]["question_id"])
        expected = ("none", "")
        if self.count < len(self._questions):
            cell, subject = self._questions[self.count]
            expected = (cell.id, subject.case.id)
        if came != expected:
            raise InputError(
                f"{where}: cell {expected[0]!r}, question {expected[1]!r} was expected; "
                f"{came[0]!r}, {came[1]!r} came",
                argument="out",
                hint="Write to another folder.",
            )
        self.count += 1
        return True


def count_answers(folder: Path, questions: Sequence[tuple[Cell, Subject]], /) -> int:
    """Returns how many answers to questions, in order, a folder has; it stays as it is.

    Raises:
        InputError: A line is not the one that the plan has in its place.
    """
    counter = AnswerCounter(questions)
    LineFile(folder / ANSWERS_NAME).read(counter.is_valid)
    return counter.count


def answers_of(
    experiment: Experiment,
    questions: Iterable[tuple[Cell, Subject]],
    /,
    *,
    with_fates: bool = True,
) -> Iterator[CellAnswer]:
    """Yields the answers to questions of an experiment, in order, and writes nothing.

    Args:
        experiment: Whose cells they are of.
        questions: Each question and the cell that asks it.
        with_fates: Whether what each view leaves of the gold is looked up, which takes about as
            long as a retrieval.

    Raises:
        InputError: A question can't be asked.
        SetupError, LimitError, StoreError: As ``answer_cell``.
    """
    return map(_answerer(experiment, with_fates=with_fates), questions)


def _answerer(
    experiment: Experiment, *, with_fates: bool = True
) -> Callable[[tuple[Cell, Subject]], CellAnswer]:
    """What answers a question of a cell; answers share their retrievals."""
    retriever, effects = SharedRetrieval(experiment.client), Effects(experiment.client)

    def make(question: tuple[Cell, Subject]) -> CellAnswer:
        cell, subject = question
        try:
            made = answer_cell(cell, subject, experiment, retriever)
            effect = effects.of(cell, subject) if with_fates else Effect()
            return CellAnswer(cell.id, effect.gold, made, effect.targets)
        except InputError as error:
            raise InputError(
                f"cell {cell.id}, question {subject.case.id!r}: {error.message}",
                argument=error.argument,
                hint=error.hint,
            ) from error

    return make


def run(
    experiment: Experiment, folder: Path, /, *, workers: int = 1, retry_failed: bool = False
) -> Iterator[Progress]:
    """Answers what is left of an experiment, and yields how far it is after each line.

    Args:
        experiment: What is asked.
        folder: Where ``answers.jsonl`` and ``timings.jsonl`` are; one process at a time.
        workers: Threads that answer; the bytes of the answers do not depend on it.
        retry_failed: Whether the first answer that failed, and all after it, are made again:
            cached replies are not asked for again.

    Raises:
        InputError: The folder holds another run, or a question can't be asked.
        SetupError, LimitError, StoreError: As ``answer_cell``; what was answered is written.
    """
    questions = experiment.cell_subjects()
    answers, timings = LineFile(folder / ANSWERS_NAME), LineFile(folder / TIMINGS_NAME)
    counter = AnswerCounter(questions, retry_failed=retry_failed)
    answers.resume(counter.is_valid)
    timings.resume(lambda *_: True)
    left = questions[counter.count :]
    last_of_cell = {cell.id: subject.case.id for cell, subject in left}
    cell_numbers = {cell.id: index for index, cell in enumerate(experiment.cells, 1)}

    def write(made: CellAnswer) -> None:
        line, clock = lines_of(made)
        timings.append(clock, is_synced=False)
        answers.append(line, is_synced=last_of_cell[made.cell] == made.answer.question_id)

    for made, progress in run_items(
        left,
        _answerer(experiment),
        write,
        start=Progress(counter.count, len(questions), unit="answers"),
        workers=workers,
        has_failed=lambda made: made.answer.failure is not None,
    ):
        number = cell_numbers[made.cell]
        yield replace(progress, label=f"cell {number} of {len(experiment.cells)} {made.cell}")


def lines_of(made: CellAnswer, /) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the line of an answer, and the line of its timings."""
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
    if made.targets:
        line["targets"] = [[target.text, target.id] for target in made.targets]
    return line, {**key, "ms": spent}
