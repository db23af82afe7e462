"""A local stand-in for Wikimedia's pageview API and Wikidata's, with faults by script in front.

``Fault`` says what goes wrong for the next requests whose path or query holds ``when``.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sparql_server import wait_for_end

PROBLEM = {"type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found", "detail": "no data"}
NO_ROUTE = {"type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found#route"}


@dataclass
class Fault:
    """What goes wrong, ``times`` times (None: always).

    Attributes:
        when: Text that the address holds.
        status, body, headers: Sent instead; ``body`` None keeps what would have been sent.
        cut: Bytes of the body after which the connection is closed.
        drop: Whether the connection is closed without a reply.
        stalls: Called before the head of a reply is sent, whose body never comes.
    """

    when: str = ""
    times: int | None = 1
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    drop: bool = False
    stalls: Callable[[], None] | None = None


class WikimediaServer:
    """``views`` are views by title and month; ``titles`` titles by entity id."""

    def __init__(self, views: Mapping[str, Mapping[str, int]], titles: Mapping[str, str]) -> None:
        self.views = views
        self.titles = titles
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, Mapping[str, str], float]] = []
        self.running = self.most_running = 0
        self.lock = threading.Lock()
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/per-article"

    @property
    def wikidata_api(self) -> str:
        return f"http://127.0.0.1:{self.port}/w/api.php"

    def asked(self, containing: str = "") -> list[str]:
        return [path for path, _, _ in self.requests if containing in path]

    def fault_for(self, path: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                if fault.when in path and fault.times != 0:
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None

    def answer(self, path: str) -> tuple[int, bytes]:
        parts = urllib.parse.urlsplit(path)
        if parts.path == "/w/api.php":
            return self._entities(dict(urllib.parse.parse_qsl(parts.query)))
        pieces = parts.path.split("/")[1:]
        if len(pieces) != 8 or pieces[0] != "per-article":
            return 404, json.dumps(NO_ROUTE).encode()
        _, project, access, agent, name, granularity, start, end = pieces
        assert (granularity, access, agent) == ("monthly", "all-access", "user")
        title = urllib.parse.unquote(name).replace("_", " ")
        items = [
            {"project": project, "article": name, "timestamp": f"{month.replace('-', '')}0100",
             "views": views}
            for month, views in sorted(self.views.get(title, {}).items())
            if start[:6] <= month.replace("-", "") <= end[:6]
        ]  # fmt: skip
        if not items:
            return 404, json.dumps(PROBLEM).encode()
        return 200, json.dumps({"items": items}).encode()

    def _entities(self, query: Mapping[str, str]) -> tuple[int, bytes]:
        assert query["maxlag"] == "5"
        ids = query["ids"].split("|")
        assert len(ids) <= 50
        site = query["sitefilter"]
        if "Q404" in ids:
            error = {"code": "no-such-entity", "info": "no Q404", "id": "Q404"}
            return 200, json.dumps({"error": error}).encode()
        entities: dict[str, Any] = {}
        for id_ in ids:
            title = self.titles.get(id_)
            links = {site: {"site": site, "title": title}} if title else {}
            # An empty object comes as an empty list.
            entities[id_] = {"id": id_, "sitelinks": links or []}
        return 200, json.dumps({"entities": entities}).encode()


@contextlib.contextmanager
def serve_wikimedia(
    views: Mapping[str, Mapping[str, int]], titles: Mapping[str, str]
) -> Iterator[WikimediaServer]:
    """Serves until the block ends."""
    server = WikimediaServer(views, titles)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            with server.lock:
                server.running += 1
                server.most_running = max(server.most_running, server.running)
                server.requests.append((self.path, dict(self.headers), time.monotonic()))
            fault = server.fault_for(self.path) or Fault()
            # Before the reply: who has it may ask again before this thread goes on.
            with server.lock:
                server.running -= 1
            if fault.drop:
                self.close_connection = True
                return
            if fault.stalls is not None:
                fault.stalls()
                self.send_response(200)
                self.send_header("Content-Length", "1")
                self.end_headers()
                wait_for_end(self.connection)
                self.close_connection = True
                return
            status, body = server.answer(self.path)
            if fault.status != 200 or fault.body is not None:
                status, body = fault.status, fault.body or b""
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in fault.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body if fault.cut is None else body[: fault.cut])
            if fault.cut is not None:
                self.close_connection = True

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
