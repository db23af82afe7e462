"""A load into the SQLite file: append while it runs, resolve and index once at the end.

Statements and entities are appended, because an index on a random key is what makes loads slow
(``row_locations`` says how an entity is found meanwhile).
``finish`` then finds the rows that a later row of the same id replaces. Both fingerprints are
wrapping sums, so what each batch adds is summed while its values are at hand, and what ``finish``
deletes is subtracted: no second pass over all statements.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import orjson

from graph_service.errors import (
    InputError,
    LoadInProgressError,
    StoreError,
)
from graph_service.model.graph_info import GraphCounts, GraphInfo
from graph_service.model.identity import (
    Fingerprints,
)
from graph_service.sqlite_file import transaction
from graph_service.store.decoding import decoding
from graph_service.store.hashes import Uint64
from graph_service.store.names import now_text
from graph_service.store.protocol import Batch, Conflict, LoadCounts
from graph_service.store.sqlite.batch import KnownIds, PreparedBatch
from graph_service.store.sqlite.database import (
    LOADER_CACHE_KIB,
    Database,
    durably,
    mapped_error,
    mapping_errors,
)
from graph_service.store.sqlite.finish import Finish
from graph_service.store.sqlite.row_locations import RowLocations
from graph_service.store.sqlite.schema import (
    COPIED_TABLES,
    DROPS,
    EDITION_TABLES,
    LOAD_DROPS,
    of_edition,
)

COPY_ROWS = 200_000
CONFLICT_ROWS = 10_000
_SELECT_CONFLICTS = """SELECT c.number, c.id, c.is_document, a.source, c.line, b.source, c.kept_line
    FROM conflicts_$n c JOIN batches_$n a ON a.number = c.batch
    JOIN batches_$n b ON b.number = c.kept_batch
    WHERE c.number > ? ORDER BY c.number LIMIT ?"""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a load, under which token, for how long at a time."""

    owner: str
    token: str
    seconds: float

    def until(self) -> float:
        """Returns the moment the lease ends if renewed now, seconds since 1970."""
        return time.time() + self.seconds


def create_edition(connection: sqlite3.Connection, number: int, /) -> None:
    """Makes the tables of an edition."""
    for template in EDITION_TABLES:
        connection.execute(of_edition(template, number))


def drop_editions(connection: sqlite3.Connection, /) -> None:
    """Drops the tables of all editions marked for it, one table a transaction."""
    numbers = connection.execute("SELECT number FROM editions WHERE state = 'dropping'").fetchall()
    for (edition_number,) in numbers:
        for template in DROPS:
            with transaction(connection):
                connection.execute(of_edition(template, edition_number))
        with transaction(connection):
            connection.execute("DELETE FROM editions WHERE number = ?", (edition_number,))


