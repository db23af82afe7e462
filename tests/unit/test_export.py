"""Graphs out again: files that come back, kill-safe, and the command line's part (S1)."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import orjson
import pytest
from demo_graph import copy_store
from error_texts import check_error, check_line, check_text, raises
from export_round_trip import SUFFIXES, check_round_trip, load_back
from graphs import load_graph, sample_entities, sample_statements

from graph_service import Service, open_service
from graph_service.cli import main
from graph_service.cli.graph.options import EXPORT_FORMATS
from graph_service.errors import InputError, StoreCorruptError, StoreUnavailableError
from graph_service.export import ExportedGraph, ExportFormat, export, exported_graph, to_networkx
from graph_service.export.run import replaced
from graph_service.model.identity import key64
from graph_service.model.request import ViewRef
from graph_service.model.statement import Entity, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.settings import SETTINGS, Settings
from graph_service.store import open_store
from graph_service.store.neo4j import bulk_csv, journal_file
from graph_service.store.neo4j.journal import ENTITY_ROW, MENTIONED, NAMED, NAMED_RELATION, unpack
from graph_service.store.protocol import Batch
from graph_service.store.sqlite.store import SqliteStore
from loaders.load import load
from loaders.options import LoadOptions

SWAPPED = ViewRef(spec=ViewSpec(Method.RELATION_SWAPPING, level=0.3, random_seed=1))
SOURCES = [
    ("codex/s-valid.tsv", ()),
    ("wikidata_docs/wbgetentities-Q6-Q42-P31.json", ()),
    ("wikidata_docs/Q42.ttl", ()),
    ("kgtk/wikidata_sample.tsv", ()),
    ("kgtk/dates_truthy.ttl", ()),
    ("kgtk/import-ntriples-numbers.nt", ()),
    ("dbpedia_extraction/dbpedia.owl.xz", ()),
    ("dbpedia_extraction/extract_Bruges-gold.tql", ()),
    ("dbpedia50/valid.txt", ()),
    ("wd50k/statements-valid.csv", ("head", "relation", "tail", "qualifiers")),
]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with open_service(f"sqlite:///{tmp_path / 'graph.db'}", settings=Settings()) as service:
        yield service


@pytest.fixture
def sample(service: Service) -> Service:
    """The service with a graph ``kinds`` of all kinds of values, ranks and terms."""
    load_graph(service.store, "kinds", sample_statements(), sample_entities())
    return service


@pytest.mark.data
@pytest.mark.parametrize(("source", "columns"), SOURCES, ids=[path for path, _ in SOURCES])
def test_real_data_comes_back(
    service: Service, data_dir: Path, tmp_path: Path, source: str, columns: tuple[str, ...]
) -> None:
    """S1, S8: from each format, just the fingerprint that the report promises."""
    options = LoadOptions(columns=columns, rejects_path=tmp_path / "rejects.jsonl")
    path = data_dir / source
    if columns:
        # All 23,913 lines are of the same kinds, and each is read and written eleven times.
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path = tmp_path / path.name
        path.write_text("".join(lines[:3_000]), encoding="utf-8")
    info = load(path, store=service.store, graph="real", options=options).graph
    assert info is not None
    promised = set()
    for format_, suffix in SUFFIXES.items():
        report = export(
            exported_graph(service, graph="real"),
            str(tmp_path / f"out.{suffix}"),
            format=ExportFormat(format_),
            labels=str(tmp_path / "labels.tsv") if format_ == "tsv" else None,
        )
        assert report.fingerprints == info.fingerprints
        assert report.statements == info.counts.statements
        check_round_trip(report, load_back(report, service.store, "back", tmp_path / "rejects"))
        promised.add((format_, report.comes_back))
    assert ("jsonl", "content") in promised


@pytest.mark.parametrize("format_", [*SUFFIXES])
@pytest.mark.parametrize("view", [None, SWAPPED], ids=["base", "view"])
def test_all_kinds_of_values_come_back_or_are_counted(
    sample: Service, tmp_path: Path, format_: str, view: ViewRef | None
) -> None:
    """S3, S8: also what a view makes of a graph, which then is a graph of its own."""
    report = export(
        exported_graph(sample, graph="kinds", view=view),
        str(tmp_path / f"out.{SUFFIXES[format_]}"),
        format=ExportFormat(format_),
    )
    check_round_trip(report, load_back(report, sample.store, "back", tmp_path / "rejects"))
    assert (report.view is None) == (view is None)
    assert bool(report.left_out) == (format_ not in ("jsonl", "parquet"))


def test_a_view_is_exported_as_it_is_asked(sample: Service, tmp_path: Path) -> None:
    """S3: a person's own changes: gone, changed, and new entities and relations."""
    base = {item.id: item for item in sample_statements()}
    first, second, *_ = base
    spec = ViewSpec(
        Method.CUSTOM,
        changes=(
            Change(statement_id=first, remove=True),
            Change(statement_id=second, value=StringValue("not he")),
            Change(head="Q42", relation="knows", value=EntityValue("http://example.org/new")),
        ),
    )
    path = tmp_path / "view.jsonl"
    exported = exported_graph(sample, graph="kinds", view=ViewRef(spec=spec))
    report = export(exported, str(path))
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    statements = {row["statement"]: row for row in rows if "statement" in row}
    assert first not in statements
    assert second not in statements
    assert len(statements) == len(base)
    made = [row for id_, row in statements.items() if id_ not in base]
    assert all(row["statement"].startswith("exported-view:") for row in made)
    assert {(row["relation"], orjson.dumps(row["value"])) for row in made} == {
        ("P31", b'["s","not he"]'),
        ("knows", b'["e","http://example.org/new"]'),
    }
    assert {"entity": "http://example.org/new"} in rows
    back = load_back(report, sample.store, "back", tmp_path / "rejects")
    check_round_trip(report, back)
    # Views on the new graph can be told from what the exported view made.
    again = exported_graph(sample, graph="back", view=SWAPPED)
    check_round_trip(
        report=export(again, str(tmp_path / "again.jsonl")),
        back=load(tmp_path / "again.jsonl", store=sample.store, graph="third"),
    )


