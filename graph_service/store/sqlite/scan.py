"""Whole editions read from the SQLite file as columns, by several processes where that pays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from graph_service.errors import StoreError
from graph_service.model.graph import Int64
from graph_service.store.snapshot.build import KIND_OF_NODE, EdgeChunk, EntityChunk, pack_texts
from graph_service.store.sqlite.database import Database, mapping_errors
from graph_service.store.sqlite.rows import KINDS
from graph_service.store.sqlite.schema import of_edition
from graph_service.worker_pool import WorkerDiedError, WorkerPool, default_worker_count

SNAPSHOT_ROWS = 25_000
# Starting processes takes half a second.
WORTHWHILE_STATEMENTS = 500_000

RowRange = tuple[int, int]
"""Numbers of rows: behind the first, up to the second."""


@dataclass(frozen=True, slots=True)
class EdgeScan:
    """Reads ranges of an edition's statements as columns; other processes can do it.

    Attributes:
        path: The store's file.
        number: Of the edition.
        relation_keys: By number of the relation.
    """

    path: Path
    number: int
    relation_keys: Int64

    def __call__(self, rows: RowRange, /) -> EdgeChunk:
        """Returns a range, read over a connection of its own."""
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            return self.read(connection, rows)

    def read(self, connection: sqlite3.Connection, rows: RowRange, /) -> EdgeChunk:
        """Returns the statements of a range of rows, as columns."""
        template = """SELECT key, head, relation, ifnull(tail, 0), tail IS NULL, rank, id, value
            FROM statements_$n WHERE row > ? AND row <= ? ORDER BY row"""
        page = connection.execute(of_edition(template, self.number), rows).fetchall()
        if not page:
            page_columns: tuple[tuple[Any, ...], ...] = ((),) * 8
        else:
            page_columns = tuple(zip(*page, strict=True))
        keys, heads, numbers, tails, literal, ranks, ids, values = page_columns
        return EdgeChunk(
            statement_keys=np.array(keys, dtype=np.int64),
            head_keys=np.array(heads, dtype=np.int64),
            relation_keys=self.relation_keys[np.array(numbers, dtype=np.int64)],
            tail_keys=np.array(tails, dtype=np.int64),
            is_literal=np.array(literal, dtype=np.bool_),
            ranks=np.array(ranks, dtype=np.uint8),
            statement_ids=pack_texts(ids),
            values=pack_texts(value for value in values if value is not None),
        )


def row_ranges(database: Database, number: int, size: int, /) -> Iterator[RowRange]:
    """Yields ranges that hold all statements of an edition, in the order they lie in the file."""
    with database.reading() as connection:
        (last,) = connection.execute(
            of_edition("SELECT ifnull(max(row), 0) FROM statements_$n", number)
        ).fetchone()
    for start in range(0, last, size):
        yield start, min(start + size, last)


def edge_chunks(database: Database, number: int, relation_keys: Int64, /) -> Iterator[EdgeChunk]:
    """Yields all statements of an edition, in the order they lie in the file."""
    ranges = list(row_ranges(database, number, SNAPSHOT_ROWS))
    scan = EdgeScan(database.path, number, relation_keys)
    workers = 0 if database.read_only else default_worker_count()
    if len(ranges) * SNAPSHOT_ROWS < WORTHWHILE_STATEMENTS or not workers:
        for rows in ranges:
            with database.reading() as connection:
                yield scan.read(connection, rows)
        return
    with WorkerPool(scan, count=workers) as pool, closing(pool.results(iter(ranges))) as chunks:
        try:
            with mapping_errors(database.path):
                yield from chunks
        except WorkerDiedError as error:
            raise StoreError(
                f"a process that read {database.path} ended by itself (exit code "
                f"{error.exit_code}); there may be too little memory"
            ) from error


def entity_chunks(database: Database, number: int, /) -> Iterator[EntityChunk]:
    """Yields all entities of an edition, in the order they lie in the file."""
    template = """SELECT row, key, id, kind, redirect IS NOT NULL, terms FROM entities_$n
        WHERE row > ? ORDER BY row LIMIT ?"""
    kinds = np.array([KIND_OF_NODE[kind] for kind in KINDS], dtype=np.uint8)
    last = 0
    while True:
        with database.reading() as connection:
            page = connection.execute(
                of_edition(template, number), (last, SNAPSHOT_ROWS)
            ).fetchall()
        if not page:
            return
        rows, keys, ids, codes, redirects, terms = zip(*page, strict=True)
        last = rows[-1]
        known = [
            (index, orjson.loads(encoded)) for index, encoded in enumerate(terms) if encoded != "{}"
        ]
        yield EntityChunk(
            keys=np.array(keys, dtype=np.int64),
            ids=pack_texts(ids),
            kinds=kinds[np.array(codes, dtype=np.int64)],
            is_redirect=np.array(redirects, dtype=np.bool_),
            labels=[(index, plain["labels"]) for index, plain in known if plain.get("labels")],
            same_as=[(index, plain["same_as"]) for index, plain in known if plain.get("same_as")],
        )
