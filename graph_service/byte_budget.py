"""One limit in bytes for what all caches of a process keep in memory.

A cache that is bounded by its number of entries holds what a client makes it hold: 200 documents
of a megabyte, 32 views of a graph of a million edges. Here each entry is charged what it holds,
and where all together pass the limit, the entry of any cache that was used least recently goes.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, cast

import numpy as np

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

DEFAULT_BYTES = 2**30
ENTRY_BYTES = 400
"""What an entry costs beside its value: its key's tuple, its place in the order, its record."""
_NOT_HELD = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    Enum,
)
_TRIMS_A_LIMIT = 8
"""How often memory is given back to the system while as much as the limit goes."""
_M_ARENA_MAX = -8
"""Of glibc's ``mallopt``: from how many places threads take memory."""
log = logging.getLogger("graph_service.memory")


@dataclass(slots=True)
class _Entry:
    value: Any
    size: int


@dataclass(slots=True)
class Lookups:
    """How often the entries of a cache were there and were not.

    Attributes:
        cache: Its name.
    """

    cache: str
    hits: int = 0
    misses: int = 0


class ByteBudget:
    """Caches that share one limit in bytes. Thread-safe.

    Attributes:
        limit_bytes: What all entries together may hold.
    """

    def __init__(self, limit_bytes: int = DEFAULT_BYTES, /) -> None:
        self.limit_bytes = limit_bytes
        self._entries: OrderedDict[tuple[str, Hashable], _Entry] = OrderedDict()
        self._used: dict[str, int] = {}
        self._total = 0
        self._too_large: set[str] = set()
        self._freed = 0
        self._lookups: dict[str, Lookups] = {}
        self._lock = threading.Lock()

    def used(self) -> dict[str, int]:
        """Returns the bytes that each cache holds, by its name; those that hold none are absent."""
        with self._lock:
            return {name: size for name, size in sorted(self._used.items()) if size}

    def take_lookups(self) -> list[Lookups]:
        """Returns the look-ups in each cache since this was last asked."""
        with self._lock:
            taken, self._lookups = self._lookups, {}
        return list(taken.values())

    def get(self, name: str, keys: Iterable[Hashable], /) -> list[Any]:
        """Returns the value of each key, None where there is none; all count as just used."""
        full_keys = [(name, key) for key in keys]
        with self._lock:
            entries = list(map(self._entries.get, full_keys))
            used = self._entries.move_to_end
            hits = 0
            for full_key, entry in zip(full_keys, entries, strict=True):
                if entry is not None:
                    used(full_key)
                    hits += 1
            lookups = self._lookups.get(name)
            if lookups is None:
                lookups = self._lookups[name] = Lookups(name)
            lookups.hits += hits
            lookups.misses += len(entries) - hits
        return [None if entry is None else entry.value for entry in entries]

    def put(self, name: str, items: Sequence[tuple[Hashable, Any, int]], /) -> list[Any]:
        """Keeps ``(key, value, bytes)`` and returns the values that hold now.

        Where a key is there already its value stays, and that one is returned. An entry that is
        larger than the limit is not kept.
        """
        holding: list[Any] = []
        # What goes is freed after the lock is given back: freeing a view takes its time.
        gone: list[_Entry] = []
        with self._lock:
            for key, value, size in items:
                full_key = (name, key)
                entry = self._entries.get(full_key)
                if entry is None:
                    entry = _Entry(value, size + ENTRY_BYTES)
                    if entry.size > self.limit_bytes:
                        self._tell_too_large(name, entry.size)
                        holding.append(value)
                        continue
                    self._entries[full_key] = entry
                    self._count(name, entry.size)
                else:
                    self._entries.move_to_end(full_key)
                holding.append(entry.value)
            self._evict(gone)
        self._free(gone)
        return holding

    def charge(self, name: str, key: Hashable, size: int, /) -> None:
        """Sets what an entry holds, which has grown since it was kept; nothing where it has gone."""
        gone: list[_Entry] = []
        with self._lock:
            full_key = (name, key)
            entry = self._entries.get(full_key)
            if entry is None:
                return
            self._count(name, size + ENTRY_BYTES - entry.size)
            entry.size = size + ENTRY_BYTES
            self._entries.move_to_end(full_key)
            self._evict(gone)
        self._free(gone)

    def drop(self, name: str, key: Hashable, value: object, /) -> None:
        """Drops an entry, unless another value has taken its place."""
        gone: list[_Entry] = []
        with self._lock:
            entry = self._entries.get((name, key))
            if entry is not None and entry.value is value:
                gone.append(self._entries.pop((name, key)))
                self._count(name, -entry.size)
        self._free(gone)

    def _count(self, name: str, size: int) -> None:
        self._used[name] = self._used.get(name, 0) + size
        self._total += size

    def _evict(self, gone: list[_Entry]) -> None:
        while self._total > self.limit_bytes and self._entries:
            (name, _), entry = self._entries.popitem(last=False)
            self._count(name, -entry.size)
            gone.append(entry)

    def _free(self, gone: list[_Entry]) -> None:
        if not gone:
            return
        self._freed += sum(entry.size for entry in gone)
        gone.clear()
        if self._freed >= self.limit_bytes // _TRIMS_A_LIMIT:
            self._freed = 0
            give_back()

    def _tell_too_large(self, name: str, size: int) -> None:
        if name not in self._too_large:
            self._too_large.add(name)
            log.warning(
                "an entry of %s takes %d MiB, and the caches may hold %d MiB together: it is made "
                "anew each time. GRAPH_SERVICE_MEMORY_GB raises that limit.",
                name,
                size // 2**20,
                self.limit_bytes // 2**20,
            )


