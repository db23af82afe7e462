"""Whole documents of Wikidata's entities around start entities (S1), against brute force."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import raises
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sparql_server import Fault, SparqlServer, serve_sparql, truthy_store
from wikibase_documents import Edge, documents_of

import graph_service.http.host_client as polite_module
import loaders.progress
from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.http.faults import EndpointError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import EntityKind, Rank, Statement
from graph_service.model.values import EntityValue
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.report import LoadReport, in_agreement
from loaders.sparql.documents import DROPPED_REASON, EDITED_REASON, HEADS_REASON
from loaders.sparql.options import EndpointOptions
from loaders.sparql.reader import read
from loaders.sparql.walk import OUTGOING_REASON, TERMS_REASON, hub_reason
from loaders.wikibase.documents import MISSING_REASON


def best_of(edges: Iterable[Edge]) -> set[Edge]:
    preferred = {(head, relation) for head, relation, _, rank in edges if rank == "preferred"}
    return {
        edge for edge in edges if edge[3] == ("preferred" if edge[:2] in preferred else "normal")
    }


def walk_by_brute_force(
    edges: Iterable[Edge],
    start_entities: Iterable[str],
    *,
    hops: int,
    direction: str = "both",
    max_incoming: int = 500,
) -> set[Edge]:
    """Walks the best edges; of what is walked all statements, into it those of every rank."""
    edges = set(edges)
    best = best_of(edges)
    out, into = defaultdict(set), defaultdict(set)
    for edge in best:
        out[edge[0]].add(edge)
        into[edge[2]].add(edge)
    first = set(start_entities)
    found: set[Edge] = set()
    reached, frontier = set(first), set(first)
    for _ in range(hops):
        new: set[str] = set()
        for one in frontier:
            if direction != "in":
                found |= {edge for edge in edges if edge[0] == one}
                new |= {edge[2] for edge in out[one]}
            triples = {edge[:3] for edge in into[one]}
            if direction != "out" and (one in first or len(triples) <= max_incoming):
                found |= {edge for edge in edges if edge[:3] in triples}
                new |= {edge[0] for edge in into[one]}
        frontier = new - reached
        reached |= frontier
    return found


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 0.01)


def options_for(server: SparqlServer, *, languages: Sequence[str] = (), batch_size: int = 10_000,
                rejects: Path | None = None, strict: bool = False,
                **changes: Any) -> LoadOptions:  # fmt: skip
    endpoint = EndpointOptions(
        endpoint=server.url, entity_data=server.api, hops=2, max_attempts=3, timeout_s=600
    )
    return LoadOptions(
        endpoint=replace(endpoint, **changes),
        languages=tuple(languages),
        batch_size=batch_size,
        strict=strict,
        rejects_path=rejects or Path(os.devnull),
    )


def run(
    store: Store, server: SparqlServer, /, source: str = "wikidata:Q1", graph: str = "g",
    *, progress: Any = None, stop: threading.Event | None = None, replace_it: bool = False,
    **changes: Any,
) -> LoadReport:  # fmt: skip
    return load(source, store=store, graph=graph, options=options_for(server, **changes),
                progress=progress, stop=stop, replace=replace_it)  # fmt: skip


def published(report: LoadReport) -> GraphInfo:
    assert report.graph is not None
    return report.graph


def statements_in(store: Store, report: LoadReport) -> dict[str, Statement]:
    edition = published(report).edition
    return {one.id: one for chunk in store.scan_statements(edition) for one in chunk}


def edges_in(statements: Iterable[Statement]) -> set[Edge]:
    return {
        (one.head, one.relation, one.value.id, one.rank.value)
        for one in statements
        if isinstance(one.value, EntityValue)
    }


NAMES = [f"Q{number}" for number in range(1, 9)]
EDGES = st.sets(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["P1", "P2"]),
        st.sampled_from(NAMES),
        st.sampled_from(["normal", "normal", "preferred", "deprecated"]),
    ),
    max_size=24,
)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(
    edges=EDGES,
    start_entities=st.sets(st.sampled_from(NAMES), min_size=1, max_size=2),
    hops=st.integers(1, 3),
    direction=st.sampled_from(["both", "out", "in"]),
    max_incoming=st.integers(1, 5),
    batch_size=st.integers(1, 5),
    address=st.booleans(),
)
def test_walk_equals_brute_force_on_random_graphs(
    edges: set[Edge],
    start_entities: set[str],
    hops: int,
    direction: str,
    max_incoming: int,
    batch_size: int,
    address: bool,
) -> None:
    documents = documents_of(edges, names=NAMES)
    with serve_sparql(truthy_store(documents), documents) as server:
        options = options_for(
            server,
            hops=hops,
            direction=direction,
            max_incoming=max_incoming,
            batch_size=batch_size,
            entity_data=server.entity_data if address else server.api,
        )
        pieces = list(read("wikidata:" + ",".join(sorted(start_entities)), options, {}))
        assert server.most_running <= 1
        found = [one for parsed in pieces for one in parsed.statements]
        # From any checkpoint on, the rest comes.
        middle = len(pieces) // 2
        rest = list(read("wikidata:Q1", options, pieces[middle].position))
    assert len({one.id for one in found}) == len(found)
    assert edges_in(found) == walk_by_brute_force(
        edges, start_entities, hops=hops, direction=direction, max_incoming=max_incoming
    )
    assert all(one.qualifiers for one in found)
    assert sum(piece.counts.total for piece in pieces) == sum(
        piece.source_records for piece in pieces
    )
    again = [one for parsed in [*pieces[: middle + 1], *rest] for one in parsed.statements]
    assert {one.id for one in again} == {one.id for one in found}
    # Every entity and property that is mentioned has its name.
    named = {one.id for parsed in pieces for one in parsed.entities if one.labels}
    mentioned = {
        id_ for head, relation, tail, _ in edges_in(found) for id_ in (head, relation, tail)
    }
    assert mentioned | start_entities | ({"P99", "Q900"} if found else set()) <= named


def real_documents(data_dir: Path) -> dict[str, Any]:
    """The real items and properties of ``wikidata_docs`` that have an id."""
    folder = data_dir / "wikidata_docs"
    documents: dict[str, Any] = {}
    files = [
        folder / "wbgetentities-Q6-Q42-P31.json",
        *(folder / "wikibase_sdk_json").glob("*.json"),
    ]
    for path in sorted(files):
        payload = json.loads(path.read_text())
        if not isinstance(payload, dict):
            continue
        found = payload.get("entities", {path.stem: payload})
        for id_, document in found.items():
            if document.get("type") in ("item", "property") and "missing" not in document:
                documents.setdefault(document.get("id", id_), {"lastrevid": 1, **document})
    return documents


@pytest.mark.data
@pytest.mark.parametrize("form", ["api", "address"])
def test_real_documents_come_as_from_files(
    data_dir: Path, tmp_store: Store, tmp_path: Path, form: str
) -> None:
    """S1: ranks, qualifiers and references of real entities, the same as from the file."""
    documents = real_documents(data_dir)
    assert len(documents) > 15
    file = tmp_path / "entities.json"
    file.write_text(json.dumps({"entities": documents}))
    from_file = load(file, store=tmp_store, graph="file",
                     options=LoadOptions(languages=("en", "mul")))  # fmt: skip
    start_entities = ",".join(documents)
    with serve_sparql(truthy_store(documents), documents) as server:
        address = server.api if form == "api" else server.entity_data
        report = run(tmp_store, server, f"wikidata:{start_entities}", hops=1, direction="out",
                     entity_data=address)  # fmt: skip
    # One document, which is made up, has two statements under one id.
    for one in (report, from_file):
        assert (one.exit_code, one.rejected) == (3, 1), one.lines()
        assert "Q970917$D52C5A12" in one.rejects[0].reason
    ours, theirs = statements_in(tmp_store, report), statements_in(tmp_store, from_file)
    assert ours == theirs
    assert len(ours) > 500
    assert published(report).fingerprints.edges == published(from_file).fingerprints.edges
    assert {one.rank for one in ours.values()} == set(Rank)
    assert sum(bool(one.qualifiers) for one in ours.values()) > 100
    assert sum(bool(one.references) for one in ours.values()) > 100
    assert report.wikidata_forms == ["full"]
    # Documents that are only named are not there: said, and no reason to fail.
    assert report.skipped[MISSING_REASON] > 100


@pytest.mark.data
def test_walk_equals_brute_force_on_codex(data_dir: Path) -> None:
    """The real facts of CoDEx-S as documents: two hops, with hubs."""
    lines = (data_dir / "codex" / "s-train.tsv").read_text().splitlines()
    edges = {(head, relation, tail, "normal") for head, relation, tail in map(str.split, lines)}
    documents = documents_of(edges)
    with serve_sparql(truthy_store(documents), documents) as server:
        options = options_for(server, max_incoming=30)
        found = [one for part in read("wikidata:Q79", options, {}) for one in part.statements]
        asked = [id_ for ids in server.asked_entities() for id_ in ids]
        assert max(map(len, server.asked_entities())) == 50
    wanted = walk_by_brute_force(edges, ["Q79"], hops=2, max_incoming=30)
    assert len(wanted) > 300
    assert edges_in(found) == wanted
    assert len(found) == len(wanted)
    # No document is asked for twice.
    assert len(asked) == len(set(asked))


def test_redirects_are_no_hop(tmp_store: Store) -> None:
    documents = documents_of({("Q1", "P1", "Q2", "normal"), ("Q2", "P1", "Q3", "normal")})
    documents["Q100"] = "Q1"
    for address in ("api", "entity_data"):
        with serve_sparql(truthy_store(documents), documents) as server:
            report = run(tmp_store, server, "wikidata:Q100", replace_it=True,
                         entity_data=getattr(server, address))  # fmt: skip
        assert report.exit_code == 0
        edition = published(report).edition
        assert len(statements_in(tmp_store, report)) == 2
        found = tmp_store.entities(edition, ["Q100", "P1"]).entities
        assert found["Q100"].id == "Q1"
        assert found["Q100"].labels == {"en": "name of Q1"}
        assert found["P1"].kind is EntityKind.PROPERTY


def test_what_is_missing_is_said(tmp_store: Store) -> None:
    """A deleted entity, and statements that were edited between endpoint and document."""
    documents = documents_of(
        {("Q1", "P1", "Q2", "normal"), ("Q3", "P1", "Q1", "normal"), ("Q4", "P1", "Q1", "normal")}
    )
    store = truthy_store(documents)
    documents["Q3"]["claims"] = []
    del documents["Q2"]
    with serve_sparql(store, documents) as server:
        report = run(tmp_store, server, hops=1)
    assert report.skipped == {MISSING_REASON: 1, EDITED_REASON: 1}
    assert edges_in(statements_in(tmp_store, report).values()) == {
        ("Q1", "P1", "Q2", "normal"),
        ("Q4", "P1", "Q1", "normal"),
    }
    with (
        serve_sparql(store, documents) as server,
        pytest.raises(InputError, match="wikidata:Q777"),
    ):
        run(tmp_store, server, "wikidata:Q777", graph="h")
    assert tmp_store.unfinished_loads() == []


def test_documents_replace_what_was_there(tmp_store: Store) -> None:
    """A whole document replaces its entity's statements; a head's part replaces nothing."""
    documents = documents_of({("Q1", "P1", "Q2", "normal"), ("Q3", "P1", "Q1", "normal"),
                              ("Q3", "P2", "Q4", "normal")})  # fmt: skip
    with serve_sparql(truthy_store(documents), documents) as server:
        whole = run(tmp_store, server, "wikidata:Q1,Q3", hops=1)
        assert published(whole).counts.statements == 3
        del documents["Q1"]["claims"]["P1"]
        documents["Q1"]["lastrevid"] += 1
        again = run(tmp_store, server, "wikidata:Q1", hops=1)
    assert edges_in(statements_in(tmp_store, again).values()) == {
        ("Q3", "P1", "Q1", "normal"),
        ("Q3", "P2", "Q4", "normal"),
    }


def test_a_part_of_a_document_does_not_pass_for_its_revision(
    tmp_store: Store, tmp_path: Path
) -> None:
    """A whole document from an older copy is newer than what there was of that entity."""
    documents = documents_of({("Q3", "P1", "Q1", "normal"), ("Q3", "P2", "Q4", "normal")})
    with serve_sparql(truthy_store(documents), documents) as server:
        run(tmp_store, server, "wikidata:Q1", hops=1)
    older = tmp_path / "older.json"
    older.write_text(json.dumps({"entities": {"Q3": {**documents["Q3"], "lastrevid": 2}}}))
    report = load(older, store=tmp_store, graph="g")
    assert report.counts is not None
    assert (report.counts.outdated, report.counts.written) == (0, 1)


def test_only_best_statements_lead_on(tmp_store: Store) -> None:
    """As truthy triples do: of Q1's values Q3 and Q4 are walked, Q2 and Q5 are not."""
    first = {("Q1", "P1", "Q2", "deprecated"), ("Q1", "P1", "Q3", "normal"),
             ("Q1", "P2", "Q4", "preferred"), ("Q1", "P2", "Q5", "normal")}  # fmt: skip
    second = {(f"Q{one}", "P3", f"Q{one}0", "normal") for one in range(2, 6)}
    documents = documents_of(first | second)
    with serve_sparql(truthy_store(documents), documents) as server:
        report = run(tmp_store, server, hops=2)
    heads = {one.head for one in statements_in(tmp_store, report).values()}
    assert heads == {"Q1", "Q3", "Q4"}
    assert published(report).counts.statements == 6


