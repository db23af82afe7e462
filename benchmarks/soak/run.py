"""One run: the capacity of a server is measured, and then it is asked more than that for long."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.soak.answers import Editions
from benchmarks.soak.asking import Crowd, Server
from benchmarks.soak.beside import Load, keep_loading, keep_making_views
from benchmarks.soak.records import Records
from benchmarks.soak.traffic import Traffic
from benchmarks.soak.watching import cached_bytes, watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a run goes.

    Attributes:
        seconds: How long requests are begun at the rate.
        times: The rate, by the capacity.
        rate: Requests a second, where it does not follow from the capacity.
        capacity_s: How long the capacity is measured.
        at_once: Connections that the capacity is measured by.
        connections: Of each client, at the rate.
        settle_s: Of the seconds, those before memory and threads are looked at for growth.
        look_s: Between two looks at the processes.
        load_s: Between two loads.
        view_s: Between two views.
        say_s: Between two words on how far it is; 0 for none.
    """

    seconds: float = 1200.0
    times: float = 2.0
    rate: float | None = None
    capacity_s: float = 60.0
    at_once: int = 16
    connections: int = 70
    settle_s: float = 120.0
    look_s: float = 5.0
    load_s: float = 45.0
    view_s: float = 10.0
    say_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a run asks.

    Attributes:
        server: Whom clients ask.
        writer: The key that makes views and reads the metrics; "" for none.
        pids: The server's processes, asked anew each time.
        traffic: What is asked.
        editions: What is known of editions.
        graphs: Of which views are made.
        load: Loads a version of the changing graph.
        first_version: The first to load.
        about: What the report begins with, by name.
    """

    server: Server
    writer: str
    pids: Callable[[], Sequence[int]]
    traffic: Traffic
    editions: Editions
    graphs: Sequence[str]
    load: Load
    first_version: int
    about: Mapping[str, Any]


def soak(plan: Plan, target: Target, records: Records, /) -> None:
    """Runs a plan; what happens is in the records, also of what is interrupted."""
    server = target.server
    records.add("about", about=dict(target.about))
    crowd = Crowd(server, target.traffic, target.editions, records)
    capacity = crowd.ask_in_turn(plan.capacity_s, plan.at_once)
    rate = plan.rate or plan.times * capacity
    if not rate:
        raise RuntimeError(f"the server answered nothing within {plan.capacity_s:g} s")
    records.add(
        "rate",
        capacity=capacity,
        rate=rate,
        seconds=plan.capacity_s,
        connections=plan.at_once,
        load_average=os.getloadavg()[0],
    )
    stop = threading.Event()
    settled = threading.Timer(plan.settle_s, lambda: records.add("settled"))
    settled.daemon = True
    with _beside(stop, _jobs(plan, target, records, crowd, stop)):
        settled.start()
        try:
            crowd.ask_at(rate, plan.seconds, plan.connections, stop)
            records.add("asked")
        finally:
            settled.cancel()
    records.add("end", editions=sorted(target.editions.fingerprints))


def _jobs(
    plan: Plan, target: Target, records: Records, crowd: Crowd, stop: threading.Event
) -> list[Callable[[], None]]:
    """Returns what goes on beside the questions."""
    server = target.server

    def look() -> None:
        def cached() -> int:
            return cached_bytes(server.port, target.writer)

        watch(target.pids, cached, records, stop, every_s=plan.look_s)

    def load() -> None:
        keep_loading(
            target.load,
            target.first_version,
            target.editions,
            records,
            stop,
            every_s=plan.load_s,
        )

    def make_views() -> None:
        keep_making_views(
            server.port,
            target.writer,
            target.graphs,
            records,
            stop,
            every_s=plan.view_s,
            limit_s=server.limit_s,
        )

    def say() -> None:
        began = time.monotonic()
        while plan.say_s and not stop.wait(plan.say_s):
            counts = ", ".join(f"{n:,} {kind}" for kind, n in sorted(crowd.tally.counts().items()))
            passed = time.monotonic() - began
            print(f"{passed:5.0f} of {plan.seconds:.0f} s: {counts}", file=sys.stderr, flush=True)

    return [look, load, make_views, say]


@contextmanager
def _beside(stop: threading.Event, jobs: Sequence[Callable[[], None]]) -> Iterator[None]:
    """Runs jobs in threads until the block ends."""
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
