"""The folder in which the processes of one server have what they share."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import multiprocess

from graph_service.file_lock import lock_file
from graph_service.server.metrics import MULTIPROCESS_FOLDER
from graph_service.server.shared_state import SharedState

_FOLDER_PREFIX = "graph-service-"
_LOCK_NAME = "lock"
"""Of a file in the folder, which the process that listens holds."""


class SharedFolder:
    """The folder of what the processes share; a context manager, removed at its end.

    One that a killed server has left is removed when the next begins.

    Attributes:
        state: The file of ``SharedState``.
    """

    def __init__(self) -> None:
        _remove_left_folders()
        self._folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
        # Locked before it has the name by which others look for it.
        self._lock = os.open(self._folder / "locking", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        lock_file(self._lock)
        (self._folder / "locking").rename(self._folder / _LOCK_NAME)
        self.state = self._folder / "state"
        self._before = os.environ.get(MULTIPROCESS_FOLDER)

    def __enter__(self) -> SharedFolder:
        """Makes what is in it, and tells this process and those it begins of the metrics' folder."""
        SharedState.make(self.state)
        metrics = self._folder / "metrics"
        metrics.mkdir()
        os.environ[MULTIPROCESS_FOLDER] = str(metrics)
        return self

    def __exit__(self, *_: Any) -> None:
        """Removes the folder with its files."""
        if self._before is None:
            os.environ.pop(MULTIPROCESS_FOLDER, None)
        else:
            os.environ[MULTIPROCESS_FOLDER] = self._before
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)


def _remove_left_folders() -> None:
    """Removes the folders of this user's servers that were killed and could not tidy up."""
    for path in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*/{_LOCK_NAME}"):
        with suppress(OSError):
            if path.parent.lstat().st_uid != os.getuid():
                continue
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                if lock_file(descriptor):
                    shutil.rmtree(path.parent, ignore_errors=True)
            finally:
                os.close(descriptor)


def forget_metrics(pid: int, /) -> None:
    """Drops what a process that has ended counted of things that it had open."""
    multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]
