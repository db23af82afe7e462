"""The tutorial is run from its first line to its last, and prints what it says.

Blocks marked ``console`` hold commands (``$ ...``) and their output. Wikidata is a local stand-in
with the slice that ships with the package. To write the outputs anew:
``GRAPH_SERVICE_UPDATE_DOCS=1 pytest tests/golden/test_tutorial.py``. The same commands run on Neo4j
in ``tests/contract/test_tutorial_neo4j.py``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from demo_graph import demo_settings
from document_commands import Command
from tutorial_walk import PAGE, as_text, walk

from graph_service.settings import Settings

__all__ = ["demo_settings"]


def test_the_tutorial_prints_what_it_says(
    demo_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = walk(demo_settings, tmp_path, monkeypatch, capsys, environment={})
    assert found.done > 15
    if os.environ.get("GRAPH_SERVICE_UPDATE_DOCS"):
        PAGE.write_text(with_outputs(PAGE.read_text(encoding="utf-8"), found.others), "utf-8")
        return
    assert not found.others, as_text(found.others)


def with_outputs(page: str, written: list[tuple[Command, str]]) -> str:
    for command, printed in reversed(written):
        output = f"{printed.rstrip()}\n" if printed.strip() else ""
        page = page[: command.start] + output + page[command.end :]
    return page
