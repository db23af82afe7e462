"""What is installed, and what it is built with, is locked by its hash."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = (ROOT / "requirements" / "build.txt").read_text(encoding="utf-8")


def expanded(text: str) -> str:
    """Returns a makefile with its own variables put in."""
    names = dict(re.findall(r"^(\w+) \??:?= (.*)$", text, re.MULTILINE))
    for _ in names:
        text = re.sub(r"\$\((\w+)\)", lambda found: names.get(found[1], found[0]), text)
    return text


def installs(name: str) -> list[str]:
    """Returns the commands of a file by which pip or uv installs, or that which they share."""
    text = expanded((ROOT / name).read_text(encoding="utf-8")).replace('"$python" -m pip', "pip")
    found: list[str] = re.findall(r"^\W*(?:RUN )?(.*\bpip\b.* install .*)$", text, re.MULTILINE)
    return [line for line in found if ":=" not in line]


@pytest.mark.parametrize(
    ("name", "count"), [("Makefile", 9), ("Dockerfile", 3), ("tools/install_locked.sh", 2)]
)
def test_what_installs_and_builds_is_locked(name: str, count: int) -> None:
    commands = installs(name)
    assert len(commands) == count
    for command in commands:
        assert "--no-deps" in command, command
        if command.endswith("requirements/build.txt"):
            assert "--require-hashes" in command, command
            continue
        # Otherwise the build requirements of a source package are fetched, of any version.
        assert "--no-build-isolation" in command, command
        assert ("--require-hashes" in command) == (not command.endswith(" .")), command


def script(tmp_path: Path, *, uv: int) -> list[str]:
    """Returns what ``tools/install_locked.sh`` calls where uv ends with a status."""
    calls, bin_ = tmp_path / "calls", tmp_path / "bin"
    bin_.mkdir()
    for name, status in (("uv", uv), ("python", 0)):
        (bin_ / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {calls}\nexit {status}\n')
        (bin_ / name).chmod(0o755)
    command = [
        str(ROOT / "tools/install_locked.sh"),
        str(tmp_path),
        "some.txt",
        "--only-binary",
        ":all:",
    ]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return calls.read_text().splitlines()


def test_uv_installs_and_pip_where_uv_can_not(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    built, last = script(tmp_path / "a", uv=0)
    assert built.startswith("python -m pip ")
    assert built.endswith("-r requirements/build.txt")
    assert last.startswith("uv pip install ")
    assert last.endswith("--only-binary :all: -r some.txt")
    (tmp_path / "b").mkdir()
    *_, tried, last = script(tmp_path / "b", uv=2)
    assert tried.startswith("uv pip ")
    assert last.startswith("python -m pip ")
    assert last.endswith("--only-binary :all: -r some.txt")


@pytest.mark.parametrize(
    "name", ["build", "demo", "test", "models", "adapters", "evaluators", "mutants"]
)
def test_every_locked_package_has_a_hash(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    packages = re.split(r"^(?=\S)", text.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    assert packages
    for package in packages:
        assert re.match(r"[\w.\[\]-]+==\S+.*--hash=sha256:[0-9a-f]{64}", package), package[:80]


def test_the_clients_of_the_tests_are_locked_too() -> None:
    folder = ROOT / "tests" / "clients"
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert lock["packages"].pop("")["dependencies"] == wanted
    for name, package in lock["packages"].items():
        assert re.match(r"sha512-", package["integrity"]), name
    for version in wanted.values():
        assert re.fullmatch(r"(npm:\w+@)?\d+\.\d+\.\d+", version), version
    for path in (folder / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8").replace("\\\n", "")
        for package in re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]:
            assert re.match(r"[\w.\[\]-]+==\S+.*--hash=sha256:[0-9a-f]{64}", package), package[:80]


def test_what_builds_is_locked_and_one_with_what_runs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {re.split(r"[<>=~]", name)[0] for name in project["build-system"]["requires"]}
    # What pcst-fast's setup.py asks for, and hatchling for an editable installation.
    needed |= {"setuptools", "setuptools-scm", "pybind11", "editables"}
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", BUILD, re.MULTILINE))
    assert needed <= locked.keys()
    for name in ("demo", "test", "models"):
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        others = dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))
        for package in locked.keys() & others.keys():
            assert locked[package] == others[package], (name, package)
