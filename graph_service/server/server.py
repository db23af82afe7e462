"""The process that serves: connections with limits, and an end that comes when it is asked for."""

from __future__ import annotations

import asyncio
import faulthandler
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from graph_service.server.connections import BoundedProtocol, ConnectionGate, ConnectionLimits
from graph_service.server.preparation import Preparation
from graph_service.server.queue import Job, Workers
from graph_service.server.readiness import Readiness

SWITCH_S = 0.001
"""How long a thread may keep the interpreter while others wait for it; Python's own is 0.005."""
_LAST_WORDS_S = 2.0
"""How long before its end a stopping server gives up what still runs, so that clients hear of it."""


class Server(uvicorn.Server):
    """uvicorn's server, which ends in time whatever its threads do.

    Asked to end, it takes no more connections and answers what it has taken. Shortly before the
    time for that is over it asks operations to end, and answers for those that do not.

    Args:
        app: As ``make_app`` returns it.
        limits: Of connections.
        shutdown_timeout_s: Seconds from being asked to end, or from the end of the drain, until the
            server has ended.
        drain_s: Seconds from being asked to end in which the server is not ready and still takes
            queries, so that proxies learn to send them elsewhere. Asked twice, it ends at once.
        exits_process: Whether to end the process, its threads' stacks on standard error, where
            even the event loop is stuck by then.
    """

    def __init__(
        self,
        app: Starlette,
        limits: ConnectionLimits,
        /,
        *,
        shutdown_timeout_s: float,
        drain_s: float = 0.0,
        exits_process: bool = False,
    ) -> None:
        margin = min(_LAST_WORDS_S, shutdown_timeout_s / 4)
        config = uvicorn.Config(
            app,
            http=partial(BoundedProtocol, ConnectionGate(limits)),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            # Its loggers write where those of this process do.
            log_config=None,
            log_level="warning",
            # Longer than clients keep theirs: who closes first must not be the one that is
            # being written to.
            timeout_keep_alive=limits.keep_alive_s,  # type: ignore[arg-type]
            timeout_graceful_shutdown=shutdown_timeout_s - margin / 4,  # type: ignore[arg-type]
        )
        super().__init__(config)
        self._workers: Workers = app.state.workers
        self._readiness: Readiness = app.state.readiness
        self._preparation: Preparation = app.state.preparation
        self._shutdown_timeout_s = shutdown_timeout_s
        self._margin_s = margin
        self._drain_s = drain_s
        self._exits_process = exits_process
        if exits_process:
            # A look-up reads the store some dozen times, and after each its thread waits for the
            # interpreter, which threads that compute keep for so long.
            sys.setswitchinterval(SWITCH_S)
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def abandoned(self) -> list[Job]:
        """What clients had asked for and still ran when the server had ended."""
        return [job for job in self._workers.running if not job.is_own]

    @property
    def is_at_work(self) -> bool:
        """Whether anything still runs: Python would wait for its thread for ever."""
        return bool(self._workers.running)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to serve, and to warm the graphs."""
        self._loop = asyncio.get_running_loop()
        self._readiness.begin()
        self._preparation.begin()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begins to end, at once or after the drain."""
        if self._drain_s and self._loop is not None and not self._workers.is_draining:
            self._workers.is_draining = True
            # The handler of a signal may run between any two steps of the loop.
            self._loop.call_soon_threadsafe(
                self._loop.call_later, self._drain_s, self._end_drain, sig, frame
            )
            return
        self._end(sig, frame)

    def _end_drain(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            self._end(sig, frame)

    def _end(self, sig: int, frame: FrameType | None) -> None:
        """Ends; the clock of the process's own end starts here."""
        if self._exits_process and not self.should_exit:
            # Watched by a thread that needs nothing of Python's: not its lock, not its memory.
            faulthandler.dump_traceback_later(self._shutdown_timeout_s, exit=True)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answers what is under way, as long as there is time."""
        # No graph needs to be warm any more, and no look at the store tells anybody anything.
        self._workers.stop_own()
        loop = asyncio.get_running_loop()
        calls: list[tuple[float, Callable[[], None]]] = [
            (self._margin_s, self._workers.stop),
            (self._margin_s / 2, self._workers.abandon),
        ]
        timers = [
            loop.call_later(self._shutdown_timeout_s - before, call) for before, call in calls
        ]
        try:
            await super().shutdown(sockets)
        finally:
            for timer in timers:
                timer.cancel()


def described(job: Job, /) -> str:
    """Returns what runs and for how long, for the operator."""
    now = time.monotonic()
    return f"{job.name} (running for {now - (job.began or now):.1f} s)"
