"""Paths (O6) and trees (O7) against enumeration, on random small multigraphs."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from error_texts import check_text
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieve_samples import multigraphs, prizes, region_of

from graph_service.model.graph import Int64
from graph_service.model.limits import CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.prizes import subgraph
from graph_service.retrieve.prizes.paths import best_first_paths
from graph_service.retrieve.prizes.subgraph import PrizedSubgraph, best_subgraph
from graph_service.retrieve.prizes.triplets import best_triplets
from graph_service.retrieve.region.simple_graph import last_of_parallel
from graph_service.retrieve.tree import search as tree_search
from graph_service.retrieve.tree import solver
from graph_service.retrieve.tree.cardinality import best_of_size
from graph_service.retrieve.tree.reduction import best_part as best_part_of_forest
from graph_service.retrieve.tree.reduction import reduce_problem
from graph_service.retrieve.tree.search import EXACT_WORK, search
from graph_service.retrieve.tree.solver import PcstFast

Prizes = npt.NDArray[np.float64]
Walked = tuple[int, tuple[int, ...]]


def all_paths(region: Region, starts: list[int], longest: int) -> dict[Walked, tuple[int, ...]]:
    """Every simple path along edges from some nodes, single nodes too, with its nodes."""
    found: dict[Walked, tuple[int, ...]] = {}

    def walk(nodes: tuple[int, ...], edges: tuple[int, ...]) -> None:
        found[nodes[0], edges] = nodes
        for edge in range(region.edge_count):
            head, tail = int(region.head[edge]), int(region.tail[edge])
            if head == nodes[-1] and tail not in nodes and len(edges) < longest:
                walk((*nodes, tail), (*edges, edge))

    for start in starts:
        walk((start,), ())
    return found


@st.composite
def prized(draw: st.DrawFn) -> tuple[Region, Prizes, Prizes, float]:
    region = draw(multigraphs())
    cost = draw(st.sampled_from([0.3, 1.0, 1.5, 2.0, 3.0]))
    return region, draw(prizes(region.node_count)), draw(prizes(region.edge_count)), cost


@settings(max_examples=100)
@given(prized(), st.integers(1, 5), st.integers(1, 8))
def test_o6_paths_leave_the_queue_best_first(
    case: tuple[Region, Prizes, Prizes, float], longest: int, count: int
) -> None:
    """O6: of all paths whose prefix has left the queue, the best one is next, single nodes too."""
    region, node_prizes, edge_prizes, cost = case
    starts = np.flatnonzero(node_prizes > 0)
    search = best_first_paths(
        region,
        starts,
        node_prizes=node_prizes,
        edge_prizes=edge_prizes,
        edge_cost=cost,
        max_length=longest,
        count=count,
    )
    every = all_paths(region, starts.tolist(), longest)

    def worth(path: Walked) -> float:
        edges = list(path[1])
        return float(node_prizes[list(every[path])].sum() + (edge_prizes[edges] - cost).sum())

    def order(path: Walked) -> tuple[float, list[int]]:
        start, edges = path
        keys = [int(region.node_keys[start]), *region.edge_keys[list(edges)].tolist()]
        return -round(worth(path), 9), keys

    taken: list[Walked] = []
    while len(taken) < count:
        waiting = [
            (start, edges)
            for start, edges in every
            if (start, edges) not in taken and (not edges or (start, edges[:-1]) in taken)
        ]
        if not waiting:
            break
        taken.append(min(waiting, key=order))
    assert [(path.start, path.edges) for path in search.paths] == taken
    assert [path.score for path in search.paths] == pytest.approx([worth(one) for one in taken])
    assert search.more == (len(taken) < len(every))
    for path in taken:
        assert not region.literal[list(every[path][:-1])].any(), "passes through a literal"


def test_o6_a_hub_among_the_paths_costs_no_more_than_what_is_taken() -> None:
    """O6: of 3,000 edges out of one node only as many enter the queue as may leave it."""
    region = region_of(3001, [(0, other) for other in range(1, 3001)])
    node_prizes = np.zeros(3001)
    node_prizes[[0, 7, 9]] = 3.0, 2.0, 1.5
    search = best_first_paths(
        region,
        np.array([0]),
        node_prizes=node_prizes,
        edge_prizes=np.zeros(3000),
        edge_cost=1.0,
        max_length=5,
        count=4,
    )
    assert [path.edges for path in search.paths] == [(), (6,), (8,), (0,)]
    assert [path.score for path in search.paths] == [3.0, 4.0, 3.5, 2.0]
    assert search.more


def optimum(region: Region, node_prizes: Prizes, edge_prizes: Prizes, cost: float) -> float:
    """The best connected subgraph's worth, by trying every set of nodes."""
    best = 0.0
    gain = edge_prizes - cost
    for size in range(1, region.node_count + 1):
        for nodes in itertools.combinations(range(region.node_count), size):
            graph: nx.MultiGraph[int] = nx.MultiGraph()
            graph.add_nodes_from(nodes)
            usable = []
            extra = 0.0
            for edge in range(region.edge_count):
                u, v = int(region.head[edge]), int(region.tail[edge])
                if u in nodes and v in nodes:
                    usable.append((u, v, edge))
                    extra += max(gain[edge], 0.0)
            # A node passed through is no literal: literals have one edge here, so none can be.
            for u, v, edge in usable:
                graph.add_edge(u, v, weight=max(-gain[edge], 0.0))
            if nx.is_connected(graph):
                tree = nx.minimum_spanning_tree(graph).size(weight="weight")
                best = max(best, float(node_prizes[list(nodes)].sum()) + extra - tree)
    return best


