"""A pytest plugin: judges mutants in processes forked from one that has collected all tests.

The fault is on disk in the copy of the checkout, for processes that tests start, and in the forked
process the code of the functions that hold it is replaced. A fault outside of function bodies needs
its module imported anew: its tests run in a new process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from .profile import load_profile

JOBS = "MUTANTS_JOBS"
RESULTS = "MUTANTS_RESULTS"
ALONE = "MUTANTS_ALONE"
STATUS = "MUTANTS_STATUS"
_START_S = 120.0
_TEARDOWN_S = 30.0
_UNSTEADY_MOST = 3


@dataclass(frozen=True)
class Job:
    """One mutant to judge.

    Attributes:
        outer: The outermost function whose body holds the fault.
        anew: Whether the module must be imported anew.
        tests: Those that can notice it, in the order to run them.
        limits: Their limits in seconds.
        judges: A hash of all tests of the area.
    """

    key: str
    path: str
    outer: str
    anew: bool
    original: str
    mutated: str
    tests: Sequence[str]
    limits: Sequence[float]
    judges: str


@dataclass(frozen=True)
class _Ran:
    outcome: str
    test: str


def pytest_configure() -> None:
    """Lets Hypothesis draw the same examples for each mutant."""
    load_profile()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a process of its own, puts the mutant's tests in order, and no others.

    Where a test's id holds a value that the mutant changes, all cases of that test count.
    """
    if ALONE in os.environ:
        wanted: list[str] = json.loads(Path(os.environ[ALONE]).read_text())["tests"]
        by_id = {item.nodeid: item for item in items}
        changed = {test.split("[")[0] for test in wanted if test not in by_id}
        others = [item for item in items if item.nodeid.split("[")[0] in changed]
        chosen = [by_id[test] for test in wanted if test in by_id]
        items[:] = list(dict.fromkeys([*others, *chosen]))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Judges all jobs, or runs the tests of one mutant."""
    if ALONE in os.environ:
        given = json.loads(Path(os.environ[ALONE]).read_text())
        limits = dict(zip(given["tests"], given["limits"], strict=True))
        with open(os.environ[STATUS], "w") as status:
            items = session.items
            longest = max(limits.values())
            _run(session, items, [limits.get(item.nodeid, longest) for item in items], status)
        os._exit(0)
    jobs: list[Job] = pickle.loads(Path(os.environ[JOBS]).read_bytes())
    hunt = _Hunt(session)
    parent = os.getppid()
    with open(os.environ[RESULTS], "a", encoding="utf-8") as results:
        for job in jobs:
            if os.getppid() != parent:
                pytest.exit("the process that asked for it is gone")
            results.write(json.dumps({"mutant": job.key, **hunt.judge(job)}) + "\n")
            results.flush()
    return True


class _Watch:
    """Notes in a child whether a test failed."""

    failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed


def _run(session, items, limits, status) -> None:  # type: ignore[no-untyped-def]
    watch = _Watch()
    session.config.pluginmanager.register(watch)
    for at, (item, limit) in enumerate(zip(items, limits, strict=True)):
        status.write(f"start {item.nodeid}\n")
        status.flush()
        faulthandler.dump_traceback_later(limit, exit=True, file=2)
        following = items[at + 1] if at + 1 < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if watch.failed:
            status.write(f"failed {item.nodeid}\n")
            status.flush()
            faulthandler.dump_traceback_later(_TEARDOWN_S, exit=True, file=2)
            session._setupstate.teardown_exact(None)
            os._exit(1)
    faulthandler.cancel_dump_traceback_later()
    status.write("passed\n")
    status.flush()


class _Hunt:
    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._root = Path.cwd()
        self._items = {item.nodeid: item for item in session.items}
        self._live: dict[str, list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._live[each.__code__.co_filename].append(each)
        self._writes = 0
        gc.freeze()

    def judge(self, job: Job) -> dict[str, object]:
        """Returns the outcome of a mutant, and the test that noticed it."""
        started = time.monotonic()
        file = self._root / job.path
        tests = [
            (test, limit)
            for test, limit in zip(job.tests, job.limits, strict=True)
            if test in self._items
        ]
        unsteady: list[str] = []
        while True:
            self._write(file, job.mutated)
            try:
                ran = self._run_alone(tests) if job.anew else self._run_forked(job, tests)
            finally:
                self._write(file, job.original)
            found = ran.outcome in ("killed", "timed out")
            # A test that fails on the code as it is says nothing of the mutant.
            if not found or not ran.test or len(unsteady) >= _UNSTEADY_MOST:
                break
            again = [pair for pair in tests if pair[0] == ran.test]
            if not again:
                # Only the mutant has a test of this id.
                break
            if self._run_forked(None, again).outcome == "survived":
                break
            unsteady.append(ran.test)
            tests = [pair for pair in tests if pair[0] != ran.test]
        return {
            "outcome": ran.outcome,
            "judges": job.judges,
            "test": ran.test,
            "tests": len(job.tests),
            "unsteady": unsteady,
            "seconds": round(time.monotonic() - started, 2),
        }

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        # A time of its own, so that no compiled file of another text is taken for this one's.
        self._writes += 1
        moment = 1_000_000_000 + os.getpid() % 100_000 * 10_000 + self._writes
        os.utime(file, (moment, moment))

    def _run_forked(self, job: Job | None, tests: Sequence[tuple[str, float]]) -> _Ran:
        folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        child = os.fork()
        if child == 0:
            try:
                self._be_child(folder, job, tests)
            except BaseException as error:
                (folder / "error").write_text(repr(error))
            finally:
                os._exit(3)
        ran = _wait(child, folder, sum(limit for _, limit in tests))
        if job is not None and (folder / "anew").is_file():
            ran = self._run_alone(tests)
        shutil.rmtree(folder, ignore_errors=True)
        return ran

    def _be_child(self, folder: Path, job: Job | None, tests: Sequence[tuple[str, float]]) -> None:
        os.setsid()
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = str(folder)
        self._session.config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
        if job is not None:
            module = job.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if module in sys.modules and not self._replace(job):
                (folder / "anew").touch()
                os._exit(0)
        with (folder / "status").open("w") as status:
            items = [self._items[test] for test, _ in tests]
            _run(self._session, items, [limit for _, limit in tests], status)
        os._exit(0)

    def _replace(self, job: Job) -> bool:
        """Puts the mutant's code into the living functions; False where that cannot be."""
        name = str(self._root / job.path)
        pairs = [
            (before, after)
            for before, after in zip(
                _codes(job.original, name, job.outer),
                _codes(job.mutated, name, job.outer),
                strict=False,
            )
            if _content(before) != _content(after)
        ]
        wanted = {
            (old.co_qualname, old.co_firstlineno): new
            for before, after in pairs
            for old, new in _pairs(before, after)
        }
        outer = {(before.co_qualname, before.co_firstlineno) for before, _ in pairs}
        replaced = False
        for function in self._live[name]:
            code = function.__code__
            place = (code.co_qualname, code.co_firstlineno)
            if place not in wanted:
                continue
            try:
                function.__code__ = wanted[place]
            except ValueError:
                # It closes over other names than before.
                return False
            replaced = replaced or place in outer
        return replaced

    def _run_alone(self, tests: Sequence[tuple[str, float]]) -> _Ran:
        folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        given = folder / "given.json"
        given.write_text(
            json.dumps({"tests": [t for t, _ in tests], "limits": [limit for _, limit in tests]})
        )
        files = list(dict.fromkeys(test.split("::")[0] for test, _ in tests))
        command = [sys.executable, "-m", "pytest", "-q", "-p", __name__, "-p", "no:faulthandler"]
        process = subprocess.Popen(
            [*command, "-p", "no:cacheprovider", *files],
            env={
                **os.environ,
                ALONE: str(given),
                STATUS: str(folder / "status"),
                "TMPDIR": str(folder),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        ran = _wait(process.pid, folder, sum(limit for _, limit in tests))
        process.returncode = 0
        shutil.rmtree(folder, ignore_errors=True)
        return ran


def _wait(child: int, folder: Path, limit: float) -> _Ran:
    """Waits for a child and everything it started; reads from its status how it ended."""
    end = time.monotonic() + limit + _START_S
    while True:
        done, code = os.waitpid(child, os.WNOHANG)
        late = time.monotonic() > end
        if done or late:
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if late and not done:
        os.waitpid(child, 0)
    status = folder / "status"
    lines = status.read_text().splitlines() if status.is_file() else []
    if not lines and (folder / "error").is_file():
        raise RuntimeError((folder / "error").read_text())
    if not lines:
        # The module, or a test's, could not be imported.
        return _Ran("timed out" if late else "killed", "")
    word, _, test = lines[-1].partition(" ")
    if word == "passed":
        return _Ran("survived", "")
    if word == "failed":
        return _Ran("killed", test)
    return _Ran("timed out" if late or os.waitstatus_to_exitcode(code) == 1 else "killed", test)


def _codes(text: str, name: str, qualified: str) -> list[CodeType]:
    return [code for code in _inside(_compile(text, name)) if code.co_qualname == qualified]


def _compile(text: str, name: str) -> CodeType:
    compiled: CodeType = compile(text, name, "exec", dont_inherit=True)
    return compiled


def _inside(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _inside(const)


def _content(code: CodeType) -> tuple[object, ...]:
    consts = tuple(
        _content(each) if isinstance(each, CodeType) else (type(each).__name__, repr(each))
        for each in code.co_consts
    )
    return code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars


def _pairs(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    yield before, after
    old = [each for each in before.co_consts if isinstance(each, CodeType)]
    new = [each for each in after.co_consts if isinstance(each, CodeType)]
    for one, other in zip(old, new, strict=False):
        if one.co_qualname == other.co_qualname:
            yield from _pairs(one, other)
