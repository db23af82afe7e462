"""The keyed hash stream that every view is drawn from (O10, settled).

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

from graph_service.model.graph import Int64
from graph_service.model.identity import Uint64, digest, keyed_hashes
from graph_service.model.view import Method

_HALF = np.uint64(32)
_DIGITS = (np.uint64(16), np.uint64(32), np.uint64(48))


@dataclass(frozen=True, slots=True)
class Stream:
    """One keyed stream of hashes.

    Attributes:
        random_seed, method, algorithm: What its keys are made of.
    """

    random_seed: int
    method: Method
    algorithm: int

    def hashes(self, keys: Int64 | Uint64, /, *, purpose: str, attempt: int = 0) -> Uint64:
        """Returns one hash a key, uint64.

        Args:
            keys: Statement keys, or counters.
            purpose: What is drawn: ``order``, ``tail``, ...
            attempt: Number of the try, where a draw can be refused.
        """
        secret = digest(
            (purpose, str(attempt), str(self.random_seed), self.method.value, str(self.algorithm)),
            person=b"draw",
        )
        return keyed_hashes(keys, secret)


def below(hashes: Uint64, limit: int, /) -> Int64:
    """Returns numbers from 0 to ``limit - 1`` (at most 2**32 - 1), one a hash, int64.

    The high 32 bits are scaled, so that no number is likelier than another by over 2**-32.
    """
    return ((hashes >> _HALF) * np.uint64(limit) >> _HALF).astype(np.int64)


def smallest(hashes: Uint64, count: int, /) -> Int64:
    """Returns where the ``count`` smallest of some distinct hashes stand, ascending, int64."""
    if count <= 0:
        return np.zeros(0, dtype=np.int64)
    if count >= len(hashes):
        return np.arange(len(hashes), dtype=np.int64)
    bound = np.partition(hashes, count - 1)[count - 1]
    return np.flatnonzero(hashes <= bound).astype(np.int64)


def ascending(hashes: Uint64, /) -> Int64:
    """Returns where distinct hashes stand from the smallest to the largest, int64.

    By three passes of 16 bits, lowest first, each of which numpy counts rather than compares:
    a third of the time of ``argsort``. Hashes that share their upper 48 bits are rare enough to
    sort everything again.
    """
    order = np.arange(len(hashes), dtype=np.int32 if len(hashes) < 2**31 else np.int64)
    for shift in _DIGITS:
        digits = (hashes >> shift).astype(np.uint16)[order]
        order = order[np.argsort(digits, kind="stable")]
    found = hashes[order]
    rising = bool((found[1:] > found[:-1]).all())
    return order.astype(np.int64) if rising else np.argsort(hashes)


def edges_asked(level: float, scope_edges: int, /) -> int:
    """Returns how many edges a level is: the nearest whole number, halves up.

    >>> edges_asked(0.3, 10), edges_asked(0.25, 10), edges_asked(0.0, 10)
    (3, 3, 0)
    """
    # 0.29 * 100 is 28.999999999999996: rounding to 9 digits first keeps a half a half.
    return min(scope_edges, math.floor(round(level * scope_edges, 9) + 0.5))
