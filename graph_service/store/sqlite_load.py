"""A load into the SQLite file: append while it runs, resolve and index once at the end.

Statements are appended blindly, because an index on a random key is what makes loads slow.
``finish`` then finds the rows that a later row of the same id replaces. Both fingerprints are
wrapping sums, so what each batch adds is summed while its values are at hand, and what ``finish``
deletes is subtracted: no second pass over all statements.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import orjson

from graph_service.errors import (
    InputError,
    KeyCollisionError,
    LoadInProgressError,
    StoreError,
)
from graph_service.model.graph import RANK_CODES, RANKS
from graph_service.model.identity import (
    MAX_ID_BYTES,
    Fingerprints,
    check_text,
    fingerprint,
    key64,
    sum_hashes,
)
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Statement,
    decode_entity,
    encode_references,
    encode_snaks,
    encode_terms,
    entity_content_hash,
)
from graph_service.model.values import EntityValue, encode_value
from graph_service.store.protocol import Batch, GraphCounts, GraphInfo, LoadCounts
from graph_service.store.search import index_text
from graph_service.store.sqlite_database import (
    LOADER_CACHE_KIB,
    Database,
    durably,
    mapped_error,
    mapping_errors,
    transaction,
)
from graph_service.store.sqlite_schema import (
    COPIED_TABLES,
    DROPS,
    EDITION_TABLES,
    HEAD_INDEX,
    KEY_INDEX,
    NAMES_TABLE,
    TAIL_INDEX,
    of_edition,
)
from graph_service.store.terms import is_outdated, merge_terms

Uint64 = npt.NDArray[np.uint64]

COPY_ROWS = 200_000
NAME_ROWS = 20_000
KNOWN_IDS = 500_000
KINDS = (EntityKind.ITEM, EntityKind.PROPERTY)
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}

_RANK_BYTES = {rank: rank.value.encode() for rank in RANKS}
_NOTHING = (0).to_bytes(8, "little")
_NO_SNAKS = (2).to_bytes(8, "little") + b"[]"

_INSERT_STATEMENT = """INSERT INTO statements_$n
    (key, id, head, relation, tail, value, rank, qualifiers, sources, context)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# The same key under another id breaks NOT NULL: a collision costs no look-up of its own.
_INSERT_BARE = """INSERT INTO entities_$n (key, id, kind, bare, terms) VALUES (?, ?, 0, 1, '{}')
    ON CONFLICT (key) DO UPDATE SET key = NULL WHERE id <> excluded.id"""
_INSERT_ENTITY = """INSERT INTO entities_$n (key, id, kind, bare, redirect, revision, terms)
    VALUES (?, ?, ?, 0, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET key = iif(id = excluded.id, key, NULL), kind = excluded.kind,
        bare = 0, redirect = excluded.redirect, revision = excluded.revision,
        terms = excluded.terms"""
_SELECT_ENTITIES = """SELECT key, id, kind, redirect, revision, terms, bare FROM entities_$n
    WHERE key IN (SELECT value FROM json_each(?))"""
_ROW_OF_HASH = """SELECT s.id, h.id, r.id, s.tail, t.id, s.value, s.rank, s.qualifiers, s.sources,
    s.context FROM statements_$n s JOIN entities_$n h ON h.key = s.head
    JOIN relations_$n r ON r.number = s.relation LEFT JOIN entities_$n t ON t.key = s.tail
    WHERE s.row IN (SELECT row FROM temp.gone WHERE row > ? ORDER BY row LIMIT 10000)"""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a load, under which token, for how long at a time."""

    owner: str
    token: str
    seconds: float

    def until(self) -> float:
        """Returns the moment the lease ends if renewed now, seconds since 1970."""
        return time.time() + self.seconds


def now_text() -> str:
    """Returns the time in ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def entity_of_row(
    id_: str, kind: int, redirect: str | None, revision: int | None, terms: str, /
) -> Entity:
    """Returns the entity of its columns."""
    entity = decode_entity(id_, KINDS[kind].value, redirect, terms)
    return entity if revision is None else replace(entity, revision=revision)


def encode_entity_value(id_: str, /) -> str:
    """Returns ``encode_value(EntityValue(id_))``."""
    return orjson.dumps(("e", id_)).decode()


