"""The README's commands are run, and what it prints is what they print.

A fenced block marked ``console`` holds commands (``$ ...``) and their output. All blocks run in order
in one empty folder, as a reader would, but for ``make`` (its verbs have targets of their own) and
for what needs Docker. To write the outputs anew: ``GRAPH_SERVICE_UPDATE_README=1 pytest tests/golden/test_readme.py``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from demo_graph import demo_settings
from document_commands import commands, shows

from graph_service.settings import Settings

__all__ = ["demo_settings"]
ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


@pytest.fixture
def environment(tmp_path: Path, demo_settings: Settings) -> dict[str, str]:
    """A reader's, but for the vectors: other tests have embedded the same texts."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GRAPH_SERVICE_", "NEO4J_", "OPENAI_"))
    }
    kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    kept["GRAPH_SERVICE_CACHE_DIR"] = str(tmp_path / "cache")
    kept["GRAPH_SERVICE_VECTORS"] = demo_settings.vectors
    # A busy machine is no reason for another output.
    kept["GRAPH_SERVICE_READ_TIMEOUT_S"] = "600"
    return kept


def test_readme_commands_print_what_it_says(tmp_path: Path, environment: dict[str, str]) -> None:
    document = README.read_text()
    folder = tmp_path / "reader"
    folder.mkdir()
    written = document
    failures: list[str] = []
    for command in commands(document):
        text = command.text.strip()
        if text == "make demo":
            text = "graph-service demo"
        if text.startswith(("make ", "git ", "cd ", "docker ", "cp ", "pip ")):
            continue
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"$ {text}\n{done.stdout}\n{done.stderr}"
        if not shows(command.output, done.stdout):
            failures.append(f"$ {text}\n--- README\n{command.output}\n--- now\n{done.stdout}")
            written = written.replace(
                document[command.start - len(command.text) : command.end],
                document[command.start - len(command.text) : command.start]
                + (done.stdout.rstrip("\n") + "\n" if done.stdout.strip() else "")
                + trailing(command.output),
            )
    if os.environ.get("GRAPH_SERVICE_UPDATE_README"):
        README.write_text(written)
        return
    assert not failures, "\n\n".join(failures)


def trailing(output: str) -> str:
    return output[len(output.rstrip("\n")) + 1 :] if output.strip() else output


def test_the_first_answer_needs_no_word_of_the_glossary() -> None:
    """A stranger reads up to the first answer without a word that has to be looked up."""
    before = README.read_text(encoding="utf-8").partition("$ make demo")[0].lower()
    pages = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").partition("## Words")[2]
    rows = re.findall(r"^\| ([^|]+?) \| ", pages, re.MULTILINE)
    terms = [term.strip("`") for row in rows for term in row.split(", ") if term != "word"]
    assert {"entity", "preset", "[NA]"} <= set(terms)
    used = [term for term in terms if re.search(rf"(?<!\w){re.escape(term)}s?(?!\w)", before)]
    assert used == []


def test_contributing_names_every_verb() -> None:
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for verb in re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE):
        assert f"make {verb}" in document or verb in ("help", "clean", "lock", "setup"), verb


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200
