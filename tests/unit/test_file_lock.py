"""What Windows lacks: exports, loads and the fetch of a model go without it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from demo_graph import copy_store

from graph_service.file_lock import lock_file

ROOT = Path(__file__).parents[2]
POSIX_ALONE = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}

# A Python like that of Windows: no POSIX modules, no pread, a lock of bytes, and no file is moved
# or deleted while it is open.
WINDOWS = f"""
import errno, os, pathlib, subprocess, sys, types
for name in {sorted(POSIX_ALONE - {"posix"})}:
    sys.modules[name] = None
del os.pread
held = {{}}

def locking(descriptor, mode, count):
    found = os.fstat(descriptor)
    place = (found.st_ino, found.st_dev, os.lseek(descriptor, 0, os.SEEK_CUR), count)
    for other, locked in list(held.items()):
        try:
            still = os.path.samestat(os.fstat(other), os.stat(f"/proc/self/fd/{{other}}"))
        except OSError:
            still = False
        if not still:
            del held[other]
        elif locked == place and other != descriptor:
            raise OSError(errno.EACCES, "locked")
    held[descriptor] = place

sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)

def closed_alone(call):
    def checked(path, *given, **named):
        for name in os.listdir("/proc/self/fd"):
            try:
                is_open = os.readlink(f"/proc/self/fd/{{name}}") == str(path.absolute())
            except OSError:
                continue
            if is_open:
                raise PermissionError(errno.EACCES, "open", str(path))
        return call(path, *given, **named)
    return checked

pathlib.Path.replace = closed_alone(pathlib.Path.replace)
pathlib.Path.unlink = closed_alone(pathlib.Path.unlink)
"""
EXPORT = """
from graph_service.cli import main
code = main(["export", sys.argv[2], "--graph", "demo", "--store", sys.argv[1]])
assert code == 0, code
assert held, "no file was locked"
"""
TWICE = """
from graph_service.errors import InputError
from graph_service.export.run import replaced
from loaders.rejects import RejectsFile
from queries.lock import one_writer

def refused(open_it):
    try:
        with open_it():
            sys.exit("two write one file")
    except InputError as error:
        assert "written by" in str(error), error

out = sys.argv[2]
with replaced(out) as file:
    file.write(b"whole")
    refused(lambda: replaced(out))
assert open(out, "rb").read() == b"whole"
with one_writer(out):
    refused(lambda: one_writer(out))
with one_writer(out):
    pass
try:
    with replaced(out):
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
assert open(out, "rb").read() == b"whole"
left = [name for name in os.listdir(os.path.dirname(out)) if name.endswith(".partial")]
assert not left, left
"""


def on_windows(program: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS + program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout


pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="which files are open is read from /proc"
)


def test_a_graph_is_exported(demo_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "demo.jsonl"
    on_windows(EXPORT, copy_store(demo_file, tmp_path), str(out))
    assert out.stat().st_size > 100_000
    assert not (tmp_path / ".demo.jsonl.partial").exists()


def test_one_writes_a_file(tmp_path: Path) -> None:
    on_windows(TWICE, "", str(tmp_path / "out.bin"))


def test_a_lock_goes_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as first, path.open("rb") as second:
        assert lock_file(first.fileno())
        assert not lock_file(second.fileno())
        first.close()
        assert lock_file(second.fileno())


@pytest.mark.parametrize("package", ["graph_service", "loaders", "queries", "benchmarks"])
def test_no_module_needs_posix_to_be_imported(package: str) -> None:
    needs = re.compile(rf"^(?:import|from) (?:{'|'.join(POSIX_ALONE)})\b", re.MULTILINE)
    for path in (ROOT / package).rglob("*.py"):
        assert not needs.search(path.read_text(encoding="utf-8")), path
