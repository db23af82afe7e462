"""Faults of SPARQL endpoints (L1's politeness, S1): the load is complete or says that it is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from error_texts import check_text, raises
from jumping_clock import JumpingClock
from sparql_server import Fault, SparqlServer, serve_sparql

import graph_service.http.host_client as polite_module
import loaders.progress
from graph_service.errors import InputError
from graph_service.http.address import user_agent
from graph_service.http.faults import EndpointError
from graph_service.http.transfer import LONGEST_GET
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.report import LoadReport, in_agreement
from loaders.sparql.dialects import dialect_of
from loaders.sparql.endpoint import Endpoint, QueryFailedError
from loaders.sparql.options import FULL, EndpointOptions
from loaders.sparql.reader import statements_of
from loaders.sparql.terms import Term
from loaders.sparql.walk import INCOMING_REASON, OUTGOING_REASON, TERMS_REASON

WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
HEADS = 12


def small_graph() -> ox.Store:
    """Q1 leads to 12 entities, each of which leads to three values of its own."""
    store = ox.Store()

    def add(head: str, relation: str, tail: str) -> None:
        store.add(ox.Quad(ox.NamedNode(WD + head), ox.NamedNode(WDT + relation),
                          ox.NamedNode(WD + tail)))  # fmt: skip

    for number in range(HEADS):
        add("Q1", "P1", f"Q{100 + number}")
        for one in range(3):
            add(f"Q{100 + number}", "P2", f"Q{1000 + 10 * number + one}")
        store.add(
            ox.Quad(
                ox.NamedNode(f"{WD}Q{100 + number}"),
                ox.NamedNode(LABEL),
                ox.Literal(f"item {number}", language="en"),
            )
        )
    return store


WHOLE = HEADS * 4


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr("graph_service.http.connection.time", CLOCK)


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with serve_sparql(small_graph()) as running:
        yield running


def settings(server: SparqlServer, **changes: Any) -> EndpointOptions:
    options = EndpointOptions(endpoint=server.url, hops=2, max_attempts=3, timeout_s=600)
    return replace(options, **changes)


def run(store: Store, server: SparqlServer, /, *, strict: bool = False, graph: str = "g",
        source: str = "wikidata:Q1", rejects: Path | None = None, stop: threading.Event | None = None,
        progress: Any = None, **changes: Any) -> LoadReport:  # fmt: skip
    options = LoadOptions(
        endpoint=settings(server, **changes),
        strict=strict,
        rejects_path=rejects or Path(os.devnull),
    )
    return load(source, store=store, graph=graph, options=options, stop=stop, progress=progress)


CLOCK = JumpingClock()
XML = b'<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"></sparql>'
PASSING: Mapping[str, Fault] = {
    "429": Fault(status=429),
    "429 twice": Fault(times=2, status=429, headers={"Retry-After": "0"}),
    "500": Fault(status=500, body=b"Internal Server Error", media="text/plain"),
    "502": Fault(status=502, body=b"<html>", media="text/html"),
    "503": Fault(status=503),
    "503, unreadable Retry-After": Fault(status=503, headers={"Retry-After": "soon"}),
    "time-out": Fault(stalls=CLOCK.jump),
    "no reply": Fault(drop=True),
    "cut": Fault(cut=40),
    "cut without length": Fault(cut=200, undeclared=True),
    "cut in gzip": Fault(cut=60, undeclared=True, packed=True),
    "cut to nothing": Fault(cut=0, undeclared=True),
    "empty": Fault(body=b""),
    "blank": Fault(body=b"\n"),
    "HTML page": Fault(body=b"<!DOCTYPE html><html>Please wait", media="text/html; charset=utf-8"),
    "HTML said to be JSON": Fault(body=b"<html></html>"),
    "XML": Fault(body=XML, media="application/sparql-results+xml"),
    "other JSON": Fault(body=b'{"error": "busy"}', media="application/json"),
    "an array": Fault(body=b"[1]", media="application/json"),
    "partial": Fault(cap=3, headers={"X-SQL-State": "S1TAT", "X-SQL-Message": "anytime"}),
    "not UTF-8": Fault(body=b'{"results":{"bindings":[{"s":{"type":"uri","value":"\xff"}}]}}'),
    "term without value": Fault(body=b'{"results":{"bindings":[{"s":{"type":"uri"}}]}}'),
}


@pytest.mark.parametrize("name", PASSING)
def test_faults_that_pass_leave_a_complete_load(
    server: SparqlServer, tmp_store: Store, name: str
) -> None:
    fault = replace(PASSING[name], when="VALUES ?s")
    times = fault.times or 0
    server.faults.append(fault)
    report = run(tmp_store, server)
    assert fault.times == 0
    assert report.exit_code == 0, report.lines()
    assert report.read_statements == WHOLE
    assert len(server.queries("VALUES ?s { <http://www.wikidata.org/entity/Q1> }")) == 1 + times


STAYING: Mapping[str, tuple[Fault, str]] = {
    "429": (Fault(status=429), "HTTP 429, too many requests"),
    "503": (Fault(status=503), "HTTP 503, not available"),
    "403": (Fault(status=403), "HTTP 403, it refuses"),
    "400": (Fault(status=400, body=b"parse error"), "HTTP 400, it does not take the query"),
    "404": (Fault(status=404), "HTTP 404, there is no endpoint"),
    "401": (Fault(status=401), "HTTP 401, it asks for a password"),
    "empty": (Fault(body=b""), "an empty body"),
    "HTML page": (Fault(body=b"<html></html>", media="text/html"), "an HTML page"),
    "XML": (Fault(body=XML, media="application/sparql-results+xml"), "results\\+xml; expected"),
    "Retry-After": (Fault(status=503, headers={"Retry-After": "3600"}), "wait 3600 seconds"),
}


@pytest.mark.parametrize("name", STAYING)
def test_faults_that_stay_stop_the_load_and_it_can_go_on(
    server: SparqlServer, tmp_store: Store, name: str
) -> None:
    """What was read is kept; nothing is published; the same command goes on (S1)."""
    fault, message = STAYING[name]
    # The second hop's incoming statements.
    server.faults.append(replace(fault, times=None, when="UNION"))
    with pytest.raises(EndpointError, match=message) as caught:
        run(tmp_store, server, entities_per_query=5)
    assert "the same command" in str(caught.value)
    retried = name not in ("403", "400", "404", "401", "Retry-After")
    assert len(server.queries("UNION")) == (3 if retried else 1)
    assert tmp_store.graphs() == []
    [left] = tmp_store.unfinished_loads()
    assert left.statements == HEADS
    server.faults.clear()
    server.requests.clear()
    report = run(tmp_store, server, entities_per_query=5)
    assert report.resumed
    assert not server.queries("VALUES ?s { <http://www.wikidata.org/entity/Q1> }")
    again = run(tmp_store, server, graph="unbroken")
    assert report.graph is not None
    assert again.graph is not None
    assert report.graph.fingerprints == again.graph.fingerprints
    assert report.graph.counts.statements == WHOLE


def test_nobody_listens(tmp_store: Store) -> None:
    with serve_sparql(ox.Store()) as server:
        pass
    with pytest.raises(EndpointError, match="no connection"):
        run(tmp_store, server)


@pytest.mark.parametrize("form", ["seconds", "parts of seconds", "date"])
def test_retry_after_is_kept(server: SparqlServer, form: str) -> None:
    asked = time.monotonic()
    # A date has whole seconds: the one after next is one to two seconds away.
    moment = datetime.now(UTC) + timedelta(seconds=2)
    value = {"seconds": "1", "parts of seconds": "1.0"}.get(form)
    value = value or format_datetime(moment, usegmt=True)
    server.faults.append(Fault(status=429, headers={"Retry-After": value}))
    Endpoint(server.url, options=settings(server)).select("SELECT * WHERE { ?s ?p ?o } LIMIT 1")
    assert len(server.requests) == 2
    assert server.requests[1].at - asked >= 0.99


def test_pauses_grow_and_have_jitter(server: SparqlServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 4.0)
    waits: list[float] = []

    class Clock(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            return False

    draws = iter([0.0, 1.0, 0.5])
    server.faults.append(Fault(times=None, status=503))
    endpoint = Endpoint(server.url, options=settings(server, max_attempts=4), stop=Clock(),
                        jitter=lambda: next(draws))  # fmt: skip
    with pytest.raises(EndpointError):
        endpoint.select("SELECT * WHERE { ?s ?p ?o }")
    # Backoffs 4, 8 and 16 seconds, each times .5 to 1.
    assert waits == [0.0, 2.0, 8.0, 12.0]


def poisoned(entity: str) -> Any:
    return lambda query: f"<{WD}{entity}>" in query and "VALUES ?s" in query and LABEL not in query


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=500), "HTTP 500"),
        (Fault(status=504), "HTTP 504"),
        (Fault(status=500, body=b"java.util.concurrent.TimeoutException"), "ran out of"),
        (Fault(cap=2, headers={"X-SQL-State": "S1TAT"}), "partial answer \\(S1TAT\\)"),
        (Fault(cut=50), "answer was cut: 50"),
        (Fault(drop=True), "connection was cut"),
        (Fault(body=b'{"results": {"bindings": [\nTimeoutException'), "while it answered"),
    ],
)
def test_what_one_entity_lacks_is_said_and_the_rest_is_whole(
    server: SparqlServer, tmp_store: Store, tmp_path: Path, fault: Fault, message: str
) -> None:
    """Never silently partial. A failing query is asked again in halves."""
    server.faults.append(replace(fault, times=None, when=poisoned("Q105")))
    rejects = tmp_path / "rejects.jsonl"
    report = run(tmp_store, server, rejects=rejects)
    assert report.exit_code == 3
    assert report.incomplete == {OUTGOING_REASON: 1}
    assert report.to_json()["complete"] is False
    assert any(
        f"NOT COMPLETE: {in_agreement(1, OUTGOING_REASON)}" in line for line in report.lines()
    )
    [reject] = report.rejects
    check_text(reject.reason, "Q105")
    assert message.replace("\\", "") in reject.reason
    assert rejects.read_text().count("\n") == 1
    assert report.graph is not None
    # What came of a partial answer is true, and kept.
    kept = 2 if fault.cap else 0
    assert report.graph.counts.statements == WHOLE - 3 + kept
    assert tmp_store.graph("g").report["complete"] is False
    with raises(InputError):
        run(tmp_store, server, graph="strict", strict=True, rejects=rejects)
    assert [info.name for info in tmp_store.graphs()] == ["g"]


def test_incoming_statements_and_names_can_lack_too(server: SparqlServer, tmp_store: Store) -> None:
    server.faults.append(Fault(times=None, status=504, when=f"?s ?p <{WD}Q105>"))
    server.faults.append(Fault(times=None, status=504, when=lambda query: (
        LABEL in query and f"<{WD}Q1002>" in query)))  # fmt: skip
    report = run(tmp_store, server)
    assert report.exit_code == 3
    assert report.incomplete == {INCOMING_REASON: 1, TERMS_REASON: 1}
    assert report.graph is not None
    assert report.graph.counts.statements == WHOLE
    names = {one.id for chunk in tmp_store.scan_entities(report.graph.edition)
             for one in chunk if one.labels}  # fmt: skip
    assert len(names) == HEADS


def test_an_endpoint_that_fails_every_query_is_not_asked_for_ever(
    server: SparqlServer, tmp_store: Store
) -> None:
    server.faults.append(Fault(times=None, status=500, when="UNION"))
    server.faults.append(Fault(times=None, status=500, when=lambda query: "Q10" in query))
    with pytest.raises(EndpointError, match="HTTP 500"):
        run(tmp_store, server, max_attempts=1)
    assert len(server.requests) < 20


def test_answers_beyond_the_size_limit(server: SparqlServer) -> None:
    """A bomb: 60 MB in 60 kB is not unpacked beyond the limit, nor asked for again."""
    server.faults.append(Fault(times=None, body=b" " * 60_000_000))
    endpoint = Endpoint(server.url, options=settings(server, max_answer_bytes=100_000))
    with pytest.raises(QueryFailedError, match="100000 bytes"):
        endpoint.select("SELECT * WHERE { ?s ?p ?o }")
    assert len(server.requests) == 1


def hub_graph(rows: int) -> ox.Store:
    store = ox.Store()
    store.bulk_extend(
        ox.Quad(ox.NamedNode(f"{WD}Q{10 + n}"), ox.NamedNode(WDT + "P31"), ox.NamedNode(WD + "Q5"))
        for n in range(rows)
    )
    return store


@pytest.mark.parametrize(
    ("rows", "cap", "page_rows", "said"),
    [
        (10_450, 10_000, 20_000, True),
        (10_450, 10_000, 20_000, False),
        (10_000, 10_000, 20_000, False),
        (1_234, 100, 5_000, False),
        (1_234, 77, 5_000, True),
        (1_500, 1_024, 5_000, False),
        (2_345, 1_001, 5_000, False),
        (1_500, None, 5_000, False),
        (1_234, None, 100, False),
        (1_200, None, 100, False),
    ],
)
def test_caps_on_rows_are_seen(
    tmp_store: Store, rows: int, cap: int | None, page_rows: int, said: bool
) -> None:
    """An endpoint that sends 10,000 rows at most, whether or not it says so."""
    headers = {"X-SPARQL-MaxRows": str(cap)} if said else {}
    with serve_sparql(hub_graph(rows)) as server:
        server.faults.append(Fault(times=None, cap=cap, headers=headers, when="?p"))
        report = run(tmp_store, server, source="wikidata:Q5", hops=1, page_rows=page_rows,
                     timeout_s=60)  # fmt: skip
    assert report.exit_code == 0, report.lines()
    assert report.graph is not None
    assert report.graph.counts.statements == rows


@pytest.mark.parametrize(("nodes", "cap"), [(40, 100), (40, None)])
def test_caps_in_the_union_of_incoming_statements(
    tmp_store: Store, nodes: int, cap: int | None
) -> None:
    """Ten entities with 20 incoming statements each are 200 rows, of which 100 come."""
    store = ox.Store()
    for node in range(nodes):
        store.add(ox.Quad(ox.NamedNode(WD + "Q1"), ox.NamedNode(WDT + "P1"),
                          ox.NamedNode(f"{WD}Q{100 + node}")))  # fmt: skip
        for one in range(19):
            store.add(ox.Quad(ox.NamedNode(f"{WD}Q{10_000 + 100 * node + one}"),
                              ox.NamedNode(WDT + "P2"), ox.NamedNode(f"{WD}Q{100 + node}")))  # fmt: skip
    with serve_sparql(store) as server:
        server.faults.append(Fault(times=None, cap=cap, when="UNION"))
        report = run(tmp_store, server)
    assert report.exit_code == 0
    assert report.graph is not None
    assert report.graph.counts.statements == nodes * 20


def test_a_cap_that_is_not_round_is_seen_in_incoming_statements(tmp_store: Store) -> None:
    """Each of three entities has 700 incoming statements; of a query's 2,100 rows 1,024 come."""
    store = ox.Store()
    for node in range(3):
        store.add(ox.Quad(ox.NamedNode(WD + "Q1"), ox.NamedNode(WDT + "P1"),
                          ox.NamedNode(f"{WD}Q{100 + node}")))  # fmt: skip
        for one in range(699):
            store.add(ox.Quad(ox.NamedNode(f"{WD}Q{10_000 + 1_000 * node + one}"),
                              ox.NamedNode(WDT + "P2"), ox.NamedNode(f"{WD}Q{100 + node}")))  # fmt: skip
    with serve_sparql(store) as server:
        server.faults.append(Fault(times=None, cap=1_024, when="?p"))
        report = run(tmp_store, server, max_incoming=2_000)
    assert report.exit_code == 0, report.lines()
    assert report.graph is not None
    assert report.graph.counts.statements == 3 * 700


