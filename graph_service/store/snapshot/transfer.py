"""Snapshots on their way to other machines and back, by content hash.

A depot holds parts of at most ``PART_BYTES``, each named by the hash of its bytes, and a manifest
for each snapshot, which is written last: a push that is broken off leaves parts that the next one
need not send, and nothing that a pull would read. A pull checks every part and then the whole file
before it gets its name.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, TypeVar

import orjson

from graph_service import __version__
from graph_service.errors import InputError, StoreCorruptError, StoreError
from graph_service.file_lock import MOVES_OPEN_FILES, lock_file
from graph_service.model.graph_info import GraphInfo
from graph_service.private_files import make_private_file, make_private_folder
from graph_service.store.snapshot.cache import SnapshotCache
from graph_service.store.snapshot.depot import Depot
from graph_service.store.snapshot.file import FORMAT, verify_snapshot

PART_BYTES = 16 * 2**20
_AT_ONCE = 4
_LOCK_LOOK_S = 0.2
_MANIFESTS = "snapshots"

Progress = Callable[[int, int], object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a depot says of a snapshot.

    Attributes:
        format: Of the file; see ``snapshot.file``.
        edges, content: The fingerprints of the graph.
        graph: Its name where it was pushed.
        statements: How many it has.
        bytes: Of the file.
        hash: BLAKE2b-256 of the hashes of its parts.
        parts: BLAKE2b-256 of each part's bytes, in order.
        part_bytes: Of each part but the last.
        tool_version: Of the package that pushed it.
    """

    format: int
    edges: str
    content: str
    graph: str
    statements: int
    bytes: int
    hash: str
    parts: tuple[str, ...]
    part_bytes: int
    tool_version: str

    def size_of(self, number: int, /) -> int:
        """Returns the bytes of a part."""
        return min(self.part_bytes, self.bytes - number * self.part_bytes)


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a push or a pull has done.

    Attributes:
        bytes: Of the whole snapshot.
        parts: How many parts it has.
        moved_bytes, moved_parts: Those that were not there yet.
    """

    graph: str
    hash: str
    bytes: int
    parts: int
    moved_bytes: int
    moved_parts: int


def push_snapshot(
    path: Path, info: GraphInfo, depot: Depot, /, *, progress: Progress = lambda *_: None
) -> Transfer:
    """Sends the file of a graph's arrays to a depot: the parts that it lacks, then the manifest.

    Raises:
        StoreCorruptError: The file is damaged.
        StoreError: The depot fails; a second push goes on.
    """
    size = verify_snapshot(path)
    hashes: list[str] = []
    moved: list[int] = []

    def send(part: bytes) -> tuple[str, int, int]:
        name = _hash(part)
        if depot.size(_part_name(name)) == len(part):
            return name, len(part), 0
        depot.write(_part_name(name), part)
        return name, len(part), len(part)

    done = 0
    with path.open("rb") as file:
        parts = iter(lambda: file.read(PART_BYTES), b"")
        for name, length, sent in _in_order(partial(send, part) for part in parts):
            hashes.append(name)
            if sent:
                moved.append(sent)
            done += length
            progress(done, size)
    manifest = Manifest(
        format=FORMAT,
        edges=info.fingerprints.edges,
        content=info.fingerprints.content,
        graph=info.name,
        statements=info.counts.statements,
        bytes=size,
        hash=_hash("".join(hashes).encode()),
        parts=tuple(hashes),
        part_bytes=PART_BYTES,
        tool_version=__version__,
    )
    encoded = orjson.dumps(asdict(manifest), option=orjson.OPT_SORT_KEYS)
    name = _manifest_name(info)
    if depot.read(name) != encoded:
        depot.write(name, encoded)
    return Transfer(info.name, manifest.hash, size, len(hashes), sum(moved), len(moved))


def pull_snapshot(
    cache: SnapshotCache,
    info: GraphInfo,
    depot: Depot,
    /,
    *,
    progress: Progress = lambda *_: None,
) -> Transfer:
    """Fetches a graph's arrays into the cache, and goes on where an earlier pull ended.

    Raises:
        InputError: The depot has no snapshot of this graph; says which it has.
        StoreCorruptError: A part or the manifest is not what it should be; says which and how.
        StoreError: The depot fails; a second pull goes on.
    """
    manifest = _read_manifest(depot, info)
    target = cache.path_of(info)
    try:
        make_private_folder(target.parent)
        # The name follows from the content: another snapshot's remains are not gone on with.
        with _alone(target.with_name(f".pull-{manifest.hash}")) as file:
            moved = 0, 0
            if not _is_complete(target):
                moved = _fetch(manifest, depot, file, progress)
                _check(Path(file.name), manifest)
                if not MOVES_OPEN_FILES:
                    file.close()
                cache.adopt(info, Path(file.name))
    except OSError as error:
        raise StoreError(
            f"the cache folder {target.parent} can't be used ({error.strerror or error})",
            hint="Name another (GRAPH_SERVICE_CACHE_DIR), or free disk space.",
        ) from error
    return Transfer(info.name, manifest.hash, manifest.bytes, len(manifest.parts), *moved)


def _is_complete(path: Path) -> bool:
    try:
        verify_snapshot(path)
    except (FileNotFoundError, StoreCorruptError):
        return False
    return True


def _fetch(manifest: Manifest, depot: Depot, file: BinaryIO, progress: Progress) -> tuple[int, int]:
    """Fills a file with the parts that it lacks; returns their bytes and their number."""
    have = 0
    file.seek(0)
    for index, name in enumerate(manifest.parts):
        if _hash(file.read(manifest.size_of(index))) != name:
            break
        have = index + 1
    done = min(have * manifest.part_bytes, manifest.bytes)
    fetched = 0
    file.seek(done)
    file.truncate(done)

    missing = range(have, len(manifest.parts))
    for part in _in_order(partial(_read_part, manifest, depot, index) for index in missing):
        file.write(part)
        done += len(part)
        fetched += len(part)
        progress(done, manifest.bytes)
    file.flush()
    os.fsync(file.fileno())
    return fetched, len(missing)


def _read_part(manifest: Manifest, depot: Depot, number: int) -> bytes:
    name = manifest.parts[number]
    what = f"part {number + 1} of {len(manifest.parts)} ({_part_name(name)}) at {depot.address}"
    again = f"Delete {_part_name(name)} there, and push the snapshot again."
    data = depot.read(_part_name(name))
    if data is None:
        raise StoreCorruptError(f"{what} is missing", hint=again)
    if len(data) != manifest.size_of(number):
        raise StoreCorruptError(
            f"{what} is damaged: it has {len(data):,} bytes, and should have "
            f"{manifest.size_of(number):,}",
            hint=again,
        )
    if _hash(data) != name:
        raise StoreCorruptError(
            f"{what} is damaged: its bytes have the hash {_hash(data)}", hint=again
        )
    return data


def _check(path: Path, manifest: Manifest) -> None:
    """Raises unless the whole file is a snapshot; every part of it was right."""
    try:
        verify_snapshot(path)
    except StoreCorruptError as error:
        path.unlink(missing_ok=True)
        raise StoreCorruptError(
            f"what was pushed as the snapshot of {manifest.graph!r} is none: {error.message}",
            hint="Push it again from a store whose snapshot is whole (graph-service verify).",
        ) from error


def _read_manifest(depot: Depot, info: GraphInfo) -> Manifest:
    name = _manifest_name(info)
    data = depot.read(name)
    if data is None:
        raise InputError(
            f"{depot.address} has no snapshot of {info.name!r} as it is in the store "
            f"(format {FORMAT}, edges {info.fingerprints.edges}, content "
            f"{info.fingerprints.content}). {_what_is_there(depot, info)}",
            argument="address",
            hint=f"Push it from a machine that has it: graph-service snapshot push "
            f"{depot.address} --graph {info.name}",
        )
    manifest = _decode_manifest(data, name, depot)
    for what, value, expected in (
        ("format", manifest.format, FORMAT),
        ("edges", manifest.edges, info.fingerprints.edges),
        ("content", manifest.content, info.fingerprints.content),
        ("statements", manifest.statements, info.counts.statements),
    ):
        if value != expected:
            raise StoreCorruptError(
                f"the manifest {name} at {depot.address} is of another graph: its {what} is "
                f"{value}, and should be {expected}",
                hint=f"Delete {name} there, and push the snapshot again.",
            )
    return manifest


def _decode_manifest(data: bytes, name: str, depot: Depot) -> Manifest:
    try:
        decoded = orjson.loads(data)
        manifest = Manifest(**(decoded | {"parts": tuple(decoded["parts"])}))
        for field in fields(Manifest):
            expected_type: type = {"int": int, "str": str}.get(str(field.type), tuple)
            if not isinstance(getattr(manifest, field.name), expected_type):
                raise ValueError(f"{field.name} is {getattr(manifest, field.name)!r}")
        if any(len(part) != 64 or not part.isalnum() for part in manifest.parts):
            raise ValueError("a part has no hash")
        if manifest.part_bytes < 1 or -(-manifest.bytes // manifest.part_bytes) != len(
            manifest.parts
        ):
            raise ValueError(f"{len(manifest.parts)} parts do not make {manifest.bytes:,} bytes")
        if _hash("".join(manifest.parts).encode()) != manifest.hash:
            raise ValueError("its parts do not have its hash")
    except (ValueError, TypeError, KeyError) as error:
        raise StoreCorruptError(
            f"the manifest {name} at {depot.address} is damaged ({error})",
            hint=f"Delete {name} there, and push the snapshot again.",
        ) from error
    return manifest


def _what_is_there(depot: Depot, info: GraphInfo) -> str:
    """Says which snapshots a depot has, those of the same name first."""
    names = [name for name in depot.names(_MANIFESTS) if name.endswith(".json")]
    if not names:
        return "It has none of any graph"
    manifests = []
    for name in names[:100]:
        with contextlib.suppress(StoreCorruptError):
            data = depot.read(f"{_MANIFESTS}/{name}")
            if data is not None:
                manifests.append(_decode_manifest(data, name, depot))
    manifests.sort(key=lambda each: (each.graph != info.name, each.graph, each.edges))
    listed = "; ".join(
        f"{each.graph} (format {each.format}, edges {each.edges}, content {each.content})"
        for each in manifests[:5]
    )
    more = f", and {len(names) - 5} more" if len(names) > 5 else ""
    return f"It has {listed or 'damaged ones alone'}{more}"


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[BinaryIO]:
    """Opens a file that one process at a time fills; others wait until it is done."""
    while True:
        make_private_file(path)
        with path.open("a+b") as file:
            if lock_file(file.fileno()) and _is_at(path, file):
                yield file
                break
        time.sleep(_LOCK_LOOK_S)
    if path.exists() and not path.stat().st_size:
        path.unlink(missing_ok=True)


def _is_at(path: Path, file: BinaryIO) -> bool:
    """Returns whether a file still has its name: who held it before may have moved it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _in_order(works: Iterator[Callable[[], T]]) -> Iterator[T]:
    """Runs a few works at once and yields what they return, in order."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        begun: deque[Future[T]] = deque()
        try:
            for work in works:
                begun.append(pool.submit(work))
                if len(begun) >= _AT_ONCE:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=32).hexdigest()


def _part_name(name: str) -> str:
    return f"parts/{name[:2]}/{name}"


def _manifest_name(info: GraphInfo) -> str:
    prints = info.fingerprints
    return f"{_MANIFESTS}/{FORMAT}-{prints.edges}-{prints.content}.json"
