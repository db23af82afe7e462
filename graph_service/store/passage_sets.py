"""What both stores do alike with a set of passages: its lease, its totals, its row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import orjson

from graph_service.errors import LoadInProgressError, StoreError
from graph_service.model.hashing import fingerprint, sum_hashes
from graph_service.model.passage import Passage
from graph_service.store.decoding import decodes
from graph_service.store.lease import is_gone
from graph_service.store.passages import PassageSet, passage_hash


class HeldSet(ABC):
    """A set that one load holds the lease of, as a context manager; see ``PassageSession``.

    Args:
        number: Of the set.
        checkpoint: Of the last ``write``, encoded; None for none.
    """

    def __init__(self, number: int, checkpoint: str | None, /) -> None:
        self._number = number
        self._checkpoint: Mapping[str, Any] | None = (
            orjson.loads(checkpoint) if checkpoint else None
        )
        self._ended = False

    @property
    def number(self) -> int:
        """The number of the set being written."""
        return self._number

    @property
    def checkpoint(self) -> Mapping[str, Any] | None:
        """What the last ``write`` was given."""
        return self._checkpoint

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        if self._ended:
            return
        self._ended = True
        try:
            self._give_back()
        except StoreError:
            # The error that ends the block says more; without one this is the news.
            if error is None:
                raise

    @abstractmethod
    def _give_back(self) -> None:
        """Gives the lease back, if it is still held."""

    def _require_open(self) -> None:
        if self._ended:
            raise StoreError("this load of passages has ended; begin another")


@dataclass(frozen=True, slots=True)
class SetTotals:
    """A whole set: its passages, those that have an entity, and its fingerprint."""

    passages: int
    linked: int
    fingerprint: str


def totals_of(chunks: Iterable[Sequence[Passage]], /) -> SetTotals:
    """Returns the totals of a set's passages, whatever their order."""
    sums = np.zeros(2, dtype=np.uint64)
    count = linked = 0
    for chunk in chunks:
        sums = sums + sum_hashes(b"".join(passage_hash(item) for item in chunk))
        count += len(chunk)
        linked += sum(item.entity is not None for item in chunk)
    return SetTotals(count, linked, fingerprint(sums, count))


def require_free(holder: str, source: str, left_s: float, owner: str, /) -> None:
    """Raises ``LoadInProgressError`` where another owner, who is not gone, holds a lease.

    Args:
        holder: Who has the lease.
        source: What is loaded.
        left_s: Seconds that the lease still runs, 0 or less where it ran out.
        owner: Who asks.
    """
    if left_s > 0 and holder != owner and not is_gone(holder):
        raise LoadInProgressError(
            f"passages of {source} are being loaded by {holder}",
            hint=f"Wait for it, or try again in {max(1, round(left_s))} s.",
        )


def taken_over() -> LoadInProgressError:
    """Returns the error of a load whose lease another has, or nobody."""
    return LoadInProgressError(
        "this load of passages was taken over or ended elsewhere",
        hint="Run the same command again.",
    )


@decodes("a set of passages")
def set_of_row(row: Sequence[Any], /) -> PassageSet:
    """Returns a set of its columns in the order of ``PassageSet``; options and report are JSON."""
    values = list(row)
    values[3] = bool(row[3])
    values[8], values[9] = orjson.loads(row[8]), orjson.loads(row[9])
    return PassageSet(*values)
