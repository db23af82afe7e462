"""Deviation of views (O11): against networkx, one relation at a time."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from counted_deadline import CountedDeadline
from graph_builder import Triple, build_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.errors import DeadlineError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Rank
from graph_service.model.stored_view import Deviation
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_delta import ViewDelta, empty_delta
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.measure import clustering
from graph_service.views.measure.clustering import mean_clustering
from graph_service.views.measure.deviation import BaseMeasure, measure, similarity
from graph_service.views.overlay import lay
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.counting import CountScorer

DRAWN = [
    Method.RELATION_SWAPPING,
    Method.RELATION_REPLACEMENT,
    Method.EDGE_REWIRING,
    Method.EDGE_DELETION,
]
Edge = tuple[str, str, str]


@st.composite
def graphs(draw: st.DrawFn) -> KnowledgeGraph:
    """Few entities, so that triangles, loops and parallel edges are common."""
    nodes = draw(st.integers(1, 8))
    relations = draw(st.integers(1, 3))
    edge = st.tuples(
        st.integers(0, nodes - 1), st.integers(0, relations - 1), st.integers(0, nodes - 1)
    )
    rows: list[Triple] = [
        (f"e{h}", f"r{r}", f"e{t}") for h, r, t in draw(st.lists(edge, min_size=1, max_size=50))
    ]
    rows += [("e0", "note", StringValue("a"))] * draw(st.integers(0, 1))
    ranks = {0: Rank.DEPRECATED} if draw(st.booleans()) else {}
    return build_graph(rows, ranks=ranks)


def edges_after(graph: KnowledgeGraph, delta: ViewDelta) -> list[Edge]:
    """The view's triples in ids, entity-valued and not deprecated, worked out by hand."""
    replaced = {
        e: (r, t)
        for e, r, t in zip(
            delta.replaced.tolist(),
            delta.replaced_rel.tolist(),
            delta.replaced_tail.tolist(),
            strict=True,
        )
    }
    removed = set(delta.removed.tolist())
    found = []
    for edge in range(graph.edge_count):
        if edge in removed or graph.rank[edge] == 2:
            continue
        rel, tail = replaced.get(edge, (int(graph.rel[edge]), int(graph.tail[edge])))
        if tail < graph.entity_count:
            head = graph.node_ids[int(graph.head[edge])]
            found.append((head, graph.relation_ids[rel], graph.node_ids[tail]))
    return found