def test_truthy_and_full_do_not_mix(tmp_store: Store) -> None:
    documents = documents_of({("Q1", "P1", "Q2", "normal")})
    with serve_sparql(truthy_store(documents), documents) as server:
        run(tmp_store, server)
        with pytest.raises(InputError, match="full ones"):
            run(tmp_store, server, entity_data=None)


STAR = {("Q1", "P1", f"Q{100 + one}", "normal") for one in range(12)} | {
    (f"Q{100 + one}", "P2", f"Q{1000 + 3 * one + part}", "normal")
    for one in range(12)
    for part in range(3)
}
HEADS = {(f"Q{2000 + one}", "P3", "Q105", "normal") for one in range(7)}


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    documents = documents_of(STAR | HEADS)
    with serve_sparql(truthy_store(documents), documents) as running:
        yield running


def test_a_document_that_does_not_come_is_said(
    server: SparqlServer, tmp_store: Store, tmp_path: Path
) -> None:
    server.faults.append(
        Fault(times=None, status=500, path="/api.php", when=lambda ids: "Q107" in ids.split("|"))
    )
    report = run(tmp_store, server, rejects=tmp_path / "rejects.jsonl", max_attempts=1)
    assert report.exit_code == 3
    assert report.incomplete == {OUTGOING_REASON: 1}
    assert report.rejects[0].reason == f"Q107, of the {OUTGOING_REASON}: HTTP 500"
    assert edges_in(statements_in(tmp_store, report).values()) == {
        edge for edge in STAR | HEADS if edge[0] != "Q107"
    }
    assert tmp_store.graph("g").report["complete"] is False
    with pytest.raises(InputError, match="Q107, of the"):
        run(tmp_store, server, graph="h", strict=True, max_attempts=1)


