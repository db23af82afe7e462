"""Records in Neo4j: a node each, and further nodes for the parts of a large one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import neo4j
from neo4j.exceptions import ConstraintError

from graph_service.errors import StoreError
from graph_service.model.identity import check_text
from graph_service.store.names import now_text
from graph_service.store.neo4j.driver import Connection, in_chunks, one_row, rows_of
from graph_service.store.protocol import Record
from graph_service.store.records import decode_record, encode_fields, version_of

PART_BYTES = 4 * 2**20
"""Larger records are stored in parts, so that no transaction holds all of one."""


class _RefusedError(Exception):
    """Rolls a transaction back: the record is of another version, or its name is another's."""


class _OvertakenError(Exception):
    """Rolls a transaction back: another writer of the record has swept this one's parts away."""


class Neo4jRecords:
    """The records of a store; see ``Records`` for what each method does.

    Args:
        connection: To the server.
    """

    def __init__(self, connection: Connection, /) -> None:
        self._connection = connection

    def save_record(self, record: Record, /) -> None:
        """Saves a record; see ``Records.save_record``."""
        self._save(record, always=True)

    def replace_record(self, record: Record, /, *, name: str | None = None) -> bool:
        """Saves a record if the stored one has its version; see ``Records.replace_record``."""
        return self._save(record, name=name)

    def _save(self, record: Record, *, name: str | None = None, always: bool = False) -> bool:
        for what, text in (("kind", record.kind), ("key", record.key), ("graph", record.graph)):
            check_text(text, what=f"a record's {what}")
        fields: dict[str, Any] = {
            "id": record_id(record.kind, record.key),
            "kind": record.kind,
            "key": record.key,
            "graph": record.graph,
            "json": encode_fields(record),
            "updated_at": record.updated_at or now_text(),
        }
        if name is not None:
            fields["name_id"] = record_id(f"{record.kind}\0{record.graph}", name)
        parts = [bytes(part) for part in in_chunks(record.data, PART_BYTES)]
        for _ in range(5):
            try:
                self._write(fields, parts, None if always else record.version)
            except _RefusedError:
                return False
            except _OvertakenError:
                continue
            return True
        raise StoreError(
            f"record {record.kind} {record.key[:80]!r} is being written by others all the time"
        )

    def _write(self, fields: dict[str, Any], parts: list[bytes], replaced: str | None) -> None:
        """Writes a record; over one of the version ``replaced`` alone, unless that is None."""
        version = secrets.token_hex(8)
        apart = len(parts) > 1
        for index, data in enumerate(parts if apart else ()):
            self._connection.write(
                """MERGE (p:GraphRecordPart {record: $id, version: $version, place: $place})
                SET p.data = $data""",
                id=fields["id"],
                version=version,
                place=index,
                data=data,
                what="saving a record",
            )

        def flip(tx: neo4j.Transaction) -> None:
            # This locks the record until the transaction ends.
            id_ = {"id": fields["id"]}
            rows_of(tx, "MERGE (r:GraphRecord {id: $id}) SET r.touched = timestamp()", id_)
            encoded, stored = rows_of(
                tx, "MATCH (r:GraphRecord {id: $id}) RETURN r.json, r.version", id_
            )[0]
            if stored == version:
                # This is the second try: the first was committed, and its reply was lost.
                return
            if replaced is not None and version_of(encoded) != replaced:
                raise _RefusedError
            if "name_id" in fields and _has_name(tx, fields):
                raise _RefusedError
            stored_parts = rows_of(
                tx,
                """MATCH (p:GraphRecordPart {record: $id, version: $version})
                RETURN count(p)""",
                {"id": fields["id"], "version": version},
            )[0][0]
            if stored_parts != (len(parts) if apart else 0):
                raise _OvertakenError
            data = None if apart or not parts else parts[0]
            try:
                rows_of(
                    tx,
                    "MATCH (r:GraphRecord {id: $id}) SET r += $fields REMOVE r.touched",
                    {"id": fields["id"], "fields": fields | {"version": version, "data": data}},
                )
            except ConstraintError:
                # Another record has taken the name since it was looked for.
                raise _RefusedError from None
            rows_of(
                tx,
                """MATCH (p:GraphRecordPart {record: $id}) WHERE p.version <> $version
                DELETE p""",
                {"id": fields["id"], "version": version},
            )

        try:
            self._connection.transaction(flip, what="saving a record")
        except _RefusedError:
            self._connection.write(
                "MATCH (p:GraphRecordPart {record: $id, version: $version}) DELETE p",
                id=fields["id"],
                version=version,
                what="saving a record",
            )
            raise

    def get_record(self, kind: str, key: str, /, *, with_data: bool = True) -> Record | None:
        """Returns a record, or None; see ``Records.get_record``."""
        id_ = record_id(kind, key)

        def read(tx: neo4j.Transaction) -> Record | None:
            row = one_row(
                tx,
                """MATCH (r:GraphRecord {id: $id})
                RETURN r.kind, r.key, r.graph, r.json, r.updated_at,
                    CASE WHEN $data THEN r.data END, r.version""",
                {"id": id_, "data": with_data},
            )
            if row is None:
                return None
            if not with_data:
                return decode_record(row[0], row[1], row[2], row[3], None, row[4])
            data = bytes(row[5] or b"")
            if row[5] is None:
                parts = rows_of(
                    tx,
                    """MATCH (p:GraphRecordPart {record: $id, version: $version})
                    RETURN p.data ORDER BY p.place""",
                    {"id": id_, "version": row[6]},
                )
                data = b"".join(bytes(part) for (part,) in parts if part is not None)
            return decode_record(row[0], row[1], row[2], row[3], data, row[4])

        return self._connection.transaction(read, access="READ", what="reading a record")

    def list_records(self, kind: str, /, *, graph: str | None = None) -> list[Record]:
        """Returns the records of a kind in order of their key, without ``data``."""

        def read(tx: neo4j.Transaction) -> list[Record]:
            rows = rows_of(
                tx,
                """MATCH (r:GraphRecord {kind: $kind}) WHERE $graph IS NULL OR r.graph = $graph
                RETURN r.kind, r.key, r.graph, r.json, r.updated_at""",
                {"kind": kind, "graph": graph},
            )
            return [decode_record(row[0], row[1], row[2], row[3], None, row[4]) for row in rows]

        records = self._connection.transaction(read, access="READ", what="listing records")
        return sorted(records, key=lambda record: record.key.encode())

    def delete_record(self, kind: str, key: str, /) -> bool:
        """Deletes a record; returns whether there was one."""
        deleted = False

        def delete(tx: neo4j.Transaction) -> None:
            # A second run, after a lost reply, finds nothing: the first one's answer counts.
            nonlocal deleted
            deleted = delete_records(tx, [record_id(kind, key)]) > 0 or deleted

        self._connection.transaction(delete, what="deleting a record")
        return deleted


def record_id(kind: str, key: str, /) -> str:
    """Returns the id of a record's node."""
    size = len(kind.encode())
    return blake2b(f"{size}:{kind}{key}".encode(), digest_size=16).hexdigest()


def _has_name(tx: neo4j.Transaction, fields: Mapping[str, Any]) -> bool:
    """Returns whether another record has the name that these fields of one take."""
    row = one_row(
        tx,
        "MATCH (r:GraphRecord {name_id: $name_id}) WHERE r.id <> $id RETURN r.id",
        {"name_id": fields["name_id"], "id": fields["id"]},
    )
    return row is not None


def delete_records(tx: neo4j.Transaction, ids: list[str], /) -> int:
    """Deletes records with their parts; returns how many there were."""
    rows_of(tx, "UNWIND $ids AS id MATCH (p:GraphRecordPart {record: id}) DELETE p", {"ids": ids})
    rows = rows_of(
        tx,
        "UNWIND $ids AS id MATCH (r:GraphRecord {id: id}) DELETE r RETURN count(*)",
        {"ids": ids},
    )
    return int(rows[0][0]) if rows else 0
