"""The slice of Wikidata that ships with the package, loaded once for all tests of a process."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from folder_of_run import folder_of_run
from graphs import load_graph, sample_entities, sample_statements

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, ScoredPath, ScoredTriple, Strategy
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load
from queries.datasets.demo_set import demo_slice

QUESTION = "Who is the mother of Maria Shriver's husband?"
MARIA, ARNOLD, AURELIA, EUNICE = "Q230654", "Q2685", "Q23800370", "Q272908"
SPOUSE, MOTHER = "P26", "P25"

OpenCopy = Callable[[], Service]


def request(
    question: str = QUESTION, strategy: Strategy = Strategy.TRIPLETS, **fields: Any
) -> RetrieveRequest:
    return replace(RetrieveRequest(question, strategy), **fields)


def scored_triples(result: RetrievalResult) -> list[ScoredTriple]:
    """Returns the items of a result whose items are triples."""
    found = [item for item in result.items if isinstance(item, ScoredTriple)]
    assert len(found) == len(result.items)
    return found


def scored_paths(result: RetrievalResult) -> list[ScoredPath]:
    """Returns the items of a result whose items are paths."""
    found = [item for item in result.items if isinstance(item, ScoredPath)]
    assert len(found) == len(result.items)
    return found


@pytest.fixture(scope="session")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store's file with graph ``demo``; copy it, nothing may write to it."""
    path = tmp_path_factory.mktemp("demo") / "pristine.db"
    with open_store(f"sqlite:///{path}") as store:
        load(demo_slice(), store=store, graph="demo")
    return path


@pytest.fixture(scope="session")
def demo_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings with a vector file of this run's own: its processes embed a text once.

    The first call of a run embeds the names of relations, which may take a busy machine longer than
    a call has by default.
    """
    return Settings(vectors=str(folder_of_run(tmp_path_factory) / "vectors.db"), read_timeout_s=600)


def copy_store(demo_file: Path, folder: Path) -> str:
    path = folder / "graph.db"
    shutil.copyfile(demo_file, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def demo_service(
    demo_file: Path, demo_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """The service over a copy. Tests leave no views and no graphs behind."""
    url = copy_store(demo_file, tmp_path_factory.mktemp("service"))
    with open_service(url, settings=demo_settings) as service:
        yield service


@pytest.fixture
def own_service(demo_file: Path, demo_settings: Settings, tmp_path: Path) -> Iterator[Service]:
    """The service over a copy of the test's own, to be written to."""
    with open_service(copy_store(demo_file, tmp_path), settings=demo_settings) as service:
        yield service


@pytest.fixture(scope="session")
def kinds_service(
    demo_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """The service over a graph ``kinds`` with every type of value, rank and term."""
    url = f"sqlite:///{tmp_path_factory.mktemp('kinds') / 'kinds.db'}"
    with open_service(url, settings=demo_settings) as service:
        load_graph(service.store, "kinds", sample_statements(), sample_entities())
        yield service
