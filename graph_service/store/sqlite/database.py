"""Connections to one SQLite file: one a thread, none across a fork; errors mapped here alone."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graph_service.errors import (
    DeadlineError,
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    SchemaVersionError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from graph_service.model.limits import Deadline
from graph_service.private_files import make_private_file
from graph_service.sqlite_file import SQLITE_ERRORS, SqliteFile, primary_code, transaction
from graph_service.store.sqlite.schema import (
    APPLICATION_ID,
    MIGRATIONS,
    SCHEMA_VERSION,
    STORE_TABLES,
)

READER_CACHE_KIB = 16_384
LOADER_CACHE_KIB = 131_072
PAGE_BYTES = 8_192
STEPS_BETWEEN_CHECKS = 20_000

STORE_FILE = SqliteFile(
    name="graph-service store",
    application_id=APPLICATION_ID,
    schema=SCHEMA_VERSION,
    remedy="Restore a backup, or load the graph again into a new file.",
)

# Connections that a fork inherited. Closing them would disturb the parent's file locks and log.
_INHERITED: list[sqlite3.Connection] = []


def mapped_error(error: sqlite3.Error | UnicodeDecodeError, path: Path, /) -> GraphServiceError:
    """Returns the error of ours for one of SQLite's. All of a store's pass through here."""
    primary = primary_code(error)
    if primary == sqlite3.SQLITE_INTERRUPT:
        return DeadlineError(
            "the time allowed ran out while reading the store",
            hint=DeadlineError.read_hint,
        )
    mapped = STORE_FILE.error(error, path)
    # A full-text table that is dropped while a query on it is compiled: "vtable constructor failed".
    if type(mapped) is StoreError and (
        primary == sqlite3.SQLITE_SCHEMA or "no such table" in str(error)
    ):
        return GraphNotFoundError(
            "this edition of the graph is no longer stored", hint="Ask for the graph again."
        )
    return mapped


@contextmanager
def mapping_errors(path: Path, /) -> Iterator[None]:
    """Raises ours in place of SQLite's errors."""
    try:
        yield
    except SQLITE_ERRORS as error:
        raise mapped_error(error, path) from error


class _Handle:
    """A connection that closes itself with its thread, in the process that opened it."""

    __slots__ = ("__weakref__", "connection", "pid")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.pid = os.getpid()

    def close(self) -> None:
        if self.pid == os.getpid():
            self.connection.close()
        else:
            _INHERITED.append(self.connection)

    def __del__(self) -> None:
        self.close()


class _OfThread(threading.local):
    handle: _Handle | None = None


class Database:
    """One file. Opening it makes or checks the schema; nothing is kept in memory.

    Args:
        path: The file.
        read_only: Whether nothing may be written; the file must be there.
        busy_timeout_s: How long to wait for another writer.
    """

    def __init__(self, path: Path, /, *, read_only: bool, busy_timeout_s: float) -> None:
        self.path = path
        self.read_only = read_only
        self._busy_timeout_s = busy_timeout_s
        self._handles: weakref.WeakSet[_Handle] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._of_thread = _OfThread()
        self._closed = False
        self._opened: tuple[int, int] | None = None
        if read_only and not path.is_file():
            raise InputError(f"there is no store {path}", hint="Load a graph into it first.")
        with mapping_errors(path):
            self._prepare()
        self._opened = self._on_disk()

    def require_file(self) -> None:
        """Raises ``StoreUnavailableError`` unless the file that was opened is still there.

        A file that was moved, deleted or replaced can be read on by those who have it open, and
        what they write is lost.
        """
        if self._opened is not None and self._on_disk() != self._opened:
            raise StoreUnavailableError(
                f"{self.path} is no longer the file that was opened: it was moved, deleted or "
                "replaced",
                hint="Put it back, or open the new one.",
            )

    def _on_disk(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def open_connection(self, *, cache_kib: int = READER_CACHE_KIB) -> sqlite3.Connection:
        """Returns a new connection; the caller closes it."""
        self.require_file()
        mode = "ro" if self.read_only else "rwc"
        if not self.read_only:
            # SQLite gives its log and index the mode of the file.
            make_private_file(self.path)
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            connection.execute(f"PRAGMA cache_size = {-cache_kib}")
            # Debian's SQLite overwrites deleted pages by default: dropping an edition would
            # write the whole of it once more.
            connection.execute("PRAGMA secure_delete = OFF")
            connection.execute("PRAGMA journal_size_limit = 67108864")
            # Safe against a killed process; what must outlast a power cut asks for FULL.
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def connection(self) -> sqlite3.Connection:
        """Returns this thread's connection, made when it is first needed."""
        if self._closed:
            raise StoreError(f"the store {self.path} has been closed")
        handle = self._of_thread.handle
        if handle is None or handle.pid != os.getpid():
            handle = _Handle(self.open_connection())
            with self._lock:
                self._handles.add(handle)
            self._of_thread.handle = handle
        return handle.connection

    @contextmanager
    def reading(self, deadline: Deadline | None = None, /) -> Iterator[sqlite3.Connection]:
        """Gives this thread's connection; a deadline interrupts what runs on it."""
        with mapping_errors(self.path):
            connection = self.connection()
            if deadline is None or deadline.at is None:
                yield connection
                return
            connection.set_progress_handler(deadline.passed, STEPS_BETWEEN_CHECKS)
            try:
                yield connection
            finally:
                connection.set_progress_handler(None, 0)

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Gives this thread's connection inside a transaction that may write.

        Args:
            durable: Whether it waits for the disk, and so outlasts a power cut.
        """
        self.require_file()
        with mapping_errors(self.path):
            connection = self.connection()
            with durably(connection, durable), transaction(connection):
                yield connection

    def close(self) -> None:
        """Closes the connections of all threads of this process."""
        self._closed = True
        with self._lock:
            for handle in list(self._handles):
                handle.close()
            self._handles.clear()

    def _prepare(self) -> None:
        connection = self.connection()
        if not STORE_FILE.is_made(connection, self.path):
            if self.read_only:
                raise StoreCorruptError(f"{self.path} is empty, and no {STORE_FILE.name}")
            self._create(connection)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < SCHEMA_VERSION and not self.read_only:
            migrate(connection)
        connection.execute("SELECT name, current FROM graphs LIMIT 1").fetchone()

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        end = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                # Two processes make the same file: SQLite does not wait here by itself.
                if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.02)
        with transaction(connection):
            if STORE_FILE.is_made(connection, self.path):
                return
            for table in STORE_TABLES:
                connection.execute(table)
            STORE_FILE.stamp(connection)


@contextmanager
def durably(connection: sqlite3.Connection, durable: bool = True, /) -> Iterator[None]:
    """Makes the commits of its block wait for the disk."""
    if not durable:
        yield
        return
    connection.execute("PRAGMA synchronous = FULL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = NORMAL")


def migrate(connection: sqlite3.Connection, /) -> None:
    """Brings a file of an older schema forward, one version a transaction."""
    while True:
        with transaction(connection):
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version >= SCHEMA_VERSION:
                return
            if version not in MIGRATIONS:
                raise SchemaVersionError(
                    f"this version cannot upgrade schema {version} to {SCHEMA_VERSION}",
                    hint="Load the graph again into a new file.",
                )
            MIGRATIONS[version](connection)
            connection.execute(f"PRAGMA user_version = {version + 1}")
