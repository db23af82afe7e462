"""Several processes that serve one address: begun, kept alive, and ended together.

This process listens, counts connections and hands each to the process that has fewest. One that
dies is begun anew, later each time that it dies soon again. One that makes no progress gets no new
connections, and is killed if it goes on so. Each of them ends by itself when this
one has gone, however that was.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from graph_service.server.connections import ConnectionGate, ConnectionLimits, address_of
from graph_service.server.heartbeat import LOOK_S, Pulse
from graph_service.server.shared_folder import forget_metrics
from graph_service.server.shared_state import SharedState
from graph_service.server.socket_passing import DRAIN, END, OPEN, ConnectionSender

BACKLOG = 2048
GRACE_S = 2.0
"""How much longer than it may take to end a process is waited for before it is killed."""
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_SETTLED_S = 60.0
"""A process that lived so long begins anew at once when it dies."""
_AT_ONCE = 64
"""Connections that are taken before anything else is looked at."""
_PROGRAM = (
    "import pickle, sys; number, channel, *sys.path[:] = sys.argv[1:]; "
    "pickle.load(sys.stdin.buffer)(int(number), int(channel))"
)
ENDINGS = (signal.SIGTERM, signal.SIGINT)
"""Signals that ask the server to end. They may come to all its processes at once."""
_MATH_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
log = logging.getLogger("graph_service.api")


@dataclass(slots=True, eq=False)
class _Child:
    """One process that answers.

    Attributes:
        number: From 0; that of one that died is given again.
        pulse: Says how long it has made no progress.
        is_open: Whether it takes connections.
    """

    number: int
    process: subprocess.Popen[bytes]
    sender: ConnectionSender
    pulse: Pulse
    is_open: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def is_ready(self) -> bool:
        """Whether it takes connections, and makes progress."""
        return self.is_open and not self.pulse.is_silent


class Processes:
    """The processes of one server.

    Args:
        listening: A bound socket.
        count: How many processes answer.
        limits: Of connections, over all of them.
        run: What each does: called in it with its number and the descriptor of its channel. It is
            pickled.
        shared: What the processes know together.
        worker_timeout_s: Seconds without progress after which a process is killed; see
            ``heartbeat``.
        shutdown_timeout_s: Seconds within which a process ends that is asked to.
        drain_s: Seconds from being asked to end in which none is ready and all still answer.
    """

    def __init__(
        self,
        listening: socket.socket,
        count: int,
        limits: ConnectionLimits,
        /,
        *,
        run: Callable[[int, int], None],
        shared: SharedState,
        worker_timeout_s: float,
        shutdown_timeout_s: float,
        drain_s: float = 0.0,
    ) -> None:
        self._listening = listening
        self._count = count
        self._gate = ConnectionGate(limits)
        self._run = pickle.dumps(run)
        self._shared = shared
        self._worker_timeout_s = worker_timeout_s
        self._shutdown_timeout_s = shutdown_timeout_s
        self._drain_s = drain_s
        self._children: dict[int, _Child] = {}
        self._pauses = dict.fromkeys(range(count), 0.0)
        self._passed_count = 0
        self._is_listening = False
        self._ending: asyncio.Task[None] | None = None
        self._skip_drain = asyncio.Event()
        self._ended = asyncio.Event()
        self._codes: list[int] = []

    async def serve(self) -> int:
        """Serves until it is asked to end.

        Returns:
            0 if all processes ended as they should, else 1.
        """
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        self._listening.listen(BACKLOG)
        for ending in ENDINGS:
            loop.add_signal_handler(ending, self._end)
        try:
            for index in range(self._count):
                self._begin(index)
            loop.call_later(LOOK_S, self._look)
            await self._ended.wait()
        finally:
            for ending in ENDINGS:
                loop.remove_signal_handler(ending)
            for child in self._children.values():
                child.process.kill()
                child.process.wait()
                child.sender.close()
        return int(any(self._codes))

    @property
    def pids(self) -> list[int]:
        """The ids of the processes that answer."""
        return [child.process.pid for child in self._children.values()]

    def _begin(self, number: int) -> None:
        if self._ending is not None:
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        # A signal to all processes of the service must not end one that has just begun: it is for
        # this one, which tells the others. One that is held back by a mask stays so in the child.
        with theirs, _held_back(ENDINGS):
            process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(number), str(theirs.fileno()), *sys.path],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env=_environment(self._count),
            )
        child = self._children[number] = _Child(
            number, process, ConnectionSender(ours), Pulse(process.pid)
        )
        asyncio.get_running_loop().add_reader(ours.fileno(), self._hear, child)
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(self._run)

    def _hear(self, child: _Child) -> None:
        try:
            messages = child.sender.hear()
        except EOFError:
            self._lose(child)
            return
        for message in messages:
            if message == OPEN:
                child.is_open = True
            else:
                self._forget(child, message)
        self._listen()

    def _forget(self, child: _Child, number: int) -> None:
        address = child.sender.addresses.pop(number, None)
        if address is not None:
            self._gate.leave(address)

    def _lose(self, child: _Child) -> None:
        """Notes that a process has ended, and begins another in its place."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(child.sender.fileno())
        child.sender.close()
        # It has closed its end, so it has ended or does so now.
        loop.run_in_executor(None, child.process.wait).add_done_callback(
            lambda waited: self._replace(child, waited.result())
        )

    def _replace(self, child: _Child, code: int) -> None:
        del self._children[child.number]
        for connection_id in list(child.sender.addresses):
            self._forget(child, connection_id)
        self._shared.set_warm(child.number, False)
        forget_metrics(child.process.pid)
        if self._ending is not None:
            self._codes.append(code)
            if not self._children:
                self._ended.set()
            return
        settled = time.monotonic() - child.began >= _SETTLED_S
        before = self._pauses[child.number]
        pause = 0.0 if settled else min(max(_FIRST_PAUSE_S, 2 * before), _LONGEST_PAUSE_S)
        self._pauses[child.number] = pause
        log.error(
            "process %d (pid %d) has ended with code %d; another begins in %g s",
            child.number,
            child.process.pid,
            code,
            pause,
        )
        asyncio.get_running_loop().call_later(pause, self._begin, child.number)
        self._listen()

    def _look(self) -> None:
        """Looks which processes make progress, and kills one that has made none for too long."""
        if self._ending is not None:
            return
        for child in self._children.values():
            if child.is_open:
                self._feel(child)
        self._listen()
        asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _feel(self, child: _Child) -> None:
        was_silent, about = child.pulse.is_silent, (child.number, child.process.pid)
        child.pulse.feel(self._shared.beats(child.number))
        if child.pulse.silent_s >= self._worker_timeout_s:
            log.error(
                "process %d (pid %d) has made no progress for %g s and is killed",
                *about,
                child.pulse.silent_s,
            )
            child.is_open = False
            child.process.kill()
        elif child.pulse.is_silent and not was_silent:
            log.warning("process %d (pid %d) makes no progress: it gets no connections", *about)
        elif was_silent and not child.pulse.is_silent:
            log.warning("process %d (pid %d) makes progress again", *about)

    def _listen(self) -> None:
        """Takes connections as long as there is a process to answer them."""
        should_listen = self._ending is None or not self._is_closed
        should_listen = should_listen and any(child.is_ready for child in self._children.values())
        if should_listen == self._is_listening:
            return
        self._is_listening = should_listen
        loop = asyncio.get_running_loop()
        if should_listen:
            loop.add_reader(self._listening.fileno(), self._accept)
        else:
            loop.remove_reader(self._listening.fileno())

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, where = self._listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                # No more files may be open, or the client has gone.
                log.warning("a connection can't be taken: %s", error)
                return
            with connection:
                self._give(connection, address_of(str(where[0])))

    def _give(self, connection: socket.socket, address: str) -> None:
        over = self._gate.count_in(address)
        self._passed_count += 1
        number = self._passed_count
        # Of those that have as many, the next in turn.
        ready = sorted(
            (child for child in self._children.values() if child.is_ready),
            key=lambda child: (
                len(child.sender.addresses),
                (child.number - number) % self._count,
            ),
        )
        if not any(child.sender.send(number, address, over, connection) for child in ready):
            self._gate.leave(address)

    @property
    def _is_closed(self) -> bool:
        return self._listening.fileno() < 0

    def _end(self) -> None:
        """Begins to end; asked again in the drain, ends it."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end_in_order())
        else:
            self._skip_drain.set()

    async def _end_in_order(self) -> None:
        self._tell_all(DRAIN)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._skip_drain.wait(), self._drain_s)
        # What has come until now is handed over before they are told.
        if self._is_listening:
            self._accept()
            asyncio.get_running_loop().remove_reader(self._listening.fileno())
        self._listening.close()
        self._is_listening = False
        self._tell_all(END)
        if not self._children:
            self._ended.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), self._shutdown_timeout_s + GRACE_S)
        if not self._ended.is_set():
            log.error("%d processes did not end in time and are killed", len(self._children))
            self._codes.append(1)
            self._ended.set()

    def _tell_all(self, what: int) -> None:
        for child in self._children.values():
            child.sender.tell(what)


@contextmanager
def _held_back(signals: Iterable[signal.Signals]) -> Iterator[None]:
    """Holds signals back in this thread until the block ends, and in a process begun in it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _environment(processes: int) -> dict[str, str]:
    """Returns the environment of each of some processes: numpy's threads share the cores.

    Threads of several processes that wait for each other on one core take twice its time.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return {**dict.fromkeys(_MATH_THREADS, str(max(1, cores // processes))), **os.environ}
