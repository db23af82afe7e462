"""Export and load again over both stores; Neo4j's own bulk import (S1)."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from cluster_loads import rows_of
from export_round_trip import SUFFIXES, check_round_trip, load_back
from graphs import load_graph, sample_entities, sample_statements
from neo4j_server import Neo4jMissingError, Neo4jServer, run_import, start_server

from graph_service import open_service
from graph_service.doctor.verification import verify_store
from graph_service.export import ExportFormat, ExportReport, export, exported_graph
from graph_service.model.request import ViewRef
from graph_service.model.statement import Entity, Standing, Statement, make_statement
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.settings import Settings
from graph_service.store import open_store
from graph_service.store.parquet import ENTITIES, STATEMENTS
from graph_service.store.protocol import Batch, Store
from loaders.load import load
from loaders.options import LoadOptions

SWAPPED = ViewRef(spec=ViewSpec(Method.RELATION_SWAPPING, level=0.3, random_seed=1))


@pytest.mark.parametrize("view", [None, SWAPPED], ids=["base", "view"])
def test_what_is_exported_comes_back(
    store: Store, graph_names: Callable[[], str], tmp_path: Path, view: ViewRef | None
) -> None:
    """S1, S3, S8: all kinds of values, out and in again, in every format."""
    name, back = graph_names(), graph_names()
    load_graph(store, name, sample_statements(), sample_entities())
    service = open_service(store, settings=Settings())
    for format_, suffix in SUFFIXES.items():
        report = export(
            exported_graph(service, graph=name, view=view),
            str(tmp_path / f"out.{suffix}"),
            format=ExportFormat(format_),
        )
        check_round_trip(report, load_back(report, store, back, tmp_path / "rejects"))


@pytest.mark.data
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_real_data_goes_from_one_store_to_the_other(
    store: Store, graph_names: Callable[[], str], data_dir: Path, tmp_path: Path, suffix: str
) -> None:
    """S1: Wikidata's documents, through formats that leave nothing out, into this store and back.

    Ranks, qualifiers, references, languages and literals: each row that a store gives is compared.
    """
    name = graph_names()
    source = data_dir / "wikidata_docs" / "wbgetentities-Q6-Q42-P31.json"
    exported, again = tmp_path / f"graph.{suffix}", tmp_path / f"again.{suffix}"
    with open_store(f"sqlite:///{tmp_path / 'other.db'}") as other:
        info = load(source, store=other, graph="docs").graph
        assert info is not None
        export(exported_graph(open_service(other, settings=Settings())), str(exported))
    there = load(exported, store=store, graph=name).graph
    assert there is not None
    assert there.fingerprints == info.fingerprints
    assert there.counts == info.counts
    service = open_service(store, settings=Settings())
    export(exported_graph(service, graph=name), str(again))
    assert content_of(again) == content_of(exported)


def content_of(path: Path) -> list[object]:
    """Returns what an export holds, but for the name of the graph and of its edition."""
    if path.is_file():
        # Both stand in the first line.
        return list(path.read_bytes().split(b"\n")[1:])
    return [rows_of(path, table).to_pylist() for table in (STATEMENTS, ENTITIES)]


KILLED = """
import os, signal, sys
from pathlib import Path
import loaders.graph_parquet as parquet
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions

parquet._ROWS = 100
pieces = parquet._pieces

def some(file, part, done):
    for count, piece in enumerate(pieces(file, part, done)):
        if part.table == "statements" and count == 12:
            os.kill(os.getpid(), signal.SIGKILL)
        yield piece

parquet._pieces = some
with open_store(
    os.environ["TEST_STORE_URL"],
    username=os.environ.get("TEST_STORE_USERNAME"),
    password=os.environ.get("TEST_STORE_PASSWORD"),
    database=os.environ.get("TEST_STORE_DATABASE"),
) as store:
    options = LoadOptions(batch_size=300, rejects_path=Path(sys.argv[3]))
    load(sys.argv[1], store=store, graph=sys.argv[2], options=options)
