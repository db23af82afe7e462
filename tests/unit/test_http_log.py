"""The log of requests: one line each, without what users wrote, found by the request id."""

from __future__ import annotations

import json
import logging
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from demo_graph import MARIA, copy_store
from otlp_collector import Collector, collector
from server_process import ServerProcess, server_process
from starlette.testclient import TestClient
from waiting import wait_until

from graph_service import Service
from graph_service.api.schema import execute
from graph_service.server import operations, request_log
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.server.record import Record
from graph_service.server.request_log import JsonFormatter, TextFormatter

ASKED = {"query": "query Names { graphs { nodes { name } } }", "variables": {"of": "a secret"}}


def ask(
    service: Service, caplog: pytest.LogCaptureFixture, body: Any, **options: Any
) -> tuple[httpx.Response, dict[str, Any]]:
    """The answer, and the only line of the log."""
    caplog.clear()
    client = TestClient(make_app(service, ServerOptions(**options)), base_url="http://localhost")
    with caplog.at_level(logging.INFO, "graph_service.requests"):
        response: Any = client.post("/graphql", json=body)
    (record,) = [one for one in caplog.records if one.name == "graph_service.requests"]
    return response, json.loads(JsonFormatter().format(record))


def test_a_line_says_what_was_asked_by_name_and_how_long_it_took(
    demo_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    response, line = ask(demo_service, caplog, {**ASKED, "operationName": "Names"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{12}Z", line.pop("time"))
    assert 0 <= line.pop("waitedMs") <= line["ms"]
    assert 0 < line.pop("ranMs") <= line.pop("ms")
    assert line == {
        "level": "info", "logger": "graph_service.requests", "message": "request",
        "requestId": response.headers["x-request-id"], "method": "POST", "path": "/graphql",
        "status": 200, "bytes": len(response.content), "operation": "Names",
        "type": "query", "fields": ["graphs"],
        "cost": response.json()["extensions"]["cost"]["actual"],
    }  # fmt: skip


def test_a_line_says_what_was_read_and_how_long_each_stage_took(
    demo_service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = f'question: "Who is the spouse of Maria Shriver?", itemIds: ["{MARIA}"]'
    one = f"paths(input: {{{question}}}) {{ timings {{ stage milliseconds }} }}"
    response, line = ask(demo_service, caplog, {"query": f"{{ a: {one} b: {one} }}"})
    data = response.json()["data"]
    assert line["fields"] == ["paths"]
    assert line["editions"] == [demo_service.graph().edition]
    assert line["cost"] == response.json()["extensions"]["cost"]["actual"]
    stages = line["stagesMs"]
    assert {"link", "region", "shape"} <= stages.keys()
    assert "total" not in stages
    for stage, ms in stages.items():
        told = [t["milliseconds"] for a in "ab" for t in data[a]["timings"] if t["stage"] == stage]
        assert ms == pytest.approx(sum(told), abs=0.11), stage
    assert "Maria" not in json.dumps(line)


def test_a_line_names_the_key(
    demo_service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_key(*given: Any, **named: Any) -> Any:
        seen.key = "tenant-a"
        return execute(*given, **named)

    seen = Record()
    monkeypatch.setattr(request_log, "Record", lambda: seen)
    monkeypatch.setattr(operations, "execute", with_key)
    _, line = ask(demo_service, caplog, ASKED)
    assert line["key"] == "tenant-a"


def test_texts_of_users_are_logged_only_where_that_is_asked_for(
    demo_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    _, without = ask(demo_service, caplog, ASKED)
    assert "secret" not in json.dumps(without)
    _, line = ask(demo_service, caplog, ASKED, log_queries=True)
    assert (line["query"], line["variables"]) == (ASKED["query"], ASKED["variables"])


@pytest.mark.parametrize(
    ("body", "options", "codes"),
    [
        ({"query": "{ nothing }"}, {}, ["BAD_INPUT"]),
        ({"query": '{ a: item(id: "") { label } b: item(id: "") { label } }'}, {}, ["BAD_INPUT"]),
        ({}, {}, ["BAD_INPUT"]),
        (ASKED, {"api_key": "k"}, ["FORBIDDEN"]),
    ],
)
def test_an_error_is_found_by_its_request_id(
    demo_service: Service,
    caplog: pytest.LogCaptureFixture,
    body: Any,
    options: dict[str, Any],
    codes: list[str],
) -> None:
    response, line = ask(demo_service, caplog, body, **options)
    assert line["codes"] == codes
    for error in response.json()["errors"]:
        assert error["extensions"]["requestId"] == line["requestId"]
    assert response.headers["x-request-id"] == line["requestId"]


def test_a_fault_of_ours_has_the_id_of_its_line(
    demo_service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a fault")

    monkeypatch.setattr(operations, "execute", fail)
    response, line = ask(demo_service, caplog, ASKED)
    assert response.json()["errors"][0]["extensions"]["requestId"] == line["requestId"]
    assert (line["status"], line["codes"]) == (500, ["INTERNAL"])
    assert f"request {line['requestId']} failed" in caplog.text


def test_no_client_writes_lines_of_its_own(
    demo_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    forged = 'x\n2026-01-01T00:00:00.000Z INFO forged: "'
    ask(demo_service, caplog, {"query": "{ graphs { nodes { name } } }", "operationName": forged})
    (record,) = [one for one in caplog.records if one.name == "graph_service.requests"]
    for formatter in (TextFormatter(), JsonFormatter()):
        assert "\n" not in formatter.format(record)


def test_an_error_is_logged_with_its_stack() -> None:
    try:
        raise ValueError("broken")
    except ValueError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("a", logging.ERROR, "file", 1, "request %s failed", ("7",), info)
    line = json.loads(JsonFormatter().format(record))
    assert (line["level"], line["message"]) == ("error", "request 7 failed")
    assert "ValueError: broken" in line["exception"]
    text = TextFormatter().format(record)
    assert " ERROR a: request 7 failed\nTraceback" in text


def test_health_is_not_worth_a_line(
    demo_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    client = TestClient(make_app(demo_service), base_url="http://localhost")
    with caplog.at_level(logging.INFO, "graph_service.requests"):
        client.get("/health/live")
        assert not caplog.records
        client.get("/version")
        assert len(caplog.records) == 1


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector of the spans of servers that begin after it."""
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", kept.url)
        yield kept


@pytest.fixture
def server(demo_file: Path, tmp_path: Path, kept: Collector) -> Iterator[ServerProcess]:
    options = ("--log-format", "json", "--log-level", "info", "--drain-s", "600", "--traces")
    with server_process(copy_store(demo_file, tmp_path), *options) as started:
        yield started


def readiness(server: ServerProcess) -> tuple[int, str]:
    answer = httpx.get(f"{server.url}/health/ready")
    return answer.status_code, answer.json()["status"]


def test_a_server_logs_and_traces_and_drains(server: ServerProcess, kept: Collector) -> None:
    """Asked to end it is not ready, still answers, and ends when it is asked again."""
    assert httpx.post(f"{server.url}/graphql", json=ASKED).status_code == 200
    wait_until(lambda: readiness(server) == (200, "ready"))
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: readiness(server) == (503, "the server is stopping"))
    assert httpx.post(f"{server.url}/graphql", json=ASKED).status_code == 200
    server.process.send_signal(signal.SIGTERM)
    _, err = server.process.communicate()
    assert server.process.returncode == 0
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert [line["path"] for line in lines if line["message"] == "request"][0] == "/graphql"
    # The last spans are sent before the process ends.
    assert {"POST /graphql", "query", "graphs graph.db"} <= {span.name for span in kept.spans}


def test_the_drain_ends_by_itself(demo_file: Path, tmp_path: Path) -> None:
    with server_process(copy_store(demo_file, tmp_path), "--drain-s", "0.5") as server:
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait() == 0
        assert time.monotonic() - began >= 0.5
