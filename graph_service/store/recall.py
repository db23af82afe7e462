"""Answers from memory while the store is away: what was read of it last stands in for it.

A retrieval on the arrays of a graph reads little of the store: which edition is published, and
which views, rankers and scorers there are. The last result of each such read is cached, and a
retrieval gets it if the store does not answer. The retrieval then says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.errors import GraphServiceError, StoreUnavailableError
from graph_service.model.limits import Cut, CutKind, CutReason
from graph_service.store.protocol import Record, Store

_RECALLED = frozenset(("graph", "graphs", "list_records"))


@dataclass(slots=True)
class Recall:
    """What an operation got from memory because the store did not answer.

    Attributes:
        read_at: When the oldest of that was read (``time.monotonic``); None if all was read now.
    """

    read_at: float | None = None

    def note(self, read_at: float, /) -> None:
        """Notes that something was used that was read at some time."""
        self.read_at = read_at if self.read_at is None else min(self.read_at, read_at)


_current: ContextVar[Recall | None] = ContextVar("recall", default=None)


@contextmanager
def recalling() -> Iterator[None]:
    """Lets what is read in the block come from memory where the store does not answer."""
    token = _current.set(Recall())
    try:
        yield
    finally:
        _current.reset(token)


def is_recalled() -> bool:
    """Returns whether the operation under way got anything from memory."""
    recall = _current.get()
    return recall is not None and recall.read_at is not None


def recall_cuts() -> tuple[Cut, ...]:
    """Returns the mark of a result from memory, with its age in seconds; none of another."""
    recall = _current.get()
    if recall is None or recall.read_at is None:
        return ()
    age_s = round(time.monotonic() - recall.read_at, 1)
    return (Cut(CutKind.UPDATES.value, CutReason.STORE_AWAY, age_s, 0),)


def do_without(error: StoreUnavailableError, /) -> None:
    """Notes that the operation under way goes on without what the store did not give.

    Raises:
        StoreUnavailableError: The operation needs the store.
    """
    recall = _current.get()
    if recall is None:
        raise error
    recall.note(time.monotonic())


@dataclass(slots=True)
class _LastRead:
    value: object
    read_at: float


class LastReads:
    """Caches what was read last of a store. Thread-safe.

    Args:
        store: What is read.
        memory: What the caches share.

    Attributes:
        store: The same store, whose reads in a block of ``recalling`` may come from memory.
    """

    def __init__(self, store: Store, /, *, memory: ByteBudget) -> None:
        self._reads: ByteCache[Hashable, _LastRead | None] = ByteCache(
            memory, "last reads of the store"
        )
        self.store = cast("Store", _RecallingStore(store, self))

    def read(
        self, name: str, read: Callable[..., Any], /, *arguments: Hashable, **options: Hashable
    ) -> Any:
        """Returns what a read gives; in a block of ``recalling`` what it gave last, if it fails."""
        key = (name, arguments, tuple(sorted(options.items())))
        last = self._reads.get(key)
        try:
            value = read(*arguments, **options)
        except StoreUnavailableError:
            recall = _current.get()
            if recall is None or last is None:
                raise
            recall.note(last.read_at)
            return last.value
        except GraphServiceError:
            # The graph was deleted, say.
            self._reads.drop(key, last)
            raise
        if last is not None and last.value == value:
            last.read_at = time.monotonic()
            return value
        self._reads.drop(key, last)
        self._reads.put(key, _LastRead(value, time.monotonic()), held_bytes(value))
        return value


class _RecallingStore:
    """A store whose reads may come from memory; all else is passed on."""

    def __init__(self, store: Store, last_reads: LastReads) -> None:
        self._store = store
        self._last_reads = last_reads

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in _RECALLED:
            return method
        return partial(self._last_reads.read, name, method)

    def get_record(self, kind: str, key: str, /, *, with_data: bool = True) -> Record | None:
        """Returns a record; from memory if its data is not requested."""
        if with_data:
            return self._store.get_record(kind, key)
        read = self._store.get_record
        record: Record | None = self._last_reads.read(
            "get_record", read, kind, key, with_data=False
        )
        return record
