"""Loads from endpoints onto both stores (S1): one result, also after an interruption."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from sparql_server import Fault, SparqlServer, serve_sparql, truthy_store
from wikibase_documents import documents_of

import graph_service.http.host_client as polite_module
import loaders.progress
from graph_service.http.faults import EndpointError
from graph_service.store import open_store
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.sparql.options import EndpointOptions

EDGES = {("Q1", "P1", f"Q{100 + one}", "normal") for one in range(12)} | {
    (f"Q{2000 + one}", "P3", "Q105", rank)
    for one, rank in enumerate(["normal", "preferred", "deprecated", "normal"])
}


def options_of(server: SparqlServer, *, full: bool) -> LoadOptions:
    return LoadOptions(
        endpoint=EndpointOptions(
            endpoint=server.url,
            entity_data=server.api if full else None,
            hops=2,
            max_attempts=2,
            timeout_s=600,
        ),
        batch_size=3,
        rejects_path=Path(os.devnull),
    )


@pytest.mark.parametrize("full", [True, False])
def test_one_result_on_both_stores(
    store: Store,
    graph_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """Stopped by the user, then by the endpoint, then to its end."""
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr(loaders.progress, "PROGRESS_INTERVAL_S", 0.0)
    documents = documents_of(EDGES)
    with serve_sparql(truthy_store(documents), documents) as server:
        options = options_of(server, full=full)
        with open_store(f"sqlite:///{tmp_path / 'unbroken.db'}") as other:
            unbroken = load("wikidata:Q1", store=other, graph="g", options=options).graph
        stop = threading.Event()

        def halt(_: Progress) -> None:
            stop.set()

        stopped = load("wikidata:Q1", store=store, graph=graph_name, options=options,
                       progress=halt, stop=stop)  # fmt: skip
        assert stopped.status == "stopped"
        server.faults.append(Fault(times=None, status=503, when="UNION"))
        with pytest.raises(EndpointError, match="HTTP 503"):
            load("wikidata:Q1", store=store, graph=graph_name, options=options)
        server.faults.clear()
        report = load("wikidata:Q1", store=store, graph=graph_name, options=options)
    assert report.resumed
    assert report.exit_code == 0, report.lines()
    assert unbroken is not None
    assert report.graph is not None
    assert report.graph.fingerprints == unbroken.fingerprints
    assert report.graph.counts == unbroken.counts
    # Of the deprecated statement into Q105 the endpoint tells nothing.
    assert report.graph.counts.statements == len(EDGES) - 1
    assert store.graph(graph_name).report["wikidata_forms"] == ["full" if full else "truthy"]
    found = store.entities(report.graph.edition, ["Q2001"]).entities["Q2001"]
    assert found.labels["en"] == "name of Q2001" if full else not found.labels
