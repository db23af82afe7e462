"""Requests at once, requests and tokens a minute."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from error_texts import raises
from hypothesis import given
from hypothesis import strategies as st

from graph_service.errors import InputError
from queries.llm import Pace


class Clock:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds


def sent(pace: Pace, clock: Clock, tokens: int, actual: int | None = None) -> float:
    with pace.slot(tokens) as slot:
        moment = clock.now
        if actual is not None:
            slot.charge(actual)
    return moment


def test_requests_a_minute_slide() -> None:
    clock = Clock()
    pace = Pace(requests_a_minute=2, clock=clock, sleep=clock.sleep)
    assert sent(pace, clock, 1) == 0.0
    clock.now = 10.0
    assert [sent(pace, clock, 1) for _ in range(3)] == [10.0, 60.0, 70.0]


def test_tokens_a_minute_count_what_was_really_taken() -> None:
    clock = Clock()
    pace = Pace(tokens_a_minute=100, clock=clock, sleep=clock.sleep)
    assert sent(pace, clock, 80, actual=10) == 0.0
    assert sent(pace, clock, 80) == 0.0
    assert sent(pace, clock, 80) == 60.0, "10 + 80 + 80 are more than 100"
    assert sent(pace, clock, 500) == 120.0, "larger than the limit: sent alone, never stuck"


def test_an_endpoint_that_is_overrun_holds_all() -> None:
    clock = Clock()
    pace = Pace(clock=clock, sleep=clock.sleep)
    pace.hold(7.0)
    pace.hold(3.0)
    assert sent(pace, clock, 1) == 7.0


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 30)), max_size=25),
    st.integers(1, 5),
    st.integers(1, 100),
)
def test_no_minute_holds_more_than_the_limits(
    asked: list[tuple[int, int]], requests: int, tokens: int
) -> None:
    clock = Clock()
    pace = Pace(requests_a_minute=requests, tokens_a_minute=tokens, clock=clock, sleep=clock.sleep)
    times = []
    for size, pause in asked:
        clock.now += pause
        times.append((sent(pace, clock, size), size))
    for start, _ in times:
        within = [size for moment, size in times if start <= moment < start + 60]
        assert len(within) <= requests
        assert sum(within) <= tokens or len(within) == 1


def test_concurrency_is_kept_and_used() -> None:
    pace = Pace(concurrency=2)
    lock, two = threading.Lock(), threading.Barrier(2)
    asked = now = most = 0

    def work() -> None:
        nonlocal asked, now, most
        with pace.slot(1):
            with lock:
                asked, now = asked + 1, now + 1
                first, most = asked <= 2, max(most, now)
            if first:
                two.wait(600)
            time.sleep(0.01)
            with lock:
                now -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


@pytest.mark.parametrize("name", ["concurrency", "requests_a_minute", "tokens_a_minute"])
def test_limits_are_at_least_one(name: str) -> None:
    limits: dict[str, Any] = {name: 0}
    with raises(InputError):
        Pace(**limits)
