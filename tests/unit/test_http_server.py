"""The API over real HTTP: concurrency, who may call, health."""

from __future__ import annotations

import faulthandler
import json
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, cast
from unittest.mock import ANY
from urllib.parse import urlsplit

import httpx
import pytest
from demo_graph import MARIA, QUESTION, request
from error_texts import check_line, check_text
from served import served
from waiting import PATIENCE_S
from waiting import wait_until as until

import graph_service
from graph_service import Service
from graph_service.api.schema import execute
from graph_service.cli.serving import listen
from graph_service.errors import (
    GraphServiceError,
    ModelFileError,
    SetupError,
    StoreCorruptError,
    StoreUnavailableError,
)
from graph_service.server.app import MAX_BODY_BYTES, make_app
from graph_service.server.connections import ConnectionLimits
from graph_service.server.options import ServerOptions
from graph_service.server.queue import Workers
from graph_service.server.server import Server
from graph_service.settings import Settings
from graph_service.store.protocol import Store

GRAPHS = {"query": "{ graphs { nodes { name } } }"}
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def url(demo_service: Service) -> Iterator[str]:
    with served(demo_service) as address:
        yield address


def post(url: str, body: object = GRAPHS, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return httpx.post(f"{url}/graphql", content=content, headers={**JSON, **named}, timeout=600)


def refusal(response: httpx.Response) -> str:
    """The code of an error that carries a request id."""
    payload = response.json()
    assert "data" not in payload
    (error,) = payload["errors"]
    assert error["message"]
    assert error["extensions"]["requestId"]
    return str(error["extensions"]["code"])


def test_a_query_over_http(demo_service: Service, url: str) -> None:
    document = "query Q($i: RetrieveInput!) { paths(input: $i) { resultId text } } query Other { graphs { nodes { name } } }"
    body = {"query": document, "variables": {"i": {"question": QUESTION}}, "operationName": "Q"}
    response = post(url, body)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert (
        response.json()["data"]["paths"]["resultId"]
        == demo_service.retrieve(request(strategy=graph_service.model.result.Strategy.PATHS)).id
    )
    assert post(url, {**body, "operationName": "Other"}).json()["data"] == {
        "graphs": {"nodes": [{"name": "demo"}]}
    }


class SlowStore:
    """A store whose look-up of one entity waits until it is let go."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting = threading.Event()
        self.released = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def entities(self, edition: str, ids: list[str]) -> Any:
        if "Q42" in ids:
            self.waiting.set()
            assert self.released.wait(600)
        return self._store.entities(edition, ids)


def test_eight_clients_and_a_slow_read_does_not_hold_the_others(demo_service: Service) -> None:
    store = SlowStore(demo_service.store)
    service = Service(
        cast(Store, store), vectors=demo_service.vectors, settings=demo_service.settings
    )
    ask = "query($i: RetrieveInput!) { triplets(input: $i) { resultId } }"
    body = {"query": ask, "variables": {"i": {"question": QUESTION}}}
    expected = demo_service.retrieve(request()).id
    with served(service) as url, ThreadPoolExecutor(8) as pool:
        slow = pool.submit(post, url, {"query": '{ item(itemId: "Q42") { label } }'})
        assert store.waiting.wait(600)
        fast = [pool.submit(post, url, body) for _ in range(7 * 3)]
        answers = [one.result(timeout=600).json() for one in fast]
        live = httpx.get(f"{url}/health/live", timeout=600)
        assert not slow.done(), "all others were answered while the slow read waited"
        store.released.set()
        label = slow.result(timeout=600).json()["data"]["item"]["label"]
    assert [answer["data"]["triplets"]["resultId"] for answer in answers] == [expected] * 21
    assert live.json() == {"status": "live"}
    assert label == "Douglas Adams"


@pytest.fixture
def slow_store(demo_service: Service) -> SlowStore:
    return SlowStore(demo_service.store)


@pytest.fixture
def slow_service(demo_service: Service, slow_store: SlowStore) -> Service:
    return Service(
        cast(Store, slow_store), vectors=demo_service.vectors, settings=demo_service.settings
    )


SLOW = {"query": '{ item(itemId: "Q42") { label } }'}


@pytest.mark.usefixtures("one_lookup_at_once")
def test_no_more_run_at_once_than_there_are_threads(
    slow_store: SlowStore, slow_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a server all of whose threads are at work is not ready: nobody should ask it more."""
    monkeypatch.setattr("graph_service.server.readiness.PING_TIMEOUT_S", 0.2)
    with served(slow_service, ServerOptions(threads=1)) as url, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(post, url, SLOW)
        assert slow_store.waiting.wait(600)
        second = pool.submit(post, url)
        ready = httpx.get(f"{url}/health/ready", timeout=600)
        assert ready.status_code == 503
        check_text(ready.json()["status"])
        assert not second.done()
        slow_store.released.set()
        assert slow.result(600).status_code == second.result(600).status_code == 200
        assert httpx.get(f"{url}/health/ready", timeout=600).status_code == 200


def send(url: str, body: object, version: bytes = b"HTTP/1.1") -> socket.socket:
    """Asks, and returns the connection on which the answer would come."""
    address = urlsplit(url)
    content = json.dumps(body).encode()
    connection = socket.create_connection((address.hostname, address.port), timeout=600)
    connection.sendall(
        b"POST /graphql %s\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % (version, len(content)) + content
    )
    return connection


@pytest.fixture
def one_lookup_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_service.server.queue.LOOKUP_THREADS", 1)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Workers]:
    """The workers of the servers that a test starts."""
    made: list[Workers] = []

    class Noted(Workers):
        def __init__(self, threads: int, /) -> None:
            super().__init__(threads)
            made.append(self)

    monkeypatch.setattr("graph_service.server.app.Workers", Noted)
    return made


@pytest.mark.usefixtures("one_lookup_at_once")
def test_a_client_that_hangs_up_leaves_the_queue(
    slow_store: SlowStore,
    slow_service: Service,
    workers: list[Workers],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And nothing of what it asked is run."""
    ran: list[str] = []
    run = execute

    def noted(service: Service, document: str, *given: Any, **named: Any) -> Any:
        ran.append(document)
        return run(service, document, *given, **named)

    monkeypatch.setattr("graph_service.server.operations.execute", noted)
    left = {"query": "{ left: graphs { nodes { name } } }"}
    # Equal ones would wait for the first of them.
    options = ServerOptions(threads=1, cache_bytes=0)
    with served(slow_service, options) as url, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(post, url, SLOW)
        assert slow_store.waiting.wait(600)
        gone = [send(url, left) for _ in range(5)]
        until(lambda: len(workers[0]) == 6)
        waiting = pool.submit(post, url)
        until(lambda: len(workers[0]) == 7)
        for connection in gone:
            connection.close()
        until(lambda: len(workers[0]) == 2)
        slow_store.released.set()
        assert slow.result(600).status_code == waiting.result(600).status_code == 200
    assert ran == [SLOW["query"], GRAPHS["query"]]


@pytest.mark.parametrize("version", [b"HTTP/1.1", b"HTTP/1.0"])
def test_a_client_that_sends_no_more_gets_its_answer(
    slow_store: SlowStore, slow_service: Service, workers: list[Workers], version: bytes
) -> None:
    """It has closed its side of the connection, as netcat does, and reads on."""
    with served(slow_service, ServerOptions(threads=1)) as url:
        with send(url, SLOW, version) as connection:
            connection.shutdown(socket.SHUT_WR)
            assert slow_store.waiting.wait(600)
            if version == b"HTTP/1.1":
                # The server has seen it, and looks whether the client still reads.
                assert connection.recv(4, socket.MSG_WAITALL) == b"HTTP"
            assert not workers[0].running[0].stop.requested
            slow_store.released.set()
            answer = b"".join(iter(partial(connection.recv, 65_536), b""))
        assert b" 200 OK\r\n" in answer
        assert json.loads(answer.rpartition(b"\r\n\r\n")[2]) == {
            "data": {"item": {"label": "Douglas Adams"}}, "extensions": ANY,
        }  # fmt: skip


@pytest.mark.usefixtures("one_lookup_at_once")
def test_what_a_client_asked_ends_when_it_hangs_up(
    slow_store: SlowStore, slow_service: Service, workers: list[Workers]
) -> None:
    """It keeps its thread until then: no more run at once than there are threads."""
    with served(slow_service, ServerOptions(threads=1)) as url:
        with send(url, SLOW):
            assert slow_store.waiting.wait(600)
        until(lambda: workers[0].running[0].stop.requested)
        assert len(workers[0]) == 1
        slow_store.released.set()
        until(lambda: len(workers[0]) == 0)
        assert post(url).status_code == 200


@pytest.mark.usefixtures("one_lookup_at_once")
def test_the_time_that_a_query_waits_counts(
    demo_service: Service, slow_store: SlowStore, demo_settings: Settings
) -> None:
    service = Service(
        cast(Store, slow_store),
        vectors=demo_service.vectors,
        settings=replace(demo_settings, read_timeout_s=PATIENCE_S),
    )
    with served(service, ServerOptions(threads=1)) as url, ThreadPoolExecutor(1) as pool:
        slow = pool.submit(post, url, SLOW)
        assert slow_store.waiting.wait(600)
        # Only those that come now have little time.
        service.settings = replace(demo_settings, read_timeout_s=2.0)
        late = post(url)
        assert (late.status_code, refusal(late)) == (503, "TIMEOUT")
        check_line(late.json()["errors"][0]["message"], "2 s")
        assert late.headers["retry-after"] == "1"
        slow_store.released.set()
        assert slow.result(600).status_code == 200
        until(lambda: post(url).status_code == 200)


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


def test_a_browser_that_follows_a_link_runs_no_query(url: str) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    query = {"query": "{ graphs { nodes { name } } }"}
    response = httpx.get(f"{url}/graphql", params=query, headers=browser)
    assert response.headers["content-type"].startswith("text/html")
    assert "demo" not in response.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("attacker.example:8000", 421),
        ("192.0.2.7.attacker.example", 421),
        ("0x7f000001", 421),
        ("2001:db8::1", 421),
        ("[192.0.2.7]", 421),
        ("192.0.2.7:8000", 200),
        ("[2001:db8::1]:8000", 200),
        ("graph.example:99", 200),
        ("localhost", 200),
    ],
)
def test_an_open_server_answers_under_addresses_and_names_of_its_own(
    demo_service: Service, host: str, status: int
) -> None:
    """A page elsewhere can give its own name this server's address; then Origin and Host agree."""
    options = ServerOptions(hosts=("localhost", "graph.example"), addresses=True, writable=True)
    with served(demo_service, options) as url:
        assert post(url, host=host, origin=f"http://{host}").status_code == status
    with served(demo_service, ServerOptions(hosts=("*",))) as url:
        assert post(url, host="any.example").status_code == 200


def test_the_api_key(demo_service: Service) -> None:
    with served(demo_service, ServerOptions(api_key="sésame")) as url:

        def status(given: str) -> int:
            headers = {b"authorization": given.encode()}
            return httpx.post(f"{url}/graphql", json=GRAPHS, headers=headers).status_code

        wrong = ("", "Bearer wrong", "sésame", "Bearer", "Basic sésame", "Bearer sésame x")
        assert [status(given) for given in wrong] == [401] * len(wrong)
        assert status("Bearer sésame") == status("bearer  sésame") == status("BEARER sésame") == 200
        assert refusal(post(url)) == "FORBIDDEN"
        assert httpx.get(f"{url}/graphql", params=GRAPHS).status_code == 401
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
        (b'{"query": "{ graphs { nodes { name } } }", "variables": []}', "variables"),
        (b'{"query": "{ graphs { nodes { name } } }", "operationName": 5}', "operationName"),
    ],
)
def test_a_bad_body_is_said_to_be(url: str, body: bytes, words: str) -> None:
    response = post(url, body)
    assert response.status_code == 400
    assert refusal(response) == "BAD_INPUT"
    assert words in response.json()["errors"][0]["message"]


