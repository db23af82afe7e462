"""Hashes of keys and statements as arrays: keyed draws, and sums that do not depend on order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Uint64 = npt.NDArray[np.uint64]


_FIRST = np.uint64(0xBF58476D1CE4E5B9)


_SECOND = np.uint64(0x94D049BB133111EB)


_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def mix(words: Uint64, /) -> Uint64:
    """Returns the splitmix64 finaliser of each word; one-to-one.

    Steele, Lea and Flood 2014: shifts 30, 27, 31, and the two constants between them.
    """
    mixed = words ^ (words >> _SHIFTS[0])
    mixed *= _FIRST
    mixed ^= mixed >> _SHIFTS[1]
    mixed *= _SECOND
    mixed ^= mixed >> _SHIFTS[2]
    return mixed


def keyed_hashes(keys: npt.NDArray[np.int64] | Uint64, secret: bytes, /) -> Uint64:
    """Returns one hash a key, uint64: what is drawn is drawn in their order.

    Two rounds of ``mix``, each after adding one half of the secret. Both are one-to-one, so two
    keys never share a hash.

    Args:
        keys: Keys of statements, or counters.
        secret: 16 bytes, mostly ``digest`` of what the draw is for and its random seed.
    """
    low, high = np.frombuffer(secret, dtype="<u8").astype(np.uint64)
    return mix(mix(keys.view(np.uint64) + low) + high)


def sum_hashes(hashes: bytes, /) -> Uint64:
    """Returns the sum of concatenated 16-byte hashes, as two 64-bit words, wrapping around."""
    words = np.frombuffer(hashes, dtype="<u8").reshape(-1, 2)
    total: Uint64 = words.sum(axis=0, dtype=np.uint64)
    return total


def fingerprint(total: Uint64, count: int, /) -> str:
    """Returns a fingerprint from the wrapped sum of hashes and how many there were."""
    with np.errstate(over="ignore"):
        return f"{int(total[0]):016x}{int(total[1]):016x}{count:016x}"
