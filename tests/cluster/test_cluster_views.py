"""Views that an engine draws are one machine's, bit for bit: ids, deltas, reports (O10, B3, B19)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_graph import Both, spec_of

from graph_service.cluster.delta import read_delta, read_view, store_view
from graph_service.cluster.deviation import measure_view
from graph_service.cluster.graph import ClusterGraph, open_graph
from graph_service.cluster.views import METHODS, ClusterView, create_view
from graph_service.errors import InputError
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.views.codec import encode_delta
from graph_service.views.delta import make_delta


def check(graph: ClusterGraph, both: Both, spec: ViewSpec, out: Path) -> None:
    check_drawn(create_view(graph, spec, out), both)


def check_drawn(made: ClusterView, both: Both) -> None:
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


@pytest.mark.parametrize("method", METHODS)
def test_a_view_is_one_machines(
    drawn: Callable[[Method], ClusterView], both: Both, method: Method
) -> None:
    check_drawn(drawn(method), both)


@pytest.mark.parametrize("method", [Method.INVERSION, Method.CONTRADICTION])
def test_what_cannot_change_is_noted_as_on_one_machine(
    graph: ClusterGraph, both: Both, tmp_path: Path, method: Method
) -> None:
    """At level 1 nothing is left for some edges, and what each gets depends on those before it."""
    spec = spec_of(method, 1.0, 3)
    check(graph, both, spec, tmp_path / "view")
    assert any("can be changed" in note for note in read_view(tmp_path / "view").report.notes)


def test_a_scope_of_relations_and_a_count(graph: ClusterGraph, both: Both, tmp_path: Path) -> None:
    scope = Scope(relation_ids=("P2", "P6"))
    for count in (5, 100_000):
        spec = ViewSpec(Method.EDGE_DELETION, count=count, random_seed=1, scope=scope)
        check(graph, both, spec, tmp_path / "view")
    with pytest.raises(InputError, match="has no relation 'P77'"):
        create_view(
            graph,
            ViewSpec(Method.EDGE_DELETION, count=1, scope=Scope(relation_ids=("P77",))),
            tmp_path / "other",
        )


def test_a_view_goes_into_the_store_of_its_graph(
    graph: ClusterGraph, both: Both, tmp_path: Path
) -> None:
    spec = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=11)
    create_view(graph, spec, tmp_path / "view")
    view = read_view(tmp_path / "view")
    store = both.service.store
    stored = store_view(view, store, both.arrays, name="half")
    assert (stored.id, stored.reused, stored.deviation) == (view.id, False, None)
    # Measured later: a view that is there gets its deviation.
    deviation = measure_view(graph, view)
    again = store_view(view, store, both.arrays)
    assert (again.id, again.reused, again.name) == (view.id, True, "half")
    assert again.deviation == deviation
    # The store does not measure it again: its own figures have the accuracy of the scorer too.
    (listed,) = (each for each in both.service.views.list(graph="made") if each.id == view.id)
    assert listed.deviation == deviation
    created = both.service.views.create(spec, graph="made")
    assert (created.id, created.reused, created.deviation) == (view.id, True, deviation)
    (tmp_path / "view" / "view.json").write_text("{")
    with pytest.raises(InputError, match="no whole view of a cluster"):
        read_view(tmp_path / "view")


@pytest.mark.parametrize("method", sorted(set(Method) - set(METHODS)))
def test_methods_that_walk_one_after_another_are_refused_by_name(
    graph: ClusterGraph, tmp_path: Path, method: Method
) -> None:
    with pytest.raises(InputError):
        create_view(graph, ViewSpec(method, level=0.3), tmp_path / "view")
    assert not (tmp_path / "view").exists()


def test_nothing_but_a_view_is_written_over(
    graph: ClusterGraph, both: Both, tmp_path: Path
) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        create_view(graph, ViewSpec(Method.EDGE_DELETION, level=0.1), out)
    assert (out / "mine.txt").read_text() == "mine"
    shutil.rmtree(out)
    with pytest.raises(InputError, match=r"it has no graph\.json"):
        open_graph(graph.session, tmp_path)
