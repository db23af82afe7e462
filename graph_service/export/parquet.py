"""A graph as a folder of Parquet files, for DuckDB, Polars, Spark and ``load``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graph_service.export.content import ExportedGraph
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import Entity, Statement
from graph_service.store.parquet import (
    ENTITIES,
    MANIFEST,
    MANIFEST_MARK,
    STATEMENTS,
    Columns,
    Manifest,
    Part,
    PartSums,
    entity_columns,
    statement_columns,
)
from graph_service.store.parquet_writer import PartWriter, part_file

PART_ROWS = 1_000_000
"""Rows of a file, at most."""


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
    writer: PartWriter | None = None
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
                file = part_file(table, count)
                writer = PartWriter(folder / file, table, file=file)
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
