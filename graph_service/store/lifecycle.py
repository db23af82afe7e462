"""What both stores do alike with the arrays of their graphs, and at their end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, Self, TypeVar

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.store.passages import Passages
from graph_service.store.snapshot.cache import SnapshotCache

PassagesOfStore = TypeVar("PassagesOfStore", bound=Passages)


class CachedStore(ABC, Generic[PassagesOfStore]):
    """A store that keeps the arrays it builds in files; a context manager.

    Args:
        cache: Where the arrays are kept.
        passages: The passages beside its graphs.
    """

    def __init__(self, cache: SnapshotCache, passages: PassagesOfStore, /) -> None:
        self._cache = cache
        self._passages = passages

    @property
    def passages(self) -> PassagesOfStore:
        """The passages beside its graphs."""
        return self._passages

    @property
    def snapshots(self) -> SnapshotCache:
        """The files of its graphs' arrays."""
        return self._cache

    def snapshot(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns the edition as arrays; see ``GraphReader.snapshot``."""
        return self._cache.get(info, lambda: self.build(info))

    def mend_snapshot(self, info: GraphInfo, /) -> None:
        """Makes damaged arrays right again; see ``GraphReader.mend_snapshot``."""
        self._cache.mend(info, lambda: self.build(info))

    def verify_snapshot(self, info: GraphInfo, /) -> int | None:
        """Checks the file of an edition's arrays; see ``GraphReader.verify_snapshot``."""
        return self._cache.verify(info)

    def at_once(self) -> AbstractContextManager[None]:
        """Lets this thread's reads in the block go together; see ``Store.at_once``."""
        return nullcontext()

    def within(self, _deadline: Deadline, /) -> AbstractContextManager[None]:
        """Gives this thread's reads in the block a deadline; see ``Store.within``."""
        return nullcontext()

    @abstractmethod
    def build(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns the edition as arrays in memory, built now, whatever the cache has."""

    @abstractmethod
    def close(self) -> None:
        """Releases the store's connections to its engine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
