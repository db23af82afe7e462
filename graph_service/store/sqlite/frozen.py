"""A store's file where nothing can be written: another user's, on a read-only disk, or a full one.

SQLite reads a file in its log mode only where it can make its log and lock files beside it, or
where it is promised that nobody writes. That promise is kept here by looking: whatever changes
the file, or begins a log beside it, makes the next read open it anew.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from graph_service.errors import (
    SchemaVersionError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from graph_service.model.limits import Deadline
from graph_service.store.sqlite.database import READER_CACHE_KIB, Database
from graph_service.store.sqlite.schema import SCHEMA_VERSION

_LEAST_FREE_BYTES = 2**16


def is_frozen(path: Path, /) -> bool:
    """Returns whether a file is there that this process can't write, or can't log the writes of."""
    if not path.is_file():
        return False
    if not os.access(path, os.W_OK):
        return True
    if os.access(path.absolute().parent, os.W_OK):
        return has_no_room(path)
    return not all(os.access(f"{path}{end}", os.W_OK) for end in ("-wal", "-shm"))


def has_no_room(path: Path, /) -> bool:
    """Returns whether the disk of a file has no space for a log and a lock file beside it."""
    return shutil.disk_usage(path.absolute().parent).free < _LEAST_FREE_BYTES


@dataclass(frozen=True, slots=True)
class _State:
    """What tells that a file was written; ``has_log`` that others have it open, or left it so."""

    changed_ns: int
    size: int
    has_log: bool

    @classmethod
    def of(cls, path: Path, /) -> _State:
        status, log = path.stat(), Path(f"{path}-wal")
        return cls(status.st_mtime_ns, status.st_size, log.is_file() and log.stat().st_size > 0)


class _StateOfThread(threading.local):
    state: _State | None = None


class FrozenDatabase(Database):
    """One file, read only; what others write to it is seen by the next read.

    Raises:
        SchemaVersionError: It is of an older schema, which can't be brought forward here.
        StoreUnavailableError: Others left a log beside it that can't be read without writing.
    """

    def __init__(self, path: Path, /, *, busy_timeout_s: float) -> None:
        self._state_of_thread = _StateOfThread()
        self._is_full = has_no_room(path)
        super().__init__(path, read_only=True, busy_timeout_s=busy_timeout_s)
        with self.reading() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < SCHEMA_VERSION:
            self.close()
            raise SchemaVersionError(
                f"{path} has schema {version}, and can't be brought to {SCHEMA_VERSION} where "
                "nothing can be written",
                hint="Open it once where it may be written, or copy it there.",
            )

    def open_connection(self, *, cache_kib: int = READER_CACHE_KIB) -> sqlite3.Connection:
        """Returns a new connection; the caller closes it."""
        self.require_file()
        promise = "" if _State.of(self.path).has_log else "&immutable=1"
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=ro{promise}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.execute(f"PRAGMA cache_size = {-cache_kib}")
        return connection

    def connection(self) -> sqlite3.Connection:
        """Returns this thread's connection, made anew where the file has changed."""
        self.require_file()
        state = _State.of(self.path)
        if state != self._state_of_thread.state:
            self._of_thread.handle = None
            self._state_of_thread.state = state
        return super().connection()

    @contextmanager
    def reading(self, deadline: Deadline | None = None, /) -> Iterator[sqlite3.Connection]:
        """Gives this thread's connection; see ``Database.reading``.

        Raises:
            StoreUnavailableError: The file was written while it was read.
        """
        with super().reading(deadline) as connection:
            before = self._state_of_thread.state
            yield connection
        if before is not None and not before.has_log and _State.of(self.path) != before:
            raise StoreUnavailableError(
                f"{self.path} was written by another process while it was read",
                hint="Ask again.",
            )

    def writing(self, *, durable: bool = True) -> NoReturn:
        """Raises ``StoreError``, since a frozen file is only read."""
        del durable
        if self._is_full:
            raise StoreFullError(
                f"no space was left on the disk of {self.path} when it was opened, so that it is "
                "only read",
                hint="Free disk space and run the same command again; a server starts again.",
            )
        raise StoreError(
            f"{self.path} can only be read: this user may not write it, or not its folder",
            hint="Allow it, or copy the file to where it may be written.",
        )