"""


def test_a_killed_load_of_parquet_goes_on(
    store: Store,
    graph_names: Callable[[], str],
    environment_of_store: dict[str, str],
    tmp_path: Path,
) -> None:
    """S1: after kill -9 the same command reads the rest, with the fingerprint of a whole load."""
    name, back = graph_names(), graph_names()
    load_graph(store, name, many_statements(), many_entities())
    exported = exported_graph(open_service(store, settings=Settings()), graph=name)
    report = export(exported, str(tmp_path / "out.parquet"))
    rejects = tmp_path / "rejects.jsonl"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "out.parquet"), back, str(rejects)],
        env={**os.environ, **environment_of_store, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert back not in {info.name for info in store.graphs()}
    options = LoadOptions(batch_size=300, rejects_path=rejects)
    again = load(tmp_path / "out.parquet", store=store, graph=back, options=options)
    assert again.resumed
    assert again.graph is not None
    assert again.graph.fingerprints == report.fingerprints
    assert again.read_statements == report.statements


LONG = "http://example.org/" + "x" * 2_000


def many_statements() -> list[Statement]:
    """More than one page, names that are no types, a long id, a text over several lines."""
    return [
        *sample_statements(),
        *(make_statement(f"Q{i % 50 + 1}", "P1", EntityValue(f"Q{i + 100}")) for i in range(3_000)),
        make_statement(LONG, "http://example.org/x`]->() //", EntityValue("Q42")),
        make_statement("Q42", "http://other.org/x`]->() //", EntityValue(LONG)),
        *(make_statement("Q8000", "P1", EntityValue(f"Q{number}")) for number in (8001, 8002)),
        make_statement("Q8000", "P1", EntityValue("Q8003")),
    ]


def many_entities() -> list[Entity]:
    return [
        *sample_entities(),
        Entity("Q2000", labels={"en": 'a "quoted", \\ label\nof two lines', "de": ""}),
        Entity(LONG, labels={"en": "long"}),
        Entity("http://example.org/x`]->() //", labels={"en": "odd"}),
        # Described by their ids alone; no statement mentions the second one.
        Entity("Q8001"),
        Entity("Q8009"),
    ]


NAMES = (Entity("Q8003", labels={"en": "three"}), Entity("P22", labels={"en": "father"}))
"""Of a file of names. Q8002 has neither these nor a description."""


@pytest.fixture(scope="module")
def imported(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Store, Store, Neo4jServer, list[ExportReport]]]:
    """A store's file, and a Neo4j that the real import tool filled from its export."""
    folder = tmp_path_factory.mktemp("import")
    name = f"test-{uuid.uuid4().hex}"
    reports: list[ExportReport] = []
    with open_store(f"sqlite:///{folder / 'graph.db'}") as file:
        load_graph(file, name, many_statements(), many_entities())
        with file.begin_load(name, owner="test", source="test") as session:
            session.write(Batch(entities=NAMES, terms_only=True, names_only=True))
            session.finish()
            session.publish()
        service = open_service(file, settings=Settings())
        reports.append(
            export(
                exported_graph(service, graph=name),
                str(folder / "csv"),
                format=ExportFormat.NEO4J_CSV,
            )
        )
        command = shlex.split(reports[0].commands[0])
        assert command[:4] == ["neo4j-admin", "database", "import", "full"]

        def prepare(home: Path) -> None:
            run_import(home, command[4:])

        try:
            server = start_server(own=True, prepare=prepare)
        except Neo4jMissingError as reason:
            if os.environ.get("GRAPH_SERVICE_TEST_REQUIRE") == "1":
                raise
            pytest.skip(str(reason))
        try:
            with open_store(
                server.url, username=server.username, password=server.password
            ) as store:
                yield file, store, server, reports
        finally:
            server.stop()


