"""GraphQL over HTTP: media types, statuses, queries by GET, compression."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from error_texts import check_text
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.server.app import make_app
from graph_service.server.compression import LEAST_BYTES
from graph_service.server.negotiation import accepts_gzip, prefers_html, response_type, weight
from graph_service.server.options import ServerOptions

OWN = "application/graphql-response+json"
JSON = "application/json"
TYPENAME = {"query": "{ __typename }"}


@pytest.fixture(scope="module")
def asked(demo_service: Service) -> TestClient:
    return TestClient(make_app(demo_service), base_url="http://localhost")


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (JSON, JSON),
        (OWN, OWN),
        (f"{OWN}, {JSON}", OWN),
        (f"{JSON}, {OWN}", OWN),
        (f"{OWN};q=0.8, {JSON}", JSON),
        (f"{OWN}, {JSON};q=0.9", OWN),
        (f"{OWN};q=0, */*", JSON),
        (f"{JSON};q=0, */*", OWN),
        (f"{OWN.upper()} ; charset=utf-8 ; Q=1", OWN),
        (f"{OWN};q=nonsense, {JSON};q=0.1", JSON),
        (f"{OWN};q=2, {JSON};q=0.1", JSON),
        # What urql 6 sends.
        (f"{OWN}, application/graphql+json, {JSON}, text/event-stream, multipart/mixed", OWN),
        ("text/html, text/*", None),
        (f"{JSON};q=0", None),
    ],
)
def test_the_media_type_that_a_client_prefers(accept: str | None, expected: str | None) -> None:
    assert response_type(accept) == expected


def test_the_most_specific_entry_has_the_weight() -> None:
    accept = "text/*;q=0.3, text/html;q=0.7, */*;q=0.1"
    named = ("text/html", "text/plain", JSON)
    assert [weight(accept, name) for name in named] == [0.7, 0.3, 0.1]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("*/*", False),
        (None, False),
        (f"{JSON}, text/html;q=0.9", False),
    ],
)
def test_browsers_prefer_a_page(accept: str | None, expected: bool) -> None:
    assert prefers_html(accept) is expected


@pytest.mark.parametrize(
    ("document", "status"),
    [
        ({"query": "{"}, 400),
        ({"query": "{ nothing }"}, 400),
        ({"query": ""}, 400),
        ({"query": "query($x: ID!) { item(itemId: $x) { label } }", "variables": {"x": None}}, 400),
        ({"query": "query A { __typename } query B { __typename }"}, 400),
        ({"query": "query A { __typename }", "operationName": "B"}, 400),
        ({"query": "{ a: __typename b: item(itemId: \"\") { label } }"}, 200),
        (TYPENAME, 200),
    ],
)  # fmt: skip
def test_an_operation_that_does_not_begin_is_a_bad_request_of_the_clients_media_type(
    asked: TestClient, document: dict[str, Any], status: int
) -> None:
    """Of plain JSON the status is 200 for every request that has a query."""
    for accept, expected in ((OWN, status), (JSON, 200)):
        response = asked.post("/graphql", json=document, headers={"accept": accept})
        assert response.status_code == expected
        assert response.headers["content-type"] == accept
        assert ("data" in response.json()) == (status == 200)
        assert "Accept" in response.headers["vary"]


def test_a_failure_before_the_first_field_is_not_the_clients_fault(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for code, status in (("STORE_UNAVAILABLE", 503), ("INTERNAL", 500), ("LIMIT_EXCEEDED", 400)):
        failed = {"errors": [{"message": "x", "extensions": {"code": code}}]}
        monkeypatch.setattr(
            "graph_service.server.operations.execute", lambda *_, of=failed, **__: of
        )
        client = TestClient(make_app(demo_service), base_url="http://localhost")
        answer = client.post("/graphql", json=TYPENAME, headers={"accept": OWN})
        assert answer.status_code == status


def test_refusals_have_the_clients_media_type(asked: TestClient) -> None:
    response = asked.post("/graphql", content="{", headers={"content-type": JSON, "accept": OWN})
    assert (response.status_code, response.headers["content-type"]) == (400, OWN)
    assert "data" not in response.json()


# Queries by GET


def test_a_query_by_get(asked: TestClient) -> None:
    document = "query A($g: Boolean!) { a: __typename @include(if: $g) } query B { b: __typename }"
    parameters = {"query": document, "operationName": "A", "variables": json.dumps({"g": True})}
    response = asked.get("/graphql", params=parameters)
    assert (response.status_code, response.json()["data"]) == (200, {"a": "Query"})
    other = asked.get("/graphql", params={"query": document, "operationName": "B", "variables": ""})
    assert other.json()["data"] == {"b": "Query"}
    # An empty name is as none, which of two operations is an error.
    neither = asked.get("/graphql", params={"query": document, "operationName": ""})
    assert neither.json()["errors"][0]["extensions"]["code"] == "BAD_INPUT"


def test_no_cache_gives_an_answer_to_another_client(demo_service: Service) -> None:
    """A proxy keeps what comes by GET, and does not know that ``x-api-key`` is a key."""
    asked = TestClient(
        make_app(demo_service, ServerOptions(api_key="k")), base_url="http://localhost"
    )
    for headers in ({"x-api-key": "k"}, {}):
        response = asked.get("/graphql", params=TYPENAME, headers=headers)
        assert response.headers["cache-control"] == "private, no-cache"
    page = asked.get("/graphql", headers={"accept": "text/html"})
    assert page.headers["cache-control"] == "no-cache"
    assert "Accept" in page.headers["vary"]


def test_a_mutation_by_get_is_refused_and_not_run(own_service: Service) -> None:
    asked = TestClient(
        make_app(own_service, ServerOptions(writable=True)), base_url="http://localhost"
    )
    mutation = 'mutation M { createView(input: {graph: "demo", name: "x", spec: {'
    mutation += "method: EDGE_DELETION, level: 0.1}}) { __typename } }"
    for document in (mutation, f"query Q {{ __typename }} {mutation}"):
        given = {"query": document, "operationName": "M"}
        response = asked.get("/graphql", params=given)
        assert (response.status_code, response.headers["allow"]) == (405, "POST")
        assert response.json()["errors"][0]["extensions"]["code"] == "BAD_INPUT"
    assert own_service.views.list() == []
    reads = {"query": f"query Q {{ __typename }} {mutation}", "operationName": "Q"}
    assert asked.get("/graphql", params=reads).json()["data"] == {"__typename": "Query"}


@pytest.mark.parametrize(
    "address",
    [
        "?variables={}",
        "?query={__typename}&query={__typename}",
        "?query={__typename}&variables={",
        "?query={__typename}&variables=[]",
        "?query={__typename}&extensions=7",
    ],
)
def test_a_bad_address_is_said_to_be(asked: TestClient, address: str) -> None:
    response = asked.get(f"/graphql{address}")
    (error,) = response.json()["errors"]
    assert (response.status_code, error["extensions"]["code"]) == (400, "BAD_INPUT")
    check_text(error["message"])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "cross-site", "origin": "https://page.example"}, 200),
        ({}, 200),
    ],
)
def test_an_image_of_another_site_makes_the_server_run_nothing(
    demo_service: Service, headers: dict[str, str], status: int
) -> None:
    options = ServerOptions(origins=("https://page.example",))
    asked = TestClient(make_app(demo_service, options), base_url="http://localhost")
    assert asked.get("/graphql", params=TYPENAME, headers=headers).status_code == status


# Compression


@pytest.mark.parametrize("coding", ["gzip", "br, gzip;q=0.5", "*", "GZIP"])
def test_a_large_answer_is_compressed_for_who_takes_it(asked: TestClient, coding: str) -> None:
    schema = {"query": "{ __schema { types { name description } } }"}
    plain = asked.post("/graphql", json=schema, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with asked.stream(
        "POST", "/graphql", json=schema, headers={"accept-encoding": coding}
    ) as response:
        raw = b"".join(response.iter_raw())
    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) == len(raw) < len(plain.content) / 2
    assert gzip.decompress(raw) == plain.content
    for answer in (plain, response):
        assert "Accept-Encoding" in answer.headers["vary"]


@pytest.mark.parametrize("coding", ["", "br", "gzip;q=0", "identity, gzip; q=0.0", "*;q=0"])
def test_no_answer_is_compressed_for_who_does_not(asked: TestClient, coding: str) -> None:
    schema = {"query": "{ __schema { types { name description } } }"}
    response = asked.post("/graphql", json=schema, headers={"accept-encoding": coding})
    assert len(response.content) > LEAST_BYTES
    assert "content-encoding" not in response.headers
    assert not accepts_gzip(coding)


def test_a_small_answer_is_not_compressed(asked: TestClient) -> None:
    response = asked.post("/graphql", json=TYPENAME, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in response.headers
