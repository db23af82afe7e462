"""Whole editions read from Neo4j: entities by key, statements by head, sorted here by key.

Relationships of many types have no common index, so statements are read by ranges of their heads,
a short transaction each. Who wants them in order of their own keys gets them from a temporary
file: the engine's order and its memory are not relied on.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import orjson

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Entity
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.editions import read_edition, read_statement_rows
from graph_service.store.neo4j.journal import LITERAL, RANK_SHIFT, Rows
from graph_service.store.neo4j.rows import ENTITY_COLUMNS, entity_of_row
from graph_service.store.neo4j.schema import hex_key
from graph_service.store.snapshot.build import EdgeChunk, build_arrays, pack_texts

T = TypeVar("T")
SCAN_ROWS = 5_000
RANGE_ROWS = 20_000
SPOOL_BYTES = 32 * 2**20


def scan_entities(connection: Connection, edition: str, /) -> Iterator[list[Entity]]:
    """Yields every entity in order of their keys."""
    # The key's text is ASCII of one length: its order is that of the keys.
    query = f"""MATCH (n:Entity) WHERE n.key > $after AND n.key < $end
        RETURN {ENTITY_COLUMNS} ORDER BY n.key LIMIT $limit"""
    after = f"{edition}:"
    while True:
        parameters = {"after": after, "end": f"{edition};", "limit": SCAN_ROWS}
        rows = read_edition(connection, edition, query, parameters, what="reading all entities")
        if rows:
            yield [entity_of_row(row) for row in rows]
        if len(rows) < SCAN_ROWS:
            return
        after = rows[-1][0]


def scan_sorted(
    connection: Connection, edition: str, columns: str, make: Callable[[list[Any]], T], /
) -> Iterator[list[T]]:
    """Yields every statement in order of their keys, as ``make`` makes it of its ``columns``:
    those of ``(a)-[r]->(b)`` to read, ``r.key`` first.
    """
    statements = read_statement_rows(connection, edition)
    keys = array("q")
    offsets = array("q", [0])
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        for rows in _by_head(connection, edition, statements, columns):
            encoded = [orjson.dumps(row) for row in rows]
            keys.extend(row[0] for row in rows)
            for data in encoded:
                offsets.append(offsets[-1] + len(data))
            spool.write(b"".join(encoded))
        order = np.argsort(np.frombuffer(keys, dtype=np.int64), kind="stable").tolist()
        for start in range(0, len(order), SCAN_ROWS):
            chunk = []
            for index in order[start : start + SCAN_ROWS]:
                spool.seek(offsets[index])
                chunk.append(make(orjson.loads(spool.read(offsets[index + 1] - offsets[index]))))
            yield chunk


def scan_by_head(
    connection: Connection, edition: str, columns: str, make: Callable[[list[Any]], T], /
) -> Iterator[list[T]]:
    """Yields every statement, those of a head together; see ``scan_sorted``."""
    statements = read_statement_rows(connection, edition)
    for rows in _by_head(connection, edition, statements, columns):
        yield [make(row) for row in rows]


def relation_keys(connection: Connection, edition: str, /) -> list[int]:
    """Returns the keys of the relations that an edition's statements have, ascending."""
    rows = read_edition(
        connection,
        edition,
        "MATCH (e:GraphEdition {id: $edition}) RETURN e.relations",
        {"edition": edition},
        what="reading the relations",
    )
    if rows[0][0] is not None:
        keys: list[int] = orjson.loads(rows[0][0])
        return keys
    # Loaded before editions kept them.
    statements = read_statement_rows(connection, edition)
    distinct: list[int] = np.unique(statements["relation"]).tolist()
    return distinct


def build_graph(connection: Connection, info: GraphInfo, /) -> KnowledgeGraph:
    """Returns an edition as arrays: keys from its pages, ids and values from its statements."""
    statements = read_statement_rows(connection, info.edition)
    rows = connection.read(
        "UNWIND $keys AS key MATCH (r:Relation {key: key}) RETURN r.key, r.id",
        keys=np.unique(statements["relation"]).tolist(),
        what="reading relations",
    )
    relations: dict[int, str] = {row[0]: row[1] for row in rows}
    return build_arrays(
        info,
        _chunks(connection, info.edition, statements),
        lambda: relations,
        scan_entities(connection, info.edition),
    )


def _chunks(connection: Connection, edition: str, statements: Rows) -> Iterator[EdgeChunk]:
    keys = statements["key"].copy()
    # A record a range: the driver takes longer over a record than over what is in it. Only
    # literals have a value, and of nothing nothing is collected.
    columns = "collect(r.key), collect(r.id), collect(b.value)"
    for [(own_keys, ids, values)] in _by_head(connection, edition, statements, columns):
        read_keys = np.array(own_keys, dtype=np.int64)
        stored = statements[np.searchsorted(keys, read_keys)]
        literal = (stored["flags"] & LITERAL) != 0
        yield EdgeChunk(
            statement_keys=read_keys,
            head_keys=stored["head"].copy(),
            relation_keys=stored["relation"].copy(),
            tail_keys=np.where(literal, 0, stored["tail"]),
            is_literal=literal,
            ranks=(stored["flags"] >> RANK_SHIFT).astype(np.uint8),
            statement_ids=pack_texts(ids),
            values=pack_texts(values),
        )


def _by_head(
    connection: Connection, edition: str, statements: Rows, columns: str
) -> Iterator[list[list[Any]]]:
    """Yields the rows of all statements by ranges of their heads' keys."""
    query = f"""MATCH (a:Entity) WHERE a.key >= $first AND a.key <= $last
        MATCH (a)-[r]->(b) RETURN {columns}"""
    heads = np.sort(statements["head"])
    start = 0
    while start < len(heads):
        last = heads[min(start + RANGE_ROWS, len(heads)) - 1]
        parameters = {
            "first": f"{edition}:{hex_key(int(heads[start]))}",
            "last": f"{edition}:{hex_key(int(last))}",
        }
        rows = read_edition(connection, edition, query, parameters, what="reading all statements")
        if rows:
            yield rows
        start = int(np.searchsorted(heads, last, side="right"))
