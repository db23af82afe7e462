"""Makes figures of ``docs/measurements/`` anew: ``make measurements``.

    python -m tools.measurements --data FOLDER --out build/measurements

``measurements.toml`` beside this file lists the parts: name, page, minutes, commands, and figures of
the page. Each part runs in a folder of its own below ``--out``, which gets ``result.json`` (what the
last command printed), ``log.txt`` and ``run.json`` (commands, date, seconds, machine). A part with a
``run.json`` of the same commands is finished and does not run again. Ctrl-C or SIGTERM stops the run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

from graph_service.cli import EXIT_REJECTED
from graph_service.file_lock import lock_file

PARTS = Path(__file__).with_suffix(".toml")
DATA = "FOLDER"
"""Stands in commands for the folder of the data."""
_STOP_S = 10.0


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A figure that a page gives.

    Attributes:
        at: Where the result has it: keys joined by ``/``; in a list, the item of that ``name``.
        value: What the page says.
    """

    at: str
    value: float


@dataclass(frozen=True, slots=True)
class Part:
    """What is measured in one go.

    Attributes:
        page: The file in ``docs/measurements``.
        minutes: What it takes on two quiet cores.
        commands: In order, as the page writes them. The result is what the last one prints.
        figures: Those that are compared with the page; times are not.
    """

    name: str
    page: str
    minutes: float
    commands: tuple[str, ...]
    figures: tuple[PageFigure, ...] = ()


