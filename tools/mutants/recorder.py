"""A pytest plugin: records which lines of an area each test runs, and how long it takes."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

from .profile import load_profile
from .sources import hash_source

_ROOT = Path.cwd()
_AREA = Path(os.environ["MUTANTS_AREA"])
_WANTED: dict[str, str] = json.loads(os.environ["MUTANTS_RECORD"])
_FIXTURE = "fixture "
_TEST = "MUTANTS_TEST"

_folder = Path(tempfile.mkdtemp(prefix="mutants-"))
_coverage = Coverage(
    data_file=str(_folder / "data"), data_suffix=True, source=[str(_AREA)], config_file=False
)
_coverage.start()

# Processes that tests start record too, under the test that started them; killed ones as well.
(_folder / "coveragerc").write_text(
    f"[run]\nparallel = True\ndata_file = {_folder / 'data'}\nsource = {_AREA}\n"
    f"context = ${{{_TEST}}}\nsigterm = True\nplugins = tools.mutants.saving\n"
)
os.environ["COVERAGE_PROCESS_START"] = str(_folder / "coveragerc")
os.environ[_TEST] = ""

_seconds: dict[str, float] = defaultdict(float)
_failed: set[str] = set()
_passed: set[str] = set()
_fixtures: dict[str, list[str]] = {}
_context = ""


def _enter(context: str) -> str:
    global _context
    before, _context = _context, context
    _coverage.switch_context(context)
    os.environ[_TEST] = context
    return before


def pytest_configure() -> None:
    """Lets Hypothesis draw the same examples as for the mutants."""
    load_profile()


def pytest_collection_finish() -> None:
    """Imports the whole area, so that no test seems to run what an import runs."""
    for path in sorted(_AREA.rglob("*.py")):
        parts = path.relative_to(_ROOT).with_suffix("").parts
        importlib.import_module(".".join(parts).removesuffix(".__init__"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Records under the test."""
    _fixtures[item.nodeid] = list(getattr(item, "fixturenames", ()))
    before = _enter(item.nodeid)
    try:
        return (yield)
    finally:
        _enter(before)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Records a fixture that tests share under its own name."""
    if fixturedef.scope == "function":
        return (yield)
    before = _enter(_FIXTURE + fixturedef.argname)
    try:
        return (yield)
    finally:
        _enter(before)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes how long a test takes and how it ends."""
    _seconds[report.nodeid] += report.duration
    if report.failed:
        _failed.add(report.nodeid)
    elif report.when == "call" and report.passed:
        _passed.add(report.nodeid)


def pytest_sessionfinish(exitstatus: int) -> None:
    """Writes the record of each test file."""
    _coverage.stop()
    _coverage.save()
    os.environ.pop("COVERAGE_PROCESS_START")
    if exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR):
        return
    started = time.time()
    whole = Coverage(data_file=str(_folder / "data"), config_file=False)
    whole.combine()
    judging = _passed - _failed
    users: dict[str, set[str]] = defaultdict(set)
    for test in judging:
        for name in _fixtures[test]:
            users[name].add(test)
    lines: dict[str, dict[str, dict[int, set[str]]]] = {path: {} for path in _WANTED}
    imported: dict[str, list[int]] = {}
    data = whole.get_data()
    for measured in data.measured_files():
        path = Path(measured).relative_to(_ROOT).as_posix()
        imported[path] = []
        for line, contexts in data.contexts_by_lineno(measured).items():
            if "" in contexts:
                imported[path].append(line)
            for context in contexts:
                tests = {context} & judging
                if context.startswith(_FIXTURE):
                    tests = users[context.removeprefix(_FIXTURE)]
                for test in tests:
                    by_line = lines[test.split("::")[0]].setdefault(path, {})
                    by_line.setdefault(line, set()).add(test)
    for file, out in _WANTED.items():
        of_file = {test for test in _seconds if test.split("::")[0] == file}
        record = {
            "seconds": {test: _seconds[test] for test in of_file & judging},
            "failed": sorted(of_file & _failed),
            "lines": lines[file],
            "imported": imported,
            "sources": {path: hash_source(_ROOT / path) for path in imported},
        }
        partial = Path(out).with_suffix(".partial")
        partial.write_text(json.dumps(record, default=sorted), encoding="utf-8")
        partial.rename(out)
    print(f"recorded in {time.time() - started:.1f} s")