@pytest.mark.parametrize("exact_work", [EXACT_WORK, 0])
def test_o7_tree_is_the_optimum_on_random_multigraphs(exact_work: int) -> None:
    @settings(max_examples=250)
    @given(prized())
    def check(case: tuple[Region, Prizes, Prizes, float]) -> None:
        region, node_prizes, edge_prizes, cost = case
        found = best_subgraph(
            region,
            node_prizes=node_prizes,
            edge_prizes=edge_prizes,
            edge_cost=cost,
            exact_work=exact_work,
            use_pcst_fast=False,
        )
        best = optimum(region, node_prizes, edge_prizes, cost)
        if exact_work:
            assert found.objective == pytest.approx(best)
            assert found.gap == 0.0
        else:
            # Shortest-path trees alone: never more than the optimum, and on so few nodes rarely
            # less; a claim of proof must hold.
            assert found.objective <= best + 1e-9
            if found.gap == 0.0:
                assert found.objective == pytest.approx(best)
        assert_sound(region, found.nodes.tolist(), found.edges.tolist())
        worth = node_prizes[found.nodes].sum() + (edge_prizes[found.edges] - cost).sum()
        assert found.objective == pytest.approx(worth)

    check()


def assert_sound(region: Region, nodes: list[int], edges: list[int]) -> None:
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    graph.add_nodes_from(nodes)
    for edge in edges:
        assert int(region.head[edge]) in nodes
        assert int(region.tail[edge]) in nodes
        graph.add_edge(int(region.head[edge]), int(region.tail[edge]))
    assert len(set(edges)) == len(edges)
    if nodes:
        assert nx.is_connected(graph)
        graph.remove_nodes_from(np.flatnonzero(region.literal).tolist())
        assert graph.number_of_nodes() == 0 or nx.is_connected(graph), "through a literal"


@settings(max_examples=60)
@given(prized(), st.randoms(use_true_random=False))
def test_o7_objective_does_not_depend_on_the_order_of_edges(
    case: tuple[Region, Prizes, Prizes, float], random: object
) -> None:
    region, node_prizes, edge_prizes, cost = case
    order = list(range(region.edge_count))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = replace(
        region,
        edges=region.edges[order],
        edge_keys=region.edge_keys[order],
        head=region.head[order],
        tail=region.tail[order],
        rel=region.rel[order],
    )
    one = best_subgraph(region, node_prizes=node_prizes, edge_prizes=edge_prizes, edge_cost=cost)
    two = best_subgraph(
        moved, node_prizes=node_prizes, edge_prizes=edge_prizes[order], edge_cost=cost
    )
    assert one.objective == pytest.approx(two.objective)


