"""A local stand-in for Wikidata and DBpedia, with faults by script in front.

SPARQL is answered by pyoxigraph's store at ``/sparql``; entities' documents, where there are any,
at ``/w/api.php`` (``wbgetentities``) and below ``/wiki/Special:EntityData/``, as Wikibase does.
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
    """One request as it came; the query of one for entities is their ids, such as ``Q1|Q2``."""

    method: str
    query: str
    headers: Mapping[str, str]
    at: float
    path: str = "/sparql"
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Fault:
    """What goes wrong.

    Attributes:
        times: For how many matching requests; None for all.
        when: A text that the query holds, or a function of the query.
        status, body, media, headers: Sent instead of the answer; ``body`` None keeps the answer.
        cut: Bytes of the body after which the connection is closed.
        undeclared: Whether the body is sent without its length; ``packed`` whether by gzip then.
        drop: Whether the connection is closed without any reply.
        stalls: Called before the head of a reply is sent, whose body never comes.
        cap: Rows that are sent at most.
        rows: Changes the list of bindings.
        path: What the path of the request must end in.
    """

    times: int | None = 1
    when: str | Callable[[str], bool] = ""
    status: int = 200
    body: bytes | None = None
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    undeclared: bool = False
    packed: bool = False
    drop: bool = False
    stalls: Callable[[], None] | None = None
    cap: int | None = None
    rows: Callable[[list[Any]], list[Any]] | None = None
    path: str = ""


class SparqlServer:
    """The server; ``url`` is its endpoint, ``api`` and ``entity_data`` where entities are.

    Attributes:
        documents: By id: an entity's document, or the id of what it redirects to.
        most_ids: Ids that the API takes at once.
    """

    def __init__(self, store: ox.Store, documents: Mapping[str, Any] | None = None) -> None:
        self.store = store
        self.documents = documents or {}
        self.most_ids = 50
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.running = self.most_running = 0
        self.lock = threading.Lock()
        self.url = ""

    @property
    def api(self) -> str:
        return self.url.replace("/sparql", "/w/api.php")

    @property
    def entity_data(self) -> str:
        return self.url.replace("/sparql", "/wiki/Special:EntityData")

    def queries(self, containing: str = "") -> list[str]:
        return [
            one.query
            for one in self.requests
            if containing in one.query and one.path.endswith("/sparql")
        ]

    def asked_entities(self) -> list[list[str]]:
        """The ids of each request for entities."""
        return [one.query.split("|") for one in self.requests if not one.path.endswith("/sparql")]

    def answer_api(self, parameters: Mapping[str, str], ids: list[str]) -> Any:
        if len(ids) > self.most_ids:
            return {"error": {"code": "toomanyvalues", "info": "Too many values", "limit": 1}}
        for id_ in ids:
            if not id_[1:].isdecimal():
                return {"error": {"code": "no-such-entity", "info": "Could not find", "id": id_}}
        props = parameters["props"].split("|")
        languages = parameters.get("languages", "").split("|")
        entities: dict[str, Any] = {}
        for id_ in ids:
            found = self.documents.get(id_)
            if isinstance(found, str):
                target = {**self.documents[found], "redirects": {"from": id_, "to": found}}
                entities[id_] = self.parts(target, props, languages)
            elif found is None:
                entities[id_] = {"id": id_, "missing": ""}
            else:
                entities[id_] = self.parts(found, props, languages)
        return {"entities": entities, "success": 1}

    def parts(self, document: Any, props: list[str], languages: list[str]) -> Any:
        kept = {"type", "id", "redirects", *props, *(("lastrevid",) if "info" in props else ())}
        made = {key: part for key, part in document.items() if key in kept}
        for key in {"labels", "descriptions", "aliases"}.intersection(props):
            part = made.get(key) or {}
            if languages != [""]:
                part = {tag: terms for tag, terms in part.items() if tag in languages}
            # An empty mapping comes as a list.
            made[key] = part or []
        return made

    def answer_entity_data(self, id_: str) -> Any:
        found = self.documents.get(id_)
        if isinstance(found, str):
            id_, found = found, self.documents[found]
        return None if found is None else {"entities": {id_: found}}

    def fault_for(self, query: str, path: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                when = fault.when
                matches = when in query if isinstance(when, str) else when(query)
                if matches and path.endswith(fault.path or "/sparql") and fault.times != 0:
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None


def wait_for_end(connection: socket.socket, /) -> None:
    """Waits until the client closes the connection."""
    with contextlib.suppress(OSError):
        connection.recv(1)


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
            path = urllib.parse.urlsplit(self.path).path
            if path.endswith("/sparql"):
                query = parameters.pop("query", "")
            elif path.endswith("/api.php"):
                query = parameters["ids"]
            else:
                query = path.rpartition("/")[2].removesuffix(".json")
            with server.lock:
                server.requests.append(
                    Request(
                        self.command, query, dict(self.headers), time.monotonic(), path, parameters
                    )
                )
            fault = server.fault_for(query, path)
            if fault is None:
                self.answer_well(path, query, parameters)
                return
            if fault.stalls is not None:
                fault.stalls()
                self.send_response(200)
                self.send_header("Content-Length", "1")
                self.end_headers()
                wait_for_end(self.connection)
                self.close_connection = True
                return
            if fault.drop:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            body = fault.body
            if body is None:
                body = b"" if fault.status != 200 else self.whole(path, query, parameters, fault)
            self.send(
                fault.status,
                body,
                fault.media,
                fault.headers,
                cut=fault.cut,
                undeclared=fault.undeclared,
                packed=fault.packed or not fault.undeclared,
            )

        def answer_well(self, path: str, query: str, parameters: dict[str, str]) -> None:
            if path.endswith("/sparql"):
                self.send(200, self.body(query), JSON, {})
                return
            found = self.entities(path, query, parameters)
            if found is None:
                self.send(404, b"<html><title>Not Found</title></html>", "text/html", {})
            else:
                # With the escapes that Wikibase writes.
                self.send(200, json.dumps(found).encode(), "application/json", {})

        def entities(self, path: str, query: str, parameters: dict[str, str]) -> Any:
            if path.endswith("/api.php"):
                assert parameters["action"] == "wbgetentities"
                assert parameters["format"] == "json"
                return server.answer_api(parameters, query.split("|"))
            return server.answer_entity_data(query)

        def whole(self, path: str, query: str, parameters: dict[str, str], fault: Fault) -> bytes:
            if path.endswith("/sparql"):
                return self.changed(self.body(query), fault)
            payload = self.entities(path, query, parameters)
            if fault.rows is not None:
                payload["entities"] = dict(fault.rows(list(payload["entities"].items())))
            return json.dumps(payload).encode()

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
            packed: bool = True,
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media)
            if "gzip" in self.headers.get("Accept-Encoding", "") and packed:
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


WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"


def truthy_store(documents: Mapping[str, Any]) -> ox.Store:
    """The truthy triples between entities that documents hold, as Wikidata's service has them."""
    store = ox.Store()
    for id_, document in documents.items():
        if isinstance(document, str):
            continue
        for property_, claims in (document.get("claims") or {}).items():
            ranks = {claim["rank"] for claim in claims}
            best = "preferred" if "preferred" in ranks else "normal"
            for claim in claims:
                value = claim["mainsnak"].get("datavalue", {}).get("value")
                if claim["rank"] == best and isinstance(value, dict) and "id" in value:
                    store.add(
                        ox.Quad(
                            ox.NamedNode(WD + id_),
                            ox.NamedNode(WDT + property_),
                            ox.NamedNode(WD + value["id"]),
                        )
                    )
    return store


@contextlib.contextmanager
def serve_sparql(
    store: ox.Store, documents: Mapping[str, Any] | None = None
) -> Iterator[SparqlServer]:
    """Serves a store, and documents, on a port of its own until the block is left."""
    server = SparqlServer(store, documents)
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
