"""How many queries the server lets wait, and that one that ended waits no more (B21)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any

import httpx
import pytest
from error_texts import check_answer
from served import served

from graph_service import Service
from graph_service.api import schema
from graph_service.model.limits import Deadline
from graph_service.server import operations, queue
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.server.queue import Job, Workers

GRAPHS = {"query": "{ graphs { nodes { name } } }"}
RUNNING, WAITING = queue.LOOKUP_THREADS, 3


@pytest.fixture
def execute(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Gives ``use(function)``: what the server's threads run; and lets three queries wait."""
    monkeypatch.setattr(queue, "MAX_WAITING", WAITING)
    return lambda function: monkeypatch.setattr(operations, "execute", function)


def post(url: str) -> httpx.Response:
    return httpx.post(f"{url}/graphql", json=GRAPHS, timeout=600)


def test_queries_one_after_another_are_all_answered(
    demo_service: Service, execute: Callable[[Callable[..., Any]], None]
) -> None:
    real = schema.execute
    asked = 0

    def fail_sometimes(*arguments: Any, **options: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked % 3 == 0:
            raise RuntimeError("a fault of ours")
        return real(*arguments, **options)

    execute(fail_sometimes)
    with served(demo_service) as url:
        codes = [post(url).status_code for _ in range(4 * WAITING)]
    assert codes == [200, 200, 500] * 4


def test_one_query_too_many_is_refused_and_the_next_is_not(
    demo_service: Service, execute: Callable[[Callable[..., Any]], None]
) -> None:
    released = threading.Event()

    def hold(*_: Any, **__: Any) -> dict[str, Any]:
        assert released.wait(600)
        return {"data": {}}

    execute(hold)
    with (
        served(demo_service, ServerOptions(cache_bytes=0)) as url,
        ThreadPoolExecutor(RUNNING + WAITING + 1) as pool,
    ):
        asked = [pool.submit(post, url) for _ in range(RUNNING + WAITING + 1)]
        try:
            # None is answered before it is released: who comes last is refused at once.
            done, left = wait(asked, timeout=600, return_when=FIRST_COMPLETED)
            answers = [one.result() for one in done]
        finally:
            released.set()
        assert [answer.status_code for answer in answers] == [503]
        (error,) = answers[0].json()["errors"]
        assert error["extensions"]["code"] == "LIMIT_EXCEEDED"
        check_answer(error)
        assert answers[0].headers["retry-after"] == "1"
        assert [one.result(600).status_code for one in left] == [200] * (RUNNING + WAITING)
        assert post(url).status_code == 200


def test_the_question_whether_a_server_is_ready_goes_before_the_queries_that_wait(
    demo_service: Service,
) -> None:
    """Else a balancer takes a server that is at work for one that is stuck."""

    async def ask() -> list[str]:
        application = make_app(demo_service, ServerOptions(threads=1))
        queue: Workers = application.state.workers
        ended: list[str] = []
        begun, first, second = threading.Event(), threading.Event(), threading.Event()

        def run(deadline: Deadline, go: threading.Event) -> None:
            begun.set()
            assert go.wait(600)

        async def query(name: str, go: threading.Event) -> None:
            await queue.run(Job(name, 600), lambda deadline: run(deadline, go))
            ended.append(name)

        async def ready(client: httpx.AsyncClient) -> None:
            answer = await client.get("/health/ready")
            ended.append(f"{answer.status_code}")
            second.set()

        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            tasks = [asyncio.create_task(query("first", first))]
            assert await asyncio.to_thread(begun.wait, 600)
            for number, one in enumerate((query("second", second), ready(client)), 2):
                tasks.append(asyncio.create_task(one))
                while len(queue) < number:
                    await asyncio.sleep(0)
            first.set()
            await asyncio.wait_for(asyncio.gather(*tasks), 600)
        return ended

    assert asyncio.run(ask()) == ["first", "200", "second"]
