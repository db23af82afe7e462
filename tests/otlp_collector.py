"""A collector of OpenTelemetry on a port of this machine, which keeps the spans that it is sent."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Span:
    """A span as it came."""

    name: str
    id: str
    parent: str
    trace: str
    kind: int
    began: int
    ended: int
    failed: bool
    about: dict[str, Any]


@dataclass
class Collector:
    """What came to a collector.

    Attributes:
        url: What ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set to.
        resource: Of the last spans.
    """

    url: str = ""
    spans: list[Span] = field(default_factory=list)
    resource: dict[str, Any] = field(default_factory=dict)

    def take(self, body: bytes) -> None:
        """Keeps what a request brings."""
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resource = _plain(group.resource.attributes)
            for scope in group.scope_spans:
                self.spans += [
                    Span(
                        one.name,
                        one.span_id.hex(),
                        one.parent_span_id.hex(),
                        one.trace_id.hex(),
                        one.kind,
                        one.start_time_unix_nano,
                        one.end_time_unix_nano,
                        one.status.code == 2,
                        _plain(one.attributes),
                    )
                    for one in scope.spans
                ]

    def named(self, name: str) -> list[Span]:
        """The spans of a name, in the order in which they ended."""
        return [span for span in self.spans if span.name == name]


def _plain(attributes: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def collector() -> Iterator[Collector]:
    """Collects until the block ends."""
    kept = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            assert self.path == "/v1/traces"
            kept.take(body)
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        kept.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join(10)