@pytest.mark.neo4j
@pytest.mark.xdist_group("bulk-import")
def test_the_bulk_import_makes_a_graph_of_ours(
    imported: tuple[Store, Store, Neo4jServer, list[ExportReport]], tmp_path: Path
) -> None:
    """S1: by the command that the export prints; read, searched, exported and loaded to after."""
    file, store, _, (report,) = imported
    (info,) = store.graphs()
    before = file.graph(info.name)
    assert info.edition == f"{info.name}@0"
    assert info.fingerprints == before.fingerprints == report.fingerprints
    assert (info.counts, info.source) == (before.counts, before.source)
    one, two = file.snapshot(before), store.snapshot(info)
    for field in ("node_keys", "head", "rel", "tail", "rank", "best", "statement_keys"):
        assert np.array_equal(getattr(one, field), getattr(two, field)), field
    for field in ("node_ids", "relation_ids", "statement_ids"):
        assert list(getattr(one, field)) == list(getattr(two, field)), field
    assert {*one.node_labels} == {*two.node_labels}
    entities = [item for chunk in file.scan_entities(before.edition) for item in chunk]
    there = [item for chunk in store.scan_entities(info.edition) for item in chunk]
    assert entities == there
    assert [item.standing for item in entities] == [item.standing for item in there]
    assert {item.standing for item in there} == {*Standing}
    assert [one for one in verify_store(store) if one.fault] == []
    ids = list(one.statement_ids)
    assert file.statements(before.edition, ids) == store.statements(info.edition, ids)
    for query in ("douglas adams", "quoted label", "odd"):
        found = store.search(info.edition, query)
        assert found
        assert found == file.search(before.edition, query)
    assert store.entities(info.edition, ["Q4242", "http://dbpedia.org/resource/Douglas_Adams"]) == (
        file.entities(before.edition, ["Q4242", "http://dbpedia.org/resource/Douglas_Adams"])
    )
    assert store.neighbourhood(info.edition, ["Q42"], hops=2) == file.neighbourhood(
        before.edition, ["Q42"], hops=2
    )


@pytest.mark.neo4j
@pytest.mark.xdist_group("bulk-import")
def test_plain_cypher_reads_what_was_imported(
    imported: tuple[Store, Store, Neo4jServer, list[ExportReport]],
) -> None:
    import neo4j

    _, store, server, _ = imported
    (info,) = store.graphs()
    assert server.username is not None
    assert server.password is not None
    with neo4j.GraphDatabase.driver(server.url, auth=(server.username, server.password)) as driver:
        rows, *_ = driver.execute_query(
            """MATCH (g:Graph {name: $name})
            MATCH (:Entity {graph: g.current, id: 'Q42'})-[r:P31]->(b) WHERE b.label = 'human'
            RETURN r.id, r.rank""",
            name=info.name,
        )
        assert [row.values() for row in rows] == [
            ["Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9", "preferred"]
        ]
        rows, *_ = driver.execute_query("MATCH (r:Relation {id: 'P31'}) RETURN r.type, r.label")
        assert [row.values() for row in rows] == [["P31", "instance of"]]


@pytest.mark.neo4j
@pytest.mark.xdist_group("bulk-import")
def test_a_load_goes_on_from_what_was_imported(
    imported: tuple[Store, Store, Neo4jServer, list[ExportReport]], tmp_path: Path
) -> None:
    """An imported edition is the base of the next load, as any other is; it comes last here."""
    file, store, _, _ = imported
    (info,) = store.graphs()
    lines = tmp_path / "more.tsv"
    lines.write_text("Q42\tP31\tQ5\nQ42\tP1\tQ77777\n")
    options = LoadOptions(rejects_path=tmp_path / "rejects.jsonl")
    there = load(lines, store=store, graph=info.name, options=options)
    here = load(lines, store=file, graph=info.name, options=options)
    assert there.graph is not None
    assert here.graph is not None
    assert there.counts == here.counts
    assert there.graph.fingerprints == here.graph.fingerprints
    # What only they mention goes with the last statements; what was described stays.
    counts = []
    for each in (store, file):
        with each.begin_load(info.name, owner="test", source="test") as session:
            session.write(
                Batch(
                    entities=(Entity("Q8000", labels={"en": "empty"}, revision=1),),
                    documents=frozenset({"Q8000"}),
                )
            )
            counts.append(session.finish())
            session.publish()
        ids = ["Q8000", "Q8001", "Q8002", "Q8003", "Q8009"]
        found = each.entities(each.graph(info.name).edition, ids)
        assert found.missing == ("Q8002", "Q8003")
    assert counts[0] == counts[1]
    now, wanted = store.graph(info.name), file.graph(info.name)
    assert (now.fingerprints, now.counts) == (wanted.fingerprints, wanted.counts)
    assert [one for one in verify_store(store) if one.fault] == []
    store.delete_graph(info.name)
    assert store.graphs() == []
