"""Look-ups and other clients beside a client that asks for as much as the server has."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from served import served

from graph_service import Service
from graph_service.errors import InputError
from graph_service.server.options import ServerOptions

REQUESTS, ALIASES = 8, 30
GRAPHS = {"query": "{ graphs { nodes { name } } }"}
ONE = {"query": '{ retrieveMany(strategy: PATHS, inputs: [{question: "b"}]) { error { code } } }'}
MANY = {
    "query": "query ($inputs: [RetrieveInput!]!) {"
    + " ".join(
        f"a{number}: retrieveMany(strategy: PATHS, inputs: $inputs) {{ error {{ code }} }}"
        for number in range(ALIASES)
    )
    + "}",
    "variables": {"inputs": [{"question": "a"}] * 10},
}


def test_eight_requests_of_hundreds_of_questions_hold_nobody_up(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four threads one is kept for others; look-ups need none of them."""
    begun, go = threading.Semaphore(0), threading.Event()
    asked: Counter[str] = Counter()

    def hold(requests: list[Any]) -> list[InputError]:
        asked[requests[0].question] += len(requests)
        if requests[0].question == "a":
            begun.release()
            assert go.wait(600)
        return [InputError("nothing")] * len(requests)

    monkeypatch.setattr(demo_service, "retrieve_many", hold)
    options = ServerOptions(threads=4, address_header="x-forwarded-for")
    with served(demo_service, options) as url, ThreadPoolExecutor(REQUESTS) as pool:

        def post(body: dict[str, Any], address: str) -> httpx.Response:
            headers = {"x-forwarded-for": address}
            return httpx.post(f"{url}/graphql", json=body, headers=headers, timeout=600)

        # Equal ones would wait for one answer.
        many = [{**MANY, "query": f"{MANY['query']} # {number}"} for number in range(REQUESTS)]
        costly = [pool.submit(post, each, "192.0.2.1") for each in many]
        try:
            for _ in range(3):
                assert begun.acquire(timeout=600)
            # Answered, though none of those will be before they are let go.
            assert "errors" not in post(GRAPHS, "192.0.2.1").json()
            assert "errors" not in post(ONE, "192.0.2.2").json()
            assert not any(one.done() for one in costly)
            assert asked == {"a": 3 * 10, "b": 1}
        finally:
            go.set()
        for one in costly:
            answer = one.result(600).json()
            assert "errors" not in answer
            assert answer["extensions"]["cost"]["requested"] > ALIASES * 10
    assert asked == {"a": REQUESTS * ALIASES * 10, "b": 1}
