"""The server's workers and their queue: turns, limits, giving up and stopping, by events."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from error_texts import raises

from graph_service.errors import DeadlineError
from graph_service.model.limits import Deadline
from graph_service.server import queue
from graph_service.server.queue import BusyError, Job, WaitedError, Workers
from graph_service.server.server import described


def job(name: str, limit_s: float = 60.0, client: str = "") -> Job:
    return Job(name, limit_s, client)


class Held:
    """Work that runs until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.deadline: Deadline | None = None

    def __call__(self, deadline: Deadline) -> str:
        self.deadline = deadline
        self.begun.set()
        assert self.go.wait(600)
        return "done"


def in_loop(test: Callable[[Workers], Coroutine[Any, Any, None]], threads: int = 1) -> None:
    async def run() -> None:
        await asyncio.wait_for(test(Workers(threads)), 600)

    asyncio.run(run())


async def begun(held: Held) -> None:
    assert await asyncio.to_thread(held.begun.wait, 60)


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0)


def test_those_that_wait_run_in_turn_and_the_first_before_them() -> None:
    async def test(workers: Workers) -> None:
        held, order = Held(), []
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        assert (workers.are_all_busy, [at.name for at in workers.running]) == (True, ["one"])
        tasks, waiting = [], []
        for name, first in (("a", False), ("b", False), ("urgent", True)):
            work = lambda _, name=name: order.append(name)  # noqa: E731
            waiting.append(job(name))
            tasks.append(asyncio.create_task(workers.run(waiting[-1], work, first=first)))
            await until(lambda: len(workers) == 1 + len(tasks))
        assert [at.began for at in waiting] == [None, None, None]
        held.go.set()
        assert await one == "done"
        await asyncio.gather(*tasks)
        assert None not in [at.began for at in waiting]
        assert order == ["urgent", "a", "b"]
        await until(lambda: not workers.are_all_busy)
        assert (len(workers), workers.running) == (0, [])

    in_loop(test)


def test_threads_of_operations_are_named() -> None:
    """Whoever reads a dump of the server's threads sees which of them work on queries."""

    async def test(workers: Workers) -> None:
        name = await workers.run(job("one"), lambda _: threading.current_thread().name)
        assert name == "operation_0"

    in_loop(test)


def test_what_runs_is_listed_with_the_oldest_first() -> None:
    async def test(workers: Workers) -> None:
        held = [Held(), Held(), Held()]
        tasks = []
        for number, work in enumerate(held):
            tasks.append(asyncio.create_task(workers.run(job(f"{number}"), work)))
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
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        with raises(WaitedError) as caught:
            await workers.run(job("late", 0.01), held)
        assert caught.value.retryable
        assert len(workers) == 1
        held.go.set()
        assert await one == "done"

    in_loop(test)


def test_a_cancelled_wait_passes_its_turn_on_and_cancelled_work_says_so() -> None:
    async def test(workers: Workers) -> None:
        held, order = Held(), []
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        gone = asyncio.create_task(workers.run(job("gone"), lambda _: order.append("gone")))
        stays = asyncio.create_task(workers.run(job("stays"), lambda _: order.append("stays")))
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
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        waiting = asyncio.create_task(workers.run(job("waiting"), held))
        await until(lambda: len(workers) == 2)
        workers.stop()
        for refused in (waiting, workers.run(job("new"), held)):
            with raises(BusyError):
                await refused
        assert held.deadline is not None
        with pytest.raises(DeadlineError, match="given up"):
            held.deadline.check("working")
        workers.abandon()
        with raises(BusyError):
            await one
        held.go.set()
        await until(lambda: len(workers) == 0)

    in_loop(test)


def test_waiting_counts_in_the_deadline() -> None:
    async def test(workers: Workers) -> None:
        held, later = Held(), Held()
        later.go.set()
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        assert held.deadline is not None
        waits = job("two", 50.0)
        two = asyncio.create_task(workers.run(waits, later))
        await until(lambda: len(workers) == 2)
        held.go.set()
        assert [await one, await two] == ["done", "done"]
        assert later.deadline is not None
        assert later.deadline.at == waits._came + 50.0
        assert later.deadline.waited_s > 0.0
        assert waits.began is not None
        assert later.deadline.waited_s == waits.began - waits._came
        assert not waits.stop.requested

    in_loop(test)


