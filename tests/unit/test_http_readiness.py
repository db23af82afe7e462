"""A server is ready when a query would not wait: weights load, and named graphs are warm."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest
from cli_runs import Cli
from demo_graph import copy_store
from error_texts import check_text
from served import served
from waiting import wait_until as until

from graph_service import Service
from graph_service.errors import ModelFileError, StoreUnavailableError
from graph_service.server.app import make_app
from graph_service.server.connections import ConnectionLimits
from graph_service.server.options import ServerOptions
from graph_service.server.server import Server

WARM = ServerOptions(warm=("demo",))


def ready(url: str) -> tuple[int, str]:
    response = httpx.get(f"{url}/health/ready", timeout=600)
    return response.status_code, response.json()["status"]


def test_no_server_is_ready_whose_weights_do_not_load(demo_service: Service) -> None:
    def missing() -> Any:
        raise ModelFileError("/home/of/the/server/model.safetensors is missing")

    service = Service(demo_service.store, vectors=missing, settings=demo_service.settings)
    with served(service) as url:
        status, message = ready(url)
        assert status == 503
        check_text(message, "embedder")
        asked = httpx.post(f"{url}/graphql", json={"query": "{ graphs { nodes { name } } }"})
        assert asked.json()["data"] == {"graphs": {"nodes": [{"name": "demo"}]}}


def test_a_graph_is_asked_before_the_server_is_ready(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    released = threading.Event()
    retrieve = Service.retrieve

    def slowly(service: Service, request: Any) -> Any:
        assert released.wait(600)
        asked.append((request.graph, request.entity_ids))
        return retrieve(service, request)

    monkeypatch.setattr(Service, "retrieve", slowly)
    with served(demo_service, WARM) as url:
        status, message = ready(url)
        assert status == 503
        check_text(message, "warmed")
        # Others are answered meanwhile.
        live = httpx.post(f"{url}/graphql", json={"query": "{ graphs { nodes { name } } }"})
        assert live.status_code == 200
        released.set()
        until(lambda: ready(url) == (200, "ready"))
        assert [graph for graph, _ in asked] == ["demo", "demo"]
        (_, by_name), (_, by_id) = asked
        assert (len(by_name), len(by_id)) == (0, 1)
        assert ready(url) == (200, "ready")
        assert len(asked) == 2


def test_a_server_that_ends_leaves_a_graph_that_is_being_warmed(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, released = threading.Event(), threading.Event()

    def slowly(service: Service, request: Any) -> Any:
        begun.set()
        assert released.wait(600)
        raise StoreUnavailableError("the server has ended")

    monkeypatch.setattr(Service, "retrieve", slowly)
    limits = ConnectionLimits.of(demo_service.settings)
    server = Server(make_app(demo_service, WARM), limits, shutdown_timeout_s=30.0)

    async def serve() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[]))
        await asyncio.to_thread(begun.wait, 600)
        server.should_exit = True
        await serving

    try:
        asyncio.run(serve())
        # No client waits for it: the server has ended as it should.
        assert server.abandoned == []
        assert server.is_at_work
    finally:
        released.set()
    assert caplog.text == ""


def test_a_graph_that_could_not_be_warmed_is_tried_again(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away = threading.Event()
    away.set()
    arrays = Service.arrays

    def sometimes(service: Service, info: Any) -> Any:
        if away.is_set():
            raise StoreUnavailableError("the store is away")
        return arrays(service, info)

    monkeypatch.setattr(Service, "arrays", sometimes)
    with served(demo_service, WARM) as url:
        assert ready(url)[0] == 503
        until(lambda: "graph demo can't be warmed: the store is away" in caplog.text)
        away.clear()
        until(lambda: ready(url) == (200, "ready"))


def test_a_graph_to_warm_has_to_be_there(
    cli: Cli, demo_file: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    done = cli("serve", "--port", "0", "--warm", "demo", "--warm", "other", "--json")
    assert done.code != 0
    assert "other" in done.json["error"]["message"]
