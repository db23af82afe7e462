"""Spans of OpenTelemetry: of requests, operations, the stages of retrievals, and calls of the store.

The names follow the conventions for HTTP, GraphQL and databases. OpenTelemetry is imported when
traces are opened, so that a server without them neither needs nor loads it. Spans go by OTLP over
HTTP to where the variables of OpenTelemetry say (``OTEL_EXPORTER_OTLP_ENDPOINT``).
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graph_service import __version__
from graph_service.errors import SetupError
from graph_service.model.graph_info import GraphInfo
from graph_service.observation import TOTAL, Observation
from graph_service.server.metrics import ROUTES
from graph_service.store.protocol import Store

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span
    from starlette.types import Scope

    from graph_service.server.record import Record
    from graph_service.service import Service

CLOSE_S = 2.0
"""How long the end of the process waits for the last spans to be sent."""
SERVER_FAULTS = frozenset({"INTERNAL", "SETUP", "STORE_UNAVAILABLE", "TIMEOUT"})
"""Codes of errors that make an operation's span one that failed."""
STORE_CALLS = (
    "begin_load",
    "delete_graph",
    "delete_record",
    "entities",
    "equal_pairs",
    "get_record",
    "graph",
    "graphs",
    "list_records",
    "neighbourhood",
    "relations",
    "relations_of",
    "replace_record",
    "save_record",
    "search",
    "snapshot",
    "statements",
    "statements_of",
)
PASSAGE_CALLS = ("match", "read", "sets")
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"})


