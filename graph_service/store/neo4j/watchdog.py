"""Ends reads whose server has gone silent, so that none waits past its time limit.

The server stops a query at its time limit. A machine that is lost, or a network that drops all,
says nothing, and the driver waits for minutes: it has no time limit for an answer.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import neo4j

GRACE_S = 1.0
"""How long after its time limit the server may still say that it stopped a query, seconds."""
_LOOK_S = 0.25


class Watchdog:
    """Cuts the connections of sessions that are over their time; one thread a process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watched: dict[int, tuple[float, neo4j.Session]] = {}
        self._next = 0
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def limit(self, session: neo4j.Session, seconds: float, /) -> Iterator[None]:
        """Cuts the session's connection if the block takes longer than this and ``GRACE_S``."""
        with self._changed:
            number = self._next = self._next + 1
            self._watched[number] = (time.monotonic() + seconds + GRACE_S, session)
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
                if not self._watched and not self._changed.wait(60.0) and not self._watched:
                    self._thread = None
                    return
                now = time.monotonic()
                late = [number for number, (at, _) in self._watched.items() if at < now]
                for number in late:
                    _cut(self._watched.pop(number)[1])
            time.sleep(_LOOK_S)


def _cut(session: neo4j.Session) -> None:
    """Ends the connection of a session from outside: its thread sees the end of the stream.

    The driver offers no way to it; what a test of silence needs of it are its own names.
    """
    connection = getattr(session, "_connection", None)
    bare = getattr(getattr(connection, "socket", None), "_socket", None)
    if bare is not None:
        with contextlib.suppress(OSError):
            bare.shutdown(socket.SHUT_RDWR)
