"""A load by a real engine is one machine's: rows, fingerprints, rejects, after a kill too (B19)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from cluster_loads import (
    check_load,
    document,
    rows_of,
    write_documents,
    write_rows,
    write_triples,
)
from neo4j_server import Neo4jMissingError, run_import, start_server

from graph_service.cluster.load_neo4j import import_command
from graph_service.cluster.load_tasks import SparkEngine
from graph_service.store import open_store
from graph_service.store.parquet import ENTITIES, STATEMENTS
from loaders.cluster import LoadSizes, cluster_load, read_target
from loaders.load import load
from loaders.options import LoadOptions
from queries.datasets.demo_set import demo_slice

FEW = LoadSizes(chunk_bytes=100_000, range_rows=10_000)
"""A handful of tasks: Spark takes a second for each on a busy machine."""


@pytest.fixture
def engine(session: Any) -> SparkEngine:
    return SparkEngine(session)


def test_the_demo(engine: SparkEngine, tmp_path: Path) -> None:
    check_load(demo_slice(), engine, tmp_path, sizes=FEW)


@pytest.mark.data
def test_codex_s(engine: SparkEngine, tmp_path: Path, data_dir: Path) -> None:
    report = check_load(data_dir / "codex" / "s-train.tsv", engine, tmp_path, sizes=FEW)
    assert report.graph is not None
    assert report.graph.counts.statements > 30_000


def test_triples_with_all_that_is_rejected_and_repeated(
    engine: SparkEngine, tmp_path: Path
) -> None:
    write_triples(tmp_path / "made.nt")
    report = check_load(tmp_path / "made.nt", engine, tmp_path, sizes=FEW)
    assert report.rejected > 100


def test_a_table_with_files_of_names(engine: SparkEngine, tmp_path: Path) -> None:
    write_rows(tmp_path / "made.tsv")
    (tmp_path / "labels.tsv").write_text("Q1\tone\ten\nQ9999\tunused\n", encoding="utf-8")
    options = LoadOptions(label_files=(tmp_path / "labels.tsv",))
    report = check_load(tmp_path / "made.tsv", engine, tmp_path, options=options, sizes=FEW)
    assert report.counts is not None
    assert report.counts.conflicting > 100


@pytest.mark.parametrize("packed", ["bz2", "gz"])
def test_packed_documents_that_come_again(engine: SparkEngine, tmp_path: Path, packed: str) -> None:
    documents: list[Any] = [
        document(f"Q{index}", [("1", "P1", f"Q{index + 1}")], lastrevid=1)
        for index in range(1, 1_500)
    ]
    documents += [
        "no JSON",
        document("Q1", [("2", "P1", "Q7000")], lastrevid=2),
        document("Q2", [("1", "P1", "Q7001")], lastrevid=0),
        document("Q3", [("1", "P1", "Q7002")], lastrevid=1),
        document("Q4", [("1", "P1", "Q5")], lastrevid=1),
    ]
    write_documents(tmp_path / f"made.json.{packed}", documents, packed=packed)
    report = check_load(tmp_path / f"made.json.{packed}", engine, tmp_path, sizes=FEW)
    counts = report.counts
    assert counts is not None
    assert (counts.removed, counts.outdated, counts.conflicting) == (1, 1, 1)
    assert counts.duplicates == 1


_KILLED = """
import os, signal, sys, threading, time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from graph_service.cluster.load_tasks import SparkEngine
from graph_service.cluster.session import open_session
from loaders.cluster import LoadSizes, cluster_load, read_target
from loaders.options import LoadOptions

source, out, engine, stage, count = sys.argv[1:]
count = int(count)
claims = Path(out).parent / "claims"
claims.mkdir()


@dataclass
class Held:
    # So many tasks of the stage are done, and all others wait for the end of this process.
    work: Any
    claims: str
    count: int
    driver: int

    def __call__(self, *arguments):
        for index in range(self.count):
            try:
                open(f"{self.claims}/{index}", "x").close()
            except FileExistsError:
                continue
            return self.work(*arguments)
        while True:
            # Raises when the driver is gone: the server may live on.
            os.kill(self.driver, 0)
            time.sleep(0.05)


def held(work):
    return Held(work, str(claims), count, os.getpid())


class HeldEngine(SparkEngine):
    def run_tasks(self, indices, work):
        super().run_tasks(indices, held(work) if stage == "read" else work)

    def run_ranges(self, ranges, work):
        held_work = held(work) if ranges.folders[0].name == stage else work
        super().run_ranges(ranges, held_work)


def watch():
    records = Path(out) / "_load" / "records" / stage
    while len(list(records.glob("*.json"))) < count:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)


threading.Thread(target=watch, daemon=True).start()


@contextmanager
def opened():
    with open_session(engine) as session:
        yield HeldEngine(session)


