"""Personalised PageRank of a region, and what it keeps (row O3; OKGQA, appendix A.2, eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Float64, Int32, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.region import induced


@dataclass(frozen=True, slots=True, eq=False)
class PageRank:
    """The stationary mass of a walk with restarts.

    Attributes:
        mass: Share of each node, float64 [n]; sums to 1.
        iterations: Steps taken.
        change: L1 change of the last step; under the tolerance if it converged.
    """

    mass: Float64
    iterations: int
    change: float


def personalised_pagerank(
    head: Int32,
    tail: Int32,
    /,
    *,
    node_count: int,
    seeds: Int32,
    walk: str = "along",
    damping: float = 0.85,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    degrees: Int64 | None = None,
    hub_damping: float = 0.0,
    deadline: Deadline | None = None,
) -> PageRank:
    """Returns the PageRank of a walk that restarts evenly at the seeds.

    It starts from the restart distribution and stops when the L1 norm of a step's change is under
    ``tolerance`` itself (networkx: n times as much). Parallel edges weigh together; the mass of
    a node without a way out goes back to the restart.

    Args:
        head: Where each edge begins, int32 [m].
        tail: Where it ends, int32 [m].
        node_count: n.
        seeds: Where the walk restarts, without repeats.
        walk: ``along`` edges, head to tail, or ``both`` ways.
        damping: Chance of a further step rather than a restart.
        tolerance: L1 change under which it stops.
        max_iterations: Steps at most.
        degrees: Degree of each node for ``hub_damping``, int64 [n].
        hub_damping: A step to a node of degree d weighs ``d ** -hub_damping``.
        deadline: Raises ``DeadlineError`` when past.
    """
    if not len(seeds):
        raise InputError("PageRank needs at least one entity to restart at", argument="entity_ids")
    deadline = deadline or Deadline.none()
    source, target = head.astype(np.int64), tail.astype(np.int64)
    if walk == "both":
        source, target = np.concatenate((source, target)), np.concatenate((target, source))
    elif walk != "along":
        raise InputError(f"walk must be along or both, got {walk!r}", argument="walk")
    # By target and then source: sums run in one order whatever the order of the edges.
    order = np.lexsort((source, target))
    source, target = source[order], target[order]
    weight = np.ones(len(source))
    if hub_damping and degrees is not None:
        weight = np.maximum(degrees[target], 1).astype(np.float64) ** -hub_damping
    out = np.bincount(source, weights=weight, minlength=node_count)
    dangling = out == 0
    share = weight / out[source] * damping
    starts = np.flatnonzero(np.diff(target, prepend=-1))
    targets = target[starts]
    restart = np.zeros(node_count)
    restart[seeds] = 1.0 / len(seeds)
    mass = restart.copy()
    iteration, change = 0, float("inf")
    while iteration < max_iterations:
        iteration += 1
        deadline.check("ranking the region")
        following = ((1.0 - damping) + damping * float(mass[dangling].sum())) * restart
        if len(starts):
            following[targets] += np.add.reduceat(mass[source] * share, starts)
        change = float(np.abs(following - mass).sum())
        mass = following
        if change < tolerance:
            break
    return PageRank(mass, iteration, change)


def prune(
    region: Region, mass: Float64, /, *, min_mass: float = 1e-5, max_nodes: int | None = None
) -> Region:
    """Returns the region on its nodes of most mass; seeds always stay.

    Args:
        region: The region.
        mass: PageRank, float64 [n].
        min_mass: Nodes of less go.
        max_nodes: Most nodes that stay; ties of mass (to 12 digits) go by key.
    """
    keep = mass >= min_mass
    keep[region.seeds] = True
    cuts: list[Cut] = []
    kept = int(keep.sum())
    if kept < region.node_count:
        cuts.append(Cut("nodes", CutReason.MASS, min_mass, kept, region.node_count))
    if max_nodes is not None and kept > max_nodes:
        is_seed = np.zeros(region.node_count, dtype=bool)
        is_seed[region.seeds] = True
        order = np.lexsort((region.node_keys, -np.round(mass, 12), ~is_seed, ~keep))
        keep[:] = False
        keep[order[: max(max_nodes, int(is_seed.sum()))]] = True
        cuts.append(Cut("nodes", CutReason.LIMIT, max_nodes, int(keep.sum()), kept))
    if not cuts:
        return region
    return induced(region, keep, cuts=cuts)
