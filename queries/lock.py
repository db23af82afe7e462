"""What keeps a run to itself: one writer a file, and a folder bound to what its run was made of.

``one_writer`` is a lock of the operating system on ``.NAME.lock`` beside the file, which says who
holds it. It is gone with the process, so that what a killed run left behind is taken over at once.

A lock file, such as ``plan.lock.json``, stays in the folder of a run. It holds what the run was made
of. A run goes on only where all of it is the same; what differs is listed line by line.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.file_lock import MOVES_OPEN_FILES, lock_file
from queries.line_file import write_atomically

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
    lock_path = target.with_name(f".{target.name}.lock")
    descriptor = _acquired(lock_path, file)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, _who().encode())
        yield
    finally:
        if MOVES_OPEN_FILES:
            # Taken away while it is held: whoever waits at it sees that it is no longer there.
            lock_path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquired(lock_path: Path, file: Path) -> int:
    for _ in range(_TRIES):
        try:
            descriptor = os.open(
                lock_path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644
            )
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
        if _is_still(descriptor, lock_path):
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


def differences(stored: Mapping[str, Any], now: Mapping[str, Any], /) -> list[str]:
    """Returns what differs between two locks, one line a value.

    >>> differences({"graphs": {"g": {"edges": "a"}}}, {"graphs": {"g": {"edges": "b"}}})
    ['graphs.g.edges: "a" in the lock, "b" now']
    """
    before = dict(_flat(stored, ""))
    after = dict(_flat(now, ""))
    lines = []
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            was, is_ = (
                orjson.dumps(side[name]).decode() if name in side else "nothing"
                for side in (before, after)
            )
            lines.append(f"{name}: {was} in the lock, {is_} now")
    return lines


def _flat(item: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(item, Mapping) and item:
        for name, value in item.items():
            yield from _flat(value, f"{path}.{name}" if path else str(name))
    elif isinstance(item, list) and item:
        for index, value in enumerate(item):
            yield from _flat(value, f"{path}[{index}]")
    else:
        yield path, item


def read_lock_file(file: Path, /, *, of: str, form: int) -> dict[str, Any] | None:
    """Returns what a lock's file holds; None where there is none.

    Args:
        file: The file.
        of: What the lock is of, for the error.
        form: The number that its field ``format`` has.

    Raises:
        InputError: It is no lock.
    """
    if not file.exists():
        return None
    try:
        fields = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InputError(f"{file} is no lock of {of}: {error}", argument="out") from error
    if not isinstance(fields, dict) or fields.get("format") != form:
        raise InputError(f"{file} is no lock of {of}", argument="out")
    return fields


def require_same_lock(
    stored: Mapping[str, Any], now: Mapping[str, Any], file: Path, /, *, of: str
) -> None:
    """Raises ``InputError`` that lists what differs in the parts that ``now`` has."""
    lines = differences({name: stored[name] for name in stored if name in now}, now)
    if lines:
        listed = "".join(f"\n  {line}" for line in lines)
        raise InputError(
            f"{file} was made of another {of}:{listed}",
            argument="out",
            hint="Write to another folder, or take back what changed.",
        )


def write_lock_file(file: Path, lock: Mapping[str, Any], /) -> None:
    """Writes a lock, whole or not at all."""
    write_atomically(file, orjson.dumps(lock, option=orjson.OPT_INDENT_2) + b"\n")
