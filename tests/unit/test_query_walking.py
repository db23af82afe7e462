"""Walks over a view with many statements of its own."""

from __future__ import annotations

import numpy as np
import pytest
from graph_builder import build_graph

from graph_service.model.graph import RANK_CODES
from graph_service.model.limits import Deadline
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.query.algebra import Relation
from graph_service.query.result import QueryLimits
from graph_service.query.walking import Walker, Walks
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay


def test_a_walk_reads_no_values_of_the_statements_that_a_view_has_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = build_graph([(f"lift{i}", f"part{i % 2}", f"motor{i}") for i in range(40)])
    overlay = lay(
        graph, make_delta(graph, ViewSpec(Method.EDGE_REWIRING, level=1.0))[0], view_id="v"
    )
    assert len(overlay.head) == 40
    limits = QueryLimits()
    walker = Walker(
        graph, overlay, ranks=[*RANK_CODES.values()], limits=limits, deadline=Deadline.none()
    )
    reads: list[int] = []
    monkeypatch.setattr(Walker, "value", lambda _, node: reads.append(node))
    start = int(overlay.head[0])
    relation = Relation(graph.relation_ids[int(overlay.rel[0])])
    walks = walker.follow(Walks.at(np.array([start])), relation)
    assert int(overlay.tail[0]) in walks.targets.tolist()
    assert reads == []