class Traces:
    """What makes and sends the spans of a process.

    Args:
        provider: Of OpenTelemetry's SDK.
        documents: Whether spans have the documents of operations, with users' texts in them.
    """

    def __init__(self, provider: TracerProvider, /, *, documents: bool = False) -> None:
        from opentelemetry import propagate, trace

        self._provider = provider
        self._documents = documents
        self._extract = propagate.extract
        self._trace = trace
        self._tracer = provider.get_tracer("graph_service", __version__)

    @classmethod
    def open(cls, *, documents: bool = False) -> Traces:
        """Returns traces that are sent to where the variables of OpenTelemetry say.

        Raises:
            SetupError: OpenTelemetry is not installed.
        """
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise SetupError(
                f"traces need OpenTelemetry, which is not installed ({error})",
                hint="Run: pip install 'graph-service[otel]'",
            ) from error
        ours = {"service.name": "graph-service", "service.version": __version__}
        resource = Resource.create(ours).merge(OTELResourceDetector().detect())
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        return cls(provider, documents=documents)

    def close(self) -> None:
        """Sends what is left, if that is taken at once."""
        thread = threading.Thread(target=self._provider.shutdown, daemon=True)
        thread.start()
        thread.join(CLOSE_S)

    def begin_request(self, scope: Scope, /) -> Span:
        """Returns the span of an HTTP request, within the trace that its caller has begun."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
        host, _, port = headers.get("host", "").rpartition(":")
        attributes: dict[str, Any] = {
            "http.request.method": method,
            "url.path": scope["path"][:200],
            "url.scheme": scope["scheme"],
            "server.address": host or port,
            "network.protocol.version": scope["http_version"],
        }
        if "user-agent" in headers:
            attributes["user_agent.original"] = headers["user-agent"][:200]
        name = "HTTP" if method == "_OTHER" else method
        if scope["path"] in ROUTES:
            name = f"{name} {scope['path']}"
            attributes["http.route"] = scope["path"]
        return self._tracer.start_span(
            name,
            self._extract(headers),
            kind=self._trace.SpanKind.SERVER,
            attributes=attributes,
        )

    def end_request(self, span: Span, record: Record, status: int, /) -> None:
        """Ends the span of a request that was answered."""
        span.set_attribute("graph_service.request_id", record.request_id)
        if status:
            span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._fail(span, str(status))
        span.end()

    @contextmanager
    def operation(self, record: Record, document: str, /) -> Iterator[None]:
        """Lets what this thread does in the block be a span, as GraphQL's conventions name it.

        A block that is left to be run again elsewhere leaves no span.
        """
        observation = record.observation
        assert observation is not None
        span = self._tracer.start_span(
            "GraphQL Operation",
            self._trace.set_span_in_context(record.span) if record.span else None,
            kind=self._trace.SpanKind.SERVER,
        )
        observation.on_stages = self._stages
        with self._trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield
        for name, value in _attributes_of(record, observation).items():
            span.set_attribute(name, value)
        if observation.type:
            span.update_name(observation.type)
        if self._documents:
            span.set_attribute("graphql.document", document)
        faults = SERVER_FAULTS.intersection(record.codes)
        if faults:
            self._fail(span, min(faults))
        span.end()

    def _stages(self, timings_ms: Mapping[str, float]) -> None:
        """Makes spans of a retrieval that ends now, and of its stages, one after another."""
        if not self._trace.get_current_span().is_recording():
            return
        stages = {name: ms for name, ms in timings_ms.items() if name != TOTAL}
        total = timings_ms.get(TOTAL, sum(stages.values()))
        end = time.time_ns()
        at = end - int(total * 1e6)
        retrieval = self._tracer.start_span("retrieval", start_time=at)
        within = self._trace.set_span_in_context(retrieval)
        for name, ms in stages.items():
            attributes = {"graph_service.stage": name}
            span = self._tracer.start_span(
                f"stage {name}", within, start_time=at, attributes=attributes
            )
            at += int(ms * 1e6)
            span.end(at)
        retrieval.end(end)

    def instrument(self, store: Store, /, *, database: str) -> None:
        """Lets calls of a store be spans, within operations that are traced.

        Args:
            store: From now on.
            database: Its name within a Neo4j.
        """
        about = _about(store.url, database)
        for calls, names in ((store, STORE_CALLS), (store.passages, PASSAGE_CALLS)):
            for name in names:
                setattr(calls, name, self._traced(getattr(calls, name), name, about))

    def _traced(
        self, call: Callable[..., Any], name: str, about: Mapping[str, Any]
    ) -> Callable[..., Any]:
        assert not inspect.isgeneratorfunction(call), "it would end before it begins"
        title = f"{name} {about['db.namespace']}"

        @wraps(call)
        def traced(*arguments: Any, **named: Any) -> Any:
            if not self._trace.get_current_span().is_recording():
                return call(*arguments, **named)
            span = self._tracer.start_span(
                title,
                kind=self._trace.SpanKind.CLIENT,
                attributes={**about, "db.operation.name": name},
            )
            read = arguments[0] if arguments else None
            if isinstance(read, GraphInfo):
                read = read.edition
            if isinstance(read, str) and "@" in read:
                span.set_attribute("db.collection.name", read)
            try:
                with self._trace.use_span(
                    span, record_exception=False, set_status_on_exception=False
                ):
                    return call(*arguments, **named)
            except Exception as error:
                self._fail(span, type(error).__qualname__)
                raise
            finally:
                span.end()

        return traced

    def _fail(self, span: Span, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._trace.StatusCode.ERROR)


def _attributes_of(record: Record, observation: Observation) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "graph_service.fields": list(observation.fields),
        "graph_service.editions": list(observation.editions),
        "graph_service.codes": list(record.codes),
    }
    if observation.type:
        attributes["graphql.operation.type"] = observation.type
    if record.operation:
        attributes["graphql.operation.name"] = record.operation[:200]
    if record.cost is not None:
        attributes["graph_service.cost"] = record.cost
    return attributes


@contextmanager
def traced(service: Service, /, *, documents: bool) -> Iterator[Traces]:
    """Traces what a service does to where the variables of OpenTelemetry say, in the block.

    Args:
        service: Whose store's calls are spans.
        documents: Whether documents, with users' texts in them, are sent too.

    Raises:
        SetupError: OpenTelemetry is not installed.
    """
    with closing(Traces.open(documents=documents)) as traces:
        traces.instrument(service.store, database=service.settings.neo4j_database)
        yield traces


def _about(url: str, database: str) -> dict[str, Any]:
    """Returns what spans say of a store.

    >>> _about("bolt://db.example:7687", "neo4j")["server.port"]
    7687
    >>> _about("sqlite:////data/graph.db", "neo4j")
    {'db.system.name': 'sqlite', 'db.namespace': 'graph.db'}
    """
    if url.startswith("sqlite:"):
        return {"db.system.name": "sqlite", "db.namespace": url.rpartition("/")[2]}
    parts = urlsplit(url)
    about: dict[str, Any] = {"db.system.name": "neo4j", "db.namespace": database}
    if parts.hostname:
        about["server.address"] = parts.hostname
    if parts.port:
        about["server.port"] = parts.port
    return about
