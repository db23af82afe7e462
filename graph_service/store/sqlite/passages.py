"""Passages in the SQLite file: a set is a table and its full-text index, dropped as a whole."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph_service import __version__
from graph_service.model.limits import Deadline
from graph_service.model.passage import Passage
from graph_service.sqlite_file import transaction
from graph_service.store.names import now_text, unknown_graph
from graph_service.store.passage_sets import (
    HeldSet,
    require_free,
    set_of_row,
    taken_over,
    totals_of,
)
from graph_service.store.passages import (
    PassageAddress,
    PassageMatch,
    PassageSet,
    WordMatches,
    check_passages,
    find_matches,
    passage_collision,
    passage_words,
)
from graph_service.store.sqlite.database import Database
from graph_service.store.sqlite.schema import (
    PASSAGE_DROPS,
    PASSAGE_INDEX,
    PASSAGE_TABLE,
    of_edition,
)

_SCAN_ROWS = 2_000
_SET_COLUMNS = """number, graph, source, state = 'published', passages, words, linked, fingerprint,
    options, report, owner, started_at, published_at"""


class SqlitePassages:
    """The passages of one file; see ``Passages``."""

    def __init__(self, database: Database, /) -> None:
        self._database = database

    def begin(
        self,
        graph: str,
        /,
        *,
        source: str,
        options: Mapping[str, Any],
        owner: str,
        lease_s: float = 60.0,
    ) -> SqlitePassageSession:
        """Begins a set, or goes on with one; see ``Passages.begin``."""
        token = secrets.token_hex(16)
        encoded = orjson.dumps(dict(options), option=orjson.OPT_SORT_KEYS).decode()
        with self._database.writing() as connection:
            known = [name for (name,) in connection.execute("SELECT name FROM graphs").fetchall()]
            if graph not in known:
                raise unknown_graph(graph, known)
            number = _unfinished(connection, graph, source, encoded, owner)
            if number is None:
                cursor = connection.execute(
                    """INSERT INTO passage_sets (graph, source, state, options, owner, token,
                        lease_expires, started_at, tool_version)
                        VALUES (?, ?, 'loading', ?, ?, ?, 0, ?, ?)""",
                    (graph, source, encoded, owner, token, now_text(), __version__),
                )
                number = int(cursor.lastrowid or 0)
                connection.execute(of_edition(PASSAGE_TABLE, number))
            connection.execute(
                "UPDATE passage_sets SET owner = ?, token = ?, lease_expires = ? WHERE number = ?",
                (owner, token, time.time() + lease_s, number),
            )
            (checkpoint,) = connection.execute(
                "SELECT checkpoint FROM passage_sets WHERE number = ?", (number,)
            ).fetchone()
        self.drop_marked()
        return SqlitePassageSession(
            self._database,
            self,
            _Lease(number, token, lease_s),
            checkpoint,
        )

    def sets(self, *, graph: str | None = None) -> list[PassageSet]:
        """Returns the sets; see ``Passages.sets``."""
        with self._database.reading() as connection:
            if not _has_tables(connection):
                return []
            rows = connection.execute(
                f"""SELECT {_SET_COLUMNS} FROM passage_sets
                    WHERE state <> 'dropping' AND (? IS NULL OR graph = ?) ORDER BY number""",  # noqa: S608
                (graph, graph),
            ).fetchall()
        return [set_of_row(row) for row in rows]

    def scan(self, number: int, /) -> Iterator[list[Passage]]:
        """Yields the passages of a set; see ``Passages.scan``."""
        template = """SELECT key, id, title, source, text, entity FROM passages_$n
            WHERE key >= ? ORDER BY key LIMIT ?"""
        start = -(2**63)
        while True:
            with self._database.reading() as connection:
                rows = connection.execute(
                    of_edition(template, number), (start, _SCAN_ROWS)
                ).fetchall()
            if rows:
                yield [Passage(*row[1:]) for row in rows]
            if len(rows) < _SCAN_ROWS or rows[-1][0] == 2**63 - 1:
                return
            start = rows[-1][0] + 1

    def match(
        self, sets: Sequence[PassageSet], terms: Sequence[str], /, *, deadline: Deadline
    ) -> WordMatches:
        """Returns the passages that hold words of a query; see ``Passages.match``."""
        numbers = [passage_set.number for passage_set in sets]
        with self._database.reading(deadline) as connection:

            def count(term: str) -> int:
                template = "SELECT count(*) FROM passage_words_$n WHERE passage_words_$n MATCH ?"
                return sum(
                    connection.execute(of_edition(template, set_id), (f'"{term}"',)).fetchone()[0]
                    for set_id in numbers
                )

            def find(chosen: Sequence[str], limit: int) -> list[PassageMatch]:
                any_term = " OR ".join(f'"{term}"' for term in chosen)
                # The keys alone first: an order by key over the index needs no text.
                template = """SELECT key, words FROM passages_$n WHERE key IN (SELECT rowid
                    FROM passage_words_$n WHERE passage_words_$n MATCH ? ORDER BY rowid LIMIT ?)"""
                matches = [
                    PassageMatch(PassageAddress(set_id, key), words)
                    for set_id in numbers
                    for key, words in connection.execute(
                        of_edition(template, set_id), (any_term, limit)
                    ).fetchall()
                ]
                matches.sort(key=lambda match: (match.address.key, match.address.number))
                return matches[:limit]

            return find_matches(sets, terms, count=count, find=find)

    def read(self, addresses: Sequence[PassageAddress], /) -> dict[PassageAddress, Passage]:
        """Returns passages by their address; see ``Passages.read``."""
        passages: dict[PassageAddress, Passage] = {}
        template = """SELECT key, id, title, source, text, entity FROM passages_$n
            WHERE key IN (SELECT value FROM json_each(?))"""
        with self._database.reading() as connection:
            for set_id in dict.fromkeys(address.number for address in addresses):
                keys = [address.key for address in addresses if address.number == set_id]
                rows = connection.execute(
                    of_edition(template, set_id), (orjson.dumps(keys).decode(),)
                ).fetchall()
                passages.update((PassageAddress(set_id, row[0]), Passage(*row[1:])) for row in rows)
        return passages

    def delete(self, graph: str, /, *, source: str | None = None) -> int:
        """Deletes the sets of a graph, or of one source of it; see ``Passages.delete``."""
        with self._database.writing() as connection:
            rows = connection.execute(
                """SELECT number, passages, owner, source, lease_expires FROM passage_sets
                    WHERE graph = ? AND (? IS NULL OR source = ?) AND state <> 'dropping'""",
                (graph, source, source),
            ).fetchall()
            for _, _, owner, held, expires in rows:
                require_free(owner, held, expires - time.time(), "")
            connection.executemany(
                "UPDATE passage_sets SET state = 'dropping', token = NULL WHERE number = ?",
                [row[:1] for row in rows],
            )
        self.drop_marked()
        return sum(row[1] for row in rows)

    def drop_marked(self) -> None:
        """Drops the tables of the sets marked for it, a set a transaction."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT number FROM passage_sets WHERE state = 'dropping'"
            ).fetchall()
            for (set_id,) in rows:
                with transaction(connection):
                    for template in PASSAGE_DROPS:
                        connection.execute(of_edition(template, set_id))
                    connection.execute("DELETE FROM passage_sets WHERE number = ?", (set_id,))


