"""Whether what the SQLite file holds beside its statements is what follows from them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from graph_service.model.hashing import keyed_hashes
from graph_service.model.identity import key64
from graph_service.store.decoding import decoding
from graph_service.store.hashes import Uint64
from graph_service.store.protocol import Inspected
from graph_service.store.sqlite.database import Database, mapping_errors
from graph_service.store.sqlite.names import EntityRow, names_of_rows
from graph_service.store.sqlite.rows import sums_of_rows
from graph_service.store.sqlite.schema import (
    COPIED_TABLES,
    HAS_HUBS,
    HUB_STATEMENTS,
    SELECT_HUBS,
    of_edition,
)

_ROWS = 10_000
_MOST_FAULTS = 3
_SECRET = blake2b(b"inspection", digest_size=16).digest()
_RAW_STATEMENTS = """SELECT s.row, s.key, s.id, h.id, r.id, s.tail, t.id, s.value, s.rank,
    s.qualifiers, s.sources, s.context FROM statements_$n s
    LEFT JOIN entities_$n h ON h.key = s.head LEFT JOIN relations_$n r ON r.number = s.relation
    LEFT JOIN entities_$n t ON t.key = s.tail WHERE s.row > ? ORDER BY s.row LIMIT ?"""


def inspect_file(database: Database, /) -> Iterator[Inspected]:
    """Checks the structure of the file, its indexes against its tables, and loads under way."""
    with mapping_errors(database.path), closing(database.open_connection()) as connection:
        query = f"PRAGMA integrity_check({_MOST_FAULTS})"
        report = [str(row[0]) for row in connection.execute(query).fetchall()]
        yield Inspected("file", "" if report == ["ok"] else "; ".join(report))
        # One state of the file: loads under way go on, and may end, while they are checked.
        connection.execute("BEGIN")
        loads = connection.execute(
            """SELECT graph, number, sums, appended, checkpoint, copied_table, base FROM editions
                WHERE state IN ('loading', 'finished') ORDER BY number"""
        ).fetchall()
        for graph, edition_number, sums, appended, checkpoint, copied, base in loads:
            part = f"journal of the load {graph}@{edition_number}"
            if base is not None and copied < len(COPIED_TABLES):
                # The sums count all of the base, and only a part of it is copied.
                yield Inspected(part)
                continue
            with decoding(part):
                if checkpoint:
                    orjson.loads(checkpoint)
                total, _ = _sums(connection, edition_number)
                stored = np.frombuffer(sums, dtype=np.uint64)
            fault = "" if np.array_equal(total, stored) else "its statements are not those written"
            yield Inspected(part, fault if fault or appended >= 0 else "its count is negative")


def inspect_edition(database: Database, number: int, /) -> Iterator[Inspected]:
    """Checks an edition's keys, degrees and name index, and what names its entities elsewhere."""
    with mapping_errors(database.path), closing(database.open_connection()) as connection:
        with decoding("the keys"):
            wrong = _wrong_keys(connection, number)
        yield Inspected("keys", f"{wrong:,} ids have another key than theirs" if wrong else "")
        wrong = _wrong_hubs(connection, number)
        yield Inspected("degrees", f"{wrong:,} entities have another number" if wrong else "")
        with decoding("the name index"):
            expected = _names_of_entities(connection, number)
            stored = _names_stored(connection, number)
        for part, made in expected.items():
            yield Inspected(part, "" if stored[part] == made else "it is not that of the entities")


def _sums(connection: sqlite3.Connection, number: int) -> tuple[Uint64, int]:
    """Returns the sum of the hashes of all rows of an edition, duplicates included."""
    total, last, count = np.zeros(4, dtype=np.uint64), 0, 0
    query = of_edition(_RAW_STATEMENTS, number)
    while rows := connection.execute(query, (last, _ROWS)).fetchall():
        total = total + sums_of_rows(row[2:] for row in rows)
        last, count = rows[-1][0], count + len(rows)
    return total, count


def _wrong_keys(connection: sqlite3.Connection, number: int) -> int:
    wrong = 0
    for table, order in (("statements", "row"), ("entities", "row"), ("relations", "number")):
        last = -1
        query = of_edition(
            f"SELECT {order}, key, id FROM {table}_$n WHERE {order} > ? ORDER BY {order} LIMIT ?",  # noqa: S608
            number,
        )
        while rows := connection.execute(query, (last, _ROWS)).fetchall():
            wrong += sum(key64(id_) != key for _, key, id_ in rows)
            last = rows[-1][0]
    return wrong


