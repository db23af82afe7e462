"""The hashes that views are drawn by, as expressions of columns (``views.draw``)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from graph_service.views.draw import Stream

_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_SHIFTS = (30, 27, 31)
_SIGN = -(2**63)


def signed(word: int, /) -> int:
    """Returns a number of 64 bits as a signed one."""
    return word - 2**64 if word >= 2**63 else word


def mix(words: Any, /) -> Any:
    """Returns ``model.hashing.mix`` of a column of 64-bit numbers."""
    from pyspark.sql import functions as F  # noqa: N812

    def shifted(column: Any, shift: int) -> Any:
        return column.bitwiseXOR(_unsigned_shift(column, shift))

    mixed = shifted(words, _SHIFTS[0]) * F.lit(signed(_FIRST))
    mixed = shifted(mixed, _SHIFTS[1]) * F.lit(signed(_SECOND))
    return shifted(mixed, _SHIFTS[2])


def hashes(keys: Any, stream: Stream, /, *, purpose: str, attempt: int = 0) -> Any:
    """Returns ``Stream.hashes`` of a column of keys, as signed numbers."""
    from pyspark.sql import functions as F  # noqa: N812

    low, high = _halves(stream, purpose, attempt)
    return mix(mix(keys + F.lit(low)) + F.lit(high))


def hashes_of_attempts(keys: Any, attempts: Any, stream: Stream, purposes: Sequence[str], /) -> Any:
    """Returns the hash of each key for the attempt in another column.

    Args:
        keys: A column of keys.
        attempts: A column of attempts, from 0.
        stream: The draws.
        purposes: What each attempt is drawn for.
    """
    from pyspark.sql import functions as F  # noqa: N812

    halves = [_halves(stream, purpose, attempt) for attempt, purpose in enumerate(purposes)]
    index = (attempts + 1).cast("int")
    low, high = (
        F.element_at(F.array(*(F.lit(half[side]) for half in halves)), index) for side in (0, 1)
    )
    return mix(mix(keys + low) + high)


def ordered(hashes_: Any, /) -> Any:
    """Returns hashes so that signed numbers have the order of unsigned ones."""
    from pyspark.sql import functions as F  # noqa: N812

    return hashes_.bitwiseXOR(F.lit(_SIGN))


def below(hashes_: Any, limit: Any, /) -> Any:
    """Returns ``views.draw.below`` of a column of hashes; limits are under 2**31."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.shiftright(_unsigned_shift(hashes_, 32) * limit, 32)


def _unsigned_shift(column: Any, shift: int) -> Any:
    """Returns a column shifted to the right, zeros coming in.

    Sail writes ``shiftrightunsigned`` as a long expression that names its column several times,
    and in a chain of them each is written out again.
    """
    from pyspark.sql import functions as F  # noqa: N812

    return F.shiftright(column, shift).bitwiseAND(F.lit((1 << (64 - shift)) - 1))


def _halves(stream: Stream, purpose: str, attempt: int) -> tuple[int, int]:
    low, high = struct.unpack("<qq", stream.secret(purpose, attempt=attempt))
    return low, high