@dataclass(frozen=True, slots=True)
class _Lease:
    number: int
    token: str
    seconds: float


class SqlitePassageSession(HeldSet):
    """One load of passages; ``SqlitePassages.begin`` makes it. See ``PassageSession``."""

    def __init__(
        self,
        database: Database,
        passages: SqlitePassages,
        lease: _Lease,
        checkpoint: str | None,
    ) -> None:
        super().__init__(lease.number, checkpoint)
        self._database = database
        self._passages = passages
        self._lease = lease

    def write(self, passages: Sequence[Passage], /, *, checkpoint: Mapping[str, Any]) -> None:
        """Writes passages in one transaction; see ``PassageSession.write``."""
        batch = check_passages(passages)
        number = self._lease.number
        rows = []
        for key, item in batch.items():
            words = passage_words(item)
            rows.append(
                (
                    key,
                    item.id,
                    item.title,
                    item.source,
                    item.text,
                    item.entity,
                    " ".join(words),
                    len(words),
                )
            )
        encoded = orjson.dumps(dict(checkpoint)).decode()
        with self._database.writing(durable=False) as connection:
            self._renew(connection)
            clash = connection.execute(
                of_edition(
                    """SELECT p.id, json_extract(j.value, '$[1]') AS new FROM json_each(?) j
                        JOIN passages_$n p ON p.key = json_extract(j.value, '$[0]')
                        WHERE p.id <> new LIMIT 1""",
                    number,
                ),
                (orjson.dumps([row[:2] for row in rows]).decode(),),
            ).fetchone()
            if clash is not None:
                raise passage_collision(clash[0], clash[1])
            connection.executemany(
                of_edition(
                    "INSERT OR IGNORE INTO passages_$n VALUES (?, ?, ?, ?, ?, ?, ?, ?)", number
                ),
                rows,
            )
            connection.execute(
                "UPDATE passage_sets SET checkpoint = ? WHERE number = ?", (encoded, number)
            )
        self._checkpoint = orjson.loads(encoded)

    def publish(self, *, report: Mapping[str, Any] | None = None) -> PassageSet:
        """Makes the set visible; see ``PassageSession.publish``."""
        number = self._lease.number
        with self._database.writing(durable=False) as connection:
            self._renew(connection)
            connection.execute(of_edition("DROP TABLE IF EXISTS passage_words_$n", number))
            connection.execute(of_edition(PASSAGE_INDEX, number))
            connection.execute(
                of_edition(
                    "INSERT INTO passage_words_$n (passage_words_$n) VALUES ('rebuild')", number
                )
            )
        totals = totals_of(self._passages.scan(number))
        with self._database.writing() as connection:
            self._renew(connection)
            (words,) = connection.execute(
                of_edition("SELECT ifnull(sum(length), 0) FROM passages_$n", number)
            ).fetchone()
            connection.execute(
                """UPDATE passage_sets SET state = 'dropping' WHERE state = 'published'
                    AND (graph, source) = (SELECT graph, source FROM passage_sets
                        WHERE number = ?)""",
                (number,),
            )
            connection.execute(
                """UPDATE passage_sets SET state = 'published', published_at = ?, token = NULL,
                    lease_expires = 0, passages = ?, words = ?, linked = ?, fingerprint = ?,
                    report = ?, checkpoint = NULL WHERE number = ?""",
                (
                    now_text(),
                    totals.passages,
                    words,
                    totals.linked,
                    totals.fingerprint,
                    orjson.dumps(dict(report or {})).decode(),
                    number,
                ),
            )
            row = connection.execute(
                f"SELECT {_SET_COLUMNS} FROM passage_sets WHERE number = ?",  # noqa: S608
                (number,),
            ).fetchone()
        self._ended = True
        self._passages.drop_marked()
        return set_of_row(row)

    def abort(self) -> None:
        """Marks the unfinished set as deleted, then drops its tables."""
        with self._database.writing() as connection:
            self._renew(connection)
            connection.execute(
                "UPDATE passage_sets SET state = 'dropping', token = NULL WHERE number = ?",
                (self._lease.number,),
            )
        self._ended = True
        self._passages.drop_marked()

    def _give_back(self) -> None:
        with self._database.writing(durable=False) as connection:
            connection.execute(
                """UPDATE passage_sets SET token = NULL, lease_expires = 0
                    WHERE number = ? AND token = ?""",
                (self._lease.number, self._lease.token),
            )

    def _renew(self, connection: sqlite3.Connection) -> None:
        self._require_open()
        changed = connection.execute(
            """UPDATE passage_sets SET lease_expires = ? WHERE number = ? AND token = ?
                AND state = 'loading'""",
            (time.time() + self._lease.seconds, self._lease.number, self._lease.token),
        ).rowcount
        if changed != 1:
            raise taken_over()


def _unfinished(
    connection: sqlite3.Connection, graph: str, source: str, options: str, owner: str
) -> int | None:
    """Returns the set to go on with; one of other options is marked to be dropped."""
    row = connection.execute(
        """SELECT number, options, owner, lease_expires FROM passage_sets
            WHERE graph = ? AND source = ? AND state = 'loading'""",
        (graph, source),
    ).fetchone()
    if row is None:
        return None
    require_free(row[2], source, row[3] - time.time(), owner)
    if row[1] == options:
        return int(row[0])
    connection.execute(
        "UPDATE passage_sets SET state = 'dropping', token = NULL WHERE number = ?", row[:1]
    )
    return None


def _has_tables(connection: sqlite3.Connection) -> bool:
    """A file of an older schema that is opened to be read has none."""
    row = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'passage_sets'").fetchone()
    return row is not None