def use_one_arena() -> None:
    """Lets all threads begun from now on allocate from one arena, where the C library can.

    glibc gives each thread an arena of its own. What is freed in one of them is of no use to the
    others, and a server that runs for long holds the most that each has ever needed. Who sets
    ``MALLOC_ARENA_MAX`` chooses otherwise.
    """
    if "MALLOC_ARENA_MAX" not in os.environ:
        with contextlib.suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Gives what was freed back to the system, where its C library can: glibc keeps it else."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class ByteCache(Generic[K, V]):
    """One cache of a budget. Thread-safe.

    Args:
        budget: Shared with other caches.
        name: Its own among them.
    """

    def __init__(self, budget: ByteBudget, name: str, /) -> None:
        self._budget = budget
        self._name = name

    def get(self, key: K, /) -> V | None:
        """Returns the value of a key, or None."""
        return cast("V | None", self._budget.get(self._name, (key,))[0])

    def get_all(self, keys: Iterable[K], /) -> list[V | None]:
        """Returns the value of each key, or None, in order."""
        return self._budget.get(self._name, keys)

    def put(self, key: K, value: V, size: int, /) -> V:
        """Keeps a value that holds so many bytes, and returns the one that holds now.

        That is another one where the key was there already.
        """
        return cast("V", self._budget.put(self._name, [(key, value, size)])[0])

    def put_all(self, items: Sequence[tuple[K, V, int]], /) -> list[V]:
        """Keeps ``(key, value, bytes)``; returns the values that hold, in order."""
        return self._budget.put(self._name, items)

    def charge(self, key: K, size: int, /) -> None:
        """Sets the bytes of a value that has grown since it was kept."""
        self._budget.charge(self._name, key, size)

    def drop(self, key: K, value: V, /) -> None:
        """Drops a value, unless another one has taken the key's place."""
        self._budget.drop(self._name, key, value)


def held_bytes(*roots: object, shared: Iterable[object] = ()) -> int:
    """Returns the bytes of some objects with all they refer to.

    Each object is counted once; arrays that are mapped from a file count for nothing, nor do
    classes, functions and modules.

    Args:
        roots: What is measured.
        shared: Objects that others hold too, so that they are no part of it.

    >>> import numpy as np
    >>> held_bytes(np.zeros(1000)) > 8000
    True
    """
    seen = {id(item) for item in shared}
    left: list[object] = list(roots)
    total = 0
    while left:
        item = left.pop()
        if id(item) in seen or isinstance(item, _NOT_HELD):
            continue
        seen.add(id(item))
        if isinstance(item, np.ndarray):
            total += sys.getsizeof(item) if item.base is None else object.__sizeof__(item)
            if item.base is not None and not isinstance(item, np.memmap):
                left.append(item.base)
            continue
        total += sys.getsizeof(item)
        left.extend(gc.get_referents(item))
    return total
