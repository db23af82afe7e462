"""Programs that are not ours read every row of an exported graph (S1, B19)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
from cluster_graph import open_both
from cluster_loads import rows_of
from graphs import load_graph, sample_entities, sample_statements

from graph_service.store import Store
from graph_service.store.parquet import ENTITIES, STATEMENTS


def load_samples(store: Store) -> None:
    load_graph(store, "made", sample_statements(), sample_entities())


@pytest.mark.parametrize("table", [STATEMENTS, ENTITIES])
def test_each_program_reads_every_row(session: Any, tmp_path: Path, table: str) -> None:
    """Qualifiers, references and names are lists of structs; relations are codes of a dictionary."""
    with open_both(tmp_path, load_samples) as both:
        rows = rows_of(both.folder, table)
        expected = rows.to_pylist()
        files = f"{both.folder}/{table}/*.parquet"
        assert polars.read_parquet(files).to_dicts() == expected
        read = duckdb.sql(f"SELECT * FROM '{files}' ORDER BY key")
        assert [dict(zip(read.columns, row, strict=True)) for row in read.fetchall()] == expected
        engine = session.read.parquet(str(both.folder / table)).orderBy("key")
        assert [row.asDict(recursive=True) for row in engine.collect()] == expected