@settings(max_examples=60)
@given(prized(), st.integers(1, 4))
def test_o7_a_limit_keeps_it_connected(
    case: tuple[Region, Prizes, Prizes, float], limit: int
) -> None:
    region, node_prizes, edge_prizes, cost = case
    found = best_subgraph(
        region, node_prizes=node_prizes, edge_prizes=edge_prizes, edge_cost=cost, limit=limit
    )
    assert len(found.edges) <= limit
    assert_sound(region, found.nodes.tolist(), found.edges.tolist())
    if found.cuts:
        assert found.gap is not None
        assert len(found.edges) == limit


def best_part(
    region: Region, edges: list[int], node_prizes: Prizes, gain: Prizes, size: int
) -> float:
    """The most that some connected edges among others are worth, by trying every set of them."""
    best = -np.inf
    for chosen in itertools.combinations(edges, size):
        graph = nx.Graph((int(region.head[edge]), int(region.tail[edge])) for edge in chosen)
        if nx.is_connected(graph):
            best = max(best, node_prizes[list(graph)].sum() + gain[list(chosen)].sum())
    return float(best)


@settings(max_examples=80)
@given(prized(), st.integers(1, 5))
def test_o7_a_limit_keeps_the_part_that_is_worth_most(
    case: tuple[Region, Prizes, Prizes, float], limit: int
) -> None:
    """O7: exactly, where the subgraph is a tree; never more than that part, where it is not."""
    region, node_prizes, edge_prizes, cost = case

    def solved(limit: int | None) -> PrizedSubgraph:
        return best_subgraph(
            region, node_prizes=node_prizes, edge_prizes=edge_prizes, edge_cost=cost, limit=limit
        )

    whole, part = solved(None), solved(limit)
    if len(whole.edges) <= limit:
        assert part.edges.tolist() == whole.edges.tolist()
        assert part.cuts == ()
        return
    best = best_part(region, whole.edges.tolist(), node_prizes, edge_prizes - cost, limit)
    assert part.objective <= best + 1e-9
    if len(whole.edges) == len(whole.nodes) - 1:
        assert part.objective == pytest.approx(best)
    assert len(part.edges) == limit
    assert set(part.edges.tolist()) <= set(whole.edges.tolist())
    assert_sound(region, part.nodes.tolist(), part.edges.tolist())
    (cut,) = part.cuts
    assert (cut.reason, cut.kept, cut.total) == (CutReason.LIMIT, limit, len(whole.edges))


@pytest.mark.parametrize("seed", range(12))
def test_o7_the_part_of_a_larger_tree_is_worth_most(seed: int) -> None:
    """O7: trees of 11 edges, all of whose parts of each size are tried."""
    generator = np.random.default_rng(seed)
    head = np.array([int(generator.integers(0, i + 1)) for i in range(11)])
    tail = np.arange(1, 12)
    region = region_of(12, list(zip(head.tolist(), tail.tolist(), strict=True)))
    node_prizes = (generator.integers(0, 5, 12) * (generator.random(12) < 0.6)).astype(np.float64)
    gain = generator.integers(-3, 3, 11).astype(np.float64)
    for size in (1, 2, 5, 8, 10):
        chosen = best_of_size(
            head, tail, prizes=node_prizes, gain=gain, size=size, deadline=Deadline.none()
        )
        graph = nx.Graph((int(head[edge]), int(tail[edge])) for edge in chosen.tolist())
        assert len(chosen) == size
        assert nx.is_connected(graph)
        worth = node_prizes[list(graph)].sum() + gain[chosen].sum()
        assert worth == best_part(region, list(range(11)), node_prizes, gain, size)


@settings(max_examples=60)
@given(prized(), st.integers(1, 5))
def test_o5_triplets_are_the_most_similar_of_all(
    case: tuple[Region, Prizes, Prizes, float], limit: int
) -> None:
    region, nodes, edges, _ = case
    nodes, edges = nodes / 7, edges / 7
    chosen = best_triplets(region, node_similarity=nodes, edge_similarity=edges, limit=limit)
    total = [
        round(nodes[region.head[i]] + edges[i] + nodes[region.tail[i]], 5)
        for i in range(region.edge_count)
    ]
    expected = sorted(range(region.edge_count), key=lambda i: (-total[i], region.edge_keys[i]))
    assert chosen.tolist() == expected[:limit]


