"""What a process has written to a cluster or seen of it, so that no later read finds less.

A member of a cluster may lag behind the leader. A bookmark names a state, and a member that
is given one answers only once it has reached that state. Processes of one machine hand theirs
on in a file, so that a read finds what a load of another process has written before.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import neo4j
import orjson

from graph_service.file_lock import lock_file
from graph_service.private_files import make_private_file, make_private_folder

_LOCK_WAIT_S = 2.0
_log = logging.getLogger(__name__)


class SharedBookmarks(neo4j.api.BookmarkManager):
    """The bookmarks of a process, and of the file that it shares with others; thread-safe.

    Args:
        initial: Those to begin with.
        file: Where processes hand theirs on; None for nowhere.
    """

    def __init__(self, initial: Collection[str] = (), file: Path | None = None) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._own = frozenset(initial)
        self._of_file: frozenset[str] = frozenset()
        self._file_state: tuple[int, int, int] | None = None
        # What a transaction was given and has gone beyond; others' files may still hold it.
        self._surpassed: frozenset[str] = frozenset()
        self._has_failed = False

    def get_bookmarks(self) -> Collection[str]:
        """Returns the states that the next transaction must see."""
        with self._lock:
            self._look_at_file()
            return self._own | (self._of_file - self._surpassed)

    def update_bookmarks(
        self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]
    ) -> None:
        """Takes over the state that a transaction has reached, in place of what it was given."""
        if not new_bookmarks:
            return
        with self._lock:
            new = frozenset(new_bookmarks)
            self._own = (self._own - frozenset(previous_bookmarks)) | new
            self._surpassed |= frozenset(previous_bookmarks) & self._of_file
            self._surpassed -= new

    def held(self) -> frozenset[str]:
        """Returns those of this process."""
        return self._own

    def save(self) -> None:
        """Hands what this process has written to the others.

        Without the file a read of theirs may find the state before; nothing else fails.
        """
        if self.file is None:
            return
        try:
            with self._lock, _locked(self.file):
                self._look_at_file()
                self._write((self._of_file - self._surpassed) | self._own)
        except OSError as error:
            if not self._has_failed:
                _log.warning(
                    "bookmarks cannot be kept in %s (%s): other processes may read for a moment "
                    "what was there before a write of this one",
                    self.file,
                    error,
                )
            self._has_failed = True

    def forget(self) -> bool:
        """Drops all bookmarks, of the file too; returns whether there were any."""
        with self._lock:
            self._look_at_file()
            had = bool(self._own | self._of_file)
            self._own = self._surpassed = frozenset()
            if self.file is not None and self._of_file:
                with contextlib.suppress(OSError), _locked(self.file):
                    self._write(frozenset())
            # Where the file can't be written, it is left aside until it changes.
            self._of_file = frozenset()
            return had

    def _look_at_file(self) -> None:
        if self.file is None:
            return
        try:
            status = self.file.stat()
            state = (status.st_ino, status.st_size, status.st_mtime_ns)
            if state == self._file_state:
                return
            self._of_file = frozenset(map(str, orjson.loads(self.file.read_bytes())))
            self._file_state = state
        except FileNotFoundError:
            self._of_file, self._file_state = frozenset(), None
        except (OSError, ValueError, TypeError):
            # Written whole and renamed: what is no list of ours came from elsewhere.
            self._of_file = frozenset()
        self._surpassed &= self._of_file

    def _write(self, bookmarks: frozenset[str]) -> None:
        assert self.file is not None
        temporary = self.file.with_name(f".{os.getpid()}-{secrets.token_hex(4)}")
        try:
            make_private_file(temporary)
            temporary.write_bytes(orjson.dumps(sorted(bookmarks)))
            temporary.replace(self.file)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Lets one process at a time change the file.

    Raises:
        OSError: Another has held it for seconds, or the folder cannot be written.
    """
    make_private_folder(file.parent)
    limit = time.monotonic() + _LOCK_WAIT_S
    path = file.with_suffix(".lock")
    make_private_file(path)
    with path.open("ab") as lock:
        while not lock_file(lock.fileno()):
            if time.monotonic() > limit:
                raise TimeoutError("another process holds its lock")
            time.sleep(0.002)
        yield
