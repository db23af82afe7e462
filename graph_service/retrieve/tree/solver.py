"""Prize-collecting Steiner trees: our own solver, and pcst_fast where it can be trusted.

The problem: node prizes and edge costs, neither negative; find the connected subgraph that
maximises prizes minus costs (row O7). Ours contracts what can be contracted without loss, solves
small cases exactly (Dreyfus and Wagner's dynamic program over sets of prized nodes) and otherwise
keeps the best of several shortest-path trees, each pruned by an exact dynamic program on the tree.

pcst_fast's wheel is wrong under numpy 2 and says nothing of it, so it serves only after it has
solved a known case; what it finds competes with ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.limits import Deadline
from graph_service.retrieve.tree.bound import BOUND_WORK, PROOF_WORK, bound_of
from graph_service.retrieve.tree.reduction import (
    NEVER,
    TOLERANCE,
    Solution,
    best_part,
    expand,
    reduce_problem,
)
from graph_service.retrieve.tree.search import EXACT_WORK, search


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A connected subgraph: its nodes, the edges that hold it together, and its worth.

    Attributes:
        nodes: Ascending, int64; empty where there are no prizes.
        edges: A spanning tree of them, ascending, int64.
        objective: Node prizes minus edge costs.
        bound: No connected subgraph is worth more; the objective itself where that is proven.
        solver: Which solver found it.
    """

    nodes: Int64
    edges: Int64
    objective: float
    bound: float
    solver: str


@dataclass(frozen=True, slots=True)
class SolverReport:
    """Which solver serves, and why.

    Attributes:
        name: ``own``, or ``own+pcst_fast`` where both compete.
        reason: In a sentence.
        healthy: False where pcst_fast is installed and gives wrong answers.
    """

    name: str
    reason: str
    healthy: bool


PcstFast = Callable[..., tuple[Any, Any]]


@lru_cache(maxsize=1)
def load_pcst_fast() -> tuple[PcstFast | None, SolverReport]:
    """Returns pcst_fast where it is installed and right, else None; and which solver serves."""
    try:
        from pcst_fast import pcst_fast  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return None, SolverReport(
            "own", "pcst_fast is not installed; our own solver serves alone", True
        )
    if not passes_known_case(pcst_fast):
        return None, SolverReport(
            "own",
            "the installed pcst_fast fails its known case (its wheel is wrong under numpy 2); our"
            " own solver serves alone. Mend it with: pip install --force-reinstall --no-deps"
            " --no-binary pcst-fast pcst-fast",
            False,
        )
    return pcst_fast, SolverReport(
        "own+pcst_fast", "pcst_fast passes its known case and competes with our own solver", True
    )


def passes_known_case(solve: PcstFast, /) -> bool:
    """Returns whether a pcst_fast solves the path 0-1-2-3, prizes 5 0 5 0, costs 1: {0, 1, 2}."""
    edges = np.array([[0, 1], [1, 2], [2, 3]], dtype=np.int64)
    nodes, chosen = solve(edges, np.array([5.0, 0.0, 5.0, 0.0]), np.ones(3), -1, 1, "strong", 0)
    return sorted(map(int, nodes)) == [0, 1, 2] and sorted(map(int, chosen)) == [0, 1]


def solver_report() -> SolverReport:
    """Returns which solver serves; the known case runs at the first call."""
    return load_pcst_fast()[1]


def solve(
    source: Int64,
    target: Int64,
    /,
    *,
    prizes: Float64,
    costs: Float64,
    exact_work: int = EXACT_WORK,
    bound_work: int = BOUND_WORK,
    pcst_fast: PcstFast | None = None,
    deadline: Deadline | None = None,
) -> Tree:
    """Returns the best connected subgraph found, and a value that none exceeds.

    Args:
        source: One end of each edge, int64 [m]; parallel edges and loops are allowed.
        target: The other end, int64 [m].
        prizes: Of the nodes, at least 0, float64 [n].
        costs: Of the edges, at least 0, float64 [m].
        exact_work: Bound of the exact program; 0 leaves it out.
        bound_work: Arcs looked at for the bound; with more of it the best tree itself is found.
        pcst_fast: Competes, where given and the case is not proven.
        deadline: Raises ``DeadlineError`` when past.
    """
    deadline = deadline or Deadline.none()
    prized = np.flatnonzero(prizes > 0)
    if len(prized) <= 1:  # No edge gains anything.
        worth = float(prizes[prized].sum())
        return Tree(prized, np.zeros(0, dtype=np.int64), worth, worth, "own")
    small, merged = reduce_problem(source, target, prizes, costs, deadline)
    reduced, proven = search(small, exact_work, deadline, thorough=bound_work >= PROOF_WORK)
    tree = expand(reduced, small, merged, source, target, prizes, costs, deadline)
    if proven:
        return Tree(tree[0], tree[1], tree[2], tree[2], "own")
    solver = "own"
    if pcst_fast is not None:
        other = grow(
            source, target, prizes=prizes, costs=costs, pcst_fast=pcst_fast, deadline=deadline
        )
        if other[2] > tree[2] + TOLERANCE:
            tree, solver = other, "pcst_fast"
    # The bound needs the value alone of the tree that is best so far.
    better, bound = bound_of(
        small,
        (reduced[0], reduced[1], max(tree[2], reduced[2])),
        work=bound_work,
        deadline=deadline,
    )
    if better[2] > tree[2] + TOLERANCE:
        tree = expand(better, small, merged, source, target, prizes, costs, deadline)
        solver = "own"
    return Tree(tree[0], tree[1], tree[2], max(bound, tree[2]), solver)


def grow(
    source: Int64,
    target: Int64,
    /,
    *,
    prizes: Float64,
    costs: Float64,
    pcst_fast: PcstFast,
    deadline: Deadline = NEVER,
) -> Solution:
    """Returns a tree at least as good as pcst_fast's, with either of its prunings, by one run.

    Both prunings (``gw`` and ``strong``) keep a part of the forest that it grows; this is the best
    part of that forest, by an exact program on it.

    Args:
        source: One end of each edge, int64 [m].
        target: The other end, int64 [m].
        prizes: Of the nodes, at least 0, float64 [n].
        costs: Of the edges, at least 0, float64 [m].
        pcst_fast: Grows the forest.
        deadline: Raises ``DeadlineError`` when past.
    """
    pairs = np.stack((source, target), axis=1)
    nodes, edges = pcst_fast(pairs, prizes, costs, -1, 1, "none", 0)
    within = np.asarray(nodes, dtype=np.int64)
    forest = np.asarray(edges, dtype=np.int64)
    return best_part(forest, source, target, prizes, costs, within, deadline)
