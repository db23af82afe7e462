"""Deviation that an engine measures is one machine's to 1e-9, for each method that it draws (O11, B19)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from cluster_graph import Both, check_deviation, spec_of

from graph_service.cluster import deviation
from graph_service.cluster.delta import read_view
from graph_service.cluster.deviation import measure_view
from graph_service.cluster.graph import ClusterGraph
from graph_service.cluster.views import METHODS, ClusterView, create_view
from graph_service.errors import InputError
from graph_service.model.view_spec import Method, Scope, ViewSpec

KEEP_ENDS = (Method.RELATION_REPLACEMENT, Method.RELATION_SWAPPING)


@pytest.mark.parametrize("method", METHODS)
def test_the_deviation_of_a_view_is_one_machines(
    graph: ClusterGraph,
    drawn: Callable[[Method], ClusterView],
    both: Both,
    tmp_path: Path,
    method: Method,
) -> None:
    view = read_view(copytree(drawn(method).folder, tmp_path / "view"))
    measured = check_deviation(graph, both, view)
    assert measured.ats != measured.ats_base
    # Neither degrees nor triangles have a direction, and a degree counts all relations.
    is_turned = method is Method.INVERSION
    assert (measured.sc2d == 1.0) == is_turned
    assert (measured.sd2 == 1.0) == (is_turned or method in KEEP_ENDS)


def test_hubs_change_no_bit(
    graph: ClusterGraph, both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ends of 3 edges are broadcast and their pairs are salted; the figures stay the same bits."""
    view = create_view(graph, spec_of(Method.EDGE_REWIRING, 0.5, 2), tmp_path / "view")
    usual = check_deviation(graph, both, view)
    monkeypatch.setattr(deviation, "HEAVY", 3)
    monkeypatch.setattr(deviation, "SALTS", 5)
    assert check_deviation(graph, both, view) == usual


def test_nothing_is_left_of_a_relation_and_of_the_graph(
    graph: ClusterGraph, both: Both, tmp_path: Path
) -> None:
    scope = Scope(relation_ids=("P1",))
    spec = ViewSpec(Method.EDGE_DELETION, level=1.0, scope=scope)
    check_deviation(graph, both, create_view(graph, spec, tmp_path / "relation"))
    everything = replace(spec, scope=Scope())
    measured = check_deviation(graph, both, create_view(graph, everything, tmp_path / "all"))
    assert (measured.ats, measured.ats_edges) == (0.0, 0)


def test_a_view_of_another_graph_is_refused(
    graph: ClusterGraph, both: Both, tmp_path: Path
) -> None:
    view = create_view(graph, ViewSpec(Method.EDGE_DELETION, level=0.1), tmp_path / "view")
    with pytest.raises(InputError, match="edges 000000000000"):
        measure_view(graph, replace(view, edges="0" * 48))
