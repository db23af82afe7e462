"""Writes the files of a graph as Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from graph_service.model.hashing import Uint64, fingerprint
from graph_service.store.parquet import (
    DICTIONARIES,
    LAYOUT,
    STATEMENTS,
    VERSION,
    Part,
    import_pyarrow,
    schemas,
)

GROUP_ROWS = 50_000
"""Rows of a row group: what is held in memory, and what a reader takes at once."""


def part_file(table: str, index: int, /) -> str:
    """Returns the path of a file below the graph's folder."""
    return f"{table}/part-{index:05}.parquet"


class PartWriter:
    """Writes one file of a table.

    Args:
        path: The file.
        table: ``statements`` or ``entities``.
        file: Its path below the graph's folder, as the manifest names it.
    """

    def __init__(self, path: Path, table: str, /, *, file: str) -> None:
        self._arrow = import_pyarrow("a graph as Parquet")
        self._schema = schemas()[table]
        self._table = table
        self._file = file
        self._sums: Uint64 = np.zeros(4 if table == STATEMENTS else 2, dtype=np.uint64)
        self._pending: list[Any] = []
        self._pending_rows = 0
        self.rows = 0
        self._first = 0
        self.last = -(2**63)
        self._writer = self._arrow.parquet.ParquetWriter(
            path,
            self._schema,
            compression="zstd",
            use_dictionary=_dictionary_columns(self._schema, self._arrow),
            write_page_checksum=True,
        )

    def add(self, columns: Mapping[str, Any], sums: Uint64, /) -> None:
        """Adds rows in the order of their keys.

        Args:
            columns: Lists or arrays by name; one row at least.
            sums: What the rows add to the fingerprints: four words of statements, two of entities.
        """
        if not self.rows:
            self._first = int(columns["key"][0])
        self.last = int(columns["key"][-1])
        batch = self._arrow.RecordBatch.from_pydict(dict(columns), schema=self._schema)
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
