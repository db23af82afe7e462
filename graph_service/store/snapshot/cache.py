"""Built snapshots in a folder, each checked when it is opened and then memory-mapped.

Files are named by the fingerprints; each is written beside its final place and renamed, so two
processes that build the same one at once do each other no harm. A damaged file is built again
from the store, and a warning says so.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

from graph_service.errors import StoreCorruptError, StoreUnavailableError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.private_files import file_mode, make_private_file, make_private_folder
from graph_service.store.snapshot.file import (
    FORMAT,
    MappedFile,
    open_snapshot,
    verify_snapshot,
    write_snapshot,
)

DEFAULT_CACHE_BYTES = 4 * 2**30
_SUFFIX = ".snapshot"
_ABANDONED_S = 24 * 3600
"""Age from which on a file that a killed process was writing is deleted."""
_IN_USE_S = 24 * 3600
"""Time since its last use within which a snapshot that is deleted for want of room is told of."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_log = logging.getLogger(__name__)


class SnapshotCache:
    """Built snapshots in a folder, the least recently used ones deleted past a size.

    Args:
        folder: Made when first needed. Where it cannot be written, snapshots stay in memory.
        limit_bytes: Most bytes kept; the newest snapshot stays in any case.
        trust: Whether a snapshot is opened without checking its content.
    """

    def __init__(
        self, folder: Path, limit_bytes: int = DEFAULT_CACHE_BYTES, *, trust: bool = False
    ) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes
        self.trust = trust
        self._opened: dict[Path, MappedFile] = {}
        self._lock = threading.Lock()
        self._is_full = False

    def get(self, info: GraphInfo, build: Callable[[], KnowledgeGraph], /) -> KnowledgeGraph:
        """Returns the arrays of an edition, mapped from the cache, built first where needed."""
        path = self.path_of(info)
        graph = self._open(path, info, verify=not self.trust)
        if graph is not None:
            return graph
        self._tell_of_earlier(path)
        built = build()
        try:
            self._save(built, path)
        except OSError as error:
            # A full disk or a folder of another user costs speed, not the answer.
            if error.errno in _FULL and not self._is_full:
                self._is_full = True
                _log.warning(
                    "no space is left for snapshots in %s: the arrays of graphs stay in memory, and "
                    "each process builds its own",
                    self.folder,
                )
            return built
        self._evict(path)
        return self._open(path, info, verify=False) or built

    def mend(self, info: GraphInfo, build: Callable[[], KnowledgeGraph], /) -> None:
        """Makes an opened snapshot right again where its file was written or cut since.

        Every array that is mapped from it is right again then. Costs a look at the file's size
        and time where nothing happened. A query that reads the cut part in the moment before
        can't be saved.

        Raises:
            StoreCorruptError: What the store builds now is not what the file was.
            StoreUnavailableError: The file can't be written, as on a full disk.
        """
        path = self.path_of(info)
        state = self._opened.get(path)
        if state is None or not state.has_changed():
            return
        with self._lock:
            if not state.has_changed():
                return
            try:
                if path.stat().st_size == state.size:
                    verify_snapshot(path)
                    self._opened[path] = MappedFile.of(path, path.stat())
                    return
            except StoreCorruptError as error:
                _log.warning("%s; it is written again from the store", error.message)
            else:
                _log.warning(
                    "the snapshot %s was cut while it was open; it is written again from the store",
                    path.name,
                )
            try:
                self._rewrite(path, state.size, build())
            except OSError as error:
                raise StoreUnavailableError(
                    f"the snapshot {path.name} was damaged while it was open, and can't be written "
                    f"again: {error.strerror or error}",
                    hint=f"Make room in {self.folder}, or delete the file and start again.",
                ) from error

    def verify(self, info: GraphInfo, /) -> int | None:
        """Checks the file of an edition and returns its bytes; None where there is none.

        Raises:
            StoreCorruptError: It is damaged.
        """
        try:
            return verify_snapshot(self.path_of(info))
        except FileNotFoundError:
            return None

    def path_of(self, info: GraphInfo, /) -> Path:
        """Returns the file of an edition's arrays."""
        prints = info.fingerprints
        return self.folder / f"{FORMAT}-{prints.edges}-{prints.content}{_SUFFIX}"

    def adopt(self, info: GraphInfo, path: Path, /) -> None:
        """Takes a file of the same folder, checked already, as the arrays of an edition."""
        target = self.path_of(info)
        path.chmod(0o444)
        path.replace(target)
        self._evict(target)

    def _tell_of_earlier(self, path: Path) -> None:
        """Says that the arrays are there as another version of this package keeps them."""
        _, _, prints = path.name.partition("-")
        for earlier in sorted(self.folder.glob(f"*-{prints}")):
            _log.warning(
                "the snapshot %s is of another version of this package; it is built again from "
                "the store, in format %s",
                earlier.name,
                FORMAT,
            )

    def _open(self, path: Path, info: GraphInfo, *, verify: bool) -> KnowledgeGraph | None:
        try:
            graph, state = open_snapshot(path, info, verify=verify)
        except FileNotFoundError:
            return None
        except StoreCorruptError as error:
            _log.warning("%s; it is built again from the store", error.message)
            return None
        self._opened[path] = state
        # A cache of another user, or on a read-only disk, is read and not marked as used.
        with contextlib.suppress(OSError):
            os.utime(path, ns=(time.time_ns(), state.changed_ns))
        return graph

    def _save(self, graph: KnowledgeGraph, path: Path) -> None:
        make_private_folder(self.folder)
        temporary = self._temporary(graph)
        temporary.replace(path)

    def _temporary(self, graph: KnowledgeGraph) -> Path:
        """Writes a snapshot under a name of its own, for reading only."""
        temporary = self.folder / f".{os.getpid()}-{secrets.token_hex(8)}"
        try:
            make_private_file(temporary)
            with temporary.open("wb") as file:
                write_snapshot(graph, file)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(file_mode() & 0o444)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return temporary

    def _rewrite(self, path: Path, size: int, graph: KnowledgeGraph) -> None:
        """Writes a snapshot into the file that is mapped, rather than beside it."""
        temporary = self._temporary(graph)
        try:
            if temporary.stat().st_size != size:
                raise StoreCorruptError(
                    f"the snapshot {path.name} was damaged while it was open, and the store does "
                    "not hold the same graph any more",
                    hint="Check the store with graph-service verify, then start the server again.",
                )
            path.chmod(file_mode())
            with temporary.open("rb") as source, path.open("r+b") as target:
                while block := source.read(2**22):
                    target.write(block)
                target.truncate(size)
                target.flush()
                os.fsync(target.fileno())
            path.chmod(file_mode() & 0o444)
            self._opened[path] = MappedFile.of(path, path.stat())
        finally:
            temporary.unlink(missing_ok=True)

    def _evict(self, newest: Path) -> None:
        entries: list[tuple[int, Path, int]] = []
        for path in self.folder.iterdir():
            try:
                status = path.stat()
            except OSError:
                continue
            if path.name.startswith(".") and time.time() - status.st_mtime > _ABANDONED_S:
                path.unlink(missing_ok=True)
            if path.suffix != _SUFFIX:
                continue
            entries.append((status.st_atime_ns, path, status.st_size))
        total = sum(size for _, _, size in entries)
        for used_ns, path, size in sorted(entries):
            if total <= self.limit_bytes:
                return
            if path != newest:
                # Who has it mapped keeps it.
                path.unlink(missing_ok=True)
                total -= size
                if time.time() - used_ns / 1e9 < _IN_USE_S:
                    _log.warning(
                        "the snapshot %s (%.1f GB) was deleted to make room in a cache of %.1f GB, "
                        "though it was used within a day; when it is needed it is built again. "
                        "GRAPH_SERVICE_CACHE_GB makes the cache larger.",
                        path.name,
                        size / 1e9,
                        self.limit_bytes / 1e9,
                    )
