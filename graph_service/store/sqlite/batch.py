"""One batch on its way into the SQLite file: checked, encoded, hashed and inserted."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import count

import orjson

from graph_service.model.identity import check_text, key64
from graph_service.model.statement import Entity
from graph_service.store.encoded import EncodedStatements, encode_statements, id_key
from graph_service.store.hashes import Uint64, collision, entity_hash
from graph_service.store.protocol import Batch
from graph_service.store.sqlite.row_locations import RowLocation, RowLocations
from graph_service.store.sqlite.rows import KIND_CODES, entity_of_row
from graph_service.store.sqlite.schema import of_edition
from graph_service.store.terms import encode_hashed_terms, is_of_other_age, is_outdated, merge_terms

_INSERT_STATEMENT = """INSERT INTO statements_$n
    (key, id, head, relation, tail, value, rank, qualifiers, sources, context)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_CONFLICT = """INSERT INTO conflicts_$n
    (id, is_document, batch, line, kept_batch, kept_line) VALUES (?, ?, ?, ?, ?, ?)"""
_INSERT_MENTIONED = """INSERT INTO entities_$n (row, key, id, kind, bare, terms)
    VALUES (?, ?, ?, 0, 1, '{}')"""
_INSERT_ENTITY = """INSERT INTO entities_$n (row, key, id, kind, bare, redirect, revision, terms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (row) DO UPDATE SET kind = excluded.kind, bare = iif(bare = 0, 0, excluded.bare),
        redirect = excluded.redirect, revision = excluded.revision, terms = excluded.terms"""
_INSERT_DOCUMENT = """INSERT INTO documents_$n VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8)
    ON CONFLICT (row) DO UPDATE SET batch = ?3, line = ?4, terms = ?5,
        first_row = ifnull(?6, first_row), oldest_row = ifnull(oldest_row, ?6),
        begin_row = iif(?6 IS NULL, begin_row, ?7), end_row = iif(?6 IS NULL, end_row, ?8)"""
_SELECT_DOCUMENTS = """SELECT row, batch, line, terms, first_row, begin_row, end_row
    FROM documents_$n WHERE row IN (SELECT value FROM json_each(?))"""
_SELECT_STATEMENTS = """SELECT s.key, r.id, s.tail, s.value, s.rank, s.qualifiers, s.sources,
    s.context FROM statements_$n s JOIN relations_$n r ON r.number = s.relation
    WHERE s.row BETWEEN ? AND ? AND s.head = ?"""