def test_heads_and_names_that_do_not_come_are_said(server: SparqlServer, tmp_store: Store) -> None:
    bad = {"Q2003", "Q1005"}
    server.faults.append(
        Fault(times=None, status=504, path="/api.php",
              when=lambda ids: bool(bad.intersection(ids.split("|"))))
    )  # fmt: skip
    report = run(tmp_store, server)
    assert report.exit_code == 3
    assert report.incomplete == {HEADS_REASON: 1, TERMS_REASON: 1}
    assert published(report).counts.statements == len(STAR | HEADS) - 1


STAYING: Mapping[str, tuple[Fault, str]] = {
    "documents": (Fault(status=503, path="/api.php", when="Q105"), "HTTP 503"),
    "maxlag": (
        Fault(
            body=b'{"error": {"code": "maxlag", "info": "lagged"}}', path="/api.php", when="Q105"
        ),
        "maxlag: lagged",
    ),
    "heads": (Fault(status=429, path="/api.php", when="Q2000"), "HTTP 429"),
    "incoming": (Fault(status=403, when="UNION"), "HTTP 403"),
}


@pytest.mark.parametrize("name", STAYING)
def test_faults_that_stay_stop_the_load_and_it_can_go_on(
    server: SparqlServer, tmp_store: Store, name: str
) -> None:
    fault, message = STAYING[name]
    server.faults.append(replace(fault, times=None))
    with pytest.raises(EndpointError, match=message) as caught:
        run(tmp_store, server, max_wait_s=0.01)
    assert "the same command" in str(caught.value)
    assert tmp_store.graphs() == []
    [left] = tmp_store.unfinished_loads()
    assert left.statements >= 12
    server.faults.clear()
    server.requests.clear()
    report = run(tmp_store, server)
    assert report.resumed
    assert report.exit_code == 0
    assert ["Q1"] not in server.asked_entities()
    again = run(tmp_store, server, graph="unbroken")
    assert published(report).fingerprints == published(again).fingerprints
    assert published(report).counts.statements == len(STAR | HEADS)


