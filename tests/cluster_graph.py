"""A graph on one machine and as Parquet files, with what views have trouble with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pytest

from graph_service import Service, open_service
from graph_service.cluster.delta import read_delta, read_view
from graph_service.cluster.deviation import measure_view
from graph_service.cluster.graph import ClusterGraph
from graph_service.cluster.views import ClusterView
from graph_service.export import export, exported_graph
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.serialise import to_plain
from graph_service.model.statement import Rank, Statement, make_statement
from graph_service.model.stored_view import Deviation
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_spec import Cardinality, Method, ViewSpec
from graph_service.settings import Settings
from graph_service.store import Store
from graph_service.views.codec import encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.measure.deviation import BaseMeasure, measure
from graph_service.views.overlay import lay
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.counting import CountScorer


def statements() -> list[Statement]:
    """Classes, a crowd of parallel and inverse edges, literals, deprecated ones, twins."""
    chance = random.Random(5)
    made = [make_statement(f"Q{n}", "P31", EntityValue(f"Q{900 + n % 7}")) for n in range(1, 120)]
    for _ in range(700):
        head, tail = chance.randrange(1, 160), chance.randrange(1, 160)
        relation = f"P{chance.choice((1, 1, 1, 2, 3, 4, 5))}"
        rank = Rank.DEPRECATED if chance.random() < 0.1 else Rank.NORMAL
        made.append(make_statement(f"Q{head}", relation, EntityValue(f"Q{tail}"), rank=rank))
        if chance.random() < 0.1:
            made.append(make_statement(f"Q{tail}", relation, EntityValue(f"Q{head}")))
        if chance.random() < 0.1:
            # The same triple under another id.
            value = EntityValue(f"Q{tail}")
            made.append(make_statement(f"Q{head}", relation, value, id=f"twin-{len(made)}"))
    # A pool of two members, in which little is left to choose, and for some nothing.
    made += [make_statement(f"Q{n}", "P6", EntityValue(f"Q{n % 2 + 300}")) for n in range(1, 12)]
    made += [make_statement(f"Q{n}", "P6", EntityValue(f"Q{(n + 1) % 2 + 300}")) for n in (1, 2, 3)]
    made += [make_statement(f"Q{n}", "P9", StringValue(f"text {n}")) for n in range(1, 40)]
    return list({item.id: item for item in made}.values())


@dataclass(frozen=True)
class Both:
    """A graph on one machine, and its Parquet files."""

    service: Service
    arrays: KnowledgeGraph
    folder: Path


@contextmanager
def open_both(folder: Path, load: Callable[[Store], object], /) -> Iterator[Both]:
    """Loads graph ``made`` into a store in a folder, and writes it as Parquet beside it."""
    with open_service(f"sqlite:///{folder / 'graph.db'}", settings=Settings()) as service:
        load(service.store)
        export(exported_graph(service, graph="made"), str(folder / "made.parquet"))
        yield Both(service, service.arrays(service.graph("made")), folder / "made.parquet")


def spec_of(method: Method, level: float, random_seed: int) -> ViewSpec:
    spec = ViewSpec(method, level=level, random_seed=random_seed)
    return replace(spec, cardinality=Cardinality.ANY) if method is Method.CONTRADICTION else spec


def check_drawn(made: ClusterView, both: Both) -> None:
    """Compares the view in a folder with what one machine draws, bit for bit."""
    out = made.folder
    delta, report = make_delta(both.arrays, made.spec)
    view = read_view(out)
    assert view == made
    assert view.id == made.spec.identity(both.arrays.fingerprints.edges)
    assert view.report == report
    assert encode_delta(both.arrays, read_delta(view, both.arrays)) == encode_delta(
        both.arrays, delta
    )
    assert sorted(path.name for path in out.iterdir()) == ["changes", "view.json"]


def check_deviation(graph: ClusterGraph, both: Both, view: ClusterView) -> Deviation:
    """Measures a view by an engine and compares it with one machine's figures, to 1e-9."""
    out = view.folder
    measured = measure_view(graph, view)
    arrays = both.arrays
    index = PairIndex.build(arrays)
    base = BaseMeasure.of(arrays, scorer=CountScorer.build(arrays, index=index), index=index)
    expected = measure(arrays, lay(arrays, read_delta(view, arrays), view_id=view.id), base)
    for name in ("ats", "ats_base", "sc2d", "sd2"):
        assert getattr(measured, name) == pytest.approx(getattr(expected, name), rel=0, abs=1e-9)
    assert (measured.ats_edges, measured.unscored, measured.scorer) == (
        expected.ats_edges,
        expected.unscored,
        expected.scorer,
    )
    assert orjson.loads((out / "deviation.json").read_bytes()) == to_plain(measured)
    assert sorted(path.name for path in out.iterdir()) == ["changes", "deviation.json", "view.json"]
    return measured