def test_a_small_cap_that_is_not_round_is_seen(tmp_store: Store) -> None:
    """Of 700 incoming statements 333 come at a time."""
    with serve_sparql(hub_graph(700)) as server:
        server.faults.append(Fault(times=None, cap=333, when="?p"))
        report = run(tmp_store, server, source="wikidata:Q5", hops=1, max_incoming=2_000)
    assert report.exit_code == 0, report.lines()
    assert report.graph is not None
    assert report.graph.counts.statements == 700


def answer(value: str) -> bytes:
    subject, predicate = (f'{{"type":"uri","value":"http://a/{name}"}}' for name in "sp")
    row = f'{{"s":{subject},"p":{predicate},"o":{value}}}'
    return f'{{"head":{{"vars":[]}},"results":{{"bindings":[{row}]}}}}'.encode()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (r'{"type":"literal","value":"a \U0001F600 b"}', Term("literal", "a \U0001f600 b")),
        (r'{"type":"literal","value":"it\'s"}', Term("literal", "it's")),
        ('{"type":"literal","value":"a\tb\nc\rd\x01"}', Term("literal", "a\tb\nc\rd\x01")),
        (
            r'{"type":"literal","value":"\\U0001F600 \"\u00e9\U0000000A\U00000022"}',
            Term("literal", '\\U0001F600 "\u00e9\n"'),
        ),
        (
            '{"type":"literal","value":"1","xml:lang":null,"datatype":"http://a/d"}',
            Term("literal", "1", "http://a/d"),
        ),
        ('{"type":"literal","value":"x","xml:lang":null,"datatype":null}', Term("literal", "x")),
    ],
)
def test_json_that_is_nearly_json_is_read(server: SparqlServer, value: str, expected: Term) -> None:
    query = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
    for mark in (b"", b"\xef\xbb\xbf"):
        server.faults.append(Fault(body=mark + answer(value)))
        endpoint = Endpoint(server.url, options=EndpointOptions(interval_s=0))
        [row] = endpoint.select(query).rows()
        assert row.object == expected
    assert len(server.queries()) == 2


