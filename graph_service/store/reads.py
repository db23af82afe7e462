"""What an operation has read of a store that may change, so that its answer can be given again.

An edition never changes, so what is read of one is not noted. What says which edition a graph is
in, and which views, scorers and page views there are, is noted with what was read. An answer holds
as long as reading all of that again gives the same. A read that is not known here makes an answer
one that can't be checked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from graph_service.errors import GraphServiceError
from graph_service.model.graph_info import GraphInfo
from graph_service.store.protocol import READS_OF_EDITIONS, Record, Store


def _published(info: GraphInfo) -> GraphInfo:
    # A load under way changes what is said of it with each batch, and nothing that is published.
    return replace(info, unfinished=None)


def _without_data(record: Record | None) -> Record | None:
    # What is saved anew has another time, and a view's record another beat too.
    return None if record is None else replace(record, data=b"")


_CHANGING: Mapping[str, Callable[[Any], object]] = {
    "graph": _published,
    "graphs": lambda infos: [_published(info) for info in infos],
    "get_record": _without_data,
    "list_records": lambda records: records,
}
"""Reads that may give something else later, and what of it is compared."""


@dataclass(slots=True)
class Reads:
    """What was read of a store that may change.

    Attributes:
        are_known: Whether all of it was noted, so that it can be read again.
    """

    are_known: bool = True
    _results: dict[tuple[str, tuple[Hashable, ...], tuple[tuple[str, Hashable], ...]], object] = (
        field(default_factory=dict)
    )

    def note(
        self, name: str, args: tuple[Hashable, ...], named: Mapping[str, Hashable], result: Any, /
    ) -> None:
        """Notes what a read has found."""
        if name == "get_record":
            named = {"with_data": False}
        key = (name, args, tuple(sorted(named.items())))
        state = _CHANGING[name](result)
        if self._results.setdefault(key, state) != state:
            # It changed between two reads of one operation, which may rest on both.
            self.are_known = False

    def hold(self, store: Store, /) -> bool:
        """Returns whether reading all of it again gives the same now."""
        if not self.are_known:
            return False
        try:
            with store.at_once():
                return all(
                    _CHANGING[name](getattr(store, name)(*args, **dict(named))) == state
                    for (name, args, named), state in self._results.items()
                )
        except GraphServiceError:
            # Gone, or out of reach: who runs the operation hears which.
            return False


class _OfThread(threading.local):
    reads: Reads | None = None


class ReadNotes:
    """Notes what each thread reads of a store.

    Args:
        store: What is read.

    Attributes:
        store: The same, for those whose reads are noted.
    """

    def __init__(self, store: Store, /) -> None:
        self._of_thread = _OfThread()
        self._plain = store
        self.store = cast("Store", _NotedStore(store, self._of_thread))

    @contextmanager
    def noting(self) -> Iterator[Reads]:
        """Gives the notes of what this thread reads in the block."""
        outer, reads = self._of_thread.reads, Reads()
        self._of_thread.reads = reads
        try:
            yield reads
        finally:
            self._of_thread.reads = outer

    def hold(self, reads: Reads, /) -> bool:
        """Returns whether what was read is still so."""
        return reads.hold(self._plain)


class _NotedStore:
    """A store whose reads are noted; all else is passed on."""

    def __init__(self, store: Store, of_thread: _OfThread) -> None:
        self._store = store
        self._of_thread = of_thread

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        reads = self._of_thread.reads
        if reads is None or name in READS_OF_EDITIONS:
            return attribute
        if name in _CHANGING:
            return partial(_noted, reads, name, attribute)
        reads.are_known = False
        return attribute


def _noted(
    reads: Reads, name: str, read: Callable[..., Any], *args: Hashable, **named: Hashable
) -> Any:
    try:
        result = read(*args, **named)
    except BaseException:
        # What an error rests on is not known, and it may be caught.
        reads.are_known = False
        raise
    reads.note(name, args, named, result)
    return result
