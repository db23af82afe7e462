"""One connected subgraph of high prize and low cost (row O7; OKGQA section 3.2)."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace

import numpy as np

from graph_service.model.components import components
from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.prizes.triplets import triple_totals
from graph_service.retrieve.tree.bound import BOUND_WORK, PROOF_WORK
from graph_service.retrieve.tree.cardinality import best_of_size
from graph_service.retrieve.tree.reduction import SEARCHING
from graph_service.retrieve.tree.search import EXACT_WORK
from graph_service.retrieve.tree.solver import PcstFast, load_pcst_fast, solve


@dataclass(frozen=True, slots=True, eq=False)
class PrizedSubgraph:
    """A connected subgraph in local numbers.

    Attributes:
        nodes: Ascending, int64.
        edges: A spanning tree, and every other edge between the nodes whose prize exceeds its
            cost; ascending, int64.
        objective: Sum of node prizes and of (edge prize - cost).
        gap: Share by which the optimum (of as many edges, where there is a limit) can at most be
            better: 0.0 where this is proven to be it; None where no bound is known.
        solver: Which solver found it.
    """

    nodes: Int64
    edges: Int64
    objective: float
    gap: float | None
    solver: str
    cuts: tuple[Cut, ...] = ()


def best_subgraph(
    region: Region,
    /,
    *,
    node_prizes: Float64,
    edge_prizes: Float64,
    edge_cost: float,
    limit: int | None = None,
    priority: Int64 | None = None,
    exact_work: int = EXACT_WORK,
    prove: bool = False,
    use_pcst_fast: bool = True,
    deadline: Deadline | None = None,
) -> PrizedSubgraph:
    """Returns the connected subgraph that maximises prizes minus costs.

    An edge whose prize exceeds its cost pays for itself and for its other end, so such edges are
    merged first, losing nothing; what is left is a Steiner tree with prizes on nodes alone. (The
    published code reaches the same by a virtual node for each such edge.) A literal hangs on one
    edge, its best, and is never passed through.

    Args:
        region: The region.
        node_prizes: At least 0, float64 [n].
        edge_prizes: At least 0, float64 [m].
        edge_cost: Cost of each edge, at least 0.
        limit: Most edges; of a larger subgraph a connected part of as many is kept, and the
            objective is that of what is left.
        priority: Which edges the kept part grows by, smallest first, int64 [m]; None: the part
            worth most is kept.
        exact_work: Bound of the exact program.
        prove: Whether to work longer for the optimum and its proof: ``PROOF_WORK``, which is
            counted, so that no clock decides what is found.
        use_pcst_fast: Whether pcst_fast competes where it is installed and right.
        deadline: Raises ``DeadlineError`` when past.
    """
    deadline = deadline or Deadline.none()
    n = region.node_count
    gain = edge_prizes - edge_cost
    head, tail = region.head.astype(np.int64), region.tail.astype(np.int64)
    usable = _usable(region, gain)
    merge = usable & (gain > 0)
    label = components(head[merge], tail[merge], n, deadline=deadline, what=SEARCHING)
    # A loop's gain is its node's; bincount of nothing gives integers.
    paid = merge | ((head == tail) & (gain > 0))
    prizes = np.bincount(label, weights=node_prizes, minlength=n).astype(np.float64)
    prizes += np.bincount(label[head[paid]], weights=gain[paid], minlength=n)
    rest = np.flatnonzero(usable & ~merge)
    pcst_fast: PcstFast | None = load_pcst_fast()[0] if use_pcst_fast else None
    tree = solve(
        label[head[rest]],
        label[tail[rest]],
        prizes=prizes,
        costs=-gain[rest],
        exact_work=exact_work,
        bound_work=PROOF_WORK if prove else BOUND_WORK,
        pcst_fast=pcst_fast,
        deadline=deadline,
    )
    chosen = np.zeros(n, dtype=bool)
    chosen[tree.nodes] = True
    inside: Bool = chosen[label]
    edge_in = (gain > 0) & inside[head] & inside[tail]
    edge_in[rest[tree.edges]] = True
    bound = tree.bound
    cuts: tuple[Cut, ...] = ()
    count = int(edge_in.sum())
    if limit is not None and count > limit:
        if priority is None:
            edge_in = _best_part(region, edge_in, node_prizes, gain, limit, deadline)
        else:
            edge_in = _grown(region, edge_in, limit, priority, deadline)
        inside = np.zeros(n, dtype=bool)
        inside[head[edge_in]] = inside[tail[edge_in]] = True
        cuts = (Cut("items", CutReason.LIMIT, limit, int(edge_in.sum()), count),)
        bound = min(bound, _most(node_prizes, limit + 1) + _most(gain, limit))
    objective = subgraph_objective(inside, edge_in, node_prizes, edge_prizes, edge_cost)
    return PrizedSubgraph(
        nodes=np.flatnonzero(inside),
        edges=np.flatnonzero(edge_in),
        objective=objective,
        gap=_gap(objective, bound),
        solver=tree.solver,
        cuts=cuts,
    )


def _most(values: Float64, count: int) -> float:
    """Returns the most that ``count`` of some values can sum to."""
    top = np.sort(values[values > 0])[::-1][:count]
    return float(top.sum())


def _gap(objective: float, bound: float) -> float | None:
    """Returns by what share of the objective the bound is above it, rounded up to 1e-6."""
    over = bound - objective
    if over <= 1e-7:
        return 0.0
    return math.ceil(1e6 * over / objective) / 1e6 if objective > 0 else None


def subgraph_objective(
    nodes: Bool, edges: Bool, node_prizes: Float64, edge_prizes: Float64, edge_cost: float, /
) -> float:
    """Returns the sum of node prizes and of (edge prize - cost), rounded to 9 digits.

    Args:
        nodes: Which nodes are in, bool [n].
        edges: Which edges are in, bool [m].
        node_prizes: float64 [n].
        edge_prizes: float64 [m].
        edge_cost: Cost of each edge.
    """
    total = float(node_prizes[nodes].sum()) + float((edge_prizes[edges] - edge_cost).sum())
    return round(total, 9)


def at_least(
    region: Region,
    subgraph: PrizedSubgraph,
    /,
    *,
    node_prizes: Float64,
    edge_prizes: Float64,
    edge_cost: float,
    min_score: float,
) -> PrizedSubgraph:
    """Returns the subgraph without its edges of a lower head + edge + tail prize.

    Where that cuts it in two, the part of the best edge stays. No gap is known of what is left.

    Args:
        region: The region.
        subgraph: A subgraph of it.
        node_prizes: float64 [n].
        edge_prizes: float64 [m].
        edge_cost: Cost of each edge.
        min_score: The least score asked for.
    """
    head, tail = region.head.astype(np.int64), region.tail.astype(np.int64)
    total = triple_totals(region, nodes=node_prizes, edges=edge_prizes)[subgraph.edges]
    remaining = subgraph.edges[total >= min_score]
    if len(remaining) == len(subgraph.edges):
        return subgraph
    inside = np.zeros(region.node_count, dtype=bool)
    edge_in = np.zeros(region.edge_count, dtype=bool)
    if len(remaining):
        label = components(
            head[remaining],
            tail[remaining],
            region.node_count,
            deadline=Deadline.none(),
            what=SEARCHING,
        )
        best = subgraph.edges[np.lexsort((region.edge_keys[subgraph.edges], -total))[0]]
        edge_in[remaining[label[head[remaining]] == label[head[best]]]] = True
        inside[head[edge_in]] = inside[tail[edge_in]] = True
    cut = Cut("items", CutReason.MIN_SCORE, min_score, int(edge_in.sum()), len(subgraph.edges))
    return replace(
        subgraph,
        nodes=np.flatnonzero(inside),
        edges=np.flatnonzero(edge_in),
        objective=subgraph_objective(inside, edge_in, node_prizes, edge_prizes, edge_cost),
        gap=None,
        cuts=(*subgraph.cuts, cut),
    )


def _usable(region: Region, gain: Float64) -> Bool:
    """Returns the edges that may hold a tree together: of a literal's, only the best one."""
    usable: Bool = region.head != region.tail
    for nodes in (region.head, region.tail):
        at = np.flatnonzero(region.literal[nodes])
        order = at[np.lexsort((region.edge_keys[at], -gain[at], nodes[at]))]
        usable[order[np.diff(nodes[order], prepend=-1) == 0]] = False
    return usable


