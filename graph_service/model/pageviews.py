"""How often the articles of entities are read, and LTGen's long-tail levels made of that (L1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from graph_service.errors import InputError

_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


class LongTailLevel(StrEnum):
    """How rare an entity is, by the mean monthly views of its article; IV is the rarest."""

    I = "I"  # noqa: E741 - as the paper has it
    II = "II"
    III = "III"
    IV = "IV"


LEVEL_BOUNDS: dict[LongTailLevel, tuple[float, float]] = {
    LongTailLevel.I: (1e4, 1e5),
    LongTailLevel.II: (1e3, 1e4),
    LongTailLevel.III: (1e2, 1e3),
    LongTailLevel.IV: (1e1, 1e2),
}
"""Views a month: the first of a pair is in the level, the second in the one above."""


def level_of(mean: float, /) -> LongTailLevel | None:
    """Returns the level of a mean; None below 10 a month and from 100,000 on.

    >>> level_of(10.0), level_of(99.99), level_of(100.0), level_of(9.99), level_of(1e5)
    (<LongTailLevel.IV: 'IV'>, <LongTailLevel.IV: 'IV'>, <LongTailLevel.III: 'III'>, None, None)
    """
    return next((name for name, (low, high) in LEVEL_BOUNDS.items() if low <= mean < high), None)


@dataclass(frozen=True, slots=True)
class PageViews:
    """The views of an entity's article.

    Attributes:
        entity: Its id.
        mean: Views a month, over the months that are known.
        total: Views in all of them.
        months: How many months are known.
        first, last: ``2021-01``; the first and the last of them.
        source: Where they are from: the address of an API and a project, or a file's name.
    """

    entity: str
    mean: float
    total: int
    months: int
    first: str
    last: str
    source: str

    @property
    def level(self) -> LongTailLevel | None:
        """The long-tail level; None for what is rarer or more popular than all of them."""
        return level_of(self.mean)


def check_month(text: str, /) -> str:
    """Returns a month as it came; raises ``InputError`` unless it is like ``2021-01``."""
    if not _MONTH.fullmatch(text):
        raise InputError(f"a month is written 2021-01; got {text[:40]!r}")
    return text


def months_between(first: str, last: str, /) -> tuple[str, ...]:
    """Returns all months from the first to the last, both included.

    >>> months_between("2020-11", "2021-02")
    ('2020-11', '2020-12', '2021-01', '2021-02')
    """
    start, end = (12 * int(check_month(text)[:4]) + int(text[5:]) - 1 for text in (first, last))
    if start > end:
        raise InputError(f"the first month {first} comes after the last {last}", argument="first")
    return tuple(f"{month // 12:04}-{month % 12 + 1:02}" for month in range(start, end + 1))


def draw_order(ids: Iterable[str], /, *, random_seed: int) -> list[str]:
    """Returns ids in the order of a keyed hash: the first n of them are a random draw of n.

    The same on every machine, whatever order they come in, and nested: a larger draw holds a
    smaller one.
    """
    key = random_seed.to_bytes(16, "big", signed=True)

    def sort_key(id_: str) -> tuple[bytes, str]:
        return blake2b(id_.encode(), key=key, digest_size=8, person=b"long-tail").digest(), id_

    return sorted(ids, key=sort_key)