@pytest.mark.parametrize("text", [r"\x41", r"\UDEADBEEF", r"\U0000D800"])
def test_escapes_that_mean_nothing_are_refused(server: SparqlServer, text: str) -> None:
    body = answer(f'{{"type":"literal","value":"{text}"}}')
    server.faults.append(Fault(body=body, times=None))
    endpoint = Endpoint(server.url, options=EndpointOptions(interval_s=0, max_attempts=2))
    with pytest.raises(QueryFailedError, match="no SPARQL JSON"):
        endpoint.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")


def test_a_preset_names_an_endpoint_of_a_source() -> None:
    options = EndpointOptions(endpoint="QLever")
    assert options.address("wikidata:Q42", "https://x") == "https://qlever.dev/api/wikidata"
    with pytest.raises(InputError, match="dbpedia"):
        options.address("dbpedia:Rome", "https://x")
    assert EndpointOptions(endpoint="http://y").address("wikidata:Q42", "") == "http://y"
    dialect, _ = dialect_of("wikidata:Q42", languages=(), drop_relations=None)
    assert statements_of(options, dialect) == FULL


def shifted(rows: list[Any]) -> list[Any]:
    """A page as it comes when a row before it was added meanwhile: all one further."""
    return rows[1:]


def first_twice(rows: list[Any]) -> list[Any]:
    return [*rows[:7], rows[6], *rows[7:-1]] if len(rows) > 8 else rows


