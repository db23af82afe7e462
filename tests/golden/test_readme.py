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
from dataclasses import dataclass
from pathlib import Path

import pytest
from demo_graph import demo_settings

from graph_service.settings import Settings

__all__ = ["demo_settings"]
ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = "8000"
# The demo prints the same whether it keeps its store or not, and takes half a minute.
DEMO_KEPT = "graph-service demo --keep demo.db > demo.txt"
# What differs between two runs on one machine: durations, dates, and the folder.
VARIES = (
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)"), "DATE"),
)


@dataclass(frozen=True)
class Command:
    text: str
    output: str
    start: int
    end: int


def commands(document: str) -> list[Command]:
    found = []
    for block in BLOCK.finditer(document):
        body, offset = block.group(1), block.start(1)
        starts = [match.start() for match in re.finditer(r"^\$ ", body, re.MULTILINE)]
        for begin, end in zip(starts, [*starts[1:], len(body)], strict=True):
            lines = body[begin:end].splitlines(keepends=True)
            taken = 1
            heredoc = re.search(r"<<'?(\w+)'?", lines[0])
            if heredoc:
                taken = next(i for i, line in enumerate(lines) if line.strip() == heredoc[1]) + 1
            while lines[taken - 1].endswith("\\\n"):
                taken += 1
            text = "".join(lines[:taken])[2:].replace("\n> ", "\n")
            out_start = offset + begin + sum(len(line) for line in lines[:taken])
            found.append(Command(text, "".join(lines[taken:]), out_start, offset + end))
    return found


def normal(text: str) -> str:
    for pattern, name in VARIES:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


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
            if normal(out) != normal(command.output):
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
            server.wait(120)
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


def test_readme_names_every_verb() -> None:
    document = README.read_text()
    makefile = (ROOT / "Makefile").read_text()
    for verb in re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE):
        assert f"make {verb}" in document or verb in ("help", "clean", "schema", "lock", "setup")
