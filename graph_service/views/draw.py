"""The keyed hash stream that every view is drawn from (O10).

A statement's place in the order of a (random seed, method) is a 64-bit hash of its key, which is
itself BLAKE2b-64 of its id; the n smallest are changed. So a level is a prefix of one sequence,
levels nest, and nothing depends on the machine, the library version or the order of loading.
Numpy's generators are not used, because their streams may change between versions.

The hash is ``model.identity.keyed_hashes``; its key is BLAKE2b of purpose, random seed, method and
algorithm version. It is one-to-one, so two statements never share a hash in one stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Int64, Numbers
from graph_service.model.hashing import Uint64, keyed_hashes
from graph_service.model.identity import digest
from graph_service.model.topology import edge_type
from graph_service.model.view_spec import Method

_HALF = np.uint64(32)
_LOWER = np.uint64((1 << 32) - 1)
_DIGITS = (np.uint64(32), np.uint64(48))

_REST = np.uint64((1 << 48) - 1)

_BLOCK = 1 << 18
"""Hashes that are worked on at once: they and what is made of them stay in the cache."""

_CACHED = 1 << 20
_BUCKET_BITS = 8


@dataclass(frozen=True, slots=True)
class Stream:
    """One keyed stream of hashes.

    Attributes:
        random_seed, method, algorithm: What its keys are made of.
    """

    random_seed: int
    method: Method
    algorithm: int

    def secret(self, purpose: str, /, *, attempt: int = 0) -> bytes:
        """Returns the 16 bytes that the hashes of a purpose are keyed with."""
        return digest(
            (purpose, str(attempt), str(self.random_seed), self.method.value, str(self.algorithm)),
            person=b"draw",
        )

    def hashes(
        self,
        keys: Int64 | Uint64,
        /,
        *,
        purpose: str,
        attempt: int = 0,
        at: Numbers | None = None,
    ) -> Uint64:
        """Returns one hash a key, uint64.

        Args:
            keys: Statement keys, or counters.
            purpose: What is drawn: ``order``, ``tail``, ...
            attempt: Number of the try, where a draw can be refused.
            at: Which of the keys, all where None.
        """
        secret = self.secret(purpose, attempt=attempt)
        hashes = np.empty(len(keys if at is None else at), dtype=np.uint64)
        for start in range(0, len(hashes), _BLOCK):
            block = slice(start, start + _BLOCK)
            part = keys[block] if at is None else keys[at[block]]
            hashes[block] = keyed_hashes(part, secret)
        return hashes


def below(hashes: Uint64, limit: int | Int64, /) -> Int64:
    """Returns numbers from 0 to ``limit - 1``, one a hash, int64.

    A limit may be given for each, up to 2**32. The high 32 bits are scaled, so that no number is
    likelier than another by over 2**-32; all 64 bits where one limit for all is above that.
    """
    upper = hashes >> _HALF
    if isinstance(limit, int) and limit > _LOWER:
        more, rest = np.uint64(limit >> 32), np.uint64(limit) & _LOWER
        lower = hashes & _LOWER
        scaled = upper * rest + (lower * rest >> _HALF)
        carried = (scaled & _LOWER) + lower * more >> _HALF
        numbers: Int64 = (upper * more + (scaled >> _HALF) + carried).astype(np.int64)
        return numbers
    limits = np.asarray(limit, dtype=np.uint64)
    return (upper * limits >> _HALF).astype(np.int64)


def smallest(hashes: Uint64, count: int, /) -> Int64:
    """Returns where the ``count`` smallest of some distinct hashes stand, ascending, int64."""
    if count <= 0:
        return np.zeros(0, dtype=np.int64)
    if count >= len(hashes):
        return np.arange(len(hashes), dtype=np.int64)
    return np.flatnonzero(hashes <= _largest_of(hashes, count)).astype(np.int64)


def _largest_of(hashes: Uint64, count: int) -> np.uint64:
    """The largest of the ``count`` smallest hashes."""
    if len(hashes) > _CACHED:
        # By their upper bits, counted without a copy: then only those that share its are left.
        counts = np.zeros(1 << 16, dtype=np.int64)
        for start in range(0, len(hashes), _BLOCK):
            upper = (hashes[start : start + _BLOCK] >> _DIGITS[1]).astype(np.uint16)
            counts += np.bincount(upper, minlength=len(counts))
        totals = np.cumsum(counts)
        bucket = int(np.searchsorted(totals, count))
        count -= int(totals[bucket] - counts[bucket])
        low = np.uint64(bucket) << _DIGITS[1]
        hashes = hashes[(hashes >= low) & (hashes <= (low | _REST))]
    largest: np.uint64 = np.partition(hashes, count - 1)[count - 1]
    return largest


def ascending(hashes: Uint64, /) -> Numbers:
    """Returns where distinct hashes stand from the smallest to the largest, int32 or int64.

    Numpy counts numbers of 16 bits where it would compare longer ones. More of them than a
    processor's cache holds are first dealt into buckets by their upper bits, block by block, so
    that nothing is ever looked up far away: a quarter of the time of ``argsort``.
    """
    if len(hashes) <= _CACHED:
        order = _by_upper_half(hashes)
        return _untied(order, hashes[order] >> _HALF, hashes)
    # A hash's upper bits and its place in one number, so that one array is moved and not two.
    bits = (len(hashes) - 1).bit_length()
    mask = np.uint64((1 << bits) - 1)
    unsorted = np.uint64(max(bits, 32 - _BUCKET_BITS))
    buckets: list[list[Uint64]] = [[] for _ in range(1 << _BUCKET_BITS)]
    for start in range(0, len(hashes), _BLOCK):
        block = hashes[start : start + _BLOCK]
        bucket = (block >> np.uint64(64 - _BUCKET_BITS)).astype(np.uint8)
        packed = (block & ~mask) | np.arange(start, start + len(block), dtype=np.uint64)
        packed = packed[np.argsort(bucket, kind="stable")]
        stops = np.cumsum(np.bincount(bucket, minlength=len(buckets))).tolist()
        for pieces, begin, end in zip(buckets, [0, *stops], stops, strict=False):
            pieces.append(packed[begin:end])
    order = np.empty(len(hashes), dtype=edge_type(len(hashes)))
    done = 0
    for pieces in buckets:
        packed = np.concatenate(pieces)
        pieces.clear()
        packed = packed[_by_upper_half(packed << np.uint64(_BUCKET_BITS))]
        indices = (packed & mask).astype(order.dtype)
        order[done : done + len(indices)] = _untied(indices, packed >> unsorted, hashes)
        done += len(indices)
    return order


def _by_upper_half(words: Uint64) -> Numbers:
    """Where words stand in order of their upper 32 bits, int32 or int64."""
    order = np.argsort((words >> _DIGITS[0]).astype(np.uint16), kind="stable")
    order = order.astype(edge_type(len(words)))
    upper = (words >> _DIGITS[1]).astype(np.uint16)[order]
    return order[np.argsort(upper, kind="stable")]


def _untied(order: Numbers, upper: Uint64, hashes: Uint64) -> Numbers:
    """The order of all bits, given that of the upper ones: where those agree, few are sorted."""
    same = upper[1:] == upper[:-1]
    if same.any():
        tied = np.zeros(len(order), dtype=np.bool_)
        tied[1:] = same
        tied[:-1] |= same
        members = order[tied]
        order[tied] = members[np.argsort(hashes[members])]
    return order


def edges_at_level(level: float, scope_edges: int, /) -> int:
    """Returns how many edges a level is: the nearest whole number, halves up.

    >>> edges_at_level(0.3, 10), edges_at_level(0.25, 10), edges_at_level(0.0, 10)
    (3, 3, 0)
    """
    # 0.29 * 100 is 28.999999999999996: rounding to 9 digits first keeps a half a half.
    return min(scope_edges, math.floor(round(level * scope_edges, 9) + 0.5))
