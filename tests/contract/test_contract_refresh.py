"""Refreshes of subgraphs of Wikidata (B1) on both stores: killed, and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from refreshed_documents import edited, turn_to, world_of
from sparql_server import Fault, SparqlServer, serve_sparql, truthy_store
from wikibase_documents import Edge

import loaders.progress
from graph_service.errors import InputError
from graph_service.store import open_store
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.sparql.earlier import RECORD_KIND
from loaders.sparql.options import EndpointOptions

EDGES: set[Edge] = {("Q1", "P1", f"Q{100 + one}", "normal") for one in range(60)} | {
    (f"Q{2000 + one}", "P3", "Q105", "normal") for one in range(3)
}
# Another value, one fewer, and what leads in from outside.
LATER = (EDGES - {("Q1", "P1", "Q104", "normal")}) | {
    ("Q1", "P1", "Q300", "normal"),
    ("Q300", "P2", "Q301", "normal"),
    ("Q2003", "P3", "Q300", "normal"),
}


def test_a_refresh_that_was_stopped_and_killed_goes_on(
    store: Store,
    graph_name: str,
    environment_of_store: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Equal to a load of that moment; the edition of before is there all the while."""
    monkeypatch.setattr(loaders.progress, "PROGRESS_INTERVAL_S", 0.0)
    before = world_of(EDGES)
    with serve_sparql(truthy_store(before), before) as server:
        options = LoadOptions(
            endpoint=EndpointOptions(endpoint=server.url, entity_data=server.api, hops=2),
            batch_size=20,
            rejects_path=Path(os.devnull),
        )
        refresh = partial(
            load, "wikidata:Q1", store=store, graph=graph_name, options=options, refresh=True
        )
        first = load("wikidata:Q1", store=store, graph=graph_name, options=options)
        assert first.graph is not None
        same = refresh()
        assert same.status == "unchanged"
        assert same.graph == store.graph(graph_name)
        assert not any(one.edition.startswith(graph_name) for one in store.unfinished_loads())
        turn_to(server, edited(before, world_of(LATER)))
        stop = threading.Event()
        assert refresh(progress=lambda _: stop.set(), stop=stop).status == "stopped"
        if os.name == "posix":
            environment = {
                **os.environ,
                "GRAPH_SERVICE_CACHE_DIR": str(tmp_path / "cache"),
                "NEO4J_USERNAME": environment_of_store.get("TEST_STORE_USERNAME", ""),
                "NEO4J_PASSWORD": environment_of_store.get("TEST_STORE_PASSWORD", ""),
            }
            kill_a_refresh(server, store, graph_name, environment)
        assert store.graph(graph_name).edition == first.graph.edition
        report = refresh()
        with open_store(f"sqlite:///{tmp_path / 'fresh.db'}") as other:
            fresh = load("wikidata:Q1", store=other, graph="g", options=options).graph
    assert report.resumed
    assert report.graph is not None
    assert fresh is not None
    assert report.graph.fingerprints == fresh.fingerprints
    assert report.graph.counts == fresh.counts
    assert report.graph.fingerprints != first.graph.fingerprints
    [record] = store.list_records(RECORD_KIND, graph=graph_name)
    assert record.key == report.graph.edition
    store.delete_graph(graph_name)
    assert store.list_records(RECORD_KIND, graph=graph_name) == []


def kill_a_refresh(
    server: SparqlServer, store: Store, graph: str, environment: dict[str, str]
) -> None:
    """Ends a refresh by the command line while it waits for names."""
    held, killed = threading.Event(), threading.Event()

    def hold(items: list[Any]) -> list[Any]:
        held.set()
        killed.wait(600)
        return items

    server.faults.append(Fault(times=None, rows=hold, path="/api.php", when="P99"))
    command = [sys.executable, "-m", "graph_service.cli", "load", "wikidata:Q1", "--refresh"]
    with subprocess.Popen(
        [*command, "--graph", graph, "--store", store.url, "--quiet"],
        env=environment,
        stdout=subprocess.DEVNULL,
    ) as process:
        try:
            assert held.wait(600), "it asked for no names"
        finally:
            process.send_signal(signal.SIGKILL)
            killed.set()
        assert process.wait() == -signal.SIGKILL
    server.faults.clear()


def test_fingerprints_are_those_of_a_finished_load(store: Store, graph_name: str) -> None:
    with store.begin_load(graph_name, owner="test", source="-") as session:
        with pytest.raises(InputError, match=r"finish\(\)"):
            session.fingerprints()
        session.finish()
        told = session.fingerprints()
        assert session.publish().fingerprints == told
