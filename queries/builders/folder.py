"""The folder of a data set: what its build rests on, and the counts of its stages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from graph_service import __version__
from graph_service.errors import InputError
from graph_service.model.serialise import from_plain, to_plain
from queries.builders.asking import load_builder_prompt
from queries.builders.stages import StageCounts
from queries.line_file import write_atomically
from queries.lock import read_lock_file, require_same_lock, write_lock_file

LOCK_NAME = "dataset.lock.json"
COUNTS_NAME = "counts.json"
_FORMAT = 1


def lock_of(
    builder: str,
    /,
    *,
    settings: Mapping[str, Any],
    model: str,
    prompts: Sequence[str] = (),
    files: Sequence[Path] = (),
    graph: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Returns what a build rests on as it is now.

    Args:
        builder: Its name.
        settings: What decides its stages.
        model: Who writes.
        prompts: Names of the prompts it uses.
        files: What it reads.
        graph: Name and fingerprints; None where it reads none.

    Raises:
        InputError: A file can't be read.
    """
    return {
        "format": _FORMAT,
        "builder": builder,
        "settings": to_plain(settings),
        "model": model,
        "prompts": [load_builder_prompt(name).label for name in prompts],
        "files": {file.name: _hash(file) for file in files},
        "graph": to_plain(graph or {}),
        "version": __version__,
    }


def _hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"can't read {file}: {error.strerror}", argument="file") from error


def take_folder(folder: Path, lock: Mapping[str, Any], /) -> None:
    """Locks a folder to a build; raises ``InputError`` where it holds another one."""
    stored = read_lock_file(folder / LOCK_NAME, of="a data set", form=_FORMAT)
    if stored is None:
        write_lock_file(folder / LOCK_NAME, lock)
    else:
        require_same_lock(stored, lock, folder / LOCK_NAME, of="build or graph")


def read_lock(folder: Path, builder: str, /) -> dict[str, Any]:
    """Returns the lock of a data set; raises ``InputError`` where there is none of that builder."""
    stored = read_lock_file(folder / LOCK_NAME, of="a data set", form=_FORMAT)
    if stored is None or stored["builder"] != builder:
        came = "nothing" if stored is None else f"one of {stored['builder']}"
        raise InputError(
            f"{folder}: a data set of {builder} was expected; {came} came",
            argument="out",
            hint=f"Build it: graph-service dataset {builder} build --out DIR",
        )
    return stored


def write_counts(folder: Path, counts: Sequence[StageCounts], /) -> None:
    """Writes what became of the items of each stage, whole."""
    data = orjson.dumps(to_plain(list(counts)), option=orjson.OPT_INDENT_2)
    write_atomically(folder / COUNTS_NAME, data + b"\n")


def read_counts(folder: Path, /) -> tuple[StageCounts, ...]:
    """Returns the counts of a build that ended; raises ``InputError`` where it did not."""
    path = folder / COUNTS_NAME
    try:
        return tuple(from_plain(StageCounts, row) for row in orjson.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise InputError(
            f"there is no file {path}: the build has not ended",
            argument="out",
            hint="Run the build again; it goes on where it was.",
        ) from error
    except (orjson.JSONDecodeError, TypeError, InputError) as error:
        raise InputError(f"{path} holds no counts of stages: {error}", argument="out") from error