def last_lost(rows: list[Any]) -> list[Any]:
    return rows[:-1]


@pytest.mark.parametrize("change", [shifted, first_twice, last_lost])
def test_duplicate_and_missing_rows_across_pages(
    tmp_store: Store, tmp_path: Path, change: Any
) -> None:
    with serve_sparql(hub_graph(230)) as server:
        server.faults.append(Fault(times=2, rows=change, when="OFFSET"))
        report = run(tmp_store, server, source="wikidata:Q5", hops=1, page_rows=50)
        assert report.exit_code == 0, report.lines()
        assert report.read_statements == 230
        server.faults[:] = [Fault(times=None, rows=change, when="OFFSET")]
        lost = run(tmp_store, server, source="wikidata:Q5", hops=1, page_rows=50, graph="h",
                   rejects=tmp_path / "r")  # fmt: skip
    # Never more than there is, and complete or said not to be.
    if lost.read_statements < 230:
        assert lost.exit_code == 3
        assert lost.incomplete == {INCOMING_REASON: 1}
        assert f"{lost.read_statements} of 230 rows" in lost.rejects[0].reason
    else:
        assert (lost.exit_code, lost.read_statements) == (0, 230)


def test_an_endpoint_that_knows_no_offset(tmp_store: Store, tmp_path: Path) -> None:
    """It sends the first page each time: that is not all, and said."""
    with serve_sparql(hub_graph(230)) as server:
        first: list[Any] = []

        def same(rows: list[Any]) -> list[Any]:
            first.extend(rows if not first else [])
            return first

        # Not the query for names, which holds the same IRIs.
        server.faults.append(Fault(times=None, rows=same, when=lambda query: (
            "ORDER BY" in query and LABEL not in query)))  # fmt: skip
        report = run(tmp_store, server, source="wikidata:Q5", hops=1, page_rows=50,
                     rejects=tmp_path / "r")  # fmt: skip
    assert report.exit_code == 3
    assert report.read_statements == 50