def test_a_turn_that_comes_to_one_that_was_cancelled_goes_to_the_next() -> None:
    async def test(workers: Workers) -> None:
        order: list[str] = []
        workers._operations.free = 0
        gone, stays = job("gone"), job("stays")
        first = asyncio.create_task(workers.run(gone, lambda _: order.append("gone")))
        second = asyncio.create_task(workers.run(stays, lambda _: order.append("stays")))
        await until(lambda: len(workers) == 2)
        # Its turn has come, and it hears first that nobody waits for it.
        workers._operations.free = 1
        workers._operations.call()
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
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        jobs = [job("two"), job("three")]
        waiting = [asyncio.create_task(workers.run(each, lambda _: "done")) for each in jobs]
        await until(lambda: len(workers) == 3)
        jobs[0].give_up()
        jobs[0].give_up()
        # It has given up, and stands in the queue still: its turn is the next one's.
        held.go.set()
        workers._operations.add(Job("never waited", 1.0), urgent=True)
        assert await one == "done"
        with raises(BusyError) as caught:
            await waiting[0]
        assert caught.value.retryable
        assert await waiting[1] == "done"
        await until(lambda: not workers.are_all_busy)
        assert len(workers) == 0
        assert await workers.run(job("last"), lambda _: "last") == "last"

    in_loop(test)


def test_an_abandoned_operation_is_told_to_its_operator() -> None:
    assert re.fullmatch(
        r"operation A \(running .+ 2\.\d s\)",
        described(Job("operation A", 1.0, began=time.monotonic() - 2.0)),
    )
    assert described(Job("a look", 1.0)) == "a look (running for 0.0 s)"


def test_work_that_fails_frees_its_thread() -> None:
    async def test(workers: Workers) -> None:
        def fail(_: Deadline) -> None:
            raise ValueError("a fault of ours")

        for _ in range(3):
            with pytest.raises(ValueError, match="a fault of ours"):
                await workers.run(job("fails"), fail)
        await until(lambda: not workers.are_all_busy)
        assert workers.running == []

    in_loop(test)


def test_clients_are_served_in_turn_and_each_ones_own_in_order() -> None:
    async def test(workers: Workers) -> None:
        held, order = Held(), []
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        tasks = []
        for name in ("a1", "a2", "a3", "b1", "c1", "b2"):
            work = lambda _, name=name: order.append(name)  # noqa: E731
            tasks.append(asyncio.create_task(workers.run(Job(name, 60.0, name[0]), work)))
            await until(lambda: len(workers) == 1 + len(tasks))
        held.go.set()
        await asyncio.gather(one, *tasks)
        assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]

    in_loop(test)


def test_some_threads_are_kept_for_clients_that_have_none() -> None:
    async def test(workers: Workers) -> None:
        held = [Held() for _ in range(6)]
        tasks = [
            asyncio.create_task(workers.run(Job(f"a{number}", 60.0, "a"), work))
            for number, work in enumerate(held[:5])
        ]
        for work in held[:3]:
            await begun(work)
        # Three of four threads run, and the other two of this client wait.
        await until(lambda: len(workers) == 5)
        assert [one.name for one in workers.running] == ["a0", "a1", "a2"]
        tasks.append(asyncio.create_task(workers.run(Job("b", 60.0, "b"), held[5])))
        await begun(held[5])
        assert len(workers.running) == 4
        # The thread of the other client stays kept when it is free again.
        held[5].go.set()
        await tasks[5]
        await until(lambda: not workers.are_all_busy)
        assert [one.name for one in workers.running] == ["a0", "a1", "a2"]
        for work in held:
            work.go.set()
        await asyncio.gather(*tasks)
        await until(lambda: len(workers) == 0)

    in_loop(test, threads=4)