def test_a_file_that_was_cut_short_is_told(sample: Service, tmp_path: Path) -> None:
    path, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    export(exported_graph(sample, graph="kinds"), str(path))
    lines = path.read_bytes().splitlines(keepends=True)
    options = LoadOptions(rejects_path=tmp_path / "rejects.jsonl")
    cut.write_bytes(b"".join(lines[:-1]))
    report = load(cut, store=sample.store, graph="cut", options=options)
    check_text([reject.reason for reject in report.rejects])
    cut.write_bytes(b"".join(lines[:-2] + lines[-1:]))
    report = load(cut, store=sample.store, graph="cut", replace=True, options=options)
    check_text([reject.reason for reject in report.rejects])
    assert report.exit_code == 3


@pytest.mark.parametrize(
    "line",
    [
        b'{"statement":"a","head":"b"}',
        b'{"statement":"a","head":"b","relation":"c","value":["x"]}',
        b'{"statement":"","head":"b","relation":"c","value":["none"]}',
        b'{"statement":"a","head":"b","relation":"c","value":["none"],"rank":"x"}',
        b'{"entity":7}',
        b'{"graph-service":"graph-lines","version":2}',
        b'{"other":1}',
        b"[1]",
        b"{",
    ],
)
def test_a_bad_line_is_rejected_and_the_others_are_in(
    sample: Service, tmp_path: Path, line: bytes
) -> None:
    path = tmp_path / "bad.jsonl"
    export(exported_graph(sample, graph="kinds"), str(path))
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:3], line, *lines[3:], b""]))
    options = LoadOptions(rejects_path=tmp_path / "rejects.jsonl")
    report = load(path, store=sample.store, graph="back", options=options)
    assert [reject.line for reject in report.rejects] == [4]
    check_text(report.rejects[0].reason)
    assert report.graph is not None
    assert report.graph.fingerprints == sample.graph("kinds").fingerprints


def test_languages_are_chosen_when_the_lines_are_loaded(sample: Service, tmp_path: Path) -> None:
    path = tmp_path / "kinds.jsonl"
    export(exported_graph(sample, graph="kinds"), str(path))
    load(path, store=sample.store, graph="one", options=LoadOptions(languages=("ru",)))
    entity = sample.entities(["Q42"], graph="one").entities["Q42"]
    assert dict(entity.labels) == {"ru": "Дуглас Адамс"}
    assert not entity.descriptions
    assert not entity.aliases


