"""The lines of a run: each is an object of JSON, written when what it tells of has happened."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

FILE = "run.jsonl"


class Records:
    """The file, open for adding. A context manager; thread-safe.

    Args:
        path: Of the file; what it held is gone.
    """

    def __init__(self, path: Path, /) -> None:
        self._file = path.open("wb")
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def __enter__(self) -> Records:
        """Gives the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it."""
        self._file.close()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the file was opened."""
        return time.monotonic() - self._began

    def add(self, what: str, /, **fields: Any) -> None:
        """Adds a line, with the seconds since the first as ``at``."""
        line = orjson.dumps({"what": what, "at": round(self.elapsed_s, 3), **fields})
        with self._lock:
            self._file.write(line + b"\n")
            self._file.flush()


def read_records(path: Path, /) -> Iterator[dict[str, Any]]:
    """Yields the lines of a file; the last one is passed over where a run was killed within it."""
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield orjson.loads(line)
