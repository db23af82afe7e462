"""The bound and the proof of a subgraph (O7) against enumeration of hundreds of multigraphs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from retrieve_samples import region_of
from steiner_program import best_worth

from graph_service.model.limits import Deadline
from graph_service.model.region import Region
from graph_service.retrieve.prizes.subgraph import best_subgraph
from graph_service.retrieve.tree.bound import bound_of
from graph_service.retrieve.tree.reduction import reduce_problem
from graph_service.retrieve.tree.solver import PcstFast, grow, solve

Prizes = npt.NDArray[np.float64]


def small_cases(
    count: int, seed: int, *, whole: bool = True
) -> Iterator[tuple[Region, Prizes, Prizes, float]]:
    """Multigraphs of up to 6 nodes and 8 edges, parallel ones and loops among them."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        n, m = int(generator.integers(2, 7)), int(generator.integers(1, 9))
        pairs = generator.integers(0, n, (m, 2)).tolist()
        node_prizes = (generator.integers(0, 5, n) * (generator.random(n) < 0.6)).astype(np.float64)
        edge_prizes = generator.integers(0, 4, m) * (generator.random(m) < 0.3)
        cost = float(generator.choice([1.0, 2.0, 3.0]))
        if not whole:
            node_prizes = node_prizes * generator.random(n)
            cost *= float(generator.random())
        yield (
            region_of(n, [(a, b) for a, b in pairs]),
            node_prizes,
            edge_prizes.astype(np.float64),
            cost,
        )


def optima(region: Region, node_prizes: Prizes, edge_prizes: Prizes, cost: float) -> list[float]:
    """Worth of the best connected subgraph of at most 0, 1, ... edges, by trying every one."""
    m = region.edge_count
    ends = [(1 << int(u)) | (1 << int(v)) for u, v in zip(region.head, region.tail, strict=True)]
    worth = [
        sum(float(p) for bit, p in enumerate(node_prizes) if mask >> bit & 1)
        for mask in range(1 << region.node_count)
    ]
    best = [0.0] * (m + 1)
    # What is connected grows edge by edge from a node, so every set is met by its growth.
    seen = {(0, 1 << node): 0.0 for node in range(region.node_count)}
    queue = list(seen)
    for edges, nodes in queue:
        gain = seen[edges, nodes]
        size = edges.bit_count()
        best[size] = max(best[size], worth[nodes] + gain)
        for edge in range(m):
            if not edges >> edge & 1 and ends[edge] & nodes:
                larger = (edges | 1 << edge, nodes | ends[edge])
                if larger not in seen:
                    seen[larger] = gain + float(edge_prizes[edge]) - cost
                    queue.append(larger)
    return [max(best[: size + 1]) for size in range(m + 1)]


@pytest.mark.parametrize("whole", [True, False])
def test_o7_the_optimum_is_never_above_the_bound(whole: bool) -> None:
    for region, node_prizes, edge_prizes, cost in small_cases(500, 1, whole=whole):
        best = optima(region, node_prizes, edge_prizes, cost)
        for limit in (None, 1, 3):
            found = best_subgraph(
                region,
                node_prizes=node_prizes,
                edge_prizes=edge_prizes,
                edge_cost=cost,
                limit=limit,
                exact_work=0,
                use_pcst_fast=False,
            )
            most = best[-1] if limit is None else best[min(limit, len(best) - 1)]
            assert found.objective <= most + 1e-9
            if found.gap is None:
                assert found.objective <= 0.0
            else:
                assert most <= found.objective * (1 + found.gap) + 1e-6
                if found.gap == 0.0:
                    assert found.objective == pytest.approx(most, abs=1e-6)


