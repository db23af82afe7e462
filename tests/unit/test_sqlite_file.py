"""SQLite files of ours, told from those of other programs."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from graph_service.embed.vector_file import VECTOR_FILE
from graph_service.errors import StoreCorruptError


def make(path: Path, *, application_id: int) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE t (x)")
        connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute(f"PRAGMA user_version = {VECTOR_FILE.schema}")


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_file_that_another_process_makes_meanwhile_is_ours(tmp_path: Path, before: int) -> None:
    """It is made before any one of the statements that look at it."""
    path, seen = tmp_path / "v.db", []

    def note(statement: str) -> None:
        seen.append(statement)
        if len(seen) == before:
            make(path, application_id=VECTOR_FILE.application_id)

    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.set_trace_callback(note)
        VECTOR_FILE.is_made(connection, path)
        connection.set_trace_callback(None)
        assert len(seen) >= before
        assert VECTOR_FILE.is_made(connection, path)


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    make(path, application_id=0)
    with (
        contextlib.closing(sqlite3.connect(path)) as connection,
        pytest.raises(StoreCorruptError, match="another program"),
    ):
        VECTOR_FILE.is_made(connection, path)
