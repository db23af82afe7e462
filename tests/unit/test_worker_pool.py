"""Work done by other processes: order, errors, and processes that die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from graph_service.errors import InputError
from graph_service.worker_pool import WorkerDiedError, WorkerPool


class Fails:
    """Work for tests; processes find it because they have this one's path."""

    def __call__(self, item: tuple[int, str]) -> int:
        number, what = item
        if what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "wrong":
            raise InputError("wrong", argument="source", hint="Mend it.")
        return number


def items(*what: str) -> Iterator[tuple[int, str]]:
    return iter(enumerate(what))


def test_results_come_in_order_and_errors_where_they_are() -> None:
    with WorkerPool(Fails(), count=2) as pool:
        assert list(pool.results(items(*["x"] * 50))) == list(range(50))
        found = pool.results(items("x", "x", "wrong", "x"))
        assert [next(found), next(found)] == [0, 1]
        with pytest.raises(InputError, match="wrong") as caught:
            next(found)
        assert (caught.value.argument, caught.value.hint) == ("source", "Mend it.")
    with WorkerPool(Fails(), count=1) as pool, pytest.raises(WorkerDiedError) as died:
        list(pool.results(items("x", "die", "x")))
    assert died.value.item == (1, "die")
    assert died.value.exit_code == -signal.SIGKILL


def test_what_the_items_raise_is_raised() -> None:
    def failing() -> Iterator[tuple[int, str]]:
        yield 0, "x"
        raise InputError("the source broke")

    with WorkerPool(Fails(), count=1) as pool, pytest.raises(InputError, match="broke"):
        list(pool.results(failing()))


def test_a_pool_left_in_the_middle_ends() -> None:
    def endless() -> Iterator[tuple[int, str]]:
        while True:
            yield 0, "x"

    with WorkerPool(Fails(), count=2) as pool:
        assert next(pool.results(endless())) == 0
