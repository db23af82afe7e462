"""Sorting and numbering whole numbers, faster than numpy does when it is asked plainly."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64

_COUNTED, _WHOLE = 16, 64
"""Bits of numbers that numpy sorts by counting, and of the largest that it holds."""
TABLE = 1 << 18
"""Numbers up to which a table of all is faster than a sort; past it, touching its pages is not."""


def stable_order(numbers: Int32 | Int64, /) -> Int64:
    """Returns the places of some numbers, at least 0, in ascending order; ties keep theirs.

    numpy sorts 16-bit numbers by counting. Larger ones are sorted with their places in their last
    bits: that is faster than to order places by numbers.

    >>> stable_order(np.array([70_000, 3, 70_000, 1])).tolist()
    [3, 1, 0, 2]
    """
    top, bits = int(numbers.max(initial=0)), len(numbers).bit_length()
    if top >> _COUNTED == 0:
        return np.argsort(numbers.astype(np.uint16), kind="stable")
    if top.bit_length() + bits >= _WHOLE:
        return np.argsort(numbers, kind="stable")
    packed = (numbers.astype(np.int64) << bits) | np.arange(len(numbers))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def distinct(numbers: Int32 | Int64, /) -> Int64:
    """Returns the distinct numbers, at least 0, ascending.

    >>> distinct(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    top = int(numbers.max(initial=-1))
    if top < TABLE:
        met = np.zeros(top + 1, dtype=bool)
        met[numbers] = True
        return np.flatnonzero(met)
    ordered = np.sort(numbers).astype(np.int64)
    found: Int64 = ordered[_first_of_each(ordered)]
    return found


def ranked(numbers: Int64, /) -> tuple[Int64, Int64]:
    """Returns the distinct numbers, at least 0, ascending, and the place of each number in them.

    >>> [part.tolist() for part in ranked(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    top = int(numbers.max(initial=-1))
    if top < max(TABLE, 8 * len(numbers)):
        met = np.zeros(top + 1, dtype=bool)
        met[numbers] = True
        found = np.flatnonzero(met)
        table = np.empty(top + 1, dtype=np.int64)
        table[found] = np.arange(len(found))
        return found, table[numbers]
    order = stable_order(numbers)
    ordered = numbers[order]
    first = _first_of_each(ordered)
    place = np.empty(len(numbers), dtype=np.int64)
    place[order] = np.cumsum(first) - 1
    return ordered[first], place


def are_among(numbers: Int32 | Int64, some: Int32 | Int64, /) -> Bool:
    """Returns for each number, at least 0, whether it is among some, which ascend and are few.

    A table of the last bits of these says of most that are not, faster than a search.

    >>> are_among(np.array([7, 3, 7]), np.array([2, 7])).tolist()
    [True, False, True]
    """
    met = np.zeros(TABLE, dtype=bool)
    met[some & (TABLE - 1)] = True
    found: Bool = met[numbers & (TABLE - 1)]
    may_be = np.flatnonzero(found)
    wanted = numbers[may_be]
    place = np.minimum(np.searchsorted(some, wanted), len(some) - 1)
    found[may_be] = some[place] == wanted
    return found


def _first_of_each(ordered: Int64) -> Bool:
    first = np.empty(len(ordered), dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