def _wrong_hubs(connection: sqlite3.Connection, number: int) -> int:
    if not connection.execute(of_edition(HAS_HUBS, number)).fetchone()[0]:
        return 0
    stored = "SELECT key, degree FROM hubs_$n"
    query = f"""SELECT count(DISTINCT key) FROM (
        SELECT * FROM (SELECT * FROM ({SELECT_HUBS}) EXCEPT {stored})
        UNION ALL SELECT * FROM ({stored} EXCEPT SELECT * FROM ({SELECT_HUBS})))"""  # noqa: S608
    (wrong,) = connection.execute(of_edition(query, number), (HUB_STATEMENTS,)).fetchone()
    return int(wrong)


class _Sum:
    """An order-free sum of rows of whole numbers, and how many there were."""

    def __init__(self) -> None:
        self.total, self.count = np.uint64(0), 0

    def add(self, *columns: Sequence[int] | npt.NDArray[Any]) -> None:
        """Adds rows, given as columns of 64-bit numbers."""
        mixed = np.zeros(len(columns[0]), dtype=np.uint64)
        for column in columns:
            words = np.asarray(column, dtype=np.int64).view(np.uint64)
            mixed = keyed_hashes(mixed + words, _SECRET)
        with np.errstate(over="ignore"):
            self.total += mixed.sum(dtype=np.uint64)
        self.count += len(mixed)

    def result(self) -> tuple[int, int]:
        """Returns what two sums of the same rows share."""
        return int(self.total), self.count


def _names_of_entities(connection: sqlite3.Connection, number: int) -> dict[str, tuple[int, int]]:
    tokens, names, same = _Sum(), _Sum(), _Sum()
    query = of_edition(
        """SELECT key, id, kind, redirect, revision, terms, bare FROM entities_$n
            WHERE row > ? ORDER BY row LIMIT ?""",
        number,
    )
    last = 0
    while True:
        rows: list[EntityRow] = connection.execute(query, (last, _ROWS)).fetchall()
        if not rows:
            break
        chunk = names_of_rows(rows)
        pairs = [(key, key64(token)) for key, text in chunk.texts for token in text.split(" ")]
        tokens.add([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        names.add(
            np.frombuffer(chunk.name_keys, dtype=np.int64),
            np.frombuffer(chunk.entity_keys, dtype=np.int64),
            np.frombuffer(chunk.is_alias, dtype=np.uint8),
        )
        pairs = sorted(set(chunk.same_as))
        same.add([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        (last,) = connection.execute(
            of_edition("SELECT row FROM entities_$n WHERE key = ?", number), (rows[-1][0],)
        ).fetchone()
    return {
        "name index": tokens.result(),
        "names for linking": names.result(),
        "same entities": same.result(),
    }


def _names_stored(connection: sqlite3.Connection, number: int) -> dict[str, tuple[int, int]]:
    tokens, names, same = _Sum(), _Sum(), _Sum()
    connection.execute("DROP TABLE IF EXISTS temp.inspected_names")
    connection.execute(
        of_edition(
            """CREATE VIRTUAL TABLE temp.inspected_names
                USING fts5vocab('main', 'names_$n', 'instance')""",
            number,
        )
    )
    cursor = connection.execute("SELECT doc, term FROM temp.inspected_names")
    token_keys: dict[str, int] = {}
    while rows := cursor.fetchmany(_ROWS):
        if len(token_keys) > _ROWS * 10:
            token_keys.clear()
        for _, term in rows:
            if term not in token_keys:
                token_keys[term] = key64(term)
        tokens.add([doc for doc, _ in rows], [token_keys[term] for _, term in rows])
    for name_keys, entity_keys, is_alias in connection.execute(
        of_edition("SELECT name_keys, entity_keys, is_alias FROM name_keys_$n", number)
    ):
        names.add(
            np.frombuffer(name_keys, dtype=np.int64),
            np.frombuffer(entity_keys, dtype=np.int64),
            np.frombuffer(is_alias, dtype=np.uint8),
        )
    cursor = connection.execute(of_edition("SELECT key, entity FROM same_as_$n", number))
    while rows := cursor.fetchmany(_ROWS):
        same.add([row[0] for row in rows], [row[1] for row in rows])
    return {
        "name index": tokens.result(),
        "names for linking": names.result(),
        "same entities": same.result(),
    }
