"""Fixtures for all tests.

``tmp_store``     a fresh SQLite store in a temporary folder
``small_graph``   a function that makes a ``KnowledgeGraph`` of a few statements
``processor``     the processor time of operations, which passes when a test says so
``data_dir``      the folder of real data, or a skip with the reason
``store``         (contract tests) each store in turn; ``graph_name`` a name of the test's own

``GRAPH_SERVICE_TEST_REQUIRE=1`` turns a skip for missing data, Java, Maven or pcst_fast into a failure.
"""

from __future__ import annotations

import gc
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from folder_of_run import folder_of_run
from graphs import AnyStatement, load_graph
from hypothesis import settings
from neo4j_server import Neo4jMissingError, Neo4jServer, lease_server
from processor_time import Processor
from waiting import PATIENCE_S, be_patient_over_http, be_patient_with_queries

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Entity
from graph_service.retrieve.tree.solver import PcstFast, load_pcst_fast
from graph_service.store import open_store
from graph_service.store.protocol import Store

# Folders before this file in the alphabet have one of their own, of the same module name.
collect_ignore = ["conftest.py"]

REPOSITORY = Path(__file__).resolve().parent.parent

GraphMaker = Callable[..., KnowledgeGraph]


def pytest_collection_finish() -> None:
    """Leaves what was collected, thousands of tests, out of each collection of garbage."""
    gc.collect()
    gc.freeze()


# CI and everyone's own runs draw the same examples, so that a run judges the change and not the
# draw, and what fails in one fails in the other. How long an example takes says nothing on a busy
# machine. To look for new examples: ``pytest --hypothesis-profile=search``, which draws anew each
# time, or with ``--hypothesis-seed=N`` beside it the same ones again.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("suite")

# The default limits of a query of ours, and of a call of httpx, are met by what is slow, not by
# what is wrong. A test of a limit sets it.
os.environ["GRAPH_SERVICE_READ_TIMEOUT_S"] = str(PATIENCE_S)
be_patient_over_http()
be_patient_with_queries()

# Some hundred tests start processes of ours. Where Python may keep no bytecode, as in many images,
# each of them compiles all of our modules anew, which takes longer than what most of them do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def missing(reason: str) -> NoReturn:
    """Skips the test, or fails it where nothing may be missing (``.ci/run``)."""
    if os.environ.get("GRAPH_SERVICE_TEST_REQUIRE") == "1":
        pytest.fail(f"required here: {reason}")
    pytest.skip(reason)


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Processor:
    """What operations are timed by: a busy machine changes no cost."""
    processor = Processor()
    monkeypatch.setattr("graph_service.api.meter.thread_time", processor)
    return processor


@pytest.fixture(scope="session", autouse=True)
def rejects_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Lets loads that name no place for rejects share none with the tests that run beside."""
    path = tmp_path_factory.mktemp("rejects") / "rejects.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loaders.rejects.DEFAULT_REJECTS_PATH", path)
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data: ``GRAPH_SERVICE_TEST_DATA``, else ``../shared/data``."""
    given = os.environ.get("GRAPH_SERVICE_TEST_DATA")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        missing(f"no data folder {folder}: set GRAPH_SERVICE_TEST_DATA")
    return folder


@pytest.fixture
def tmp_store(tmp_path: Path) -> Iterator[Store]:
    """A fresh SQLite store."""
    with open_store(f"sqlite:///{tmp_path / 'graph.db'}") as store:
        yield store


@pytest.fixture
def small_graph(tmp_path: Path) -> GraphMaker:
    """Gives ``make(statements, entities=())``: a ``KnowledgeGraph`` through a temporary store.

    A statement is a ``Statement`` or ``(head id, relation id, tail id)``, all of them entities;
    entities carry labels: ``Entity("Q1", labels={"en": "Rome"})``, and a relation's label is that
    of ``Entity("P1", kind=EntityKind.PROPERTY, labels=...)``. ::

        def test_it(small_graph):
            graph = small_graph([("Q1", "P1", "Q2"), ("Q2", "P1", "Q3")])
            node = graph.find_node("Q1")
    """

    def make(statements: Iterable[AnyStatement], entities: Iterable[Entity] = ()) -> KnowledgeGraph:
        path = tmp_path / f"{uuid.uuid4().hex}.db"
        with open_store(f"sqlite:///{path}") as store:
            load_graph(store, "small", statements, entities)
            return store.snapshot(store.graph("small"))

    return make


@pytest.fixture
def raw_pcst_fast() -> PcstFast:
    """The installed pcst_fast, if it passes its known case; its wheel is wrong under numpy 2."""
    raw, report = load_pcst_fast()
    if raw is None:
        missing(report.reason)
    return raw


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A running Neo4j, shared by all processes of this test run."""
    lease = lease_server(folder_of_run(tmp_path_factory))
    try:
        server = lease.__enter__()
    except Neo4jMissingError as reason:
        missing(str(reason))
        raise
    try:
        yield server
    finally:
        lease.__exit__(None, None, None)


def open_neo4j_of(server: Neo4jServer) -> Store:
    """Opens the store of a test server."""
    return open_store(
        server.url, username=server.username, password=server.password, database=server.database
    )


@pytest.fixture(scope="session")
def neo4j_store(neo4j_server: Neo4jServer) -> Iterator[Store]:
    """The store of ``neo4j_server``; tests use graphs of their own and delete them."""
    with open_neo4j_of(neo4j_server) as store:
        yield store


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def store(request: pytest.FixtureRequest) -> Store:
    """Each store in turn."""
    wanted: Store = request.getfixturevalue(
        "tmp_store" if request.param == "sqlite" else "neo4j_store"
    )
    return wanted


@pytest.fixture
def environment_of_store(request: pytest.FixtureRequest, store: Store) -> dict[str, str]:
    """What a subprocess needs to open the same store: see ``store_of_environment``."""
    if store.url.startswith("sqlite"):
        return {"TEST_STORE_URL": store.url}
    server: Neo4jServer = request.getfixturevalue("neo4j_server")
    return {
        "TEST_STORE_URL": server.url,
        "TEST_STORE_USERNAME": server.username or "",
        "TEST_STORE_PASSWORD": server.password or "",
        "TEST_STORE_DATABASE": server.database,
    }


@pytest.fixture
def graph_names(store: Store) -> Iterator[Callable[[], str]]:
    """Gives ``new()``: graph names that no other test has; the graphs are removed afterwards."""
    made: list[str] = []

    def new() -> str:
        made.append(f"test-{uuid.uuid4().hex}")
        return made[-1]

    yield new
    present = {info.name for info in store.graphs()}
    present |= {load.edition.rpartition("@")[0] for load in store.unfinished_loads()}
    for name in made:
        if name in present:
            store.delete_graph(name)


@pytest.fixture
def graph_name(graph_names: Callable[[], str]) -> str:
    """A graph name that no other test has; the graph is removed afterwards."""
    return graph_names()
