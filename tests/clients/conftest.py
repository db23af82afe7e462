"""Clients that others wrote, against a server: only with ``make test-clients``, which sets this.

It installs them, at the versions that the lock files name, into the folder that
``GRAPH_SERVICE_TEST_CLIENTS`` names. All of one process ask one server.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from clients.programs import KEY, Clients, page
from demo_graph import copy_store, demo_file
from server_process import server_process

__all__ = ["demo_file"]

HERE = Path(__file__).parent
# What the clients' own environments run.
collect_ignore_glob = ["scripts/*"]
if not os.environ.get("GRAPH_SERVICE_TEST_CLIENTS"):
    collect_ignore_glob.append("*.py")


@pytest.fixture(scope="session")
def installed() -> Path:
    """The folder that the clients are installed in."""
    return Path(os.environ["GRAPH_SERVICE_TEST_CLIENTS"]).resolve()


@pytest.fixture(scope="session")
def clients(
    installed: Path, demo_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Clients]:
    """The clients, and a server that reads, with a key, for pages of one origin."""
    # Node looks for packages from where a script lies.
    for file in (*(HERE / "scripts").iterdir(), HERE / "operations.json"):
        if file.is_file():
            shutil.copy(file, installed / "javascript")
    pages = tmp_path_factory.mktemp("pages")
    (pages / "index.html").write_text("<!doctype html><title>A page elsewhere</title>")
    store = copy_store(demo_file, tmp_path_factory.mktemp("clients"))
    with ExitStack() as stack:
        allowed = stack.enter_context(page(pages))
        other = stack.enter_context(page(pages))
        server = stack.enter_context(server_process(store, "--allow-origin", allowed, api_key=KEY))
        told = {"URL": f"{server.url}/graphql", "KEY": KEY, "ALLOWED": allowed, "OTHER": other}
        yield Clients(installed, server.url, {**os.environ, **told})
