"""Vectors as frozen data: computed once a (model, text), kept in a file, the same ever after.

MiniLM gives a text the same bits wherever it is computed. Other embedders differ in the last bits
by batch, thread count and machine; what was computed first is therefore kept, and every process
that shares the file reads that one. Where two compute the same text at once, the one that writes
first is right and the other takes its vector over.
What passes with a question is kept in a part of the file that holds the last so many texts: what
clients ask must not make it grow for ever.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import threading
import zlib
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from graph_service.byte_budget import ByteBudget, ByteCache
from graph_service.embed.protocol import Connected, Embedder, Float32, Recomputed
from graph_service.errors import (
    DeadlineError,
    GraphServiceError,
    InputError,
    StoreCorruptError,
)
from graph_service.model.graph import Bool
from graph_service.model.identity import digest
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.ranking import QueryEncoder
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
_TEXTS_A_STEP = 128
_WAIT_S = 0.05
"""How often a thread that waits for another's vectors looks whether its own time is over."""
_MEMORY_BYTES = 96 * 2**20
_ROW_BYTES = 200
"""What a vector in memory holds beside its numbers and its text."""
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


@dataclass(frozen=True, slots=True, eq=False)
class PartVectors:
    """Vectors of some texts, of which not all may have been computed.

    Attributes:
        vectors: float32 [n, d]; zeros where there is none.
        known: Whether there is one, bool [n].
        cut: What was left out and why, if anything was.
    """

    vectors: Float32
    known: Bool
    cut: Cut | None = None


