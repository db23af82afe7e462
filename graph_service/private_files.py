"""Files that only their owner reads: stores, vectors and caches, by one setting.

What a user names as output, such as the file of ``--out``, keeps the umask of the user.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from graph_service.errors import InputError

VARIABLE = "GRAPH_SERVICE_FILE_MODE"
DEFAULT = "600"
_MODE = re.compile("6[046][04]|6[046]6")


def file_mode() -> int:
    """Returns the mode of new files of stores, vectors and caches, whatever the umask is.

    Raises:
        InputError: The setting is no such mode.
    """
    return parse_mode(os.environ.get(VARIABLE) or DEFAULT)


def parse_mode(text: str, /) -> int:
    """Returns the mode of three octal digits.

    Raises:
        InputError: It is none, or the owner could not read and write.

    >>> oct(parse_mode("640"))
    '0o640'
    """
    if _MODE.fullmatch(text) is None:
        raise InputError(
            f"{VARIABLE} must be three digits such as 600 or 660, got {text!r}", argument=VARIABLE
        )
    return int(text, 8)


def make_private_file(path: Path, /) -> None:
    """Makes an empty file with the mode of the setting; one that is there stays as it is.

    What can't be made is left to whoever opens it, whose error says more.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.close(descriptor)
        path.chmod(file_mode())


def make_private_folder(path: Path, /) -> None:
    """Makes a folder and those above it that lack; each may be entered by who may read files.

    Raises:
        OSError: One can't be made.
    """
    if path.is_dir():
        return
    if path.parent != path:
        make_private_folder(path.parent)
    mode = file_mode()
    # Another process may be making it too.
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
        # Whoever may read its files may enter it.
        path.chmod(mode | mode >> 2 & 0o111)
