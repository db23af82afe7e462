"""Whether a server should be sent queries: the store answers, and a first query need not wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from graph_service.errors import GraphServiceError, SetupError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.server.queue import BusyError, Job, WaitedError, Workers
from graph_service.service import Service

PING_TIMEOUT_S = 5.0
WARM_TIMEOUT_S = 3_600.0
log = logging.getLogger("graph_service.api")


class Readiness:
    """Looks at the store, and warms graphs once. Used from one event loop.

    Args:
        service: What answers.
        workers: The threads that run operations; the looks run there too.
        warm: Graphs that are opened, and asked one question each, before the server is ready.
        count_cold: Says how many processes of the server are not ready yet, this one among them;
            None where it is the only one.
    """

    def __init__(
        self,
        service: Service,
        workers: Workers,
        /,
        *,
        warm: Sequence[str] = (),
        count_cold: Callable[[], int] | None = None,
    ) -> None:
        self._service = service
        self._workers = workers
        self._graphs = tuple(warm)
        self._count_cold = count_cold
        self._look: asyncio.Future[None] | None = None
        self._warming: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Begins to warm the graphs, or begins again where that has failed."""
        if not self._graphs:
            return
        failed = self._warming is not None and self._warming.done() and _has_failed(self._warming)
        if self._warming is None or failed:
            self._warming = asyncio.ensure_future(self._warm())

    async def find_fault(self) -> str:
        """Returns why the server is not ready; nothing if it is."""
        fault = await self.find_own_fault()
        cold = self._count_cold() if self._count_cold is not None and not fault else 0
        return f"{cold} of the server's processes are not ready yet" if cold else fault

    async def find_own_fault(self) -> str:
        """Returns why this process is not ready; nothing if it is."""
        if self._workers.is_draining:
            return "the server is stopping"
        self.begin()
        # One look for all who ask: a store that keeps silent must not take every worker.
        if self._look is None or self._look.done():
            self._look = asyncio.ensure_future(self._look_now())
            # Whoever asked may have gone when it fails.
            self._look.add_done_callback(lambda look: look.cancelled() or look.exception())
        try:
            async with asyncio.timeout(PING_TIMEOUT_S):
                await asyncio.shield(self._look)
        except (GraphServiceError, TimeoutError) as error:
            reason = str(error) or f"no answer within {PING_TIMEOUT_S:g} s"
            log.warning("not ready: %s", reason)
            if isinstance(error, (BusyError, WaitedError)) or self._workers.are_all_busy:
                return "no worker is free"
            if isinstance(error, SetupError):
                return "the weights of the embedder do not load"
            return "the store does not answer"
        if self._warming is None:
            return ""
        if not self._warming.done():
            return "graphs are being warmed"
        return "a graph can't be warmed" if _has_failed(self._warming) else ""

    async def _look_now(self) -> None:
        service = self._service

        def look() -> None:
            service.store.ping()
            # Opened at first use with the embedder's weights, and kept.
            _ = service.vectors

        # Each lane is asked at once: one that has to wait must not lose its turn in the other.
        await asyncio.gather(
            *(
                self._workers.run(
                    Job("a look at the store", PING_TIMEOUT_S, is_lookup=is_lookup, is_own=True),
                    lambda _: look(),
                    first=True,
                )
                for is_lookup in (False, True)
            )
        )

    async def _warm(self) -> None:
        for name in self._graphs:
            job = Job(f"warming graph {name}", WARM_TIMEOUT_S, is_own=True)
            try:
                await self._workers.run(job, partial(self._retrieve_once, name))
            except Exception as error:
                if job.stop.requested:
                    # The server ends before its graphs are warm, which is no fault of theirs.
                    raise
                log.error("graph %s can't be warmed: %s", name, error, exc_info=error)
                raise

    def _retrieve_once(self, name: str, _deadline: Deadline) -> None:
        """Opens a graph, and asks it a question that reads what every question reads."""
        head = self._some_head(self._service.graph(name))
        if head is None:
            return
        question = f"What is {head} related to?"
        self._service.retrieve(
            RetrieveRequest(question=question, graph=name, strategy=Strategy.PATHS)
        )
        self._service.retrieve(
            RetrieveRequest(
                question=question, graph=name, strategy=Strategy.PATHS, entity_ids=(head,)
            )
        )
        log.info("graph %s is warm", name)

    def _some_head(self, info: GraphInfo) -> str | None:
        """Returns an entity that has a statement; None where the graph has none."""
        if info.counts.statements > self._service.settings.snapshot_edges:
            chunks = self._service.store.scan_edges(info.edition)
            return next((rows[0].head for rows in chunks if rows), None)
        # The store would fill its cache with what questions never read.
        arrays = self._service.arrays(info)
        return arrays.node_ids.take(arrays.head[:1])[0] if len(arrays.head) else None


def _has_failed(warming: asyncio.Future[None]) -> bool:
    return warming.cancelled() or warming.exception() is not None