def create_edition(connection: sqlite3.Connection, number: int, /) -> None:
    """Makes the tables of an edition."""
    for template in EDITION_TABLES:
        connection.execute(of_edition(template, number))


def drop_editions(connection: sqlite3.Connection, /) -> None:
    """Drops the tables of all editions marked for it, one table a transaction."""
    numbers = connection.execute("SELECT number FROM editions WHERE state = 'dropping'").fetchall()
    for (number,) in numbers:
        for template in DROPS:
            with transaction(connection):
                connection.execute(of_edition(template, number))
        with transaction(connection):
            connection.execute("DELETE FROM editions WHERE number = ?", (number,))


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
        self._known: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._connection = database.open_connection(cache_kib=LOADER_CACHE_KIB)
        try:
            with mapping_errors(database.path):
                self._connection.execute("PRAGMA wal_autocheckpoint = 4000")
                self._connection.execute("PRAGMA threads = 2")
                self._copy_base()
                row = self._connection.execute(
                    "SELECT sequence, checkpoint, sums FROM editions WHERE number = ?", (number,)
                ).fetchone()
        except BaseException:
            self._connection.close()
            raise
        self._sequence: int = row[0]
        self._checkpoint: Mapping[str, Any] | None = orjson.loads(row[1]) if row[1] else None
        self._sums: Uint64 = np.frombuffer(row[2], dtype=np.uint64).copy()

    @property
    def edition(self) -> str:
        """The edition being written."""
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
            prepared = _Prepared(self, batch)
            encoded = None if checkpoint is None else orjson.dumps(dict(checkpoint)).decode()
            with mapping_errors(self._database.path):
                self._commit(prepared, batch, encoded)
            prepared.remember()
            self._sequence += 1
            self._checkpoint = None if encoded is None else orjson.loads(encoded)

    def finish(self, *, report: Mapping[str, Any] | None = None) -> LoadCounts:
        """Resolves, indexes, counts; see ``LoadSession.finish``. Doing it again is harmless."""
        with self._lock, mapping_errors(self._database.path):
            self._require_open()
            if self._state() != "finished":
                _Finish(self._connection, self._number, self._renew).run()
            if report is not None:
                with transaction(self._connection):
                    self._connection.execute(
                        "UPDATE editions SET report = ? WHERE number = ?",
                        (orjson.dumps(dict(report)).decode(), self._number),
                    )
            return self._counts()

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
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

    def _commit(self, prepared: _Prepared, batch: Batch, checkpoint: str | None) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._advance(checkpoint)
            appended, outdated, sums = prepared.write(connection)
            connection.execute(
                """UPDATE editions SET sums = ?, appended = appended + ?, outdated = outdated + ?
                    WHERE number = ?""",
                (sums.tobytes(), appended, outdated, self._number),
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
            if not self._committed_in_doubt():
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
        self._in_doubt = None
        return bool(row and row[0] == self._sequence + 1 and row[1] == self._lease.token)

    def _settle_doubt(self, batch: Batch) -> bool:
        """Returns whether this batch went in at an attempt whose outcome could not be read."""
        doubtful = self._in_doubt
        with mapping_errors(self._database.path):
            if not self._committed_in_doubt():
                return False
            row = self._connection.execute(
                "SELECT sums, checkpoint FROM editions WHERE number = ?", (self._number,)
            ).fetchone()
        self._sums = np.frombuffer(row[0], dtype=np.uint64).copy()
        self._sequence += 1
        self._checkpoint = orjson.loads(row[1]) if row[1] else None
        return batch == doubtful

    def _counts(self) -> LoadCounts:
        appended, updated, duplicates, removed, outdated = self._connection.execute(
            """SELECT appended, updated, duplicates, removed, outdated FROM editions
                WHERE number = ?""",
            (self._number,),
        ).fetchone()
        return LoadCounts(appended - updated - duplicates, updated, duplicates, removed, outdated)

    def _copy_base(self) -> None:
        """Copies what the base edition has, in transactions of a bounded size; goes on where a
        killed process stopped.
        """
        connection = self._connection
        base, table, last = connection.execute(
            "SELECT base, copied_table, copied_row FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        if base is None:
            return
        for place in range(table, len(COPIED_TABLES)):
            count, copy = COPIED_TABLES[place]
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
                    (place + 1, self._number),
                )
            last = 0


class _Prepared:
    """One batch on its way into the tables; nothing is kept of it unless it is committed."""

    def __init__(self, session: SqliteLoadSession, batch: Batch) -> None:
        self._session = session
        self._batch = batch
        self._number = session._number
        self._keys: dict[str, int] = {}
        self._mentioned: dict[str, int] = {}
        self._relations: dict[str, int] = {}

    def remember(self) -> None:
        """Keeps the ids that are in now, so that later batches do not write them again."""
        session = self._session
        if len(session._known) + len(self._mentioned) > KNOWN_IDS:
            session._known.clear()
        session._known.update(self._mentioned)
        session._relations.update(self._relations)

    def write(self, connection: sqlite3.Connection) -> tuple[int, int, Uint64]:
        """Returns the rows appended, the statements outdated, and the new sums."""
        left_out = self._write_entities(connection)
        statements: Sequence[Statement] = self._batch.statements
        outdated = 0
        if left_out:
            statements = [item for item in statements if item.head not in left_out]
            outdated = len(self._batch.statements) - len(statements)
        accepted = self._batch.documents - left_out
        if accepted:
            (row,) = connection.execute(
                of_edition("SELECT ifnull(max(row), 0) FROM statements_$n", self._number)
            ).fetchone()
            for id_ in accepted:
                check_text(id_, what="a document's id")
            connection.executemany(
                of_edition("INSERT OR REPLACE INTO documents_$n VALUES (?, ?)", self._number),
                [(key64(id_), row + 1) for id_ in sorted(accepted)],
            )
        rows, hashes = self._statement_rows(connection, statements)
        try:
            connection.executemany(
                of_edition(_INSERT_BARE, self._number),
                [(key, id_) for id_, key in self._mentioned.items()],
            )
        except sqlite3.IntegrityError as error:
            raise self._collision(connection, self._mentioned) from error
        connection.executemany(of_edition(_INSERT_STATEMENT, self._number), rows)
        sums = self._session._sums + _sums(*hashes)
        return len(rows), outdated, sums

    def _statement_rows(
        self, connection: sqlite3.Connection, statements: Iterable[Statement]
    ) -> tuple[list[tuple[object, ...]], tuple[bytes, bytes]]:
        known, mentioned = self._session._known, self._mentioned
        rows: list[tuple[object, ...]] = []
        edge_hashes: list[bytes] = []
        content_hashes: list[bytes] = []
        for item in statements:
            id_, head, relation, value, context = (
                item.id,
                item.head,
                item.relation,
                item.value,
                item.context,
            )
            tail: int | None = None
            try:
                encoded = encode_value(value)
                qualifiers = encode_snaks(item.qualifiers) if item.qualifiers else None
                sources = encode_references(item.references) if item.references else None
                edge, content = statement_hashes(
                    id_,
                    head,
                    relation,
                    encoded,
                    _RANK_BYTES[item.rank],
                    qualifiers,
                    sources,
                    context,
                )
            except (UnicodeEncodeError, TypeError) as error:
                raise _unfit(item, error) from error
            if (
                "\x00" in id_
                or "\x00" in head
                or "\x00" in relation
                or (context is not None and "\x00" in context)
                or "\\u0000" in encoded
                or (qualifiers is not None and "\\u0000" in qualifiers)
                or (sources is not None and "\\u0000" in sources)
            ):
                _refuse_nul(item)
            edge_hashes.append(edge)
            content_hashes.append(content)
            head_key = known.get(head)
            if head_key is None:
                head_key = mentioned.get(head)
                if head_key is None:
                    head_key = mentioned[head] = _key_of(head)
            if type(value) is EntityValue:
                other = value.id
                tail = known.get(other)
                if tail is None:
                    tail = mentioned.get(other)
                    if tail is None:
                        tail = mentioned[other] = _key_of(other)
            rows.append(
                (
                    _key_of(id_),
                    id_,
                    head_key,
                    self._relation(connection, relation),
                    tail,
                    encoded if tail is None else None,
                    RANK_CODES[item.rank],
                    qualifiers,
                    sources,
                    context,
                )
            )
        return rows, (b"".join(edge_hashes), b"".join(content_hashes))

    def _relation(self, connection: sqlite3.Connection, id_: str) -> int:
        found = self._session._relations.get(id_) or self._relations.get(id_)
        if found is not None:
            return found
        key = _key_of(id_)
        row = connection.execute(
            of_edition("SELECT number, id FROM relations_$n WHERE key = ?", self._number), (key,)
        ).fetchone()
        if row is None:
            cursor = connection.execute(
                of_edition("INSERT INTO relations_$n (key, id) VALUES (?, ?)", self._number),
                (key, id_),
            )
            number = int(cursor.lastrowid or 0)
        else:
            number = int(row[0])
            if row[1] != id_:
                raise collision(id_, row[1])
        self._relations[id_] = number
        return number

    def _write_entities(self, connection: sqlite3.Connection) -> set[str]:
        """Writes the entities; returns the ids whose document is older than what is there."""
        batch = self._batch
        if not batch.entities:
            return set()
        stored: dict[str, Entity] = {}
        keys = {entity.id: _checked_key(entity) for entity in batch.entities}
        found = connection.execute(
            of_edition(_SELECT_ENTITIES, self._number),
            (orjson.dumps(list(keys.values())).decode(),),
        )
        for _, id_, kind, redirect, revision, terms, bare in found.fetchall():
            if not bare:
                stored[id_] = entity_of_row(id_, kind, redirect, revision, terms)
        left_out: set[str] = set()
        changed: dict[str, Entity] = {}
        for entity in batch.entities:
            before = stored.get(entity.id)
            if batch.terms_only:
                after = merge_terms(before, entity)
            elif before is not None and is_outdated(before, entity):
                left_out.add(entity.id)
                continue
            else:
                left_out.discard(entity.id)
                after = entity
            stored[entity.id] = changed[entity.id] = after
        rows = [
            (
                keys[id_],
                id_,
                KIND_CODES[entity.kind],
                entity.redirect,
                entity.revision,
                _encode_terms(entity),
            )
            for id_, entity in changed.items()
        ]
        try:
            connection.executemany(of_edition(_INSERT_ENTITY, self._number), rows)
        except sqlite3.IntegrityError as error:
            raise self._collision(connection, keys) from error
        return left_out & batch.documents

    def _collision(self, connection: sqlite3.Connection, keys: Mapping[str, int]) -> StoreError:
        ids: dict[int, str] = {}
        for id_, key in keys.items():
            if ids.setdefault(key, id_) != id_:
                return collision(id_, ids[key])
        found = connection.execute(
            of_edition(_SELECT_ENTITIES, self._number), (orjson.dumps(list(ids)).decode(),)
        )
        for key, id_, *_ in found.fetchall():
            if ids[key] != id_:
                return collision(ids[key], id_)
        return StoreError("a row of this batch breaks a rule of the store's tables")


def collision(new: str, stored: str, /) -> KeyCollisionError:
    """Returns the error for two ids of one key."""
    return KeyCollisionError(
        f"the ids {new[:200]!r} and {stored[:200]!r} have the same 64-bit key",
        hint="Leave one of them out; nothing of this batch is in.",
    )


def statement_hashes(
    id_: str,
    head: str,
    relation: str,
    value: str,
    rank: bytes,
    qualifiers: str | None,
    sources: str | None,
    context: str | None,
    /,
) -> tuple[bytes, bytes]:
    """Returns ``statement_edge_hash`` and ``statement_content_hash`` from encoded parts.

    The same bytes as the model's, hashed in one piece: a load spends most of its time here.
    """
    parts = []
    for part in (id_.encode(), head.encode(), relation.encode(), value.encode(), rank):
        parts.append(len(part).to_bytes(8, "little"))
        parts.append(part)
    message = b"".join(parts)
    edge = blake2b(message, digest_size=16, person=b"edge").digest()
    rest = [message]
    for text in (qualifiers, sources):
        if text is None:
            rest.append(_NO_SNAKS)
        else:
            data = text.encode()
            rest.append(len(data).to_bytes(8, "little"))
            rest.append(data)
    if context:
        data = context.encode()
        rest.append(len(data).to_bytes(8, "little"))
        rest.append(data)
    else:
        rest.append(_NOTHING)
    return edge, blake2b(b"".join(rest), digest_size=16, person=b"content").digest()


def _sums(edges: bytes, contents: bytes) -> Uint64:
    total: Uint64 = np.concatenate((sum_hashes(edges), sum_hashes(contents)))
    return total


def _key_of(id_: str) -> int:
    if len(id_) * 4 > MAX_ID_BYTES:
        check_text(id_, what="an id")
    if not id_:
        raise InputError("an id is empty")
    return key64(id_)


def _checked_key(entity: Entity) -> int:
    check_text(entity.id, what="an entity id")
    if entity.redirect is not None:
        check_text(entity.redirect, what="the target of a redirect")
    return _key_of(entity.id)


def _encode_terms(entity: Entity) -> str:
    # The revision has a column of its own, so that the stored terms are what is hashed.
    try:
        encoded = encode_terms(
            entity if entity.revision is None else replace(entity, revision=None)
        )
    except TypeError as error:
        raise InputError(f"a term of {entity.id!r} holds a lone surrogate: {error}") from error
    if "\\u0000" in encoded and _holds_nul(orjson.loads(encoded)):
        raise InputError(f"a term of {entity.id!r} holds a NUL character")
    return encoded


def _holds_nul(payload: object) -> bool:
    if isinstance(payload, str):
        # A value inside a qualifier is JSON in JSON.
        return "\x00" in payload or (
            payload.startswith("[") and "\\u0000" in payload and _holds_nul(_loads(payload))
        )
    if isinstance(payload, list):
        return any(_holds_nul(item) for item in payload)
    if isinstance(payload, dict):
        return any(_holds_nul(item) for pair in payload.items() for item in pair)
    return False


def _loads(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _refuse_nul(item: Statement) -> None:
    for text in (item.id, item.head, item.relation, item.context or ""):
        check_text(text, what=f"statement {item.id[:80]!r}")
    for encoded in (
        encode_value(item.value),
        encode_snaks(item.qualifiers),
        encode_references(item.references),
    ):
        if _holds_nul(orjson.loads(encoded)):
            raise InputError(f"a value of statement {item.id[:80]!r} holds a NUL character")


def _unfit(item: Statement, error: Exception) -> InputError:
    return InputError(f"statement {item.id[:80]!r} holds text that cannot be stored: {error}")


class _Finish:
    """The work of ``finish``: each step a transaction of its own, each harmless to repeat."""

    def __init__(self, connection: sqlite3.Connection, number: int, renew: Any) -> None:
        self._connection = connection
        self._number = number
        self._renew = renew

    def run(self) -> None:
        """Runs all steps; the last one marks the edition as finished."""
        connection = self._connection
        for index in (KEY_INDEX, HEAD_INDEX):
            with transaction(connection):
                self._renew()
                self._execute(index)
        with transaction(connection):
            self._renew()
            self._resolve()
        with transaction(connection):
            self._renew()
            self._execute(TAIL_INDEX)
        with transaction(connection):
            self._renew()
            self._execute("DROP TABLE IF EXISTS names_$n")
            self._execute(NAMES_TABLE)
            self._execute("DELETE FROM same_as_$n")
        entity_sum, entities = self._index_names()
        with transaction(connection):
            self._renew()
            self._conclude(entity_sum, entities)

    def _execute(self, template: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(of_edition(template, self._number), values)

    def _resolve(self) -> None:
        """Deletes rows that a later row replaces, then those a newer document no longer has."""
        execute = self._execute
        execute("DROP TABLE IF EXISTS temp.gone")
        execute("CREATE TEMP TABLE gone (row INTEGER PRIMARY KEY, later INTEGER)")
        execute(
            """INSERT INTO temp.gone SELECT row, later FROM (SELECT row, lead(row)
                OVER (PARTITION BY key ORDER BY row) AS later FROM statements_$n)
                WHERE later IS NOT NULL"""
        )
        clash = execute(
            """SELECT b.id, a.id FROM temp.gone g JOIN statements_$n a ON a.row = g.row
                JOIN statements_$n b ON b.row = g.later WHERE a.id <> b.id LIMIT 1"""
        ).fetchone()
        if clash is not None:
            raise collision(clash[0], clash[1])
        replaced, same = execute(
            """SELECT count(*), ifnull(sum(a.head = b.head AND a.relation = b.relation
                AND a.tail IS b.tail AND a.value IS b.value AND a.rank = b.rank
                AND a.qualifiers IS b.qualifiers AND a.sources IS b.sources
                AND a.context IS b.context), 0)
                FROM temp.gone g JOIN statements_$n a ON a.row = g.row
                JOIN statements_$n b ON b.row = g.later"""
        ).fetchone()
        removed = execute(
            """INSERT OR IGNORE INTO temp.gone SELECT s.row, NULL FROM documents_$n d
                JOIN statements_$n s ON s.head = d.key WHERE s.row < d.first_row"""
        ).rowcount
        if replaced + removed:
            self._delete_gone()
        execute("DELETE FROM documents_$n")
        execute(
            """UPDATE editions SET duplicates = duplicates + ?, updated = updated + ?,
                removed = removed + ? WHERE number = ?""",
            (same, replaced - same, removed, self._number),
        )
        execute("DROP TABLE temp.gone")

    def _delete_gone(self) -> None:
        execute = self._execute
        (stored,) = execute(
            "SELECT sums FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        sums = np.frombuffer(stored, dtype=np.uint64).copy()
        last = 0
        while True:
            rows = execute(_ROW_OF_HASH, (last,)).fetchall()
            if not rows:
                break
            edge_hashes, content_hashes = [], []
            for (
                id_,
                head,
                relation,
                tail,
                tail_id,
                value,
                rank,
                qualifiers,
                sources,
                context,
            ) in rows:
                edge, content = statement_hashes(
                    id_,
                    head,
                    relation,
                    value if tail is None else encode_entity_value(tail_id),
                    _RANK_BYTES[RANKS[rank]],
                    qualifiers,
                    sources,
                    context,
                )
                edge_hashes.append(edge)
                content_hashes.append(content)
            sums = sums - _sums(b"".join(edge_hashes), b"".join(content_hashes))
            (last,) = execute(
                """SELECT max(row) FROM
                    (SELECT row FROM temp.gone WHERE row > ? ORDER BY row LIMIT 10000)""",
                (last,),
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

    def _index_names(self) -> tuple[Uint64, int]:
        """Fills the name index and ``same_as``; returns the entities' content sum and count."""
        total = np.zeros(2, dtype=np.uint64)
        count = 0
        start = -(2**63)
        while True:
            rows = self._execute(
                """SELECT key, id, kind, redirect, revision, terms, bare FROM entities_$n
                    WHERE key >= ? ORDER BY key LIMIT ?""",
                (start, NAME_ROWS),
            ).fetchall()
            if not rows:
                return total, count
            hashes: list[bytes] = []
            names: list[tuple[int, str]] = []
            same_as: list[tuple[int, int]] = []
            for key, id_, kind, redirect, revision, terms, bare in rows:
                entity = (
                    Entity(id_) if bare else entity_of_row(id_, kind, redirect, revision, terms)
                )
                hashes.append(entity_content_hash(entity))
                text = "" if bare else index_text(entity)
                if text:
                    names.append((key, text))
                same_as.extend((key64(other), key) for other in entity.same_as)
            with transaction(self._connection):
                self._renew()
                self._connection.executemany(
                    of_edition("INSERT INTO names_$n (rowid, tokens) VALUES (?, ?)", self._number),
                    names,
                )
                self._connection.executemany(
                    of_edition("INSERT OR IGNORE INTO same_as_$n VALUES (?, ?)", self._number),
                    same_as,
                )
            total = total + sum_hashes(b"".join(hashes))
            count += len(rows)
            if rows[-1][0] == 2**63 - 1:
                return total, count
            start = rows[-1][0] + 1

    def _conclude(self, entity_sum: Uint64, entities: int) -> None:
        (stored,) = self._execute(
            "SELECT sums FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        sums = np.frombuffer(stored, dtype=np.uint64)
        (statements,) = self._execute("SELECT count(*) FROM statements_$n").fetchone()
        (entity_valued,) = self._execute(
            "SELECT count(*) FROM statements_$n WHERE tail IS NOT NULL"
        ).fetchone()
        (relations,) = self._execute("SELECT count(*) FROM relations_$n").fetchone()
        counts = [entities, statements, relations, statements - entity_valued]
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
