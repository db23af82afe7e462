"""Which edges of a view count as best: a changed one as its base edge does, an added one does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graph_builder import build_graph, node_of

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.identity import key64
from graph_service.model.overlay import EdgeSet, Overlay
from graph_service.model.statement import Rank
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.retrieve.region.cut import extract_region
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay

IDS = ("one", "two", "three", "four")


def view_of(graph: KnowledgeGraph, extra: dict[str, tuple[str, str, str, int]]) -> Overlay:
    """A view without the base's edges; ``extra``: head, relation, tail and base edge by id."""
    ids = sorted(extra, key=key64)
    rows = [extra[id_] for id_ in ids]
    return Overlay(
        view_id="v",
        gone=EdgeSet.of(np.arange(graph.edge_count), graph.edge_count),
        head=np.array([graph.find_node(row[0]) for row in rows], dtype=np.int32),
        rel=np.array([graph.find_relation(row[1]) for row in rows], dtype=np.int32),
        tail=np.array([graph.find_node(row[2]) for row in rows], dtype=np.int32),
        rank=np.ones(len(ids), dtype=np.uint8),
        keys=np.array([key64(id_) for id_ in ids], dtype=np.int64),
        statement_ids=tuple(ids),
        base_edge=np.array([row[3] for row in rows], dtype=np.int32),
        best=np.array([row[3] < 0 or graph.best[row[3]] for row in rows], dtype=np.bool_),
        kinds=np.full(len(ids), 3, dtype=np.uint8),
    )


@pytest.mark.parametrize("best_only", [True, False])
def test_best_only_keeps_added_edges_and_changed_ones_whose_base_edge_is_best(
    best_only: bool,
) -> None:
    graph = build_graph(
        [("a", "p", "b"), ("a", "p", "c"), ("a", "q", "d"), ("a", "p", "e")],
        ranks={0: Rank.PREFERRED, 3: Rank.DEPRECATED},
        statement_ids=IDS,
    )
    edge = {id_: list(graph.statement_ids).index(id_) for id_ in IDS}
    assert [bool(graph.best[edge[id_]]) for id_ in IDS] == [True, False, True, False]
    # Changed: of the preferred p, of the normal p beside it, of the only q; and two new ones.
    view = view_of(
        graph,
        {
            "x1": ("a", "q", "b", edge["one"]),
            "x2": ("a", "q", "c", edge["two"]),
            "x3": ("a", "p", "d", edge["three"]),
            "x4": ("a", "q", "e", -1),
            "x5": ("b", "p", "a", -1),
        },
    )
    region = extract_region(
        graph, [node_of(graph, "a")], hops=1, max_edges=9, overlay=view, best_only=best_only
    )
    kept = {view.statement_ids[number - graph.edge_count] for number in region.edges.tolist()}
    assert kept == {"x1", "x3", "x4", "x5"} | (set() if best_only else {"x2"})


def test_best_only_keeps_what_a_view_adds_to_a_graph_without_edges() -> None:
    graph = build_graph([("a", "p", "b")])
    empty = build_graph([], extra_entities=["a", "b"])
    bare = replace(
        view_of(graph, {"x1": ("a", "p", "b", -1)}),
        gone=EdgeSet.of(np.arange(0), 0),
        head=np.array([empty.find_node("a")], dtype=np.int32),
        tail=np.array([empty.find_node("b")], dtype=np.int32),
    )
    region = extract_region(
        empty, [node_of(empty, "a")], hops=1, max_edges=9, overlay=bare, best_only=True
    )
    assert region.edge_count == 1


def test_best_only_keeps_what_is_best_once_a_view_has_made_the_graph_stale() -> None:
    graph = build_graph(
        [("a", "p", "b"), ("a", "p", "c"), ("a", "p", "d"), ("a", "q", "e"), ("a", "q", "f")],
        ranks={0: Rank.PREFERRED, 2: Rank.DEPRECATED, 3: Rank.PREFERRED, 4: Rank.DEPRECATED},
    )

    def ends(level: float) -> set[str]:
        delta, _ = make_delta(graph, ViewSpec(Method.STALE, level=level))
        view = lay(graph, delta, view_id="v")
        region = extract_region(
            graph, [node_of(graph, "a")], hops=1, max_edges=9, overlay=view, best_only=True
        )
        return {graph.node_ids[node] for node in region.nodes[region.tail].tolist()}

    assert ends(0.0) == {"b", "e"}
    # b was preferred and goes: c is best then, and d, which was deprecated, beside it. f returns
    # beside e, which is preferred still.
    assert ends(1.0) == {"c", "d", "e"}