def _best_part(
    region: Region,
    edge_in: Bool,
    node_prizes: Float64,
    gain: Float64,
    limit: int,
    deadline: Deadline,
) -> Bool:
    """Returns the connected part of ``limit`` edges that is worth most, bool [m]."""
    edges = np.flatnonzero(edge_in)
    edges = edges[np.argsort(region.edge_keys[edges], kind="stable")]
    chosen = best_of_size(
        region.head[edges].astype(np.int64),
        region.tail[edges].astype(np.int64),
        prizes=node_prizes,
        gain=gain[edges],
        size=limit,
        deadline=deadline,
    )
    part = np.zeros(region.edge_count, dtype=bool)
    part[edges[chosen]] = True
    return part


def _grown(region: Region, edge_in: Bool, limit: int, priority: Int64, deadline: Deadline) -> Bool:
    """Returns a connected part of ``limit`` edges, grown from the first edge by priority."""
    edges = np.flatnonzero(edge_in)
    order = edges[np.lexsort((region.edge_keys[edges], priority[edges]))]
    near: dict[int, list[tuple[int, int]]] = {}
    for turn, edge in enumerate(order.tolist()):
        deadline.check("cutting the subgraph to the limit")
        near.setdefault(int(region.head[edge]), []).append((turn, edge))
        near.setdefault(int(region.tail[edge]), []).append((turn, edge))
    reached: set[int] = set()
    part = np.zeros(region.edge_count, dtype=bool)
    queue = [(0, int(order[0]))]
    queued = {int(order[0])}
    for _ in range(limit):
        deadline.check("cutting the subgraph to the limit")
        _, edge = heapq.heappop(queue)
        part[edge] = True
        for node in {int(region.head[edge]), int(region.tail[edge])} - reached:
            reached.add(node)
            for step in near[node]:
                if step[1] not in queued:
                    queued.add(step[1])
                    heapq.heappush(queue, step)
    return part