def test_a_body_too_large_is_refused(url: str) -> None:
    fits = {
        "query": "{ graphs { nodes { name } } }",
        "variables": {"x": "y" * (MAX_BODY_BYTES - 200)},
    }
    assert post(url, fits).status_code == 200
    response = post(url, {**fits, "variables": {"x": "y" * MAX_BODY_BYTES}})
    assert response.status_code == 413
    assert refusal(response) == "LIMIT_EXCEEDED"


def test_the_bodies_of_all_clients_have_an_end(
    slow_store: SlowStore, slow_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand clients may each hold a megabyte; what is answered is held no more."""
    large = {**SLOW, "variables": {"x": "y" * 1_500}}
    monkeypatch.setattr("graph_service.server.app.MAX_HELD_BYTES", 2_500)
    with served(slow_service) as url, ThreadPoolExecutor(1) as pool:
        first = pool.submit(post, url, large)
        assert slow_store.waiting.wait(600)
        response = post(url, large)
        assert (response.status_code, refusal(response)) == (503, "LIMIT_EXCEEDED")
        slow_store.released.set()
        assert first.result(600).status_code == 200
        for _ in range(3):
            assert post(url, large).status_code == 200


def test_a_client_that_goes_away_harms_nobody(url: str) -> None:
    address = urlsplit(url)
    for part in (b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 b"Content-Length: 500\r\n\r\n{", b"POST /gra", b"nonsense\r\n\r\n"):  # fmt: skip
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall(part)
    assert post(url).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/graphql/", 404),
        ("GET", "/%2e%2e/etc/passwd", 404),
        ("DELETE", "/graphql", 405),
        ("OPTIONS", "/graphql", 405),
        ("POST", "/version", 405),
        ("BREW", "/health/ready", 405),
    ],
)
def test_other_paths_and_methods(url: str, method: str, path: str, status: int) -> None:
    response = httpx.request(method, f"{url}{path}")
    assert response.status_code == status
    assert refusal(response) == "BAD_INPUT"
    assert ("allow" in response.headers) == (status == 405)


# Health, version, GraphiQL


def test_health_and_version(url: str) -> None:
    assert httpx.get(f"{url}/health/live").json() == {"status": "live"}
    ready = httpx.get(f"{url}/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
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
    monkeypatch.setattr("graph_service.server.readiness.PING_TIMEOUT_S", 0.2)
    released = threading.Event()
    monkeypatch.setattr(demo_service.store, "ping", lambda: released.wait(600))
    try:
        assert httpx.get(f"{url}/health/ready", timeout=600).status_code == 503
    finally:
        released.set()
    check_line(caplog.messages, "0.2 s")


def test_graphiql_is_a_page_that_can_be_turned_off(demo_service: Service, url: str) -> None:
    browser = {"accept": "text/html"}
    page = httpx.get(f"{url}/graphql", headers=browser)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "graphiql" in page.text.lower()
    with served(demo_service, ServerOptions(graphiql=False)) as other:
        assert httpx.get(f"{other}/graphql", headers=browser).status_code == 406
        assert post(other).status_code == 200


def test_writes_over_http_need_writable(own_service: Service) -> None:
    document = 'mutation { createView(input: {graph: "demo", name: "thin",'
    document += " spec: {method: EDGE_DELETION, level: 0.1}}) { view { viewId } } }"
    with served(own_service) as url:
        error = post(url, {"query": document}).json()["errors"][0]
        assert error["extensions"]["code"] == "READ_ONLY"
    assert own_service.views.list() == []
    with served(own_service, ServerOptions(writable=True)) as url:
        made = post(url, {"query": document}).json()["data"]["createView"]["view"]["viewId"]
    assert own_service.views.get("thin").id == made
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


# What is wrong is said in JSON, and not where things are


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreUnavailableError("bolt://db.internal:7687 does not answer"), "STORE_UNAVAILABLE"),
        (StoreCorruptError("/srv/secret/graph.db is damaged"), "STORE_UNAVAILABLE"),
        (ModelFileError("no /srv/secret/model", hint="Put it into /srv/secret"), "SETUP"),
    ],
)
def test_errors_do_not_say_where_the_store_is(
    demo_service: Service,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: GraphServiceError,
    code: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(demo_service, "retrieve", fail)
    monkeypatch.setattr(demo_service, "retrieve_many", lambda _: [error])
    one = post(url, {"query": '{ triplets(input: {question: "a"}) { id } }'})
    many = '{ retrieveMany(strategy: PATHS, inputs: [{question: "a"}]) { error { code message hint } } }'
    told = [one.json()["errors"][0], post(url, {"query": many}).json()["data"]["retrieveMany"][0]]
    assert told[0]["extensions"]["code"] == told[1]["error"]["code"] == code
    assert told[0]["extensions"]["requestId"] in told[0]["message"]
    assert told[0]["extensions"]["requestId"] in caplog.text
    for secret in ("secret", "internal"):
        assert secret not in json.dumps(told)
    assert error.message in caplog.text, "the operator is told"


@pytest.mark.parametrize("origin", ["http://[bad", "http://a]b", "http://[::1", "%%%"])
def test_an_origin_that_is_no_address_is_refused(url: str, origin: str) -> None:
    refused = post(url, origin=origin)
    assert refused.status_code == 403
    assert refusal(refused) == "FORBIDDEN"


def test_an_answer_that_cannot_be_written_is_masked_and_logged(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        graph_service.server.operations, "execute", lambda *_, **__: {"data": {"secret": 2**70}}
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
    response = httpx.head(f"{url}/graphql", headers={"accept": "text/html"})
    assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize("exits_process", [True, False])
def test_the_clock_of_a_processs_end_starts_once(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, exits_process: bool
) -> None:
    """A server within another's process, as in a test, must never end that."""
    started: list[tuple[float, bool]] = []
    monkeypatch.setattr(
        faulthandler,
        "dump_traceback_later",
        lambda timeout, *, exit: started.append((timeout, exit)),
    )
    server = Server(
        make_app(demo_service),
        ConnectionLimits(1.0, 1.0, 1.0, 5, 10, 10),
        shutdown_timeout_s=7.0,
        exits_process=exits_process,
    )
    for _ in range(2):
        server.handle_exit(signal.SIGTERM, None)
        assert server.should_exit
        assert started == ([(7.0, True)] if exits_process else [])
