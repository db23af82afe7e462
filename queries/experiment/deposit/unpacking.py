"""Unpacks a deposit: each file checked by its SHA-256, and a run compared with the one packed (B18)."""

from __future__ import annotations

import hashlib
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from graph_service import __version__
from graph_service.client import Client
from graph_service.errors import GraphNotFoundError, InputError
from graph_service.model.serialise import to_plain
from graph_service.model.view_spec import VIEW_ALGORITHM
from queries.experiment.deposit.metadata import CRATE_NAME
from queries.experiment.deposit.packing import files_of
from queries.experiment.plan import Plan
from queries.line_file import write_atomically

_BLOCK = 1 << 20
MAX_METADATA = 64 << 20
"""Bytes of the metadata, which are read into memory."""
SMALL = 100 << 20
MAX_RATIO = 100
"""An archive whose files have more bytes than ``SMALL``, and this many times its own, is a bomb."""
MAX_NAME = 200
"""Bytes of a file's name with its folders."""
_DAMAGED = (
    EOFError,
    NotImplementedError,  # of a compression that is unknown
    RuntimeError,  # of a file that is encrypted
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A deposit in a folder, each file as it was packed.

    Attributes:
        folder: What the archive's names begin at.
        plan_file: The plan.
    """

    folder: Path
    plan_file: Path

    @property
    def run(self) -> Path:
        """Returns the folder of the run that was packed."""
        return self.folder / "run"

    @property
    def own_prompts(self) -> tuple[str, ...]:
        """Returns ``NAME=FILE`` of each prompt of the authors' own."""
        root = self.folder / "prompts" / "own"
        files = sorted(root.rglob("*.txt")) if root.is_dir() else []
        return tuple(
            f"{file.relative_to(root).with_suffix('').as_posix()}={file}" for file in files
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """A file of a run beside the same file of another run.

    Attributes:
        name: Of the file.
        lines: Of the one that was packed.
        equal: Lines of it that are the same bytes.
        first_difference: Number of the first line that differs, from 1; None where all are equal.
    """

    name: str
    lines: int
    equal: int
    first_difference: int | None

    def words(self) -> str:
        """Returns what is equal, in a line."""
        if self.first_difference is None:
            return f"{self.name}: equal, {self.lines:,} lines"
        return (
            f"{self.name}: {self.equal:,} of {self.lines:,} lines are equal; the first that differs "
            f"is line {self.first_difference:,}"
        )


def unpack(archive: Path, out: Path, /) -> Unpacked:
    """Writes the files of a deposit into a folder, each checked by its SHA-256.

    Args:
        archive: What ``experiment pack`` wrote.
        out: A new or empty folder, or one of a deposit, whose files are written anew.

    Raises:
        InputError: It is no deposit, a file of it is missing, altered or not listed, or the folder
            holds something else; names it.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            _require_size(opened, archive)
            crate = _crate(opened, archive)
            files = {
                entry["@id"]: entry["sha256"]
                for entry in crate.values()
                if entry.get("@type") == "File"
            }
            _require_listed(opened, files, archive)
            plan = crate["./"]["mainEntity"]["@id"]
            if plan not in files:
                raise _no_deposit(archive, f"it has no plan {plan!r}")
            _require_own(out)
            write_atomically(out / CRATE_NAME, opened.read(CRATE_NAME))
            for name, sha256 in files.items():
                _write(opened, name, sha256, out, archive)
    except (*_DAMAGED, KeyError, TypeError, AttributeError) as error:
        raise _no_deposit(archive, str(error)) from error
    return Unpacked(out, out / _safe(plan, archive))


def _crate(opened: zipfile.ZipFile, archive: Path) -> dict[str, Mapping[str, Any]]:
    """The entities of the crate's metadata by id."""
    try:
        read = orjson.loads(opened.read(CRATE_NAME))
        return {entity["@id"]: entity for entity in read["@graph"]}
    except orjson.JSONDecodeError as error:
        raise _no_deposit(archive, f"{CRATE_NAME}: {error}") from error


def _require_size(opened: zipfile.ZipFile, archive: Path) -> None:
    """Raises ``InputError`` where the files have more bytes than those of a deposit can have."""
    sizes = {info.filename: info.file_size for info in opened.infolist()}
    total, most = sum(sizes.values()), max(SMALL, MAX_RATIO * archive.stat().st_size)
    if total > most:
        raise InputError(
            f"{archive} would unpack to {total:,} bytes; {most:,} are allowed for its size",
            argument="file",
            hint="Take the archive from where it was published.",
        )
    if sizes.get(CRATE_NAME, 0) > MAX_METADATA:
        raise InputError(
            f"{archive}: {CRATE_NAME} has {sizes[CRATE_NAME]:,} bytes; {MAX_METADATA:,} are allowed",
            argument="file",
        )


def _no_deposit(archive: Path, why: str) -> InputError:
    return InputError(
        f"{archive} is no deposit of an experiment: {why}",
        argument="file",
        hint="graph-service experiment pack writes one.",
    )


def _require_listed(opened: zipfile.ZipFile, files: Mapping[str, str], archive: Path) -> None:
    names = {name for name in opened.namelist() if name.partition("/")[1]}
    for name in sorted(files.keys() ^ names):
        what = "is missing" if name in files else f"is not listed in {CRATE_NAME}"
        raise InputError(f"{archive}: {name} {what}", argument="file")
    folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    for name in sorted(folders & names):
        raise InputError(f"{archive}: {name} is a file and a folder", argument="file")


def _require_own(out: Path) -> None:
    """Makes the folder; raises ``InputError`` where it holds what no deposit wrote."""
    out.mkdir(parents=True, exist_ok=True)
    if not (out / CRATE_NAME).is_file() and any(out.iterdir()):
        raise InputError(
            f"the folder {out} holds other files",
            argument="out",
            hint="Name a folder that is new or empty, or that a deposit was unpacked into.",
        )


def _safe(name: str, archive: Path) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        raise InputError(f"{archive}: {name!r} leads out of the folder", argument="file")
    if str(path) != name or not name.isprintable() or len(os.fsencode(name)) > MAX_NAME:
        raise InputError(f"{archive}: {name[:100]!r} is no name of a file", argument="file")
    return path


def _write(opened: zipfile.ZipFile, name: str, sha256: str, out: Path, archive: Path, /) -> None:
    path = out / _safe(name, archive)
    path.parent.mkdir(parents=True, exist_ok=True)
    # No file of a deposit has this name: those that are listed are in folders.
    part = out / ".part"
    state = hashlib.sha256()
    try:
        with opened.open(name) as source, part.open("wb") as target:
            while block := source.read(_BLOCK):
                state.update(block)
                target.write(block)
        if state.hexdigest() != sha256:
            raise InputError(
                f"{archive}: {name} was altered: sha256 {sha256} was expected, "
                f"{state.hexdigest()} came",
                argument="file",
                hint="Take the archive from where it was published.",
            )
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def require_version(lock: Mapping[str, Any], archive: Path, /) -> None:
    """Raises ``InputError`` where another version made a run: its answers may differ."""
    versions = lock["versions"]
    if versions != {"graph_service": __version__, "views": VIEW_ALGORITHM}:
        made = versions["graph_service"]
        raise InputError(
            f"{archive} was made by graph-service {made}, views of algorithm {versions['views']}; "
            f"this is {__version__}, views of algorithm {VIEW_ALGORITHM}",
            argument="file",
            hint=f"Install that version: pip install 'graph-service=={made}'",
        )


def require_graphs(lock: Mapping[str, Any], client: Client, archive: Path, /) -> None:
    """Raises ``InputError`` where a graph of a run is missing, or has other statements."""
    for name, fingerprints in lock["graphs"].items():
        try:
            now = to_plain(client.graph(name).fingerprints)
        except GraphNotFoundError as error:
            raise InputError(
                f"{archive} needs graph {name!r}, which is not in the store",
                argument="store",
                hint=f"Load it (graph-service load), or pull its snapshot: edges "
                f"{fingerprints['edges']}.",
            ) from error
        if now != fingerprints:
            different = [part for part in fingerprints if now.get(part) != fingerprints[part]]
            raise InputError(
                f"graph {name!r} is not the one of {archive}: "
                + "; ".join(
                    f"{part} {fingerprints[part]} was expected, {now.get(part)} came"
                    for part in different
                ),
                argument="store",
                hint="Load the source that the run was made of.",
            )


def require_own_files(unpacked: Unpacked, plan: Plan, archive: Path, /) -> None:
    """Raises ``InputError`` where the plan of a deposit names a file that is not in it."""
    root = unpacked.folder.resolve()
    for path in files_of(plan):
        if not path.resolve().is_relative_to(root):
            raise InputError(
                f"the plan of {archive} names {path}, which is no file of it", argument="file"
            )


def compare_files(packed: Path, again: Path, names: Sequence[str], /) -> Iterator[Compared]:
    """Yields how files of two runs compare, line by line; those that were not packed are left out."""
    for name in names:
        if (packed / name).is_file():
            yield _compared(name, packed / name, again / name)


def _compared(name: str, packed: Path, again: Path) -> Compared:
    lines = equal = 0
    first: int | None = None
    other = again.read_bytes() if again.is_file() else b""
    with packed.open("rb") as file:
        for index, (line, mine) in enumerate(zip_longest(file, other.splitlines(True)), 1):
            lines += line is not None
            if line == mine:
                equal += 1
            elif first is None:
                first = index
    return Compared(name, lines, equal, first)
