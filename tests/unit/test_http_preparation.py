"""A server embeds the names of its graphs in advance, while no question waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest
from graphs import load_graph
from served import served
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.errors import StoreUnavailableError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue
from graph_service.server import preparation
from graph_service.server.options import ServerOptions
from graph_service.server.preparation import Preparation
from graph_service.server.queue import Workers
from graph_service.service.embedded_names import EmbeddedNames
from graph_service.settings import Settings

ASK = {"query": '{ paths(input: {question: "who?", itemIds: ["Q1"], graph: "b"}) { status } }'}


DONE = {"relations": {"embedded": 3, "toEmbed": 0}}


def load(service: Service, name: str, relations: int) -> GraphInfo:
    ids = [f"P{number}" for number in range(relations)]
    return load_graph(
        service.store,
        name,
        [make_statement("Q1", id_, EntityValue("Q2")) for id_ in ids],
        [Entity(id_, EntityKind.PROPERTY, {"en": f"{name} {id_}"}) for id_ in ids],
    )


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(preparation, "LOOK_S", 0.01)
    settings = Settings(vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"))
    store = f"sqlite:///{tmp_path / 'graphs.db'}"
    with open_service(store, settings=settings, embedder=CountingWords()) as made:
        yield made


def status_of(url: str) -> dict[str, int] | None:
    body: dict[str, dict[str, int]] = httpx.get(f"{url}/health/ready", timeout=600).json()
    return body.get("relations")


def until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_a_graphs_turn_comes_when_it_is_warmed_asked_about_or_published(service: Service) -> None:
    for name, relations in (("a", 3), ("b", 20), ("c", 5)):
        load(service, name, relations)
    with served(service, ServerOptions(warm=("a",))) as url:
        until(lambda: status_of(url) == {"embedded": 3, "toEmbed": 0})
        assert httpx.post(f"{url}/graphql", json=ASK, timeout=600).status_code == 200
        until(lambda: status_of(url) == {"embedded": 23, "toEmbed": 0})
        load(service, "c", 6)
        until(lambda: status_of(url) == {"embedded": 29, "toEmbed": 0})
        page = httpx.get(f"{url}/metrics", timeout=600).text
        assert 'graph_service_embedded_relations{graph="b"} 20.0' in page
        assert 'graph_service_relations_to_embed{graph="b"} 0.0' in page
        service.delete_graph("b")
        until(lambda: status_of(url) == {"embedded": 9, "toEmbed": 0})
        page = httpx.get(f"{url}/metrics", timeout=600).text
        assert 'graph_service_embedded_relations{graph="b"} 0.0' in page


class Batches:
    """Stands in for a service whose graph has batches that are counted."""

    open_editions: frozenset[str] = frozenset()

    def __init__(self, info: GraphInfo, count: int) -> None:
        self.info, self.count = info, count
        self.done = 0
        self.fails = False

    def graphs(self) -> list[GraphInfo]:
        return [self.info]

    def embed_names(self, info: GraphInfo) -> Iterator[EmbeddedNames]:
        for number in range(self.count + 1):
            if self.fails:
                raise StoreUnavailableError("the store is away")
            self.done = number
            yield EmbeddedNames(info.edition, number, self.count)


class Turns:
    """Whether it is this process's turn, and how often that was asked."""

    def __init__(self, is_ours: bool) -> None:
        self.is_ours, self.asked = is_ours, 0

    def __call__(self) -> AbstractContextManager[bool]:
        return self._given()

    @contextmanager
    def _given(self) -> Iterator[bool]:
        self.asked += 1
        yield self.is_ours


async def holding(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.001)


def prepared(info: GraphInfo, workers: Workers, turns: Turns, batches: Batches) -> Preparation:
    return Preparation(batches, workers, warm=(info.name,), turn=turns)  # type: ignore[arg-type]


def test_batches_wait_while_the_server_has_no_leisure(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "PAUSE_S", 0.001)
    info = load(service, "a", 1)
    looks = 0

    async def test() -> None:
        workers, turns, batches = Workers(2), Turns(True), Batches(info, 3)
        running = prepared(info, workers, turns, batches)
        with monkeypatch.context() as patch:

            def has_leisure(_: Workers) -> bool:
                nonlocal looks
                looks += 1
                return False

            patch.setattr(Workers, "has_leisure", property(has_leisure))
            running.begin()
            await holding(lambda: looks > 20)
            assert (turns.asked, batches.done) == (0, 0)
        await holding(lambda: running.status() == DONE)
        workers.stop_own()

    asyncio.run(asyncio.wait_for(test(), 600))


def test_one_process_embeds_at_a_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "PAUSE_S", 0.001)
    info = load(service, "a", 1)

    async def test() -> None:
        workers, turns, batches = Workers(2), Turns(False), Batches(info, 3)
        running = prepared(info, workers, turns, batches)
        running.begin()
        await holding(lambda: turns.asked > 5)
        assert batches.done == 0
        turns.is_ours = True
        await holding(lambda: running.status() == DONE)
        workers.stop_own()

    asyncio.run(asyncio.wait_for(test(), 600))


def test_a_graph_that_fails_is_told_once_and_its_next_edition_tried(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    first = load(service, "a", 1)

    async def test() -> None:
        workers, batches = Workers(2), Batches(first, 3)
        batches.fails = True
        running = prepared(first, workers, Turns(True), batches)
        running.begin()
        await holding(lambda: "can't be embedded: the store is away" in caplog.text)
        batches.fails = False
        batches.info = load(service, "a", 2)
        await holding(lambda: running.status() == DONE)
        workers.stop_own()

    asyncio.run(asyncio.wait_for(test(), 600))
    assert caplog.text.count("can't be embedded") == 1