@pytest.mark.parametrize("kept", [False, True])
def test_answers_to_another_query(
    server: SparqlServer, tmp_store: Store, tmp_path: Path, kept: bool
) -> None:
    """A proxy that forgets what was asked: the endpoint can't be used, and nothing is kept."""
    cache = tmp_path / "cache" if kept else None
    first = server.store.query(f"SELECT ?s ?p ?o WHERE {{ <{WD}Q1> ?p ?o . BIND(<{WD}Q1> AS ?s) }}")
    assert isinstance(first, ox.QuerySolutions)
    answer = first.serialize(format=ox.QueryResultsFormat.JSON)
    wrong = Fault(times=None, body=answer, when=f"VALUES ?s {{ <{WD}Q100>")
    server.faults.append(wrong)
    with pytest.raises(EndpointError, match=f"{WD}Q1 {WDT}P1"):
        run(tmp_store, server, cache_dir=cache)
    # A mishap that passes is asked for again.
    wrong.times = 1
    report = run(tmp_store, server, cache_dir=cache)
    assert (report.exit_code, report.read_statements) == (0, WHOLE)


def test_no_network_is_said(tmp_store: Store) -> None:
    """Twice tried, with the way out, and nothing is left behind."""
    options = LoadOptions(endpoint=EndpointOptions(endpoint="http://nowhere.invalid/sparql"))
    with pytest.raises(EndpointError) as caught:
        load("wikidata:Q1", store=tmp_store, graph="g", options=options)
    message = str(caught.value)
    check_text(message)
    assert "no network" in message
    assert "HTTP_PROXY is " in message
    assert "--endpoint URL, --entity-data" in message
    assert caught.value.retryable
    assert tmp_store.unfinished_loads() == []
    endpoint = Endpoint("http://nowhere.invalid/sparql", options=EndpointOptions(interval_s=0))
    with pytest.raises(EndpointError):
        endpoint.select("SELECT * WHERE { ?s ?p ?o }")
    assert endpoint.traffic.requests == 2