def test_a_stopped_load_goes_on(
    server: SparqlServer, tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaders.progress, "PROGRESS_INTERVAL_S", 0.0)
    unbroken = run(tmp_store, server, graph="unbroken", batch_size=5)
    pieces: list[Progress] = []
    run(tmp_store, server, graph="count", batch_size=5, progress=pieces.append)
    assert len(pieces) > 8
    for number in range(1, len(pieces)):
        stop = threading.Event()
        seen: list[Progress] = []

        def halt(progress: Progress, seen: list[Progress] = seen, number: int = number,
                 stop: threading.Event = stop) -> None:  # fmt: skip
            seen.append(progress)
            if len(seen) == number:
                stop.set()

        stopped = run(tmp_store, server, graph=f"g{number}", batch_size=5, progress=halt, stop=stop)
        assert stopped.status == "stopped"
        report = run(tmp_store, server, graph=f"g{number}", batch_size=5)
        assert report.resumed
        assert published(report).fingerprints == published(unbroken).fingerprints
        assert report.read_statements == unbroken.read_statements


def test_hubs_and_limits_are_said(server: SparqlServer, tmp_store: Store) -> None:
    """Hubs make two hops the whole graph: what was cut stays visible."""
    few = run(tmp_store, server, max_incoming=6)
    assert few.skipped == {hub_reason(6): 1}
    assert published(few).counts.statements == len(STAR)
    cut = run(tmp_store, server, graph="h", max_statements=20)
    assert published(cut).counts.statements in range(20, 24)
    assert any("limit on statements" in reason for reason in cut.skipped)
    assert cut.exit_code == 0


