"""Snapshots pushed to a depot and pulled from it: broken off, damaged, of another graph."""

from __future__ import annotations

import json
import multiprocessing
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from cli_runs import Cli
from error_texts import raises
from graphs import load_graph, sample_entities, sample_statements

from graph_service.errors import (
    InputError,
    SetupError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from graph_service.model.graph_info import GraphInfo
from graph_service.store.snapshot import transfer
from graph_service.store.snapshot.cache import SnapshotCache
from graph_service.store.snapshot.depot import Depot, FolderDepot, ObjectDepot, open_depot
from graph_service.store.snapshot.file import FORMAT, arrays_of, write_snapshot
from graph_service.store.snapshot.transfer import pull_snapshot, push_snapshot
from graph_service.store.sqlite.store import open_sqlite

PART = 500


class Files:
    """A file system as fsspec's are, in memory, without folders of its own."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def info(self, path: str) -> dict[str, Any]:
        return {"size": len(self.cat_file(path))}

    def cat_file(self, path: str) -> bytes:
        if path not in self.held:
            raise FileNotFoundError(path)
        return self.held[path]

    def pipe_file(self, path: str, data: bytes) -> None:
        self.held[path] = data

    def ls(self, path: str, *, detail: bool) -> list[str]:
        assert not detail
        found = [one for one in self.held if one.startswith(f"{path}/")]
        if not found:
            raise FileNotFoundError(path)
        return found


class Failing:
    """A depot that fails after so many writes or reads of parts."""

    def __init__(self, depot: Depot, *, writes: int = 10**9, reads: int = 10**9) -> None:
        self._depot = depot
        self._writes, self._reads = writes, reads
        self._lock = threading.Lock()
        self.address = depot.address
        self.names, self.size = depot.names, depot.size

    def read(self, name: str, /) -> bytes | None:
        with self._lock:
            self._reads -= name.startswith("parts/")
            if self._reads < 0:
                raise StoreUnavailableError("gone")
        return self._depot.read(name)

    def write(self, name: str, data: bytes, /) -> None:
        with self._lock:
            self._writes -= 1
            if self._writes < 0:
                raise StoreUnavailableError("gone")
        self._depot.write(name, data)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PART_BYTES", PART)


@pytest.fixture
def built(tmp_path: Path) -> tuple[GraphInfo, Path]:
    """A graph and the file of its arrays."""
    with open_sqlite(tmp_path / "graph.db") as store:
        info = load_graph(store, "g", sample_statements(), sample_entities())
        store.snapshot(info)
        return info, store.snapshots.path_of(info)


@pytest.fixture(params=["folder", "objects"])
def depot(request: pytest.FixtureRequest, tmp_path: Path) -> Depot:
    if request.param == "folder":
        return FolderDepot(tmp_path / "depot")
    return ObjectDepot(Files(), "bucket/of", "mem://bucket/of")


@pytest.fixture
def cache(tmp_path: Path) -> SnapshotCache:
    return SnapshotCache(tmp_path / "elsewhere")


def never() -> Any:
    raise AssertionError("it is built again")


def test_what_is_pulled_is_what_was_pushed(
    built: tuple[GraphInfo, Path], depot: Depot, cache: SnapshotCache
) -> None:
    info, place = built
    pushed = push_snapshot(place, info, depot)
    size = place.stat().st_size
    assert pushed.bytes == pushed.moved_bytes == size
    assert pushed.parts == pushed.moved_parts == -(-size // PART) > 3
    seen: list[tuple[int, int]] = []
    pulled = pull_snapshot(cache, info, depot, progress=lambda *one: seen.append(one))
    assert pulled == pushed
    assert cache.path_of(info).read_bytes() == place.read_bytes()
    assert cache.path_of(info).stat().st_mode & 0o222 == 0
    assert seen[-1] == (size, size)
    assert cache.get(info, never).edge_count == info.counts.statements
    assert [path.name for path in cache.folder.iterdir()] == [cache.path_of(info).name]


def test_a_second_push_and_pull_move_nothing(
    built: tuple[GraphInfo, Path], depot: Depot, cache: SnapshotCache
) -> None:
    info, place = built
    push_snapshot(place, info, depot)
    assert push_snapshot(place, info, depot).moved_parts == 0
    pull_snapshot(cache, info, depot)
    assert pull_snapshot(cache, info, depot).moved_parts == 0
    assert [path.name for path in cache.folder.iterdir()] == [cache.path_of(info).name]


@pytest.mark.parametrize("writes", [0, 1, 4])
def test_a_push_that_is_broken_off_is_no_snapshot_and_goes_on(
    writes: int, built: tuple[GraphInfo, Path], depot: Depot, cache: SnapshotCache
) -> None:
    info, place = built
    with pytest.raises(StoreUnavailableError):
        push_snapshot(place, info, Failing(depot, writes=writes))
    with raises(InputError):
        pull_snapshot(cache, info, depot)
    pushed = push_snapshot(place, info, depot)
    assert pushed.parts - pushed.moved_parts == writes
    pull_snapshot(cache, info, depot)
    assert cache.path_of(info).read_bytes() == place.read_bytes()


@pytest.mark.parametrize("torn", [0, 1, 400])
def test_a_pull_that_is_broken_off_is_no_snapshot_and_goes_on(
    torn: int, built: tuple[GraphInfo, Path], depot: Depot, cache: SnapshotCache
) -> None:
    """``torn`` bytes of the last part that was written are wrong, as after a power cut."""
    info, place = built
    push_snapshot(place, info, depot)
    with pytest.raises(StoreUnavailableError):
        pull_snapshot(cache, info, Failing(depot, reads=5))
    (partial,) = cache.folder.iterdir()
    assert partial.name.startswith(".pull-")
    data = partial.read_bytes()
    assert 0 < len(data) < place.stat().st_size
    if torn:
        partial.write_bytes(data[:-torn] + bytes(torn))
    kept = len(data) // PART - bool(torn)
    pulled = pull_snapshot(cache, info, depot)
    assert pulled.parts - pulled.moved_parts == kept
    assert cache.path_of(info).read_bytes() == place.read_bytes()


def part_of(depot: Depot, number: int) -> str:
    (name,) = depot.names("snapshots")
    found = depot.read(f"snapshots/{name}")
    assert found is not None
    part = json.loads(found)["parts"][number]
    return f"parts/{part[:2]}/{part}"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data[:-1],
    ],
)
def test_a_damaged_part_is_named(
    damage: Any, built: tuple[GraphInfo, Path], depot: Depot, cache: SnapshotCache
) -> None:
    info, place = built
    push_snapshot(place, info, depot)
    name = part_of(depot, 2)
    depot.write(name, damage(depot.read(name)))
    with raises(StoreCorruptError) as caught:
        pull_snapshot(cache, info, depot)
    assert f"Delete {name} there" in str(caught.value)
    assert not cache.path_of(info).exists()


def test_a_missing_part_is_named(built: tuple[GraphInfo, Path], tmp_path: Path) -> None:
    info, place = built
    depot = FolderDepot(tmp_path / "depot")
    push_snapshot(place, info, depot)
    (tmp_path / "depot" / part_of(depot, 0)).unlink()
    with raises(StoreCorruptError):
        pull_snapshot(SnapshotCache(tmp_path / "elsewhere"), info, depot)


@pytest.mark.parametrize(
    "changed",
    [
        {"edges": "0-0"},
        {"content": "0-0"},
        {"statements": 3},
        {"format": 1},
        {"bytes": 5},
        {"bytes": "x"},
        {"part_bytes": 0},
        {"hash": "0" * 64},
        {"parts": ["../../etc/passwd"]},
        {"parts": None},
        {"more": 1},
    ],
)
def test_a_wrong_manifest_says_what_differs(
    changed: dict[str, Any],
    built: tuple[GraphInfo, Path],
    depot: Depot,
    cache: SnapshotCache,
) -> None:
    info, place = built
    push_snapshot(place, info, depot)
    (name,) = depot.names("snapshots")
    found = depot.read(f"snapshots/{name}")
    assert found is not None
    depot.write(f"snapshots/{name}", json.dumps(json.loads(found) | changed).encode())
    with raises(StoreCorruptError):
        pull_snapshot(cache, info, depot)
    assert not cache.folder.exists()


def test_another_state_of_the_graph_is_refused_and_what_is_there_named(
    built: tuple[GraphInfo, Path], depot: Depot, cache: SnapshotCache, tmp_path: Path
) -> None:
    info, place = built
    push_snapshot(place, info, depot)
    with open_sqlite(tmp_path / "other.db") as store:
        other = load_graph(store, "g", sample_statements()[:3], sample_entities())
    with pytest.raises(InputError) as caught:
        pull_snapshot(cache, other, depot)
    assert other.fingerprints.edges in str(caught.value)
    assert f"It has g (format {FORMAT}, edges {info.fingerprints.edges}" in str(caught.value)
    assert "snapshot push" in str(caught.value)


def test_a_damaged_file_is_not_pushed(built: tuple[GraphInfo, Path], depot: Depot) -> None:
    info, place = built
    place.chmod(0o644)
    data = bytearray(place.read_bytes())
    data[40] ^= 1
    place.write_bytes(data)
    with pytest.raises(StoreCorruptError, match="is damaged"):
        push_snapshot(place, info, depot)
    assert depot.names("snapshots") == []


def test_a_push_of_something_else_is_refused(
    built: tuple[GraphInfo, Path],
    depot: Depot,
    cache: SnapshotCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every part is as its hash says, and the whole is no snapshot."""
    info, place = built
    with monkeypatch.context() as lenient:
        lenient.setattr(transfer, "verify_snapshot", lambda path: path.stat().st_size)
        place.chmod(0o644)
        place.write_bytes(b"x" * 3_333)
        push_snapshot(place, info, depot)
    with pytest.raises(StoreCorruptError, match="'g' is none"):
        pull_snapshot(cache, info, depot)
    assert list(cache.folder.iterdir()) == []


def _pull(folder: str, depot: str, info: GraphInfo, found: Any) -> None:
    found.put(
        pull_snapshot(SnapshotCache(Path(folder)), info, FolderDepot(Path(depot))).moved_parts
    )


def test_processes_that_pull_at_once_fetch_it_once(
    built: tuple[GraphInfo, Path], tmp_path: Path
) -> None:
    info, place = built
    pushed = push_snapshot(place, info, FolderDepot(tmp_path / "depot"))
    found: Any = multiprocessing.get_context("fork").Queue()
    given = (str(tmp_path / "elsewhere"), str(tmp_path / "depot"), info, found)
    fork = multiprocessing.get_context("fork").Process
    processes = [fork(target=_pull, args=given) for _ in range(3)]
    for process in processes:
        process.start()
    moved = sorted(found.get(timeout=600) for _ in processes)
    for process in processes:
        process.join(600)
        assert process.exitcode == 0
    assert moved == [0, 0, pushed.parts]


def test_a_failure_of_a_file_system_is_one_of_ours() -> None:
    class Broken(Files):
        def pipe_file(self, path: str, data: bytes) -> None:
            raise RuntimeError("the credentials are wrong")

        def info(self, path: str) -> dict[str, Any]:
            raise PermissionError(path)

    depot = ObjectDepot(Broken(), "bucket", "s3://bucket")
    with pytest.raises(StoreUnavailableError, match=r"RuntimeError: the credentials") as caught:
        depot.write("parts/1", b"x")
    assert caught.value.retryable
    with pytest.raises(StoreUnavailableError, match="PermissionError"):
        depot.size("parts/1")


def test_a_missing_bucket_is_not_made() -> None:
    class Missing(Files):
        made = False

        def pipe_file(self, path: str, data: bytes) -> None:
            if not self.made:
                raise FileNotFoundError("no bucket")
            super().pipe_file(path, data)

        def makedirs(self, path: str, *, exist_ok: bool) -> None:
            self.made = True

    with pytest.raises(StoreError, match="is not there"):
        ObjectDepot(Missing(), "bucket", "s3://bucket").write("parts/1", b"x")
    folders = ObjectDepot(Missing(), "folder", "sftp://host/folder")
    folders.write("parts/1", b"x")
    assert folders.read("parts/1") == b"x"


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    depot = FolderDepot(tmp_path / "file")
    with pytest.raises(StoreError, match="can't be used"):
        depot.write("parts/1", b"x")
    with pytest.raises(StoreError, match="can't be used"):
        depot.names("parts")


@pytest.fixture
def fsspec(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A package of that name which opens ``mem://`` and lacks what another address needs."""
    asked: dict[str, Any] = {}

    def url_to_fs(address: str, **options: Any) -> tuple[Files, str]:
        asked[address] = options
        if address.startswith("s3://"):
            raise ImportError("Install s3fs to access S3")
        if not address.startswith("mem://"):
            raise ValueError("Protocol not known")
        return Files(), address[len("mem://") :]

    core = ModuleType("fsspec.core")
    core.url_to_fs = url_to_fs  # type: ignore[attr-defined]
    package = ModuleType("fsspec")
    package.core = core  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fsspec", package)
    return asked


def test_an_address_is_a_folder_or_one_of_fsspec(fsspec: dict[str, Any], tmp_path: Path) -> None:
    assert isinstance(open_depot(str(tmp_path)), FolderDepot)
    assert open_depot(f"file://{tmp_path}").address == str(tmp_path)
    found = open_depot("mem://me:secret@bucket/of")
    assert isinstance(found, ObjectDepot)
    assert found.address == "mem://bucket/of"
    assert fsspec == {
        "mem://me:secret@bucket/of": {"use_listings_cache": False, "skip_instance_cache": True}
    }
    with raises(InputError):
        open_depot("zz://me:secret@bucket")
    with pytest.raises(SetupError, match=r"graph-service\[object-storage\]"):
        open_depot("s3://bucket/of")
    with pytest.raises(InputError, match="expected a folder"):
        open_depot("")


def test_an_address_without_its_package_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(SetupError, match=r"graph-service\[object-storage\]"):
        open_depot("s3://bucket/of")


def test_the_command_line_moves_a_snapshot(demo_cli: Cli, tmp_path: Path) -> None:
    depot = tmp_path / "depot"
    pushed = demo_cli("snapshot", "push", str(depot), "--graph", "demo")
    assert pushed.code == 0
    assert f"bytes sent to {depot}" in pushed.out
    snapshots = next(tmp_path.rglob("*.snapshots"))
    (place,) = snapshots.glob("*.snapshot")
    data = place.read_bytes()
    place.unlink()
    pulled = demo_cli("snapshot", "pull", str(depot), "--json")
    assert pulled.code == 0
    assert pulled.json["moved_bytes"] == pulled.json["bytes"] == len(data)
    assert place.read_bytes() == data
    again = demo_cli("snapshot", "pull", str(depot))
    assert f"0 of {len(data):,} bytes fetched" in again.out
    assert demo_cli("snapshot", "pull", str(tmp_path / "nothing")).code != 0


def test_a_snapshot_is_the_same_bytes_wherever_it_is_written(
    built: tuple[GraphInfo, Path], depot: Depot, cache: SnapshotCache, tmp_path: Path
) -> None:
    """So a second build has the same parts, and a push of it sends nothing."""
    info, place = built
    push_snapshot(place, info, depot)
    pull_snapshot(cache, info, depot)
    graph = cache.get(info, never)
    assert all(isinstance(one, np.ndarray) for one in arrays_of(graph).values())
    with (tmp_path / "again").open("wb") as file:
        write_snapshot(graph, file)
    assert push_snapshot(tmp_path / "again", info, depot).moved_parts == 0
