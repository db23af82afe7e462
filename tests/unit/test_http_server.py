"""The API over real HTTP: concurrency, who may call, health (issue 3, section 7; trap 28)."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from demo_graph import MARIA, QUESTION, request
from served import served

import graph_service
from graph_service import Service
from graph_service.api.app import MAX_BODY_BYTES, ServerOptions
from graph_service.cli.serving import listen
from graph_service.errors import SetupError, StoreUnavailableError

GRAPHS = {"query": "{ graphs { name } }"}
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def url(demo_service: Service) -> Iterator[str]:
    with served(demo_service) as address:
        yield address


def post(url: str, body: object = GRAPHS, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return httpx.post(f"{url}/graphql", content=content, headers={**JSON, **named}, timeout=30)


def refusal(response: httpx.Response) -> str:
    """The code of an error that carries a request id."""
    payload = response.json()
    assert payload["data"] is None
    (error,) = payload["errors"]
    assert error["message"]
    assert error["extensions"]["requestId"]
    return error["extensions"]["code"]


def test_a_query_over_http(demo_service: Service, url: str) -> None:
    document = "query Q($i: RetrieveInput!) { paths(input: $i) { id text } } query Other { graphs { name } }"
    body = {"query": document, "variables": {"i": {"question": QUESTION}}, "operationName": "Q"}
    response = post(url, body)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert (
        response.json()["data"]["paths"]["id"]
        == demo_service.retrieve(request(strategy=graph_service.model.result.Strategy.PATHS)).id
    )
    assert post(url, {**body, "operationName": "Other"}).json()["data"] == {
        "graphs": [{"name": "demo"}]
    }


class SlowStore:
    """A store whose look-up of one entity waits until it is let go."""

    def __init__(self, store) -> None:
        self._store = store
        self.waiting = threading.Event()
        self.released = threading.Event()

    def __getattr__(self, name: str):
        return getattr(self._store, name)

    def entities(self, edition: str, ids: list[str]):
        if "Q42" in ids:
            self.waiting.set()
            assert self.released.wait(20)
        return self._store.entities(edition, ids)


def test_eight_clients_and_a_slow_read_does_not_hold_the_others(demo_service: Service) -> None:
    store = SlowStore(demo_service.store)
    service = Service(store, vectors=demo_service.vectors, settings=demo_service.settings)
    ask = "query($i: RetrieveInput!) { triplets(input: $i) { id } }"
    body = {"query": ask, "variables": {"i": {"question": QUESTION}}}
    expected = demo_service.retrieve(request()).id
    with served(service) as url, ThreadPoolExecutor(8) as pool:
        slow = pool.submit(post, url, {"query": '{ item(id: "Q42") { label } }'})
        assert store.waiting.wait(20)
        fast = [pool.submit(post, url, body) for _ in range(7 * 3)]
        answers = [one.result(timeout=20).json() for one in fast]
        live = httpx.get(f"{url}/health/live", timeout=20)
        assert not slow.done(), "all others were answered while the slow read waited"
        store.released.set()
        label = slow.result(timeout=20).json()["data"]["item"]["label"]
    assert [answer["data"]["triplets"]["id"] for answer in answers] == [expected] * 21
    assert live.json() == {"status": "live"}
    assert label == "Douglas Adams"


def test_no_more_run_at_once_than_there_are_threads(demo_service: Service) -> None:
    store = SlowStore(demo_service.store)
    service = Service(store, vectors=demo_service.vectors, settings=demo_service.settings)
    with served(service, ServerOptions(threads=1)) as url, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(post, url, {"query": '{ item(id: "Q42") { label } }'})
        assert store.waiting.wait(20)
        second = pool.submit(post, url)
        time.sleep(0.2)
        assert not second.done()
        assert httpx.get(f"{url}/health/ready", timeout=20).status_code == 200
        store.released.set()
        assert slow.result(20).status_code == second.result(20).status_code == 200


# Who may call


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", ""]
)
def test_other_hosts_are_refused_so_rebinding_is_no_way_in(url: str, host: str) -> None:
    response = post(url, host=host)
    assert response.status_code in (400, 421)
    if response.status_code == 421:
        assert refusal(response) == "FORBIDDEN"
        page = httpx.get(f"{url}/graphql", headers={"host": host})
        assert page.status_code == 421


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:99", "127.0.0.1:80", "[::1]:8000", "[::1]"]
)
def test_local_names_are_served(url: str, host: str) -> None:
    assert post(url, host=host).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "file://", "http://127.0.0.1"]
)
def test_pages_of_elsewhere_are_refused(url: str, origin: str) -> None:
    response = post(url, origin=origin)
    assert response.status_code == 403
    assert refusal(response) == "FORBIDDEN"
    assert "access-control-allow-origin" not in response.headers


def test_the_servers_own_page_may_call(url: str) -> None:
    assert post(url, origin=url).status_code == 200


def test_a_named_host_and_origin_may_call(demo_service: Service) -> None:
    options = ServerOptions(hosts=("Graph.Example",), origins=("https://page.example",))
    with served(demo_service, options) as url:
        host = "graph.example"
        assert post(url, host=host, origin="https://page.example").status_code == 200
        assert post(url, host=host, origin="https://other.example").status_code == 403
        assert post(url).status_code == 421


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
def test_what_a_page_can_send_unasked_is_refused(url: str, kind: str) -> None:
    response = post(url, content_type=kind)
    assert response.status_code == 415
    assert refusal(response) == "BAD_INPUT"


def test_json_with_a_charset_is_served(url: str) -> None:
    assert post(url, content_type="Application/JSON; charset=utf-8").status_code == 200


def test_a_query_in_the_address_is_not_run(url: str) -> None:
    response = httpx.get(f"{url}/graphql", params={"query": "{ graphs { name } }"})
    assert response.headers["content-type"].startswith("text/html")
    assert "demo" not in response.text


def test_the_api_key(demo_service: Service) -> None:
    with served(demo_service, ServerOptions(api_key="sésame")) as url:

        def status(given: str) -> int:
            headers = {"authorization": given.encode()}
            return httpx.post(f"{url}/graphql", json=GRAPHS, headers=headers).status_code

        assert [status(given) for given in ("", "Bearer wrong", "sésame", "bearer sésame")] == [
            401
        ] * 4
        assert status("Bearer sésame") == 200
        assert refusal(post(url)) == "FORBIDDEN"
        assert httpx.get(f"{url}/graphql").status_code == 401
        assert httpx.get(f"{url}/health/live").status_code == 200


# What is sent


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"", "not JSON"),
        (b"[]", "query"),
        (b"[{}]", "query"),
        (b'{"query": 1}', "query"),
        (b'{"query": "{ graphs { name } }", "variables": []}', "variables"),
        (b'{"query": "{ graphs { name } }", "operationName": 5}', "operationName"),
    ],
)
def test_a_bad_body_is_said_to_be(url: str, body: bytes, words: str) -> None:
    response = post(url, body)
    assert response.status_code == 400
    assert refusal(response) == "BAD_INPUT"
    assert words in response.json()["errors"][0]["message"]


def test_a_body_too_large_is_refused(url: str) -> None:
    fits = {"query": "{ graphs { name } }", "variables": {"x": "y" * (MAX_BODY_BYTES - 200)}}
    assert post(url, fits).status_code == 200
    response = post(url, {**fits, "variables": {"x": "y" * MAX_BODY_BYTES}})
    assert response.status_code == 413
    assert refusal(response) == "LIMIT_EXCEEDED"


def test_a_client_that_goes_away_harms_nobody(url: str) -> None:
    address = urlsplit(url)
    for part in (b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 b"Content-Length: 500\r\n\r\n{", b"POST /gra", b"nonsense\r\n\r\n"):  # fmt: skip
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall(part)
    assert post(url).status_code == 200


def test_a_query_that_does_not_come_is_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_service.api.app.BODY_TIMEOUT_S", 0.3)
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        connection.sendall(b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{")  # fmt: skip
        answer = b""
        # Head and body may come apart.
        while b"requestId" not in answer:
            part = connection.recv(10_000)
            assert part, answer
            answer += part
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"TIMEOUT"' in answer


def test_other_paths_and_methods(url: str) -> None:
    assert httpx.get(f"{url}/").status_code == 404
    assert httpx.delete(f"{url}/graphql").status_code == 405
    assert httpx.options(f"{url}/graphql").status_code == 405


# Health, version, GraphiQL


def test_health_and_version(url: str) -> None:
    assert httpx.get(f"{url}/health/live").json() == {"status": "live"}
    ready = httpx.get(f"{url}/health/ready")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    assert httpx.get(f"{url}/version").json() == {"version": graph_service.__version__}


def test_not_ready_while_the_store_is_away(
    demo_service: Service, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise StoreUnavailableError("bolt://secret-host does not answer")

    monkeypatch.setattr(demo_service.store, "ping", away)
    ready = httpx.get(f"{url}/health/ready")
    assert ready.status_code == 503
    assert "secret-host" not in ready.text
    assert httpx.get(f"{url}/health/live").status_code == 200
    monkeypatch.undo()
    assert httpx.get(f"{url}/health/ready").status_code == 200


def test_not_ready_while_the_store_keeps_silent(
    demo_service: Service,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("graph_service.api.app.PING_TIMEOUT_S", 0.2)
    released = threading.Event()
    monkeypatch.setattr(demo_service.store, "ping", lambda: released.wait(20))
    try:
        assert httpx.get(f"{url}/health/ready", timeout=20).status_code == 503
    finally:
        released.set()
    assert "not ready: no answer within 0.2 s" in caplog.text


def test_graphiql_is_a_page_that_can_be_turned_off(demo_service: Service, url: str) -> None:
    page = httpx.get(f"{url}/graphql")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "graphiql" in page.text.lower()
    with served(demo_service, ServerOptions(graphiql=False)) as other:
        refused = httpx.get(f"{other}/graphql")
        assert refused.status_code == 405
        assert refused.headers["allow"] == "POST"
        assert post(other).status_code == 200


def test_writes_over_http_need_writable(own_service: Service) -> None:
    document = 'mutation { createView(input: {graph: "demo", name: "thin",'
    document += " spec: {method: EDGE_DELETION, level: 0.1}}) { id } }"
    with served(own_service) as url:
        error = post(url, {"query": document}).json()["errors"][0]
        assert error["extensions"]["code"] == "READ_ONLY"
    assert own_service.list_views() == []
    with served(own_service, ServerOptions(writable=True)) as url:
        made = post(url, {"query": document}).json()["data"]["createView"]["id"]
    assert own_service.get_view("thin").id == made
    assert own_service.neighbourhood(MARIA).items


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_answer_does_not_wait_for_the_acknowledgement_of_its_head(host: str) -> None:
    """asyncio sets TCP_NODELAY only on sockets that name the protocol: 40 ms an answer."""
    try:
        listening = listen(host, 0)
    except SetupError:
        pytest.skip(f"this machine has no {host}")
    with listening:
        assert listening.proto == socket.IPPROTO_TCP


# What is wrong is said in JSON


@pytest.mark.parametrize("origin", ["http://[bad", "http://a]b", "http://[::1", "%%%"])
def test_an_origin_that_is_no_address_is_refused(url: str, origin: str) -> None:
    refused = post(url, origin=origin)
    assert refused.status_code == 403
    assert refusal(refused) == "FORBIDDEN"


def test_an_answer_that_cannot_be_written_is_masked_and_logged(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        graph_service.api.app, "execute", lambda *_, **__: {"data": {"secret": 2**70}}
    )
    response = post(url)
    assert response.status_code == 500
    assert refusal(response) == "INTERNAL"
    request_id = response.json()["errors"][0]["extensions"]["requestId"]
    assert "Integer" not in response.text
    assert "Traceback" not in response.text
    (record,) = [one for one in caplog.records if one.name == "graph_service.api"]
    assert request_id in record.getMessage()
    assert record.exc_info is not None


def test_the_head_of_the_page(url: str) -> None:
    response = httpx.head(f"{url}/graphql")
    assert (response.status_code, response.content) == (200, b"")
