"""Damage to the file of a snapshot: it is seen, told and mended, and ends no process."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from error_texts import check_text, raises
from graphs import load_graph, sample_entities, sample_statements

from graph_service.errors import StoreCorruptError, StoreUnavailableError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.store.snapshot import cache
from graph_service.store.snapshot.cache import SnapshotCache
from graph_service.store.snapshot.file import arrays_of, open_snapshot, verify_snapshot
from graph_service.store.sqlite.store import SqliteStore, open_sqlite

TESTS = Path(__file__).resolve().parent.parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The place of a store's file."""
    return tmp_path / "graph.db"


def snapshot_of(store: SqliteStore) -> tuple[GraphInfo, Path]:
    """Loads a small graph, makes its snapshot and returns the file, which can be written."""
    info = load_graph(store, "g", sample_statements(), sample_entities())
    store.snapshot(info)
    place = store._cache.path_of(info)
    assert place.stat().st_mode & 0o222 == 0
    place.chmod(0o644)
    return info, place


def flip(place: Path, position: int, bit: int = 0) -> None:
    """Flips one bit of a file."""
    data = bytearray(place.read_bytes())
    data[position] ^= 1 << bit
    place.write_bytes(data)


def test_every_flipped_bit_is_seen_or_outside_of_the_arrays(path: Path) -> None:
    with open_sqlite(path) as store:
        info, place = snapshot_of(store)
        good = place.read_bytes()
        wanted = arrays_of(open_snapshot(place, info)[0])
        seen = 0
        for position in range(0, len(good), 5):
            flip(place, position, position % 8)
            try:
                verify_snapshot(place)
            except StoreCorruptError:
                seen += 1
                with pytest.raises(StoreCorruptError, match="is damaged"):
                    open_snapshot(place, info)
            else:
                found = arrays_of(open_snapshot(place, info)[0])
                assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
            place.write_bytes(good)
        # What is left are the bytes between the arrays.
        assert seen > 0.6 * len(range(0, len(good), 5))


@pytest.mark.parametrize("size", [0, 10, 30, 400, -1])
def test_a_cut_file_is_seen_before_it_is_mapped(path: Path, size: int) -> None:
    with open_sqlite(path) as store:
        info, place = snapshot_of(store)
        os.truncate(place, size if size >= 0 else place.stat().st_size - 1)
        for verify in (True, False):
            with pytest.raises(StoreCorruptError):
                open_snapshot(place, info, verify=verify)


def test_a_damaged_snapshot_is_built_again_with_a_warning(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_sqlite(path) as store:
        info, place = snapshot_of(store)
        good = place.read_bytes()
        flip(place, len(good) - 1)
        with caplog.at_level(logging.WARNING):
            graph = store.snapshot(info)
        assert "match its checksum" in caplog.text
        assert graph.edge_count == len(sample_statements())
        assert place.read_bytes() == good


def test_a_full_disk_is_told_once_and_costs_no_answer(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache, "write_snapshot", no_space)
    with open_sqlite(path) as store:
        info = load_graph(store, "g", sample_statements(), sample_entities())
        with caplog.at_level(logging.WARNING):
            graphs = [store.snapshot(info) for _ in range(3)]
        folder = store._cache.folder
    assert len({graph.fingerprints for graph in graphs}) == 1
    (message,) = (record.getMessage() for record in caplog.records)
    check_text(message, folder)
    assert list(folder.iterdir()) == [], "nothing half-written is left"


def test_a_snapshot_that_was_cut_on_a_full_disk_is_an_error_of_the_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sqlite(path) as store:
        info, place = snapshot_of(store)
        os.truncate(place, place.stat().st_size - 64)
        with monkeypatch.context() as patch:
            patch.setattr(cache, "write_snapshot", no_space)
            with pytest.raises(StoreUnavailableError, match=os.strerror(errno.ENOSPC)):
                store.mend_snapshot(info)
        store.mend_snapshot(info)
        verify_snapshot(place)


def no_space(_graph: KnowledgeGraph, file: BinaryIO) -> None:
    file.write(b"x")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_trusted_snapshot_is_opened_without_reading_all_of_it(path: Path) -> None:
    with open_sqlite(path) as store:
        info, place = snapshot_of(store)
        flip(place, place.stat().st_size - 1)
        cache = SnapshotCache(place.parent, trust=True)

        def build() -> None:
            pytest.fail("built again")

        assert cache.get(info, build).edge_count  # type: ignore[arg-type]


def test_a_file_changed_while_it_is_mapped_is_made_right_in_place(path: Path) -> None:
    """In a process of its own: reading a mapping beyond the end of its file would end it."""
    with open_sqlite(path) as store:
        load_graph(store, "g", sample_statements(), sample_entities())
    code = """
        import os, sys
        import numpy as np
        from graph_service.service import open_service
        from graph_service.settings import Settings
        from graph_service.store.snapshot.file import arrays_of
        with open_service(settings=Settings(store="sqlite:///" + sys.argv[1])) as service:
            info = service.graph()
            graph = service.arrays(info)
            place = service.store._cache.path_of(info)
            wanted = {name: array.copy() for name, array in arrays_of(graph).items()}
            good = place.read_bytes()
            place.chmod(0o644)
            for damage in (0, 100, len(good) - 1):
                os.truncate(place, damage)
                assert service.arrays(info) is graph
                found = arrays_of(graph)
                assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
                assert place.read_bytes() == good
                place.chmod(0o644)
            with place.open("r+b") as file:
                file.seek(len(good) - 1)
                file.write(bytes([good[-1] ^ 1]))
            os.utime(place, ns=(1, 1))
            assert service.arrays(info) is graph
            assert place.read_bytes() == good
            print("whole")
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
    assert "written again from" in done.stderr


def test_a_file_whose_time_alone_changed_is_left_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sqlite(path) as store:
        info, place = snapshot_of(store)
        os.utime(place, ns=(5, 5))
        monkeypatch.setattr(store, "build", lambda info: pytest.fail("built again"))
        store.mend_snapshot(info)
        store.mend_snapshot(info)


def test_a_snapshot_that_the_store_no_longer_makes_is_told(path: Path) -> None:
    with open_sqlite(path) as store:
        info, place = snapshot_of(store)
        other = load_graph(store, "h", [("Q1", "P1", "Q2")])
        os.truncate(place, 10)
        with raises(StoreCorruptError):
            store._cache.mend(info, lambda: store.build(other))
        assert not [item for item in place.parent.iterdir() if item.name.startswith(".")]


def test_what_a_killed_process_left_is_deleted_after_a_day(path: Path) -> None:
    with open_sqlite(path) as store:
        _, place = snapshot_of(store)
        for name, age in ((".1-old", 90_000), (".1-new", 10)):
            left = place.with_name(name)
            left.write_bytes(b"half")
            os.utime(left, (left.stat().st_mtime - age,) * 2)
        other = load_graph(store, "h", [("Q1", "P1", "Q2")])
        store.snapshot(other)
        names = {item.name for item in place.parent.iterdir()}
        assert ".1-old" not in names
        assert ".1-new" in names
