"""The proof of a subgraph (O7) against an exact solver, where prizes and costs are fractions.

Whole prizes and costs let a bound be rounded down; fractions do not. Rounded all the same, each of
these problems would be called solved below its optimum.
"""

from __future__ import annotations

import numpy as np
import pytest
from steiner_program import best_worth

from graph_service.model.limits import Deadline
from graph_service.retrieve.tree.bound import PROOF_WORK, bound_of
from graph_service.retrieve.tree.reduction import reduce_problem
from graph_service.retrieve.tree.solver import solve

# Random start entities of problems of 25 to 60 nodes that the exact solver is done with at once.
DENSE = (14, 24, 60, 71, 86, 107, 117, 126, 131)
SPARSE = (56, 127, 146, 164)
CASES = [(seed, 2.0, 0.3, 1.0, 0.3) for seed in DENSE]
CASES += [(seed, 1.6, 0.4, 3.0, 1.2) for seed in SPARSE]


@pytest.mark.parametrize(("seed", "edges", "prized", "prize", "cost"), CASES)
def test_o7_a_proof_over_fractions_is_of_the_optimum(
    seed: int, edges: float, prized: float, prize: float, cost: float
) -> None:
    """``edges`` a node, the share of nodes with a prize, the largest prize, the mean cost."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(25, 61))
    source, target = generator.integers(0, n, (2, int(edges * n)))
    prizes = np.zeros(n)
    count = int(n * prized)
    prizes[generator.choice(n, count, replace=False)] = generator.random(count) * prize
    costs = (0.5 + generator.random(len(source))) * cost
    best = best_worth(source, target, prizes, costs)

    # From the worst tree to begin with, so that the search has to find the best one by itself.
    small, _ = reduce_problem(source, target, prizes, costs)
    top = int(np.argmax(small.prizes))
    start = (np.array([top]), np.zeros(0, dtype=np.int64), float(small.prizes[top]))
    tree, bound = bound_of(small, start, work=PROOF_WORK, deadline=Deadline.none())
    assert (tree[2], bound) == pytest.approx((best, best), abs=1e-6)
    for work in (0, 20_000):
        tree, bound = bound_of(small, start, work=work, deadline=Deadline.none())
        assert tree[2] - 1e-6 <= best <= bound + 1e-6
    proven = solve(source, target, prizes=prizes, costs=costs, bound_work=PROOF_WORK)
    assert (proven.objective, proven.bound) == pytest.approx((best, best), abs=1e-6)
