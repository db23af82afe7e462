"""PageRank and figures of a region (O3) against networkx; prizes (O4), triplets (O5), presets."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from error_texts import raises
from retrieve_samples import region_of

from graph_service.errors import DeadlineError, InputError
from graph_service.model.limits import CutReason, Deadline
from graph_service.model.region import Region
from graph_service.model.result import RegionStats, Strategy
from graph_service.retrieve.preset import PrizePreset, resolve_preset
from graph_service.retrieve.prizes.triplets import best_triplets
from graph_service.retrieve.region.pagerank import personalised_pagerank, prune
from graph_service.retrieve.region.stats import region_stats
from graph_service.retrieve.region.transition_matrix import prepare_walk
from graph_service.retrieve.similarity import cosines, rank_prizes


def random_region(nodes: int, edges: int, seed: int) -> Region:
    generator = np.random.default_rng(seed)
    pairs = generator.integers(0, nodes, (edges, 2))
    return region_of(nodes, [(int(a), int(b)) for a, b in pairs], start_entities=(0, 3))


def as_networkx(region: Region) -> nx.MultiDiGraph[int]:
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    graph.add_nodes_from(range(region.node_count))
    graph.add_edges_from(zip(region.head.tolist(), region.tail.tolist(), strict=True))
    return graph


@pytest.mark.parametrize("walk", ["along", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_o3_pagerank_is_that_of_networkx(walk: str, seed: int) -> None:
    region = random_region(120, 260, seed)
    graph = as_networkx(region)
    if walk == "both":
        graph = nx.MultiDiGraph([*graph.edges(), *[(b, a) for a, b in graph.edges()]])
        graph.add_nodes_from(range(region.node_count))
    expected = nx.pagerank(
        _weighted(graph),
        alpha=0.85,
        personalization={0: 0.5, 3: 0.5},
        tol=1e-14,
        max_iter=1000,
    )
    found = personalised_pagerank(
        region.head,
        region.tail,
        node_count=region.node_count,
        start_entities=region.start_entities,
        walk=walk,
        tolerance=1e-9,
        max_iterations=300,
    )
    assert found.mass.sum() == pytest.approx(1.0)
    for node, mass in expected.items():
        assert found.mass[node] == pytest.approx(mass, abs=1e-7)


def _weighted(graph: nx.MultiDiGraph[int]) -> nx.DiGraph[int]:
    weighted: nx.DiGraph[int] = nx.DiGraph()
    weighted.add_nodes_from(graph)
    for a, b in graph.edges():
        before = weighted.get_edge_data(a, b, {"weight": 0.0})["weight"]
        weighted.add_edge(a, b, weight=before + 1.0)
    return weighted


def test_o3_pagerank_stops_at_an_absolute_change_and_starts_at_the_restart() -> None:
    region = region_of(2, [(0, 1)])
    # One step from (1, 0): restart .15 to node 0, .85 along the edge: change .85 + .85 = 1.7.
    one = personalised_pagerank(
        region.head,
        region.tail,
        node_count=2,
        start_entities=region.start_entities,
        max_iterations=1,
    )
    assert one.mass.tolist() == pytest.approx([0.15, 0.85])
    assert one.change == pytest.approx(1.7)
    # Dangling mass goes back: x0 = .15 + .85 x1, x1 = .85 x0, so x0 = .15 / (1 - .7225).
    end = personalised_pagerank(
        region.head, region.tail, node_count=2, start_entities=region.start_entities
    )
    assert end.change < 1e-6
    assert end.mass[0] == pytest.approx(1 / 1.85, abs=1e-5)


def test_o3_parallel_edges_weigh_together() -> None:
    region = region_of(3, [(0, 1), (0, 1), (0, 2)])
    one = personalised_pagerank(
        region.head,
        region.tail,
        node_count=3,
        start_entities=region.start_entities,
        max_iterations=1,
    )
    assert one.mass.tolist() == pytest.approx([0.15, 0.85 * 2 / 3, 0.85 / 3])


def test_hub_damping_prefers_the_node_of_lower_degree() -> None:
    region = region_of(3, [(0, 1), (0, 2)])
    found = personalised_pagerank(
        region.head,
        region.tail,
        node_count=3,
        start_entities=region.start_entities,
        walk="both",
        degrees=np.array([2, 100, 1]),
        hub_damping=0.5,
    )
    # Weights 100 ** -.5 = .1 and 1, so shares of .85 are 1/11 and 10/11; both lead back to 0,
    # whose mass is .15 + .85 ** 2 of itself.
    start = 0.15 / (1 - 0.85**2)
    expected = [start, start * 0.85 / 11, start * 8.5 / 11]
    assert found.mass.tolist() == pytest.approx(expected, abs=1e-6)
    assert found.change < 1e-6


def stepwise(
    edges: np.ndarray, weight: np.ndarray, restart: np.ndarray, tolerance: float, most: int
) -> tuple[np.ndarray, int, float]:
    """The walk of row O3 as it is defined, on a dense matrix."""
    n = len(restart)
    matrix = np.zeros((n, n))
    np.add.at(matrix, (edges[:, 1], edges[:, 0]), weight[edges[:, 1]])
    out = matrix.sum(axis=0)
    matrix = matrix / np.where(out > 0, out, 1.0)
    mass, change, steps = restart, np.inf, 0
    while steps < most and change >= tolerance:
        after = 0.85 * (matrix @ mass) + (0.15 + 0.85 * mass[out == 0].sum()) * restart
        mass, change, steps = after, float(np.abs(after - mass).sum()), steps + 1
    return mass, steps, change


@pytest.mark.parametrize("case", range(60))
def test_o3_pagerank_is_the_walk_step_by_step(case: int) -> None:
    """O3: dead ends, loops, parallel edges, nodes alone and several start entities, at any step."""
    generator = np.random.default_rng(case)
    n, m = int(generator.integers(1, 30)), int(generator.integers(0, 60))
    edges = generator.integers(0, n, (m, 2))
    if case % 3 == 0:  # Hardly any cycles.
        edges = edges[edges[:, 0] <= edges[:, 1]]
    start_entities = generator.permutation(n)[: generator.integers(1, 4)].astype(np.int32)
    restart = np.zeros(n)
    restart[start_entities] = 1 / len(start_entities)
    head, tail = edges[:, 0].astype(np.int32), edges[:, 1].astype(np.int32)
    most = (1, 2, 3, 100)[case % 4]
    along = personalised_pagerank(
        head, tail, node_count=n, start_entities=start_entities, max_iterations=most
    )
    mass, steps, change = stepwise(edges, np.ones(n), restart, 1e-6, most)
    assert along.iterations == steps
    assert along.mass == pytest.approx(mass, abs=1e-12)
    assert along.change == pytest.approx(change, rel=1e-6, abs=1e-12)
    degrees = generator.integers(1, 50, n)
    both = personalised_pagerank(
        head,
        tail,
        node_count=n,
        start_entities=start_entities,
        walk="both",
        degrees=degrees,
        hub_damping=0.5,
    )
    ways = np.concatenate((edges, edges[:, ::-1]))
    exact, _, _ = stepwise(ways, degrees**-0.5, restart, 1e-15, 2000)
    assert both.change < 1e-6
    assert np.abs(both.mass - exact).sum() < 1e-6 / 0.15


def test_o3_pagerank_does_not_depend_on_the_order_of_the_edges() -> None:
    generator = np.random.default_rng(5)
    edges = generator.integers(0, 70_000, (900, 2)).astype(np.int32)
    edges[:300] %= 40
    mixed = generator.permutation(edges)
    for walk in ("along", "both"):
        one, other = (
            personalised_pagerank(
                part[:, 0],
                part[:, 1],
                node_count=70_000,
                start_entities=np.array([3, 8], dtype=np.int32),
                walk=walk,
            )
            for part in (edges, mixed)
        )
        assert np.array_equal(one.mass, other.mass)


def test_pagerank_honours_the_deadline_and_needs_a_seed() -> None:
    region = random_region(10, 20, 0)
    with pytest.raises(DeadlineError, match="ranking"):
        personalised_pagerank(
            region.head,
            region.tail,
            node_count=10,
            start_entities=region.start_entities,
            deadline=Deadline.after(0.0),
        )
    with raises(InputError):
        personalised_pagerank(
            region.head, region.tail, node_count=10, start_entities=np.zeros(0, dtype=np.int32)
        )


def test_o3_prune_keeps_mass_and_seeds_and_says_what_it_cut() -> None:
    region = region_of(4, [(0, 1), (1, 2), (2, 3)], start_entities=(3,))
    kept = prune(region, np.array([0.5, 0.3, 1e-6, 1e-7]), min_mass=1e-5)
    assert kept.nodes.tolist() == [0, 1, 3]
    assert kept.edges.tolist() == [0]
    assert kept.start_entities.tolist() == [2]
    assert [(cut.what, cut.reason, cut.kept, cut.total) for cut in kept.cuts] == [
        ("nodes", CutReason.MASS, 3, 4)
    ]
    capped = prune(region, np.array([0.25, 0.25, 0.25, 0.25]), max_nodes=2)
    assert capped.nodes.tolist() == [0, 3]


@pytest.mark.parametrize("seed", range(5))
def test_o3_figures_are_those_of_networkx(seed: int) -> None:
    region = random_region(25, 40 * (seed + 1), seed)
    graph = as_networkx(region)
    simple: nx.Graph[int] = nx.Graph(graph)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    found = region_stats(region)
    assert (found.nodes, found.edges) == (graph.number_of_nodes(), graph.number_of_edges())
    assert found.clustering == pytest.approx(nx.average_clustering(simple))
    assert found.density == pytest.approx(nx.density(graph))
    assert found.mean_degree == pytest.approx(sum(d for _, d in graph.degree()) / 25)


def test_o3_figures_of_nothing_and_of_too_much() -> None:
    empty = region_stats(region_of(1, []))
    assert (empty.mean_degree, empty.clustering, empty.density) == (0.0, 0.0, 0.0)
    triangle = region_of(3, [(0, 1), (1, 2), (2, 0)])
    assert region_stats(triangle).clustering == 1.0
    assert region_stats(triangle, max_wedges=0).clustering is None
    assert region_stats(triangle, max_wedges=1).clustering == 1.0
    nothing = region_stats(region_of(0, [], start_entities=()))
    assert nothing == RegionStats(0, 0, 0.0, None, 0.0)


def test_a_walk_goes_along_edges_or_both_ways() -> None:
    with raises(InputError) as caught:
        prepare_walk(np.array([0]), np.array([1]), node_count=2, walk="against")
    assert caught.value.argument == "walk"


def test_o4_top_k_get_k_to_1_and_ties_go_by_key() -> None:
    like = np.array([0.5, 0.9, 0.5, 0.1, 0.5])
    keys = np.array([30, 1, 10, 2, 20])
    assert rank_prizes(like, 3, keys=keys).tolist() == [0.0, 3.0, 2.0, 0.0, 1.0]
    assert rank_prizes(like, 0, keys=keys).tolist() == [0.0] * 5


def test_o4_what_is_not_eligible_has_no_prize_and_takes_no_place() -> None:
    found = rank_prizes(
        np.array([0.9, 0.8, 0.7]),
        2,
        keys=np.arange(3),
        eligible=np.array([False, True, True]),
    )
    assert found.tolist() == [0.0, 2.0, 1.0]


def test_cosines_are_float64_rounded_to_five_digits() -> None:
    question = np.array([1.0, 0.0], dtype=np.float32)
    texts = np.array([[0.1234567, 0.9], [-1e-9, 1.0]], dtype=np.float32)
    found = cosines(question, texts)
    assert found.dtype == np.float64
    assert found.tolist() == [0.12346, 0.0]
    assert str(found[1]) == "0.0"
    assert len(cosines(question, np.zeros((0, 2), dtype=np.float32))) == 0


def test_o5_similarity_of_head_edge_and_tail_then_key() -> None:
    region = region_of(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    chosen = best_triplets(
        region,
        node_similarity=np.array([0.3, 0.1, -0.2, 0.1]),
        edge_similarity=np.array([0.0, 0.5, 0.7, 0.0]),
        limit=3,
    )
    # Sums .4, .4, .6 and .4: the third first, then those of the smaller keys.
    assert chosen.tolist() == [2, 0, 1]


def test_presets_resolve_and_check_their_bounds() -> None:
    okgqa = resolve_preset("okgqa")
    assert isinstance(okgqa, PrizePreset)
    assert (okgqa.name, okgqa.damping, okgqa.tolerance) == ("okgqa-2", 0.85, 1e-6)
    assert (okgqa.hops, okgqa.max_iterations, okgqa.min_mass) == (2, 100, 1e-5)
    assert (okgqa.top_nodes, okgqa.top_edges, okgqa.edge_cost) == (10, 10, 1.0)
    assert okgqa.hub_degree is None
    assert okgqa.max_path_length == 5, "paths of up to six nodes"
    limits = [resolve_preset("okgqa", strategy=one).limit for one in Strategy]
    assert limits == [10, 5, 1000]
    assert {resolve_preset("okgqa", strategy=one, limit=7).limit for one in Strategy} == {7}
    assert {resolve_preset("default", strategy=one).limit for one in Strategy} == {10}
    assert resolve_preset("Default", hops=None, limit=3).limit == 3
    assert "name" not in okgqa.parameters()
    for wrong, argument in (
        ({"hops": 0}, "hops"),
        ({"limit": 0}, "limit"),
        ({"limit": True}, "limit"),
        ({"edge_cost": -1.0}, "edge_cost"),
        ({"edge_cost": float("nan")}, "edge_cost"),
        ({"damping": 1.0}, "damping"),
        ({"taken_paths": 0}, "taken_paths"),
        ({"nothing": 1}, "nothing"),
        ({"top_nodes": 0, "top_edges": 0}, "top_nodes"),
    ):
        with pytest.raises(InputError) as caught:
            resolve_preset("okgqa", **wrong)
        assert caught.value.argument == argument
    with pytest.raises(InputError, match="okgqa"):
        resolve_preset("best")