def test_relations_that_are_left_out(
    server: SparqlServer, tmp_store: Store, tmp_path: Path
) -> None:
    drops = tmp_path / "drop.txt"
    drops.write_text("P2\n")
    report = run(tmp_store, server, drop_relations=drops)
    assert edges_in(statements_in(tmp_store, report).values()) == {
        edge for edge in STAR | HEADS if edge[1] != "P2"
    }
    assert report.skipped == {DROPPED_REASON: 36}


def test_languages_and_fallback(server: SparqlServer, tmp_store: Store) -> None:
    report = run(tmp_store, server, hops=1, languages=("FR",))
    edition = published(report).edition
    found = tmp_store.entities(edition, ["Q1", "Q101", "P1"]).entities
    assert {id_: dict(one.labels) for id_, one in found.items()} == {
        id_: {"fr": f"nom de {id_}"} for id_ in ("Q1", "Q101", "P1")
    }


@pytest.mark.parametrize(
    "change",
    [
        {"statements": "some"},
        {"statements": "truthy"},
        {"entity_data": "https://example.org/"},
        {"entity_data": "https://www.wikidata.org/w/api.php"},
    ],
)
def test_options_that_do_not_fit(
    server: SparqlServer, tmp_store: Store, change: dict[str, Any]
) -> None:
    with raises(InputError):
        run(tmp_store, server, **change)
    assert server.requests == []
    assert tmp_store.unfinished_loads() == []


