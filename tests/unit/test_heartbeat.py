"""A process is silent for the time that it could have used, and no longer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from graph_service.server.heartbeat import LOOK_S, SILENT_S, Activity, Pulse, activity_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="activity is read from /proc")


def felt(*seen: Activity | None) -> Pulse:
    """Returns the pulse of a process that beats once, and is then seen so."""
    left = list(seen)
    pulse = Pulse(1, look=lambda _: left.pop(0))
    for _ in range(1 + len(seen)):
        pulse.feel(7)
    return pulse


def test_one_that_is_stopped_is_silent_all_the_time() -> None:
    pulse = felt(*[Activity(False, 5.0)] * 3)
    assert pulse.silent_s == 3 * LOOK_S
    assert pulse.is_silent is (3 * LOOK_S >= SILENT_S)


def test_one_that_gets_no_processor_is_not_silent() -> None:
    assert felt(*[Activity(True, 5.0)] * 100).silent_s == 0.0


def test_one_that_gets_little_is_silent_for_what_it_gets() -> None:
    assert felt(*(Activity(True, 0.05 * n) for n in range(101))).silent_s == pytest.approx(5.0)


def test_one_that_computes_in_many_threads_is_silent_no_longer_than_it_is() -> None:
    assert felt(*(Activity(True, 8.0 * n) for n in range(4))).silent_s == 3 * LOOK_S


def test_one_whose_activity_is_not_known_is_silent_all_the_time() -> None:
    assert felt(*[None] * 5).silent_s == 5 * LOOK_S


def test_a_beat_ends_the_silence() -> None:
    pulse = felt(*[None] * 9)
    assert pulse.is_silent
    pulse.feel(8)
    assert (pulse.silent_s, pulse.is_silent) == (0.0, False)


@contextmanager
def running(program: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def wants_machine(pid: int) -> bool:
    activity = activity_of(pid)
    assert activity is not None
    return activity.wants_machine


def test_what_a_process_does_is_read_from_the_system() -> None:
    with running("while True: pass") as pid:
        until(
            lambda: wants_machine(pid) and (activity_of(pid) or Activity(True, 0)).processor_s > 0
        )
        os.kill(pid, signal.SIGSTOP)
        until(lambda: not wants_machine(pid))
    with running("import time; time.sleep(600)") as pid:
        until(lambda: not wants_machine(pid))
    assert activity_of(pid) is None
