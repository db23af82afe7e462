"""Servers that mean harm, or are broken: every read ends, and says why (one machine alone)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from raw_server import OK, at_once, scripted, slowly
from sparql_server import Fault, SparqlServer, serve_sparql

from graph_service.cli import main
from graph_service.http import connection
from graph_service.http.connection import Bounds, RedirectRefusedError, open_client
from graph_service.http.faults import EndpointError, RequestFailedError
from graph_service.http.host_client import RequestPolicy
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport
from loaders.sparql.endpoint import Endpoint, QueryFailedError
from loaders.sparql.options import EndpointOptions
from loaders.sparql.paging import Pager
from loaders.sparql.walk import BEYOND_REASON, OUTGOING_REASON
from loaders.wikibase.entity_data import EntityData

ANSWER = b'{"results": {"bindings": []}}'
WD, WDT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"


def ask(address: str, **changes: Any) -> None:
    options = EndpointOptions(max_attempts=1, interval_s=0, **({"timeout_s": 600} | changes))
    Endpoint(address, options=options).select("SELECT * WHERE { ?s ?p ?o }")


def fetch(address: str, **changes: Any) -> None:
    manners = RequestPolicy(max_attempts=1, interval_s=0, **({"timeout_s": 600} | changes))
    data = EntityData(address.replace("/sparql", "/w/api.php"), manners=manners)
    failed = data.fetch(["Q1"]).failed
    if failed:
        raise RequestFailedError(failed["Q1"])


SLOW = {
    "a body, byte by byte": slowly(OK + b"Content-Length: 100000\r\n\r\n", b" "),
    "a body in pieces": slowly(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a body without a length": slowly(OK + b"\r\n", b" "),
    "a status line, byte by byte": slowly(b"HTTP/1.1 200 ", b"O"),
    "a header, byte by byte": slowly(OK + b"X-Long: ", b"x"),
    "100 Continue for ever": slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "100 Continue, as fast as it goes": slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50, 0),
}


@pytest.mark.parametrize("request_of", [ask, fetch])
@pytest.mark.parametrize("case", SLOW)
def test_a_request_ends_in_its_time(case: str, request_of: Callable[..., None]) -> None:
    with (
        scripted(SLOW[case]) as address,
        pytest.raises(RequestFailedError, match="in 1 s$|larger than"),
    ):
        request_of(address, timeout_s=1)


@pytest.mark.parametrize("request_of", [ask, fetch])
def test_an_answer_ends_at_its_size(
    request_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_HEADER_BYTES", 2_000)
    for beginning in (OK + b"\r\n", b""):
        piece = b" " * 1_000 if beginning else b"HTTP/1.1 100 Continue\r\n\r\n" * 100
        with (
            scripted(slowly(beginning, piece, 0)) as address,
            pytest.raises(RequestFailedError, match="3000 bytes"),
        ):
            request_of(address, max_answer_bytes=3_000)


def test_an_error_with_an_endless_body_is_told() -> None:
    script = slowly(b"HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n\r\n", b"x" * 40, 0)
    with scripted(script) as address, pytest.raises(QueryFailedError, match="HTTP 500"):
        ask(address)


def test_an_answer_that_is_no_tls_is_told() -> None:
    with (
        scripted(at_once(OK + b"\r\n" + ANSWER)) as address,
        pytest.raises(EndpointError, match="no secure connection"),
    ):
        ask(address.replace("http:", "https:"))


@pytest.mark.parametrize("request_of", [ask, fetch])
@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: " + b"9" * 5_000,
        b"Content-Length: 99999999999999999999",
        b"X-SPARQL-MaxRows: " + b"9" * 5_000 + b"\r\nContent-Length: 999",
    ],
)
def test_numbers_of_thousands_of_digits(header: bytes, request_of: Callable[[str], None]) -> None:
    with (
        scripted(at_once(OK + header + b"\r\n\r\n" + ANSWER)) as address,
        pytest.raises(RequestFailedError, match="cut"),
    ):
        request_of(address)


@pytest.mark.parametrize("request_of", [ask, fetch])
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("file:///etc/passwd", "from http to file|HTTP 302"),
        ("ftp://127.0.0.1/x", "from http to ftp"),
        ("//169.254.169.254/latest/meta-data", "a link-local address"),
        ("http://10.0.0.1/x", "a private address"),
        ("http://[fe80::1]/x", "a link-local address"),
        ("http://0.0.0.0/x", "a private address"),
    ],
)
def test_redirects_lead_to_no_other_kind_of_place(
    target: str, said: str, request_of: Callable[[str], None]
) -> None:
    reply = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
    with scripted(at_once(reply.encode())) as address, pytest.raises(EndpointError, match=said):
        request_of(address)


def test_redirects_from_one_local_address_to_another_are_followed() -> None:
    with scripted(at_once(OK + b"\r\n" + ANSWER)) as target:
        moved = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
        with scripted(at_once(moved.encode())) as address:
            ask(address)


@pytest.mark.parametrize("target", ["http://127.0.0.1:{}/x", "http://localhost:{}/x"])
def test_redirects_of_a_public_address_lead_to_none_of_this_machine(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first address is taken for a public one, and the second is on this machine."""
    with scripted(at_once(OK + b"\r\n" + ANSWER)) as second:
        port = second.rpartition(":")[2].partition("/")[0]
        moved = f"HTTP/1.1 302 Found\r\nLocation: {target.format(port)}\r\n\r\n"
        with scripted(at_once(moved.encode())) as first:
            kind_of = connection.network_kind
            places = itertools.chain(["public"] * 2, itertools.repeat(None))
            monkeypatch.setattr(
                connection, "network_kind", lambda address: next(places) or kind_of(address)
            )
            with (
                open_client(timeout_s=600, max_bytes=1_000) as client,
                pytest.raises(RedirectRefusedError, match="a loopback address"),
            ):
                client.get(first)


