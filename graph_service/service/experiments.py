"""Experiments as files: what ``graph-service experiment`` left in the folders of one folder.

Nothing outside that folder is read: a name is looked up among its folders, never joined to its
path, and what a link leads out of it to is not there. A folder whose files are wrong or half
written is an experiment with a problem, and no error.
"""

from __future__ import annotations

import csv
import io
import math
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import orjson

from graph_service.errors import LimitError, SetupError
from graph_service.model.experiment import (
    Condition,
    ConditionRow,
    CurvePoint,
    Difference,
    Experiment,
    ExperimentState,
    GraphOfExperiment,
    Mean,
    PartRow,
    ScoreCurve,
)
from graph_service.model.result import Strategy

LOCK = "plan.lock.json"
ANSWERS = "answers.jsonl"
ROWS = "conditions.csv"
CURVES = "curves.csv"
PARTS = "parts.csv"
MAX_EXPERIMENTS = 1_000
MAX_FILE_BYTES = 10_000_000
MAX_ROWS = 50_000
"""Of one file; a report has some hundreds."""
_MAX_CACHED = 32
_BLOCK = 1 << 20

T = TypeVar("T")
Stamp = tuple[tuple[str, int, int, int], ...]


class _DamagedError(Exception):
    """A file is not what its name says."""


def check_folder(folder: Path, /) -> None:
    """Raises ``SetupError`` where experiments can't be read from a folder."""
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK):
        raise SetupError(
            f"there is no folder {folder} of experiments, or it can't be read",
            hint="Name the folder in which those of experiment run --out lie: --experiments DIR",
        )


class ExperimentFolder:
    """The experiments of a folder; itself, if it is one. Thread-safe.

    Args:
        folder: In which the folders of experiments lie.
        graphs: The graphs that exist for who asks; None for all. An experiment of another graph
            is none.
        kept: Shared by those who see other graphs of one folder.
    """

    def __init__(
        self, folder: Path, /, *, graphs: frozenset[str] | None = None, cache: _Cache | None = None
    ) -> None:
        self._root = folder.resolve()
        self._graphs = graphs
        self._cache = cache or _Cache()

    def seen_by(self, graphs: frozenset[str] | None, /) -> ExperimentFolder:
        """Returns the same for who sees some graphs alone; None for all."""
        return ExperimentFolder(self._root, graphs=graphs, cache=self._cache)

    def experiments(self) -> list[Experiment]:
        """Returns those that there are, by name.

        Raises:
            LimitError: There are more than 1,000.
        """
        experiments = [self._read(name, folder) for name, folder in self._folders()]
        return [experiment for experiment in experiments if self._is_seen(experiment)]

    def experiment(self, name: str, /) -> Experiment | None:
        """Returns the experiment of a name; None if there is none."""
        for known, folder in self._folders():
            if known == name:
                experiment = self._read(known, folder)
                return experiment if self._is_seen(experiment) else None
        return None

    def _is_seen(self, experiment: Experiment) -> bool:
        if self._graphs is None:
            return True
        # What can't be read may be of any graph.
        return (
            bool(experiment.graphs) and {graph.name for graph in experiment.graphs} <= self._graphs
        )

    def _folders(self) -> list[tuple[str, Path]]:
        folders: list[tuple[str, Path]] = []
        try:
            if _has_lock(self._root):
                folders.append((self._root.name or "experiment", self._root))
            with os.scandir(self._root) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False) and _is_one(Path(entry.path)):
                        folders.append((entry.name, Path(entry.path)))
                    if len(folders) > MAX_EXPERIMENTS:
                        raise LimitError(
                            f"the folder has more than {MAX_EXPERIMENTS} experiments",
                            hint="Serve a folder of fewer: --experiments DIR",
                        )
        except OSError:
            # It went while the server ran.
            return []
        return sorted(folders)

    def _read(self, name: str, folder: Path) -> Experiment:
        stamp = _stamp_of(folder)
        experiment = self._cache.get(folder, stamp)
        if experiment is None:
            experiment = _experiment(name, folder)
            self._cache.put(folder, stamp, experiment)
        return experiment