def test_the_same_graph_makes_the_same_bytes(sample: Service, tmp_path: Path) -> None:
    """Neither the store's edition of the moment nor the time is in what is written."""
    for name in ("one.nt.gz", "two.nt.gz"):
        export(exported_graph(sample, graph="kinds"), str(tmp_path / name))
    one, two = ((tmp_path / name).read_bytes() for name in ("one.nt.gz", "two.nt.gz"))
    assert one == two
    assert gzip.decompress(one).count(b"\n") > len(sample_statements())
    back = load(tmp_path / "one.nt.gz", store=sample.store, graph="back")
    assert back.rejected == 0


def test_neo4j_keeps_apart_what_is_described_and_what_is_mentioned(
    service: Service, tmp_path: Path
) -> None:
    """An id alone may be all that a source says of an entity: that is no mention of it."""
    load_graph(
        service.store,
        "ids",
        [("Q1", "P1", "Q2"), ("Q1", "P2", "Q3"), ("Q4", "P1", "Q3")],
        # Q2 is described and mentioned, Q9 described alone; Q1 and Q3 are mentioned alone.
        [Entity("Q2"), Entity("Q9")],
    )
    names = (Entity("Q4", labels={"en": "four"}), Entity("P1", labels={"en": "leads to"}))
    with service.store.begin_load("ids", owner="test", source="names") as session:
        session.write(Batch(entities=names, terms_only=True, names_only=True))
        session.finish()
        info = session.publish()
    report = export(
        exported_graph(service, graph="ids"), str(tmp_path / "csv"), format=ExportFormat.NEO4J_CSV
    )
    assert report.fingerprints == info.fingerprints
    assert standings_of(tmp_path / "csv") == {
        "P1": ("", "true"),
        "Q1": ("true", ""),
        "Q2": ("", ""),
        "Q3": ("true", ""),
        "Q4": ("", "true"),
        "Q9": ("", ""),
    }
    (edition,) = csv_rows(tmp_path / "csv" / "edition.csv")
    assert json.loads(edition["counts"]) == asdict(info.counts)


def test_neo4j_counts_a_relation_with_names_alone_among_no_entities(
    service: Service, tmp_path: Path
) -> None:
    """P1 and P2 have names. P2 is a head too, P3 a value: both are entities."""
    load_graph(
        service.store, "ids", [("Q1", "P1", "Q2"), ("P2", "P1", "P3"), ("Q1", "P2", "Q3")], []
    )
    names = [Entity(id_, labels={"en": id_.lower()}) for id_ in ("P1", "P2", "Q2")]
    with service.store.begin_load("ids", owner="test", source="names") as session:
        session.write(Batch(entities=names, terms_only=True, names_only=True))
        session.finish()
        info = session.publish()
    folder = tmp_path / "csv"
    export(exported_graph(service, graph="ids"), str(folder), format=ExportFormat.NEO4J_CSV)
    (edition,) = csv_rows(folder / "edition.csv")
    assert json.loads(edition["counts"]) == asdict(info.counts)
    (rows,) = (row["rows"] for row in csv_rows(folder / "pages.csv") if row["kind"] == "e")
    page = unpack(rows, ENTITY_ROW)
    assert dict(zip(page["key"].tolist(), page["bare"].tolist(), strict=True)) == {
        key64("P1"): NAMED_RELATION,
        key64("P2"): NAMED,
        key64("P3"): MENTIONED,
        key64("Q1"): MENTIONED,
        key64("Q2"): NAMED,
        key64("Q3"): MENTIONED,
    }


def test_neo4j_export_of_an_empty_graph(service: Service, tmp_path: Path) -> None:
    load_graph(service.store, "nothing", [], [])
    folder = tmp_path / "csv"
    report = export(
        exported_graph(service, graph="nothing"), str(folder), format=ExportFormat.NEO4J_CSV
    )
    assert (report.entities, report.statements) == (0, 0)
    assert csv_rows(folder / "pages.csv") == []


