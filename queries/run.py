"""A run: one line an item in a file, in the order of the items, and gone on with after any end.

Answers, experiments, stages of data sets and scores run their items here. A line is written when its
item and all before it are made, so that the file has the same bytes however many threads work. A
process that is killed leaves whole lines and at most one torn line, which ``LineFile.resume`` cuts off
when the run goes on.
A run stops when whoever iterates over it stops; what waits in line is then not begun. That only one
process writes a file is the part of ``queries.lock``.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from graph_service.errors import InputError
from queries.llm.chat import Usage

Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Items that are done, those of earlier runs included where the run counts them.
        total: Items that there are.
        fresh: Items that this run made.
        failed: How many failed of those that the run counts.
        seconds: Since the run began.
        usage: Tokens of the items of this run, those of cached replies included.
        label: What is under way; empty where there is one thing.
        unit: What the items are.
        failed_as: What it is called that an item failed.
        detail: What else a reader should know.
    """

    done: int
    total: int
    fresh: int = 0
    failed: int = 0
    seconds: float = 0.0
    usage: Usage = Usage()
    label: str = ""
    unit: str = "items"
    failed_as: str = "failed"
    detail: str = ""

    @property
    def seconds_left(self) -> float:
        """How long the rest takes at the pace of this run, in seconds."""
        return self.seconds / max(self.fresh, 1) * (self.total - self.done)

    def text(self) -> str:
        """Returns the progress for people, in one line.

        >>> Progress(20, 90, 10, 1, 4.0, Usage(1_100, 150), label="base", unit="answers").text()
        'base: 20 of 90 answers, 1 failed, 1,250 tokens (1,100 + 150), 4 s, about 28 s left'
        """
        parts = [
            f"{self.done:,} of {self.total:,} {self.unit}",
            f"{self.failed:,} {self.failed_as}",
        ]
        if self.usage.total:
            parts.append(
                f"{self.usage.total:,} tokens ({self.usage.prompt_tokens:,} + "
                f"{self.usage.completion_tokens:,})"
            )
        parts.append(f"{self.seconds:.0f} s")
        if self.done < self.total:
            parts.append(f"about {self.seconds_left:.0f} s left")
        if self.detail:
            parts.append(self.detail)
        return f"{self.label}: " * bool(self.label) + ", ".join(parts)


def run_items(
    items: Sequence[Item],
    make: Callable[[Item], Made],
    write: Callable[[Made], None],
    /,
    *,
    start: Progress,
    workers: int = 1,
    has_failed: Callable[[Made], bool],
    usage_of: Callable[[Made], Usage | None] = lambda _: None,
    settle: Callable[[Made], Made] = lambda made: made,
) -> Iterator[tuple[Made, Progress]]:
    """Yields what is made of items in their order, each when it is written, and how far the run is.

    Args:
        items: Those that are left to be made.
        make: Makes one; called in ``workers`` threads.
        write: Writes it, called in the order of the items.
        start: The progress before the first item.
        workers: Items under way at once.
        has_failed: Whether what was made is a failure.
        usage_of: The tokens that it took.
        settle: Called with what was made, in the order of the items and by one thread; what it
            returns is written in its stead.

    Raises:
        InputError: There is no worker.
        SetupError, LimitError, StoreError: As ``make`` does; what was made before is written.
    """
    if workers < 1:
        raise InputError(f"concurrency must be at least 1, got {workers}", argument="concurrency")
    began = time.monotonic()
    failed, usage = start.failed, start.usage
    for fresh, unsettled in enumerate(in_order(items, make, workers), 1):
        made = settle(unsettled)
        write(made)
        failed += has_failed(made)
        usage += usage_of(made) or Usage()
        yield (
            made,
            replace(
                start,
                done=start.done + fresh,
                fresh=fresh,
                failed=failed,
                usage=usage,
                seconds=time.monotonic() - began,
            ),
        )


def in_order(
    items: Iterable[Item], make: Callable[[Item], Made], workers: int, /
) -> Iterator[Made]:
    """Yields what is made of items in their order, several under way at once in threads."""
    if workers == 1:
        yield from map(make, items)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="run") as pool:
        under_way: deque[Future[Made]] = deque()
        try:
            for item in items:
                under_way.append(pool.submit(make, item))
                # A little ahead, so that one slow item does not idle the other threads.
                if len(under_way) >= 2 * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