def test_what_a_server_says_of_its_error_is_quoted(server: SparqlServer) -> None:
    server.faults.append(
        Fault(status=400, body=b"<html><h1>Virtuoso 37000</h1> syntax error\n at '!'</html>")
    )
    with pytest.raises(EndpointError, match="Virtuoso 37000"):
        Endpoint(server.url, options=settings(server)).select("SELECT * WHERE { ?s ?p ?o }")


def test_long_queries_go_by_post_and_the_address_keeps_its_parameters(
    server: SparqlServer, tmp_store: Store
) -> None:
    url = server.url + "?default-graph-uri=http%3A%2F%2Fdbpedia.org"
    report = run(tmp_store, server, endpoint=url)
    assert report.exit_code == 0
    methods = {one.method for one in server.requests}
    assert methods == {"GET", "POST"}
    for one in server.requests:
        assert (one.method == "POST") == (len(one.query) > LONGEST_GET)
        assert one.parameters == {"default-graph-uri": "http://dbpedia.org"}
        assert "sparql-results+json" in one.headers["Accept"]


def test_an_address_too_long_for_the_server(server: SparqlServer, tmp_store: Store) -> None:
    server.faults.append(Fault(status=414))
    assert run(tmp_store, server).exit_code == 0
    assert [one.method for one in server.requests[:2]] == ["GET", "POST"]
    assert {one.method for one in server.requests[1:]} == {"POST"}


