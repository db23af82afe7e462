"""The end of a load into the SQLite file: duplicates, documents, indexes, counts, fingerprints."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import chain

import numpy as np
import orjson

from graph_service.model.hashing import fingerprint
from graph_service.sqlite_file import transaction
from graph_service.store.hashes import (
    Uint64,
    collision,
)
from graph_service.store.sqlite.batch import INSERT_CONFLICT
from graph_service.store.sqlite.names import ChunkNames, EntityRow, names_of_rows
from graph_service.store.sqlite.rows import sums_of_rows
from graph_service.store.sqlite.schema import (
    DOCUMENT_INDEX,
    ENTITY_INDEX,
    HEAD_INDEX,
    HUB_STATEMENTS,
    HUBS_TABLE,
    KEY_INDEX,
    NAME_KEYS_TABLE,
    NAMES_TABLE,
    SELECT_HUBS,
    TAIL_INDEX,
    of_edition,
)
from graph_service.worker_pool import WorkerDiedError, WorkerPool, default_worker_count

NAME_ROWS = 10_000
GONE_ROWS = 10_000
# Starting processes takes half a second.
WORTHWHILE_ENTITIES = 50_000
# Of the rows of one id that of this load stays which came first and which no newer document of
# its entity replaces, else that of before. 0 in ``rival`` will mean equal, 1 that it may differ,
# 2 that this load contradicts itself: the row is not of a document that a newer one replaces.
_GONE = """INSERT INTO temp.gone SELECT row, kept, rival FROM (
    SELECT row, coalesce(own, min(iif(past, NULL, row)) OVER one, max(row) OVER one) AS kept,
        1 + (own IS NOT NULL AND is_own AND NOT (past AND row >= ifnull(oldest_row, row + 1)))
            AS rival
    FROM (SELECT row, key, oldest_row, past, is_own,
            min(iif(is_own AND NOT past, row, NULL)) OVER (PARTITION BY key) AS own
        FROM (SELECT s.row, s.key, d.oldest_row,
                s.row < ifnull(d.first_row, 0) AS past,
                s.row >= (SELECT ifnull(min(first_row), s.row + 1) FROM batches_$n) AS is_own
            FROM temp.again g JOIN statements_$n s ON s.key = g.key
            LEFT JOIN documents_$n d ON d.key = s.head))
    WINDOW one AS (PARTITION BY key)) WHERE row <> kept"""
_ROW_OF_HASH = """SELECT s.id, h.id, r.id, s.tail, t.id, s.value, s.rank, s.qualifiers, s.sources,
    s.context FROM statements_$n s CROSS JOIN entities_$n h ON h.key = s.head
    CROSS JOIN relations_$n r ON r.number = s.relation LEFT JOIN entities_$n t ON t.key = s.tail
    WHERE s.row IN (SELECT row FROM temp.gone WHERE row > ? ORDER BY row LIMIT ?)"""


class Finish:
    """The work of ``finish``: each step a transaction of its own, each harmless to repeat.

    Args:
        connection: Of the load.
        number: Of the edition.
        renew: Renews the load's lease, in a transaction of ``connection``.
        open_reader: Opens a connection to read what is committed.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        number: int,
        *,
        renew: Callable[[], None],
        open_reader: Callable[[], sqlite3.Connection],
    ) -> None:
        self._connection = connection
        self._open_reader = open_reader
        self._number = number
        self._renew = renew

    def run(self) -> None:
        """Runs all steps; the last one marks the edition as finished."""
        (entities,) = self._execute("SELECT count(*) FROM entities_$n").fetchone()
        workers = default_worker_count() if entities >= WORTHWHILE_ENTITIES else 0
        try:
            entity_sum = self._resolve_and_index(workers)
        except WorkerDiedError:
            # Most likely for want of memory, of which one process needs less.
            entity_sum = self._resolve_and_index(0)
        self._step(lambda: self._conclude(entity_sum))

    def _resolve_and_index(self, workers: int) -> Uint64:
        """Makes the rows final, and every index; returns the entities' content sum."""
        with ExitStack() as stack:
            # Processes that work on names start while the keys are sorted.
            pool = (
                stack.enter_context(WorkerPool(names_of_rows, count=workers)) if workers else None
            )
            self._step(lambda: self._execute(ENTITY_INDEX))
            self._step(lambda: self._execute(KEY_INDEX))
            self._step(self._resolve)
            self._step(self._set_names_aside)
            rows = self._entity_rows(stack.enter_context(closing(self._open_reader())))
            chunks: Iterable[ChunkNames] = map(names_of_rows, rows)
            if pool is not None:
                chunks = stack.enter_context(closing(pool.results(rows)))
            self._step(self._clear_names)
            # ... and work on them while heads and tails are.
            first = next(iter(chunks), None)
            self._step(lambda: self._execute(HEAD_INDEX))
            self._step(lambda: self._execute(TAIL_INDEX))
            self._step(self._count_hubs)
            return self._write_names(chain(() if first is None else (first,), chunks))

    def _step(self, work: Callable[[], object]) -> None:
        with transaction(self._connection):
            self._renew()
            work()

    def _execute(self, template: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(of_edition(template, self._number), values)

    def _resolve(self) -> None:
        """Deletes rows of an id that another row stands for, then those a newer document lacks."""
        execute = self._execute
        execute("DROP TABLE IF EXISTS temp.again")
        execute("CREATE TEMP TABLE again (key INTEGER PRIMARY KEY)")
        execute(
            """INSERT INTO temp.again SELECT key FROM statements_$n
                GROUP BY key HAVING count(*) > 1"""
        )
        execute(DOCUMENT_INDEX)
        execute("DROP TABLE IF EXISTS temp.gone")
        execute("CREATE TEMP TABLE gone (row INTEGER PRIMARY KEY, kept INTEGER, rival INTEGER)")
        execute(_GONE)
        clash = execute(
            """SELECT b.id, a.id FROM temp.gone g JOIN statements_$n a ON a.row = g.row
                JOIN statements_$n b ON b.row = g.kept WHERE a.id <> b.id LIMIT 1"""
        ).fetchone()
        if clash is not None:
            raise collision(clash[0], clash[1])
        execute(
            """UPDATE temp.gone SET rival = 0 WHERE EXISTS (SELECT 1 FROM statements_$n a
                JOIN statements_$n b ON b.row = gone.kept WHERE a.row = gone.row
                AND a.head = b.head AND a.relation = b.relation
                AND a.tail IS b.tail AND a.value IS b.value AND a.rank = b.rank
                AND a.qualifiers IS b.qualifiers AND a.sources IS b.sources
                AND a.context IS b.context)"""
        )
        replaced, same, conflicting = execute(
            """SELECT count(*), ifnull(sum(rival = 0), 0), ifnull(sum(rival = 2), 0)
                FROM temp.gone"""
        ).fetchone()
        if conflicting:
            self._write_conflicts()
        (documents,) = execute(
            "SELECT count(*) FROM documents_$n WHERE first_row IS NOT NULL"
        ).fetchone()
        if documents:
            execute(HEAD_INDEX)
        removed = execute(
            # In the order of the index by heads, so that both are read once.
            """INSERT OR IGNORE INTO temp.gone SELECT s.row, NULL, NULL
                FROM documents_$n d INDEXED BY documents_key_$n
                CROSS JOIN statements_$n s ON s.head = d.key
                WHERE d.key >= -9223372036854775808 AND s.row < d.first_row"""
        ).rowcount
        if replaced + removed:
            self._delete_gone()
        execute("DELETE FROM documents_$n")
        execute("DELETE FROM places_$n")
        execute(
            """UPDATE editions SET duplicates = duplicates + ?, updated = updated + ?,
                removed = removed + ?, conflicting = conflicting + ?, placed_entity = 0,
                placed_document = 0 WHERE number = ?""",
            (same, replaced - same - conflicting, removed, conflicting, self._number),
        )
        execute("DROP TABLE temp.gone")
        execute("DROP TABLE temp.again")

    def _write_conflicts(self) -> None:
        """Records where rows were read whose content differs from the row that stays."""
        last = 0
        while True:
            rows = self._execute(
                """SELECT g.row, g.kept, s.id FROM temp.gone g JOIN statements_$n s
                    ON s.row = g.row WHERE g.rival = 2 AND g.row > ? ORDER BY g.row LIMIT ?""",
                (last, GONE_ROWS),
            ).fetchall()
            if not rows:
                return
            locations = self._locations(
                {row for left_out, stored, _ in rows for row in (left_out, stored)}
            )
            self._connection.executemany(
                of_edition(INSERT_CONFLICT, self._number),
                [(id_, False, *locations[row], *locations[stored]) for row, stored, id_ in rows],
            )
            last = rows[-1][0]

    def _locations(self, rows: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Returns the batch and line of rows of this load."""
        locations: dict[int, tuple[int, int]] = {}
        first, after = 0, -1
        number, lines = 0, np.zeros(0, dtype=np.int64)
        for row in sorted(rows):
            if row >= after:
                number, first, data, after = self._execute(
                    """SELECT number, first_row, lines, ifnull((SELECT min(first_row)
                        FROM batches_$n o WHERE o.first_row > b.first_row), 9223372036854775807)
                        FROM batches_$n b WHERE first_row <= ?
                        ORDER BY first_row DESC, number DESC LIMIT 1""",
                    (row,),
                ).fetchone()
                lines = np.frombuffer(data, dtype=np.int64)
            locations[row] = number, int(lines[row - first]) if len(lines) else 0
        return locations

    def _delete_gone(self) -> None:
        execute = self._execute
        (stored,) = execute(
            "SELECT sums FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        sums = np.frombuffer(stored, dtype=np.uint64).copy()
        last = 0
        while True:
            rows = execute(_ROW_OF_HASH, (last, GONE_ROWS)).fetchall()
            if not rows:
                break
            sums = sums - sums_of_rows(rows)
            (last,) = execute(
                """SELECT max(row) FROM
                    (SELECT row FROM temp.gone WHERE row > ? ORDER BY row LIMIT ?)""",
                (last, GONE_ROWS),
            ).fetchone()
        execute("UPDATE editions SET sums = ? WHERE number = ?", (sums.tobytes(), self._number))
        execute("DROP TABLE IF EXISTS temp.loose")
        execute(
            """CREATE TEMP TABLE loose AS SELECT DISTINCT key FROM (
                SELECT s.head AS key FROM temp.gone g JOIN statements_$n s ON s.row = g.row
                UNION ALL SELECT s.tail FROM temp.gone g JOIN statements_$n s ON s.row = g.row
                WHERE s.tail IS NOT NULL)"""
        )
        execute("DELETE FROM statements_$n WHERE row IN (SELECT row FROM temp.gone)")
        # An entity known only by a statement that is gone would betray the order of loading.
        execute(HEAD_INDEX)
        execute(TAIL_INDEX)
        execute(
            """DELETE FROM entities_$n WHERE bare = 1 AND key IN (SELECT key FROM temp.loose)
                AND NOT EXISTS (SELECT 1 FROM statements_$n s WHERE s.head = entities_$n.key)
                AND NOT EXISTS (SELECT 1 FROM statements_$n s WHERE s.tail = entities_$n.key)"""
        )
        execute("DROP TABLE temp.loose")
        execute(
            """DELETE FROM relations_$n
                WHERE number NOT IN (SELECT DISTINCT relation FROM statements_$n)"""
        )

    def _set_names_aside(self) -> None:
        """Moves the names of ids without a statement out of the entities."""
        (named,) = self._execute(
            "SELECT EXISTS (SELECT 1 FROM entities_$n WHERE bare >= 2)"
        ).fetchone()
        if not named:
            return
        self._execute(HEAD_INDEX)
        self._execute(TAIL_INDEX)
        self._execute(
            """UPDATE entities_$n AS e SET bare = CASE
                WHEN EXISTS (SELECT 1 FROM statements_$n s WHERE s.head = e.key)
                    OR EXISTS (SELECT 1 FROM statements_$n s WHERE s.tail = e.key) THEN 2
                WHEN EXISTS (SELECT 1 FROM relations_$n r WHERE r.key = e.key) THEN 3
                ELSE 4 END WHERE bare >= 2"""
        )
        self._execute(
            """INSERT INTO spare_names_$n (key, id, kind, redirect, revision, terms)
                SELECT key, id, kind, redirect, revision, terms FROM entities_$n WHERE bare = 4"""
        )
        self._execute("DELETE FROM entities_$n WHERE bare = 4")

    def _count_hubs(self) -> None:
        self._execute("DROP TABLE IF EXISTS hubs_$n")
        self._execute(HUBS_TABLE)
        self._execute("INSERT INTO hubs_$n " + SELECT_HUBS, (HUB_STATEMENTS,))

    def _clear_names(self) -> None:
        self._execute("DROP TABLE IF EXISTS names_$n")
        self._execute(NAMES_TABLE)
        self._execute("DROP TABLE IF EXISTS name_keys_$n")
        self._execute(NAME_KEYS_TABLE)
        self._execute("DELETE FROM same_as_$n")

    def _entity_rows(self, connection: sqlite3.Connection) -> Iterator[list[EntityRow]]:
        query = of_edition(
            """SELECT key, id, kind, redirect, revision, terms, bare FROM entities_$n
                WHERE key >= ? ORDER BY key LIMIT ?""",
            self._number,
        )
        start = -(2**63)
        while rows := connection.execute(query, (start, NAME_ROWS)).fetchall():
            yield rows
            if rows[-1][0] == 2**63 - 1:
                return
            start = rows[-1][0] + 1

    def _write_names(self, chunks: Iterable[ChunkNames]) -> Uint64:
        """Fills the name index and ``same_as``; returns the entities' content sum."""
        total = np.zeros(2, dtype=np.uint64)
        for chunk in chunks:
            self._step(partial(self._write_chunk, chunk))
            total = total + np.frombuffer(chunk.sum, dtype=np.uint64)
        return total

    def _write_chunk(self, chunk: ChunkNames) -> None:
        self._connection.executemany(
            of_edition("INSERT INTO names_$n (rowid, tokens) VALUES (?, ?)", self._number),
            chunk.texts,
        )
        self._connection.executemany(
            of_edition("INSERT OR IGNORE INTO same_as_$n VALUES (?, ?)", self._number),
            chunk.same_as,
        )
        if chunk.longest:
            self._execute(
                "INSERT INTO name_keys_$n VALUES (NULL, ?, ?, ?, ?)",
                (chunk.name_keys, chunk.entity_keys, chunk.is_alias, chunk.longest),
            )

    def _conclude(self, entity_sum: Uint64) -> None:
        entities, relations_named = self._execute(
            "SELECT count(*), ifnull(sum(bare = 3), 0) FROM entities_$n"
        ).fetchone()
        (names,) = self._execute("SELECT count(*) FROM spare_names_$n").fetchone()
        (stored,) = self._execute(
            "SELECT sums FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        sums = np.frombuffer(stored, dtype=np.uint64)
        (statements,) = self._execute("SELECT count(*) FROM statements_$n").fetchone()
        (entity_valued,) = self._execute(
            "SELECT count(*) FROM statements_$n WHERE tail IS NOT NULL"
        ).fetchone()
        (relations,) = self._execute("SELECT count(*) FROM relations_$n").fetchone()
        counts = [
            entities - relations_named,
            statements,
            relations,
            statements - entity_valued,
            names,
        ]
        self._execute(
            """UPDATE editions SET state = 'finished', counts = ?, edges = ?, content = ?
                WHERE number = ?""",
            (
                orjson.dumps(counts).decode(),
                fingerprint(sums[:2], statements),
                fingerprint(sums[2:] + entity_sum, statements + entities),
                self._number,
            ),
        )
