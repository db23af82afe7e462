"""Runs the commands of the tutorial, from its first to its last, on the slice that ships."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from document_commands import Command, commands, normal
from served import served
from sparql_server import SparqlServer, serve_sparql, truthy_store

from graph_service import open_service
from graph_service.cli import main
from graph_service.settings import SETTINGS, Settings
from queries.datasets.demo_set import demo_slice

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
ADDRESS = "http://127.0.0.1:8000"
# Another test installs; this one has what they bring.
INSTALLING = ("git clone ", "make setup", "source ")


@dataclass(frozen=True)
class Walk:
    """What the commands printed.

    Attributes:
        done: How many were run.
        others: Those that printed something else than the page has, with what they printed.
    """

    done: int
    others: list[tuple[Command, str]]


@contextmanager
def serve_slice() -> Iterator[SparqlServer]:
    """Stands in for Wikidata: the documents of the slice, and SPARQL over what they state."""
    documents = {
        document["id"]: document
        for document in map(json.loads, demo_slice().read_text(encoding="utf-8").splitlines())
    }
    with serve_sparql(truthy_store(documents), documents) as server:
        yield server


def walk(
    settings: Settings,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    environment: Mapping[str, str],
    until: str = "",
) -> Walk:
    """Runs the commands of the page in an empty folder.

    Args:
        settings: Whose vectors are used.
        environment: Settings that stand in the place of what the page exports.
        until: The heading before which it ends; it runs all of them without one.
    """
    page = PAGE.read_text(encoding="utf-8")
    assert until in page
    page = page.partition(f"\n{until}\n")[0] if until else page
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", settings.vectors)
    monkeypatch.setenv("GRAPH_SERVICE_CACHE_DIR", str(folder / "cache"))
    # A busy machine is no reason for another output.
    monkeypatch.setenv("GRAPH_SERVICE_READ_TIMEOUT_S", "600")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    capsys.readouterr()
    others, done, address = [], 0, ""
    with ExitStack() as servers:
        wikidata = servers.enter_context(serve_slice())
        for command in commands(page):
            text = command.text.strip()
            if text.startswith(INSTALLING):
                continue
            if text.startswith("export "):
                name, _, value = text.removeprefix("export ").partition("=")
                monkeypatch.setenv(name, environment.get(name, value))
                continue
            if text.endswith("&"):
                assert text == "graph-service serve &"
                service = servers.enter_context(open_service(os.environ["GRAPH_SERVICE_STORE"]))
                address = servers.enter_context(served(service))
                continue
            if text.startswith("graph-service "):
                arguments = shlex.split(text)[1:]
                if arguments[1].startswith("wikidata:"):
                    arguments += ["--endpoint", wikidata.url, "--entity-data", wikidata.api]
                assert main(tuple(arguments)) == 0, text
                printed = capsys.readouterr().out
            else:
                printed = run(text.replace(ADDRESS, address)).replace(address, ADDRESS)
            if numbered(printed) != numbered(command.output):
                others.append((command, printed))
            done += 1
    return Walk(done, others)


def numbered(text: str) -> str:
    """Returns what is compared; a server that has other graphs has given them numbers before."""
    return re.sub(r"@\d+", "@N", normal(text))


def run(text: str) -> str:
    done = subprocess.run(
        ["bash", "-c", text], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"$ {text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def as_text(others: list[tuple[Command, str]]) -> str:
    return "\n".join(
        f"$ {one.text}\n{printed}--- the page has:\n{one.output}" for one, printed in others
    )