@settings(max_examples=60)
@given(multigraphs())
def test_o4_of_parallel_edges_the_last_by_key_stays(region: Region) -> None:
    """O4 to O7: the graph is simple and directed, and how many statements went is a cut."""
    pairs = list(zip(region.head.tolist(), region.tail.tolist(), strict=True))
    expected = sorted({pair: edge for edge, pair in enumerate(pairs)}.values())
    simple = last_of_parallel(region)
    assert simple.edges.tolist() == expected
    assert simple.edge_keys.tolist() == region.edge_keys[expected].tolist()
    assert list(zip(simple.head.tolist(), simple.tail.tolist(), strict=True)) == [
        pairs[edge] for edge in expected
    ]
    gone = [(cut.reason, cut.kept, cut.total) for cut in simple.cuts]
    lost = len(expected) < len(pairs)
    assert gone == [(CutReason.PARALLEL, len(expected), len(pairs))] * lost


def big_case(seed: int) -> tuple[Region, Prizes, Prizes]:
    generator = np.random.default_rng(seed)
    n, m = 500, 1000
    region = region_of(n, [(int(a), int(b)) for a, b in generator.integers(0, n, (m, 2))])
    node_prizes = np.zeros(n)
    node_prizes[generator.choice(n, 60, replace=False)] = generator.integers(1, 11, 60)
    edge_prizes = np.zeros(m)
    edge_prizes[generator.choice(m, 60, replace=False)] = generator.integers(1, 11, 60)
    return region, node_prizes, edge_prizes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cost", [1.0, 3.0])
def test_o7_never_worse_than_pcst_fast(seed: int, cost: float, raw_pcst_fast: PcstFast) -> None:
    region, node_prizes, edge_prizes = big_case(seed)
    gain = edge_prizes - cost
    # The published code's way: an edge that pays is a node between its ends, its own prize less
    # the cost, joined for nothing.
    pairs, costs, worth = [], [], node_prizes.tolist()
    for edge in range(region.edge_count):
        u, v = int(region.head[edge]), int(region.tail[edge])
        if gain[edge] > 0:
            worth.append(float(gain[edge]))
            pairs += [(u, len(worth) - 1), (len(worth) - 1, v)]
            costs += [0.0, 0.0]
        else:
            pairs.append((u, v))
            costs.append(float(-gain[edge]))
    best = 0.0
    for pruning in ("strong", "gw"):
        nodes, edges = raw_pcst_fast(
            np.array(pairs), np.array(worth), np.array(costs), -1, 1, pruning, 0
        )
        value = sum(worth[i] for i in nodes) - sum(costs[i] for i in edges)
        best = max(best, value)
    found = best_subgraph(region, node_prizes=node_prizes, edge_prizes=edge_prizes, edge_cost=cost)
    assert found.objective >= best - 1e-9
    assert_sound(region, found.nodes.tolist(), found.edges.tolist())


def test_o7_an_edge_that_pays_brings_both_its_ends() -> None:
    # Path 0-1-2-3, prizes 5 0 5 0, costs 1: {0, 1, 2}; with a prize of 3 on edge 2-3 all four.
    region = region_of(4, [(0, 1), (1, 2), (2, 3)])
    node_prizes = np.array([5.0, 0.0, 5.0, 0.0])
    found = best_subgraph(region, node_prizes=node_prizes, edge_prizes=np.zeros(3), edge_cost=1.0)
    assert (found.nodes.tolist(), found.objective, found.gap) == ([0, 1, 2], 8.0, 0.0)
    found = best_subgraph(
        region, node_prizes=node_prizes, edge_prizes=np.array([0.0, 0.0, 3.0]), edge_cost=1.0
    )
    assert (found.nodes.tolist(), found.objective) == ([0, 1, 2, 3], 10.0)


def test_trap_1_a_wrong_pcst_fast_is_found_out() -> None:
    def wrong(*_: object) -> tuple[list[int], list[int]]:
        return [0, 0, 0], [0, 0]

    def right(*_: object) -> tuple[list[int], list[int]]:
        return [2, 0, 1], [1, 0]

    def solving(
        pairs: Int64, prizes: Prizes, costs: Prizes, root: int, trees: int, pruning: str, _: int
    ) -> tuple[Int64, Int64]:
        """Solves what it is given, as the published package does."""
        assert (len(prizes), root, trees, pruning) == (pairs.max() + 1, -1, 1, "strong")
        tree = solver.solve(pairs[:, 0], pairs[:, 1], prizes=prizes, costs=costs)
        return tree.nodes, tree.edges

    assert solver.passes_known_case(solving)
    assert not solver.passes_known_case(wrong)
    assert solver.passes_known_case(right)
    assert solver.solver_report().name in {"own", "own+pcst_fast"}


