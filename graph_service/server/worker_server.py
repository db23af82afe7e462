"""One of several processes that serve: it answers the connections that it is handed."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType

from starlette.applications import Starlette

from graph_service.byte_budget import give_back
from graph_service.server.connections import BoundedProtocol, ConnectionLimits
from graph_service.server.heartbeat import BEAT_S
from graph_service.server.server import Server
from graph_service.server.shared_state import SharedState
from graph_service.server.socket_passing import DRAIN, OPEN, Channel, PassedConnection

_LOOK_S = 0.2
"""How often a process looks whether it is ready, until it is."""


class WorkerServer(Server):
    """A server whose connections come from another process, and which ends when that says so.

    It ends when the other process has ended too, however that was. Signals are that one's affair:
    an operator's Ctrl-C, or the end of a service, reaches all processes at once.

    Args:
        app: As ``make_app`` returns it.
        limits: Of connections.
        channel: Where connections come from.
        shared: Where this process says that it is ready, and that it makes progress.
        number: Of this process.
        shutdown_timeout_s: Seconds from being asked to end until the server has ended.
        share: Puts where all processes have it once what each has read by when it is ready.
    """

    def __init__(
        self,
        app: Starlette,
        limits: ConnectionLimits,
        /,
        *,
        channel: socket.socket,
        shared: SharedState,
        number: int,
        shutdown_timeout_s: float,
        share: Callable[[], None],
    ) -> None:
        super().__init__(app, limits, shutdown_timeout_s=shutdown_timeout_s, exits_process=True)
        self._share = share
        self._channel = Channel(channel, limits)
        self._shared = shared
        self._number = number
        self._making: set[asyncio.Task[None]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._beating: asyncio.TimerHandle | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to take connections; none of these sockets, which another process has."""
        del sockets
        await super().startup([])
        asyncio.get_running_loop().add_reader(self._channel.fileno(), self._take)
        self._looking = asyncio.ensure_future(self._look_until_ready())
        self._beat()
        self._channel.say(OPEN)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Leaves a signal to the process that listens."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answers what is under way, as long as there is time."""
        del sockets
        if self._looking is not None:
            self._looking.cancel()
        self._shared.set_warm(self._number, False)
        await super().shutdown([])
        if self._beating is not None:
            self._beating.cancel()

    def _beat(self) -> None:
        self._shared.beat(self._number)
        self._beating = asyncio.get_running_loop().call_later(BEAT_S, self._beat)

    async def _look_until_ready(self) -> None:
        while await self._readiness.find_own_fault():
            await asyncio.sleep(_LOOK_S)
        await asyncio.to_thread(self._share)
        # What reading weights and graphs took beside them: each process would keep it.
        gc.collect()
        give_back()
        self._shared.set_warm(self._number, True)

    def _take(self) -> None:
        try:
            for come in self._channel.take():
                if come == DRAIN:
                    self._workers.is_draining = True
                elif isinstance(come, int):
                    self._finish()
                else:
                    making = asyncio.ensure_future(self._connect(*come))
                    self._making.add(making)
                    making.add_done_callback(self._making.discard)
        except EOFError:
            self._finish()

    def _finish(self) -> None:
        asyncio.get_running_loop().remove_reader(self._channel.fileno())
        # What was handed over before this is answered first.
        making = asyncio.gather(*self._making, return_exceptions=True)
        making.add_done_callback(lambda _: self._end(signal.SIGTERM, None))

    async def _connect(self, passed: PassedConnection, connection: socket.socket) -> None:
        make = partial(
            BoundedProtocol,
            passed,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        connection.setblocking(False)
        try:
            # The client may be gone already.
            with suppress(OSError):
                await asyncio.get_running_loop().connect_accepted_socket(make, connection)
                return
        except BaseException:
            connection.close()
            raise
        connection.close()
        passed.leave("")