class _Cache:
    """What was read last, while its files are as they were."""

    def __init__(self) -> None:
        self._experiments: OrderedDict[Path, tuple[Stamp, Experiment]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, folder: Path, stamp: Stamp) -> Experiment | None:
        with self._lock:
            entry = self._experiments.get(folder)
            return entry[1] if entry is not None and entry[0] == stamp else None

    def put(self, folder: Path, stamp: Stamp, experiment: Experiment) -> None:
        with self._lock:
            self._experiments[folder] = (stamp, experiment)
            self._experiments.move_to_end(folder)
            if len(self._experiments) > _MAX_CACHED:
                self._experiments.popitem(last=False)


def _is_one(folder: Path) -> bool:
    return _has_lock(folder) or any((folder / name).is_file() for name in (ANSWERS, ROWS))


def _has_lock(folder: Path) -> bool:
    return (folder / LOCK).is_file()


def _stamp_of(folder: Path) -> Stamp:
    """Returns what changes when a file of an experiment is written."""
    stamp: list[tuple[str, int, int, int]] = []
    for name in (LOCK, ANSWERS, ROWS, CURVES, PARTS):
        try:
            facts = (folder / name).lstat()
        except OSError:
            continue
        stamp.append((name, facts.st_mtime_ns, facts.st_size, facts.st_ino))
    return tuple(stamp)


def _experiment(name: str, folder: Path) -> Experiment:
    stamp = _stamp_of(folder)
    newest = max((changed for _, changed, _, _ in stamp), default=0)
    moment = datetime.fromtimestamp(newest / 1e9, UTC).isoformat(timespec="seconds")
    experiment = Experiment(name, ExperimentState.RUNNING, updated_at=moment.replace("+00:00", "Z"))
    try:
        experiment = _with_plan(experiment, _bytes_of(folder, LOCK))
        experiment = replace(experiment, answers=_lines_of(folder, ANSWERS))
        there = {name for name, *_ in stamp} & {ROWS, CURVES, PARTS}
        if not there:
            return experiment
        if missing := sorted({ROWS, CURVES, PARTS} - there):
            raise _DamagedError(f"its report is half written: {', '.join(missing)} is missing")
        experiment = replace(
            experiment,
            rows=tuple(_row(line) for line in _table(folder, ROWS)),
            curves=tuple(_curves(_table(folder, CURVES))),
            parts=tuple(_part(line) for line in _table(folder, PARTS)),
        )
        scores = tuple(dict.fromkeys(row.score for row in experiment.rows))
        return replace(experiment, state=ExperimentState.REPORTED, scores=scores)
    except _DamagedError as error:
        return replace(
            experiment,
            state=ExperimentState.DAMAGED,
            problem=str(error),
            rows=(),
            curves=(),
            parts=(),
        )


def _with_plan(experiment: Experiment, data: bytes) -> Experiment:
    try:
        lock = orjson.loads(data)
        plan = lock["plan"]
        return replace(
            experiment,
            title=_text(plan["name"]),
            graphs=tuple(
                GraphOfExperiment(_text(name), _text(prints["edges"]))
                for name, prints in lock["graphs"].items()
            ),
            questions=tuple(_text(entry["name"]) for entry in plan["questions"]),
            answerers=tuple(_text(entry["name"]) for entry in plan["answerers"]),
            version=_text(lock["versions"]["graph_service"]),
            plan=orjson.dumps(plan).decode(),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise _DamagedError(f"{LOCK} is no lock of a plan") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value))
    return value


def _bytes_of(folder: Path, name: str) -> bytes:
    """Returns a file of an experiment.

    Raises:
        _DamagedError: It is missing, a link, no file or too large.
    """
    with _opened(folder, name) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise _DamagedError(f"{name} has more than {MAX_FILE_BYTES:,} bytes")
    return data


def _opened(folder: Path, name: str) -> io.BufferedReader:
    path = folder / name
    # A link may lead out of the folder, and a pipe would never end.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            raise _DamagedError(f"{name} is a link")
        number = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except FileNotFoundError as error:
        raise _DamagedError(f"{name} is missing") from error
    except OSError as error:
        raise _DamagedError(f"{name} can't be read") from error
    file = os.fdopen(number, "rb")
    if not stat.S_ISREG(os.fstat(number).st_mode):
        file.close()
        raise _DamagedError(f"{name} is no file")
    return file


