"""Sorting and numbering whole numbers, against numpy's plain functions."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from graph_service.model.graph_arrays import SIDES, find_positions, find_positions_in_order
from graph_service.sorting import (
    TABLE,
    are_among,
    distinct,
    key_order,
    may_repeat,
    ranked,
    stable_order,
)

TOPS = (0, 1, 6, 2**16 - 1, 2**16, TABLE - 1, TABLE, TABLE + 1, 2**31 - 1, 2**32, 2**40, 2**62)


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("count", [0, 1, 2, 700, 3_000])
def test_numbers_are_ordered_and_numbered_as_numpy_does(top: int, count: int) -> None:
    generator = np.random.Generator(np.random.PCG64(top + count))
    numbers = generator.integers(0, top, count, endpoint=True)
    numbers[count // 2 : count // 2 + 1] = top
    numbers[: count // 4] = numbers[count - count // 4 :]
    for typed in (numbers, numbers.astype(np.int32)) if top < 2**31 else (numbers,):
        assert stable_order(typed).tolist() == np.argsort(typed, kind="stable").tolist()
        found = distinct(typed)
        assert found.dtype == np.int64
        assert found.tolist() == np.unique(typed).tolist()
    values, places = ranked(numbers)
    expected, at = np.unique(numbers, return_inverse=True)
    assert (values.tolist(), places.tolist()) == (expected.tolist(), at.tolist())
    assert values.dtype == places.dtype == np.int64


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("count", [0, 1, 2, 700, 9_000])
def test_numbers_that_come_again_are_among_few_others(top: int, count: int) -> None:
    generator = np.random.Generator(np.random.PCG64(top + count))
    numbers = generator.integers(0, top, count, endpoint=True)
    numbers[: count // 20] = numbers[count - count // 20 :]
    low, high = (numbers & 0x7FFF_FFFF).astype(np.int32), (numbers >> 31).astype(np.int32)
    places = may_repeat(low, high)
    _, position, times = np.unique(numbers, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(times[position] > 1)
    assert places.tolist() == sorted(set(places.tolist()))
    assert set(repeated.tolist()) <= set(places.tolist())
    assert len(places) - len(repeated) <= count // 4


@pytest.mark.parametrize("count", [0, 1, 2, 700, 3_000])
@pytest.mark.parametrize("shared_bits", [0, 20, 40])
def test_keys_are_ordered_as_numpy_does(count: int, shared_bits: int) -> None:
    """Keys of equal first bits are no hashes, and are ordered rightly all the same."""
    generator = np.random.Generator(np.random.PCG64(count))
    bound = 2**63
    keys = np.unique(generator.integers(-bound, bound - 1, count) >> shared_bits)
    generator.shuffle(keys)
    assert key_order(keys).tolist() == np.argsort(keys).tolist()


def test_no_table_is_made_of_a_few_large_numbers() -> None:
    """2**62 places would be no memory's; of many numbers a table of eight times as many is."""
    many = np.arange(TABLE // 4, dtype=np.int64) * 8
    values, places = ranked(many)
    assert values.tolist() == many.tolist()
    assert places.tolist() == list(range(len(many)))


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("count", [0, 1, 700])
def test_numbers_are_looked_up_as_numpy_does(top: int, count: int) -> None:
    generator = np.random.Generator(np.random.PCG64(top + count))
    numbers = generator.integers(0, top, count, endpoint=True)
    wanted = np.concatenate((generator.integers(0, top, 50, endpoint=True), numbers[::3]))
    ascending, order = np.sort(numbers), np.argsort(numbers).astype(np.int32)
    assert are_among(wanted, ascending).tolist() == np.isin(wanted, ascending).tolist()
    assert are_among(wanted, numbers).tolist() == np.isin(wanted, numbers).tolist()
    below = -ascending[::-1]
    assert are_among(-wanted, below).tolist() == np.isin(-wanted, below).tolist()
    for side in SIDES:
        expected = np.searchsorted(ascending, wanted, side).tolist()
        assert find_positions(ascending, wanted, side).tolist() == expected
        assert find_positions_in_order(numbers, order, wanted, side).tolist() == expected
        if top < 2**31:
            narrow = ascending.astype(np.int32)
            assert find_positions(narrow, wanted, side).tolist() == expected


def test_a_look_up_copies_nothing_of_what_is_searched() -> None:
    """numpy would, where types differ: time and memory that grow with the graph."""
    numbers = np.arange(500_000, dtype=np.int64)
    narrow, wanted = numbers.astype(np.int32), np.array([7, 11])
    plainly = bytes_taken(lambda: np.searchsorted(narrow, wanted))
    assert plainly > numbers.nbytes // 2
    assert bytes_taken(lambda: find_positions(narrow, wanted)) < 10_000
    assert bytes_taken(lambda: find_positions_in_order(numbers, narrow, wanted)) < 10_000


def bytes_taken(work: Callable[[], object]) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
