"""What the processes of one server know together, in a file that all of them have mapped.

Each process says there whether it is warm and that its event loop runs, and the buckets of all
clients lie there. One process at a time embeds names of graphs. A process that is killed leaves no
lock behind: the kernel gives a lock on a file back with its holder.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from graph_service.server.rates import MAX_CLIENTS, Bucket

if sys.platform != "win32":
    import fcntl

MAX_PROCESSES = 64
_WAYS = 8
"""Buckets among which one client's is looked for; the one that was used first gives way."""
_SETS = MAX_CLIENTS // _WAYS
_SLOT = struct.Struct("<16sdd")
"""Digest of the client, what is available, and when that was so (``time.monotonic``)."""
_NOBODY = bytes(16)
_BUCKETS_AT = 2 * MAX_PROCESSES
"""Behind a byte of each process that says whether it is warm, and one that counts its beats."""
_BYTES = _BUCKETS_AT + _SETS * _WAYS * _SLOT.size


class SharedState:
    """The file, as one process has it open. Thread-safe.

    Args:
        path: Of the file; see ``make``.
        processes: How many processes the server has.
    """

    def __init__(self, path: Path, processes: int, /) -> None:
        self._processes = processes
        self._lock = threading.Lock()
        # Stays open: the locks of a process go with the first descriptor of the file it closes.
        self._file = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        self._memory = mmap.mmap(self._file, _BYTES)

    @staticmethod
    def make(path: Path, /) -> None:
        """Makes the file that the processes share."""
        path.write_bytes(bytes(_BYTES))
        path.chmod(0o600)

    def set_warm(self, number: int, is_warm: bool, /) -> None:
        """Says whether a process is warm.

        Args:
            number: Of the process, from 0.
            is_warm: Whether it is.
        """
        self._memory[number] = is_warm

    def count_cold(self) -> int:
        """Returns how many processes are not warm."""
        return self._memory[: self._processes].count(0)

    def beat(self, number: int, /) -> None:
        """Counts a beat of a process; see ``heartbeat``."""
        self._memory[MAX_PROCESSES + number] = (self.beats(number) + 1) % 256

    def beats(self, number: int, /) -> int:
        """Returns the count of a process's beats, from 0 to 255 and around."""
        return self._memory[MAX_PROCESSES + number]

    @contextmanager
    def embedding_turn(self) -> Iterator[bool]:
        """Gives whether no other process is in such a block."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _BYTES)
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _BYTES)

    @contextmanager
    def held(self, client: str, most: float, now: float) -> Iterator[Bucket]:
        """Gives a client's bucket, a full one if it has none, and keeps it; see ``Buckets``."""
        digest = blake2b(client.encode(errors="surrogatepass"), digest_size=16).digest()
        number = int.from_bytes(digest[:8], "little") % _SETS
        start, size = _BUCKETS_AT + number * _WAYS * _SLOT.size, _WAYS * _SLOT.size
        # A lock on a file holds other processes off, and none of this process's threads.
        with self._lock:
            fcntl.lockf(self._file, fcntl.LOCK_EX, size, start)
            try:
                slots = list(_SLOT.iter_unpack(self._memory[start : start + size]))
                index = next((i for i, slot in enumerate(slots) if slot[0] == digest), None)
                if index is None:
                    index = min(range(_WAYS), key=lambda i: (slots[i][0] != _NOBODY, slots[i][2]))
                    bucket = Bucket(most, now)
                else:
                    bucket = Bucket(*slots[index][1:])
                yield bucket
                _SLOT.pack_into(
                    self._memory, start + index * _SLOT.size, digest, bucket.available, bucket.at
                )
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, size, start)

    def close(self) -> None:
        """Closes the file; the other processes keep theirs."""
        self._memory.close()
        os.close(self._file)
