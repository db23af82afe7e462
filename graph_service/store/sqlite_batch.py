"""One batch on its way into the SQLite file: checked, encoded, hashed and inserted."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import orjson

from graph_service.errors import InputError, StoreError
from graph_service.model.identity import check_text, key64
from graph_service.model.statement import (
    Entity,
    Statement,
    encode_terms,
)
from graph_service.store.encoded import encode_statements, id_key
from graph_service.store.hashes import Uint64, collision
from graph_service.store.protocol import Batch
from graph_service.store.sqlite_rows import KIND_CODES, entity_of_row
from graph_service.store.sqlite_schema import of_edition
from graph_service.store.terms import is_outdated, merge_terms
from graph_service.store.texts import holds_nul

KNOWN_IDS = 500_000
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


class KnownIds:
    """Ids that committed batches of this session have written, so as not to write them again."""

    def __init__(self) -> None:
        self.entities: dict[str, int] = {}
        self.relations: dict[str, int] = {}


class PreparedBatch:
    """One batch on its way into the tables; nothing is kept of it unless it is committed."""

    def __init__(self, batch: Batch, number: int, known: KnownIds) -> None:
        self._batch = batch
        self._number = number
        self._known = known
        self._mentioned: dict[str, int] = {}
        self._relations: dict[str, int] = {}

    def remember(self) -> None:
        """Keeps the ids that are in now, so that later batches do not write them again."""
        known = self._known
        if len(known.entities) + len(self._mentioned) > KNOWN_IDS:
            known.entities.clear()
        known.entities.update(self._mentioned)
        known.relations.update(self._relations)

    def write(self, connection: sqlite3.Connection) -> tuple[int, int, Uint64]:
        """Returns the rows appended, the statements outdated, and what they add to the sums."""
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
        encoded = encode_statements(statements)
        known = self._known.entities
        self._mentioned = {id_: key for id_, key in encoded.entity_keys.items() if id_ not in known}
        numbers = [self._relation(connection, id_) for id_ in encoded.relation_ids]
        try:
            connection.executemany(
                of_edition(_INSERT_BARE, self._number),
                [(key, id_) for id_, key in self._mentioned.items()],
            )
        except sqlite3.IntegrityError as error:
            raise self._collision(connection, self._mentioned) from error
        connection.executemany(
            of_edition(_INSERT_STATEMENT, self._number),
            zip(
                encoded.keys,
                encoded.ids,
                encoded.heads,
                map(numbers.__getitem__, encoded.relations),
                encoded.tails,
                encoded.values,
                encoded.ranks,
                encoded.qualifiers,
                encoded.sources,
                encoded.contexts,
                strict=True,
            ),
        )
        return len(encoded), outdated, np.frombuffer(encoded.sums, dtype=np.uint64)

    def _relation(self, connection: sqlite3.Connection, id_: str) -> int:
        found = self._known.relations.get(id_) or self._relations.get(id_)
        if found is not None:
            return found
        key = id_key(id_)
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


def _checked_key(entity: Entity) -> int:
    check_text(entity.id, what="an entity id")
    if entity.redirect is not None:
        check_text(entity.redirect, what="the target of a redirect")
    return id_key(entity.id)


def _encode_terms(entity: Entity) -> str:
    # The revision has a column of its own, so that the stored terms are what is hashed.
    try:
        encoded = encode_terms(
            entity if entity.revision is None else replace(entity, revision=None)
        )
    except TypeError as error:
        raise InputError(f"a term of {entity.id!r} holds a lone surrogate: {error}") from error
    if "\\u0000" in encoded and holds_nul(orjson.loads(encoded)):
        raise InputError(f"a term of {entity.id!r} holds a NUL character")
    return encoded
