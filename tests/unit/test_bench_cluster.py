"""Graphs grown as columns for an engine and as arrays, and what commands on them used (B10, B19)."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
from cluster_graph import open_both, statements
from graphs import load_graph

from benchmarks.cluster import grow, measure_alone, measure_load, run_watched, shuffled_bytes
from benchmarks.grown_edges import COLUMNS, BaseEdges, grown_graph, write_parquet
from graph_service.model.view_spec import Method
from graph_service.store.parquet import STATEMENTS, read_manifest

SIZE = 5_000


@pytest.fixture(scope="module")
def base_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    with open_both(folder, lambda store: load_graph(store, "made", statements(), [])) as both:
        return both.folder


def test_files_and_arrays_are_of_the_same_graph(base_folder: Path, tmp_path: Path) -> None:
    base = BaseEdges.read(base_folder)
    write_parquet(base, SIZE, tmp_path / "grown.parquet", random_seed=1)
    manifest = read_manifest(tmp_path / "grown.parquet")
    assert manifest is not None
    assert manifest.statements == SIZE
    rows = pq.read_table(tmp_path / "grown.parquet" / STATEMENTS)
    assert rows.column_names == list(COLUMNS)
    keys, tails = rows["key"].to_numpy(), rows["tail_key"].to_numpy()
    assert len(np.unique(keys)) == len(set(rows["statement"].to_pylist())) == SIZE
    assert len(np.unique(tails)) == len(set(rows["tail"].to_pylist()))
    graph = grown_graph(base, SIZE, random_seed=1)
    assert set(graph.statement_keys.tolist()) == set(keys.tolist())
    degrees, degrees_of_arrays = (
        sorted(np.unique(nodes, return_counts=True)[1].tolist()) for nodes in (tails, graph.tail)
    )
    assert degrees == degrees_of_arrays


def test_hubs_grow_with_the_graph(base_folder: Path) -> None:
    base = BaseEdges.read(base_folder)
    most = np.bincount(base.tail).max()
    graph = grown_graph(base, 5 * len(base.keys), random_seed=1)
    assert np.bincount(graph.tail).max() > 2 * most


def test_one_machine_draws_and_measures_a_grown_graph(base_folder: Path, tmp_path: Path) -> None:
    fields = {"no_parquet": True, "no_snapshot": False, "random_seed": 1}
    list(grow(argparse.Namespace(source=base_folder, statements=SIZE, to=tmp_path, **fields)))
    options = argparse.Namespace(
        source=tmp_path / "grown.snapshot",
        base=base_folder,
        statements=SIZE,
        work=("create", "deviation"),
        method=Method.EDGE_DELETION,
    )
    figures = list(measure_alone(options))
    assert [each["work"] for each in figures if "work" in each] == [
        "create",
        "measure the base",
        "measure the view",
    ]
    (changed,) = (each["changed"] for each in figures if "changed" in each)
    assert (changed, figures[-1]["ats_edges"]) == (0.3 * SIZE, 0.7 * SIZE)
    options.method, options.work = Method.RELATION_SWAPPING, ("create",)
    assert list(measure_alone(options))[-1]["changed"] == 0.3 * SIZE


def test_a_load_on_one_machine_is_measured(tmp_path: Path) -> None:
    (tmp_path / "made.tsv").write_text("Q1\tP1\tQ2\nQ2\tP1\tQ3\n", encoding="utf-8")
    options = argparse.Namespace(source=tmp_path / "made.tsv", to=tmp_path / "out", remote=None)
    *works, loaded = measure_load(options)
    assert [each["work"] for each in works] == ["load", "export"]
    assert all(each["processor_s"] > 0 for each in works)
    manifest = read_manifest(tmp_path / "out" / "loaded.parquet")
    assert manifest is not None
    assert (loaded["statements"], loaded["content"]) == (2, manifest.content)
    assert loaded["parquet_mb"] > 0


def test_what_a_command_and_its_children_used_is_counted() -> None:
    burn = "import time\nwhile time.process_time() < 0.4: pass\ntime.sleep(0.4)"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}])"
    usage = run_watched([sys.executable, "-c", code], {})
    # The kernel counts in ticks of 10 ms.
    assert sum(usage.by_process.values()) >= 0.38
    assert len(usage.by_process) == 2
    assert usage.resident > 5 << 20
    with pytest.raises(subprocess.CalledProcessError):
        run_watched([sys.executable, "-c", "raise SystemExit(3)"], {})


def test_shuffled_bytes_are_those_of_all_tasks(tmp_path: Path) -> None:
    task = {"Event": "SparkListenerTaskEnd"}
    written = {"Task Metrics": {"Shuffle Write Metrics": {"Shuffle Bytes Written": 70}}}
    events = [task | written, {"Event": "SparkListenerJobEnd"}, task, task | written]
    (tmp_path / "local-1").write_bytes(b"\n".join(map(orjson.dumps, events)))
    assert shuffled_bytes(tmp_path) == 140