def test_queries_too_long_for_the_server_by_post(server: SparqlServer, tmp_store: Store) -> None:
    """It takes three entities at a time: asked for in halves, all comes."""
    server.faults.append(
        Fault(times=None, status=413, when=lambda query: query.partition("}")[0].count(WD) > 3)
    )
    report = run(tmp_store, server)
    assert (report.exit_code, report.read_statements) == (0, WHOLE)


def test_one_request_at_a_time_and_a_pause_between(server: SparqlServer, tmp_store: Store) -> None:
    began = time.monotonic()
    run(tmp_store, server, hops=1, interval_s=0.1)
    times = [one.at for one in server.requests]
    assert len(times) >= 3
    # When a request comes here says nothing of when the next one was sent, but for the last.
    assert times[-1] - began >= 0.1 * (len(times) - 1)
    assert server.most_running == 1


@pytest.mark.parametrize(
    "host", ["query.wikidata.org", "qlever.wikidata.dbis.wmflabs.org", "commons.wikimedia.org"]
)
def test_wikimedia_wants_a_contact(host: str) -> None:
    """Wikidata may answer a client that names no contact with nothing. Asked for, never guessed."""
    with pytest.raises(InputError, match="GRAPH_SERVICE_CONTACT"):
        user_agent(host, None)
    assert user_agent(host, "me@example.org").endswith(" (me@example.org)")
    assert user_agent("notwikidata.org", None).count("(") == 0


def test_wikidata_without_a_contact_begins_nothing(tmp_store: Store) -> None:
    with pytest.raises(InputError, match="query.wikidata.org"):
        load("wikidata:Q42", store=tmp_store, graph="g")
    assert tmp_store.unfinished_loads() == []


@pytest.mark.parametrize("contact", ["me", "a@b", "x@y.z\r\nEvil: 1", "x@y.z)", "m@ü.org"])
def test_contacts_that_are_none(contact: str) -> None:
    with pytest.raises(InputError, match="is no contact"):
        user_agent("dbpedia.org", contact)


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "dbpedia.org/sparql", "https://", "http://u:p@host/", "http://[::1", "ftp://h/x", "http://h/a b"],
)  # fmt: skip
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(InputError):
        Endpoint(address, options=EndpointOptions())


