"""How both stores keep a record's fields: as JSON with checksums of the fields and the data."""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import Any

import orjson

from graph_service.errors import StoreCorruptError
from graph_service.store.decoding import decodes
from graph_service.store.protocol import Record

_CHECKSUMS = "crc32"
"""Field for the CRC-32 of the name and fields, and that of the data. Older records lack it."""


def encode_fields(record: Record, /) -> str:
    """Returns the fields of a record, and its checksums, as JSON."""
    fields = dict(record.json)
    return orjson.dumps(
        {**fields, _CHECKSUMS: [_sum_of(record, fields), zlib.crc32(record.data)]}
    ).decode()


@decodes("a record")
def decode_record(
    kind: str, key: str, graph: str, encoded: str, data: bytes | None, updated_at: str, /
) -> Record:
    """Returns a record from its columns; ``data`` is None where it was not read.

    Raises:
        StoreCorruptError: It is not as it was saved.
    """
    fields: dict[str, Any] = orjson.loads(encoded)
    checksums = fields.pop(_CHECKSUMS, None)
    record = Record(kind, key, graph, fields, data or b"", updated_at, version_of(encoded))
    if checksums is not None:
        own, of_data = checksums
        if _sum_of(record, fields) != own or (data is not None and zlib.crc32(data) != of_data):
            raise StoreCorruptError(
                f"the store is damaged: the {kind} {key[:80]!r} does not match its checksum",
                hint="Delete it and make it again, or restore a backup.",
            )
    return record


def version_of(encoded: str | None, /) -> str:
    """Returns the version of a record with these fields, encoded; "" where there is none."""
    return "" if encoded is None else blake2b(encoded.encode(), digest_size=16).hexdigest()


def _sum_of(record: Record, fields: dict[str, Any]) -> int:
    name = "\0".join((record.kind, record.key, record.graph)).encode()
    return zlib.crc32(orjson.dumps(fields), zlib.crc32(name))
