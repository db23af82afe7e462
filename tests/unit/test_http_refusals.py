"""The door of the HTTP server in this process: the whole answer to what it refuses."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.api.app import ServerOptions, make_app


def ask(service: Service, method: str, options: ServerOptions, **headers: str) -> tuple[int, str]:
    """The status of an answer and the code of its only error."""
    client = TestClient(make_app(service, options), base_url="http://localhost")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = client.request(method, "/graphql", headers=named, content=b"{}")
    payload = response.json()
    assert payload["data"] is None
    (error,) = payload["errors"]
    assert len(error["extensions"]["requestId"]) == 32
    return response.status_code, error["extensions"]["code"]


@pytest.mark.parametrize(
    ("method", "options", "headers", "answer"),
    [
        ("GET", ServerOptions(graphiql=False), {}, (405, "BAD_INPUT")),
        ("POST", ServerOptions(), {"host": "elsewhere:8000"}, (421, "FORBIDDEN")),
        ("POST", ServerOptions(), {"origin": "http://elsewhere"}, (403, "FORBIDDEN")),
        ("POST", ServerOptions(api_key="k"), {"authorization": "Bearer j"}, (401, "FORBIDDEN")),
        ("POST", ServerOptions(), {"content_type": "text/plain"}, (415, "BAD_INPUT")),
        ("POST", ServerOptions(), {"content_type": "application/json"}, (400, "BAD_INPUT")),
    ],
)
def test_each_refusal_has_its_status_and_code(
    demo_service: Service,
    method: str,
    options: ServerOptions,
    headers: dict[str, str],
    answer: tuple[int, str],
) -> None:
    assert ask(demo_service, method, options, **headers) == answer
