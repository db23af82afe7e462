"""A store of which some graphs are seen, and the others do not exist.

All that the service reads and writes goes through its store. So what is hidden here is hidden in
every field, error, count and list of names, and no resolver can forget to hide it. A hidden graph
takes the same way as one that was never there: the store below is not asked for it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

from graph_service.errors import GraphNotFoundError, InputError
from graph_service.model.graph_info import GraphInfo, UnfinishedLoad
from graph_service.model.limits import Deadline
from graph_service.model.passage import Passage
from graph_service.service.lookup import VIEW_OF
from graph_service.store.names import graph_of, unknown_edition, unknown_graph
from graph_service.store.passages import (
    PassageAddress,
    Passages,
    PassageSession,
    PassageSet,
    WordMatches,
)
from graph_service.store.protocol import (
    READS_OF_EDITIONS,
    Inspected,
    LoadSession,
    Record,
    Store,
)

_OF_SEEN = READS_OF_EDITIONS | {"inspect"}
"""Reads whose first argument is an edition, or a graph's ``GraphInfo``: it must be seen."""
_OF_ALL = frozenset(("url", "at_once", "within", "ping"))
"""What says nothing of any graph."""


def scoped_store(store: Store, names: Collection[str], /) -> Store:
    """Returns a store as a caller sees it who may see some graphs alone.

    Records that belong to no graph, such as rankers, can be read and not written.

    Args:
        store: The complete store. It stays its owner's: closing the scoped one leaves it open.
        names: The graphs that are seen, whether they are there or not.
    """
    return cast("Store", _ScopedStore(store, names))


class _ScopedStore:
    """A store of which a caller sees some graphs; it has no methods but those that are listed here."""

    def __init__(self, store: Store, names: Collection[str], /) -> None:
        self._store = store
        self._names = frozenset(names)
        self._passages = ScopedPassages(store.passages, self._names)

    def __getattr__(self, name: str) -> Any:
        """Returns a member of the store that needs no other guard than its edition."""
        if name in _OF_ALL:
            return getattr(self._store, name)
        if name in _OF_SEEN:
            return partial(self._read, getattr(self._store, name))
        raise AttributeError(f"a scoped store has no {name}")

    def _read(
        self, read: Callable[..., Any], of: str | GraphInfo, /, *arguments: Any, **options: Any
    ) -> Any:
        edition = of if isinstance(of, str) else of.edition
        if graph_of(edition) not in self._names:
            raise unknown_edition(edition)
        return read(of, *arguments, **options)

    @property
    def passages(self) -> Passages:
        """The passages beside the graphs that are seen."""
        return self._passages

    # Graphs

    def graphs(self) -> list[GraphInfo]:
        """Returns the published graphs that are seen, by name."""
        return [self._shown(info) for info in self._store.graphs() if info.name in self._names]

    def graph(self, name: str, /) -> GraphInfo:
        """Returns one graph; raises ``GraphNotFoundError`` naming those that are seen."""
        if name in self._names:
            try:
                return self._shown(self._store.graph(name))
            except GraphNotFoundError:
                # It names all graphs.
                pass
        raise self._no_graph(name)

    def unfinished_loads(self) -> list[UnfinishedLoad]:
        """Returns loads of graphs that are seen, not published."""
        loads = self._store.unfinished_loads()
        return [load for load in loads if graph_of(load.edition) in self._names]

    def begin_load(
        self,
        graph: str,
        /,
        *,
        replace: bool = False,
        owner: str,
        source: str,
        options: Mapping[str, Any] | None = None,
        lease_s: float = 60.0,
    ) -> LoadSession:
        """Begins a load of a graph that is seen; see ``Store.begin_load``."""
        if graph not in self._names:
            raise self._no_graph(graph)
        return self._store.begin_load(
            graph, replace=replace, owner=owner, source=source, options=options, lease_s=lease_s
        )

    def delete_graph(self, name: str, /) -> None:
        """Deletes a graph that is seen; see ``Store.delete_graph``."""
        if name in self._names:
            try:
                return self._store.delete_graph(name)
            except GraphNotFoundError:
                # It names all graphs.
                pass
        raise self._no_graph(name)

    # Records

    def save_record(self, record: Record, /) -> None:
        """Saves a record of a graph that is seen; see ``Records.save_record``."""
        self._require_seen(record)
        self._store.save_record(record)

    def replace_record(self, record: Record, /, *, name: str | None = None) -> bool:
        """Saves a record of a graph that is seen; see ``Records.replace_record``."""
        self._require_seen(record)
        return self._store.replace_record(record, name=name)

    def _require_seen(self, record: Record) -> None:
        known = self._store.get_record(record.kind, record.key, with_data=False)
        for graph in (record.graph, *([] if known is None else [known.graph])):
            if graph not in self._names:
                raise self._no_graph(graph)

    def get_record(self, kind: str, key: str, /, *, with_data: bool = True) -> Record | None:
        """Returns a record, or None where there is none of a graph that is seen, or of no graph."""
        record = self._store.get_record(kind, key, with_data=with_data)
        return record if record is not None and self._is_seen(record) else None

    def list_records(self, kind: str, /, *, graph: str | None = None) -> list[Record]:
        """Returns the records of a kind that are seen; see ``Records.list_records``."""
        if graph is not None and graph not in self._names:
            return []
        return list(filter(self._is_seen, self._store.list_records(kind, graph=graph)))

    def delete_record(self, kind: str, key: str, /) -> bool:
        """Deletes a record of a graph that is seen; returns whether there was one."""
        record = self._store.get_record(kind, key)
        if record is None or record.graph not in self._names:
            return False
        return self._store.delete_record(kind, key)

    # Life

    def inspect_all(self) -> Iterator[Inspected]:
        """Raises ``InputError``: the engine's own structure belongs to no graph."""
        raise InputError("only who sees all graphs can check the whole store")

    def close(self) -> None:
        """Leaves the store open, which is its owner's to close."""

    def __enter__(self) -> Self:
        """Returns the scoped store, for a block that takes any store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves the store open, which is its owner's to close."""

    def _no_graph(self, name: str) -> GraphNotFoundError:
        return unknown_graph(name, [info.name for info in self.graphs()])

    def _is_seen(self, record: Record) -> bool:
        return not record.graph or record.graph in self._names

    def _shown(self, info: GraphInfo) -> GraphInfo:
        """Returns a graph without the name of a base that is not seen, of which it is a view."""
        if info.options.get(VIEW_OF, info.name) in self._names:
            return info
        source = "a view written out"
        unfinished = info.unfinished
        return replace(
            info,
            source=source,
            options={VIEW_OF: ""},
            report={VIEW_OF: ""},
            unfinished=None if unfinished is None else replace(unfinished, source=source),
        )