_SELECT_ENTITIES = """SELECT id, kind, redirect, revision, terms, bare FROM entities_$n
    WHERE row IN (SELECT value FROM json_each(?))"""


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch came to.

    Attributes:
        appended, outdated, conflicting: Statements that are in, and those left out.
        sums: What those that are in add to the words of both fingerprints.
    """

    appended: int
    outdated: int
    conflicting: int
    sums: Uint64


class KnownIds:
    """What batches of this session have written and committed, so as not to write it again.

    Attributes:
        locations: Rows of entities and documents.
        relations: Numbers of relations.
    """

    def __init__(self, locations: RowLocations) -> None:
        self.locations = locations
        self.relations: dict[str, int] = {}


class PreparedBatch:
    """One batch on its way into the tables; nothing is kept of it unless it is committed."""

    def __init__(self, batch: Batch, number: int, known: KnownIds, sequence: int) -> None:
        self._batch = batch
        self._encoded = encode_statements(batch.statements)
        self._number = number
        self._known = known
        self._sequence = sequence
        self._keys = _keys_of(batch, self._encoded)
        self._locations: dict[str, RowLocation] = {}
        self._appended: set[str] = set()
        self._new_entities = self._new_documents = count()
        self._relations: dict[str, int] = {}
        self._records: dict[str, tuple[int, bytes]] = {}

    def remember(self) -> None:
        """Keeps where the batch's rows are, now that they are in, for later batches."""
        self._known.locations.remember(
            (self._keys[id_], self._locations[id_]) for id_ in self._appended
        )
        self._known.relations.update(self._relations)

    def write(self, connection: sqlite3.Connection) -> Written:
        """Writes the batch, and leaves out documents of lower revisions and conflicting ones."""
        batch = self._batch
        self._locations = self._known.locations.find(self._keys)
        self._new_entities, self._new_documents = map(count, self._known.locations.next_rows())
        outdated, conflicting = self._write_entities(connection)
        encoded, lines = self._encoded, batch.lines
        left_out = Counter[int]()
        if outdated or conflicting:
            keys = {self._keys[id_] for id_ in outdated | conflicting}
            left_out.update(head for head in encoded.heads if head in keys)
            if left_out:
                rest = [index for index, head in enumerate(encoded.heads) if head not in left_out]
                encoded = encoded.at(rest)
                lines = [lines[index] for index in rest] if lines else ()
        first_row = self._write_lines(connection, lines)
        self._write_documents(connection, encoded, first_row, outdated | conflicting)
        self._write_statements(connection, encoded)
        return Written(
            len(encoded),
            sum(left_out[self._keys[id_]] for id_ in outdated),
            sum(left_out[self._keys[id_]] for id_ in conflicting),
            encoded.sums,
        )

    def _write_lines(self, connection: sqlite3.Connection, lines: Sequence[int]) -> int:
        """Writes where the batch was read; returns the number of its first row."""
        (row,) = connection.execute(
            of_edition("SELECT ifnull(max(row), 0) FROM statements_$n", self._number)
        ).fetchone()
        connection.execute(
            of_edition("INSERT INTO batches_$n VALUES (?, ?, ?, ?)", self._number),
            (self._sequence, row + 1, self._batch.source, array("q", lines).tobytes()),
        )
        return int(row) + 1

    def _write_documents(
        self,
        connection: sqlite3.Connection,
        encoded: EncodedStatements,
        first_row: int,
        left_out: AbstractSet[str],
    ) -> None:
        complete = self._batch.documents - left_out
        records = dict(self._records)
        for id_ in complete - records.keys():
            records[id_] = self._line_of(id_), b""
        if not records:
            return
        begin: dict[int, int] = {}
        end: dict[int, int] = {}
        if complete:
            for row, head in enumerate(encoded.heads, start=first_row):
                begin.setdefault(head, row)
                end[head] = row
        keys = self._keys
        connection.executemany(
            of_edition(_INSERT_DOCUMENT, self._number),
            [
                (
                    self._document_row(id_),
                    keys[id_],
                    self._sequence,
                    line,
                    terms,
                    first_row if id_ in complete else None,
                    begin.get(keys[id_]),
                    end.get(keys[id_]),
                )
                for id_, (line, terms) in sorted(records.items())
            ],
        )

    def _write_statements(self, connection: sqlite3.Connection, encoded: EncodedStatements) -> None:
        mentioned = [
            (self._entity_row(id_), key, id_)
            for id_, key in encoded.entity_keys.items()
            if self._location(id_)[1] is None
        ]
        numbers = [self._relation(connection, id_) for id_ in encoded.relation_ids]
        connection.executemany(of_edition(_INSERT_MENTIONED, self._number), mentioned)
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

    def _relation(self, connection: sqlite3.Connection, id_: str) -> int:
        known = self._known.relations.get(id_) or self._relations.get(id_)
        if known is not None:
            return known
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

    def _write_entities(self, connection: sqlite3.Connection) -> tuple[set[str], set[str]]:
        """Writes the entities; returns the ids whose document is older than what is there, and
        those whose document is another than this load gave before.
        """
        batch = self._batch
        stored: dict[str, Entity] = {}
        rows = {self._location(entity.id)[1] for entity in batch.entities} - {None}
        cursor = connection.execute(
            of_edition(_SELECT_ENTITIES, self._number), (orjson.dumps(list(rows)).decode(),)
        )
        for id_, kind, redirect, revision, terms, standing in cursor.fetchall():
            if standing != 1:
                stored[id_] = entity_of_row(id_, kind, redirect, revision, terms)
        conflicting = self._conflicting(connection, stored)
        outdated: set[str] = set()
        changed: dict[str, Entity] = {}
        encoded: dict[str, str] = {}
        lines = batch.entity_lines or (0,) * len(batch.entities)
        for entity, line in zip(batch.entities, lines, strict=True):
            id_ = entity.id
            before = stored.get(id_)
            if batch.terms_only:
                stored[id_] = changed[id_] = merge_terms(before, entity)
            elif id_ in conflicting:
                continue
            elif before is not None and is_outdated(before, entity):
                outdated.add(id_)
            else:
                outdated.discard(id_)
                stored[id_] = changed[id_] = entity
                encoded[id_] = encode_hashed_terms(entity)
                self._records[id_] = line, _terms_hash(entity, encoded[id_])
        changes = [
            (
                self._entity_row(id_),
                self._keys[id_],
                id_,
                KIND_CODES[entity.kind],
                2 if batch.names_only else 0,
                entity.redirect,
                entity.revision,
                encoded[id_] if id_ in encoded else encode_hashed_terms(entity),
            )
            for id_, entity in changed.items()
        ]
        connection.executemany(of_edition(_INSERT_ENTITY, self._number), changes)
        return outdated & batch.documents, conflicting & batch.documents

    def _conflicting(
        self, connection: sqlite3.Connection, stored: Mapping[str, Entity]
    ) -> set[str]:
        """Returns the entities that this load described otherwise before, and writes that down."""
        batch = self._batch
        if batch.terms_only:
            return set()
        records: dict[str, tuple[Entity | None, int]] = dict.fromkeys(batch.documents, (None, 0))
        lines = batch.entity_lines or (0,) * len(batch.entities)
        for entity, line in zip(batch.entities, lines, strict=True):
            records[entity.id] = entity, line
        ids = {document: id_ for id_ in records if (document := self._location(id_)[2]) is not None}
        cursor = connection.execute(
            of_edition(_SELECT_DOCUMENTS, self._number), (orjson.dumps(list(ids)).decode(),)
        )
        conflicting: set[str] = set()
        for document, *row in cursor.fetchall():
            id_, earlier = ids[document], _Record(*row)
            record, line = records[id_]
            before = stored.get(id_)
            if record is not None and before is not None and is_of_other_age(before, record):
                continue
            if self._differs(connection, id_, record, earlier):
                conflicting.add(id_)
                line = line or self._line_of(id_)
                connection.execute(
                    of_edition(INSERT_CONFLICT, self._number),
                    (id_, True, self._sequence, line, earlier.batch, earlier.line),
                )
        return conflicting

    def _line_of(self, id_: str) -> int:
        return self._encoded.line_of(self._keys[id_], self._batch.lines)

    def _location(self, id_: str) -> RowLocation:
        return self._locations.get(id_) or (id_, None, None)

    def _entity_row(self, id_: str) -> int:
        """Returns the row of an entity: its own, or the next one, which is its own from now."""
        _, row, document = self._location(id_)
        if row is None:
            row = next(self._new_entities)
            self._append(id_, row, document)
        return row

    def _document_row(self, id_: str) -> int:
        """Returns the row of a document: its own, or the next one, which is its own from now."""
        _, entity, row = self._location(id_)
        if row is None:
            row = next(self._new_documents)
            self._append(id_, entity, row)
        return row

    def _append(self, id_: str, entity: int | None, document: int | None) -> None:
        self._locations[id_] = id_, entity, document
        self._appended.add(id_)

    def _differs(
        self, connection: sqlite3.Connection, id_: str, entity: Entity | None, earlier: _Record
    ) -> bool:
        """Returns whether an entity's record in this batch is another than an earlier one."""
        if (
            entity is not None
            and earlier.terms
            and _terms_hash(entity, encode_hashed_terms(entity)) != earlier.terms
        ):
            return True
        if id_ not in self._batch.documents or earlier.first_row is None:
            return False
        key = self._keys[id_]
        rows = connection.execute(
            of_edition(_SELECT_STATEMENTS, self._number),
            (earlier.begin_row or 0, earlier.end_row or -1, key),
        ).fetchall()
        own = self._encoded.at(self._encoded.indices_of(key))
        relations = map(own.relation_ids.__getitem__, own.relations)
        columns = (own.tails, own.values, own.ranks, own.qualifiers, own.sources, own.contexts)
        return set(rows) != set(zip(own.keys, relations, *columns, strict=True))


@dataclass(frozen=True, slots=True)
class _Record:
    """The record of an entity that this load gave before; see the table ``documents``."""

    batch: int
    line: int
    terms: bytes
    first_row: int | None
    begin_row: int | None
    end_row: int | None


def _terms_hash(entity: Entity, encoded: str) -> bytes:
    return entity_hash(entity.id, entity.kind.value, entity.redirect, encoded)


def _keys_of(batch: Batch, encoded: EncodedStatements) -> dict[str, int]:
    """Returns the key of each id that the batch names as an entity or a document."""
    keys = dict(encoded.entity_keys)
    for entity in batch.entities:
        if entity.id not in keys:
            check_text(entity.id, what="an entity id")
            keys[entity.id] = id_key(entity.id)
        if entity.redirect is not None:
            check_text(entity.redirect, what="the target of a redirect")
    for id_ in batch.documents - keys.keys():
        check_text(id_, what="a document's id")
        keys[id_] = key64(id_)
    return keys
