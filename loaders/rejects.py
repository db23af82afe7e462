"""The file of rejected pieces: that of one load, of all its runs, and of no other load."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from graph_service.errors import InputError
from graph_service.file_lock import lock_file
from graph_service.model.serialise import to_plain
from graph_service.store.protocol import Conflict
from loaders.items import Reject, excerpt, location_text

DEFAULT_REJECTS_PATH = Path("rejects.jsonl")
_MAX_DEFAULT_FILES = 100
_DIGEST_BYTES = 16
_BINARY = getattr(os, "O_BINARY", 0)
"""Without it Windows writes other ends of lines."""
_MARK = b'{"file":'
"""How every line of rejects begins."""


def check_rejects_path(path: Path | None, /) -> None:
    """Raises ``InputError`` for a path at which no file can be made, before anything is read."""
    if path is None:
        return
    problem = ""
    try:
        if path.is_dir():
            problem = "it is a folder"
        elif not path.parent.is_dir():
            problem = f"there is no folder {path.parent}"
        elif not os.access(path if path.exists() else path.parent, os.W_OK):
            problem = "you may not write there"
    except OSError as error:
        problem = error.strerror or str(error)
    if problem:
        raise InputError(
            f"{path} can't be written, and that is where pieces of the source go that can't be read: "
            f"{problem}; name another place for them",
            argument="rejects_path",
        )


class RejectsFile:
    """One JSON object a line; there is no file where nothing was rejected.

    A load's first run begins it anew. A run that resumes goes on behind what was committed, if
    the file still begins with that; where it does not (another load wrote there, or it was
    moved), it begins anew too, and ``lost`` says so.

    Args:
        path: Where it lies; None for ``rejects.jsonl`` in the current folder, or for
            ``rejects-2.jsonl`` and so on while other loads write the ones before.
        committed: ``state`` as the last checkpoint has it; empty for a first run.

    Raises:
        InputError: What is there can't be written, or another load is writing it.

    Attributes:
        lost: Whether what earlier runs rejected is no longer in it.
    """

    def __init__(self, path: Path | None, /, *, committed: Mapping[str, Any]) -> None:
        check_rejects_path(path)
        self._is_default = path is None
        self.path = path = path or Path(committed.get("path") or DEFAULT_REJECTS_PATH)
        self.lost = False
        self._size = int(committed.get("bytes", 0))
        self._digest = blake2b(digest_size=_DIGEST_BYTES)
        self._file: BinaryIO | None = None
        # What another load left there would pass for this one's, were it not cut off now.
        if self._size or path.is_file():
            self._open(str(committed.get("digest", "")))

    def state(self) -> dict[str, Any]:
        """Returns what a checkpoint keeps of the file."""
        return {
            "bytes": self._size,
            "digest": self._digest.hexdigest(),
            "path": str(self.path) if self._is_default else "",
        }

    def add(self, rejects: Sequence[Reject], /) -> None:
        """Writes rejects; raises ``InputError`` if the file can't be made."""
        if self._file is None:
            self._open("")
        assert self._file is not None
        data = b"".join(
            orjson.dumps(to_plain(reject), option=orjson.OPT_APPEND_NEWLINE) for reject in rejects
        )
        self._file.write(data)
        self._digest.update(data)
        self._size += len(data)

    def strict_error(self, reject: Reject, /, *, nothing: str, mend: str) -> InputError:
        """Returns the error with which a strict load ends at a reject, which is on disk then."""
        self.flush()
        return InputError(
            f"{reject.location}: {reject.reason}",
            argument="strict",
            hint=f"Nothing was {nothing}. Mend the {mend}, or load it without --strict.",
        )

    def flush(self) -> None:
        """Writes buffered rejects to the file."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Closes the file; one that is empty is removed."""
        if self._file is None:
            return
        if not self._size and self.path.is_file():
            self.path.unlink()
        self._file.close()

    def _take_next_path(self) -> bool:
        """Goes on to the next file in the folder; returns whether there is one."""
        _, _, index = self.path.stem.partition("-")
        following = int(index or 1) + 1
        if following > _MAX_DEFAULT_FILES:
            return False
        self.path = DEFAULT_REJECTS_PATH.with_stem(f"{DEFAULT_REJECTS_PATH.stem}-{following}")
        self.lost = self.lost or bool(self._size)
        self._size, self._digest = 0, blake2b(digest_size=_DIGEST_BYTES)
        return True

    def _open(self, digest: str) -> None:
        try:
            if self.path.exists() and not self.path.is_file():
                # A pipe or a terminal: nothing there to go on with.
                self._file = open(self.path, "wb")  # noqa: SIM115 - open as long as the load
                return
            # Not truncated by opening it, for another load may be writing there.
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | _BINARY, 0o666)
            self._file = open(descriptor, "r+b")  # noqa: SIM115 - open as long as the load
            if not _lock(self._file):
                self._file.close()
                self._file = None
                if self._is_default and self._take_next_path():
                    self._open("")
                    return
                raise InputError(
                    f"another load is writing what it rejects to {self.path}; name another place",
                    argument="rejects_path",
                )
            if self._file.read(len(_MARK)) not in (b"", _MARK):
                # Cut, it would be lost: a store, or the very source.
                self._file.close()
                self._file = None
                raise InputError(
                    f"{self.path} is there and is no file of rejects; what can't be read would "
                    "take its place",
                    argument="rejects_path",
                    hint="Name another place, or delete that file first.",
                )
            self._file.seek(0)
            self._digest.update(self._file.read(self._size))
            if self._size and self._digest.hexdigest() != digest:
                self.lost = True
                self._size, self._digest = 0, blake2b(digest_size=_DIGEST_BYTES)
            self._file.seek(self._size)
            self._file.truncate()
        except OSError as error:
            if self._file is not None:
                self._file.close()
                self._file = None
            raise InputError(
                f"{self.path} can't be written ({error.strerror or error}), and that is where "
                "pieces of the source go that can't be read; name another place for them",
                argument="rejects_path",
            ) from error


def conflict_reject(conflict: Conflict, /) -> Reject:
    """Returns the reject of what a load gave twice with different content."""
    first = location_text(conflict.stored_source, conflict.stored_line)
    reason = (
        f"another document of {conflict.id} than at {first}, of no newer revision; that one is kept"
        if conflict.is_document
        else f"another statement under the id {conflict.id} than at {first}; that one is kept"
    )
    return Reject(conflict.source, conflict.line, 0, reason, excerpt(conflict.id))


def _lock(file: BinaryIO) -> bool:
    """Takes the file until it is closed; returns whether it was free."""
    try:
        return lock_file(file.fileno())
    except OSError:
        # Some network file systems know no locks; there loads are the user's to keep apart.
        return True