def test_a_look_up_runs_beside_operations_that_hold_all_threads() -> None:
    async def test(workers: Workers) -> None:
        held = Held()
        one = asyncio.create_task(workers.run(job("one"), held))
        await begun(held)
        waits = asyncio.create_task(workers.run(job("two"), lambda _: "two"))
        await until(lambda: len(workers) == 2)
        looked = Job("look", 60.0, is_lookup=True)
        assert await workers.run(looked, lambda _: "looked") == "looked"
        assert not waits.done()
        assert len(workers) == 2
        held.go.set()
        assert [await one, await waits] == ["done", "two"]

    in_loop(test)


async def waiting(
    workers: Workers, names: list[str], work: Callable[[str], Callable[[Deadline], Any]]
) -> dict[str, asyncio.Task[Any]]:
    """Lets jobs wait, each of the client that its first letter names."""
    tasks = {}
    for name in names:
        before = len(workers)
        tasks[name] = asyncio.create_task(workers.run(job(name, client=name[0]), work(name)))
        await until(lambda before=before: len(workers) > before)  # type: ignore[misc]
    return tasks


def noting(order: list[str]) -> Callable[[str], Callable[[Deadline], None]]:
    return lambda name: lambda _: order.append(name)


def test_no_job_is_refused_for_how_long_jobs_take() -> None:
    """Each of a cold server's first answers takes seconds; the next ones take less."""

    async def test(workers: Workers) -> None:
        order: list[str] = []
        for name in ("slow", "running"):
            held = Held()
            last = asyncio.create_task(workers.run(job(name, client="a"), held))
            await begun(held)
            (running,) = workers.running
            assert running.began is not None
            running.began -= 20.0
            if name == "slow":
                held.go.set()
                await last
        names = [f"a{number}" for number in range(64)]
        tasks = await waiting(workers, names, noting(order))
        held.go.set()
        await asyncio.gather(last, *tasks.values())
        assert order == names

    in_loop(test)


def test_a_full_queue_refuses_the_newest_of_the_client_that_has_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING", 4)

    async def test(workers: Workers) -> None:
        held, order = Held(), list[str]()
        running = asyncio.create_task(workers.run(job("running"), held))
        await begun(held)
        tasks = await waiting(workers, ["a1", "a2", "a3", "b1"], noting(order))
        # The client with most in the queue gets no more of it.
        with raises(BusyError) as caught:
            await workers.run(job("a4", client="a"), noting(order)("a4"))
        assert caught.value.retryable
        # One that has none in it takes the place of that client's newest, and so on until all
        # have equally many.
        tasks["c1"] = asyncio.create_task(workers.run(job("c1", client="c"), noting(order)("c1")))
        with raises(BusyError):
            await tasks.pop("a3")
        tasks["d1"] = asyncio.create_task(workers.run(job("d1", client="d"), noting(order)("d1")))
        with raises(BusyError):
            await tasks.pop("a2")
        with raises(BusyError):
            await workers.run(job("e1", client="e"), noting(order)("e1"))
        # The server's own work is never too much: a balancer must hear that it is alive.
        own = Job("own", 60.0, is_own=True)
        tasks["own"] = asyncio.create_task(workers.run(own, noting(order)("own")))
        await until(lambda: len(workers) == 6)
        held.go.set()
        await asyncio.gather(running, *tasks.values())
        assert order == ["a1", "b1", "c1", "d1", "own"]

    in_loop(test)


def test_the_servers_own_work_has_leisure_while_nobody_waits_and_most_threads_are_free() -> None:
    async def test(workers: Workers) -> None:
        held, leisure = [Held(), Held()], [workers.has_leisure]
        tasks = []
        for client, work in zip("ab", held, strict=True):
            tasks.append(asyncio.create_task(workers.run(job(client, client=client), work)))
            await begun(work)
            leisure.append(workers.has_leisure)
        assert leisure == [True, True, False]
        for work in held:
            work.go.set()
        await asyncio.gather(*tasks)
        await until(lambda: workers.has_leisure)

    in_loop(test, threads=4)


def test_no_own_work_begins_once_it_is_asked_to_end() -> None:
    async def test(workers: Workers) -> None:
        workers.stop_own()
        with raises(BusyError):
            await workers.run(Job("own", 60.0, is_own=True), lambda _: "ran")
        assert await workers.run(job("one"), lambda _: "ran") == "ran"

    in_loop(test)