class Vectors:
    """An embedder with its file: what is called for the vectors of texts. Thread-safe.

    Looked up in memory, then in the file; only what neither has is computed, each distinct text
    once.

    Attributes:
        embedder: Computes what is missing.
        file: Where it is kept; None keeps it in memory alone.
        queries: The same for questions; itself, where the embedder reads them as any text.
    """

    def __init__(
        self,
        embedder: Embedder,
        file: VectorFile | None = None,
        /,
        *,
        memory: ByteBudget | None = None,
    ) -> None:
        """Makes the pair; ``memory`` bounds what is held in memory, with other caches."""
        self.embedder = embedder
        self.file = file
        budget = memory or ByteBudget(_MEMORY_BYTES)
        self._memory: ByteCache[str, bytes] = ByteCache(budget, f"vectors of {embedder.name}")
        self._computing: dict[str, threading.Event] = {}
        self._computing_lock = threading.Lock()
        self.queries: Vectors = self
        if isinstance(embedder, QueryEncoder):
            self.queries = Vectors(_OfQueries(embedder), file, memory=budget)

    def encode(
        self,
        texts: Sequence[str],
        /,
        *,
        deadline: Deadline | None = None,
        transient: Container[str] = (),
    ) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension].

        Args:
            texts: Any number.
            deadline: When to stop.
            transient: Texts that pass, such as questions: the file keeps the last of them alone.

        Raises:
            DeadlineError: The time ran out; what was computed is kept, so that asking again gets
                further.
            InputError: A text holds a lone surrogate.
        """
        part = self.encode_some(texts, deadline=deadline, transient=transient)
        if part.cut is not None and deadline is not None:
            if deadline.stop is not None and deadline.stop.requested:
                deadline.check("embedding texts")
            raise DeadlineError(
                f"the time allowed ran out while embedding texts: {part.cut.kept:,} of "
                f"{part.cut.total:,} have a vector, which is kept",
                hint="Ask again, which gets further, or raise the time limit.",
            )
        return part.vectors

    def encode_some(
        self,
        texts: Sequence[str],
        /,
        *,
        max_new: int | None = None,
        deadline: Deadline | None = None,
        transient: Container[str] = (),
    ) -> PartVectors:
        """Returns the vectors of as many texts as the limits allow, the first ones first.

        Args:
            texts: Most important first: they are computed in this order.
            max_new: How many distinct texts may be computed.
            deadline: When to stop; at least one step of 128 texts is computed unless it is past.
            transient: Texts that the file keeps among the last alone.
        """
        distinct = list(dict.fromkeys(texts))
        vectors, missing = self._look_up(distinct)
        batch = missing if max_new is None else missing[: max(0, max_new)]
        done = 0
        while done < len(batch) and not (deadline is not None and deadline.passed()):
            step = batch[done : done + _TEXTS_A_STEP]
            computed = self._compute_once([distinct[i] for i in step], transient, deadline)
            if computed is None:
                break
            vectors[step] = computed
            done += len(step)
        known = np.ones(len(distinct), dtype=np.bool_)
        known[missing[done:]] = False
        cut = None
        if done < len(missing):
            late = done < len(batch)
            cut = Cut(
                what="embedded",
                reason=CutReason.DEADLINE if late else CutReason.WORK_BUDGET,
                limit=float(done if late or max_new is None else max_new),
                kept=len(distinct) - (len(missing) - done),
                total=len(distinct),
            )
        if len(distinct) == len(texts):
            return PartVectors(vectors, known, cut)
        index_of = {text: i for i, text in enumerate(distinct)}
        rows = np.fromiter((index_of[text] for text in texts), dtype=np.int64, count=len(texts))
        return PartVectors(vectors[rows], known[rows], cut)

    def known(self, texts: Sequence[str], /) -> Bool:
        """Returns for each text whether its vector is there without computing, bool [n]."""
        distinct = list(dict.fromkeys(texts))
        _, missing = self._look_up(distinct)
        absent = {distinct[i] for i in missing}
        return np.fromiter((text not in absent for text in texts), np.bool_, count=len(texts))

    def close(self) -> None:
        """Closes the file, and the connections of an embedder that has any."""
        if isinstance(self.embedder, Connected):
            self.embedder.close()
        if self.file is not None:
            self.file.close()

    def __enter__(self) -> Self:
        """Returns the vectors, whose file closes at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file at the end of a block."""
        self.close()

    def _look_up(self, texts: list[str]) -> tuple[Float32, list[int]]:
        """Returns vectors, and the numbers of the texts that have none, ascending."""
        vectors = np.zeros((len(texts), self.embedder.dimension), dtype=np.float32)
        held = self._memory.get_all(texts)
        missing = [index for index, row in enumerate(held) if row is None]
        rows = np.frombuffer(b"".join(filter(None, held)), dtype="<f4")
        if not missing:
            return rows.reshape(vectors.shape).copy(), missing
        here = np.ones(len(texts), dtype=np.bool_)
        here[missing] = False
        vectors[here] = rows.reshape(-1, self.embedder.dimension)
        if not missing or self.file is None:
            return vectors, missing
        keys = [self._key(texts[i]) for i in missing]
        there = self.file.read(keys)
        if not there:
            return vectors, missing
        absent: list[int] = []
        stored: list[int] = []
        for index, key in zip(missing, keys, strict=True):
            vector = there.get(key)
            if vector is None:
                absent.append(index)
                continue
            if len(vector) != self.embedder.dimension:
                raise StoreCorruptError(
                    f"{self.file.path} has a vector of {len(vector)} numbers for "
                    f"{self.embedder.name}, whose vectors have {self.embedder.dimension}",
                    hint="Remove the file; its vectors are computed again.",
                )
            vectors[index] = vector
            stored.append(index)
        self._hold([texts[i] for i in stored], vectors[stored])
        return vectors, absent

    def _compute_once(
        self, texts: list[str], transient: Container[str], deadline: Deadline | None
    ) -> Float32 | None:
        """Returns the vectors of distinct texts, of which no other thread computes any meanwhile.

        What another thread computes already is waited for. None if the time is over by then.
        """
        ended = threading.Event()
        with self._computing_lock:
            others = {text: self._computing[text] for text in texts if text in self._computing}
            own = [text for text in texts if text not in others]
            self._computing.update(dict.fromkeys(own, ended))
        try:
            # Another thread may have ended between this one's look-up and its turn.
            missing = [
                text
                for text, row in zip(own, self._memory.get_all(own), strict=True)
                if row is None
            ]
            vectors = self._compute(missing, transient) if missing else None
        finally:
            with self._computing_lock:
                for text in own:
                    del self._computing[text]
            ended.set()
        if vectors is not None and len(missing) == len(texts):
            return vectors
        for event in others.values():
            while not event.wait(_WAIT_S):
                if deadline is not None and deadline.passed():
                    return None
        table, absent = self._look_up(texts)
        if absent:
            # The other thread failed, or memory has let go of them.
            again = self._compute_once([texts[i] for i in absent], transient, deadline)
            if again is None:
                return None
            table[absent] = again
        return table

    def _compute(self, texts: list[str], transient: Container[str]) -> Float32:
        vectors = self.embedder.encode(texts)
        if self.file is not None:
            pass_by = [text in transient for text in texts]
            for part in (True, False):
                indexes = [index for index, passes in enumerate(pass_by) if passes is part]
                if indexes:
                    keys = [self._key(texts[index]) for index in indexes]
                    vectors[indexes] = self.file.add(keys, vectors[indexes], transient=part)
        return self._hold(texts, vectors)

    def _hold(self, texts: list[str], vectors: Float32) -> Float32:
        """Keeps vectors of distinct texts in memory, and returns those that hold.

        Where another thread was first its vector holds, so that one process has one vector a text
        even when no file settles it.
        """
        if not texts:
            return vectors
        rows = np.ascontiguousarray(vectors, dtype="<f4")
        held = self._memory.put_all(
            [
                (text, row.tobytes(), row.nbytes + sys.getsizeof(text) + _ROW_BYTES)
                for text, row in zip(texts, rows, strict=True)
            ]
        )
        return np.frombuffer(b"".join(held), dtype="<f4").reshape(rows.shape)

    def _key(self, text: str) -> bytes:
        try:
            return digest((_file_name(self.embedder), text), person=b"vector")
        except UnicodeEncodeError as error:
            raise InputError(f"a text to embed holds a lone surrogate: {text[:80]!r}") from error


class _OfQueries:
    """An embedder as it reads questions: its vectors of them have keys of their own."""

    def __init__(self, embedder: Embedder) -> None:
        assert isinstance(embedder, QueryEncoder)
        self._embedder = embedder
        self.name = f"{_file_name(embedder)} of queries"
        self.encode = embedder.encode_queries

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def count_tokens(self, text: str, /) -> int:
        return self._embedder.count_tokens(text)


def _file_name(embedder: Embedder) -> str:
    """Returns the name under which an embedder's vectors are kept."""
    if isinstance(embedder, Recomputed):
        return f"{embedder.name}/{embedder.arithmetic}"
    return embedder.name


def open_vectors(
    embedder: Embedder,
    path: Path | str | None = None,
    /,
    *,
    memory: ByteBudget | None = None,
) -> Vectors:
    """Returns an embedder with the file that keeps its vectors (in memory alone without one).

    Args:
        embedder: Computes what is missing.
        path: The file.
        memory: What caches in memory share.

    Raises:
        StoreError: The file is damaged, newer, or locked.
    """
    return Vectors(embedder, VectorFile(path) if path is not None else None, memory=memory)
