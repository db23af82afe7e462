"""The installed wheel passes ``doctor`` and the demo where nothing of the repository is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import graph_service

PROGRAM = Path(os.environ["GRAPH_SERVICE_TEST_EXPLORER"]) / "bin" / "graph-service"
# The demo takes some seconds of processor time; a busy machine takes many times as long.
LIMIT_S = 600


def run(folder: Path, verb: str) -> str:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GRAPH_SERVICE_", "NEO4J_", "PYTHON"))
    }
    done = subprocess.run(
        [PROGRAM, verb], cwd=folder, env=clean, capture_output=True, text=True, timeout=LIMIT_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_doctor_finds_nothing_wrong(tmp_path: Path) -> None:
    told = run(tmp_path, "doctor")
    assert " 0 failed" in told
    (loaders,) = (line for line in told.splitlines() if line.startswith("ok    loaders "))
    assert "site-packages" in loaders


def test_the_demo_prints_what_the_documents_record(tmp_path: Path) -> None:
    recorded = Path(__file__).parents[2] / "docs" / "first-minute.txt"
    assert "$ graph-service demo\n" + run(tmp_path, "demo") == recorded.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == []


def test_the_installed_wheel_is_what_serves() -> None:
    assert "site-packages" in graph_service.__file__
    assert not any((Path(folder) / "Makefile").exists() for folder in sys.path if folder)
