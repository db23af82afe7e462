"""A store's file where nothing can be written: another user's, or on a read-only disk."""

from __future__ import annotations

import ctypes
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from error_texts import check_line, raises
from graphs import load_graph

from graph_service.errors import (
    SchemaVersionError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from graph_service.store import open_store
from graph_service.store.sqlite.frozen import FrozenDatabase, is_frozen
from graph_service.store.sqlite.store import open_sqlite

ROW = ("Q1", "P1", "Q2")

# Reads what it is asked for, a line each, and answers in JSON lines.
READER = """
import sys
import orjson
from graph_service.errors import GraphServiceError
from graph_service.store import open_store

def graphs(store):
    return [[info.name, store.snapshot(info).edge_count] for info in store.graphs()]

def entity(store):
    return store.entities(store.graph("g").edition, ["Q1"]).missing

def load(store):
    store.begin_load("x", owner="o", source="s")

def delete(store):
    store.delete_graph("g")

def ping(store):
    store.ping()

store = None
for line in sys.stdin:
    try:
        if store is None:
            store = open_store(sys.argv[1])
        found = {"found": globals()[line.strip()](store)}
    except GraphServiceError as error:
        found = {"error": type(error).__name__, "message": str(error)}
    print(orjson.dumps(found).decode(), flush=True)
"""


def test_a_store_on_a_full_disk_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite makes two files beside a store to read it, unless nobody can write it."""
    file = tmp_path / "store.db"
    with open_sqlite(file) as store:
        load_graph(store, "g", [ROW])
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with open_sqlite(file) as store:
        assert [info.name for info in store.graphs()] == ["g"]
        assert not list(tmp_path.glob("store.db-*"))
        with raises(StoreFullError):
            store.delete_graph("g")


def without_roots_rights() -> None:
    """Takes from a child process what lets root write where its permissions do not."""
    libc = ctypes.CDLL(None, use_errno=True)
    drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
    for right in (dac_override, dac_read_search):
        if libc.prctl(drop_from_bounding_set, right, 0, 0, 0):
            os._exit(77)


class Reader:
    """A process that may read a folder, and not write there."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", READER, f"sqlite:///{path}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=without_roots_rights if os.geteuid() == 0 else None,
        )

    def ask(self, what: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return orjson.loads(self.process.stdout.readline())


def allow(folder: Path, *, writing: bool) -> None:
    folder.chmod(0o755 if writing else 0o555)
    for path in folder.rglob("*"):
        path.chmod(
            (0o755 if path.is_dir() else 0o644) if writing else (0o555 if path.is_dir() else 0o444)
        )


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "store"
    made.mkdir()
    with open_store(f"sqlite:///{made / 'g.db'}") as store:
        load_graph(store, "g", [ROW])
    allow(made, writing=False)
    yield made
    allow(made, writing=True)


@pytest.fixture
def reader(folder: Path) -> Iterator[Reader]:
    made = Reader(folder / "g.db")
    yield made
    made.process.stdin.close()  # type: ignore[union-attr]
    assert made.process.wait(600) == 0
    made.process.stdout.close()  # type: ignore[union-attr]


def test_what_cannot_be_written_is_read(folder: Path, reader: Reader) -> None:
    before = {path.name for path in folder.iterdir()}
    assert reader.ask("graphs") == {"found": [["g", 1]]}
    assert reader.ask("entity") == {"found": []}
    assert reader.ask("ping") == {"found": None}
    for write in ("load", "delete"):
        refused = reader.ask(write)
        assert refused["error"] == "StoreError"
        check_line(refused["message"], "g.db")
    assert reader.ask("graphs") == {"found": [["g", 1]]}
    assert {path.name for path in folder.iterdir()} == before


def test_what_others_write_meanwhile_is_seen(folder: Path, reader: Reader) -> None:
    assert reader.ask("graphs") == {"found": [["g", 1]]}
    allow(folder, writing=True)
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load_graph(store, "h", [ROW, ("Q1", "P1", "Q3")])
    allow(folder, writing=False)
    assert reader.ask("graphs") == {"found": [["g", 1], ["h", 2]]}
    allow(folder, writing=True)
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load_graph(store, "i", [ROW])
        # What is new lies in the log, which its writer has open.
        assert (folder / "g.db-wal").stat().st_size > 0
        assert reader.ask("graphs") == {"found": [["g", 1], ["h", 2], ["i", 1]]}
    assert reader.ask("graphs") == {"found": [["g", 1], ["h", 2], ["i", 1]]}


def test_only_the_file_may_not_be_written(folder: Path, reader: Reader) -> None:
    """Nothing is left beside it, though the folder would take it."""
    folder.chmod(0o755)
    before = {path.name for path in folder.iterdir()}
    assert reader.ask("ping") == {"found": None}
    check_line(reader.ask("load")["message"], "only be read")
    assert {path.name for path in folder.iterdir()} == before


def test_a_file_written_while_it_is_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    with open_sqlite(path) as store:
        load_graph(store, "g", [ROW])
    database = FrozenDatabase(path, busy_timeout_s=1.0)
    with (
        raises(StoreUnavailableError),
        database.reading(),
        open_sqlite(path) as store,
    ):
        load_graph(store, "h", [ROW])
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM graphs").fetchone() == (2,)
    with raises(StoreError):
        database.writing()
    database.close()


def test_an_older_schema_is_said(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    open_sqlite(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with raises(SchemaVersionError):
        FrozenDatabase(path, busy_timeout_s=1.0)


def test_what_can_be_written_is_not_frozen(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    assert not is_frozen(path)
    with open_sqlite(path) as store:
        assert not is_frozen(path)
        load_graph(store, "g", [ROW])
