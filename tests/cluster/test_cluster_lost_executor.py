"""Loads, views and figures of Spark are one machine's after an executor's SIGKILL (B19)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import cluster_lost_executor
import orjson
import pytest
from cluster_loads import rows_of, write_triples
from cluster_lost_executor import GRAPH, KILLED, SPEC, VIEW

from graph_service import open_service
from graph_service.cluster.delta import read_delta, read_view
from graph_service.cluster.views import DEVIATION_FILE
from graph_service.export import export, exported_graph
from graph_service.model.serialise import from_plain
from graph_service.model.stored_view import Deviation
from graph_service.settings import Settings
from graph_service.store.parquet import ENTITIES, STATEMENTS, read_manifest
from graph_service.views.codec import encode_delta
from graph_service.views.delta import make_delta
from loaders.load import load
from loaders.options import LoadOptions


@pytest.mark.skipif(
    not os.environ["GRAPH_SERVICE_TEST_CLUSTER"].startswith("local["),
    reason="Sail has no executors, and those of a server are not ours",
)
def test_a_lost_executor_changes_no_bit(tmp_path: Path) -> None:
    source = tmp_path / "made.nt"
    write_triples(source)
    program = [sys.executable, cluster_lost_executor.__file__, str(source), str(tmp_path)]
    subprocess.run(program, check=True)
    killed = (tmp_path / KILLED).read_text().split()
    assert killed == ["read", STATEMENTS, "view", "deviation"]

    with open_service(f"sqlite:///{tmp_path / 'made.db'}", settings=Settings()) as service:
        options = LoadOptions(workers=0, rejects_path=tmp_path / "rejects.jsonl")
        load(source, store=service.store, graph="made", options=options)
        export(exported_graph(service, graph="made"), str(tmp_path / "made.parquet"))
        for table in (STATEMENTS, ENTITIES):
            assert rows_of(tmp_path / GRAPH, table).equals(
                rows_of(tmp_path / "made.parquet", table)
            )
        manifest, expected_manifest = (
            read_manifest(tmp_path / name) for name in (GRAPH, "made.parquet")
        )
        assert manifest is not None
        assert expected_manifest is not None
        assert (manifest.edges, manifest.content) == (
            expected_manifest.edges,
            expected_manifest.content,
        )
        arrays = service.arrays(service.graph("made"))
        view = read_view(tmp_path / VIEW)
        delta, report = make_delta(arrays, SPEC)
        assert view.report == report
        assert encode_delta(arrays, read_delta(view, arrays)) == encode_delta(arrays, delta)
        measured = from_plain(
            Deviation, orjson.loads((tmp_path / VIEW / DEVIATION_FILE).read_bytes())
        )
        expected = service.views.create(SPEC, graph="made").deviation
        assert expected is not None
        for name in ("ats", "ats_base", "sc2d", "sd2"):
            assert getattr(measured, name) == pytest.approx(getattr(expected, name), abs=1e-9)
        assert measured.ats_edges == expected.ats_edges