def read_parts(path: Path, /) -> list[Part]:
    """Returns the parts of a table, in its order."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["part"]
    return [
        Part(
            row["name"],
            row["page"],
            row["minutes"],
            tuple(row["commands"]),
            tuple(PageFigure(at, value) for at, value in row.get("figures", {}).items()),
        )
        for row in rows
    ]


def find_figure(result: Any, at: str, /) -> Any:
    """Returns what a result has at a place: a number, or an object with ``value``, ``low``, ``high``.

    Raises:
        KeyError: It has nothing there.
    """
    for key in at.split("/"):
        if isinstance(result, list):
            result = next((one for one in result if one.get("name") == key), None)
        else:
            result = result.get(key) if isinstance(result, dict) else None
        if result is None:
            raise KeyError(at)
    return result


def compare(part: Part, result: Any, /) -> list[str]:
    """Returns a line for each figure of the page that lies outside of the new one's interval.

    A figure that the result gives without an interval differs if it is rounded to another.
    """
    lines = []
    for figure in part.figures:
        where = f"{part.page}: {figure.at} is {figure.value:g} on the page"
        try:
            found = find_figure(result, figure.at)
        except KeyError:
            lines.append(f"{where}; the result has no such figure")
            continue
        new = found if isinstance(found, dict) else {"value": found}
        low, high = new.get("low"), new.get("high")
        if low is not None and high is not None:
            if not low - 0.0005 <= figure.value <= high + 0.0005:
                lines.append(f"{where}, now {new['value']:.3f} ({low:.3f} to {high:.3f})")
        elif abs(new["value"] - figure.value) > 0.0005001:
            lines.append(f"{where}, now {new['value']:.4g}")
    return lines


class Runner:
    """Runs parts one after the other, each in its folder below ``out``."""

    def __init__(self, data: Path, out: Path, lock: int) -> None:
        self._data = data.resolve()
        self._out = out.resolve()
        self._lock = lock
        self._running: subprocess.Popen[bytes] | None = None

    def commands(self, part: Part, /) -> list[str]:
        """Returns a part's commands with the data's folder in them."""
        return [one.replace(DATA, shlex.quote(str(self._data))) for one in part.commands]

    def is_finished(self, part: Part, /) -> bool:
        """Whether an earlier run has finished the part by the same commands."""
        record = self._out / part.name / "run.json"
        return record.is_file() and json.loads(record.read_bytes())["commands"] == self.commands(
            part
        )

    def result(self, part: Part, /) -> Any:
        """Returns what the last command of a finished part printed."""
        text = (self._out / part.name / "result.json").read_text(encoding="utf-8")
        return json.loads(text)

    def run(self, part: Part, /) -> str:
        """Runs a part; returns what went wrong, in words, or nothing."""
        folder = self._out / part.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        began, date = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        commands = self.commands(part)
        for command in commands:
            code = self._run_command(command, folder, is_last=command is commands[-1])
            # The papers' own files hold lines that no store takes.
            is_partly_read = code == EXIT_REJECTED and command.startswith("graph-service load ")
            if code and not is_partly_read:
                return f"exit code {code} of {command}; see {folder / 'log.txt'}"
        try:
            self.result(part)
        except ValueError as error:
            return f"no JSON in {folder / 'result.json'}: {error}"
        record = {
            "commands": commands,
            "date": date,
            "seconds": round(time.monotonic() - began, 1),
            "version": version("graph-service"),
            "machine": f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()}",
        }
        unfinished = folder / "run.json.part"
        unfinished.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(folder / "run.json")
        return ""

    def _run_command(self, command: str, folder: Path, *, is_last: bool) -> int:
        arguments = shlex.split(command)
        if arguments[0] == "graph-service":
            arguments = [sys.executable, "-m", "graph_service.cli", *arguments[1:]]
            arguments += ["--json"] if is_last else []
        elif arguments[0] == "python":
            arguments[0] = sys.executable
            if is_last and arguments[1:3] == ["-m", "benchmarks"]:
                arguments += ["--json"]
        with (
            (folder / "result.json").open("wb") as result,
            (folder / "log.txt").open("ab") as log,
        ):
            # The lock goes to the command too: if this process is killed, nobody starts a second
            # one beside it.
            self._running = subprocess.Popen(
                arguments,
                cwd=folder,
                env={**os.environ, "GRAPH_SERVICE_STORE": f"sqlite:///{folder / 'store.db'}"},
                stdin=subprocess.DEVNULL,
                stdout=result if is_last else log,
                stderr=log,
                start_new_session=True,
                pass_fds=(self._lock,),
            )
            try:
                return self._running.wait()
            finally:
                self.stop()

    def stop(self) -> None:
        """Ends the command that runs, with the processes that it started."""
        running = self._running
        if running is None or running.poll() is not None:
            return
        os.killpg(running.pid, signal.SIGTERM)
        try:
            running.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def chosen(parts: Sequence[Part], names: Iterable[str], /) -> list[Part]:
    """Returns the parts of some names, or all.

    Raises:
        SystemExit: There is no part of a name.
    """
    known = {part.name for part in parts}
    for name in names:
        if name not in known:
            raise SystemExit(f"there is no part {name!r}; there are {', '.join(sorted(known))}")
    return [part for part in parts if not names or part.name in names]


def measure(parts: Sequence[Part], runner: Runner, summary: Path, /) -> int:
    """Runs what is unfinished, compares, and writes a summary; returns the exit code."""
    failed, lines, compared = [], [], 0
    left = sum(part.minutes for part in parts if not runner.is_finished(part))
    for number, part in enumerate(parts, 1):
        head = f"[{number} of {len(parts)}] {part.name}"
        if runner.is_finished(part):
            print(f"{head}: finished before", flush=True)
        else:
            print(f"{head}: some {part.minutes:g} of {left:g} minutes left", flush=True)
            left -= part.minutes
            fault = runner.run(part)
            if fault:
                failed.append(f"{part.name}: {fault}")
                print(f"  failed: {fault}", flush=True)
                continue
        compared += len(part.figures)
        lines += compare(part, runner.result(part))
    told = [
        f"{len(parts) - len(failed)} of {len(parts)} parts measured.",
        *(f"* failed: {one}" for one in failed),
        f"{len(lines)} of {compared} figures differ from the pages beyond their interval.",
        *(f"* {line}" for line in lines),
        "Times are not compared: they belong to a machine.",
    ]
    summary.write_text("\n".join(told) + "\n", encoding="utf-8")
    print("\n".join(told))
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the options and measures; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make measurements", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data")
    parser.add_argument("--out", type=Path, default=Path("build/measurements"))
    parser.add_argument("--only", action="append", default=[], help="only this part")
    parser.add_argument("--parts", type=Path, default=PARTS, help="another table of parts")
    options = parser.parse_args(arguments)
    parts = chosen(read_parts(options.parts), options.only)
    if not options.data.is_dir():
        raise SystemExit(f"there is no folder {options.data}: name yours by DATA=FOLDER")
    options.out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, _interrupt)
    with (options.out / "lock").open("w") as lock:
        if not lock_file(lock.fileno()):
            raise SystemExit(f"another run is at work in {options.out}")
        runner = Runner(options.data, options.out, lock.fileno())
        try:
            return measure(parts, runner, options.out / "summary.md")
        except KeyboardInterrupt:
            print("Stopped. The same command goes on with the part that was cut.")
            return 130


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
