"""Embeds the names of graphs in the background, before questions need them.

A graph's turn comes when the server warms it, when somebody has asked about it, and when a load
publishes an edition of it. A batch takes a thread only while no question waits and most threads
are free, so that questions come first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from graph_service.errors import GraphServiceError
from graph_service.model.graph_info import GraphInfo
from graph_service.server.daemon import in_daemon
from graph_service.server.queue import BusyError, Job, Workers
from graph_service.service import Service
from graph_service.service.embedded_names import EmbeddedNames

LOOK_S = 5.0
"""Seconds between two looks at which editions the store has."""
PAUSE_S = 0.05
"""Seconds after which a batch that had to wait tries again."""
BATCH_TIMEOUT_S = 60.0
Turn = Callable[[], AbstractContextManager[bool]]
"""Gives whether this process may embed in the block: one process does at a time."""
log = logging.getLogger("graph_service.api")


class Preparation:
    """Embeds the names of some graphs. Used from one event loop.

    Args:
        service: Whose graphs.
        workers: The threads that batches run in.
        warm: Graphs whose names are embedded from the start on.
        turn: Keeps the processes of a server from embedding the same names at once; None where
            there is only one.

    Attributes:
        progress: By graph, how many of its relations have vectors of all their names.
    """

    def __init__(
        self,
        service: Service,
        workers: Workers,
        /,
        *,
        warm: Sequence[str] = (),
        turn: Turn | None = None,
    ) -> None:
        self.progress: Mapping[str, EmbeddedNames] = {}
        self._service = service
        self._workers = workers
        self._warm = frozenset(warm)
        self._turn: Turn = turn or (lambda: nullcontext(True))
        self._first_editions: dict[str, str] | None = None
        self._task: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Begins, once; it ends with the server's own work (``Workers.stop_own``)."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())

    def status(self) -> dict[str, dict[str, int]]:
        """Returns how many relations of all those graphs are embedded; nothing before there are any."""
        if not self.progress:
            return {}
        done = sum(names.done for names in self.progress.values())
        total = sum(names.total for names in self.progress.values())
        return {"relations": {"embedded": done, "toEmbed": total - done}}

    async def _run(self) -> None:
        try:
            while True:
                for info in await self._due():
                    # One that fails is tried again with its next edition: questions tell why.
                    self._note(info.name, EmbeddedNames(info.edition, 0, 0))
                    await self._embed(info)
                await asyncio.sleep(LOOK_S)
        except BusyError:
            log.debug("the server is stopping: no more names are embedded")
        except Exception as error:
            log.error("no more names are embedded: %s", error, exc_info=error)

    def _note(self, graph: str, names: EmbeddedNames) -> None:
        self.progress = {**self.progress, graph: names}

    async def _due(self) -> list[GraphInfo]:
        """Returns the graphs of which an edition's names are to be embedded."""
        try:
            infos = await asyncio.wrap_future(in_daemon("look", self._service.graphs))
        except GraphServiceError:
            # Whether the store answers is for others to tell.
            return []
        editions = {info.name: info.edition for info in infos}
        if self._first_editions is None:
            self._first_editions = editions
        self.progress = {name: done for name, done in self.progress.items() if name in editions}
        return [info for info in infos if self._is_due(info)]

    def _is_due(self, info: GraphInfo) -> bool:
        known = self.progress.get(info.name)
        if known is not None and known.edition == info.edition:
            return False
        assert self._first_editions is not None
        return (
            info.name in self._warm
            or info.edition in self._service.open_editions
            or self._first_editions.get(info.name) != info.edition
        )

    async def _embed(self, info: GraphInfo) -> None:
        batches = self._service.embed_names(info)
        while True:
            if self._workers.has_leisure:
                job = Job(f"embedding names of graph {info.name}", BATCH_TIMEOUT_S, is_own=True)
                try:
                    has_more = await self._workers.run(
                        job, lambda _: self._next(info.name, batches)
                    )
                except BusyError:
                    raise
                except GraphServiceError as error:
                    log.warning("names of graph %s can't be embedded: %s", info.name, error)
                    return
                if has_more is False:
                    return
                if has_more:
                    continue
            await asyncio.sleep(PAUSE_S)

    def _next(self, graph: str, batches: Iterator[EmbeddedNames]) -> bool | None:
        """Embeds the next batch; returns whether there was one, None in another process's turn."""
        with self._turn() as is_ours:
            if not is_ours:
                return None
            names = next(batches, None)
        if names is not None:
            self._note(graph, names)
        return names is not None
