"""Ends reads whose server has gone silent, so that none waits past its time limit.

The server stops a query at its time limit. A machine that is lost, or a network that drops all,
says nothing, and the driver waits for minutes: it has no time limit for an answer. A read that
waits for long may be a long one, so the server is asked something short beside it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import neo4j

GRACE_S = 1.0
"""How long after its time limit the server may still say that it stopped a query, seconds."""
PROBE_S = 5.0
"""How long a read waits before the server is asked whether it answers at all, and how often."""
_LOOK_S = 0.25
_IDLE_S = 60.0
"""How long the thread waits for the next session before it ends."""


@dataclass(frozen=True, slots=True)
class _Watched:
    """A session in use, when that began, and when it is over its time (``time.monotonic``)."""

    session: neo4j.Session
    began: float
    deadline: float


class Watchdog:
    """Cuts the connections of sessions that are over their time; one thread a process.

    Args:
        answers: Returns whether the server answers; within seconds, through a session that is
            watched.
    """

    def __init__(self, answers: Callable[[], bool], /) -> None:
        self._answers = answers
        self._changed = threading.Condition()
        self._watched: dict[int, _Watched] = {}
        self._next = 0
        self._thread: threading.Thread | None = None
        self._probing: threading.Thread | None = None
        self._next_probe = 0.0
        self._closed = False

    def close(self) -> None:
        """Ends the thread, once no session is in use."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    @contextlib.contextmanager
    def limit(self, session: neo4j.Session, seconds: float, /) -> Iterator[None]:
        """Cuts the session's connection if the block takes longer than this and ``GRACE_S``."""
        with self._changed:
            number = self._next = self._next + 1
            now = time.monotonic()
            self._watched[number] = _Watched(session, now, now + seconds + GRACE_S)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="neo4j-watchdog", daemon=True
                )
                self._thread.start()
            elif len(self._watched) == 1:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._watched.pop(number, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._watched or self._closed, _IDLE_S) or (
                    self._closed and not self._watched
                ):
                    self._thread = None
                    return
                now = time.monotonic()
                self._cut_all(_is_over)
                if now >= self._next_probe and any(map(_waits_long, self._watched.values())):
                    self._next_probe = now + PROBE_S
                    # Another thread: this one ends what it asks, too.
                    if self._probing is None or not self._probing.is_alive():
                        self._probing = threading.Thread(
                            target=self._probe, name="neo4j-ask", daemon=True
                        )
                        self._probing.start()
            time.sleep(_LOOK_S)

    def _probe(self) -> None:
        """Cuts what has waited for long, if the server does not answer."""
        if not self._answers():
            with self._changed:
                self._cut_all(_waits_long)

    def _cut_all(self, is_over: Callable[[_Watched], bool]) -> None:
        over = [session_id for session_id, watched in self._watched.items() if is_over(watched)]
        for session_id in over:
            _cut(self._watched.pop(session_id).session)


def _is_over(watched: _Watched) -> bool:
    return time.monotonic() > watched.deadline


def _waits_long(watched: _Watched) -> bool:
    return time.monotonic() - watched.began >= PROBE_S


def _cut(session: neo4j.Session) -> None:
    """Ends the connection of a session from outside: its thread sees the end of the stream.

    The driver offers no way to it; what a test of silence needs of it are its own names.
    """
    connection = getattr(session, "_connection", None)
    raw_socket = getattr(getattr(connection, "socket", None), "_socket", None)
    if raw_socket is not None:
        with contextlib.suppress(OSError):
            raw_socket.shutdown(socket.SHUT_RDWR)
