"""The README's commands are run, and what it prints is what they print.

A fenced block marked ``console`` holds commands (``$ ...``) and their output. All blocks run in order
in one empty folder, as a reader would, but for ``make`` (its verbs have targets of their own) and
for what needs Docker. To write the outputs anew: ``GRAPH_SERVICE_UPDATE_README=1 pytest tests/golden/test_readme.py``.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from demo_graph import demo_settings
from document_commands import commands, shows

from graph_service.settings import Settings

__all__ = ["demo_settings"]
ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PORT = "8000"
# The demo prints the same whether it keeps its store or not, and takes half a minute.
DEMO_KEPT = "graph-service demo --keep demo.db > demo.txt"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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
    port = str(free_port())
    servers: list[subprocess.Popen[bytes]] = []
    written = document
    failures: list[str] = []
    try:
        for command in commands(document):
            text = command.text.strip()
            if text == DEMO_KEPT:
                # What the first command has done already, as the reader of the block below it sees.
                continue
            if text == "make demo":
                text = f"{DEMO_KEPT} && cat demo.txt"
            if text.startswith(("make ", "git ", "cd ", "docker ", "cp ", "pip ")):
                continue
            text = text.replace(f":{PORT}", f":{port}")
            if text.endswith("&"):
                serve = f"exec {text[:-1].strip()} --port {port}"
                servers.append(
                    subprocess.Popen(
                        ["bash", "-c", serve],
                        cwd=folder,
                        env=environment,
                        stderr=subprocess.DEVNULL,
                    )
                )
                wait_for(int(port))
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
            out = done.stdout.replace(f":{port}", f":{PORT}")
            if not shows(command.output, out):
                failures.append(f"$ {text}\n--- README\n{command.output}\n--- now\n{out}")
                written = written.replace(
                    document[command.start - len(command.text) : command.end],
                    document[command.start - len(command.text) : command.start]
                    + (out.rstrip("\n") + "\n" if out.strip() else "")
                    + trailing(command.output),
                )
    finally:
        for server in servers:
            server.send_signal(signal.SIGINT)
            server.wait(600)
    if os.environ.get("GRAPH_SERVICE_UPDATE_README"):
        README.write_text(written)
        return
    assert not failures, "\n\n".join(failures)


def trailing(output: str) -> str:
    return output[len(output.rstrip("\n")) + 1 :] if output.strip() else output


def wait_for(port: int) -> None:
    for _ in range(1200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens on port {port}")


def test_contributing_names_every_verb() -> None:
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for verb in re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE):
        assert f"make {verb}" in document or verb in ("help", "clean", "lock", "setup"), verb


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200
