"""Packs a run into one file: plan, questions, lock, prompts, replies, answers, scores, views (B18).

The ZIP archive is an RO-Crate 1.3, and ``croissant.json`` in it is Croissant 1.0 metadata. The same run
is packed into the same bytes, wherever and whenever.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from queries.experiment.answering import Experiment
from queries.experiment.deposit.metadata import (
    CRATE_NAME,
    CROISSANT_NAME,
    Description,
    PackedFile,
    crate_metadata,
    croissant_metadata,
)
from queries.experiment.impact import VIEWS_NAME
from queries.experiment.plan import Plan
from queries.experiment.plan_lock import LOCK_NAME
from queries.experiment.runner import ANSWERS_NAME, TIMINGS_NAME
from queries.experiment.scoring import SCORES_NAME
from queries.generate.prompt import load_prompt, messages_text, prompts_in_use
from queries.line_file import encode_line
from queries.score.criteria import criteria_names

REPLIES_NAME = "replies.db"
PLAN_ABOUT = "The plan."
DELTAS_NAME = "views/deltas.jsonl"
OWN_PROMPTS = "prompts/own"
TABLES = ("conditions.csv", "curves.csv", "parts.csv", "comparisons.csv", "views.csv", "tables.tex")
_RUN_FILES = {
    LOCK_NAME: "What the run was made of: plan, fingerprints, hashes, prompts, versions.",
    ANSWERS_NAME: "One line an answer: its text, what was retrieved, what the view left of its gold.",
    SCORES_NAME: "One line a score of an answer.",
    VIEWS_NAME: "One line a view and question: what the view broke of its gold.",
    TIMINGS_NAME: "Milliseconds of each answer on the machine of the run.",
    "report.md": "The report of the run.",
    **dict.fromkeys(TABLES, "A table of the report."),
}
COMPARED = (ANSWERS_NAME, VIEWS_NAME, SCORES_NAME)
_NEEDED = (LOCK_NAME, ANSWERS_NAME, SCORES_NAME, VIEWS_NAME)
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_BLOCK = 1 << 20

DeltaOf = Callable[[str, ViewRef], Iterable[Mapping[str, Any]]]
"""What a view of a graph changes, a mapping each statement or entity."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run to be packed.

    Attributes:
        plan_file: The plan as it was written.
        folder: Of the run.
        own_prompts: Files of one's own prompts, by name.
    """

    plan_file: Path
    folder: Path
    experiment: Experiment
    own_prompts: Mapping[str, Path]


def pack(
    run: Run, out: Path, /, *, description: Description, delta_of: DeltaOf
) -> tuple[PackedFile, ...]:
    """Writes a run into an archive, and returns what is in it.

    Args:
        run: What was run; all of it, or it is refused.
        out: The archive; it is there whole, or as it was before.
        description: What the run does not say of itself.
        delta_of: Reads what a view changes.

    Raises:
        InputError: A file of the run is missing.
    """
    for name in _NEEDED:
        if not (run.folder / name).is_file():
            raise InputError(
                f"there is no file {run.folder / name}",
                argument="out",
                hint="Run the plan first: graph-service experiment run PLAN.yaml --out DIR",
            )
    plan = run.experiment.plan
    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=".pack-") as scratch:
        files = tuple(
            sorted(
                (
                    _packed(name, path, about)
                    for name, path, about in _files(run, Path(scratch), delta_of)
                ),
                key=lambda file: file.name,
            )
        )
        plan_name = next(file.name for file in files if file.about == PLAN_ABOUT)
        written = Path(scratch) / "archive.zip"
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, metadata in (
                (CRATE_NAME, crate_metadata(plan, plan_name, files, description)),
                (CROISSANT_NAME, croissant_metadata(plan, files, description)),
            ):
                text = orjson.dumps(metadata, option=orjson.OPT_INDENT_2) + b"\n"
                archive.writestr(_entry(name), text)
            for file in files:
                with file.path.open("rb") as source, archive.open(_entry(file.name), "w") as target:
                    while block := source.read(_BLOCK):
                        target.write(block)
        os.replace(written, out)
    return files


def _files(run: Run, scratch: Path, delta_of: DeltaOf) -> Iterator[tuple[str, Path, str]]:
    """Name in the archive, path and content of each file."""
    plan = run.experiment.plan
    inputs = _inputs(plan)
    root = Path(os.path.commonpath([path.parent for path in (_normal(run.plan_file), *inputs)]))
    yield _name_below(_normal(run.plan_file), root), run.plan_file, PLAN_ABOUT
    for path, about in inputs.items():
        yield _name_below(path, root), path, about
    for name, about in _RUN_FILES.items():
        if (run.folder / name).is_file():
            yield f"run/{name}", run.folder / name, about
    if (run.folder / REPLIES_NAME).is_file():
        yield (
            f"run/{REPLIES_NAME}",
            _copy_of_replies(run.folder / REPLIES_NAME, scratch),
            "Every reply of a model, by its whole request.",
        )
    for name, path in run.own_prompts.items():
        yield f"{OWN_PROMPTS}/{name}.txt", path, f"A prompt of the authors in the place of {name}."
    own = {prompt.name for prompt in prompts_in_use().values()}
    for label in read_labels(run.folder / LOCK_NAME):
        name = label.partition("@")[0]
        if name not in own:
            path = scratch / f"prompt-{name}.txt"
            path.write_text(messages_text(load_prompt(name)), encoding="utf-8")
            yield f"prompts/{name}.txt", path, f"Prompt {label}, before texts are put in."
    deltas = scratch / "deltas.jsonl"
    with deltas.open("wb") as file:
        for line in delta_lines(run.experiment, delta_of):
            file.write(line)
    yield DELTAS_NAME, deltas, "One line a statement that a view takes away, changes or adds."


def read_labels(lock: Path, /) -> tuple[str, ...]:
    """Returns the names and versions of the prompts of a lock."""
    return tuple(orjson.loads(lock.read_bytes())["prompts"])


def _inputs(plan: Plan) -> dict[Path, str]:
    """The files that a plan names, each with what it holds."""
    named = {_normal(file.path): "Questions." for file in plan.questions}
    for judge in plan.judges:
        if judge.passages is not None:
            named[_normal(judge.passages)] = "Texts that facts are checked against."
        if judge.criteria not in criteria_names():
            named[_normal(Path(judge.criteria))] = "Criteria of a judge."
    return named


def files_of(plan: Plan, /) -> list[Path]:
    """Returns the files that a plan names."""
    paths = [file.path for file in plan.questions]
    for judge in plan.judges:
        paths += [Path(judge.criteria), *([judge.passages] if judge.passages else [])]
    return paths


def require_relative(plan_file: Path, plan: Plan, /) -> None:
    """Raises ``InputError`` where a plan names a file from the root: elsewhere it is not there."""
    text = plan_file.read_text(encoding="utf-8-sig")
    for path in files_of(plan):
        if path.is_absolute() and str(path) in text:
            raise InputError(
                f"{plan_file} names {path}, which is not there on other machines",
                argument="plan",
                hint="Name it from the folder of the plan, "
                f"{os.path.relpath(path, plan_file.absolute().parent)}, and run the plan into a new "
                "folder.",
            )


def _normal(path: Path) -> Path:
    """The path from the root, without dots: a file has one name however the plan writes it."""
    return Path(os.path.normpath(path.absolute()))


def _name_below(path: Path, root: Path) -> str:
    return f"plan/{path.relative_to(root).as_posix()}"


def _copy_of_replies(path: Path, scratch: Path) -> Path:
    """A copy that has what is still in SQLite's log."""
    copy = scratch / REPLIES_NAME
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def _packed(name: str, path: Path, about: str) -> PackedFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return PackedFile(name, path, about, sha256, path.stat().st_size)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EARLIEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def delta_lines(experiment: Experiment, delta_of: DeltaOf, /) -> Iterator[bytes]:
    """Yields what each view of an experiment changes, a line each, in the plan's order."""
    seen: set[tuple[str, str, str]] = set()
    for cell in experiment.cells:
        graph = cell.condition.graph
        if cell.view is None:
            continue
        subjects = experiment.subjects[graph] if cell.aim is not None else (None,)
        for subject in subjects:
            view = cell.view if subject is None else cell.view_of(subject.gold)
            question = "" if subject is None else subject.case.id
            key = (graph, cell.view_name, question)
            if view is None or key in seen:
                continue
            seen.add(key)
            named = {"graph": graph, "view": cell.view_name}
            if question:
                named["question"] = question
            for change in delta_of(graph, view):
                yield encode_line({**named, **change})