def test_o7_nothing_prized_is_nothing() -> None:
    found = best_subgraph(
        region_of(2, [(0, 1)]), node_prizes=np.zeros(2), edge_prizes=np.zeros(1), edge_cost=1.0
    )
    assert (found.nodes.tolist(), found.edges.tolist(), found.objective) == ([], [], 0.0)


def ladder(steps: int, every: int) -> tuple[Int64, Int64, Prizes, Prizes]:
    """Two rows of nodes with rungs: ends, prizes of every so many nodes and costs."""
    ends = [(i, i + 2) for i in range(2 * steps - 2)] + [(2 * i, 2 * i + 1) for i in range(steps)]
    source, target = np.array(ends, dtype=np.int64).T
    prizes = np.zeros(2 * steps)
    prizes[::every] = 2.5
    costs = 1.0 + np.arange(len(ends)) % 7 / 10
    return source, target, prizes, costs


def test_o7_pcst_fast_competes_where_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not asked where it may not, or where the optimum is proven without it."""
    asked: list[int] = []

    def none_found(pairs: Prizes, *_: object) -> tuple[list[int], list[int]]:
        asked.append(len(pairs))
        return [], []

    report = solver.solver_report()
    monkeypatch.setattr(subgraph, "load_pcst_fast", lambda: (none_found, report))
    source, target, node_prizes, _ = ladder(15, 7)
    region = region_of(30, list(zip(source.tolist(), target.tolist(), strict=True)))

    def solved(exact_work: int, use: bool) -> PrizedSubgraph:
        return best_subgraph(
            region,
            node_prizes=node_prizes,
            edge_prizes=np.zeros(region.edge_count),
            edge_cost=1.0,
            exact_work=exact_work,
            use_pcst_fast=use,
        )

    without = solved(0, False)
    assert asked == []
    competed = solved(0, True)
    assert len(asked) == 1
    assert (competed.objective, competed.solver) == (without.objective, "own")
    assert solved(EXACT_WORK, True).gap == 0.0
    assert len(asked) == 1


def test_o7_the_exact_program_may_combine_as_many_entries_as_its_bound() -> None:
    source, target, prizes, costs = ladder(15, 7)
    small, _ = reduce_problem(source, target, prizes, costs, Deadline.none())
    terminals = int((small.prizes > 0).sum())
    assert 1 < terminals <= 12
    work = 3**terminals * len(small.prizes)
    assert search(small, work, Deadline.none())[1]
    assert not search(small, work - 1, Deadline.none())[1]


def test_o7_large_problems_get_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as fit into the arcs allowed, at least one, and all where a proof is asked for."""
    source, target, prizes, costs = ladder(20, 3)
    small, _ = reduce_problem(source, target, prizes, costs, Deadline.none())
    arcs = 2 * len(small.edge)
    assert int((small.prizes > 0).sum()) > 12
    grow, rounds = tree_search._shortest_path_tree, 0

    def counted(*given: Any) -> Any:
        nonlocal rounds
        rounds += 1
        return grow(*given)

    monkeypatch.setattr(tree_search, "_shortest_path_tree", counted)
    for allowed, expected in ((3 * arcs, 3), (3 * arcs - 1, 2), (0, 1), (100 * arcs, 8)):
        monkeypatch.setattr(tree_search, "_ROUNDS_WORK", allowed)
        for thorough in (False, True):
            rounds = 0
            search(small, 0, Deadline.none(), thorough=thorough)
            assert rounds == (8 if thorough else expected)


