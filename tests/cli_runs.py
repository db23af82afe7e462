"""Runs of the command line, in this process and in new ones, for its tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from demo_graph import copy_store

from graph_service.cli import main
from graph_service.settings import SETTINGS, Settings


class Run(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        assert self.out.count("\n") == 1, self.out
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


Cli = Callable[..., Run]


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    demo_settings: Settings,
    tmp_path: Path,
) -> Cli:
    """Runs the command line in this process, in an empty folder, with an empty environment."""
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", demo_settings.vectors)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Run:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


@pytest.fixture
def demo_cli(cli: Cli, monkeypatch: pytest.MonkeyPatch, demo_file: Path, tmp_path: Path) -> Cli:
    """Runs the command line over a store of the test's own, with graph ``demo``."""
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    return cli


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