class ScopedPassages:
    """The passages beside the graphs that are seen (``store.passages.Passages``)."""

    def __init__(self, passages: Passages, names: frozenset[str], /) -> None:
        self._passages = passages
        self._names = names

    def begin(
        self,
        graph: str,
        /,
        *,
        source: str,
        options: Mapping[str, Any],
        owner: str,
        lease_s: float = 60.0,
    ) -> PassageSession:
        """Begins a set of a graph that is seen; see ``Passages.begin``."""
        if graph not in self._names:
            raise unknown_graph(graph, ())
        return self._passages.begin(
            graph, source=source, options=options, owner=owner, lease_s=lease_s
        )

    def sets(self, *, graph: str | None = None) -> list[PassageSet]:
        """Returns the sets that are seen; see ``Passages.sets``."""
        if graph is not None and graph not in self._names:
            return []
        return [set_ for set_ in self._passages.sets(graph=graph) if set_.graph in self._names]

    def scan(self, number: int, /) -> Iterator[list[Passage]]:
        """Yields the passages of a set that is seen, of any other none."""
        return self._passages.scan(number) if self._seen([number]) else iter(())

    def match(
        self, sets: Sequence[PassageSet], terms: Sequence[str], /, *, deadline: Deadline
    ) -> WordMatches:
        """Returns the matches in those of some sets that are seen; see ``Passages.match``."""
        seen = [set_ for set_ in sets if set_.graph in self._names]
        if not seen:
            return WordMatches(0, 0, dict.fromkeys(terms, 0), (), complete=True)
        return self._passages.match(seen, terms, deadline=deadline)

    def read(self, positions: Sequence[PassageAddress], /) -> dict[PassageAddress, Passage]:
        """Returns passages of sets that are seen by their place; others are absent."""
        seen = self._seen({position.number for position in positions})
        return self._passages.read([position for position in positions if position.number in seen])

    def delete(self, graph: str, /, *, source: str | None = None) -> int:
        """Deletes the sets of a graph that is seen; returns how many passages went."""
        return self._passages.delete(graph, source=source) if graph in self._names else 0

    def _seen(self, numbers: Iterable[int]) -> frozenset[int]:
        requested = set(numbers)
        if not requested:
            return frozenset()
        return frozenset(set_.number for set_ in self.sets() if set_.number in requested)