@pytest.mark.parametrize(
    ("installed", "name", "healthy"),
    [
        (None, "own", True),
        (lambda *_: ([0, 0, 0], [0, 0]), "own", False),
        (lambda *_: ([2, 0, 1], [1, 0]), "own+pcst_fast", True),
    ],
    ids=["missing", "wrong", "right"],
)
def test_trap_1_which_solver_serves_is_reported(
    monkeypatch: pytest.MonkeyPatch,
    installed: PcstFast | None,
    name: str,
    healthy: bool,
) -> None:
    module = None if installed is None else SimpleNamespace(pcst_fast=installed)
    monkeypatch.setitem(sys.modules, "pcst_fast", module)
    solver.load_pcst_fast.cache_clear()
    try:
        loaded, report = solver.load_pcst_fast()
        assert solver.solver_report() == report
    finally:
        solver.load_pcst_fast.cache_clear()
    assert (report.name, report.healthy) == (name, healthy)
    check_text(report.reason)
    assert loaded is (installed if name == "own+pcst_fast" else None)


@pytest.mark.parametrize("ours", [True, False])
def test_o7_a_better_tree_of_pcst_fast_is_taken(
    monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    """And named; one that is as good is ours."""
    source, target, prizes, costs = ladder(15, 7)
    prizes *= 4
    monkeypatch.setattr(solver, "bound_of", lambda small, found, **_: (found, 99.0))
    best = solver.solve(source, target, prizes=prizes, costs=costs, exact_work=0)
    assert len(best.edges) > 1
    if not ours:
        one = np.array([0]), np.zeros(0, dtype=np.int64), float(prizes[0])
        monkeypatch.setattr(solver, "expand", lambda *_: one)
    found = solver.solve(
        source,
        target,
        prizes=prizes,
        costs=costs,
        exact_work=0,
        pcst_fast=lambda *_: (best.nodes, best.edges),
    )
    assert found.solver == ("own" if ours else "pcst_fast")
    assert (found.objective, found.bound) == pytest.approx((best.objective, 99.0))
    assert found.nodes.tolist() == best.nodes.tolist()


def test_o7_no_part_without_a_prize() -> None:
    nodes, edges, worth = best_part_of_forest(
        np.array([0]),
        np.array([0, 1]),
        np.array([1, 2]),
        np.zeros(3),
        np.ones(2),
        np.array([0, 1]),
        Deadline.none(),
    )
    assert (nodes.tolist(), edges.tolist(), worth) == ([], [], 0.0)


@pytest.mark.parametrize("seed", range(8))
def test_o7_the_gap_of_a_part_bounds_every_part_of_as_many_edges(seed: int) -> None:
    """Also those that are no part of the whole subgraph, by trying every set of edges."""
    generator = np.random.default_rng(seed)
    pairs = [(0, 1), *((int(a), int(b)) for a, b in generator.integers(0, 7, (9, 2)) if a != b)]
    region = region_of(7, pairs)
    node_prizes = generator.integers(0, 4, 7).astype(np.float64)
    edge_prizes = generator.integers(1, 4, len(pairs)).astype(np.float64)
    for limit in (1, 2, 3):
        found = best_subgraph(
            region,
            node_prizes=node_prizes,
            edge_prizes=edge_prizes,
            edge_cost=1.0,
            limit=limit,
        )
        if not found.cuts:
            continue
        every = list(range(len(pairs)))
        best = best_part(region, every, node_prizes, edge_prizes - 1.0, limit)
        assert found.gap is not None
        assert best <= found.objective * (1 + found.gap) + 1e-6


def test_o7_a_part_is_proven_where_it_holds_all_that_is_worth_most() -> None:
    """A path of prizes 5 5 5 1, edges worth 2 2 0: of two edges no part is worth more than 19."""
    region = region_of(4, [(0, 1), (1, 2), (2, 3)])
    found = best_subgraph(
        region,
        node_prizes=np.array([5.0, 5.0, 5.0, 1.0]),
        edge_prizes=np.array([3.0, 3.0, 1.5]),
        edge_cost=1.0,
        limit=2,
    )
    assert (found.edges.tolist(), found.objective, found.gap) == ([0, 1], 19.0, 0.0)
    one = best_subgraph(
        region,
        node_prizes=np.array([5.0, 1.0, 1.0, 4.0]),
        edge_prizes=np.array([3.0, 3.0, 2.0]),
        edge_cost=1.0,
        limit=1,
    )
    # Edge 0 with its ends is worth 8; two nodes and an edge can be worth 5 + 4 + 2.
    assert (one.edges.tolist(), one.objective, one.gap) == ([0], 8.0, 0.375)
