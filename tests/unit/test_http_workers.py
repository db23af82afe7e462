"""The server's workers and their queue: turns, limits, giving up and stopping, by events."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from graph_service.api.server import described
from graph_service.api.workers import BusyError, Place, WaitedError, Workers, _Lane
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
        assert self.go.wait(10)
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
        tasks, waiting = [], []
        for name, first in (("a", False), ("b", False), ("urgent", True)):
            work = lambda _, name=name: order.append(name)  # noqa: E731
            waiting.append(place(name))
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
        name = await workers.run(place("one"), lambda _: threading.current_thread().name)
        assert name == "operation_0"

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
        workers._operations.free = 0
        gone, stays = place("gone"), place("stays")
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
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        places = [place("two"), place("three")]
        waiting = [asyncio.create_task(workers.run(each, lambda _: "done")) for each in places]
        await until(lambda: len(workers) == 3)
        places[0].give_up()
        places[0].give_up()
        # It has given up, and stands in the queue still: its turn is the next one's.
        held.go.set()
        workers._operations.add(Place("never waited", 1.0), urgent=True)
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


def test_clients_are_served_in_turn_and_each_ones_own_in_order() -> None:
    async def test(workers: Workers) -> None:
        held, order = Held(), []
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        tasks = []
        for name in ("a1", "a2", "a3", "b1", "c1", "b2"):
            work = lambda _, name=name: order.append(name)  # noqa: E731
            tasks.append(asyncio.create_task(workers.run(Place(name, 60.0, name[0]), work)))
            await until(lambda: len(workers) == 1 + len(tasks))
        held.go.set()
        await asyncio.gather(one, *tasks)
        assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]

    in_loop(test)


def test_some_threads_are_kept_for_clients_that_have_none() -> None:
    async def test(workers: Workers) -> None:
        held = [Held() for _ in range(6)]
        tasks = [
            asyncio.create_task(workers.run(Place(f"a{number}", 60.0, "a"), work))
            for number, work in enumerate(held[:5])
        ]
        for work in held[:3]:
            await begun(work)
        # Three of four threads run, and the other two of this client wait.
        await until(lambda: len(workers) == 5)
        assert [one.name for one in workers.running] == ["a0", "a1", "a2"]
        tasks.append(asyncio.create_task(workers.run(Place("b", 60.0, "b"), held[5])))
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
        one = asyncio.create_task(workers.run(place("one"), held))
        await begun(held)
        waits = asyncio.create_task(workers.run(place("two"), lambda _: "two"))
        await until(lambda: len(workers) == 2)
        looked = Place("look", 60.0, is_lookup=True)
        assert await workers.run(looked, lambda _: "looked") == "looked"
        assert not waits.done()
        assert (workers.count(lookups=True), workers.count(lookups=False)) == (0, 2)
        held.go.set()
        assert [await one, await waits] == ["done", "two"]

    in_loop(test)


def costing(client: str, cost: float, limit_s: float = 60.0) -> Place:
    return Place(client, limit_s, client, cost=cost)


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        # The event loop keeps its own.
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr("graph_service.api.workers.time", clock)

    def work(self, seconds: float) -> Callable[[Deadline], None]:
        def run(_: Deadline) -> None:
            self.now += seconds

        return run


def test_an_operation_is_expected_to_run_as_long_as_others_of_its_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    lane = _Lane(1, 0, "lane")
    assert lane.run_s(costing("a", 1.0)) == 0.0
    # A cost of 1 took 0.5 s: of 10 it will take 5.
    lane.note(costing("a", 1.0), 0.5)
    assert lane.run_s(costing("a", 10.0)) == pytest.approx(5.0)
    # What the server does for itself says nothing of queries.
    lane.note(Place("warming", 3_600.0, is_own=True), 600.0)
    assert lane.run_s(costing("a", 10.0)) == pytest.approx(5.0)
    # What costs so much may wait all the same.
    assert lane.run_s(costing("a", 1_000.0)) == pytest.approx(15.0)
    for _ in range(100):
        lane.note(costing("a", 2.0), 2.0)
    assert lane.run_s(costing("a", 10.0)) == pytest.approx(10.0, rel=0.01)
    # One that has run for longer than that tells that all take longer now.
    running = costing("a", 1.0)
    running.began = clock.now
    lane.running[running] = None
    assert lane.run_s(costing("a", 10.0)) == pytest.approx(10.0, rel=0.01)
    clock.now += 1.0
    assert lane.run_s(costing("a", 10.0)) == pytest.approx(10.0, rel=0.01)
    clock.now += 20.0
    assert lane.run_s(costing("a", 10.0)) > 13.0
    lane.pool.shutdown()


def test_who_has_no_thread_waits_for_those_that_have_none() -> None:
    lane = _Lane(2, 1, "lane")
    lane.note(costing("a", 1.0), 2.0)
    assert lane.take(costing("a", 1.0))
    lane.add(costing("a", 30.0), False)
    assert lane.wait_s(costing("b", 1.0)) == 0.0
    assert lane.wait_s(costing("a", 1.0)) == pytest.approx(30.0)
    lane.pool.shutdown()


def test_what_is_before_one_decides_how_long_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def test(workers: Workers) -> None:
        await workers.run(costing("a", 1.0), clock.work(2.0))
        held = Held()
        running = asyncio.create_task(workers.run(costing("a", 1.0), held))
        await begun(held)
        waiting = [
            asyncio.create_task(workers.run(costing("a", cost), lambda _: "ran"))
            for cost in (4.0, 6.0)
        ]
        await until(lambda: len(workers) == 3)
        # 10 are before it, which take 20 s: a fourth of 50 s is less, and of 100 s more.
        with pytest.raises(BusyError, match="too many queries are waiting"):
            await workers.run(costing("a", 1.0, 50.0), lambda _: "ran")
        last = asyncio.create_task(workers.run(costing("a", 1.0, 100.0), lambda _: "ran"))
        await until(lambda: len(workers) == 4)
        # Another client comes after the first of these alone, which is more than 16 s allow.
        with pytest.raises(BusyError, match="too many queries are waiting"):
            await workers.run(costing("b", 1.0, 16.0), lambda _: "ran")
        other = asyncio.create_task(workers.run(costing("b", 1.0), lambda _: "ran"))
        await until(lambda: len(workers) == 5)
        held.go.set()
        assert await asyncio.gather(running, *waiting, last, other) == ["done", *["ran"] * 4]

    in_loop(test)


def test_who_waited_longer_than_was_expected_is_not_run_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)

    async def test(workers: Workers) -> None:
        await workers.run(costing("a", 1.0), clock.work(2.0))
        held = Held()
        running = asyncio.create_task(workers.run(costing("a", 1.0), held))
        await begun(held)
        late = asyncio.create_task(workers.run(costing("a", 2.0), lambda _: "ran"))
        early = asyncio.create_task(workers.run(costing("a", 1.0), lambda _: "ran"))
        await until(lambda: len(workers) == 3)
        # It would run for 4 s, and has 3 left.
        clock.now += 57.0
        held.go.set()
        assert await running == "done"
        with pytest.raises(BusyError, match="too many queries are waiting"):
            await late
        with pytest.raises(BusyError, match="too many queries are waiting"):
            await early
        # Its thread is free for the next.
        assert await workers.run(costing("a", 1.0), lambda _: "ran") == "ran"

    in_loop(test)
