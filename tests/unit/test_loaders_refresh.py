"""Refreshes of subgraphs of Wikidata (B1): equal to a load of that moment, by what changed alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_line, raises
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from refreshed_documents import documents_asked, edited, turn_to, world_of
from sparql_server import Fault, SparqlServer, serve_sparql, truthy_store
from wikibase_documents import Edge

import graph_service.http.host_client as polite_module
from graph_service.cli import main
from graph_service.errors import GraphNotFoundError, InputError, StoreCorruptError
from graph_service.store import open_store
from graph_service.store.protocol import Record, Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport
from loaders.sparql.documents import (
    DELETED_REASON,
    DROPPED_REASON,
    OUT_OF_REACH_REASON,
    REDIRECTED_REASON,
    UNCHANGED_REASON,
)
from loaders.sparql.earlier import RECORD_KIND
from loaders.sparql.options import EndpointOptions

# Q1 leads to Q2 and Q3, Q2 on to Q4; Q5 lies outside and leads in.
EDGES: set[Edge] = {
    ("Q1", "P1", "Q2", "normal"),
    ("Q1", "P1", "Q3", "normal"),
    ("Q2", "P2", "Q4", "preferred"),
    ("Q2", "P2", "Q6", "normal"),
    ("Q5", "P1", "Q2", "normal"),
    ("Q5", "P2", "Q7", "normal"),
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 0.01)


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    documents = world_of(EDGES)
    with serve_sparql(truthy_store(documents), documents) as served:
        yield served


@pytest.fixture
def tmp_store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        yield store


def options_for(server: SparqlServer, **changes: Any) -> LoadOptions:
    endpoint: dict[str, Any] = {
        "endpoint": server.url, "entity_data": server.api, "hops": 2, "max_attempts": 2,
        "timeout_s": 600,
    }  # fmt: skip
    reading = {name: changes.pop(name) for name in ("languages", "batch_size") if name in changes}
    return LoadOptions(
        endpoint=EndpointOptions(**{**endpoint, **changes}),
        rejects_path=Path(os.devnull),
        **reading,
    )


def run(store: Store, server: SparqlServer, graph: str = "g", source: str = "wikidata:Q1",
        *, refresh: bool = False, replace: bool = False, **changes: Any) -> LoadReport:  # fmt: skip
    return load(source, store=store, graph=graph, refresh=refresh, replace=replace,
                options=options_for(server, **changes))  # fmt: skip


def refreshed(store: Store, server: SparqlServer, **changes: Any) -> LoadReport:
    """Refreshes, and holds the result against a load of the same moment."""
    report = run(store, server, refresh=True, **changes)
    asked = list(server.requests)
    fresh = run(store, server, graph="fresh", replace=True, **changes)
    server.requests[:] = asked
    assert report.graph is not None
    assert fresh.graph is not None
    assert report.graph.fingerprints == fresh.graph.fingerprints
    assert report.graph.counts == fresh.graph.counts
    return report


NAMES = [f"Q{number}" for number in range(1, 9)]
RANKS = ["normal", "normal", "preferred", "deprecated"]
EDGE = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(["P1", "P2"]), st.sampled_from(NAMES),
    st.sampled_from(RANKS),
)  # fmt: skip


@settings(
    max_examples=15, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(
    kept=st.sets(EDGE, max_size=16),
    old=st.sets(EDGE, max_size=6),
    new=st.sets(EDGE, max_size=6),
    deleted=st.sets(st.sampled_from(NAMES[1:]), max_size=1),
    redirected=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES), max_size=1),
    renamed=st.sets(st.sampled_from([*NAMES, "P1", "Q900"]), max_size=2),
    hops=st.integers(1, 3),
    direction=st.sampled_from(["both", "out", "in"]),
    max_incoming=st.integers(1, 5),
    max_statements=st.one_of(st.none(), st.integers(1, 12)),
    languages=st.sampled_from([(), ("fr",)]),
)
def test_a_refresh_equals_a_load_of_its_moment(
    kept: set[Edge], old: set[Edge], new: set[Edge], deleted: set[str],
    redirected: dict[str, str], renamed: set[str], hops: int, direction: str, max_incoming: int,
    max_statements: int | None, languages: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    before = world_of(kept | old, names=NAMES)
    after = world_of(kept | new, names=NAMES)
    for id_ in renamed & after.keys():
        after[id_]["labels"] = {"fr": {"language": "fr", "value": f"autre nom de {id_}"}}
    for id_ in deleted:
        del after[id_]
    for id_, target in redirected.items():
        if isinstance(after.get(target), dict) and target != id_:
            after[id_] = target
    changes: dict[str, Any] = {
        "hops": hops, "direction": direction, "max_incoming": max_incoming,
        "max_statements": max_statements, "languages": languages,
    }  # fmt: skip
    folder = tmp_path_factory.mktemp("refresh")
    with (
        serve_sparql(truthy_store(before), before) as server,
        open_store(f"sqlite:///{folder / 'g.db'}") as store,
    ):
        first = run(store, server, **changes)
        turn_to(server, edited(before, after))
        report = refreshed(store, server, **changes)
        assert first.graph is not None
        assert report.graph is not None
        same = report.graph.fingerprints == first.graph.fingerprints
        assert (report.status == "unchanged") == same
        # Then there is nothing to do, and no document comes.
        server.requests.clear()
        again = run(store, server, refresh=True, **changes)
        assert again.status == "unchanged"
        # Of what redirects no revision is kept, and documents come before it is known whether the
        # limit leaves room for them.
        assert max_statements is not None or documents_asked(server) <= redirected.keys()


def test_what_changed_comes_alone_and_the_report_says_so(
    server: SparqlServer, tmp_store: Store
) -> None:
    first = run(tmp_store, server)
    assert first.graph is not None
    # Q2 leads to another entity now; Q3 is Q4, and nothing leads to Q6 any more.
    edges = (EDGES - {("Q2", "P2", "Q6", "normal")}) | {("Q2", "P2", "Q8", "normal")}
    later = world_of(edges, names=["Q6"])
    later["Q3"] = "Q4"
    turn_to(server, edited(server.documents, later))
    report = refreshed(tmp_store, server)
    assert documents_asked(server) == {"Q2", "Q3", "Q4"}
    assert report.status == "published"
    assert report.kept[UNCHANGED_REASON] == 2, report.lines()
    assert report.kept[REDIRECTED_REASON] == 1
    assert report.graph is not None
    assert report.graph.edition != first.graph.edition
    assert f"refreshed: {first.graph.edition}" in report.lines()
    found = tmp_store.entities(report.graph.edition, ["Q3", "Q6", "Q8"])
    assert found.entities["Q3"].id == "Q4"
    assert found.entities["Q8"].labels["en"] == "name of Q8"
    assert found.missing == ("Q6",)


def test_a_deleted_entity_and_one_out_of_reach_go(server: SparqlServer, tmp_store: Store) -> None:
    run(tmp_store, server)
    later = world_of(EDGES - {("Q1", "P1", "Q2", "normal")})
    del later["Q3"]
    turn_to(server, edited(server.documents, later))
    report = refreshed(tmp_store, server)
    assert report.skipped[DELETED_REASON] == 1
    assert report.skipped[OUT_OF_REACH_REASON] == 1
    assert report.graph is not None
    # Q1 still names what was deleted.
    assert report.graph.counts.statements == 1


def test_without_a_change_nothing_is_published(server: SparqlServer, tmp_store: Store) -> None:
    first = run(tmp_store, server)
    server.requests.clear()
    report = run(tmp_store, server, refresh=True)
    assert report.status == "unchanged"
    assert report.exit_code == 0
    assert report.graph == tmp_store.graph("g")
    assert first.graph is not None
    assert report.graph.edition == first.graph.edition
    assert not documents_asked(server)
    check_line(report.lines(), "what is published")
    assert tmp_store.unfinished_loads() == []


def test_a_new_statement_into_the_graph_of_a_head_that_is_unchanged(
    server: SparqlServer, tmp_store: Store
) -> None:
    """Q5 leads to Q7 all along, and Q7 is walked only now: what of Q5 is in does not suffice."""
    run(tmp_store, server)
    turn_to(server, edited(server.documents, world_of(EDGES | {("Q1", "P1", "Q7", "normal")})))
    refreshed(tmp_store, server)
    assert "Q5" in documents_asked(server)


def test_documents_with_rejects_come_again(server: SparqlServer, tmp_store: Store) -> None:
    server.documents["Q2"]["claims"]["P2"][0]["rank"] = "odd"
    first = run(tmp_store, server)
    assert first.rejected
    server.requests.clear()
    report = run(tmp_store, server, refresh=True)
    assert documents_asked(server) == {"Q2"}
    assert report.rejected == first.rejected
    assert report.status == "unchanged"


def test_other_relations_left_out_since(
    server: SparqlServer, tmp_store: Store, tmp_path: Path
) -> None:
    """The list is read again: what it left out is not in the edition."""
    drops = tmp_path / "drops.txt"
    drops.write_text("P2\n")
    first = run(tmp_store, server, drop_relations=drops)
    assert first.skipped[DROPPED_REASON]
    server.requests.clear()
    assert run(tmp_store, server, refresh=True).status == "unchanged"
    assert not documents_asked(server)
    drops.write_text("P3\n")
    refreshed(tmp_store, server, drop_relations=drops)


def test_many_documents_come_together(tmp_store: Store) -> None:
    """Revisions of 250 are told before the changed ones among them are asked for, 50 at a time."""
    edges: set[Edge] = {("Q1", "P1", f"Q{number}", "normal") for number in range(100, 500)}
    before = world_of(edges)
    with serve_sparql(truthy_store(before), before) as server:
        run(tmp_store, server, direction="out")
        later = world_of(edges)
        for number in range(100, 500, 7):
            later[f"Q{number}"]["labels"] = {"en": {"language": "en", "value": "other"}}
        turn_to(server, edited(before, later))
        refreshed(tmp_store, server, direction="out")
        asked = [
            len(one.query.split("|"))
            for one in server.requests
            if "claims" in one.parameters.get("props", "")
        ]
        told = [one for one in server.requests if one.parameters.get("props") == "info"]
    assert len(documents_asked(server)) == sum(asked) == 58
    assert len(asked) <= 3
    assert len(told) <= 10


def test_pauses_that_the_server_asks_for_are_kept(server: SparqlServer, tmp_store: Store) -> None:
    run(tmp_store, server)
    server.requests.clear()
    lag = b'{"error": {"code": "maxlag", "info": "Waiting for a replica"}}'
    server.faults.append(
        Fault(path="/api.php", body=lag, media="application/json", headers={"Retry-After": "0"})
    )
    assert run(tmp_store, server, refresh=True).status == "unchanged"
    asked = [one for one in server.requests if one.path.endswith("/api.php")]
    assert asked[0].query == asked[1].query
    assert {one.parameters["maxlag"] for one in asked} == {"5"}
    assert all("graph-service" in one.headers["User-Agent"] for one in asked)


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("dbpedia:Rome", {}),
        ("films.tsv", {}),
        ("wikidata:Q2", {}),
        ("wikidata:Q1", {"hops": 3}),
        ("wikidata:Q1", {"languages": ("de",)}),
        ("wikidata:Q1", {"replace": True}),
    ],
)
def test_what_can_not_be_refreshed(
    server: SparqlServer, tmp_store: Store, source: str, changes: dict[str, Any]
) -> None:
    run(tmp_store, server)
    server.requests.clear()
    with raises(InputError):
        run(tmp_store, server, source=source, refresh=True, **changes)
    assert server.requests == []
    assert tmp_store.unfinished_loads() == []


def test_an_edition_that_holds_more_than_its_source(
    server: SparqlServer, tmp_store: Store, tmp_path: Path
) -> None:
    with pytest.raises(GraphNotFoundError):
        run(tmp_store, server, refresh=True)
    first = run(tmp_store, server)
    run(tmp_store, server)
    assert first.graph is not None
    with pytest.raises(InputError, match=f"added to {first.graph.edition}"):
        run(tmp_store, server, refresh=True)
    names = tmp_path / "names.tsv"
    names.write_text("Q1\tthe first\ten\n")
    options = LoadOptions(
        endpoint=options_for(server).endpoint, label_files=(names,), rejects_path=Path(os.devnull)
    )
    load("wikidata:Q1", store=tmp_store, graph="g", options=options, replace=True)
    with pytest.raises(InputError, match="files beside"):
        run(tmp_store, server, refresh=True)


@pytest.mark.parametrize("changes", [{"statements": "truthy", "entity_data": None}, {}])
def test_sources_that_tell_no_revisions(
    server: SparqlServer, tmp_store: Store, changes: dict[str, Any]
) -> None:
    changes = changes or {"entity_data": server.entity_data}
    run(tmp_store, server, **changes)
    with pytest.raises(InputError, match="tells no revisions"):
        run(tmp_store, server, refresh=True, **changes)


def test_revisions_of_another_version_or_damaged(server: SparqlServer, tmp_store: Store) -> None:
    first = run(tmp_store, server)
    assert first.graph is not None
    [record] = tmp_store.list_records(RECORD_KIND)
    assert record.key == first.graph.edition
    tmp_store.save_record(Record(RECORD_KIND, record.key, "g", {"version": "0.0.1"}, b""))
    server.requests.clear()
    assert run(tmp_store, server, refresh=True).status == "unchanged"
    assert documents_asked(server) >= {"Q1", "Q2", "Q3", "Q5"}
    # They were kept anew.
    server.requests.clear()
    assert run(tmp_store, server, refresh=True).status == "unchanged"
    assert not documents_asked(server)
    found = tmp_store.get_record(RECORD_KIND, record.key)
    assert found is not None
    tmp_store.save_record(Record(RECORD_KIND, record.key, "g", found.json, b"damaged"))
    with pytest.raises(StoreCorruptError, match="--replace"):
        run(tmp_store, server, refresh=True)


def test_command_line(
    server: SparqlServer, tmp_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The load's own options are kept, and answers on disk are not taken for what is there now."""
    monkeypatch.setenv("GRAPH_SERVICE_CACHE_DIR", str(tmp_path / "cache"))
    common = ["load", "wikidata:Q1", "--graph", "g", "--store", tmp_store.url, "--quiet"]
    walk = ["--hops", "2", "--endpoint", server.url, "--entity-data", server.api]
    assert main([*common, *walk]) == 0
    assert main([*common, "--refresh"]) == 0
    assert "no new edition" in capsys.readouterr().out
    later = world_of(EDGES | {("Q2", "P1", "Q8", "normal")})
    turn_to(server, edited(server.documents, later))
    assert main([*common, "--refresh"]) == 0
    printed = capsys.readouterr().out
    assert "refreshed: g@" in printed
    assert UNCHANGED_REASON in printed
    assert tmp_store.graph("g").options["endpoint"]["hops"] == 2
    assert "Q8" in tmp_store.entities(tmp_store.graph("g").edition, ["Q8"]).entities
    assert main([*common, "--refresh", "--hops", "3"]) == 2
    assert "--replace" in capsys.readouterr().err
