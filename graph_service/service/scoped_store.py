"""A store of which some graphs are seen, and the others do not exist.

All that the service reads and writes goes through its store. So what is hidden here is hidden in
every field, error, count and list of names, and no resolver can forget to hide it. A hidden graph
takes the same way as one that was never there: the store below is not asked for it by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from graph_service.errors import GraphNotFoundError, InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo, UnfinishedLoad
from graph_service.model.limits import Deadline
from graph_service.model.overview import Overview
from graph_service.model.passage import Passage
from graph_service.model.result import SearchHit
from graph_service.model.statement import Entity, Rank, Statement
from graph_service.service.lookup import VIEW_OF
from graph_service.store.names import edition_not_found, graph_not_found, graph_of
from graph_service.store.passages import (
    PassagePlace,
    Passages,
    PassageSession,
    PassageSet,
    WordMatches,
)
from graph_service.store.protocol import (
    EdgeRow,
    EntityLookup,
    Inspected,
    LoadSession,
    Neighbourhood,
    Record,
    Store,
)


class ScopedStore:
    """A store as one sees it who may see some graphs alone (``store.protocol.Store``).

    Records that belong to no graph, such as rankers, can be read and not written.

    Args:
        store: The whole store. It stays its owner's: closing this leaves it open.
        names: The graphs that are seen, whether they are there or not.
    """

    def __init__(self, store: Store, names: Collection[str], /) -> None:
        self._store = store
        self._names = frozenset(names)
        self._passages = ScopedPassages(store.passages, self._names)

    @property
    def url(self) -> str:
        """The store's address without the password."""
        return self._store.url

    @property
    def passages(self) -> Passages:
        """The passages beside the graphs that are seen."""
        return self._passages

    def at_once(self) -> AbstractContextManager[None]:
        """Lets this thread's reads in the block go together; see ``Store.at_once``."""
        return self._store.at_once()

    def within(self, deadline: Deadline, /) -> AbstractContextManager[None]:
        """Gives this thread's reads in the block a deadline; see ``Store.within``."""
        return self._store.within(deadline)

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

    def snapshot(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns an edition as arrays; see ``GraphReader.snapshot``."""
        return self._store.snapshot(self._seen(info))

    def mend_snapshot(self, info: GraphInfo, /) -> None:
        """Makes damaged arrays right again; see ``GraphReader.mend_snapshot``."""
        self._store.mend_snapshot(self._seen(info))

    def verify_snapshot(self, info: GraphInfo, /) -> int | None:
        """Checks the file of an edition's arrays; see ``GraphReader.verify_snapshot``."""
        return self._store.verify_snapshot(self._seen(info))

    def inspect(self, info: GraphInfo, /) -> Iterator[Inspected]:
        """Checks an edition; see ``GraphReader.inspect``."""
        return self._store.inspect(self._seen(info))

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

    # Content of editions

    def scan_entities(self, edition: str, /) -> Iterator[list[Entity]]:
        """Yields every entity; see ``GraphReader.scan_entities``."""
        return self._store.scan_entities(self._of_seen(edition))

    def scan_edges(self, edition: str, /) -> Iterator[list[EdgeRow]]:
        """Yields every statement in short; see ``GraphReader.scan_edges``."""
        return self._store.scan_edges(self._of_seen(edition))

    def scan_statements(
        self, edition: str, /, *, in_order: bool = True
    ) -> Iterator[list[Statement]]:
        """Yields every statement; see ``GraphReader.scan_statements``."""
        return self._store.scan_statements(self._of_seen(edition), in_order=in_order)

    def entities(self, edition: str, ids: Sequence[str], /) -> EntityLookup:
        """Returns entities by id; see ``GraphReader.entities``."""
        return self._store.entities(self._of_seen(edition), ids)

    def statements(self, edition: str, ids: Sequence[str], /) -> dict[str, Statement]:
        """Returns statements by id; see ``GraphReader.statements``."""
        return self._store.statements(self._of_seen(edition), ids)

    def statements_of(
        self,
        edition: str,
        entity: str,
        /,
        *,
        incoming: bool = False,
        relation_ids: Sequence[str] = (),
        entities_only: bool = False,
        after: int | None = None,
        limit: int = 1000,
        deadline: Deadline | None = None,
    ) -> list[Statement]:
        """Returns the statements at an entity; see ``GraphReader.statements_of``."""
        return self._store.statements_of(
            self._of_seen(edition),
            entity,
            incoming=incoming,
            relation_ids=relation_ids,
            entities_only=entities_only,
            after=after,
            limit=limit,
            deadline=deadline,
        )

    def relation_counts(
        self,
        edition: str,
        entity: str,
        /,
        *,
        incoming: bool = False,
        entities_only: bool = False,
        loops: bool = True,
        deadline: Deadline | None = None,
    ) -> dict[str, int]:
        """Counts the statements at an entity; see ``GraphReader.relation_counts``."""
        return self._store.relation_counts(
            self._of_seen(edition),
            entity,
            incoming=incoming,
            entities_only=entities_only,
            loops=loops,
            deadline=deadline,
        )

    def overview(self, edition: str, /, *, deadline: Deadline | None = None) -> Overview:
        """Returns what an edition is about; see ``GraphReader.overview``."""
        return self._store.overview(self._of_seen(edition), deadline=deadline)

    def neighbourhood(
        self,
        edition: str,
        ids: Sequence[str],
        /,
        *,
        hops: int = 1,
        max_edges: int = 10_000,
        hub_degree: int | None = None,
        ranks: Sequence[Rank] = (Rank.PREFERRED, Rank.NORMAL),
        relation_ids: Sequence[str] = (),
        exclude_relation_ids: Sequence[str] = (),
        deadline: Deadline | None = None,
    ) -> Neighbourhood:
        """Returns the region around some entities; see ``GraphReader.neighbourhood``."""
        return self._store.neighbourhood(
            self._of_seen(edition),
            ids,
            hops=hops,
            max_edges=max_edges,
            hub_degree=hub_degree,
            ranks=ranks,
            relation_ids=relation_ids,
            exclude_relation_ids=exclude_relation_ids,
            deadline=deadline,
        )

    def relations(self, edition: str, /) -> list[Entity]:
        """Returns the relations of an edition; see ``GraphReader.relations``."""
        return self._store.relations(self._of_seen(edition))

    def same_entities(self, edition: str, ids: Sequence[str], /) -> list[str]:
        """Returns entities that are the same as some; see ``GraphReader.same_entities``."""
        return self._store.same_entities(self._of_seen(edition), ids)

    def relations_of(
        self, edition: str, ids: Sequence[str], /, *, deadline: Deadline | None = None
    ) -> dict[str, frozenset[str]]:
        """Returns the relations of some heads; see ``GraphReader.relations_of``."""
        return self._store.relations_of(self._of_seen(edition), ids, deadline=deadline)

    def search(
        self,
        edition: str,
        query: str,
        /,
        *,
        languages: Sequence[str] = (),
        limit: int = 10,
        prefix: bool = False,
        deadline: Deadline | None = None,
    ) -> list[SearchHit]:
        """Returns entities by name; see ``GraphReader.search``."""
        return self._store.search(
            self._of_seen(edition),
            query,
            languages=languages,
            limit=limit,
            prefix=prefix,
            deadline=deadline,
        )

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

    def ping(self) -> None:
        """Raises ``StoreUnavailableError`` unless the store answers now."""
        self._store.ping()

    def close(self) -> None:
        """Leaves the store open."""

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Leaves the store open."""

    def _no_graph(self, name: str) -> GraphNotFoundError:
        return graph_not_found(name, [info.name for info in self.graphs()])

    def _of_seen(self, edition: str) -> str:
        if graph_of(edition) not in self._names:
            raise edition_not_found(edition)
        return edition

    def _seen(self, info: GraphInfo) -> GraphInfo:
        self._of_seen(info.edition)
        return info

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
            raise graph_not_found(graph, ())
        return self._passages.begin(
            graph, source=source, options=options, owner=owner, lease_s=lease_s
        )

    def sets(self, *, graph: str | None = None) -> list[PassageSet]:
        """Returns the sets that are seen; see ``Passages.sets``."""
        if graph is not None and graph not in self._names:
            return []
        return [one for one in self._passages.sets(graph=graph) if one.graph in self._names]

    def scan(self, number: int, /) -> Iterator[list[Passage]]:
        """Yields the passages of a set that is seen, of any other none."""
        return self._passages.scan(number) if self._seen([number]) else iter(())

    def match(
        self, sets: Sequence[PassageSet], terms: Sequence[str], /, *, deadline: Deadline
    ) -> WordMatches:
        """Returns the matches in those of some sets that are seen; see ``Passages.match``."""
        seen = [one for one in sets if one.graph in self._names]
        if not seen:
            return WordMatches(0, 0, dict.fromkeys(terms, 0), (), complete=True)
        return self._passages.match(seen, terms, deadline=deadline)

    def read(self, places: Sequence[PassagePlace], /) -> dict[PassagePlace, Passage]:
        """Returns passages of sets that are seen by their place; others are absent."""
        seen = self._seen({place.number for place in places})
        return self._passages.read([place for place in places if place.number in seen])

    def delete(self, graph: str, /, *, source: str | None = None) -> int:
        """Deletes the sets of a graph that is seen; returns how many passages went."""
        return self._passages.delete(graph, source=source) if graph in self._names else 0

    def _seen(self, numbers: Iterable[int]) -> frozenset[int]:
        wanted = set(numbers)
        if not wanted:
            return frozenset()
        return frozenset(one.number for one in self.sets() if one.number in wanted)
