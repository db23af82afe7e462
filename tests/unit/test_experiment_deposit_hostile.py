"""Archives that no ``experiment pack`` wrote: each is refused in one line, and bounded (B18)."""

from __future__ import annotations

import hashlib
import json
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli

from queries.experiment.deposit.unpacking import MAX_METADATA

CRATE = "ro-crate-metadata.json"
PLAN = "plan/plan.yaml"


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def crate_of(files: Mapping[str, bytes], **fields: Any) -> bytes:
    """Returns the metadata of an archive of some files."""
    root = {"@id": "./", "@type": "Dataset", "mainEntity": {"@id": PLAN}, **fields}
    listed = [
        {"@id": name, "@type": "File", "sha256": sha256_of(data)} for name, data in files.items()
    ]
    return json.dumps({"@graph": [root, *listed]}).encode()


def archived(
    path: Path,
    files: Mapping[str, bytes],
    *,
    crate: bytes | None = None,
    compression: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """Writes an archive of files and metadata."""
    with zipfile.ZipFile(path, "w", compression) as target:
        target.writestr(CRATE, crate_of(files) if crate is None else crate)
        for name, data in files.items():
            target.writestr(name, data)
    return path


def encrypted(archive: Path) -> Path:
    """Marks every member as encrypted."""
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.find(signature)
        while start >= 0:
            data[start + offset] |= 1
            start = data.find(signature, start + 4)
    archive.write_bytes(data)
    return archive


def of_unknown_compression(archive: Path) -> Path:
    """Gives every member a compression that nobody knows."""
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.find(signature)
        while start >= 0:
            data[start + offset : start + offset + 2] = b"\x61\x00"
            start = data.find(signature, start + 4)
    archive.write_bytes(data)
    return archive


def damaged(archive: Path) -> Path:
    """Changes the compressed bytes of the first member."""
    with zipfile.ZipFile(archive) as opened:
        info = opened.infolist()[-1]
        start = info.header_offset + 30 + len(info.filename)
    data = bytearray(archive.read_bytes())
    data[start : start + 8] = b"\xff" * 8
    archive.write_bytes(data)
    return archive


def truncated(archive: Path) -> Path:
    """Leaves out the second half."""
    data = archive.read_bytes()
    archive.write_bytes(data[: len(data) // 2])
    return archive


def of_files(*names: str) -> Callable[[Path], Path]:
    return lambda path: archived(path, dict.fromkeys(names, b"x"))


def of_crate(crate: Any) -> Callable[[Path], Path]:
    return lambda path: archived(path, {PLAN: b"x"}, crate=json.dumps(crate).encode())


def of_graph(*entities: Any) -> Callable[[Path], Path]:
    return of_crate({"@graph": list(entities)})


def of_plan(identifier: Any) -> Callable[[Path], Path]:
    files = {PLAN: b"x"}
    crate = crate_of(files, mainEntity={"@id": identifier})
    return lambda path: archived(path, files, crate=crate)


def with_lock(lock: bytes) -> Callable[[Path], Path]:
    return lambda path: archived(path, {PLAN: b"name: x\n", "run/plan.lock.json": lock})


def with_link(path: Path) -> Path:
    """A member that is a symbolic link out of the folder, and a file below it."""
    files = {PLAN: b"x", "run": b"../..", "run/plan.lock.json": b"{}"}
    with zipfile.ZipFile(path, "w") as target:
        target.writestr(CRATE, crate_of(files))
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16 if name == "run" else 0
            target.writestr(info, data)
    return path


HOSTILE: dict[str, Callable[[Path], Path]] = {
    "encrypted": lambda path: encrypted(archived(path, {PLAN: b"x"})),
    "unknown compression": lambda path: of_unknown_compression(archived(path, {PLAN: b"x"})),
    "damaged": lambda path: damaged(archived(path, {PLAN: b"x" * 500})),
    "damaged bzip2": lambda path: damaged(
        archived(path, {PLAN: b"x" * 500}, compression=zipfile.ZIP_BZIP2)
    ),
    "damaged lzma": lambda path: damaged(
        archived(path, {PLAN: b"x" * 500}, compression=zipfile.ZIP_LZMA)
    ),
    "truncated": lambda path: truncated(archived(path, {PLAN: bytes(range(256)) * 40})),
    "empty": lambda path: (path.write_bytes(b""), path)[1],
    "from the root": of_files(PLAN, "/tmp/evil"),
    "upwards": of_files(PLAN, "../evil"),
    "a drive": of_files(PLAN, "C:/evil"),
    "of Windows": of_files(PLAN, "a\\..\\..\\evil/x"),
    "a folder": of_files(PLAN, "run/"),
    "a file that is a folder": of_files(PLAN, "run/a", "run/a/b"),
    "a folder that is a file": of_files(PLAN, "run/a/b", "run/a"),
    "a temporary name": of_files(PLAN, "run/a", "run/a.part"),
    "a long name": of_files(PLAN, "run/" + "n" * 300),
    "a long path": of_files(PLAN, "/".join(["n" * 200] * 30)),
    "two names of one file": of_files(PLAN, "run/a", "run//a", "run/./a"),
    "a control character": of_files(PLAN, "run/a\x1b[2Jb"),
    "a link": with_link,
    "a crate that is a list": of_crate([]),
    "a crate that is a number": of_crate(7),
    "no graph": of_crate({"@graph": None}),
    "an entity that is no object": of_graph(7),
    "an id that is a list": of_graph({"@id": []}),
    "no entity of the folder": of_graph({"@id": PLAN, "@type": "File", "sha256": sha256_of(b"x")}),
    "a hash that is a number": of_graph(
        {"@id": "./", "mainEntity": {"@id": PLAN}}, {"@id": PLAN, "@type": "File", "sha256": 7}
    ),
    "a plan that is a number": of_plan(7),
    "a plan that is null": of_plan(None),
    "a plan that is a folder": of_plan("plan"),
    "a plan elsewhere": of_plan("../plan.yaml"),
    "a plan that is not there": of_plan("plan/other.yaml"),
    "a plan that is the metadata": of_plan(CRATE),
    "a lock that is a list": with_lock(b"[]"),
    "a lock that is null": with_lock(b"null"),
    "a lock of nothing": with_lock(b"{}"),
    "a lock with versions that are text": with_lock(b'{"versions": "1"}'),
    "a lock with versions of nothing": with_lock(b'{"versions": {}}'),
    "a lock that is no JSON": with_lock(b"\xff\xfe{"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_in_a_line(name: str, demo_cli: Cli, tmp_path: Path) -> None:
    archive = HOSTILE[name](tmp_path / "x.zip")
    made = demo_cli("experiment", "unpack", str(archive), "--out", "deep/out")
    assert made.code in (2, 4), made.err
    assert made.err.startswith("error: "), made.err
    assert "Traceback" not in made.err
    assert len(made.err) < 2_000
    assert {path.name for path in tmp_path.iterdir()} <= {"deep", "graph.db", "x.zip"}
    assert not list(tmp_path.rglob("evil*"))
    assert not list(tmp_path.rglob(".part"))


def bomb(path: Path, name: str, size: int) -> Path:
    """Writes an archive whose member of zeros is a thousandth of its size."""
    block = bytes(1 << 20)
    state = hashlib.sha256()
    for _ in range(size // len(block)):
        state.update(block)
    listed = [
        {"@id": "./", "mainEntity": {"@id": PLAN}},
        {"@id": name, "@type": "File", "sha256": state.hexdigest()},
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        if name != CRATE:
            target.writestr(CRATE, json.dumps({"@graph": listed}))
        with target.open(name, "w", force_zip64=True) as member:
            for _ in range(size // len(block)):
                member.write(block)
    return path


def test_metadata_have_a_bound_of_their_own(demo_cli: Cli, tmp_path: Path) -> None:
    archive = bomb(tmp_path / "bomb.zip", CRATE, MAX_METADATA + (1 << 20))
    made = demo_cli("experiment", "unpack", str(archive), "--out", "out")
    assert (made.code, "68,157,440 bytes" in made.err) == (2, True), made.err


@pytest.mark.parametrize("name", [PLAN, CRATE])
def test_a_bomb_is_not_unpacked(name: str, demo_cli: Cli, tmp_path: Path) -> None:
    archive = bomb(tmp_path / "bomb.zip", name, 128 << 20)
    assert archive.stat().st_size < 1 << 20
    made = demo_cli("experiment", "unpack", str(archive), "--out", "out")
    assert made.code == 2, made.err
    assert "would unpack to 134,217," in made.err
    held = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert held < 1 << 20


def test_a_size_that_is_a_lie_writes_no_more_than_it(demo_cli: Cli, tmp_path: Path) -> None:
    archive = bomb(tmp_path / "bomb.zip", PLAN, 16 << 20)
    data = bytearray(archive.read_bytes())
    start = data.rfind(b"PK\x01\x02")
    assert int.from_bytes(data[start + 24 : start + 28], "little") == 16 << 20
    data[start + 24 : start + 28] = (100).to_bytes(4, "little")
    data[start + 16 : start + 20] = zlib.crc32(bytes(100)).to_bytes(4, "little")
    archive.write_bytes(data)
    made = demo_cli("experiment", "unpack", str(archive), "--out", "out")
    assert made.code == 2, made.err
    assert not (tmp_path / "out" / PLAN).exists()