def test_a_name_is_judged_by_where_it_leads() -> None:
    bounds = Bounds(deadline=0, max_bytes=0)
    bounds.check_network("93.184.216.34")
    bounds.redirected = True
    bounds.check_network("8.8.8.8")
    for address in ("127.0.0.1", "::1", "10.1.2.3", "169.254.1.1", "fe80::1%eth0", "100.64.0.1"):
        with pytest.raises(RedirectRefusedError):
            bounds.check_network(address)


class Endless:
    """Every page of a question is full, of rows that no page had before."""

    def __init__(self) -> None:
        self._offset = 0

    def when(self, query: str) -> bool:
        if "ORDER BY" not in query or "rdf-schema#label" in query:
            return False
        found = re.search(r"OFFSET (\d+)", query)
        self._offset = int(found[1]) if found else 0
        return True

    def rows(self, rows: list[Any]) -> list[Any]:
        return [
            {
                "s": {"type": "uri", "value": WD + "Q1"},
                "p": {"type": "uri", "value": WDT + "P1"},
                "o": {"type": "uri", "value": f"{WD}Q{number}"},
            }
            for number in range(1_000 + self._offset, 1_100 + self._offset)
        ]


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    store = ox.Store()
    store.add(ox.Quad(ox.NamedNode(WD + "Q1"), ox.NamedNode(WDT + "P1"), ox.NamedNode(WD + "Q2")))
    label = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    store.add(ox.Quad(ox.NamedNode(WD + "Q1"), label, ox.Literal("one", language="en")))
    with serve_sparql(store) as running:
        endless = Endless()
        running.faults.append(Fault(times=None, when=endless.when, rows=endless.rows))
        yield running


def run(store: Store, server: SparqlServer, tmp_path: Path, **changes: Any) -> LoadReport:
    settings = EndpointOptions(
        endpoint=server.url, direction="out", page_rows=100, interval_s=0, **changes
    )
    options = LoadOptions(endpoint=settings, rejects_path=tmp_path / "rejects.jsonl")
    return load("wikidata:Q1", store=store, graph="g", options=options)


def test_endless_pages_end_at_the_limit_on_statements(
    tmp_path: Path, tmp_store: Store, server: SparqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loaders.sparql.walk._MORE_ROWS", 150)
    report = run(tmp_store, server, tmp_path, max_statements=30)
    assert report.read_statements == 30
    assert report.skipped[BEYOND_REASON] > 0
    assert len(server.queries("OFFSET")) < 5


def test_endless_pages_end_at_the_rows_that_are_held(
    tmp_path: Path, tmp_store: Store, server: SparqlServer
) -> None:
    report = run(tmp_store, server, tmp_path, max_rows=400)
    assert report.exit_code == 3
    assert report.incomplete == {OUTGOING_REASON: 1}
    assert "400 rows" in report.rejects[0].reason


def test_endless_pages_end_at_the_bytes_and_the_time_of_a_run(
    tmp_path: Path, tmp_store: Store, server: SparqlServer
) -> None:
    with pytest.raises(EndpointError, match="--max-bytes"):
        run(tmp_store, server, tmp_path, max_bytes=50_000)
    with pytest.raises(EndpointError, match="--max-seconds"):
        run(tmp_store, server, tmp_path, max_seconds=1)


def test_the_command_line_ends_at_its_limits(
    tmp_path: Path,
    server: SparqlServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # An endpoint that counts more than it gives is asked for page after page.
    monkeypatch.setattr(Pager, "count", lambda *_, **__: 10**9)
    command = [
        "load", "wikidata:Q1", "--graph", "g", "--store", f"sqlite:///{tmp_path / 'g.db'}", "--quiet",
        "--endpoint", server.url, "--direction", "out", "--no-cache",
        "--rejects-path", str(tmp_path / "r"),
    ]  # fmt: skip
    assert main([*command, "--max-bytes", "50000"]) == 4
    assert "50,000 bytes" in capsys.readouterr().err
    assert main([*command, "--max-seconds", "1"]) == 4
    assert main([*command, "--max-rows", "400"]) == 3
