"""A service over tables of things, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Status, Strategy
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load


@contextmanager
def table_service(folder: Path, tables: Mapping[str, str], /) -> Iterator[Service]:
    """Yields a service over one graph of some CSV files, by name without its ending."""
    source = folder / "tables"
    source.mkdir()
    for name, text in tables.items():
        (source / f"{name}.csv").write_text(text)
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load(source, store=store, graph="tables")
        settings = Settings(
            vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph="tables"
        )
        with open_service(store, settings=settings) as service:
            yield service


def service_of(tables: Mapping[str, str], /) -> Callable[..., Iterator[Service]]:
    """Returns a fixture: one service over some CSV files for all tests of a module."""

    @pytest.fixture(scope="module")
    def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
        with table_service(tmp_path_factory.mktemp("tables"), tables) as service:
            yield service

    return service


def retrieve(service: Service, question: str, /) -> PathsResult:
    """Returns the paths for a question."""
    result = service.retrieve(RetrieveRequest(question, Strategy.PATHS))
    assert isinstance(result, PathsResult)
    return result


def answers(result: PathsResult, /) -> set[str]:
    """Returns the texts of a computed answer."""
    assert result.answer is not None
    return set(result.answer.value.split("; "))


def sure_answers(service: Service, question: str, /) -> set[str]:
    """Returns the texts of the computed answer to a question, which must be sure."""
    result = retrieve(service, question)
    assert result.status is Status.OK, result.status
    return answers(result)
