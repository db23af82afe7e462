"""What a load's tasks exchange: the rows that were read, as Arrow tables, before repeats are resolved.

A statement's ``sequence`` orders it in the source: the index of its chunk in the upper 32 bits, its
index there in the lower ones. A record is an entity as the source describes it, or a document
without an entity; its ``sequence`` orders records alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np

from graph_service.model.graph import RANKS
from graph_service.model.identity import check_text, key64
from graph_service.model.statement import Entity, decode_references, decode_snaks
from graph_service.model.values import (
    MonolingualText,
    Value,
    decode_value,
    plain_value,
    value_type,
)
from graph_service.store.encoded import EncodedStatements, id_key
from graph_service.store.hashes import entity_hash
from graph_service.store.parquet import import_pyarrow, snak_rows
from graph_service.store.terms import encode_hashed_terms

CHUNK_BITS = 32
RECORD, MENTION, RELATION = "record", "mention", "relation"
"""Roles of a row about an entity: described by the source, in a statement, its relation."""
_ENTITY = "entity"
_RANK_NAMES = np.array([rank.value for rank in RANKS], dtype=object)


@cache
def scratch_schemas() -> Mapping[str, Any]:
    """Returns the Arrow schemas of ``statements`` and ``entities`` before they are resolved."""
    arrow = import_pyarrow("a load on a cluster")
    text, number, flag = arrow.string(), arrow.int64(), arrow.bool_()
    statements = [
        ("key", number),
        ("sequence", number),
        ("line", number),
        ("statement", text),
        ("head_key", number),
        ("head", text),
        ("relation", text),
        ("rank", number),
        ("tail_key", number),
        ("tail", text),
        ("value", text),
        ("qualifiers", text),
        ("sources", text),
        ("context", text),
        ("edge_low", number),
        ("edge_high", number),
        ("content_low", number),
        ("content_high", number),
    ]
    entities = [
        ("key", number),
        ("sequence", number),
        ("line", number),
        ("role", text),
        ("entity", text),
        # Of a record: null where the document describes no entity.
        ("kind", text),
        ("redirect", text),
        ("revision", number),
        ("terms", text),
        ("terms_hash", text),
        ("is_merged", flag),
        ("is_names_only", flag),
        # Of a document with all its statements: a hash of these, and the first and the end of
        # their sequence numbers.
        ("statements_hash", text),
        ("first", number),
        ("end", number),
    ]
    return {"statements": arrow.schema(statements), "entities": arrow.schema(entities)}


def statement_table(encoded: EncodedStatements, lines: Sequence[int], first: int, /) -> Any:
    """Returns statements as rows.

    Args:
        encoded: Statements in the order of the source.
        lines: The line of each.
        first: The sequence number of the first.
    """
    arrow = import_pyarrow("a load on a cluster")
    id_of = {key: id_ for id_, key in encoded.entity_keys.items()}
    edges = np.frombuffer(encoded.edges, dtype="<i8").reshape(-1, 2)
    contents = np.frombuffer(encoded.contents, dtype="<i8").reshape(-1, 2)
    columns = {
        "key": np.array(encoded.keys, dtype=np.int64),
        "sequence": np.arange(first, first + len(encoded), dtype=np.int64),
        "line": np.array(lines, dtype=np.int64),
        "statement": encoded.ids,
        "head_key": np.array(encoded.heads, dtype=np.int64),
        "head": [id_of[key] for key in encoded.heads],
        "relation": [encoded.relation_ids[index] for index in encoded.relations],
        "rank": np.array(encoded.ranks, dtype=np.int64),
        "tail_key": encoded.tails,
        "tail": [None if key is None else id_of[key] for key in encoded.tails],
        "value": encoded.values,
        "qualifiers": encoded.qualifiers,
        "sources": encoded.sources,
        "context": encoded.contexts,
        "edge_low": edges[:, 0],
        "edge_high": edges[:, 1],
        "content_low": contents[:, 0],
        "content_high": contents[:, 1],
    }
    return arrow.Table.from_pydict(columns, schema=scratch_schemas()["statements"])


def layout_columns(table: Any, /) -> dict[str, Any]:
    """Returns rows of statements as the columns that ``docs/reference/parquet.md`` describes."""
    values: list[Value | None] = [
        None if text is None else decode_value(text) for text in table["value"].to_pylist()
    ]
    tails = table["tail"].to_pylist()
    columns = {
        name: table[name].combine_chunks()
        for name in ("statement", "head_key", "head", "relation", "tail_key", "tail", "value")
    }
    columns |= {
        "key": table["key"].to_numpy(),
        "rank": _RANK_NAMES[table["rank"].to_numpy()],
        "value_type": [_ENTITY if value is None else value_type(value) for value in values],
        "text": [
            tail if value is None else plain_value(value)
            for tail, value in zip(tails, values, strict=True)
        ],
        "language": [
            value.language if isinstance(value, MonolingualText) else None for value in values
        ],
        "qualifiers": [
            None if text is None else snak_rows(decode_snaks(text))
            for text in table["qualifiers"].to_pylist()
        ],
        "sources": [
            None
            if text is None
            else [snak_rows(reference.parts) for reference in decode_references(text)]
            for text in table["sources"].to_pylist()
        ],
        "context": table["context"].combine_chunks(),
    }
    for name in ("edge_low", "edge_high", "content_low", "content_high"):
        columns[name] = table[name].combine_chunks()
    return columns


def sums_of(table: Any, /, *, names: Sequence[str]) -> Any:
    """Returns what rows add to the words of fingerprints, uint64 [names]."""
    words = [table[name].to_numpy().view(np.uint64) for name in names]
    return np.array([word.sum(dtype=np.uint64) for word in words], dtype=np.uint64)


def mention_table(table: Any, /) -> Any:
    """Returns a row for each entity and each relation that statements name."""
    arrow = import_pyarrow("a load on a cluster")
    entities: dict[int, str] = {}
    for key, id_ in (("head_key", "head"), ("tail_key", "tail")):
        entities.update(zip(table[key].to_pylist(), table[id_].to_pylist(), strict=True))
    entities.pop(None, None)  # type: ignore[call-overload]
    relations = {key64(id_): id_ for id_ in table["relation"].unique().to_pylist()}
    rows = [
        {"key": key, "sequence": -1, "line": 0, "role": role, "entity": id_}
        for role, ids in ((MENTION, entities), (RELATION, relations))
        for key, id_ in ids.items()
    ]
    return arrow.Table.from_pylist(rows, schema=scratch_schemas()["entities"])


def record_rows(
    entities: Sequence[Entity],
    documents: AbstractSet[str],
    encoded: EncodedStatements,
    /,
    *,
    lines: Sequence[int],
    entity_lines: Sequence[int],
    first_statement: int,
    first_record: int,
    is_merged: bool,
    is_names_only: bool,
) -> list[dict[str, Any]]:
    """Returns the records of a piece of a source.

    Args:
        entities: What it says of entities.
        documents: The entities of which it has all statements.
        encoded: Its statements.
        lines: The line of each statement.
        entity_lines: The line of each entity.
        first_statement: The sequence number of the first statement.
        first_record: The sequence number of the first record.
        is_merged: Whether what it says is added to what others say.
        is_names_only: Whether it names ids without making them entities.

    Raises:
        InputError: Text that no store can hold.
    """
    records: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []

    def add(id_: str, line: int) -> dict[str, Any]:
        key = encoded.entity_keys.get(id_)
        if key is None:
            check_text(id_, what="an entity id")
            key = id_key(id_)
        row = {
            "key": key,
            "sequence": first_record + len(rows),
            "line": line or encoded.line_of(key, lines),
            "role": RECORD,
            "entity": id_,
            "is_merged": is_merged,
            "is_names_only": is_names_only,
            "first": first_statement,
            "end": first_statement,
        }
        rows.append(row)
        return row

    for entity, line in zip(entities, entity_lines, strict=True):
        if entity.redirect is not None:
            check_text(entity.redirect, what="the target of a redirect")
        terms = encode_hashed_terms(entity)
        kind, redirect = entity.kind.value, entity.redirect
        row = records[entity.id] = add(entity.id, line)
        row |= {
            "kind": kind,
            "redirect": redirect,
            "revision": entity.revision,
            "terms": terms,
            "terms_hash": entity_hash(entity.id, kind, redirect, terms).hex(),
        }
    for id_ in sorted(documents):
        row = records.get(id_) or add(id_, 0)
        indices = encoded.indices_of(row["key"])
        contents = sorted({encoded.contents[16 * index : 16 * index + 16] for index in indices})
        row["statements_hash"] = blake2b(b"".join(contents), digest_size=16).hexdigest()
        if indices:
            row["first"] = first_statement + indices[0]
            row["end"] = first_statement + indices[-1] + 1
    return rows
