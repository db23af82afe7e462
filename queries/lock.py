"""One writer a file: a lock of the operating system's, gone with the process that held it.

The lock is on a file beside, ``.NAME.lock``, which says who holds it. A process that was killed holds
nothing any more, so that what it left behind is taken over at once.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from graph_service.errors import InputError
from graph_service.file_lock import MOVES_OPEN_FILES, lock_file

_TRIES = 20


@contextlib.contextmanager
def one_writer(path: Path | str | None, /) -> Iterator[None]:
    """Holds the right to write a file; does nothing for None, and for what is no plain file.

    Raises:
        InputError: Another process holds it, which is named; or nothing can be written there.
    """
    file = Path(path) if path is not None else None
    if file is None or (file.exists() and not file.is_file()):
        yield
        return
    # A link is locked as what it leads to, under whatever name that is written.
    target = file.resolve()
    beside = target.with_name(f".{target.name}.lock")
    descriptor = _acquired(beside, file)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, _who().encode())
        yield
    finally:
        if MOVES_OPEN_FILES:
            # Taken away while it is held: whoever waits at it sees that it is no longer there.
            beside.unlink(missing_ok=True)
        os.close(descriptor)


def _acquired(beside: Path, file: Path) -> int:
    for _ in range(_TRIES):
        try:
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise InputError(f"can't write {file}: {error.strerror}", argument="out") from error
        if not lock_file(descriptor):
            holder = os.read(descriptor, 400).decode(errors="replace").strip()
            os.close(descriptor)
            raise InputError(
                f"{file} is being written by {holder or 'another process'}",
                argument="out",
                hint="Wait until it has ended, or write to another file.",
            )
        if _is_still(descriptor, beside):
            return descriptor
        os.close(descriptor)
    raise InputError(
        f"{file} is being written by others, one after another",
        argument="out",
        hint="Write to another file.",
    )


def _is_still(descriptor: int, path: Path) -> bool:
    """Whether what is locked still has the name; it had not where the holder before took it away."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (there.st_ino, there.st_dev) == (held.st_ino, held.st_dev)


def _who() -> str:
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    return f"process {os.getpid()} on {socket.gethostname()}, since {began}\n"
