"""A view that a cluster drew goes into a store, with the deviation in its folder (O10, O11, B19)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from demo_graph import demo_service, demo_settings
from error_texts import raises

from graph_service import Service
from graph_service.cluster.delta import read_view, store_view
from graph_service.cluster.views import CHANGES, DEVIATION_FILE, REMOVED, VIEW_FILE, ClusterView
from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from graph_service.model.stored_view import Deviation
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.views.delta import make_delta

__all__ = ["demo_service", "demo_settings"]

MEASURED = Deviation(
    ats=0.5, ats_base=0.75, ats_edges=9, unscored=0, scorer="counts", sc2d=0.25, sd2=0.125
)


@pytest.fixture
def view(demo_service: Service, tmp_path: Path) -> Iterator[ClusterView]:
    """Edge deletion of the demo, as an engine writes it."""
    arrays = demo_service.arrays(demo_service.graph("demo"))
    spec = ViewSpec(Method.EDGE_DELETION, level=0.3, random_seed=4)
    delta, report = make_delta(arrays, spec)
    drawn = ClusterView(
        id=spec.identity(arrays.fingerprints.edges),
        spec=spec,
        report=report,
        graph=arrays.name,
        edges=arrays.fingerprints.edges,
        folder=tmp_path,
    )
    (tmp_path / VIEW_FILE).write_bytes(orjson.dumps(drawn.to_json()))
    (tmp_path / CHANGES).mkdir()
    heads, tails = arrays.head[delta.removed], arrays.tail[delta.removed]
    rows = {
        "key": arrays.statement_keys[delta.removed],
        "change": [REMOVED] * len(delta.removed),
        "head_key": arrays.node_keys[heads],
        "relation": [arrays.relation_ids[code] for code in arrays.rel[delta.removed]],
        "tail_key": arrays.node_keys[tails],
    }
    pq.write_table(pa.table(rows), tmp_path / CHANGES / "0.parquet")
    yield read_view(tmp_path)
    if drawn.id in {stored.id for stored in demo_service.views.list(graph="demo")}:
        demo_service.views.delete(drawn.id, graph="demo")


def test_the_deviation_of_the_cluster_is_stored(demo_service: Service, view: ClusterView) -> None:
    (view.folder / DEVIATION_FILE).write_bytes(orjson.dumps(to_plain(MEASURED)))
    arrays = demo_service.arrays(demo_service.graph("demo"))
    stored = store_view(view, demo_service.store, arrays)
    assert (stored.id, stored.deviation) == (view.id, MEASURED)
    assert demo_service.views.get(view.id, graph="demo").deviation == MEASURED


def test_a_stored_view_gets_a_deviation_that_is_measured_later(
    demo_service: Service, view: ClusterView
) -> None:
    arrays = demo_service.arrays(demo_service.graph("demo"))
    assert store_view(view, demo_service.store, arrays, name="ed30").deviation is None
    (view.folder / DEVIATION_FILE).write_bytes(orjson.dumps(to_plain(MEASURED)))
    assert store_view(view, demo_service.store, arrays).deviation == MEASURED
    stored = demo_service.views.get("ed30", graph="demo")
    assert (stored.id, stored.deviation) == (view.id, MEASURED)
    # What the store has stays.
    other = orjson.dumps(to_plain(replace(MEASURED, ats=0.625)))
    (view.folder / DEVIATION_FILE).write_bytes(other)
    assert store_view(view, demo_service.store, arrays).deviation == MEASURED


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"ats": 0.5}'])
def test_a_damaged_deviation_is_refused(
    demo_service: Service, view: ClusterView, content: bytes
) -> None:
    (view.folder / DEVIATION_FILE).write_bytes(content)
    arrays = demo_service.arrays(demo_service.graph("demo"))
    with raises(InputError):
        store_view(view, demo_service.store, arrays)
    assert view.id not in {stored.id for stored in demo_service.views.list(graph="demo")}