def by_networkx(edges: list[Edge], entities: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Mean clustering coefficient and mean degree of each entity over the relations."""
    relations = sorted({rel for _, rel, _ in edges})
    clustering, degree = np.zeros(len(entities)), np.zeros(len(entities))
    for relation in relations:
        simple: nx.Graph[str] = nx.Graph()
        multi: nx.MultiGraph[str] = nx.MultiGraph()
        for graph in (simple, multi):
            graph.add_nodes_from(entities)
            graph.add_edges_from((h, t) for h, rel, t in edges if rel == relation)
        coefficients = nx.clustering(simple, entities)
        assert isinstance(coefficients, dict)
        degrees = dict(multi.degree())
        clustering += [coefficients[entity] for entity in entities]
        degree += [degrees[entity] for entity in entities]
    return clustering / max(1, len(relations)), degree / max(1, len(relations))


def measured(graph: KnowledgeGraph, delta: ViewDelta) -> Deviation:
    index = PairIndex.build(graph)
    base = BaseMeasure.of(graph, scorer=CountScorer.build(graph, index=index), index=index)
    return measure(graph, lay(graph, delta, view_id="v"), base)


def similar(one: np.ndarray, other: np.ndarray) -> float:
    distance = math.dist(one, other)
    return 1 - distance / (distance + 1)


@pytest.mark.parametrize("method", DRAWN)
@settings(max_examples=60)
@given(graph=graphs(), seed=st.integers(0, 10**6), level=st.sampled_from([0.1, 0.3, 0.6, 1.0]))
def test_deviation_is_networkx_to_1e_12(
    method: Method, graph: KnowledgeGraph, seed: int, level: float
) -> None:
    """O11."""
    delta, _ = make_delta(graph, ViewSpec(method, level=level, random_seed=seed))
    found = measured(graph, delta)
    entities = [graph.node_ids[node] for node in range(graph.entity_count)]
    before, after = edges_after(graph, empty_delta(graph)), edges_after(graph, delta)
    base, view = by_networkx(before, entities), by_networkx(after, entities)
    assert found.sc2d == pytest.approx(similar(base[0], view[0]), abs=1e-12)
    assert found.sd2 == pytest.approx(similar(base[1], view[1]), abs=1e-12)
    scorer = CountScorer.build(graph)
    scores = [
        float(
            scorer.score(
                np.array([graph.find_node(head)], np.int32),
                np.array([graph.find_relation(rel)], np.int32),
                np.array([graph.find_node(tail)], np.int32),
            )[0]
        )
        for head, rel, tail in after
    ]
    assert found.ats_edges == len(after)
    assert found.ats == pytest.approx(sum(scores) / len(scores) if scores else 0.0, abs=1e-12)
    assert 0.0 <= found.sc2d <= 1.0
    assert 0.0 <= found.sd2 <= 1.0


@settings(max_examples=60)
@given(graph=graphs(), leaves=st.integers(1, 30), seed=st.integers(0, 100))
def test_edges_without_a_triangle_count_as_neighbours(
    graph: KnowledgeGraph, leaves: int, seed: int
) -> None:
    """O11: hubs with leaves, and relations in which no node is head and tail, beside triangles."""
    rows: list[Triple] = [
        (head, rel, tail) for head, rel, tail in edges_after(graph, empty_delta(graph))
    ]
    rows += [(f"leaf{i}", f"r{(seed + i) % 3}", f"e{seed * i % 5}") for i in range(leaves)]
    rows += [(f"left{i % 4}", "r0", f"right{i * seed % 5}") for i in range(leaves)]
    graph = build_graph(rows)
    entities = [graph.node_ids[node] for node in range(graph.entity_count)]
    expected, _ = by_networkx(edges_after(graph, empty_delta(graph)), entities)
    measured = mean_clustering(graph.head[:], graph.rel[:], graph.tail, graph.node_count)
    assert measured[: len(entities)] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(graph=graphs())
def test_the_base_itself_has_not_deviated(graph: KnowledgeGraph) -> None:
    """O11."""
    found = measured(graph, empty_delta(graph))
    assert (found.sc2d, found.sd2) == (1.0, 1.0)
    assert found.ats == found.ats_base


def test_deviation_by_hand() -> None:
    """O11: a triangle of r0 loses an edge; r1 has one edge, twice.

    Base, two relations: clustering 1/2 each for a, b, c. The view has none of it:
    d = sqrt(3/4), SC2D = 1 / (1 + d). Degrees lose 1/2 at a and at b: d = sqrt(1/2).
    """
    graph = build_graph(
        [("a", "r0", "b"), ("b", "r0", "c"), ("c", "r0", "a"), ("a", "r1", "d"), ("a", "r1", "d")],
        statement_ids=["S1", "S2", "S3", "S4", "S5"],
    )
    delta, _ = make_delta(graph, ViewSpec(Method.WITHHOLDING, statement_ids=("S1",)))
    found = measured(graph, delta)
    assert found.sc2d == pytest.approx(1 / (1 + math.sqrt(3 / 4)), abs=1e-15)
    assert found.sd2 == pytest.approx(1 / (1 + math.sqrt(1 / 2)), abs=1e-15)


def test_a_graph_without_edges_has_ats_0() -> None:
    """O11: the mean over relations is a zero vector then."""
    graph = build_graph([("a", "r", "b"), ("b", "r", "a")])
    delta, _ = make_delta(graph, ViewSpec(Method.EDGE_DELETION, level=1.0))
    found = measured(graph, delta)
    assert (found.ats, found.ats_edges) == (0.0, 0)
    assert found.sd2 == pytest.approx(1 / (1 + math.sqrt(8)))


def test_new_entities_and_relations_count_for_structure_and_are_left_out_of_ats() -> None:
    """O11: the scorer of the base knows nothing of them, and the figure says how many."""
    graph = build_graph([("a", "r", "b"), ("b", "r", "c"), ("c", "r", "a"), ("a", "r", "d")])
    changes = (
        Change(head="new", relation="r", value=EntityValue("a")),
        Change(head="a", relation="other", value=EntityValue("b")),
        Change(head="a", relation="r", value=StringValue("text")),
    )
    delta, _ = make_delta(graph, ViewSpec(Method.CUSTOM, changes=changes))
    found = measured(graph, delta)
    assert found.unscored == 2
    assert found.ats_edges == 4
    triples = edges_after(graph, empty_delta(graph))
    entities = [*(graph.node_ids[node] for node in range(graph.entity_count)), "new"]
    base = by_networkx(triples, entities)
    view = by_networkx([*triples, ("new", "r", "a"), ("a", "other", "b")], entities)
    assert found.sc2d == pytest.approx(similar(base[0], view[0]), abs=1e-12)
    assert found.sd2 == pytest.approx(similar(base[1], view[1]), abs=1e-12)


@settings(max_examples=30)
@given(graph=graphs(), edges=st.integers(1, 5), wedges=st.integers(1, 5))
def test_large_graphs_are_counted_in_parts(graph: KnowledgeGraph, edges: int, wedges: int) -> None:
    """O11: few relations and few wedges at a time change not a bit."""
    arrays = (graph.head[:], graph.rel[:], graph.tail, graph.node_count)
    whole = mean_clustering(*arrays)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clustering, "MAX_EDGES", edges)
        patch.setattr(clustering, "MAX_WEDGES", wedges)
        assert mean_clustering(*arrays).tolist() == whole.tolist()


def test_counting_triangles_gives_up_in_time() -> None:
    """O11."""
    graph = build_graph([(f"e{i}", "r", f"e{j}") for i in range(4) for j in range(i)])
    with pytest.raises(DeadlineError, match="triangles"):
        mean_clustering(
            graph.head[:], graph.rel[:], graph.tail, graph.node_count, deadline=CountedDeadline(2)
        )


def test_likeness_fills_the_shorter_vector_with_zeros() -> None:
    """O11: 1 - 5 / 6 for a distance of 5."""
    assert similarity(np.array([0.0, 3.0]), np.array([0.0, 0.0, 4.0])) == pytest.approx(1 / 6)
