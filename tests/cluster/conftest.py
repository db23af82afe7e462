"""Work on a cluster by real engines: only with ``make test-cluster``, which installs them.

``GRAPH_SERVICE_TEST_CLUSTER`` names the engine: ``sail``, ``local[2]`` or ``sc://host:port``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from cli_runs import cli, demo_cli
from cluster_graph import Both, open_both, spec_of, statements
from demo_graph import demo_file, demo_service, demo_settings
from graphs import load_graph

from graph_service.cluster.graph import ClusterGraph, open_graph
from graph_service.cluster.views import ClusterView, create_view
from graph_service.model.view_spec import Method
from graph_service.store import Store

__all__ = ["cli", "demo_cli", "demo_file", "demo_service", "demo_settings"]

ENGINE = os.environ.get("GRAPH_SERVICE_TEST_CLUSTER")
if not ENGINE:
    collect_ignore_glob = ["*.py"]


# Each plan is small and new, so compiling it well costs more than it saves. Without the second
# compiler Java takes a quarter of the space for code, which new plans fill again and again.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS",
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of the engine, for other processes too."""
    from graph_service.cluster.session import start_engine

    assert ENGINE is not None
    with start_engine(ENGINE) as started:
        yield started


@pytest.fixture(scope="session")
def session(address: str) -> Iterator[Any]:
    """A session with the engine."""
    from graph_service.cluster.session import open_session

    with open_session(address) as opened:
        yield opened


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    def load(store: Store) -> None:
        load_graph(store, "made", statements(), [])

    with open_both(tmp_path_factory.mktemp("cluster"), load) as opened:
        yield opened


@pytest.fixture(scope="session")
def graph(session: Any, both: Both) -> ClusterGraph:
    return open_graph(session, both.folder)


@pytest.fixture(scope="session")
def drawn(
    graph: ClusterGraph, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Method], ClusterView]:
    """Draws the view of a method, once for all tests."""

    @cache
    def draw(method: Method) -> ClusterView:
        folder = tmp_path_factory.mktemp("view") / method.value
        return create_view(graph, spec_of(method, 0.3, 7), folder)

    return draw