@pytest.mark.parametrize(
    "change",
    [{"hops": 0}, {"max_incoming": 0}, {"direction": "up"}, {"interval_s": -1.0},
     {"interval_s": float("nan")}, {"max_statements": 0}, {"timeout_s": 0}],
)  # fmt: skip
def test_options_out_of_range(
    server: SparqlServer, tmp_store: Store, change: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        run(tmp_store, server, **change)
    assert server.requests == []


def test_answers_are_kept_for_a_while(
    server: SparqlServer, tmp_store: Store, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    first = run(tmp_store, server, cache_dir=cache)
    asked = len(server.requests)
    again = run(tmp_store, server, cache_dir=cache, graph="again")
    assert len(server.requests) == asked
    assert first.graph is not None
    assert again.graph is not None
    assert first.graph.fingerprints == again.graph.fingerprints
    files = sorted(path for path in cache.rglob("*") if path.is_file())
    assert len(files) == asked
    # A damaged answer and one past its time are asked for again.
    files[0].write_bytes(b"no zlib")
    files[1].write_bytes(files[1].read_bytes()[:-3])
    old = time.time() - 8 * 86_400
    os.utime(files[2], (old, old))
    run(tmp_store, server, cache_dir=cache, graph="third")
    assert len(server.requests) == asked + 3
    # Another endpoint's answers are not this one's.
    with serve_sparql(small_graph()) as other:
        run(tmp_store, other, cache_dir=cache, graph="fourth")
        assert len(other.requests) == asked


def test_partial_answers_are_not_kept(
    server: SparqlServer, tmp_store: Store, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    fault = Fault(times=None, cap=2, headers={"X-SQL-State": "S1TAT"}, when=poisoned("Q105"))
    server.faults.append(fault)
    assert run(tmp_store, server, cache_dir=cache, rejects=tmp_path / "r").exit_code == 3
    server.faults.clear()
    report = run(tmp_store, server, cache_dir=cache, graph="h")
    assert (report.exit_code, report.read_statements) == (0, WHOLE)


def test_a_stopped_load_goes_on(
    server: SparqlServer, tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaders.progress, "PROGRESS_INTERVAL_S", 0.0)
    unbroken = run(tmp_store, server, graph="unbroken", entities_per_query=4)
    assert unbroken.graph is not None
    pieces: list[Progress] = []
    run(tmp_store, server, graph="count", entities_per_query=4, progress=pieces.append)
    assert len(pieces) > 4
    for number in range(1, len(pieces)):
        stop = threading.Event()
        seen: list[Progress] = []

        def halt(progress: Progress, seen: list[Progress] = seen, number: int = number,
                 stop: threading.Event = stop) -> None:  # fmt: skip
            seen.append(progress)
            if len(seen) == number:
                stop.set()

        stopped = run(tmp_store, server, graph=f"g{number}", entities_per_query=4, progress=halt,
                      stop=stop)  # fmt: skip
        assert stopped.status == "stopped"
        assert stopped.graph is None
        report = run(tmp_store, server, graph=f"g{number}", entities_per_query=4)
        assert report.resumed
        assert report.graph is not None
        assert report.graph.fingerprints == unbroken.graph.fingerprints
        assert report.read_statements == unbroken.read_statements


def test_a_long_pause_ends_when_the_load_is_stopped(server: SparqlServer, tmp_store: Store) -> None:
    server.faults.append(Fault(times=None, status=503, headers={"Retry-After": "60"}))

    class Stop(threading.Event):
        """Is set in the middle of the pause that the server asks for."""

        def wait(self, timeout: float | None = None) -> bool:
            if timeout != 60.0:
                return super().wait(timeout)
            self.set()
            return True

    stop = Stop()
    assert run(tmp_store, server, stop=stop).status == "stopped"
    assert stop.is_set()


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_a_killed_load_goes_on(tmp_store: Store, tmp_path: Path) -> None:
    """kill -9, then the same command; the answers that came are on disk."""
    with serve_sparql(small_graph()) as server:
        unbroken = run(tmp_store, server, graph="unbroken")
        server.requests.clear()
        held, killed = threading.Event(), threading.Event()

        def hold(rows: list[Any]) -> list[Any]:
            if len(server.requests) >= 3:
                held.set()
                killed.wait(600)
            return rows

        server.faults.append(Fault(times=None, rows=hold))
        environment = {**os.environ, "GRAPH_SERVICE_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "graph_service.cli", "load", "wikidata:Q1", "--graph", "g",
                   "--hops", "2", "--endpoint", server.url, "--store", tmp_store.url]  # fmt: skip
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        assert held.wait(600), "it asked for less"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        killed.set()
        server.faults.clear()
        asked = set(server.queries())
        server.requests.clear()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        # At most the answer that was under way is asked for again.
        assert len(asked & set(server.queries())) <= 1
    info = tmp_store.graph("g")
    assert unbroken.graph is not None
    assert info.fingerprints == unbroken.graph.fingerprints
