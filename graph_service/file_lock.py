"""A lock of the operating system's on an open file, gone with the process that held it."""

from __future__ import annotations

import errno
import importlib
import os
from typing import Any

fcntl: Any
try:
    fcntl = importlib.import_module("fcntl")
except ImportError:
    # Windows has another.
    fcntl = None

MOVES_OPEN_FILES = fcntl is not None
"""Whether a file may be renamed or deleted while it is open: not on Windows."""

# Windows locks bytes, which nobody else can then read: one that lies behind what is written.
_LOCKED_AT = 1 << 30
_HELD = (errno.EACCES, errno.EDEADLK)


def lock_file(descriptor: int, /) -> bool:
    """Takes an open file until it is closed; returns whether it was free.

    Raises:
        OSError: The file can't be locked, such as one of a network that knows no locks.
    """
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    msvcrt: Any = importlib.import_module("msvcrt")
    offset = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno not in _HELD:
            raise
        return False
    finally:
        os.lseek(descriptor, offset, os.SEEK_SET)
    return True
