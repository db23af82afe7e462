"""A run over a file of questions: one line an answer, in order, gone on with after any end.

A line is written when its answer and all before it are there, so that the file has the same bytes
however many requests are under way at once. What a killed run had been told and not yet written is
in the cache of replies: nothing is asked twice.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.serialise import to_plain
from queries.datasets.case import Case
from queries.generate.record import Answer, resume_answers
from queries.llm import ReplyCache, Usage

Asked = TypeVar("Asked")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Answers of this run so far, failures included.
        total: Answers that this run has to make.
        failed: Failures among ``done``.
        usage: Tokens of these answers, those of kept replies included.
        seconds: Since the run began.
    """

    done: int
    total: int
    failed: int
    usage: Usage
    seconds: float

    def text(self) -> str:
        """Returns ``3 of 50 answered, 0 failed, 1,250 tokens (1,100 + 150), 4 s``."""
        return (
            f"{self.done} of {self.total} answered, {self.failed} failed, "
            f"{self.usage.total:,} tokens ({self.usage.prompt_tokens:,} + "
            f"{self.usage.completion_tokens:,}), {self.seconds:.0f} s"
        )


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
        try:
            # Opened and not touched: touching a folder is no error.
            path.open("ab").close()
        except OSError as error:
            raise InputError(f"can't write {path}: {error.strerror}", argument="out") from error
        before = resume_answers(path)
        kept = [item for item in before if item.failure is None or not retry_failed]
        if len(kept) < len(before):
            self._write(kept)
        self._asked = {item.question_id: item for item in kept}
        self._order = [item.question_id for item in kept]

    def require(self, run: Mapping[str, Any], /) -> None:
        """Looks whether the answers that are there were made as those of this run will be.

        Args:
            run: ``Plan.to_parameters``.

        Raises:
            InputError: One was not; the options that differ are named.
        """
        for item in self._asked.values():
            before = item.parameters.get("run", {})
            other = [
                name for name in sorted(before.keys() & run.keys()) if before[name] != run[name]
            ]
            if other:
                told = "; ".join(f"{name} was {before[name]}, now {run[name]}" for name in other)
                raise InputError(
                    f"{self.path} has answers that were made in another way: {told}",
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
            found = self._asked.get(case.id)
            if found is None:
                left.append(case)
            elif found.question != case.question:
                raise InputError(
                    f"{self.path} has an answer to another question under id {case.id!r}: "
                    f"{found.question}",
                    argument="out",
                    hint="Write to another file, or give the question another id.",
                )
        return left

    def append(self, item: Answer, /) -> None:
        """Writes an answer, and has it on the disk before it returns."""
        with self.path.open("ab") as file:
            file.write(item.to_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._order.append(item.question_id)
        self._asked[item.question_id] = item

    def failed_among(self, cases: Sequence[Case], /) -> int:
        """Returns how many of these questions have a failure in the file for an answer."""
        found = (self._asked.get(case.id) for case in cases)
        return sum(item is not None and item.failure is not None for item in found)

    def put_in_order(self, cases: Sequence[Case], /) -> None:
        """Puts the answers in the order of their questions, where some were asked again.

        Answers to other questions stay in their lines.
        """
        places = {case.id: place for place, case in enumerate(cases)}
        lines = [line for line, id_ in enumerate(self._order) if id_ in places]
        sorted_ids = sorted((self._order[line] for line in lines), key=places.__getitem__)
        wanted = list(self._order)
        for line, id_ in zip(lines, sorted_ids, strict=True):
            wanted[line] = id_
        # Of two answers under one id, which a person has put there, neither is lost.
        if wanted == self._order or len(set(wanted)) < len(wanted):
            return
        kept = {item.question_id: item for item in resume_answers(self.path)}
        self._write([kept[id_] for id_ in wanted])
        self._order = wanted

    def _write(self, answers: Sequence[Answer]) -> None:
        beside = self.path.with_name(self.path.name + ".part")
        with beside.open("wb") as file:
            file.writelines(item.to_json().encode() + b"\n" for item in answers)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.path)


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
        cache: Where timings are kept, so that a replay has the same bytes.
        concurrency: Questions under way at once.
        progress: Told after each answer.

    Raises:
        SetupError, LimitError: As ``make`` does; what was answered before is written.
    """
    if concurrency < 1:
        raise InputError(
            f"concurrency must be at least 1, got {concurrency}", argument="concurrency"
        )
    started = time.monotonic()
    failed, usage = 0, Usage()
    for done, made in enumerate(in_order(cases, make, concurrency), 1):
        item = made if cache is None else steady_timings(made, cache)
        if out is not None:
            out.append(item)
        failed += item.failure is not None
        usage += item.usage or Usage()
        if progress is not None:
            progress(Progress(done, len(cases), failed, usage, time.monotonic() - started))
        yield item


def in_order(
    cases: Iterable[Asked], make: Callable[[Asked], Made], concurrency: int, /
) -> Iterator[Made]:
    """Yields what is made of some cases in their order, several under way at once in threads."""
    if concurrency == 1:
        yield from map(make, cases)
        return
    with ThreadPoolExecutor(concurrency, thread_name_prefix="answer") as pool:
        under_way: deque[Future[Made]] = deque()
        left = iter(cases)
        try:
            for case in left:
                under_way.append(pool.submit(make, case))
                # A little ahead, so that one slow question does not idle the other threads.
                if len(under_way) >= 2 * concurrency:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


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
    kept = cache.timings(key)
    if kept is None:
        cache.keep_timings(key, own)
        return item
    result = item.result
    if result is not None:
        result = replace(result, timings_ms=kept["result"])
    return replace(item, timings_ms=kept["answer"], result=result)
