"""What a run in a folder rests on, kept beside it: what differs from it now is told line by line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError


def differences(kept: Mapping[str, Any], now: Mapping[str, Any], /) -> list[str]:
    """Returns what differs between two locks, one line a value.

    >>> differences({"graphs": {"g": {"edges": "a"}}}, {"graphs": {"g": {"edges": "b"}}})
    ['graphs.g.edges: "a" in the lock, "b" now']
    """
    before = dict(_flat(kept, ""))
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
        for number, value in enumerate(item):
            yield from _flat(value, f"{path}[{number}]")
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
        found = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InputError(f"{file} is no lock of {of}: {error}", argument="out") from error
    if not isinstance(found, dict) or found.get("format") != form:
        raise InputError(f"{file} is no lock of {of}", argument="out")
    return found


def require_same_lock(
    kept: Mapping[str, Any], now: Mapping[str, Any], file: Path, /, *, of: str
) -> None:
    """Raises ``InputError`` that lists what differs in the parts that ``now`` has."""
    lines = differences({name: kept[name] for name in kept if name in now}, now)
    if lines:
        told = "".join(f"\n  {line}" for line in lines)
        raise InputError(
            f"{file} was made of another {of}:{told}",
            argument="out",
            hint="Write to another folder, or take back what changed.",
        )


def write_lock_file(file: Path, lock: Mapping[str, Any], /) -> None:
    """Writes a lock, whole or not at all."""
    write_whole(file, orjson.dumps(lock, option=orjson.OPT_INDENT_2) + b"\n")


def write_whole(path: Path, data: bytes, /) -> None:
    """Writes a file that is there whole, or as it was before."""
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
