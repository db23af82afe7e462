"""The folder of a load under way: what its tasks have written, so that a killed one goes on.

A task writes its files under other names and renames them, and its record last. So a record stands
for files that are whole, and a task that has one is not run again, whoever was killed meanwhile.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError

SCRATCH = "_load"
"""The folder of a load under way, below what it writes."""
_PLAN = "plan.json"
_RECORDS = "records"
_TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True)
class Workspace:
    """What lies in the folder of a load; tasks on other machines see it under the same path.

    Attributes:
        folder: The folder.
    """

    folder: Path

    def begin(self, decisive: Mapping[str, Any], /) -> Mapping[str, Any] | None:
        """Returns the plan of a load that was interrupted; None where a new one begins.

        What is there of a load of another source, or with other options, is deleted.

        Args:
            decisive: What decides the result.
        """
        try:
            stored: Mapping[str, Any] = orjson.loads((self.folder / _PLAN).read_bytes())
        except (OSError, orjson.JSONDecodeError):
            stored = {}
        # As JSON has it: tuples are lists there.
        if stored and stored["decisive"] == orjson.loads(orjson.dumps(dict(decisive))):
            shutil.rmtree(self.folder / _TEMPORARY, ignore_errors=True)
            plan: Mapping[str, Any] = stored["plan"]
            return plan
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        return None

    def write_plan(self, decisive: Mapping[str, Any], plan: Mapping[str, Any], /) -> None:
        """Writes the plan, after all that it names."""
        data = orjson.dumps({"decisive": dict(decisive), "plan": dict(plan)})
        with self.new_file(self.folder / _PLAN) as path:
            path.write_bytes(data)

    @contextmanager
    def new_file(self, path: Path, /) -> Iterator[Path]:
        """Gives a path to write to; the file is renamed to ``path`` when it is whole."""
        temporary = self.folder / _TEMPORARY
        temporary.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        written = temporary / f"{path.name}-{uuid.uuid4().hex}"
        yield written
        with written.open("rb") as file:
            os.fsync(file.fileno())
        written.replace(path)

    def record(self, stage: str, index: int, /) -> Any:
        """Returns the record of a task; None where it was not done."""
        try:
            return orjson.loads(self._record_path(stage, index).read_bytes())
        except FileNotFoundError:
            return None

    def write_record(self, stage: str, index: int, record: Any, /) -> None:
        """Writes the record of a task whose files are all there."""
        with self.new_file(self._record_path(stage, index)) as path:
            path.write_bytes(orjson.dumps(record))

    def done(self, stage: str, /) -> set[int]:
        """Returns the indices of the tasks of a stage that were done."""
        folder = self.folder / _RECORDS / stage
        return {int(path.stem) for path in folder.glob("*.json")}

    def remove(self) -> None:
        """Deletes the folder with all that tasks wrote; a folder that is gone is no error."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _record_path(self, stage: str, index: int) -> Path:
        return self.folder / _RECORDS / stage / f"{index:08}.json"


def open_workspace(out: Path, /, *, finished: str) -> Workspace:
    """Returns the workspace of a load into a folder.

    Args:
        out: What the load writes; new, empty, or with a load under way.
        finished: A file that is written last.

    Raises:
        InputError: The folder holds something else.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; expected a new folder", argument="to")
    names = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if names and SCRATCH not in names:
        what = "a finished load" if finished in names else "other files"
        raise InputError(
            f"{out} holds {what}; expected a new folder",
            argument="to",
            hint="Name another folder, or delete it first.",
        )
    return Workspace(out / SCRATCH)
