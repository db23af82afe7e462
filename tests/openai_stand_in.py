"""A local server that speaks the chat completions protocol, with faults by script.

Each request takes the next reply of the script; past its end the last one repeats. It speaks
HTTP from a thread of its own, so that the real client code runs against it.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """One reply: its status, headers and body, and what goes wrong on the way.

    Attributes:
        body: JSON-ready data, or raw bytes sent as they are.
        delay_s: Seconds before anything is sent.
        cut: Bytes of the body after which the connection is closed; None sends all of it.
        drop: Whether the connection is closed without any reply.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: int | None = None
    drop: bool = False


def completion(
    text: str | None,
    *,
    finish: str = "stop",
    usage: Mapping[str, int] | None = None,
    model: str = "stand-in-1",
    refusal: str | None = None,
) -> dict[str, Any]:
    """A chat completion as an endpoint sends it."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "finish_reason": finish,
            }
        ],
    }
    if usage is not None:
        body["usage"] = {
            **usage,
            "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"],
        }
    return body


def ok(text: str, **options: Any) -> Scripted:
    options.setdefault("usage", {"prompt_tokens": 10, "completion_tokens": 5})
    return Scripted(200, completion(text, **options), {"x-request-id": "req-1"})


def error(
    status: int,
    message: str = "something went wrong",
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Scripted:
    body = {"error": {"message": message, "type": "test", "param": None, "code": code}}
    return Scripted(status, body, headers or {})


class StandIn:
    """What the server was told, and what it was asked."""

    def __init__(self, url: str, script: Sequence[Scripted]) -> None:
        self.url = url
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()

    def next(self, body: dict[str, Any], headers: dict[str, str]) -> Scripted:
        with self.lock:
            self.requests.append(body)
            self.headers.append(headers)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    stand_in: StandIn

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up on a slow reply closes its end: that is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the test's output clean."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        raw = self.rfile.read(length)
        if self.path != "/v1/chat/completions":
            self._send(error(404, f"no such path {self.path}"))
            return
        sent = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.stand_in.next(json.loads(raw), sent))

    def _send(self, reply: Scripted) -> None:
        if reply.delay_s:
            time.sleep(reply.delay_s)
        if reply.drop:
            self.close_connection = True
            return
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        headers = {"content-type": "application/json", **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw if reply.cut is None else raw[: reply.cut])
        self.wfile.flush()
        if reply.cut is not None:
            self.close_connection = True


@contextlib.contextmanager
def stand_in(*script: Scripted) -> Iterator[StandIn]:
    """Runs the server on a free port of this machine until the block ends."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.stand_in = StandIn(f"http://127.0.0.1:{server.server_address[1]}/v1", script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