def _lines_of(folder: Path, name: str) -> int:
    """Returns how many whole lines a file has; 0 where there is none yet."""
    if not (folder / name).exists():
        return 0
    with _opened(folder, name) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a table, by the names of its columns."""

    where: str
    cells: Mapping[str, str]

    def text(self, name: str) -> str:
        return self.read(name, str)

    def read(self, name: str, kind: Callable[[str], T]) -> T:
        try:
            return kind(self.cells[name])
        except KeyError as error:
            raise _DamagedError(f"{self.where}: there is no column {name}") from error
        except ValueError as error:
            shown = self.cells[name][:40]
            raise _DamagedError(f"{self.where}, {name}: {shown!r} can't be read") from error

    def maybe(self, name: str, kind: Callable[[str], T]) -> T | None:
        return None if self.cells.get(name) == "" else self.read(name, kind)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _table(folder: Path, name: str) -> Iterator[_Line]:
    try:
        text = _bytes_of(folder, name).decode()
        # A last line without its end may be a beginning of it.
        if not text.endswith("\n"):
            raise _DamagedError(f"{name} is half written: its last line does not end")
        rows = csv.reader(io.StringIO(text), strict=True)
        head = next(rows)
        for line_number, row in enumerate(rows, 2):
            if line_number > MAX_ROWS:
                raise _DamagedError(f"{name} has more than {MAX_ROWS:,} lines")
            if len(row) != len(head):
                raise _DamagedError(
                    f"{name}, line {line_number}: {len(row)} columns came, {len(head)} were expected"
                )
            yield _Line(f"{name}, line {line_number}", dict(zip(head, row, strict=True)))
    except (UnicodeDecodeError, csv.Error, StopIteration) as error:
        raise _DamagedError(f"{name} is no table") from error


def _condition(line: _Line, *, with_amount: bool = True) -> Condition:
    return Condition(
        line.text("graph"),
        line.text("method"),
        line.maybe("level", _number) if with_amount else None,
        line.maybe("count", int) if with_amount else None,
        line.maybe("strategy", Strategy),
        line.text("preset"),
        line.text("answerer"),
    )


def _mean(line: _Line, *names: str) -> Mean:
    value, low, high = names or ("mean", "low", "high")
    return Mean(line.read(value, _number), line.maybe(low, _number), line.maybe(high, _number))


def _difference(line: _Line, name: str) -> Difference | None:
    if line.text(f"{name}_difference") == "":
        return None
    return Difference(
        _mean(line, f"{name}_difference", f"{name}_low", f"{name}_high"),
        line.maybe(f"{name}_p", _number),
        line.maybe(f"{name}_p_holm", _number),
        line.maybe(f"{name}_d_z", _number),
    )


def _row(line: _Line) -> ConditionRow:
    return ConditionRow(
        line.text("score"),
        _condition(line),
        _mean(line),
        line.read("questions", int),
        line.read("missing", int),
        line.read("failed", int),
        _difference(line, "base"),
        _difference(line, "nothing"),
    )


def _part(line: _Line) -> PartRow:
    return PartRow(
        line.text("score"),
        _condition(line),
        line.text("by"),
        line.text("part"),
        _mean(line),
        line.read("questions", int),
        line.read("answers", int),
        _difference(line, "base"),
    )


def _curves(lines: Iterator[_Line]) -> Iterator[ScoreCurve]:
    groups: dict[tuple[str, Condition], list[_Line]] = {}
    for line in lines:
        key = (line.text("score"), _condition(line, with_amount=False))
        groups.setdefault(key, []).append(line)
    for (score, condition), own in groups.items():
        yield ScoreCurve(
            score,
            condition,
            _points(own),
            _mean(own[0], "area", "area_low", "area_high"),
            own[0].maybe("crossing", _number),
        )


def _points(lines: Sequence[_Line]) -> tuple[CurvePoint, ...]:
    points = [CurvePoint(line.read("level", _number), _mean(line)) for line in lines]
    return tuple(sorted(points, key=lambda point: point.level))
