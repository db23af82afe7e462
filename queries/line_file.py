"""Files of JSON lines whose lines are whole after any end of the process that writes them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain


class LineFile:
    """The file of JSON lines that a run writes; after any end its lines are whole or cut off.

    Args:
        path: The file; made with the first line.
    """

    def __init__(self, path: Path, /) -> None:
        self.path = path

    def read(self, is_valid: Callable[[bytes, str], bool], /) -> int:
        """Reads the lines up to the first that is not to stay, and returns their size in bytes.

        Args:
            is_valid: Says of a line, without its end, and of where it is (``a.jsonl, line 3``),
                whether it stays. A last line that is torn is not read.
        """
        size = 0
        if self.path.exists():
            with self._errors("read"), self.path.open("rb") as file:
                for index, line in enumerate(file, 1):
                    where = f"{self.path.name}, line {index}"
                    if not line.endswith(b"\n") or not is_valid(line[:-1], where):
                        break
                    size += len(line)
        return size

    def resume(self, is_valid: Callable[[bytes, str], bool], /) -> None:
        """Reads the lines as ``read`` does, and cuts off what is not to stay.

        Raises:
            InputError: The file can't be read or cut.
        """
        size = self.read(is_valid)
        if self.path.exists() and size < self.path.stat().st_size:
            with self._errors(), self.path.open("r+b") as file:
                file.truncate(size)

    def append(self, *lines: Any, is_synced: bool = True) -> None:
        """Writes lines at the end.

        Args:
            lines: What each is made of. Without any, the file is made where there is none.
            is_synced: Whether they are on the disk before this returns. Without it they outlive the
                end of the process, but not that of the machine.

        Raises:
            InputError: The file can't be written.
        """
        self.append_bytes(map(encode_line, lines), is_synced=is_synced and bool(lines))

    def append_bytes(self, lines: Iterable[bytes], /, *, is_synced: bool = True) -> None:
        """Writes lines at the end that are encoded already, each with its line end.

        Raises:
            InputError: The file can't be written.
        """
        with self._errors(), self.path.open("ab") as file:
            file.writelines(lines)
            file.flush()
            if is_synced:
                os.fsync(file.fileno())

    def replace(self, lines: Iterable[Any], /) -> None:
        """Writes all lines anew; the file is there as it was, or with all of them."""
        with self._errors():
            write_lines(self.path, lines)

    @contextlib.contextmanager
    def _errors(self, verb: str = "write") -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"can't {verb} {self.path}: {error.strerror}", argument="out"
            ) from error


def encode_line(item: Any, /) -> bytes:
    """Returns an item as a line of JSON with its end."""
    return orjson.dumps(to_plain(item)) + b"\n"


def write_lines(path: Path, items: Iterable[Any], /) -> None:
    """Writes items as JSON lines; the file is there whole, or as it was before."""
    write_atomically(path, b"".join(map(encode_line, items)))


def write_atomically(path: Path, data: bytes, /) -> None:
    """Writes a file that is there whole, or as it was before."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
