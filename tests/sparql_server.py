"""A local SPARQL server: pyoxigraph's store over HTTP, with faults by script in front.

``Fault`` says what goes wrong and for which requests; the first that matches is used up, or
stays where it has no count. Requests are kept, so that tests see agents, methods and queries.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyoxigraph as ox

JSON = "application/sparql-results+json"


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    query: str
    headers: Mapping[str, str]
    at: float
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Fault:
    """What goes wrong.

    Attributes:
        times: For how many matching requests; None for all.
        when: A text that the query holds, or a function of the query.
        status, body, media, headers: Sent instead of the answer; ``body`` None keeps the answer.
        cut: Bytes of the body after which the connection is closed.
        undeclared: Whether the cut body is sent without its length.
        drop: Whether the connection is closed without any reply.
        delay_s: Seconds before the reply.
        cap: Rows that are sent at most.
        rows: Changes the list of bindings.
    """

    times: int | None = 1
    when: str | Callable[[str], bool] = ""
    status: int = 200
    body: bytes | None = None
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    undeclared: bool = False
    drop: bool = False
    delay_s: float = 0.0
    cap: int | None = None
    rows: Callable[[list[Any]], list[Any]] | None = None


class SparqlServer:
    """The server; ``url`` is its endpoint."""

    def __init__(self, store: ox.Store) -> None:
        self.store = store
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.running = self.most_running = 0
        self.lock = threading.Lock()
        self.url = ""

    def queries(self, containing: str = "") -> list[str]:
        return [one.query for one in self.requests if containing in one.query]

    def fault_for(self, query: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                when = fault.when
                matches = when in query if isinstance(when, str) else when(query)
                if matches and fault.times != 0:
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None


def _handler(server: SparqlServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.answer(urllib.parse.urlsplit(self.path).query)

        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

        def answer(self, encoded: str) -> None:
            with server.lock:
                server.running += 1
                server.most_running = max(server.most_running, server.running)
            self.counted = True
            try:
                self.reply(dict(urllib.parse.parse_qsl(encoded)))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                self.leave()

        def leave(self) -> None:
            # Before the client has the answer, since it may ask again at once.
            if self.counted:
                self.counted = False
                with server.lock:
                    server.running -= 1

        def reply(self, parameters: dict[str, str]) -> None:
            query = parameters.pop("query", "")
            with server.lock:
                server.requests.append(
                    Request(self.command, query, dict(self.headers), time.monotonic(), parameters)
                )
            fault = server.fault_for(query)
            if fault is None:
                self.send(200, self.body(query), JSON, {})
                return
            time.sleep(fault.delay_s)
            if fault.drop:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            body = fault.body
            if body is None:
                body = b"" if fault.status != 200 else self.changed(self.body(query), fault)
            self.send(
                fault.status,
                body,
                fault.media,
                fault.headers,
                cut=fault.cut,
                undeclared=fault.undeclared,
            )

        def body(self, query: str) -> bytes:
            results = server.store.query(query)
            assert isinstance(results, ox.QuerySolutions)
            text = results.serialize(format=ox.QueryResultsFormat.JSON)
            assert text is not None
            return bytes(text)

        def changed(self, body: bytes, fault: Fault) -> bytes:
            payload = json.loads(body)
            rows = payload["results"]["bindings"]
            if fault.rows is not None:
                rows = fault.rows(rows)
            payload["results"]["bindings"] = rows[: fault.cap]
            return json.dumps(payload).encode()

        def send(
            self,
            status: int,
            body: bytes,
            media: str,
            headers: Mapping[str, str],
            *,
            cut: int | None = None,
            undeclared: bool = False,
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media)
            if "gzip" in self.headers.get("Accept-Encoding", "") and not undeclared:
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
            for name, value in headers.items():
                self.send_header(name, value)
            if undeclared:
                self.send_header("Connection", "close")
            else:
                self.send_header("Content-Length", str(len(body)))
            self.leave()
            self.end_headers()
            self.wfile.write(body[:cut])
            if cut is not None or undeclared:
                self.close_connection = True

    return Handler


@contextlib.contextmanager
def serve_sparql(store: ox.Store) -> Iterator[SparqlServer]:
    """Serves a store on a port of its own until the block is left."""
    server = SparqlServer(store)
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_address[1]}/sparql"
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
