"""The server's workers and their queue: turns, limits, giving up and stopping, by events."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from graph_service.api.server import described
from graph_service.api.workers import BusyError, Place, WaitedError, Workers
from graph_service.errors import DeadlineError
from graph_service.model.limits import Deadline


def place(name: str, limit_s: float = 60.0) -> Place:
    return Place(name, limit_s)


class Held:
    """Work that runs until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.deadline: Deadline | None = None

    def __call__(self, deadline: Deadline) -> str:
        self.deadline = deadline
        self.begun.set()
        assert self.go.wait(60)
        return "done"


def in_loop(test: Callable[[Workers], Coroutine[Any, Any, None]], threads: int = 1) -> None:
    async def run() -> None:
        await asyncio.wait_for(test(Workers(threads)), 60)

    asyncio.run(run())


async def begun(held: Held) -> None:
    assert await asyncio.to_thread(held.begun.wait, 60)


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0)


def test_those_that_wait_run_in_turn_and_the_first_before_them() -> None:
    async def test(workers: Workers) -> None:
        held, order = Held(), []
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        assert (workers.are_all_busy, [at.name for at in workers.running]) == (True, ["one"])
        tasks = []
        for name, first in (("a", False), ("b", False), ("urgent", True)):
            work = lambda _, name=name: order.append(name)  # noqa: E731
            tasks.append(asyncio.create_task(workers.run(place(name), work, first=first)))
            await until(lambda: len(workers) == 1 + len(tasks))
        held.go.set()
        assert await one == "done"
        await asyncio.gather(*tasks)
        assert order == ["urgent", "a", "b"]
        await until(lambda: not workers.are_all_busy)
        assert (len(workers), workers.running) == (0, [])

    in_loop(test)


def test_what_runs_is_listed_with_the_oldest_first() -> None:
    async def test(workers: Workers) -> None:
        held = [Held(), Held(), Held()]
        tasks = []
        for number, work in enumerate(held):
            tasks.append(asyncio.create_task(workers.run(place(f"{number}"), work)))
            await begun(work)
        assert [one.name for one in workers.running] == ["0", "1", "2"]
        held[0].go.set()
        assert await tasks[0] == "done"
        await until(lambda: len(workers) == 2)
        assert [one.name for one in workers.running] == ["1", "2"]
        for work in held:
            work.go.set()
        await asyncio.gather(*tasks)

    in_loop(test, threads=3)


def test_who_waits_too_long_is_told_and_leaves_the_queue() -> None:
    async def test(workers: Workers) -> None:
        held = Held()
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        with pytest.raises(WaitedError, match="waited 0.01 s for a free worker") as caught:
            await workers.run(place("late", 0.01), held)
        assert caught.value.retryable
        assert len(workers) == 1
        held.go.set()
        assert await one == "done"

    in_loop(test)


def test_a_cancelled_wait_passes_its_turn_on_and_cancelled_work_says_so() -> None:
    async def test(workers: Workers) -> None:
        held, order = Held(), []
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        gone = asyncio.create_task(workers.run(place("gone"), lambda _: order.append("gone")))
        stays = asyncio.create_task(workers.run(place("stays"), lambda _: order.append("stays")))
        await until(lambda: len(workers) == 3)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert len(workers) == 2
        # Nobody waits for what runs: that is told, and its thread is not free before it ends.
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one
        assert workers.are_all_busy
        held.go.set()
        await stays
        assert order == ["stays"]

    in_loop(test)


def test_a_server_that_stops_gives_up_who_waits_and_asks_what_runs_to_end() -> None:
    async def test(workers: Workers) -> None:
        held = Held()
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        waiting = asyncio.create_task(workers.run(place("waiting"), held))
        await until(lambda: len(workers) == 2)
        workers.stop()
        for refused in (waiting, workers.run(place("new"), held)):
            with pytest.raises(BusyError, match="the server is stopping"):
                await refused
        assert held.deadline is not None
        with pytest.raises(DeadlineError, match="given up"):
            held.deadline.check("working")
        workers.abandon()
        with pytest.raises(BusyError, match="the server is stopping"):
            await one
        held.go.set()
        await until(lambda: len(workers) == 0)

    in_loop(test)


def test_waiting_counts_in_the_deadline() -> None:
    async def test(workers: Workers) -> None:
        held, later = Held(), Held()
        later.go.set()
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        assert held.deadline is not None
        waits = place("two", 50.0)
        two = asyncio.create_task(workers.run(waits, later))
        await until(lambda: len(workers) == 2)
        held.go.set()
        assert [await one, await two] == ["done", "done"]
        assert later.deadline is not None
        assert later.deadline.at == waits._came + 50.0
        assert later.deadline.waited_s > 0.0
        assert waits.began is not None
        assert later.deadline.waited_s == waits.began - waits._came
        assert not waits.stop.asked

    in_loop(test)


def test_a_turn_that_comes_to_one_that_was_cancelled_goes_to_the_next() -> None:
    async def test(workers: Workers) -> None:
        order: list[str] = []
        workers._free = 0
        gone, stays = place("gone"), place("stays")
        first = asyncio.create_task(workers.run(gone, lambda _: order.append("gone")))
        second = asyncio.create_task(workers.run(stays, lambda _: order.append("stays")))
        await until(lambda: len(workers) == 2)
        # Its turn has come, and it hears first that nobody waits for it.
        workers._call_next()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        await second
        assert order == ["stays"]
        await until(lambda: not workers.are_all_busy)
        assert len(workers) == 0

    in_loop(test)


def test_those_that_gave_up_are_passed_over_and_no_thread_is_lost() -> None:
    async def test(workers: Workers) -> None:
        held = Held()
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        places = [place("two"), place("three")]
        waiting = [asyncio.create_task(workers.run(each, lambda _: "done")) for each in places]
        await until(lambda: len(workers) == 3)
        places[0].give_up()
        places[0].give_up()
        # It has given up, and stands in the queue still: its turn is the next one's.
        held.go.set()
        workers._queue.appendleft(Place("never waited", 1.0))
        assert await one == "done"
        with pytest.raises(BusyError, match="the query was given up") as caught:
            await waiting[0]
        assert caught.value.retryable
        assert await waiting[1] == "done"
        await until(lambda: not workers.are_all_busy)
        assert len(workers) == 0
        assert await workers.run(place("last"), lambda _: "last") == "last"

    in_loop(test)


def test_an_abandoned_operation_is_told_to_its_operator() -> None:
    assert re.fullmatch(
        r"operation A \(running for 2\.\d s\)",
        described(Place("operation A", 1.0, began=time.monotonic() - 2.0)),
    )
    assert described(Place("a look", 1.0)) == "a look (running for 0.0 s)"


def test_work_that_fails_frees_its_thread() -> None:
    async def test(workers: Workers) -> None:
        def fail(_: Deadline) -> None:
            raise ValueError("a fault of ours")

        for _ in range(3):
            with pytest.raises(ValueError, match="a fault of ours"):
                await workers.run(place("fails"), fail)
        await until(lambda: not workers.are_all_busy)
        assert workers.running == []

    in_loop(test)
