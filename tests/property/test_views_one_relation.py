"""Relation swapping where one relation holds most of what cannot be paired well (O10)."""

from __future__ import annotations

import numpy as np
import pytest
from graph_builder import build_graph

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.draw import Stream, ascending
from graph_service.views.pairs import PairIndex
from graph_service.views.swapping.method import pair_edges

MANY, PAIRS = 12, 12


def dominated() -> KnowledgeGraph:
    """12 parallel edges of relation a, which pair well with nothing, and 24 of b and c.

    Every swap of an a repeats x b y or x c y, so an a is only paired at the cost of a good pair.
    """
    triples = [("x", "a", "y")] * MANY + [("x", "b", "y"), ("x", "c", "y")]
    triples += [(f"u{i}", "bc"[i % 2], f"v{i}") for i in range(2 * PAIRS)]
    return build_graph(triples)


@pytest.mark.parametrize("seed", range(8))
def test_the_last_good_pairs_are_broken_for_a_relation_that_most_edges_have(seed: int) -> None:
    graph = dominated()
    index = PairIndex.build(graph)
    stream = Stream(seed, Method.RELATION_SWAPPING, 1)
    scope = np.flatnonzero(index.eligible).astype(np.int32)
    sequence = pair_edges(graph, scope, stream=stream, index=index, deadline=Deadline.none())
    assert sequence.count == graph.edge_count // 2
    # 12 a and two others are alone: 5 pairs of others are broken, so that 7 partners come.
    assert sequence.clean == PAIRS - 5
    place = np.empty(graph.edge_count, dtype=np.int64)
    order = ascending(stream.hashes(graph.statement_keys, at=scope, purpose="order"))
    place[scope[order]] = np.arange(graph.edge_count)
    good = place[np.stack([sequence.first, sequence.second])[:, : sequence.clean]].min(axis=0)
    forced = np.concatenate([sequence.first[sequence.clean :], sequence.second[sequence.clean :]])
    broken = forced[graph.head[forced] != graph.find_node("x")]
    assert len(broken) == 2 * 5
    assert good.max() < place[broken].min()


def test_levels_of_a_graph_that_one_relation_dominates_nest() -> None:
    graph = dominated()
    before: dict[int, int] = {}
    for pairs in range(1, graph.edge_count // 2 + 1):
        spec = ViewSpec(Method.RELATION_SWAPPING, count=2 * pairs, random_seed=3)
        delta, report = make_delta(graph, spec)
        now = dict(zip(delta.replaced.tolist(), delta.replaced_rel.tolist(), strict=True))
        assert len(now) == 2 * pairs
        assert before.items() < now.items()
        # The swaps that repeat a triple are the last.
        assert (report.unavoidable > 0) == (pairs > PAIRS - 5)
        before = now
