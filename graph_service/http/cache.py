"""Answers of endpoints, kept on disk."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import zlib
from hashlib import blake2b
from pathlib import Path

from graph_service.private_files import file_mode, make_private_folder

SIZE_LIMIT_BYTES = 1 << 30


class AnswerCache:
    """Bodies of complete answers, one compressed file each, by endpoint and query.

    Args:
        folder: Made when the first answer is kept.
        days: How long an answer is good; older ones are deleted.
        max_bytes: Size of one answer, unpacked, at most.
    """

    def __init__(self, folder: Path, /, *, days: float, max_bytes: int) -> None:
        self._folder = folder
        self._seconds = days * 86_400
        self._max_bytes = max_bytes

    def _path(self, endpoint: str, query: str) -> Path:
        name = blake2b(f"{endpoint}\n{query}".encode(), digest_size=20).hexdigest()
        return self._folder / name[:2] / f"{name}.z"

    def get(self, endpoint: str, query: str, /) -> bytes | None:
        """Returns the body kept for a query; None if there is none, or it is old or damaged."""
        path = self._path(endpoint, query)
        try:
            if time.time() - path.stat().st_mtime > self._seconds:
                return None
            packed = path.read_bytes()
            unpacker = zlib.decompressobj()
            body = unpacker.decompress(packed, self._max_bytes)
        except (OSError, zlib.error):
            return None
        return body if unpacker.eof else None

    def put(self, endpoint: str, query: str, body: bytes, /) -> bool:
        """Keeps a body; returns whether that worked (a full disk must not stop the load)."""
        path = self._path(endpoint, query)
        try:
            make_private_folder(path.parent)
            descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        except OSError:
            return False
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(zlib.compress(body, 6))
            os.chmod(name, file_mode())
            os.replace(name, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return False
        return True

    def prune(self) -> None:
        """Deletes answers past their time, then the oldest beyond the size limit."""
        remaining: list[tuple[float, int, Path]] = []
        now = time.time()
        for path in self._folder.glob("*/*"):
            try:
                status = path.stat()
                if now - status.st_mtime > self._seconds:
                    path.unlink()
                else:
                    remaining.append((status.st_mtime, status.st_size, path))
            except OSError:
                # Another load may be pruning too.
                continue
        size = sum(bytes_ for _, bytes_, _ in remaining)
        for _, bytes_, path in sorted(remaining):
            if size <= SIZE_LIMIT_BYTES:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            size -= bytes_
