"""What a program loads that uses the client over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cli_runs import process
from demo_graph import QUESTION
from served import served

from graph_service import Service

SITS_ON = {f"graph_service.{name}" for name in ("client", "errors", "model", "options")}
# What the service needs, and a client of a server does not.
SERVER = {"numpy", "strawberry", "graphql", "starlette", "uvicorn", "neo4j", "sqlite3", "openai"}
REPORT = "\nimport sys\nprint(*sorted(sys.modules), sep='\\n')\n"


@pytest.fixture(scope="module")
def url(demo_service: Service) -> Iterator[str]:
    with served(demo_service) as address:
        yield address


def loaded_by(code: str) -> set[str]:
    """Returns the modules that a fresh interpreter has loaded after some code."""
    # coverage.py, with which `make mutants` records what tests run, loads sqlite3 itself.
    found = process("-W", "error", "-c", code + REPORT, COVERAGE_PROCESS_START="")
    assert found.returncode == 0, found.stderr
    return set(found.stdout.split())


def others(modules: set[str]) -> list[str]:
    """Returns those of our modules that a client does not sit on."""
    ours = (name for name in modules if name.startswith("graph_service."))
    return sorted(name for name in ours if ".".join(name.split(".")[:2]) not in SITS_ON)


def test_importing_the_client_loads_the_model_alone() -> None:
    modules = loaded_by("import graph_service.client")
    assert sorted(modules & SERVER) == []
    assert others(modules) == []
    # It takes longer to import than all of the client, and a client in process needs none.
    assert "httpx" not in modules


def test_a_call_over_http_loads_no_part_of_the_service(url: str) -> None:
    modules = loaded_by(
        "from graph_service.client import Client\n"
        "from graph_service.model.view_spec import Method, ViewSpec\n"
        "spec = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5)\n"
        f"with Client.connect({url!r}) as client:\n"
        "    client.graph()\n"
        "    client.search('Arnold')\n"
        f"    client.passages({QUESTION!r})\n"
        f"    assert client.paths({QUESTION!r}, view=spec).items\n"
    )
    assert sorted(modules & SERVER) == []
    assert others(modules) == []
    assert "httpx" in modules
