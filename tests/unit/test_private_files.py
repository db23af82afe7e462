"""Who may read the files of stores, vectors and caches."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Cli
from graphs import load_graph, sample_entities, sample_statements

from graph_service.embed import VectorFile
from graph_service.errors import InputError
from graph_service.http.cache import AnswerCache
from graph_service.private_files import parse_mode
from graph_service.settings import read_settings
from graph_service.store.sqlite.store import open_sqlite

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@pytest.fixture(autouse=True, params=[0o022, 0o077, 0o000])
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(("setting", "file", "made"), [("", 0o600, 0o700), ("660", 0o660, 0o770)])
def test_vectors_are_made_with_the_mode_of_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, file: int, made: int
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_FILE_MODE", setting)
    with VectorFile(tmp_path / "a" / "b" / "v.db") as vectors:
        vectors.add([b"k" * 16], np.ones((1, 4), dtype=np.float32))
        assert modes(tmp_path) == {
            "a": made, "a/b": made,
            "a/b/v.db": file, "a/b/v.db-wal": file, "a/b/v.db-shm": file,
        }  # fmt: skip


def test_a_store_and_its_copy_are_their_owners_alone(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    umask = os.umask(0)
    os.umask(umask)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", f"sqlite:///{tmp_path}/graph.db")
    (tmp_path / "a.nt").write_text("<http://e/a> <http://e/b> <http://e/c> .\nbad\n")
    assert cli("load", "a.nt", "--graph", "g", "--rejects-path", "rejects.jsonl").code == 3
    assert cli("backup", "copy.db").code == 0
    assert cli("export", "out.nt", "--graph", "g").code == 0
    found = modes(tmp_path)
    assert (found["graph.db"], found["copy.db"]) == (0o600, 0o600)
    # What the user asked for keeps the user's umask.
    assert (found["out.nt"], found["rejects.jsonl"]) == (0o666 & ~umask, 0o666 & ~umask)
    with sqlite3.connect(tmp_path / "graph.db") as connection:
        connection.execute("SELECT count(*) FROM graphs").fetchone()
        assert all(
            mode == 0o600 for name, mode in modes(tmp_path).items() if name.startswith("graph.db")
        )
    connection.close()


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    path.touch()
    path.chmod(0o640)
    VectorFile(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_cached_answers_of_endpoints_are_their_owners_alone(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "cache", days=1, max_bytes=100)
    assert cache.put("http://e", "query", b"answer")
    assert set(modes(tmp_path).values()) == {0o600, 0o700}


def test_snapshots_are_their_owners_alone(tmp_path: Path) -> None:
    with open_sqlite(tmp_path / "graph.db") as store:
        info = load_graph(store, "g", sample_statements(), sample_entities())
        store.snapshot(info)
        place = store._cache.path_of(info)
        assert stat.S_IMODE(place.stat().st_mode) == 0o400
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("text", ["rw", "077", "6000", "700", "444", "0600"])
def test_a_mode_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_mode(text)
    with pytest.raises(InputError):
        read_settings({"GRAPH_SERVICE_FILE_MODE": text})
