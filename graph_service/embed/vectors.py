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
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

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
from graph_service.sqlite_file import SqliteFile, primary_code, transaction

VECTOR_FILE = SqliteFile(
    name="file of vectors",
    application_id=0x67737663,
    schema=1,
    remedy="Remove it; its vectors are computed again.",
)
_BUSY_MS = 30_000
_KEYS_A_QUERY = 500
_TEXTS_A_STEP = 128
_MEMORY_BYTES = 96 * 2**20
_ROW_BYTES = 200
"""What a vector in memory holds beside its numbers and its text."""
PASSING_KEPT = 20_000
"""Vectors in the part of the file for texts that pass."""


class VectorFile:
    """One SQLite file of frozen vectors, shared by threads and processes.

    Rows are only ever added, but for those of passing texts, of which the last are kept. A file or
    folder that cannot be written is read; ``read_only`` then says why, and new vectors live in
    memory alone.

    Attributes:
        path: The file.
        read_only: Why nothing is written; None where it is.
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
        self._has_passing = False
        if self.read_only is None:
            self._prepare()
        self._check()

    def read(self, keys: Sequence[bytes], /) -> dict[bytes, Float32]:
        """Returns the vectors that the file has, by key."""
        found: dict[bytes, Float32] = {}
        if not keys or (self.read_only and not self.path.exists()):
            return found
        with self._connection() as connection:
            _read_part(connection, "vector", keys, found)
            if self._has_passing:
                _read_part(connection, "passing", [key for key in keys if key not in found], found)
        return found

    def add(self, keys: Sequence[bytes], vectors: Float32, /, *, passing: bool = False) -> Float32:
        """Keeps vectors, and returns those that hold now.

        A key that is there already keeps its vector, and that one is returned.

        Args:
            keys: 16 bytes each, distinct.
            vectors: One a key, float32 [len(keys), d].
            passing: Whether they are kept among the last ``PASSING_KEPT`` alone.
        """
        if self.read_only or not len(keys):
            return vectors
        rows = [
            (key, vector.astype("<f4").tobytes()) for key, vector in zip(keys, vectors, strict=True)
        ]
        try:
            with self._connection() as connection, transaction(connection):
                written = connection.executemany(_INSERT[passing], rows).rowcount
                if passing:
                    connection.execute(_FORGET, (PASSING_KEPT,))
        except sqlite3.OperationalError as error:
            if not _cannot_write(error):
                raise VECTOR_FILE.error(error, self.path) from error
            # A full disk must not stop a retrieval, whose vectors are right in memory too.
            self.read_only = str(error)
            return vectors
        if written == len(rows):
            return vectors
        there = self.read(keys)
        return np.stack([there[key] for key in keys])

    def count(self) -> int:
        """Returns how many vectors the file has for good."""
        return self._count("SELECT count(*) FROM vector")

    def count_passing(self) -> int:
        """Returns how many vectors of passing texts the file has."""
        return self._count("SELECT count(*) FROM passing") if self._has_passing else 0

    def _count(self, query: str) -> int:
        if self.read_only and not self.path.exists():
            return 0
        with self._connection() as connection:
            (found,) = connection.execute(query).fetchone()
        return int(found)

    def close(self) -> None:
        """Closes the file; calls under way end theirs when they are done."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
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
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(self._connect()) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if version or tables:
                    return
                # The journal's mode must be set outside the transaction that makes the table.
                connection.execute("PRAGMA journal_mode = WAL")
                with transaction(connection):
                    connection.execute(
                        "CREATE TABLE IF NOT EXISTS vector "
                        "(key BLOB NOT NULL PRIMARY KEY, vector BLOB NOT NULL)"
                    )
                    connection.execute(_MAKE_PASSING)
                    VECTOR_FILE.stamp(connection)
        except sqlite3.OperationalError as error:
            if not _cannot_write(error):
                raise VECTOR_FILE.error(error, self.path) from error
            self.read_only = str(error)
        except sqlite3.DatabaseError as error:
            raise VECTOR_FILE.error(error, self.path) from error
        except OSError as error:
            self.read_only = str(error)

    def _check(self) -> None:
        if self.read_only and not self.path.exists():
            return
        try:
            with self._connection() as connection:
                if not VECTOR_FILE.is_made(connection, self.path):
                    raise StoreCorruptError(
                        f"{self.path} is empty, and no {VECTOR_FILE.name}",
                        hint="Name another file, or remove it.",
                    )
        except GraphServiceError:
            self.close()
            raise
        self._has_passing = self._find_passing()

    def _find_passing(self) -> bool:
        """Whether there is a part for passing texts; a file of an earlier version is given one."""
        with self._connection() as connection:
            found = connection.execute(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'passing'"
            ).fetchone()
            if found or self.read_only:
                return bool(found)
            try:
                connection.execute(_MAKE_PASSING)
            except sqlite3.OperationalError as error:
                if not _cannot_write(error):
                    raise
                self.read_only = str(error)
                return False
        return True

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
        except sqlite3.DatabaseError as error:
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


_MAKE_PASSING = (
    "CREATE TABLE IF NOT EXISTS passing (number INTEGER PRIMARY KEY AUTOINCREMENT, "
    "key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
)
_INSERT = {
    False: "INSERT OR IGNORE INTO vector VALUES (?, ?)",
    True: "INSERT OR IGNORE INTO passing (key, vector) VALUES (?, ?)",
}
_FORGET = "DELETE FROM passing WHERE number <= (SELECT max(number) FROM passing) - ?"