cluster_load(
    source,
    read_target("parquet:" + out),
    graph="made",
    options=LoadOptions(rejects_path=Path(out).parent / "killed.jsonl"),
    open_engine=opened,
    sizes=LoadSizes(chunk_bytes=1, range_rows=500),
)
"""


@pytest.mark.parametrize(("stage", "count"), [("read", 1), (STATEMENTS, 2), (ENTITIES, 1)])
def test_a_driver_that_is_killed_goes_on(
    engine: SparkEngine, address: str, tmp_path: Path, stage: str, count: int
) -> None:
    """B19: SIGKILL in each stage; what has a record is not done again, and the graph is the same."""
    write_triples(tmp_path / "made.nt")
    out = tmp_path / "killed.parquet"
    arguments = [str(tmp_path / "made.nt"), str(out), address, stage, str(count)]
    driver = subprocess.run([sys.executable, "-c", _KILLED, *arguments], check=False)
    assert driver.returncode == -signal.SIGKILL
    records = out / "_load" / "records"
    done = {path: path.stat().st_mtime_ns for path in records.rglob("*.json")}
    assert len(list((records / stage).iterdir())) == count
    assert not (out / "graph.json").exists()
    steps: list[tuple[str, int, int]] = []

    def progress(name: str, tasks: int, total: int) -> None:
        steps.append((name, tasks, total))
        for path, changed in done.items():
            assert path.stat().st_mtime_ns == changed

    report = cluster_load(
        str(tmp_path / "made.nt"),
        read_target(f"parquet:{out}"),
        graph="made",
        options=LoadOptions(rejects_path=tmp_path / "killed.jsonl"),
        open_engine=lambda: nullcontext(engine),
        progress=progress,
        sizes=LoadSizes(chunk_bytes=1, range_rows=500),
    )
    assert report.resumed
    assert [name for name, _, _ in steps if name != "read"] == [STATEMENTS, ENTITIES]
    other = check_load(tmp_path / "made.nt", engine, tmp_path, sizes=FEW)
    assert report.graph is not None
    assert other.graph is not None
    assert report.graph.fingerprints == other.graph.fingerprints
    for table in (STATEMENTS, ENTITIES):
        assert rows_of(out, table).equals(rows_of(tmp_path / "cluster.parquet", table))


def test_neo4j_imports_what_a_cluster_loaded(engine: SparkEngine, tmp_path: Path) -> None:
    """B19: the real import tool reads the files, and our store the graph."""
    write_rows(tmp_path / "made.tsv", rows=2_000)
    (tmp_path / "labels.tsv").write_text("Q1\tone\ten\nP1\trelation\n", encoding="utf-8")
    options = LoadOptions(
        label_files=(tmp_path / "labels.tsv",), rejects_path=tmp_path / "rejects.jsonl"
    )
    out = tmp_path / "csv"
    report = cluster_load(
        str(tmp_path / "made.tsv"),
        read_target(f"neo4j-import:{out}"),
        graph="made",
        options=options,
        open_engine=lambda: nullcontext(engine),
        sizes=FEW,
    )
    assert not (out / "_load").exists()
    command = import_command(out).split()
    assert command[:4] == ["neo4j-admin", "database", "import", "full"]
    with open_store(f"sqlite:///{tmp_path / 'made.db'}") as store:
        expected = load(tmp_path / "made.tsv", store=store, graph="made", options=options)

    def prepare(home: Path) -> None:
        run_import(home, command[4:])

    try:
        server = start_server(own=True, prepare=prepare)
    except Neo4jMissingError as reason:
        pytest.skip(str(reason))
    try:
        with open_store(server.url, username=server.username, password=server.password) as store:
            (info,) = store.graphs()
            assert report.graph is not None
            assert expected.graph is not None
            assert info.fingerprints == report.graph.fingerprints == expected.graph.fingerprints
            assert info.counts.statements == expected.graph.counts.statements
            assert info.counts.relations == expected.graph.counts.relations
            # A later load takes the same entities away as from the graph itself.
            with open_store(f"sqlite:///{tmp_path / 'made.db'}") as other:
                assert [
                    (entity.id, entity.standing, entity.labels)
                    for chunk in store.scan_entities(info.edition)
                    for entity in chunk
                ] == [
                    (entity.id, entity.standing, entity.labels)
                    for chunk in other.scan_entities(expected.graph.edition)
                    for entity in chunk
                ]
    finally:
        server.stop()


def test_the_command_line_loads(address: str, tmp_path: Path) -> None:
    """The documented command, in a process of its own."""
    (tmp_path / "made.tsv").write_text("Q1\tP1\tQ2\nQ2\tP1\tQ3\n", encoding="utf-8")
    command = [sys.executable, "-m", "graph_service.cli", "cluster", "load", "made.tsv"]
    command += ["--to", "parquet:made.parquet", "--graph", "made", "--remote", address, "--json"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["read"]["statements"] == 2
    with open_store(f"sqlite:///{tmp_path / 'made.db'}") as store:
        back = load(tmp_path / "made.parquet", store=store, graph="made")
        assert back.graph is not None
        assert back.graph.counts.statements == 2
