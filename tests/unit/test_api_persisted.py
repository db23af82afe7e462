"""Automatic persisted queries: a client sends a hash alone, and the query's text if it has to."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.client.errors import error_of
from graph_service.errors import PersistedQueryNotSupportedError
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions

QUERY = "{ __typename }"
HASH = hashlib.sha256(QUERY.encode()).hexdigest()
MEDIA_TYPES = ["application/json", "application/graphql-response+json"]


@pytest.fixture(params=["all", "listed"])
def server(request: pytest.FixtureRequest, demo_service: Service, tmp_path: Path) -> TestClient:
    """A server of all documents, and one of a list that has the query."""
    options = ServerOptions()
    if request.param == "listed":
        (tmp_path / "list.json").write_text(json.dumps({"a": QUERY}))
        options = ServerOptions(documents=(tmp_path / "list.json",))
    return TestClient(make_app(demo_service, options), base_url="http://localhost")


def persisted(hash_: str) -> dict[str, Any]:
    return {"persistedQuery": {"version": 1, "sha256Hash": hash_}}


@pytest.mark.parametrize("accept", MEDIA_TYPES)
@pytest.mark.parametrize("query", [{}, {"query": None}, {"query": ""}])
def test_an_unknown_hash_alone_is_answered_as_clients_know_it(
    server: TestClient, accept: str, query: dict[str, Any]
) -> None:
    body = {**query, "variables": {}, "operationName": "A", "extensions": persisted("a" * 64)}
    address = {"operationName": "A", "extensions": json.dumps(body["extensions"])}
    headers = {"accept": accept}
    for response in (
        server.post("/graphql", json=body, headers=headers),
        server.get("/graphql", params=address, headers=headers),
    ):
        assert response.status_code == 200
        assert response.headers["content-type"] == accept
        (error,) = response.json()["errors"]
        assert error["message"] == "PersistedQueryNotSupported"
        assert error["extensions"]["code"] == "PERSISTED_QUERY_NOT_SUPPORTED"
        made = error_of(error["message"], error["extensions"])
        assert isinstance(made, PersistedQueryNotSupportedError)


@pytest.mark.parametrize("hash_", [HASH, HASH.upper()])
def test_a_query_with_its_hash_is_run(server: TestClient, hash_: str) -> None:
    body = {"query": QUERY, "extensions": persisted(hash_)}
    assert server.post("/graphql", json=body).json()["data"] == {"__typename": "Query"}
    address = {"query": QUERY, "extensions": json.dumps(body["extensions"])}
    assert server.get("/graphql", params=address).json()["data"] == {"__typename": "Query"}


def test_a_query_is_run_whatever_hash_comes_with_it(demo_service: Service) -> None:
    server = TestClient(make_app(demo_service), base_url="http://localhost")
    body = {"query": QUERY, "extensions": persisted("a" * 64)}
    assert server.post("/graphql", json=body).json()["data"] == {"__typename": "Query"}


@pytest.mark.parametrize("extensions", [{"persistedQuery": 5}, {"persistedQuery": {}}])
@pytest.mark.parametrize("query", [{}, {"query": QUERY}])
def test_another_form_is_refused(
    server: TestClient, extensions: dict[str, Any], query: dict[str, Any]
) -> None:
    response = server.post("/graphql", json={**query, "extensions": extensions})
    assert response.status_code == 400
    assert response.json()["errors"][0]["extensions"]["code"] == "BAD_INPUT"


def test_other_extensions_stand_for_no_query(demo_service: Service) -> None:
    server = TestClient(make_app(demo_service), base_url="http://localhost")
    for extensions in ({}, {"tracing": True}, {"persistedQuery": None}):
        response = server.post("/graphql", json={"extensions": extensions})
        assert response.status_code == 400
        assert response.json()["errors"][0]["extensions"]["code"] == "BAD_INPUT"


def test_a_compressed_body_is_refused_and_says_what_is_taken(demo_service: Service) -> None:
    server = TestClient(make_app(demo_service), base_url="http://localhost")
    body = json.dumps({"query": QUERY}).encode()
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    response = server.post("/graphql", content=gzip.compress(body), headers=headers)
    assert (response.status_code, response.headers["accept-encoding"]) == (415, "identity")
    assert "gzip" in response.json()["errors"][0]["message"]
    headers["content-encoding"] = "identity"
    assert server.post("/graphql", content=body, headers=headers).status_code == 200