def _read_part(
    connection: sqlite3.Connection, table: str, keys: Sequence[bytes], found: dict[bytes, Float32]
) -> None:
    for start in range(0, len(keys), _KEYS_A_QUERY):
        part = keys[start : start + _KEYS_A_QUERY]
        marks = ",".join("?" * len(part))
        rows = connection.execute(
            f"SELECT key, vector FROM {table} WHERE key IN ({marks})",  # noqa: S608
            part,
        )
        for key, blob in rows:
            found[key] = np.frombuffer(blob, dtype="<f4")


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
        self.queries: Vectors = self
        if isinstance(embedder, QueryEncoder):
            self.queries = Vectors(_OfQueries(embedder), file, memory=budget)

    def encode(
        self,
        texts: Sequence[str],
        /,
        *,
        deadline: Deadline | None = None,
        passing: Container[str] = (),
    ) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension].

        Args:
            texts: Any number.
            deadline: When to stop.
            passing: Texts that pass, such as questions: the file keeps the last of them alone.

        Raises:
            DeadlineError: The time ran out; what was computed is kept, so that asking again gets
                further.
            InputError: A text holds a lone surrogate.
        """
        part = self.encode_some(texts, deadline=deadline, passing=passing)
        if part.cut is not None and deadline is not None:
            if deadline.stop is not None and deadline.stop.asked:
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
        passing: Container[str] = (),
    ) -> PartVectors:
        """Returns the vectors of as many texts as the limits allow, the first ones first.

        Args:
            texts: Most important first: they are computed in this order.
            max_new: How many distinct texts may be computed.
            deadline: When to stop; at least one step of 128 texts is computed unless it is past.
            passing: Texts that the file keeps among the last alone.
        """
        distinct = list(dict.fromkeys(texts))
        vectors, missing = self._look_up(distinct)
        wanted = missing if max_new is None else missing[: max(0, max_new)]
        done = 0
        while done < len(wanted) and not (deadline is not None and deadline.passed()):
            step = wanted[done : done + _TEXTS_A_STEP]
            vectors[step] = self._compute([distinct[i] for i in step], passing)
            done += len(step)
        known = np.ones(len(distinct), dtype=np.bool_)
        known[missing[done:]] = False
        cut = None
        if done < len(missing):
            late = done < len(wanted)
            cut = Cut(
                what="embedded",
                reason=CutReason.DEADLINE if late else CutReason.WORK_BUDGET,
                limit=float(done if late or max_new is None else max_new),
                kept=len(distinct) - (len(missing) - done),
                total=len(distinct),
            )
        if len(distinct) == len(texts):
            return PartVectors(vectors, known, cut)
        number = {text: i for i, text in enumerate(distinct)}
        rows = np.fromiter((number[text] for text in texts), dtype=np.int64, count=len(texts))
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
        """Returns itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        self.close()

    def _look_up(self, texts: list[str]) -> tuple[Float32, list[int]]:
        """Returns vectors, and the numbers of the texts that have none, ascending."""
        vectors = np.zeros((len(texts), self.embedder.dimension), dtype=np.float32)
        held = self._memory.get_all(texts)
        missing = [number for number, row in enumerate(held) if row is None]
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
        found: list[int] = []
        for number, key in zip(missing, keys, strict=True):
            vector = there.get(key)
            if vector is None:
                absent.append(number)
                continue
            if len(vector) != self.embedder.dimension:
                raise StoreCorruptError(
                    f"{self.file.path} has a vector of {len(vector)} numbers for "
                    f"{self.embedder.name}, whose vectors have {self.embedder.dimension}",
                    hint="Remove the file; its vectors are computed again.",
                )
            vectors[number] = vector
            found.append(number)
        self._hold([texts[i] for i in found], vectors[found])
        return vectors, absent

    def _compute(self, texts: list[str], passing: Container[str]) -> Float32:
        vectors = self.embedder.encode(texts)
        if self.file is not None:
            pass_by = [text in passing for text in texts]
            for part in (True, False):
                places = [place for place, passes in enumerate(pass_by) if passes is part]
                if places:
                    keys = [self._key(texts[place]) for place in places]
                    vectors[places] = self.file.add(keys, vectors[places], passing=part)
        return self._hold(texts, vectors)

    def _hold(self, texts: list[str], vectors: Float32) -> Float32:
        """Keeps vectors of distinct texts in memory, and returns those that hold.

        Where another thread was first its vector holds, so that one process has one vector a text
        even when no file settles it.
        """
        if not texts:
            return vectors
        rows = np.ascontiguousarray(vectors, dtype="<f4")
        held = self._memory.keep_all(
            [
                (text, row.tobytes(), row.nbytes + sys.getsizeof(text) + _ROW_BYTES)
                for text, row in zip(texts, rows, strict=True)
            ]
        )
        return np.frombuffer(b"".join(held), dtype="<f4").reshape(rows.shape)

    def _key(self, text: str) -> bytes:
        try:
            return digest((_kept_name(self.embedder), text), person=b"vector")
        except UnicodeEncodeError as error:
            raise InputError(f"a text to embed holds a lone surrogate: {text[:80]!r}") from error


class _OfQueries:
    """An embedder as it reads questions: its vectors of them have keys of their own."""

    def __init__(self, embedder: Embedder) -> None:
        assert isinstance(embedder, QueryEncoder)
        self._embedder = embedder
        self.name = f"{_kept_name(embedder)} of queries"
        self.encode = embedder.encode_queries

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def count_tokens(self, text: str, /) -> int:
        return self._embedder.count_tokens(text)


def _kept_name(embedder: Embedder) -> str:
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
