"""Views that an engine draws are one machine's, bit for bit: ids, deltas, reports (O10, B3, B19)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_graph import Both, check_drawn, open_both, spec_of
from graphs import load_graph

from graph_service.cluster.delta import read_view, store_view
from graph_service.cluster.deviation import measure_view
from graph_service.cluster.graph import ClusterGraph, open_graph
from graph_service.cluster.views import METHODS, ClusterView, create_view
from graph_service.errors import InputError
from graph_service.model.statement import Rank, make_statement
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import Cardinality, Method, Sampling, Scope, ViewSpec


def check(graph: ClusterGraph, both: Both, spec: ViewSpec, out: Path) -> None:
    check_drawn(create_view(graph, spec, out), both)


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


@pytest.mark.parametrize("kind", [Cardinality.FUNCTIONAL, Cardinality.SEVERAL])
def test_contradictions_beside_relations_of_one_value_or_several(
    graph: ClusterGraph, both: Both, tmp_path: Path, kind: Cardinality
) -> None:
    spec = ViewSpec(Method.CONTRADICTION, level=0.5, random_seed=3, cardinality=kind)
    check(graph, both, spec, tmp_path / "view")
    report = read_view(tmp_path / "view").report
    assert report.counts["added"]
    assert f"are not {kind.value}" in report.notes[0]


def test_replacement_where_the_base_says_all_relations(session: Any, tmp_path: Path) -> None:
    """Three relations between the same ends, several times, one of them deprecated."""
    made = [
        make_statement("Q1", f"P{number}", EntityValue("Q2"), id=f"crowd-{number}-{copy}")
        for number in (1, 2, 3)
        for copy in range(3)
    ]
    made.append(make_statement("Q4", "P2", EntityValue("Q9"), rank=Rank.DEPRECATED))
    made += [make_statement(f"Q{number}", "P1", EntityValue("Q9")) for number in range(3, 8)]
    made.append(make_statement("Q9", "P3", EntityValue("Q3")))
    with open_both(tmp_path, lambda store: load_graph(store, "made", made, [])) as both:
        graph = open_graph(session, both.folder)
        for level, scope in ((1.0, Scope()), (0.5, Scope()), (1.0, Scope(relation_ids=("P1",)))):
            spec = ViewSpec(Method.RELATION_REPLACEMENT, level=level, scope=scope)
            check(graph, both, spec, tmp_path / "view")
        report = read_view(tmp_path / "view").report
        assert report.unavoidable
        assert "more than half" in report.notes[-1]


def test_relations_of_a_graph_without_a_second_one(session: Any, tmp_path: Path) -> None:
    made = [make_statement("Q1", "P1", EntityValue(f"Q{number}")) for number in range(2, 5)]
    with open_both(tmp_path, lambda store: load_graph(store, "made", made, [])) as both:
        graph = open_graph(session, both.folder)
        for method, note in (
            (Method.RELATION_REPLACEMENT, "no second relation"),
            (Method.RELATION_SWAPPING, "more than half"),
        ):
            check(graph, both, ViewSpec(method, level=1.0), tmp_path / "view")
            assert note in read_view(tmp_path / "view").report.notes[-1]


@pytest.mark.parametrize("level", [0.1, 1.0])
@pytest.mark.parametrize("sampling", [Sampling.EXACT, Sampling.OKGQA])
def test_swapping_by_each_sampling(
    graph: ClusterGraph, both: Both, tmp_path: Path, sampling: Sampling, level: float
) -> None:
    """At level 1 pairs repeat triples, and are repaired along chains."""
    spec = ViewSpec(Method.RELATION_SWAPPING, level=level, random_seed=4, sampling=sampling)
    check(graph, both, spec, tmp_path / "view")


def test_swapping_where_triples_share_cells(
    graph: ClusterGraph, both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a graph of many parallel edges: the numbers of nodes and relations decide."""
    monkeypatch.setattr("graph_service.views.swapping.pairing.MAX_CELLS", 64)
    check(graph, both, ViewSpec(Method.RELATION_SWAPPING, level=1.0), tmp_path / "view")


def test_swapping_where_one_relation_has_most_edges(
    graph: ClusterGraph, both: Both, tmp_path: Path
) -> None:
    scope = Scope(relation_ids=("P1", "P6"))
    spec = ViewSpec(Method.RELATION_SWAPPING, level=1.0, scope=scope)
    check(graph, both, spec, tmp_path / "view")
    report = read_view(tmp_path / "view").report
    assert any("more than half" in note for note in report.notes)
    alone = ViewSpec(Method.RELATION_SWAPPING, level=1.0, scope=Scope(relation_ids=("P6",)))
    check(graph, both, alone, tmp_path / "view")


def test_a_scope_of_relations_and_a_count(graph: ClusterGraph, both: Both, tmp_path: Path) -> None:
    scope = Scope(relation_ids=("P2", "P6"))
    for count in (5, 100_000):
        spec = ViewSpec(Method.EDGE_DELETION, count=count, random_seed=1, scope=scope)
        check(graph, both, spec, tmp_path / "view")
    with pytest.raises(InputError, match="no relation 'P77'"):
        create_view(
            graph,
            ViewSpec(Method.EDGE_DELETION, count=1, scope=Scope(relation_ids=("P77",))),
            tmp_path / "other",
        )


@pytest.mark.parametrize(
    "method", [Method.EDGE_DELETION, Method.INVERSION, Method.RELATION_SWAPPING]
)
def test_a_view_that_changes_nothing(
    graph: ClusterGraph, both: Both, tmp_path: Path, method: Method
) -> None:
    check(graph, both, ViewSpec(method, level=0.0), tmp_path / "view")
    measured = measure_view(graph, read_view(tmp_path / "view"))
    assert (measured.ats, measured.sc2d, measured.sd2) == (measured.ats_base, 1.0, 1.0)


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
    with pytest.raises(InputError, match="no whole view"):
        read_view(tmp_path / "view")


@pytest.mark.parametrize("method", sorted(set(Method) - set(METHODS)))
def test_methods_that_a_cluster_does_not_draw_are_refused_by_name(
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
    with pytest.raises(InputError, match=r"no graph\.json"):
        open_graph(graph.session, tmp_path)
