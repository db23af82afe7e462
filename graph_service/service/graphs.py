"""The graphs of a store as one process has them open: found by name, kept as arrays, read at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

from graph_service.byte_budget import Lookups
from graph_service.errors import GraphNotFoundError, GraphServiceError, InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import CutReason, Deadline
from graph_service.model.result import RetrievalResult
from graph_service.observation import note_edition
from graph_service.service.linking import OpenGraph
from graph_service.service.read_session import ReadingOfThread, ReadSession
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from graph_service.store.reads import ReadNotes

MAX_OPEN_SNAPSHOTS = 4
ARRAYS = "arrays"
"""The cache of open graphs, as its look-ups are told."""


class OpenArrays:
    """The arrays of the graphs that were opened last. Safe to use from several threads."""

    def __init__(self) -> None:
        self._arrays: OrderedDict[tuple[str, str], KnowledgeGraph] = OrderedDict()
        self._building: dict[tuple[str, str], Lock] = {}
        self._lookups = Lookups(ARRAYS)
        self._lock = Lock()

    def editions(self) -> frozenset[str]:
        """Returns the editions that are open."""
        with self._lock:
            return frozenset(edition for edition, _ in self._arrays)

    def take_lookups(self) -> Lookups:
        """Returns how often arrays were open and were not, since this was last asked."""
        with self._lock:
            taken, self._lookups = self._lookups, Lookups(ARRAYS)
        return taken

    def of(self, info: GraphInfo, store: Store, /) -> KnowledgeGraph:
        """Returns a graph as arrays; each edition is opened once and kept while it is used."""
        key = (info.edition, info.fingerprints.content)
        with self._lock:
            graph = self._arrays.get(key)
            if graph is not None:
                self._arrays.move_to_end(key)
                self._lookups.hits += 1
            else:
                self._lookups.misses += 1
                building = self._building.setdefault(key, Lock())
        if graph is not None:
            store.mend_snapshot(info)
            return graph
        with building:
            with self._lock:
                graph = self._arrays.get(key)
            if graph is None:
                graph = store.snapshot(info)
            with self._lock:
                self._arrays[key] = graph
                while len(self._arrays) > MAX_OPEN_SNAPSHOTS:
                    self._arrays.popitem(last=False)
                self._building.pop(key, None)
        return graph


class Graphs:
    """What every part of the service opens graphs by. Safe to use from several threads.

    Args:
        store: An open store.
        settings: Limits and names.
        notes: Of what is read of the store.
        cache: The arrays that are open; its own where they are shared with nobody.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        /,
        *,
        notes: ReadNotes,
        cache: OpenArrays | None = None,
    ) -> None:
        self.store = store
        self._notes = notes
        self.settings = settings
        self.cache = OpenArrays() if cache is None else cache
        self._of_thread = ReadingOfThread()

    @contextmanager
    def one_reading(self, deadline: Deadline | None = None, /) -> Iterator[ReadSession]:
        """Lets all reads of its block in this thread see one edition of each graph.

        They also share one time limit, from now on where none is given. A block inside another
        is a part of it.
        """
        outer = self._of_thread.current
        if outer is not None:
            yield outer
            return
        deadline = deadline or self.deadline()
        with self.store.within(deadline), self._notes.noting() as reads:
            session = ReadSession(self.store, deadline, reads)
            self._of_thread.current = session
            try:
                yield session
            finally:
                self._of_thread.current = None

    def note_transient(self, outcomes: Iterable[RetrievalResult | GraphServiceError], /) -> None:
        """Notes whether a retrieval might find more, or not fail, if it were made again."""
        session = self._of_thread.current
        if session is None:
            return
        for outcome in outcomes:
            if isinstance(outcome, GraphServiceError):
                session.reads.are_known = False
                continue
            reasons = {cut.reason for cut in outcome.truncated}
            if reasons & {CutReason.DEADLINE, CutReason.STORE_AWAY}:
                session.reads.are_known = False
            if CutReason.STORE_AWAY in reasons:
                session.is_from_memory = True

    def list(self) -> list[GraphInfo]:
        """Returns all graphs of the store, by name."""
        return (self._of_thread.current or self.store).graphs()

    def find(self, name: str | None = None, /) -> GraphInfo:
        """Returns a graph; without a name, the one of the settings or the only one there is.

        Raises:
            GraphNotFoundError: There is none of that name, or more than one to choose from.
            InputError: The name is empty.
        """
        if name == "":
            raise InputError("the graph's name is empty", argument="graph")
        chosen = name or self.settings.graph
        known = [self._graph(chosen)] if chosen else self.list()
        if len(known) == 1:
            note_edition(known[0].edition)
            return known[0]
        if not known:
            raise GraphNotFoundError(
                "the store has no graph yet",
                argument="graph",
                hint="Load one: graph-service load SOURCE --graph NAME",
            )
        names = ", ".join(info.name for info in known)
        raise GraphNotFoundError(
            f"the store has {len(known)} graphs: {names}; say which",
            argument="graph",
            hint="On the command line: --graph NAME",
        )

    def _graph(self, name: str) -> GraphInfo:
        return (self._of_thread.current or self.store).graph(name)

    def arrays(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns a graph as arrays; each edition is opened once and kept while it is used."""
        return self.cache.of(info, self.store)

    def is_read_from_store(self, info: GraphInfo, /) -> bool:
        """Returns whether a graph is too large to be opened as arrays."""
        return info.counts.statements > self.settings.snapshot_edges

    def open(self, name: str | None, /) -> OpenGraph:
        """Returns a graph and its arrays; raises as ``find``."""
        info = self.find(name)
        return OpenGraph(info, self.arrays(info))

    def deadline(self) -> Deadline:
        """Returns the time limit of the operation under way, or one that begins now."""
        reading = self._of_thread.current
        return reading.deadline if reading else Deadline.after(self.settings.read_timeout_s)

    def check_limit(self, limit: int, /, *, argument: str = "limit") -> None:
        """Raises ``InputError`` where more items are asked for than the settings allow."""
        if not 1 <= limit <= self.settings.max_items:
            raise InputError(
                f"{argument} must be 1 to {self.settings.max_items}, got {limit}",
                argument=argument,
            )
