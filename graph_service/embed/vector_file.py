"""The SQLite file of frozen vectors, which threads and processes share.

What passes with a question is kept in a part of the file that holds the last so many texts: what
clients ask must not make it grow for ever.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from graph_service.embed.protocol import Float32
from graph_service.errors import (
    GraphServiceError,
    InputError,
    StoreCorruptError,
)
from graph_service.private_files import make_private_file, make_private_folder
from graph_service.sqlite_file import SQLITE_ERRORS, SqliteFile, primary_code, transaction

VECTOR_FILE = SqliteFile(
    name="file of vectors",
    application_id=0x67737663,
    schema=2,
    remedy="Remove it; its vectors are computed again.",
)
_BUSY_MS = 30_000
_KEYS_A_QUERY = 500
MAX_TRANSIENT = 20_000
"""Vectors in the part of the file for texts that pass."""


class VectorFile:
    """One SQLite file of frozen vectors, shared by threads and processes.

    Rows are only ever added, but for those of transient texts, of which the last are kept, and those
    that are damaged. A file or folder that cannot be written is read; ``read_only`` then says why,
    and new vectors live in memory alone.

    Attributes:
        path: The file.
        read_only: Why nothing is written; None where it is.
        damaged: Rows that were read and did not have their checksum: none of them was returned.
    """

    def __init__(self, path: Path | str, /, *, read_only: bool = False) -> None:
        """Opens or makes the file.

        Args:
            path: The file; its folder is made.
            read_only: Whether to leave it as it is, though it could be written.

        Raises:
            StoreCorruptError: It is no file of vectors, or is damaged.
            SchemaVersionError: A newer version of this package made it.
            StoreUnavailableError: Another process keeps it locked.
        """
        self.path = Path(path)
        self.read_only: str | None = "it was opened read-only" if read_only else None
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._pid = os.getpid()
        self._closed = False
        self.damaged = 0
        self._has_checksums = self._has_transient = False
        if self.read_only is None:
            self._prepare()
        self._check()

    def read(self, keys: Sequence[bytes], /) -> dict[bytes, Float32]:
        """Returns the vectors that the file has, by key.

        A row without its checksum counts as missing and is deleted, so that it is computed again.
        """
        vectors: dict[bytes, Float32] = {}
        if not keys or (self.read_only and not self.path.exists()):
            return vectors
        with VECTOR_FILE.mapping_errors(self.path), self._connection() as connection:
            self._read_part(connection, "vector", keys, vectors)
            if self._has_transient:
                absent = [key for key in keys if key not in vectors]
                self._read_part(connection, "passing", absent, vectors)
        return vectors

    def count_damaged(self) -> int | None:
        """Reads every vector and returns how many lack their checksum.

        None for a file of an earlier version that can't be written, which has no checksums.

        Raises:
            StoreCorruptError: The file's own structure is damaged.
        """
        if self.read_only and not self.path.exists():
            return 0
        if not self._has_checksums:
            return None
        with VECTOR_FILE.mapping_errors(self.path), self._connection() as connection:
            (fault,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if fault != "ok":
                raise StoreCorruptError(f"{self.path} is damaged: {fault}", hint=VECTOR_FILE.remedy)
            return sum(
                not _is_intact(*row)
                for table in ("vector", "passing")
                for row in connection.execute(f"SELECT key, vector, checksum FROM {table}")  # noqa: S608
            )

    def add(
        self, keys: Sequence[bytes], vectors: Float32, /, *, transient: bool = False
    ) -> Float32:
        """Keeps vectors, and returns those that hold now.

        A key that is there already keeps its vector, and that one is returned.

        Args:
            keys: 16 bytes each, distinct.
            vectors: One a key, float32 [len(keys), d].
            transient: Whether they are kept among the last ``MAX_TRANSIENT`` alone.
        """
        if self.read_only or not len(keys):
            return vectors
        blobs = [vector.astype("<f4").tobytes() for vector in vectors]
        rows = [(key, blob, _checksum(key, blob)) for key, blob in zip(keys, blobs, strict=True)]
        try:
            with self._connection() as connection, transaction(connection):
                written = connection.executemany(_INSERT[transient], rows).rowcount
                if transient:
                    connection.execute(_FORGET, (MAX_TRANSIENT,))
        except sqlite3.OperationalError as error:
            if not _cannot_write(error):
                raise VECTOR_FILE.error(error, self.path) from error
            # A full disk must not stop a retrieval, whose vectors are right in memory too.
            self.read_only = str(error)
            return vectors
        if written == len(rows):
            return vectors
        there = self.read(keys)
        return np.stack([there.get(key, vector) for key, vector in zip(keys, vectors, strict=True)])

    def count(self) -> int:
        """Returns how many vectors the file has for good."""
        return self._count("SELECT count(*) FROM vector")

    def count_transient(self) -> int:
        """Returns how many vectors of transient texts the file has."""
        return self._count("SELECT count(*) FROM passing") if self._has_transient else 0

    def _count(self, query: str) -> int:
        if self.read_only and not self.path.exists():
            return 0
        with VECTOR_FILE.mapping_errors(self.path), self._connection() as connection:
            (count,) = connection.execute(query).fetchone()
        return int(count)

    def close(self) -> None:
        """Closes the file; calls under way end theirs when they are done."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self) -> Self:
        """Returns the vectors, whose file closes at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file at the end of a block."""
        self.close()

    def __del__(self) -> None:
        """Closes what nobody closed; connections of a parent process stay as they are."""
        pid = getattr(self, "_pid", None)
        if pid == os.getpid():
            self.close()
        elif pid is not None:
            _INHERITED.extend(self._idle)

    def _prepare(self) -> None:
        try:
            make_private_folder(self.path.parent)
            make_private_file(self.path)
            with contextlib.closing(self._connect()) as connection:
                is_made = VECTOR_FILE.is_made(connection, self.path)
                if is_made and _schema(connection) == VECTOR_FILE.schema:
                    return
                # The journal's mode must be set outside the transaction that makes the table.
                connection.execute("PRAGMA journal_mode = WAL")
                with transaction(connection):
                    # Another process may have been first.
                    if _schema(connection) != VECTOR_FILE.schema:
                        _upgrade(connection) if is_made else _make(connection)
                        VECTOR_FILE.stamp(connection)
        except sqlite3.OperationalError as error:
            if not _cannot_write(error):
                raise VECTOR_FILE.error(error, self.path) from error
            self.read_only = str(error)
        except SQLITE_ERRORS as error:
            raise VECTOR_FILE.error(error, self.path) from error
        except OSError as error:
            self.read_only = str(error)

    def _check(self) -> None:
        if self.read_only and not self.path.exists():
            return
        try:
            with VECTOR_FILE.mapping_errors(self.path), self._connection() as connection:
                if not VECTOR_FILE.is_made(connection, self.path):
                    raise StoreCorruptError(
                        f"{self.path} is empty, and no {VECTOR_FILE.name}",
                        hint="Name another file, or remove it.",
                    )
                self._has_checksums = _schema(connection) >= _WITH_CHECKSUMS
                self._has_transient = _has_table(connection, "passing")
        except GraphServiceError:
            self.close()
            raise

    def _read_part(
        self,
        connection: sqlite3.Connection,
        table: str,
        keys: Sequence[bytes],
        vectors: dict[bytes, Float32],
    ) -> None:
        column = "checksum" if self._has_checksums else "NULL"
        damaged = []
        for start in range(0, len(keys), _KEYS_A_QUERY):
            part = keys[start : start + _KEYS_A_QUERY]
            marks = ",".join("?" * len(part))
            rows = connection.execute(
                f"SELECT key, vector, {column} FROM {table} WHERE key IN ({marks})",  # noqa: S608
                part,
            )
            for row in rows:
                if self._has_checksums and not _is_intact(*row):
                    damaged.append(row)
                else:
                    vectors[row[0]] = np.frombuffer(row[1], dtype="<f4")
        if damaged:
            self._drop(connection, table, damaged)

    def _drop(
        self, connection: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]]
    ) -> None:
        """Deletes damaged rows, but no row that another process has put in the place of one."""
        self.damaged += len(rows)
        if self.read_only:
            return
        try:
            with transaction(connection):
                connection.executemany(
                    f"DELETE FROM {table} WHERE key = ? AND vector IS ? AND checksum IS ?",  # noqa: S608
                    rows,
                )
        except sqlite3.OperationalError as error:
            if not _cannot_write(error):
                raise
            self.read_only = str(error)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lends a connection to one thread at a time; those of a parent process stay unused."""
        with self._lock:
            if self._closed:
                raise InputError(f"the file of vectors {self.path} is closed")
            if os.getpid() != self._pid:
                # Closing them here would drop the parent's locks: they are left as they are.
                _INHERITED.extend(self._idle)
                self._idle, self._pid = [], os.getpid()
            connection = self._idle.pop() if self._idle else None
        try:
            connection = connection or self._connect()
            yield connection
        except SQLITE_ERRORS as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.OperationalError) and _cannot_write(error):
                raise
            raise VECTOR_FILE.error(error, self.path) from error
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        self._take_back(connection)

    def _take_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            closed = self._closed
            if not closed:
                self._idle.append(connection)
        if closed:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        address = self.path.absolute().as_uri()
        if self.read_only:
            # A folder that cannot be written has no room for the log's index; and then nobody
            # writes here, unless a log lies beside the file.
            quiet = not self.path.with_name(self.path.name + "-wal").exists()
            address += "?mode=ro" + ("&immutable=1" if quiet else "")
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=_BUSY_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection


_WITH_CHECKSUMS = 2
"""The first schema whose rows have checksums."""
_INSERT = {
    False: "INSERT OR IGNORE INTO vector (key, vector, checksum) VALUES (?, ?, ?)",
    True: "INSERT OR IGNORE INTO passing (key, vector, checksum) VALUES (?, ?, ?)",
}
_FORGET = "DELETE FROM passing WHERE number <= (SELECT max(number) FROM passing) - ?"


def _make(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE vector "
        "(key BLOB NOT NULL PRIMARY KEY, vector BLOB NOT NULL, checksum INTEGER)"
    )
    _make_transient_table(connection)


def _make_transient_table(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE passing (number INTEGER PRIMARY KEY AUTOINCREMENT, "
        "key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL, checksum INTEGER)"
    )


def _upgrade(connection: sqlite3.Connection) -> None:
    """Gives the rows of a file of schema 1 their checksums."""
    connection.create_function("checksum_of", 2, _checksum, deterministic=True)
    for table in ("vector", "passing"):
        if _has_table(connection, table):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
            connection.execute(f"UPDATE {table} SET checksum = checksum_of(key, vector)")  # noqa: S608
    if not _has_table(connection, "passing"):
        _make_transient_table(connection)


def _schema(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


def _checksum(key: bytes, vector: bytes) -> int:
    # Of the key too: a damaged index can lead to the row of another text.
    return zlib.crc32(vector, zlib.crc32(key))


def _is_intact(key: object, vector: object, checksum: object) -> bool:
    # A damaged row can hold values of other types.
    return (
        isinstance(key, bytes) and isinstance(vector, bytes) and _checksum(key, vector) == checksum
    )


# Connections that a forked child found: kept so that nothing closes them.
_INHERITED: list[sqlite3.Connection] = []


def _cannot_write(error: sqlite3.OperationalError) -> bool:
    return primary_code(error) in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
    )
