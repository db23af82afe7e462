"""The door of the HTTP server in this process: the whole answer to what it refuses."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from error_texts import check_answer, check_text
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

import graph_service
from graph_service import Service
from graph_service.errors import StoreUnavailableError
from graph_service.server import app, operations
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.server.refusals import refusal, refusal_body

PLAIN = ServerOptions()
JSON = {"content-type": "application/json"}


def client(service: Service, options: ServerOptions = PLAIN) -> TestClient:
    return TestClient(
        make_app(service, options), base_url="http://localhost", raise_server_exceptions=False
    )


@pytest.mark.parametrize(
    ("method", "options", "headers", "body", "status", "code"),
    [
        ("GET", ServerOptions(graphiql=False), {"accept": "text/html,*/*;q=0.8"}, "", 400,
         "BAD_INPUT"),
        ("POST", PLAIN, {"accept": "text/event-stream"}, "{}", 406, "BAD_INPUT"),
        ("POST", PLAIN, {"host": "elsewhere:8000"}, "{}", 421, "FORBIDDEN"),
        ("POST", PLAIN, {"host": f"{'E' * 101}:80"}, "{}", 421, "FORBIDDEN"),
        ("POST", PLAIN, {"host": ""}, "{}", 421, "FORBIDDEN"),
        ("POST", PLAIN, {"origin": "http://elsewhere"}, "{}", 403, "FORBIDDEN"),
        ("POST", PLAIN, {"origin": "x" * 101}, "{}", 403, "FORBIDDEN"),
        ("POST", ServerOptions(api_key="k"), {"authorization": "Bearer j"}, "{}", 401, "FORBIDDEN"),
        ("POST", PLAIN, {"content-type": "text/plain; charset=utf-8"}, "{}", 415, "BAD_INPUT"),
        ("POST", PLAIN, {"content-type": f"a/{'b' * 99}"}, "{}", 415, "BAD_INPUT"),
        ("POST", PLAIN, {"content-type": ""}, "{}", 415, "BAD_INPUT"),
        ("POST", PLAIN, {**JSON, "content-encoding": "GZIP"}, "{}", 415, "BAD_INPUT"),
        ("POST", PLAIN, {**JSON, "content-encoding": "x" * 101}, "{}", 415, "BAD_INPUT"),
        ("POST", PLAIN, JSON, "{", 400, "BAD_INPUT"),
        ("POST", PLAIN, JSON, "[]", 400, "BAD_INPUT"),
        ("POST", PLAIN, JSON, '{"query": 5}', 400, "BAD_INPUT"),
        ("POST", PLAIN, JSON, '{"query": "", "variables": []}', 400, "BAD_INPUT"),
        ("POST", PLAIN, JSON, '{"query": "", "operationName": 5}', 400, "BAD_INPUT"),
        ("POST", PLAIN, JSON, '{"query": "", "extensions": []}', 400, "BAD_INPUT"),
    ],
)  # fmt: skip
def test_each_refusal_has_its_status_code_and_words(
    demo_service: Service,
    method: str,
    options: ServerOptions,
    headers: dict[str, str],
    body: str,
    status: int,
    code: str,
) -> None:
    response = client(demo_service, options).request(
        method, "/graphql", headers=headers, content=body
    )
    payload = response.json()
    assert list(payload) == ["errors"]
    (error,) = payload["errors"]
    request_id = error["extensions"]["requestId"]
    assert len(request_id) == 32
    assert error["extensions"] == {"code": code, "requestId": request_id}
    check_text(error["message"])
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert "allow" not in response.headers


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"query": "{ __typename }", "variables": None, "operationName": None},
         {"data": {"__typename": "Query"}}),
        ({"query": "query A { a: __typename } query B { b: __typename }", "operationName": "B"},
         {"data": {"b": "Query"}}),
        ({"query": "query($x: Boolean!) { __typename @include(if: $x) }", "variables": {"x": False}},
         {"data": {}}),
    ],
)  # fmt: skip
def test_what_is_given_is_what_is_run(
    demo_service: Service, body: dict[str, Any], answer: dict[str, Any]
) -> None:
    response = client(demo_service).post("/graphql", json=body)
    assert (response.status_code, response.json()["data"]) == (200, answer["data"])
    assert response.headers["content-type"] == "application/json"


def test_health_and_version_are_json(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = client(demo_service)

    def answer(path: str) -> tuple[int, Any, str]:
        response = asked.get(path)
        return response.status_code, response.json(), response.headers["content-type"]

    kind = "application/json"
    assert answer("/health/live") == (200, {"status": "live"}, kind)
    assert answer("/version") == (200, {"version": graph_service.__version__}, kind)
    assert answer("/health/ready") == (200, {"status": "ready"}, kind)

    def away() -> None:
        raise StoreUnavailableError("bolt://somewhere is away")

    monkeypatch.setattr(demo_service.store, "ping", away)
    code, body, served_kind = answer("/health/ready")
    assert (code, served_kind) == (503, kind)
    check_text(body["status"], "store")


def test_a_body_that_is_late_is_refused_with_its_limit(demo_service: Service) -> None:
    service = Service(
        demo_service.store,
        vectors=demo_service.vectors,
        settings=replace(demo_service.settings, body_timeout_s=0.05),
    )

    async def ask() -> httpx.Response:
        never = asyncio.Event()

        async def body() -> Any:
            yield b"{"
            await never.wait()

        transport = httpx.ASGITransport(make_app(service, PLAIN))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asked:
            return await asked.post("/graphql", content=body(), headers=JSON)

    response = asyncio.run(asyncio.wait_for(ask(), 600))
    (error,) = response.json()["errors"]
    assert (response.status_code, error["extensions"]["code"]) == (408, "TIMEOUT")
    check_answer(error)


@pytest.mark.parametrize(("over", "status"), [(0, 400), (1, 413)])
def test_the_limit_of_a_body_is_met_to_the_byte(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, over: int, status: int
) -> None:
    monkeypatch.setattr(app, "MAX_BODY_BYTES", 100)
    response = client(demo_service).post("/graphql", content="x" * (100 + over), headers=JSON)
    assert response.status_code == status
    if over:
        (error,) = response.json()["errors"]
        check_answer(error)
        assert error["extensions"]["code"] == "LIMIT_EXCEEDED"


@pytest.mark.parametrize(("over", "status"), [(0, 200), (1, 503)])
def test_the_limit_of_all_bodies_is_met_to_the_byte_and_freed(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, over: int, status: int
) -> None:
    body = json.dumps({"query": "{ __typename }"}).encode()
    monkeypatch.setattr(app, "MAX_HELD_BYTES", len(body) - over)
    asked = client(demo_service)
    responses = [asked.post("/graphql", content=body, headers=JSON) for _ in range(3)]
    assert [response.status_code for response in responses] == [status] * 3
    if over:
        (error,) = responses[0].json()["errors"]
        check_answer(error)
        assert error["extensions"]["code"] == "LIMIT_EXCEEDED"
        assert responses[0].headers["retry-after"] == "1"


def test_what_starlette_refuses_keeps_its_words_and_headers(demo_service: Service) -> None:
    application = make_app(demo_service)

    async def refuse(request: Any) -> Any:
        raise HTTPException(418, "no coffee here", {"x-pot": "tea"})

    application.router.add_route("/pot", refuse)
    response = TestClient(application).get("/pot")
    (error,) = response.json()["errors"]
    assert (response.status_code, error["message"]) == (418, "no coffee here")
    assert (error["extensions"]["code"], response.headers["x-pot"]) == ("BAD_INPUT", "tea")


def test_a_fault_of_ours_is_told_by_its_request_alone(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setattr(operations, "execute", fail)
    response = client(demo_service).post("/graphql", json={"query": "{ __typename }"})
    (error,) = response.json()["errors"]
    request_id = error["extensions"]["requestId"]
    assert (response.status_code, error["extensions"]["code"]) == (500, "INTERNAL")
    check_text(error["message"], request_id)
    assert f"request {request_id} failed" in caplog.text
    assert "secret" in caplog.text


def test_an_error_has_the_request_id_that_it_is_given() -> None:
    payload = json.loads(refusal_body("TIMEOUT", "late", "7"))
    assert payload == {
        "errors": [{"message": "late", "extensions": {"code": "TIMEOUT", "requestId": "7"}}],
    }
    first, second = (
        json.loads(refusal_body("TIMEOUT", "late"))["errors"][0]["extensions"]["requestId"]
        for _ in range(2)
    )
    assert len(first) == len(second) == 32
    assert first != second
    response = refusal(408, "TIMEOUT", "late", {"retry-after": "1"}, request_id="8")
    assert json.loads(bytes(response.body))["errors"][0]["extensions"]["requestId"] == "8"
    assert (response.status_code, response.headers["retry-after"]) == (408, "1")
