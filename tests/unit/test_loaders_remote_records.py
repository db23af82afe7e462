"""Every record of an endpoint is read, rejected or passed over, and counted where it comes in (S1).

Of a SPARQL endpoint a record is a row of an answer, of Wikidata's API an entity that is requested.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from error_texts import check_line
from sparql_server import Fault, SparqlServer, serve_sparql, truthy_store
from wikibase_documents import Edge, documents_of

import graph_service.http.host_client as polite_module
import loaders.progress
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.records import UNACCOUNTED_REASON
from loaders.report import EXIT_REJECTS, LoadReport
from loaders.sparql.arrived import ArrivedRows
from loaders.sparql.documents import DocumentWalk
from loaders.sparql.options import EndpointOptions
from loaders.sparql.paging import Collected, Pager
from loaders.sparql.terms import Row, Term
from loaders.sparql.walk import OUTGOING_REASON, hub_reason

WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"
CIRCLE = [("Q1", "P1", "Q2"), ("Q2", "P1", "Q3"), ("Q3", "P1", "Q1")]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr(loaders.progress, "PROGRESS_INTERVAL_S", 0.0)


def triples(edges: Sequence[tuple[str, str, str]]) -> ox.Store:
    store = ox.Store()
    store.extend(
        ox.Quad(ox.NamedNode(WD + head), ox.NamedNode(WDT + relation), ox.NamedNode(WD + tail))
        for head, relation, tail in edges
    )
    return store


def run(store: Store, server: SparqlServer, /, *, progress: Any = None,
        stop: threading.Event | None = None, **changes: Any) -> LoadReport:  # fmt: skip
    endpoint = EndpointOptions(endpoint=server.url, hops=2, max_attempts=2, timeout_s=600)
    options = LoadOptions(
        endpoint=replace(endpoint, **changes), batch_size=3, rejects_path=Path(os.devnull)
    )
    return load(
        "wikidata:Q1", store=store, graph="g", options=options, progress=progress, stop=stop
    )


def accounted(report: LoadReport) -> tuple[int, int, int]:
    records = report.records
    assert records.total == report.source_records
    assert UNACCOUNTED_REASON not in report.incomplete
    return records.read, records.rejected, records.passed_over


def test_rows_of_an_endpoint_are_accounted_for(tmp_store: Store) -> None:
    """Q1's two rows are read; of the next hop's three, two came from their other end."""
    with serve_sparql(triples(CIRCLE)) as server:
        report = run(tmp_store, server)
    assert report.exit_code == 0
    assert accounted(report) == (3, 0, 2)
    check_line(report.lines(), "5 in", "3 read", "0 rejected", "2 passed")


def test_rows_of_hubs_and_beyond_the_limit_are_passed_over(tmp_store: Store) -> None:
    into = [(f"Q{100 + number}", "P2", "Q2") for number in range(5)]
    with serve_sparql(triples([*CIRCLE, *into])) as server:
        hub = run(tmp_store, server, max_incoming=3)
        # Of the hub as many rows are asked for as show that it is one: four, one of them Q1's.
        assert hub.skipped[hub_reason(3)] == 1
        read, rejected, passed_over = accounted(hub)
        assert (read, rejected) == (3, 0)
        assert passed_over in (5, 6)
        limited = run(tmp_store, server, max_statements=3)
    assert accounted(limited)[0] == limited.read_statements == 3


def test_rows_that_can_not_be_read_are_rejected(tmp_store: Store) -> None:
    def spoil(rows: list[Any]) -> list[Any]:
        return [{**row, "o": {"type": "uri", "value": "http://a/ b"}} for row in rows]

    with serve_sparql(triples(CIRCLE)) as server:
        server.faults.append(Fault(when="VALUES ?s", rows=spoil))
        report = run(tmp_store, server, hops=1)
    assert accounted(report) == (1, 1, 0)


@pytest.mark.parametrize("fault", ["500", "partial", "capped"])
def test_answers_that_fail_or_come_in_part_are_accounted_for(tmp_store: Store, fault: str) -> None:
    """What came of a failed answer is read once, whether it comes again or not."""
    edges = [*CIRCLE, *((f"Q{number}", "P2", f"Q{200 + number}") for number in (2, 3))]
    faults = {
        "500": Fault(times=None, when=f"VALUES ?s {{ <{WD}Q3> }}", status=500),
        "partial": Fault(times=None, when="VALUES ?s", cap=1, headers={"X-SQL-State": "S1TAT"}),
        "capped": Fault(times=None, cap=2, headers={"X-SPARQL-MaxRows": "2"}),
    }
    with serve_sparql(triples(edges)) as server:
        if fault == "500":
            server.faults.append(Fault(when=f"<{WD}Q2> <{WD}Q3>", times=2, status=500))
        server.faults.append(faults[fault])
        report = run(tmp_store, server)
    counts = accounted(report)
    assert counts[0] == report.read_statements
    assert bool(report.incomplete) == (fault != "capped")
    if fault == "500":
        assert report.incomplete == {OUTGOING_REASON: 1}


def test_a_row_that_is_lost_is_told(tmp_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    collect = Pager.collect

    def lossy(self: Pager, *arguments: Any, **named: Any) -> Collected:
        collected = collect(self, *arguments, **named)
        return replace(collected, rows=collected.rows[1:])

    monkeypatch.setattr(Pager, "collect", lossy)
    with serve_sparql(triples([*CIRCLE, ("Q1", "P2", "Q5")])) as server:
        report = run(tmp_store, server, hops=1)
    assert report.exit_code == EXIT_REJECTS
    assert report.incomplete == {UNACCOUNTED_REASON: 2}
    assert "please report it" in report.rejects[-1].reason


EDGES: set[Edge] = {
    ("Q1", "P1", "Q2", "normal"),
    ("Q2", "P1", "Q3", "normal"),
    ("Q4", "P1", "Q1", "normal"),
    ("Q5", "P1", "Q4", "normal"),
}
NAMES = [f"Q{number}" for number in range(1, 6)]


def test_entities_of_the_api_are_accounted_for(tmp_store: Store) -> None:
    """Q1, Q2 and Q4 are walked; Q5 leads inside; Q3, Q900 of qualifiers, P1 and P99 are named."""
    documents = documents_of(EDGES, names=NAMES)
    with serve_sparql(truthy_store(documents), documents) as server:
        report = run(tmp_store, server, entity_data=server.api)
    requested = {*NAMES, "Q900", "P1", "P99"}
    # Rows that lead to Q1, Q2 and Q4; of Q2's the head is walked, and its document has it.
    assert accounted(report) == (len(requested) + 2, 0, 1)


def test_entities_that_are_missing_or_do_not_come_are_counted(tmp_store: Store) -> None:
    documents = documents_of(EDGES, names=NAMES)
    del documents["Q3"]
    with serve_sparql(truthy_store(documents), documents) as server:
        server.faults.append(Fault(times=None, when="Q2", status=500, path="api.php"))
        report = run(tmp_store, server, entity_data=server.api, hops=3)
        counts = accounted(report)
    assert report.incomplete
    # Q2 failed as one that is walked, and as one that is named.
    assert counts[1] == 2


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("direction", ["both", "in", "out"])
def test_what_a_limit_leaves_out_is_passed_over(
    tmp_store: Store, limit: int, direction: str
) -> None:
    documents = documents_of(EDGES, names=NAMES)
    with serve_sparql(truthy_store(documents), documents) as server:
        report = run(
            tmp_store, server, entity_data=server.api, max_statements=limit, direction=direction
        )
    assert accounted(report)[0]


def test_an_entity_that_is_lost_is_told(tmp_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    take = DocumentWalk._take_document

    def lossy(self: DocumentWalk, iri: str, *arguments: Any) -> None:
        if not iri.endswith("Q2"):
            take(self, iri, *arguments)

    monkeypatch.setattr(DocumentWalk, "_take_document", lossy)
    documents = documents_of(EDGES, names=NAMES)
    with serve_sparql(truthy_store(documents), documents) as server:
        report = run(tmp_store, server, entity_data=server.api)
    assert report.exit_code == EXIT_REJECTS
    assert report.incomplete == {UNACCOUNTED_REASON: 1}


def test_a_resumed_load_counts_each_record_once(tmp_store: Store) -> None:
    documents = documents_of(EDGES, names=NAMES)
    stop = threading.Event()
    seen: list[int] = []

    def stopping(progress: Progress) -> None:
        seen.append(1)
        if len(seen) == 2:
            stop.set()

    with serve_sparql(truthy_store(documents), documents) as server:
        first = run(tmp_store, server, entity_data=server.api, progress=stopping, stop=stop)
        assert first.status == "stopped"
        stop.clear()
        report = run(tmp_store, server, entity_data=server.api)
        assert report.resumed
        unbroken = load(
            "wikidata:Q1",
            store=tmp_store,
            graph="other",
            options=LoadOptions(
                endpoint=EndpointOptions(
                    endpoint=server.url, entity_data=server.api, hops=2, timeout_s=600
                )
            ),
        )
    assert accounted(report) == accounted(unbroken)


def test_rows_count_once_and_what_is_taken_is_not_left_out() -> None:
    first, second, third = (
        Row(Term("uri", "http://a/s"), Term("uri", "http://a/p"), Term("uri", f"http://a/{n}"))
        for n in range(3)
    )
    rows = ArrivedRows()
    rows.arrive([first, second])
    rows.arrive([second, third])
    rows.leave_out([second, third])
    rows.take([first, second])
    assert (rows.count, rows.left_out) == (3, 1)
    rows.begin()
    assert (rows.count, rows.left_out) == (0, 0)
