"""The installed wheel passes ``doctor`` and the demo where nothing of the repository is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PROGRAM = Path(os.environ["GRAPH_SERVICE_TEST_EXPLORER"]) / "bin" / "graph-service"
# The demo takes half a minute of processor time, and twice that if no text was embedded before.
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


def test_the_demo_runs_from_its_first_to_its_last_step(tmp_path: Path) -> None:
    told = run(tmp_path, "demo")
    heads = [line.split(":")[0] for line in told.splitlines() if line.startswith("== ")]
    assert heads[:3] == ["== Loaded", "== Asked", "== Answered"]
    assert heads[-1].startswith("== Asked again on 10 random seeds")
    assert "Maria Shriver -[spouse]-> Arnold Schwarzenegger -[mother]->" in told
    assert list(tmp_path.iterdir()) == []