def test_o7_a_bound_alone_holds_however_little_work_it_may_do() -> None:
    found = 0
    for region, node_prizes, _, cost in small_cases(600, 2):
        if not node_prizes.any():
            continue
        m = region.edge_count
        best = optima(region, node_prizes, np.zeros(m), cost)[-1]
        small, _ = reduce_problem(
            region.head.astype(np.int64),
            region.tail.astype(np.int64),
            node_prizes,
            np.full(m, cost),
        )
        top = int(np.argmax(small.prizes))
        none = np.zeros(0, dtype=np.int64)
        start = (np.array([top]), none, float(small.prizes[top]))
        bounds = []
        for work in (0, 20, 100_000):
            tree, bound = bound_of(small, start, work=work, deadline=Deadline.none())
            assert bound >= best - 1e-9
            assert tree[2] <= best + 1e-9
            bounds.append(bound)
        # With work enough the tree is the optimum, and proven.
        assert tree[2] == bound == pytest.approx(best)
        assert bounds == sorted(bounds, reverse=True)
        found += len(small.edge) > 1
    assert found > 40, "too few cases were left to the search"


def larger_case(seed: int) -> tuple[Region, Prizes, Prizes]:
    generator = np.random.default_rng(seed)
    n, m = 30, 60
    region = region_of(n, [(a, b) for a, b in generator.integers(0, n, (m, 2)).tolist()])
    node_prizes = np.zeros(n)
    node_prizes[generator.choice(n, 12, replace=False)] = generator.integers(1, 11, 12)
    return region, node_prizes, np.zeros(m)


@pytest.mark.parametrize("seed", range(6))
def test_o7_prove_finds_the_optimum_that_an_integer_program_finds(seed: int) -> None:
    region, node_prizes, edge_prizes = larger_case(seed)
    cost = 3.0
    cheap = best_subgraph(
        region, node_prizes=node_prizes, edge_prizes=edge_prizes, edge_cost=cost, exact_work=0
    )
    proven = best_subgraph(
        region, node_prizes=node_prizes, edge_prizes=edge_prizes, edge_cost=cost, prove=True
    )
    assert proven.gap == 0.0
    assert cheap.objective <= proven.objective
    assert cheap.gap is not None
    assert proven.objective <= cheap.objective * (1 + cheap.gap) + 1e-6
    best = best_worth(
        region.head.astype(np.int64),
        region.tail.astype(np.int64),
        node_prizes,
        np.full(region.edge_count, cost),
    )
    assert proven.objective == pytest.approx(best)


def test_o7_the_bound_of_nothing_prized_is_zero() -> None:
    one = np.array([0])
    tree = solve(one, one + 1, prizes=np.zeros(2), costs=np.ones(1))
    assert (tree.objective, tree.bound) == (0.0, 0.0)


@pytest.mark.parametrize("whole", [True, False])
def test_o7_one_growth_is_never_worse_than_either_pruning(
    whole: bool, raw_pcst_fast: PcstFast
) -> None:
    """O7: one forest of pcst_fast, pruned exactly, is at least what both its prunings give."""
    for region, node_prizes, _, cost in small_cases(200, 7, whole=whole):
        source, target = region.head.astype(np.int64), region.tail.astype(np.int64)
        costs = np.full(region.edge_count, cost)
        if not node_prizes.any():
            continue
        grown = grow(source, target, prizes=node_prizes, costs=costs, pcst_fast=raw_pcst_fast)
        tree = solve(
            source, target, prizes=node_prizes, costs=costs, exact_work=0, pcst_fast=raw_pcst_fast
        )
        pairs = np.stack((source, target), axis=1)
        for pruning in ("gw", "strong"):
            nodes, edges = raw_pcst_fast(pairs, node_prizes, costs, -1, 1, pruning, 0)
            theirs = float(node_prizes[nodes].sum() - costs[edges].sum())
            assert grown[2] >= theirs - 1e-9
            assert tree.objective >= theirs - 1e-9
        assert len(grown[1]) == len(grown[0]) - 1


def test_o7_hundreds_of_small_graphs_are_proven_at_their_optimum() -> None:
    """O7: at the default effort the tree is the optimum, and said to be."""
    for region, node_prizes, edge_prizes, cost in small_cases(900, 11):
        found = best_subgraph(
            region, node_prizes=node_prizes, edge_prizes=edge_prizes, edge_cost=cost
        )
        best = optima(region, node_prizes, edge_prizes, cost)[-1]
        assert found.objective == pytest.approx(best, abs=1e-9)
        assert found.gap == 0.0 or best == 0.0
