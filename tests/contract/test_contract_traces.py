"""Calls of a store are spans, by the conventions for databases."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from graphs import load_graph
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graph_service.errors import GraphNotFoundError
from graph_service.server.traces import PASSAGE_CALLS, STORE_CALLS, Traces
from graph_service.store.protocol import Store


def test_a_call_of_a_store_is_a_span(store: Store, graph_names: Callable[[], str]) -> None:
    name = graph_names()
    load_graph(store, name, [("Q1", "P1", "Q2")])
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    Traces(provider).instrument(store, database="graphs")
    try:
        # Outside of a request nothing is traced: looks of health and metrics are not.
        info = store.graph(name)
        assert not kept.get_finished_spans()
        with provider.get_tracer("test").start_as_current_span("request") as request:
            assert store.entities(info.edition, ["Q1"]).entities
            with pytest.raises(GraphNotFoundError):
                store.graph("nothing")
            assert store.passages.sets(graph=name) == []
    finally:
        for calls, names in ((store, STORE_CALLS), (store.passages, PASSAGE_CALLS)):
            for one in names:
                delattr(calls, one)
    *calls_of_store, _ = kept.get_finished_spans()
    outer = [span for span in calls_of_store if span.parent == request.get_span_context()]
    assert [span.attributes["db.operation.name"] for span in outer if span.attributes] == [
        "entities",
        "graph",
        "sets",
    ]
    entities, graph, _ = (dict(span.attributes or {}) for span in outer)
    is_sqlite = store.url.startswith("sqlite")
    assert entities["db.system.name"] == ("sqlite" if is_sqlite else "neo4j")
    assert entities["db.collection.name"] == info.edition
    assert entities["db.namespace"] == (store.url.rpartition("/")[2] if is_sqlite else "graphs")
    assert ("server.port" in entities) != is_sqlite
    assert graph["error.type"] == "GraphNotFoundError"
    assert not outer[1].status.is_ok
