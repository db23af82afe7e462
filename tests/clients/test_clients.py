"""Each client that others wrote runs the operations of ``operations.json`` against one server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from clients.programs import KEY, TIMEOUT_S, Clients, run_program
from demo_graph import copy_store
from server_process import server_process

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PROMTOOL = shutil.which("promtool")


def test_the_audit_of_graphql_over_http(clients: Clients) -> None:
    clients.node("audit.mjs")


@pytest.mark.parametrize("client", ["urql", "apollo", "automatic", "graphql_request"])
def test_a_client_of_javascript(clients: Clients, client: str) -> None:
    clients.node(f"{client}.mjs")


def test_apollo_asks_by_the_ids_of_its_manifest(
    clients: Clients, demo_file: Path, tmp_path: Path
) -> None:
    """Apollo's tool lists the operations of an app; ``serve --documents`` reads what it writes."""
    operations = json.loads((clients.folder / "javascript" / "operations.json").read_text())
    for name in ("graphs", "item"):
        (tmp_path / f"{name}.graphql").write_text(operations[name]["document"])
    (tmp_path / "persisted-query-manifest.config.json").write_text(
        json.dumps({"documents": ["*.graphql"], "output": "manifest.json"})
    )
    tool = clients.folder / "javascript" / "node_modules" / ".bin"
    run_program([tool / "generate-persisted-query-manifest"], tmp_path, clients.environment)
    manifest = tmp_path / "manifest.json"
    store = copy_store(demo_file, tmp_path)
    with server_process(store, "--documents", str(manifest), api_key=KEY) as server:
        told = {"MANIFEST": str(manifest), "LISTED": f"{server.url}/graphql"}
        replace(clients, environment={**clients.environment, **told}).node("persisted.mjs")


@pytest.fixture(scope="module")
def schema(clients: Clients) -> Clients:
    """The clients, with the schema in files, as graphql-js read it."""
    clients.node("introspection.mjs")
    return clients


@pytest.mark.parametrize("tool", ["codegen", "relay"])
def test_a_tool_that_compiles_operations(schema: Clients, tool: str) -> None:
    schema.node(f"{tool}.mjs")


def test_gql(clients: Clients) -> None:
    clients.python("gql", "gql_client.py")


@pytest.mark.parametrize("tool", ["sgqlc", "ariadne"])
def test_a_tool_of_python_that_reads_the_schema(schema: Clients, tool: str) -> None:
    schema.python("codegen", f"{tool}_client.py")


@pytest.mark.skipif(
    PROMTOOL is None and not os.environ.get("GRAPH_SERVICE_TEST_REQUIRE"),
    reason="no promtool is installed, so the metrics were not checked: apt-get install prometheus",
)
def test_promtool_reads_the_metrics(clients: Clients) -> None:
    """Names, units, types and help are as Prometheus asks for; it warns where they are not."""
    with httpx.Client(base_url=clients.url, headers={"x-api-key": KEY}) as asked:
        asked.post("/graphql", json={"query": "{ graphs { nodes { name } } }"})
        metrics = asked.get("/metrics")
    assert "graph_service_operations_total" in metrics.text
    done = subprocess.run(
        [PROMTOOL or "promtool", "check", "metrics"],
        input=metrics.text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("GRAPH_SERVICE_TEST_REQUIRE"),
    reason="no chromium is installed, so CORS and GraphiQL were not tried in a browser: "
    "apt-get install chromium",
)
def test_pages_in_chromium(clients: Clients) -> None:
    environment = {**clients.environment, "CHROMIUM": CHROMIUM or ""}
    replace(clients, environment=environment).node("pages.mjs")
