"""The commands in consoles of these pages are run, and what a page prints is what they print.

A block that has a file's name for a title (``jsonl title="changes.jsonl"``) is that file for the commands below it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from demo_graph import copy_store, demo_file, demo_settings

from graph_service.cli import main
from graph_service.settings import SETTINGS, Settings
from queries.datasets import demo_set

__all__ = ["demo_file", "demo_settings"]

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+ title=\"(\w+\.\w+)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run, and what a page has in its place.
DIFFERING = (
    (re.compile(r"(?<= in )\d+\.\d s$", re.MULTILINE), "0.1 s"),
    (re.compile(r"gskey_[0-9a-f]{64}"), "gskey_..."),
    (re.compile(r"\b20\d\d-\d\d-\d\dT[0-9:]{8}\+00:00"), "2026-11-22T00:00:00+00:00"),
)
COMMAND = re.compile(r"^\$ graph-service (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@pytest.mark.parametrize(
    "name",
    [
        "how-to/keys.md",
        "how-to/load-a-table.md",
        "how-to/load-your-tables.md",
        "how-to/perturb-a-graph.md",
        "how-to/run-an-experiment.md",
        "reference/answers.md",
    ],
)
def test_the_commands_print_what_the_page_says(
    name: str,
    demo_file: Path,
    demo_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``GRAPH_SERVICE_UPDATE_DOCS=1`` writes the outputs anew."""
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", demo_settings.vectors)
    # A busy machine is no reason for another output.
    monkeypatch.setenv("GRAPH_SERVICE_READ_TIMEOUT_S", "600")
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(Path(demo_set.__file__).parent / "demo" / "questions.jsonl", "questions.jsonl")

    def run(found: re.Match[str]) -> str:
        capsys.readouterr()
        assert main(tuple(shlex.split(found[1]))) == 0, found[1]
        printed = capsys.readouterr().out
        for pattern, instead in DIFFERING:
            printed = pattern.sub(instead, printed)
        return f"$ graph-service {found[1]}\n{printed}"

    page = DOCS / name
    text = page.read_text(encoding="utf-8")
    for file, content in FILE.findall(text):
        Path(file).write_text(content, encoding="utf-8")
    printed = BLOCK.sub(lambda block: COMMAND.sub(run, block[0]), text)
    if os.environ.get("GRAPH_SERVICE_UPDATE_DOCS"):
        page.write_text(printed, encoding="utf-8")
    else:
        assert printed == text
