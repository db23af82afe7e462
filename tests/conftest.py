"""Fixtures for all tests.

``tmp_store``     a fresh SQLite store in a temporary folder
``small_graph``   a function that makes a ``KnowledgeGraph`` of a few statements
``data_dir``      the folder of real data, or a skip with the reason
``store``         (contract tests) each store in turn; ``graph_name`` a name of the test's own

``GRAPH_SERVICE_TEST_REQUIRE=1`` turns a skip for missing data, Java or Maven into a failure.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Entity, Statement, make_statement
from graph_service.model.values import EntityValue
from graph_service.store import open_store
from graph_service.store.protocol import Batch, Store

REPOSITORY = Path(__file__).resolve().parent.parent

GraphMaker = Callable[..., KnowledgeGraph]


def missing(reason: str) -> None:
    """Skips the test, or fails it where nothing may be missing (``.ci/run``)."""
    if os.environ.get("GRAPH_SERVICE_TEST_REQUIRE") == "1":
        pytest.fail(f"required here: {reason}")
    pytest.skip(reason)


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


def load_graph(
    store: Store,
    name: str,
    statements: Iterable[Statement | Sequence[str]],
    entities: Iterable[Entity] = (),
    *,
    replace: bool = False,
) -> None:
    """Loads and publishes a graph; a statement may be ``(head id, relation id, tail id)``."""
    whole = [
        item
        if isinstance(item, Statement)
        else make_statement(item[0], item[1], EntityValue(item[2]))
        for item in statements
    ]
    with store.begin_load(name, replace=replace, owner="test", source="test") as load:
        load.write(Batch(entities=tuple(entities), statements=tuple(whole)))
        load.finish()
        load.publish()


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

    def make(
        statements: Iterable[Statement | Sequence[str]], entities: Iterable[Entity] = ()
    ) -> KnowledgeGraph:
        path = tmp_path / f"{uuid.uuid4().hex}.db"
        with open_store(f"sqlite:///{path}") as store:
            load_graph(store, "small", statements, entities)
            return store.snapshot(store.graph("small"))

    return make


@pytest.fixture
def graph_name() -> str:
    """A graph name that no other test has."""
    return f"test-{uuid.uuid4().hex}"
