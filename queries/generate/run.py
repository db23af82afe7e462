"""A run over a file of questions, which writes a file of answers (``queries.run``).

Replies that came before a run was killed, and answers that it had not written yet, are in the cache
of replies: no question is asked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.serialise import to_plain
from queries.datasets.case import Case
from queries.generate.record import Answer, read_answer, read_answers
from queries.line_file import LineFile
from queries.llm import ReplyCache
from queries.run import Progress, run_items


class AnswerFile:
    """The file that a run writes its answers to.

    Args:
        path: The file; made where there is none, and cut after its last whole line.
        retry_failed: Whether answers that failed are taken out, to be asked again.

    Raises:
        InputError: It can't be written, or a line of it is no answer.
    """

    def __init__(self, path: Path, /, *, retry_failed: bool = False) -> None:
        self.path = path
        self._file = LineFile(path)
        # Told before anything is asked that the file can't be written.
        self._file.append()
        answers: list[Answer] = []

        def is_valid(line: bytes, where: str) -> bool:
            if line.strip():
                answers.append(read_answer(line, where))
            return True

        self._file.resume(is_valid)
        stored = [item for item in answers if item.failure is None or not retry_failed]
        if len(stored) < len(answers):
            self._file.replace(stored)
        self._answers = {item.question_id: item for item in stored}
        self._order = [item.question_id for item in stored]

    def require(self, run: Mapping[str, Any], /) -> None:
        """Looks whether the answers that are there were made as those of this run will be.

        Args:
            run: ``Plan.to_parameters``.

        Raises:
            InputError: One was not; the options that differ are named.
        """
        for item in self._answers.values():
            before = item.parameters.get("run", {})
            other = [
                name for name in sorted(before.keys() & run.keys()) if before[name] != run[name]
            ]
            if other:
                differences = "; ".join(
                    f"{name} was {before[name]}, now {run[name]}" for name in other
                )
                raise InputError(
                    f"{self.path} has answers that were made in another way: {differences}",
                    argument="out",
                    hint="Write to another file, or give the options of that run.",
                )

    def pending(self, cases: Sequence[Case], /) -> list[Case]:
        """Returns the questions that the file has no answer to, in order.

        Raises:
            InputError: It has an answer to another question under the same id.
        """
        left: list[Case] = []
        for case in cases:
            stored = self._answers.get(case.id)
            if stored is None:
                left.append(case)
            elif stored.question != case.question:
                raise InputError(
                    f"{self.path} has an answer to another question under id {case.id!r}: "
                    f"{stored.question}",
                    argument="out",
                    hint="Write to another file, or give the question another id.",
                )
        return left

    def answers(self) -> tuple[Answer, ...]:
        """Returns the answers that the file has."""
        return tuple(self._answers.values())

    def append(self, item: Answer, /) -> None:
        """Writes an answer, and has it on the disk before it returns."""
        self._file.append(item)
        self._order.append(item.question_id)
        self._answers[item.question_id] = item

    def failed_among(self, cases: Sequence[Case], /) -> int:
        """Returns how many of these questions have a failure in the file for an answer."""
        answers = (self._answers.get(case.id) for case in cases)
        return sum(item is not None and item.failure is not None for item in answers)

    def put_in_order(self, cases: Sequence[Case], /) -> None:
        """Puts the answers in the order of their questions, where some were asked again.

        Answers to other questions stay in their lines.
        """
        ranks = {case.id: rank for rank, case in enumerate(cases)}
        lines = [line for line, id_ in enumerate(self._order) if id_ in ranks]
        sorted_ids = sorted((self._order[line] for line in lines), key=ranks.__getitem__)
        order = list(self._order)
        for line, id_ in zip(lines, sorted_ids, strict=True):
            order[line] = id_
        # Of two answers under one id, which a person has put there, neither is lost.
        if order == self._order or len(set(order)) < len(order):
            return
        stored = {item.question_id: item for item in read_answers(self.path)}
        self._file.replace(stored[id_] for id_ in order)
        self._order = order


def run_cases(
    cases: Sequence[Case],
    make: Callable[[Case], Answer],
    /,
    *,
    out: AnswerFile | None = None,
    cache: ReplyCache | None = None,
    concurrency: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[Answer]:
    """Yields the answers to questions in their order, each when it is written.

    Args:
        cases: Those still to be answered.
        make: Answers one; called from several threads where ``concurrency`` is above 1.
        out: Where they are written.
        cache: Where timings are cached, so that a replay has the same bytes.
        concurrency: Questions under way at once.
        progress: Called after each answer.

    Raises:
        SetupError, LimitError: As ``make`` does; what was answered before is written.
    """

    def settle(item: Answer) -> Answer:
        return item if cache is None else steady_timings(item, cache)

    def write(item: Answer) -> None:
        if out is not None:
            out.append(item)

    for item, state in run_items(
        cases,
        make,
        write,
        start=Progress(0, len(cases), unit="answers"),
        workers=concurrency,
        has_failed=lambda item: item.failure is not None,
        usage_of=lambda item: item.usage,
        settle=settle,
    ):
        if progress is not None:
            progress(state)
        yield item


def steady_timings(item: Answer, cache: ReplyCache, /) -> Answer:
    """Returns an answer with the timings of the first time that it was made.

    Timings are the one thing in an answer that the clock decides. They are kept beside the
    replies, under a hash of everything else in the answer.
    """
    plain: dict[str, Any] = to_plain(item)
    own: dict[str, Any] = {"answer": plain.pop("timings_ms")}
    if plain["result"] is not None:
        own["result"] = plain["result"].pop("timings_ms")
    encoded = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode()
    key = digest((encoded,), person=b"timings").hex()
    cached = cache.timings(key)
    if cached is None:
        cache.store_timings(key, own)
        return item
    result = item.result
    if result is not None:
        result = replace(result, timings_ms=cached["result"])
    return replace(item, timings_ms=cached["answer"], result=result)