def test_memory_of_an_export_for_neo4j_does_not_grow_with_the_graph(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_file, "RUN_ROWS", 500)
    monkeypatch.setattr(journal_file, "BLOCK_PAGE_BITS", 0)
    load_graph(service.store, "one", [("Q1", "P1", "Q2")], [])
    info = service.graph("one")
    peaks = []
    # The first one pays what is paid once.
    for count in (250, 2_000, 8_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        tracemalloc.start()
        with bulk_csv.Neo4jCsvWriter(folder, info) as writer:
            for start in range(0, count, 250):
                numbers = range(start, start + 250)
                writer.entities([Entity(f"Q{number}") for number in numbers])
                writer.statements(
                    [make_statement(f"Q{n}", "P1", EntityValue(f"Q{n // 2}")) for n in numbers]
                )
            writer.finish({})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 2 * peaks[1]


def test_neo4j_keeps_what_a_view_takes_the_last_statement_of(
    service: Service, tmp_path: Path
) -> None:
    load_graph(service.store, "ids", [(f"Q{n}", "P1", f"Q{n + 1}") for n in range(1, 9, 2)])
    exported = exported_graph(
        service,
        graph="ids",
        view=ViewRef(spec=ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=1)),
    )
    report = export(exported, str(tmp_path / "csv"), format=ExportFormat.NEO4J_CSV)
    assert (report.entities, report.statements) == (8, 2)
    assert {*standings_of(tmp_path / "csv").values()} == {("", "")}


def standings_of(folder: Path) -> dict[str, tuple[str, str]]:
    rows = csv_rows(folder / "entities.csv")
    return {row["id"]: (row["bare:boolean"], row["named:boolean"]) for row in rows}


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Broken(ExportedGraph):
    """A graph whose store fails in the middle."""

    def statements(self, *, in_order: bool = True) -> Iterator[Sequence[Statement]]:
        yield next(super().statements(in_order=in_order))
        raise StoreUnavailableError("the store went away")


def test_an_export_that_fails_leaves_what_was_there(sample: Service, tmp_path: Path) -> None:
    """Kill-safe: under the name stands a whole export or nothing."""
    info = sample.graph("kinds")
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ("a.jsonl", "b.nt", "csv"):
        format_ = ExportFormat.NEO4J_CSV if name == "csv" else None
        with pytest.raises(StoreUnavailableError):
            export(Broken(sample.store, info), str(folder / name), format=format_)
        assert list(folder.iterdir()) == []
        export(exported_graph(sample, graph="kinds"), str(folder / name), format=format_)
        before = read_all(folder / name)
        with pytest.raises(StoreUnavailableError):
            export(Broken(sample.store, info), str(folder / name), format=format_)
        assert read_all(folder / name) == before
        assert [path.name for path in folder.iterdir()] == [name]
        if name == "csv":
            for path in (folder / name).iterdir():
                path.unlink()
            (folder / name).rmdir()
        else:
            (folder / name).unlink()


def read_all(path: Path) -> dict[str, bytes]:
    paths = [path] if path.is_file() else sorted(path.iterdir())
    return {item.name: item.read_bytes() for item in paths}


