"""What is installed, and what it is built with, is locked by its hash."""

from __future__ import annotations

import re
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


def pip_installs(name: str) -> list[str]:
    """Returns the commands of a makefile or Dockerfile by which pip installs."""
    text = expanded((ROOT / name).read_text(encoding="utf-8"))
    lines = re.findall(r"^(?:\t|RUN )(.*\bpip\b.* install .*)$", text, re.MULTILINE)
    return [line for line in lines if "install --quiet uv" not in line]


@pytest.mark.parametrize(("name", "count"), [("Makefile", 15), ("Dockerfile", 3)])
def test_pip_installs_and_builds_with_locked_packages_alone(name: str, count: int) -> None:
    commands = pip_installs(name)
    assert len(commands) == count
    for command in commands:
        assert "--no-deps" in command, command
        if command.endswith("requirements/build.txt"):
            assert "--require-hashes" in command, command
            continue
        # Otherwise pip fetches the build requirements of a source package, of any version.
        assert "--no-build-isolation" in command, command
        assert ("--require-hashes" in command) == (" -r " in command), command


@pytest.mark.parametrize("name", ["build", "demo", "test", "models", "attack", "mutants"])
def test_every_locked_package_has_a_hash(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    packages = re.split(r"^(?=\S)", text.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    assert packages
    for package in packages:
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