class SqliteLoadSession:
    """One load under way. ``SqliteStore.begin_load`` makes it; see ``LoadSession``."""

    def __init__(self, database: Database, graph: str, number: int, lease: Lease) -> None:
        self._database = database
        self._graph = graph
        self._number = number
        self._lease = lease
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._ended = False
        self._in_doubt: Batch | None = None
        self._connection = database.open_connection(cache_kib=LOADER_CACHE_KIB)
        try:
            with mapping_errors(database.path):
                self._connection.execute("PRAGMA wal_autocheckpoint = 4000")
                self._connection.execute("PRAGMA threads = 2")
                self._known = self._new_known()
                self._copy_base()
                sequence, checkpoint, sums = self._own("sequence, checkpoint, sums")
        except BaseException:
            self._connection.close()
            raise
        self._sequence: int = sequence
        self._checkpoint: Mapping[str, Any] | None = (
            orjson.loads(checkpoint) if checkpoint else None
        )
        self._sums: Uint64 = np.frombuffer(sums, dtype=np.uint64).copy()

    @property
    def edition(self) -> str:
        """The id of the edition being written, such as ``demo@7``."""
        return f"{self._graph}@{self._number}"

    @property
    def sequence(self) -> int:
        """Number of batches already committed."""
        return self._sequence

    @property
    def checkpoint(self) -> Mapping[str, Any] | None:
        """The checkpoint of the last committed batch."""
        return self._checkpoint

    def write(self, batch: Batch, /, *, checkpoint: Mapping[str, Any] | None = None) -> None:
        """Writes a batch in one transaction; see ``LoadSession.write``."""
        with self._lock:
            self._require_open()
            if self._in_doubt is not None and self._settle_doubt(batch):
                return
            prepared = PreparedBatch(batch, self._number, self._known, self._sequence + 1)
            encoded = None if checkpoint is None else orjson.dumps(dict(checkpoint)).decode()
            with mapping_errors(self._database.path):
                self._known.locations.prepare()
                self._commit(prepared, batch, encoded)
            prepared.remember()
            self._sequence += 1
            self._checkpoint = None if encoded is None else orjson.loads(encoded)

    def finish(self, *, report: Mapping[str, Any] | None = None) -> LoadCounts:
        """Resolves, indexes, counts; see ``LoadSession.finish``. Doing it again is harmless."""
        with self._lock, mapping_errors(self._database.path):
            self._require_open()
            with transaction(self._connection):
                self._renew()
            if self._state() != "finished":
                # Resolving deletes entities and relations that no statement mentions any more.
                self._known = self._new_known()
                Finish(
                    self._connection,
                    self._number,
                    renew=self._renew,
                    open_reader=self._database.open_connection,
                ).run()
            if report is not None:
                with transaction(self._connection):
                    self._renew()
                    self._connection.execute(
                        "UPDATE editions SET report = ? WHERE number = ?",
                        (orjson.dumps(dict(report)).decode(), self._number),
                    )
            return self._counts()

    def conflicts(self) -> Iterator[list[Conflict]]:
        """Yields the statements and entities that were left out; see ``LoadSession.conflicts``."""
        last = 0
        while True:
            with self._lock, mapping_errors(self._database.path):
                self._require_open()
                rows = self._connection.execute(
                    of_edition(_SELECT_CONFLICTS, self._number), (last, CONFLICT_ROWS)
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield [Conflict(id_, bool(document), *origin) for _, id_, document, *origin in rows]

    def fingerprints(self) -> Fingerprints:
        """Returns the fingerprints of the finished edition; see ``LoadSession.fingerprints``."""
        with self._lock, mapping_errors(self._database.path):
            self._require_open()
            row = self._connection.execute(
                "SELECT edges, content FROM editions WHERE number = ? AND state = 'finished'",
                (self._number,),
            ).fetchone()
        if row is None:
            raise InputError("fingerprints are those of a finished load: call finish() first")
        return Fingerprints(*row)

    def publish(self) -> GraphInfo:
        """Makes the edition the graph's current one; see ``LoadSession.publish``.

        The edition before it stays readable until the next publish, for readers that are in the
        middle of it; the one before that is dropped now.
        """
        with self._lock, mapping_errors(self._database.path):
            self._require_open()
            connection = self._connection
            with durably(connection), transaction(connection):
                self._renew()
                if self._state() != "finished":
                    raise InputError("publish needs a finished load: call finish() first")
                row = connection.execute(
                    "SELECT current FROM graphs WHERE name = ?", (self._graph,)
                ).fetchone()
                previous = row[0] if row else None
                connection.execute(
                    "INSERT OR REPLACE INTO graphs (name, current, previous) VALUES (?, ?, ?)",
                    (self._graph, self._number, previous),
                )
                connection.execute(
                    """UPDATE editions SET state = 'published', published_at = ?, token = NULL,
                        lease_expires = 0 WHERE number = ?""",
                    (now_text(), self._number),
                )
                connection.execute(
                    """UPDATE editions SET state = 'dropping' WHERE graph = ?
                        AND state = 'published' AND number NOT IN (?, ?)""",
                    (self._graph, self._number, self._number if previous is None else previous),
                )
            info = graph_info(connection, self._graph)
            with transaction(connection):
                for template in LOAD_DROPS:
                    connection.execute(of_edition(template, self._number))
            drop_editions(connection)
            self._end()
        if info is None:
            raise StoreError(f"graph {self._graph!r} was deleted while it was published")
        return info

    def abort(self) -> None:
        """Throws the load away; see ``LoadSession.abort``."""
        with self._lock, mapping_errors(self._database.path):
            self._require_open()
            with transaction(self._connection):
                self._renew()
                self._connection.execute(
                    """UPDATE editions SET state = 'dropping', token = NULL, lease_expires = 0
                        WHERE number = ?""",
                    (self._number,),
                )
            drop_editions(self._connection)
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        with self._lock:
            if self._ended or self._pid != os.getpid():
                return
            try:
                with transaction(self._connection):
                    self._connection.execute(
                        """UPDATE editions SET token = NULL, lease_expires = 0
                            WHERE number = ? AND token = ?""",
                        (self._number, self._lease.token),
                    )
            except sqlite3.Error as failure:
                # The error that ends the block says more; without one this is the news.
                if error is None:
                    raise mapped_error(failure, self._database.path) from failure
            finally:
                self._end()

    def _new_known(self) -> KnownIds:
        return KnownIds(RowLocations(self._connection, self._number, renew=self._renew))

    def _end(self) -> None:
        self._ended = True
        self._connection.close()

    def _require_open(self) -> None:
        if self._pid != os.getpid():
            raise StoreError("a load belongs to the process that began it")
        if self._ended:
            raise StoreError(f"the load of {self._graph!r} has ended; begin another")

    def _state(self) -> str:
        row = self._connection.execute(
            "SELECT state FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        return str(row[0]) if row else "gone"

    def _own(self, columns: str, /) -> tuple[Any, ...]:
        """Returns columns of the edition's row; raises if another process has ended the load."""
        row: tuple[Any, ...] | None = self._connection.execute(
            f"SELECT {columns} FROM editions WHERE number = ?",  # noqa: S608
            (self._number,),
        ).fetchone()
        if row is None:
            raise self._lost()
        return row

    def _renew(self) -> None:
        """Renews the lease; call it inside a transaction."""
        changed = self._connection.execute(
            "UPDATE editions SET lease_expires = ? WHERE number = ? AND token = ?",
            (self._lease.until(), self._number, self._lease.token),
        ).rowcount
        if changed != 1:
            raise self._lost()

    def _lost(self) -> LoadInProgressError:
        row = self._connection.execute(
            "SELECT owner, source, started_at FROM editions WHERE number = ? AND token IS NOT NULL",
            (self._number,),
        ).fetchone()
        if row is None:
            return LoadInProgressError(
                f"the lease of the load {self.edition} ran out and the load was ended elsewhere",
                hint="Run the same command again.",
            )
        return LoadInProgressError(
            f"the load {self.edition} was taken over by {row[0]} (source {row[1]}, begun {row[2]})",
            hint="Wait for it to end.",
        )

    def _commit(self, prepared: PreparedBatch, batch: Batch, checkpoint: str | None) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._advance(checkpoint)
            written = prepared.write(connection)
            sums = self._sums + written.sums
            connection.execute(
                """UPDATE editions SET sums = ?, appended = appended + ?, outdated = outdated + ?,
                    conflicting = conflicting + ? WHERE number = ?""",
                (
                    sums.tobytes(),
                    # Those of a document left out as a whole are counted without being rows.
                    written.appended + written.conflicting,
                    written.outdated,
                    written.conflicting,
                    self._number,
                ),
            )
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        try:
            self._execute_commit()
        except sqlite3.Error:
            # Whether the commit went through is settled by the sequence number alone.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._in_doubt = batch
            committed = self._committed_in_doubt()
            self._in_doubt = None
            if not committed:
                raise
        self._sums = sums

    def _advance(self, checkpoint: str | None) -> None:
        """Counts the batch before it is written, on condition that it is the next one."""
        changed = self._connection.execute(
            """UPDATE editions SET sequence = sequence + 1, checkpoint = ?, lease_expires = ?
                WHERE number = ? AND token = ? AND sequence = ? AND state = 'loading'""",
            (
                checkpoint,
                self._lease.until(),
                self._number,
                self._lease.token,
                self._sequence,
            ),
        ).rowcount
        if changed != 1:
            if self._state() == "finished":
                raise InputError("this load is finished: publish it, or abort it")
            raise self._lost()

    def _execute_commit(self) -> None:
        self._connection.execute("COMMIT")

    def _committed_in_doubt(self) -> bool:
        row = self._connection.execute(
            "SELECT sequence, token FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        return bool(row and row[0] == self._sequence + 1 and row[1] == self._lease.token)

    def _settle_doubt(self, batch: Batch) -> bool:
        """Returns whether this batch went in at an attempt whose outcome could not be read."""
        with mapping_errors(self._database.path):
            committed = self._committed_in_doubt()
            sums, checkpoint = self._own("sums, checkpoint")
        # Only now: while the store cannot be asked, the batch stays in doubt.
        doubtful, self._in_doubt = self._in_doubt, None
        if not committed:
            return False
        self._known = self._new_known()
        self._sums = np.frombuffer(sums, dtype=np.uint64).copy()
        self._sequence += 1
        self._checkpoint = orjson.loads(checkpoint) if checkpoint else None
        return batch == doubtful

    def _counts(self) -> LoadCounts:
        return LoadCounts(
            *self._own(
                """appended - updated - duplicates - conflicting, updated, duplicates, removed,
                outdated, conflicting"""
            )
        )

    def _copy_base(self) -> None:
        """Copies what the base edition has, in transactions of a bounded size; goes on where a
        killed process stopped.
        """
        connection = self._connection
        base, table, last = self._own("base, copied_table, copied_row")
        if base is None:
            return
        for index in range(table, len(COPIED_TABLES)):
            count, copy = COPIED_TABLES[index]
            (end,) = connection.execute(of_edition(count, self._number, base=base)).fetchone()
            while last < (end or 0):
                upper = min(last + COPY_ROWS, end)
                with transaction(connection):
                    self._renew()
                    connection.execute(of_edition(copy, self._number, base=base), (last, upper))
                    connection.execute(
                        "UPDATE editions SET copied_row = ? WHERE number = ?", (upper, self._number)
                    )
                last = upper
            with transaction(connection):
                self._renew()
                connection.execute(
                    "UPDATE editions SET copied_table = ?, copied_row = 0 WHERE number = ?",
                    (index + 1, self._number),
                )
            last = 0


def graph_info(connection: sqlite3.Connection, name: str, /) -> GraphInfo | None:
    """Returns a published graph, or None; a load under way is not filled in."""
    row = connection.execute(
        """SELECT e.number, e.counts, e.edges, e.content, e.source, e.published_at, e.options,
            e.tool_version, e.report FROM graphs g JOIN editions e ON e.number = g.current
            WHERE g.name = ?""",
        (name,),
    ).fetchone()
    if row is None:
        return None
    with decoding(f"the record of graph {name!r}"):
        return GraphInfo(
            name=name,
            edition=f"{name}@{row[0]}",
            counts=GraphCounts(*orjson.loads(row[1])),
            fingerprints=Fingerprints(edges=row[2], content=row[3]),
            source=row[4],
            published_at=row[5],
            options=orjson.loads(row[6]),
            tool_version=row[7],
            report=orjson.loads(row[8]),
        )
