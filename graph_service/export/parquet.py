"""A graph as a folder of Parquet files, for DuckDB, Polars, Spark and ``load``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from graph_service.export.content import ExportedGraph
from graph_service.model.hashing import Uint64, fingerprint
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import Entity, Statement
from graph_service.store.parquet import (
    DICTIONARIES,
    ENTITIES,
    LAYOUT,
    MANIFEST,
    MANIFEST_MARK,
    STATEMENTS,
    VERSION,
    Columns,
    Manifest,
    Part,
    PartSums,
    entity_columns,
    import_pyarrow,
    schemas,
    statement_columns,
)

PART_ROWS = 1_000_000
"""Rows of a file, at most."""
GROUP_ROWS = 50_000
"""Rows of a row group: what is held in memory, and what a reader takes at once."""


def is_parquet_export(folder: Path, /) -> bool:
    """Returns whether a folder holds nothing but a graph in our layout, or nothing at all."""
    names = {path.name for path in folder.iterdir()}
    if MANIFEST in names and not (folder / MANIFEST).read_bytes().startswith(MANIFEST_MARK):
        return False
    return not names or (MANIFEST in names and names <= {MANIFEST, STATEMENTS, ENTITIES})


def write_parquet(
    exported: ExportedGraph, folder: Path, /, *, part_rows: int = PART_ROWS
) -> tuple[int, int, Fingerprints]:
    """Writes a graph into an empty folder, without its manifest.

    Args:
        exported: What to write.
        folder: Where to.
        part_rows: Rows of a file, at most.

    Returns:
        How many entities and statements were written, and their fingerprints.
    """
    parts = [
        *_write_table(ENTITIES, exported.entities(), folder, part_rows),
        *_write_table(STATEMENTS, exported.statements(), folder, part_rows),
    ]
    total = PartSums()
    for part in parts:
        total.add_part(part)
    sums = total.fingerprints()
    manifest = Manifest(
        graph=exported.info.name,
        edition=exported.info.edition,
        view=exported.view_id,
        source=exported.info.source,
        entities=total.entities,
        statements=total.statements,
        edges=sums.edges,
        content=sums.content,
        parts=tuple(parts),
    )
    (folder / MANIFEST).write_bytes(manifest.to_bytes())
    return total.entities, total.statements, sums


def _write_table(
    table: str,
    chunks: Iterator[Sequence[Entity]] | Iterator[Sequence[Statement]],
    folder: Path,
    part_rows: int,
) -> Iterator[Part]:
    (folder / table).mkdir()
    writer: _PartWriter | None = None
    count = 0
    for chunk in chunks:
        start = 0
        while start < len(chunk):
            rows = chunk[start : start + part_rows - (writer.rows if writer else 0)]
            start += len(rows)
            columns, sums = (
                statement_columns(rows)  # type: ignore[arg-type]
                if table == STATEMENTS
                else entity_columns(rows)  # type: ignore[arg-type]
            )
            # The keys of a part ascend: what a view made begins another one.
            if writer is not None and columns["key"][0] < writer.last:
                yield writer.finish()
                writer = None
            if writer is None:
                writer = _PartWriter(folder, table, count)
                count += 1
            if not _ascends(columns["key"]):
                columns = _by_key(columns)
            writer.add(columns, sums)
            if writer.rows >= part_rows:
                yield writer.finish()
                writer = None
    if writer is not None:
        yield writer.finish()


def _ascends(keys: list[int]) -> bool:
    return all(first <= second for first, second in zip(keys, keys[1:], strict=False))


def _by_key(columns: Columns) -> Columns:
    order = sorted(range(len(columns["key"])), key=columns["key"].__getitem__)
    return {name: [column[index] for index in order] for name, column in columns.items()}


class _PartWriter:
    """Writes one file of a table."""

    def __init__(self, folder: Path, table: str, index: int) -> None:
        self._arrow = import_pyarrow("a graph as Parquet")
        self._schema = schemas()[table]
        self._table = table
        self._file = f"{table}/part-{index:05}.parquet"
        self._sums: Uint64 = np.zeros(4 if table == STATEMENTS else 2, dtype=np.uint64)
        self._pending: list[Any] = []
        self._pending_rows = 0
        self.rows = 0
        self._first = 0
        self.last = -(2**63)
        self._writer = self._arrow.parquet.ParquetWriter(
            folder / self._file,
            self._schema,
            compression="zstd",
            use_dictionary=_dictionary_columns(self._schema, self._arrow),
            write_page_checksum=True,
        )

    def add(self, columns: Columns, sums: Uint64) -> None:
        """Adds rows, and what they add to the fingerprints."""
        if not self.rows:
            self._first = columns["key"][0]
        self.last = columns["key"][-1]
        batch = self._arrow.RecordBatch.from_pydict(columns, schema=self._schema)
        self._sums = self._sums + sums
        self.rows += batch.num_rows
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        if self._pending_rows >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            table = self._arrow.Table.from_batches(self._pending, schema=self._schema)
            self._writer.write_table(table, row_group_size=len(table))
        self._pending, self._pending_rows = [], 0

    def finish(self) -> Part:
        """Closes the file; its own metadata says what the manifest does."""
        self._flush()
        none = fingerprint(np.zeros(2, dtype=np.uint64), 0)
        is_statements = self._table == STATEMENTS
        part = Part(
            file=self._file,
            table=self._table,
            rows=self.rows,
            first=self._first,
            last=self.last,
            edges=fingerprint(self._sums[:2], self.rows) if is_statements else none,
            content=fingerprint(self._sums[-2:], self.rows),
        )
        metadata = {
            "layout": LAYOUT,
            "version": VERSION,
            "table": part.table,
            "rows": part.rows,
            "edges": part.edges,
            "content": part.content,
        }
        self._writer.add_key_value_metadata({"graph-service": orjson.dumps(metadata).decode()})
        self._writer.close()
        return part


def _dictionary_columns(schema: Any, arrow: Any) -> list[str]:
    """Returns the paths of the leaf columns that are written as codes of a dictionary."""
    paths: list[str] = []

    def visit(path: str, type_: Any) -> None:
        if arrow.types.is_list(type_):
            visit(f"{path}.list.element", type_.value_type)
        elif arrow.types.is_struct(type_):
            for field in type_:
                visit(f"{path}.{field.name}", field.type)
        elif path.rpartition(".")[2] in DICTIONARIES:
            paths.append(path)

    for field in schema:
        visit(field.name, field.type)
    return paths