def test_dbpedia_has_no_full_statements(server: SparqlServer, tmp_store: Store) -> None:
    with pytest.raises(InputError, match="DBpedia has none"):
        run(tmp_store, server, "dbpedia:Rome")


def command_for(server: SparqlServer, store: str, *more: str) -> list[str]:
    return ["load", "wikidata:Q1", "--graph", "g", "--hops", "2", "--endpoint", server.url,
            "--entity-data", server.api, "--store", store, *more]  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_a_killed_load_goes_on(server: SparqlServer, tmp_store: Store, tmp_path: Path) -> None:
    """kill -9 at several points, then the same command to its end."""
    unbroken = run(tmp_store, server, graph="unbroken")
    environment = {**os.environ, "GRAPH_SERVICE_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "graph_service.cli", *command_for(server, tmp_store.url)]
    server.requests.clear()
    for killed_at in (1, 3, 5):
        last = len(server.requests) + killed_at
        held, killed = threading.Event(), threading.Event()

        def hold(rows: list[Any], last: int = last, held: threading.Event = held,
                 killed: threading.Event = killed) -> list[Any]:  # fmt: skip
            if len(server.requests) >= last:
                held.set()
                killed.wait(600)
            return rows

        server.faults[:] = [Fault(times=None, rows=hold, path=path) for path in ("", "/api.php")]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        assert held.wait(600), "it asked for less"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        killed.set()
    server.faults.clear()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    info = tmp_store.graph("g")
    assert info.fingerprints == published(unbroken).fingerprints
    # An entity's document is asked for again at most once for each kill.
    asked = [ids for ids in server.asked_entities() if "Q1" in ids]
    assert len(asked) <= 4


def test_command_line(
    server: SparqlServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    store = f"sqlite:///{tmp_path / 'g.db'}"
    assert main(command_for(server, store, "--json")) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["formats"] == {"sparql": 1, "wikibase-json": 1}
    assert report["wikidata_forms"] == ["full"]
    assert report["complete"] is True
    assert report["graph"]["counts"]["statements"] == len(STAR | HEADS)
    assert main(["item", "Q105", "--graph", "g", "--store", store]) == 0
    assert "name of Q105" in capsys.readouterr().out
    assert main(["graphs", "--store", store]) == 0
    assert "NOT COMPLETE" not in capsys.readouterr().out
    server.faults.append(Fault(times=None, status=504, path="/api.php", when="Q1005"))
    assert main(command_for(server, store, "--replace", "--no-cache", "--quiet")) == 3
    assert f"NOT COMPLETE: {in_agreement(1, TERMS_REASON)}" in capsys.readouterr().out
    assert main(["graphs", "--store", store]) == 0
    assert f"NOT COMPLETE: g@2: 1 {TERMS_REASON}" in capsys.readouterr().out
    assert main([*command_for(server, store), "--statements", "truthy"]) == 2
    assert "truthy statements" in capsys.readouterr().err
