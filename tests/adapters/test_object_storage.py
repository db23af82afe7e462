"""Snapshots through a server that speaks S3's protocol: moto's, on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from graphs import load_graph, sample_entities, sample_statements
from neo4j_server import _free_port

from graph_service.errors import StoreCorruptError, StoreError, StoreUnavailableError
from graph_service.store.snapshot import transfer
from graph_service.store.snapshot.cache import SnapshotCache
from graph_service.store.snapshot.depot import Depot, open_depot
from graph_service.store.snapshot.file import FORMAT
from graph_service.store.snapshot.transfer import pull_snapshot, push_snapshot
from graph_service.store.sqlite.store import open_sqlite

# `make test-adapters` alone installs it, and mypy runs without it.
s3fs: Any = import_module("s3fs")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server with one bucket, ``snapshots``."""
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": address,
    }
    try:
        limit = time.monotonic() + 600
        while True:
            try:
                s3fs.S3FileSystem(skip_instance_cache=True).mkdir("snapshots")
                break
            except Exception:
                assert time.monotonic() < limit
                assert process.poll() is None
                time.sleep(0.2)
        yield address
    finally:
        process.kill()
        process.wait(600)


def test_a_snapshot_travels(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off and gone on with on both ways, then damaged, then away."""
    monkeypatch.setattr(transfer, "PART_BYTES", 1_000)
    with open_sqlite(tmp_path / "graph.db") as store:
        info = load_graph(store, "g", sample_statements(), sample_entities())
        store.snapshot(info)
        place = store.snapshots.path_of(info)
    depot: Depot = open_depot("s3://snapshots/of/ours")
    cache = SnapshotCache(tmp_path / "elsewhere")
    writes = depot.write
    left = [3]

    def breaking(name: str, data: bytes, /) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StoreUnavailableError("gone")
        writes(name, data)

    monkeypatch.setattr(depot, "write", breaking)
    with pytest.raises(StoreUnavailableError):
        push_snapshot(place, info, depot)
    left[0] = 10**9
    pushed = push_snapshot(place, info, depot)
    assert pushed.parts - pushed.moved_parts == 3
    assert push_snapshot(place, info, depot).moved_parts == 0

    pulled = pull_snapshot(cache, info, open_depot("s3://snapshots/of/ours"))
    assert pulled.moved_bytes == pushed.bytes == place.stat().st_size
    assert cache.path_of(info).read_bytes() == place.read_bytes()
    assert pull_snapshot(cache, info, depot).moved_parts == 0

    (manifest,) = depot.names("snapshots")
    assert manifest.startswith(f"{FORMAT}-")
    folder = depot.names("parts")[0]
    (part, *_) = depot.names(f"parts/{folder}")
    writes(f"parts/{folder}/{part}", b"x" * 1_000)
    with pytest.raises(StoreCorruptError, match=f"parts/{folder}/{part}"):
        pull_snapshot(SnapshotCache(tmp_path / "third"), info, depot)

    with pytest.raises(StoreError, match="no-such-bucket"):
        push_snapshot(place, info, open_depot("s3://no-such-bucket/of"))
    assert "no-such-bucket" not in s3fs.S3FileSystem(skip_instance_cache=True).ls("")
