"""What Prometheus reads: counts by bounded labels, over all processes, whatever the store does."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from demo_graph import MARIA
from made_keys import made_key
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.api.scopes import Scope
from graph_service.errors import StoreUnavailableError
from graph_service.model.graph_info import UnfinishedLoad
from graph_service.server import metrics, scrape
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.server.shared_folder import forget_metrics

PATHS = """query Name($entity: ID!) {
  alias: paths(input: {question: "Who is the spouse?", itemIds: [$entity]}) { status }
}"""
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def client(service: Service, **options: Any) -> TestClient:
    return TestClient(make_app(service, ServerOptions(**options)), base_url="http://localhost")


def samples(text: str) -> Samples:
    """Each sample by its name, without the prefix, and its labels."""
    return {
        (one.name.removeprefix("graph_service_"), tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def scraped(asked: TestClient) -> Samples:
    response = asked.get("/metrics")
    assert response.status_code == 200, response.text
    return samples(response.text)


def growth(before: Samples, after: Samples) -> Samples:
    """What has grown between two scrapes, and by how much."""
    grown = {place: value - before.get(place, 0.0) for place, value in after.items()}
    return {place: by for place, by in grown.items() if by > 0}


def counter(name: str, **labels: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    return (name, tuple(sorted(labels.items())))


def test_an_operation_counts_by_its_root_field(demo_service: Service) -> None:
    asked = client(demo_service, cache_bytes=0)
    body = {"query": PATHS, "variables": {"entity": MARIA}, "operationName": "Name"}
    # The first one reads weights, and processor time is paid for.
    assert "errors" not in asked.post("/graphql", json=body).json()
    before = scraped(asked)
    for _ in range(2):
        assert "errors" not in asked.post("/graphql", json=body).json()
    after = scraped(asked)
    grown = growth(before, after)
    assert grown[counter("operations_total", type="query", operation="paths", code="OK")] == 2
    assert grown[counter("http_requests_total", route="/graphql", method="POST", status="200")] == 2
    assert grown[counter("operation_duration_seconds_count", operation="paths")] == 2
    assert 1 < grown[counter("operation_cost_retrievals_total", operation="paths")] < 10
    for stage in ("link", "region", "pagerank", "shape"):
        assert grown[counter("stage_duration_seconds_count", stage=stage)] == 2, stage
    assert counter("stage_duration_seconds_count", stage="total") not in after
    assert grown[counter("operation_wait_seconds_count", lane="retrievals")] == 2
    assert grown[counter("cache_lookups_total", cache="documents", result="hit")] >= 1
    assert grown[counter("cache_lookups_total", cache="arrays", result="hit")] >= 1
    # No name that a client chose is a label.
    assert not any("Name" in str(labels) or "alias" in str(labels) for _, labels in after)


def test_an_answer_that_is_given_again_counts_without_stages(demo_service: Service) -> None:
    asked = client(demo_service)
    body = {"query": PATHS, "variables": {"entity": MARIA}}
    assert asked.post("/graphql", json=body).headers["cache-status"].endswith("stored")
    before = scraped(asked)
    assert asked.post("/graphql", json=body).headers["cache-status"].endswith("hit")
    after = scraped(asked)
    grown = growth(before, after)
    assert grown[counter("operations_total", type="query", operation="paths", code="OK")] == 1
    assert grown[counter("cache_lookups_total", cache="answers", result="hit")] == 1
    assert counter("cache_lookups_total", cache="answers", result="miss") not in grown
    assert not any(name.startswith("stage_duration") for name, _ in grown)
    assert 0 < grown[counter("operation_cost_retrievals_total", operation="paths")] < 0.1
    assert after[counter("cache_bytes", cache="answers")] > 0


@pytest.mark.parametrize(
    ("query", "type_", "operation", "code"),
    [
        ("{ graphs { nodes { name } } g: graphs { nodes { name } } }", "query", "graphs", "OK"),
        ("{ ...A } fragment A on Query { graphs { nodes { name } } __typename }", "query", "graphs", "OK"),
        ('{ graphs { nodes { name } } item(itemId: "Q1") { id } }', "query", "several", "OK"),
        ("{ __typename }", "query", "__typename", "OK"),
        ('{ item(itemId: "") { id } }', "query", "item", "BAD_INPUT"),
        ("{ nothing }", "unknown", "unknown", "BAD_INPUT"),
        ('mutation { deleteView(input: {reference: "x"}) { viewId } }', "mutation", "deleteView", "READ_ONLY"),
    ],
)  # fmt: skip
def test_an_operation_is_named_by_the_schema(
    demo_service: Service, query: str, type_: str, operation: str, code: str
) -> None:
    asked = client(demo_service)
    before = scraped(asked)
    asked.post("/graphql", json={"query": query})
    named = counter("operations_total", type=type_, operation=operation, code=code)
    assert growth(before, scraped(asked))[named] == 1


def test_what_is_refused_counts_by_status_and_code(demo_service: Service) -> None:
    asked = client(demo_service, api_key="k", max_cost=1.5, rate=0.001, cache_bytes=0)
    key = {"authorization": "Bearer k"}
    before = samples(asked.get("/metrics", headers=key).text)
    asked.post("/graphql", json={"query": "{ __typename }"})
    costly = {"query": PATHS, "variables": {"entity": MARIA}}
    statuses = [asked.post("/graphql", json=costly, headers=key).status_code for _ in range(2)]
    assert statuses == [200, 429]
    asked.put("/graphql")
    asked.get("/nothing-" + "x" * 50)
    grown = growth(before, samples(asked.get("/metrics", headers=key).text))
    assert grown[counter("refused_requests_total", status="401", code="FORBIDDEN")] == 1
    throttled = grown[counter("refused_requests_total", status="429", code="THROTTLED")]
    assert throttled == 1
    assert grown[counter("refused_requests_total", status="404", code="BAD_INPUT")] == 1
    assert grown[counter("http_requests_total", route="other", method="GET", status="404")] == 1
    assert (
        grown[counter("http_requests_total", route="/graphql", method="other", status="405")] == 1
    )


def test_metrics_need_the_key_and_a_known_host(demo_service: Service) -> None:
    asked = client(demo_service, api_key="k")
    assert asked.get("/metrics").status_code == 401
    assert asked.get("/metrics", headers={"x-api-key": "k"}).status_code == 200
    stranger = {"x-api-key": "k", "host": "elsewhere.example"}
    assert asked.get("/metrics", headers=stranger).status_code == 421


@pytest.mark.parametrize(
    ("scope", "graphs", "status"),
    [
        (Scope.ADMIN, None, 200),
        (Scope.ADMIN, frozenset({"demo"}), 403),
        (Scope.WRITE, None, 403),
        (Scope.READ, frozenset({"demo"}), 403),
    ],
)
def test_metrics_are_of_all_graphs_and_for_who_may_do_everything(
    demo_service: Service,
    tmp_path: Path,
    scope: Scope,
    graphs: frozenset[str] | None,
    status: int,
) -> None:
    file = tmp_path / "keys.json"
    token = made_key(file, "prometheus", scope=scope, graphs=graphs)
    asked = client(demo_service, keys=file)
    assert asked.get("/metrics", headers={"x-api-key": token}).status_code == status


def test_the_lanes_say_what_waits_and_runs() -> None:
    def level(name: str) -> float:
        return samples(metrics.page("")[0].decode())[counter(name, lane="lookups")]

    seen = []
    with metrics.in_lane("lookups", lambda _: seen.append(level("operations_running"))) as counted:
        assert (level("operations_waiting"), level("operations_running")) == (1, 0)
        counted(None)  # type: ignore[arg-type]
        assert level("operations_waiting") == 0
    assert seen == [1]
    # Whoever leaves the queue, and then a thread begins all the same.
    with metrics.in_lane("lookups", lambda _: None) as counted:
        pass
    counted(None)  # type: ignore[arg-type]
    assert (level("operations_waiting"), level("operations_running")) == (0, 0)


def test_a_store_that_keeps_silent_holds_up_no_scrape(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    looks = []

    def slowly() -> list[UnfinishedLoad]:
        looks.append(threading.current_thread())
        assert released.wait(600)
        when = "2000-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
        return [UnfinishedLoad("g@1", "", "", "", 0, expires) for expires in (*when, when[1])]

    monkeypatch.setattr(scrape, "LOOK_S", 0.05)
    monkeypatch.setattr(demo_service.store, "unfinished_loads", slowly, raising=False)
    asked = client(demo_service)
    assert scraped(asked)[counter("store_up")] == 0
    assert scraped(asked)[counter("store_up")] == 0
    assert len(looks) == 1
    released.set()
    looks[0].join(600)
    monkeypatch.setattr(scrape, "LOOK_S", 60.0)
    now = scraped(asked)
    assert now[counter("store_up")] == 1
    assert now[counter("load_leases", state="held")] == 2
    assert now[counter("load_leases", state="expired")] == 1

    def fails() -> list[UnfinishedLoad]:
        raise StoreUnavailableError("the store is away")

    monkeypatch.setattr(demo_service.store, "unfinished_loads", fails, raising=False)
    assert scraped(asked)[counter("store_up")] == 0


def test_a_scrape_says_what_the_process_holds(demo_service: Service) -> None:
    demo_service.arrays(demo_service.graph())
    now = scraped(client(demo_service))
    assert now[counter("view_jobs")] == demo_service.views.jobs_under_way
    assert now[counter("open_editions")] == len(demo_service.open_editions) >= 1
    assert now[counter("cache_limit_bytes")] == demo_service.memory.limit_bytes
    assert now[counter("process_resident_memory_bytes")] > 0


PROCESS = """
import os
from graph_service.server import metrics
metrics.count_refused(503, "LIMIT_EXCEEDED")
with metrics.in_lane("lookups", print):
    text = metrics.page("")[0].decode()
    metrics._running.labels("lookups").inc()
    print(os.getpid())
    print(text)
"""


def test_processes_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))

    def run() -> tuple[int, Samples]:
        done = subprocess.run(
            [sys.executable, "-c", PROCESS], capture_output=True, text=True, check=True, timeout=600
        )
        pid, _, text = done.stdout.partition("\n")
        return int(pid), samples(text)

    refused = counter("refused_requests_total", status="503", code="LIMIT_EXCEEDED")
    pid, first = run()
    assert (first[refused], first[counter("operations_waiting", lane="lookups")]) == (1, 1)
    assert first[counter("process_resident_memory_bytes")] > 1_000_000
    _, second = run()
    assert second[refused] == 2
    assert second[counter("operations_running", lane="lookups")] == 1
    forget_metrics(pid)
    _, third = run()
    assert third[refused] == 3
    assert third[counter("operations_running", lane="lookups")] == 1
    assert third[counter("process_cpu_seconds_total")] > 0


def test_the_page_for_operators_lists_all_metrics() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "observing.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \| (?:counter|gauge|histogram)", page, re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    text = metrics.page("")[0].decode()
    known = re.findall(r"^# TYPE graph_service_(\w+) \w+$", text, re.MULTILINE)
    assert sorted(listed) == sorted(known)
