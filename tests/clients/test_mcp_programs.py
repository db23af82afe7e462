"""MCP's conformance suite and its inspector, against ``graph-service mcp``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clients.programs import run_program
from demo_graph import QUESTION, copy_store

# The suite is 0.1.13 and the inspector 1.0.3: later ones don't run on Node 20.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-error",
    "server-sse-multiple-streams",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
)
CALLS: dict[str, dict[str, Any]] = {
    "search_items": {"query": "Maria Shriver"},
    "get_statements": {"entity_id": "Q230654"},
    "describe_graph": {"graph": "demo"},
    "retrieve": {"question": QUESTION, "limit": 3},
    "compare": {"question": QUESTION, "views": ["ed:0.3:1"], "limit": 2},
    "list_views": {"graph": "demo"},
    "search_passages": {"query": QUESTION},
}
LISTS = {"get_statements": "relations", "describe_graph": "relations"}
"""The list of a tool's answer, where it is not ``items``."""
FACTS = list(CALLS)[:4]
COMMAND = [sys.executable, "-m", "graph_service.cli", "mcp", "--store"]


@pytest.fixture(scope="session")
def store(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return copy_store(demo_file, tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="session")
def url(store: str) -> Iterator[str]:
    """The address of a server of the demo graph."""
    process = subprocess.Popen(
        [*COMMAND, store, "--http", "127.0.0.1:0", "--tools", "research"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        found = next(
            filter(None, (re.search(r"MCP on (http://\S+);", it) for it in process.stderr))
        )
        yield found[1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_conformance_suite(installed: Path, url: str, scenario: str) -> None:
    program = installed / "mcp" / "node_modules" / ".bin" / "conformance"
    told = run_program([program, "server", "--url", url, "--scenario", scenario], installed / "mcp")
    passed = re.search(r"Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings", told)
    assert passed, told
    assert int(passed[1]) > 0, told
    assert passed.groups()[2:] == ("0", "0"), told


def inspected(installed: Path, server: list[str], *arguments: str) -> Any:
    """Returns what the inspector's command line prints of a server."""
    program = installed / "mcp" / "node_modules" / ".bin" / "mcp-inspector"
    transport = "http" if server[0].startswith("http") else "stdio"
    told = run_program(
        [program, "--cli", *server, "--transport", transport, *arguments], installed / "mcp"
    )
    return json.loads(told)


def called(installed: Path, server: list[str], name: str) -> Any:
    """Returns the items of a tool's answer, which says whether it was cut."""
    given: list[str] = []
    for key, value in CALLS[name].items():
        text = value if isinstance(value, str) else json.dumps(value)
        given += ["--tool-arg", f"{key}={text}"]
    result = inspected(installed, server, "--method", "tools/call", "--tool-name", name, *given)
    assert not result.get("isError"), result
    assert "truncated" in result["structuredContent"], result
    return result["structuredContent"][LISTS.get(name, "items")]


def listed(installed: Path, server: list[str]) -> list[str]:
    return [one["name"] for one in inspected(installed, server, "--method", "tools/list")["tools"]]


def test_the_inspector_lists_the_tools(installed: Path, url: str) -> None:
    assert listed(installed, [url]) == list(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_the_inspector_calls_a_tool(installed: Path, url: str, name: str) -> None:
    items = called(installed, [url], name)
    assert items or name in ("list_views", "search_passages")


def test_the_inspector_over_stdio(installed: Path, store: str) -> None:
    server = [*COMMAND, store]
    assert listed(installed, server) == FACTS
    assert called(installed, server, "describe_graph")
