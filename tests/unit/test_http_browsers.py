"""Pages of other origins, keys, and GraphiQL: what browsers are told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from error_texts import raises
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.errors import SetupError
from graph_service.server import app, graphiql, operations
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.settings import Settings

PAGE = "https://page.example"
OTHER = "https://other.example"
NAMED = ServerOptions(origins=(PAGE,), api_key="k")
QUERY = {"query": "{ graphs { nodes { name } } }"}
ASKS = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,authorization,x-api-key",
}


def client(service: Service, options: ServerOptions = NAMED) -> TestClient:
    return TestClient(make_app(service, options), base_url="http://localhost")


def cors(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: headers[name] for name in headers if name.startswith("access-control-")}


def test_a_preflight_of_an_allowed_page_needs_no_key(demo_service: Service) -> None:
    response = client(demo_service).options("/graphql", headers={"origin": PAGE, **ASKS})
    assert (response.status_code, response.content) == (204, b"")
    assert cors(response.headers) == {
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "GET, HEAD, POST",
        "access-control-allow-headers": "accept, authorization, content-type, x-api-key",
        "access-control-max-age": "600",
    }
    assert response.headers["vary"] == "Origin"


@pytest.mark.parametrize(
    "origin", [OTHER, "null", "http://page.example", f"{PAGE}:444", f"{PAGE}.x"]
)
def test_no_other_page_is_allowed(demo_service: Service, origin: str) -> None:
    """Nor told that it would be: the browser keeps the answer from it."""
    asked = client(demo_service)
    before = asked.options("/graphql", headers={"origin": origin, **ASKS})
    sent = asked.post("/graphql", json=QUERY, headers={"origin": origin, "x-api-key": "k"})
    for response in (before, sent):
        assert response.status_code == 403
        assert response.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
        assert "access-control-allow-origin" not in response.headers
        assert "Origin" in response.headers["vary"]


def test_an_allowed_page_reads_answers_and_refusals(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = client(demo_service)
    headers = {"origin": PAGE, "authorization": "Bearer k"}

    def readable(response: Any) -> int:
        assert cors(response.headers) == {
            "access-control-allow-origin": PAGE,
            "access-control-expose-headers": "cache-status, etag, retry-after, www-authenticate, x-request-id",
        }
        return int(response.status_code)

    assert readable(asked.post("/graphql", json=QUERY, headers=headers)) == 200
    assert readable(asked.post("/graphql", json=QUERY, headers={"origin": PAGE})) == 401
    assert readable(asked.get("/version", headers=headers)) == 200
    assert readable(asked.get("/nothing", headers=headers)) == 404
    monkeypatch.setattr(app, "MAX_BODY_BYTES", 5)
    assert readable(asked.post("/graphql", json=QUERY, headers=headers)) == 413
    monkeypatch.undo()
    monkeypatch.setattr(app, "MAX_HELD_BYTES", 0)
    assert readable(asked.post("/graphql", json=QUERY, headers=headers)) == 503
    monkeypatch.undo()
    monkeypatch.setattr(operations, "execute", lambda *_, **__: {"data": 2**70})
    assert readable(asked.post("/graphql", json=QUERY, headers=headers)) == 500


def test_a_cache_tells_pages_apart(demo_service: Service) -> None:
    """An answer to a request without Origin must not be given to a page, which may not read it."""
    response = client(demo_service).get("/graphql", params=QUERY, headers={"x-api-key": "k"})
    assert (response.status_code, cors(response.headers)) == (200, {})
    assert "Origin" in response.headers["vary"]


def test_every_page_only_with_a_plain_switch(demo_service: Service) -> None:
    asked = client(demo_service, ServerOptions(any_origin=True))
    for origin in (OTHER, "null"):
        before = asked.options("/graphql", headers={"origin": origin, **ASKS})
        sent = asked.post("/graphql", json=QUERY, headers={"origin": origin})
        assert (before.status_code, sent.status_code) == (204, 200)
        for response in (before, sent):
            assert response.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in response.headers
    closed = client(demo_service, ServerOptions())
    refused = closed.options("/graphql", headers={"origin": "http://localhost:1", **ASKS})
    assert refused.status_code == 403


def test_the_host_is_checked_of_pages_too(demo_service: Service) -> None:
    headers = {"origin": PAGE, "host": "elsewhere", "x-api-key": "k"}
    assert client(demo_service).post("/graphql", json=QUERY, headers=headers).status_code == 421


# Keys


@pytest.mark.parametrize(
    ("headers", "challenge"),
    [
        ({"authorization": "Bearer k"}, None),
        ({"authorization": "bEARER k"}, None),
        ({"x-api-key": "k"}, None),
        ({"x-api-key": "k", "authorization": "Basic of-a-proxy"}, None),
        ({"x-api-key": "k", "authorization": "Bearer other"}, None),
        ({}, 'Bearer realm="graph-service"'),
        ({"authorization": "Basic k"}, 'Bearer realm="graph-service"'),
        ({"authorization": "Bearer "}, 'Bearer realm="graph-service"'),
        ({"x-api-key": ""}, 'Bearer realm="graph-service", error="invalid_token"'),
        ({"x-api-key": "kk"}, 'Bearer realm="graph-service", error="invalid_token"'),
        ({"authorization": "Bearer j"}, 'Bearer realm="graph-service", error="invalid_token"'),
    ],
)
def test_a_key_comes_as_a_bearer_token_or_in_a_header_of_its_own(
    demo_service: Service, headers: dict[str, str], challenge: str | None
) -> None:
    response = client(demo_service).post("/graphql", json=QUERY, headers=headers)
    assert response.status_code == (401 if challenge else 200)
    assert response.headers.get("www-authenticate") == challenge


# GraphiQL


def test_the_page_loads_its_own_files_alone(demo_service: Service) -> None:
    """And comes without a key, for which it asks."""
    asked = client(demo_service)
    page = asked.get("/graphql", headers={"accept": "text/html"})
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "connect-src 'self';" in policy
    assert "http" not in policy
    assert 'data-needs-key="yes"' in page.text
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    files = [name for name in loaded if name != "data:,"]
    assert len(files) == 6
    for name in files:
        assert re.fullmatch(r"graphiql/[0-9a-f]{16}/[\w.-]+", name)
        file = asked.get(f"/{name}")
        assert file.status_code == 200
        kind = "text/css" if name.endswith("css") else "text/javascript"
        assert file.headers["content-type"].startswith(kind)
        assert file.headers["x-content-type-options"] == "nosniff"
        assert "immutable" in file.headers["cache-control"]
        assert file.headers["cross-origin-resource-policy"] == "same-origin"
        assert asked.get(f"/{name}", headers={"host": "elsewhere"}).status_code == 421
    folder = files[0].rsplit("/", 1)[0]
    for other in ("page.html", "LICENSES.txt", "..%2f__init__.py", "%2e%2e/__init__.py"):
        assert asked.get(f"/{folder}/{other}").status_code == 404
    assert asked.get(f"/{files[0].replace(folder, 'graphiql/0000')}").status_code == 404


def test_the_query_that_the_page_begins_with_can_be_run(demo_service: Service) -> None:
    script = graphiql.read_assets().files["page.js"].decode()
    (example,) = re.findall(r"const EXAMPLE = `(.*?)`;", script, re.DOTALL)
    response = client(demo_service, ServerOptions()).post("/graphql", json={"query": example})
    assert "errors" not in response.json()


def test_without_a_key_the_page_asks_for_none(demo_service: Service) -> None:
    page = client(demo_service, ServerOptions()).get("/graphql", headers={"accept": "text/html"})
    assert 'data-needs-key="no"' in page.text


def test_no_server_starts_whose_page_would_be_broken(tmp_path: Path) -> None:
    assets = Path(graphiql.__file__).parent / "assets"
    for file in assets.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert graphiql.read_assets(tmp_path).digest == graphiql.read_assets().digest
    graphiql.read_assets.cache_clear()
    (tmp_path / "graphiql.min.js").write_bytes(b"changed")
    with raises(SetupError) as changed:
        graphiql.read_assets(tmp_path)
    assert "--no-graphiql" in str(changed.value)
    (tmp_path / "page.js").unlink()
    with raises(SetupError):
        graphiql.read_assets(tmp_path)


def test_a_page_that_is_not_shown_needs_no_files(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise SetupError("GraphiQL can't be shown")

    monkeypatch.setattr(graphiql, "read_assets", missing)
    with pytest.raises(SetupError, match="GraphiQL"):
        make_app(demo_service)
    closed = client(demo_service, ServerOptions(graphiql=False))
    assert closed.post("/graphql", json=QUERY).status_code == 200


def test_the_licences_of_what_others_wrote_are_there() -> None:
    text = (Path(graphiql.__file__).parent / "assets" / "LICENSES.txt").read_text(encoding="utf-8")
    assert graphiql.VERSIONS == {"graphiql": "4.1.2", "react": "18.3.1", "react-dom": "18.3.1"}
    assert "graphiql 4.1.2" in text
    assert "react and react-dom 18.3.1" in text
    for name in ("codemirror", "graphql", "markdown-it", "Fira Code", "Roboto"):
        assert name in text


def test_idle_connections_outlive_those_of_proxies() -> None:
    """nginx and AWS keep theirs for 60 s, Traefik for 90 s, Caddy for 120 s."""
    assert Settings().keep_alive_s > 120