def test_a_killed_export_leaves_nothing_under_the_name(tmp_path: Path) -> None:
    """kill -9: the next export writes over what was left beside."""
    out = tmp_path / "out.bin"
    code = """if True:
        import sys, time
        from graph_service.export.run import replaced
        with replaced(sys.argv[1]) as file:
            file.write(b"half"); file.flush(); print("now", flush=True); time.sleep(600)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    with raises(InputError), replaced(str(out)):
        pytest.fail("two processes write one file")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert [path.name for path in tmp_path.iterdir()] == [".out.bin.partial"]
    with replaced(str(out)) as file:
        file.write(b"ok")
    assert read_all(tmp_path / "out.bin") == {"out.bin": b"ok"}
    assert [path.name for path in tmp_path.iterdir()] == ["out.bin"]


def test_names_that_can_not_be_written(sample: Service, tmp_path: Path) -> None:
    exported = exported_graph(sample, graph="kinds")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("keep")
    sqlite3.connect(tmp_path / "store.db").execute("CREATE TABLE mine (x)").connection.close()
    store = (tmp_path / "store.db").read_bytes()
    os.mkfifo(tmp_path / "pipe")
    neo4j = ExportFormat.NEO4J_CSV
    for out, format_, message in (
        ("x.bin", None, "tells no format"),
        ("folder", ExportFormat.JSONL, "is a folder"),
        ("store.db", ExportFormat.JSONL, "is a database"),
        ("pipe", ExportFormat.JSONL, "is a device"),
        ("none/x.nt", None, "can't write"),
        ("folder", neo4j, "holds other files"),
        ("folder/mine.txt", neo4j, "is a file"),
        ("none/csv", neo4j, "can't make"),
    ):
        with pytest.raises(InputError, match=message):
            export(exported, str(tmp_path / out), format=format_)
    with pytest.raises(InputError, match="goes with tsv"):
        export(exported, str(tmp_path / "x.nt"), labels=str(tmp_path / "labels.tsv"))
    assert (tmp_path / "folder" / "mine.txt").read_text() == "keep"
    assert (tmp_path / "store.db").read_bytes() == store
    assert (tmp_path / "pipe").is_fifo()


def test_networkx_has_every_statement(sample: Service) -> None:
    """S6: parallel edges, directions and literals are kept; a simple digraph loses them."""
    import networkx

    exported = exported_graph(sample, graph="kinds", view=SWAPPED)
    arrays = sample.arrays(sample.graph("kinds"))
    made = to_networkx(sample, graph="kinds")
    assert isinstance(made, networkx.MultiDiGraph)
    assert made.number_of_edges() == arrays.edge_count
    assert made.number_of_nodes() == arrays.node_count
    assert made.nodes["Q42"] == {"kind": "entity", "label": "Douglas Adams"}
    found = {
        (head, facts["relation"], tail, key) for head, tail, key, facts in made.edges(keys=True, data=True)
    }  # fmt: skip
    for item in sample_statements():
        tail = item.value.id if isinstance(item.value, EntityValue) else item.id
        assert (item.head, item.relation, tail, item.id) in found
    assert exported.overlay is not None
    view = to_networkx(sample, graph="kinds", view=SWAPPED)
    assert view.graph["view"] == exported.view_id
    assert view.number_of_edges() == arrays.edge_count
    changed = {key for *_, key in view.edges(keys=True)} - {key for *_, key in found}
    assert changed == set(exported.overlay.statement_ids)
    assert to_networkx(sample, graph="kinds", languages=("ru",)).nodes["Q42"]["label"] == (
        "Дуглас Адамс"
    )


@pytest.fixture
def cli_store(
    demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_settings: Settings
) -> str:
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", demo_settings.vectors)
    monkeypatch.chdir(tmp_path)
    url = copy_store(demo_file, tmp_path)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", url)
    return url


def test_the_command_line_exports_and_loads_again(
    cli_store: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert {*EXPORT_FORMATS} == {*ExportFormat}
    assert main(["export", "demo.jsonl.gz", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["comes_back"] == "content"
    assert report["left_out"] == []
    assert main(["load", "demo.jsonl.gz", "--graph", "again", "--quiet"]) == 0
    with open_store(cli_store) as store:
        assert store.graph("again").fingerprints == store.graph("demo").fingerprints
        assert store.graph("again").fingerprints.content == report["content"]
    capsys.readouterr()
    assert (
        main(["export", "-", "--format", "ntriples", "--graph", "demo", "--view", "ed:0.5:1"]) == 0
    )
    captured = capsys.readouterr()
    check_line(captured.err, "statements whose id")
    assert captured.out.startswith("# demo@")
    assert main(["export", "demo.txt", "--graph", "demo"]) == 2
    assert "tells no format" in capsys.readouterr().err
    assert main(["export", "-", "--format", "jsonl", "--graph", "demo", "--json"]) == 2


def test_a_backup_is_taken_while_the_store_is_in_use(
    cli_store: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The copy is whole, is checked, and is not written over by mistake."""
    with open_store(cli_store) as store:
        load_open = store.begin_load("other", owner="test", source="test")
        assert main(["backup", "copy.db"]) == 0
        assert "checked" in capsys.readouterr().out
        load_open.abort()
        with open_store(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
            assert copy.graph("demo").fingerprints == store.graph("demo").fingerprints
            assert copy.entities(copy.graph("demo").edition, ["Q2685"]).entities
            copy.delete_graph("demo")
    assert main(["backup", "copy.db"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["backup", "graph.db", "--replace"]) == 2
    check_error(capsys.readouterr().err)
    assert main(["backup", "copy.db", "--replace"]) == 0
    with open_store(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
        assert [info.name for info in copy.graphs()] == ["demo"]
    assert main(["backup", "none/copy.db"]) == 2
    assert not [path.name for path in tmp_path.iterdir() if ".partial" in path.name]


def test_a_backup_of_a_damaged_file_is_refused(cli_store: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = bytes(4096)
    path.write_bytes(data)
    with open_store(cli_store) as store:
        assert isinstance(store, SqliteStore)
        with pytest.raises(StoreCorruptError):
            store.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
