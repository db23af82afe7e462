"""Spans of a request, its operation, stages and calls of the store, as a collector gets them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from demo_graph import MARIA, copy_store
from error_texts import check_text
from otlp_collector import Collector, Span, collector
from starlette.testclient import TestClient

from graph_service import Service, open_service
from graph_service.errors import SetupError, StoreUnavailableError
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.server.traces import Traces
from graph_service.settings import Settings

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
QUESTION = "Who is the spouse of a secret?"
PATHS = f'query Named($ids: [ID!]) {{ paths(input: {{question: "{QUESTION}", itemIds: $ids}}) {{ status }} }}'
SERVER, CLIENT = 2, 3


@pytest.fixture
def own_service(demo_file: Path, demo_settings: Settings, tmp_path: Path) -> Iterator[Service]:
    """The service over a store whose calls may be traced."""
    with open_service(copy_store(demo_file, tmp_path), settings=demo_settings) as service:
        yield service


@contextmanager
def traced(
    service: Service, monkeypatch: pytest.MonkeyPatch, *, documents: bool = False, **options: Any
) -> Iterator[tuple[TestClient, Collector]]:
    """A client of a traced server, and its collector, which has all spans after the block."""
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", kept.url)
        traces = Traces.open(documents=documents)
        traces.instrument(service.store, database="neo4j")
        app = make_app(service, ServerOptions(traces=traces, **options))
        try:
            yield TestClient(app, base_url="http://localhost"), kept
        finally:
            traces.close()


def only(spans: list[Span]) -> Span:
    (span,) = spans
    return span


def test_a_request_is_a_trace(own_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"query": PATHS, "variables": {"ids": [MARIA]}, "operationName": "Named"}
    with traced(own_service, monkeypatch) as (asked, kept):
        response = asked.post(
            "/graphql", json=body, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"}
        )
        asked.get("/health/ready")
        asked.get("/metrics")
    assert "errors" not in response.json()
    assert kept.resource["service.name"] == "graph-service"
    assert {span.trace for span in kept.spans} == {TRACE}

    request = only(kept.named("POST /graphql"))
    assert (request.parent, request.kind, request.failed) == (PARENT, SERVER, False)
    assert request.about["http.request.method"] == "POST"
    assert request.about["http.route"] == request.about["url.path"] == "/graphql"
    assert request.about["http.response.status_code"] == 200
    assert request.about["graph_service.request_id"] == response.headers["x-request-id"]

    # The lane of look-ups found what it costs, and left it to the other: that is one operation.
    operation = only(kept.named("query"))
    assert (operation.parent, operation.kind) == (request.id, SERVER)
    assert operation.about["graphql.operation.type"] == "query"
    assert operation.about["graphql.operation.name"] == "Named"
    assert operation.about["graph_service.fields"] == ["paths"]
    assert operation.about["graph_service.editions"] == [own_service.graph().edition]
    assert operation.about["graph_service.cost"] == response.json()["extensions"]["cost"]["actual"]

    retrieval = only(kept.named("retrieval"))
    assert retrieval.parent == operation.id
    stages = [span for span in kept.spans if span.parent == retrieval.id]
    assert {"stage link", "stage region", "stage shape"} <= {span.name for span in stages}
    assert all(retrieval.began <= span.began <= span.ended for span in stages)
    assert sum(span.ended - span.began for span in stages) <= retrieval.ended - retrieval.began

    calls = [span for span in kept.spans if "db.system.name" in span.about]
    assert {span.kind for span in calls} == {CLIENT}
    snapshot = only([span for span in calls if span.about["db.operation.name"] == "snapshot"])
    assert snapshot.parent == operation.id
    assert snapshot.name == "snapshot graph.db"
    assert snapshot.about["db.system.name"] == "sqlite"
    assert snapshot.about["db.collection.name"] == own_service.graph().edition
    assert "secret" not in str(kept.spans)


def test_documents_are_told_where_that_is_asked_for(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = "{ graphs { nodes { name } } }"
    with traced(own_service, monkeypatch, documents=True) as (asked, kept):
        asked.post("/graphql", json={"query": document})
    assert only(kept.named("query")).about["graphql.document"] == document


def test_faults_of_the_server_are_told(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> Any:
        raise StoreUnavailableError("the store is away")

    monkeypatch.setattr(own_service.store, "entities", away, raising=False)
    with traced(own_service, monkeypatch) as (asked, kept):
        asked.post("/graphql", json={"query": f'{{ item(itemId: "{MARIA}") {{ label }} }}'})
        asked.post("/graphql", json={"query": "{ nothing }"})
        asked.post("/graphql", content="no JSON", headers={"content-type": "application/json"})
    failed = {span.name: span.about["error.type"] for span in kept.spans if span.failed}
    assert failed == {
        "entities graph.db": "StoreUnavailableError",
        "query": "STORE_UNAVAILABLE",
    }
    assert only(kept.named("GraphQL Operation")).about["graph_service.codes"] == ["BAD_INPUT"]
    statuses = [span.about["http.response.status_code"] for span in kept.named("POST /graphql")]
    assert statuses == [200, 200, 400]


def test_a_collector_that_is_away_holds_nothing_up(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_service.server.traces.CLOSE_S", 0.1)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.05")
    traces = Traces.open()
    app = make_app(own_service, ServerOptions(traces=traces))
    asked = TestClient(app, base_url="http://localhost")
    assert asked.post("/graphql", json={"query": "{ __typename }"}).status_code == 200
    traces.close()


def test_traces_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SetupError, match="not installed") as raised:
        Traces.open()
    check_text(raised.value.hint, "'graph-service[otel]'")
