"""Personalised PageRank of a region, and what it keeps (O3; OKGQA, appendix A.2, eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Float64, Int32, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.region.cut import induced
from graph_service.retrieve.region.transition_matrix import AlongWalk, BothWalk, prepare_walk


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
    start_entities: Int32,
    walk: str = "along",
    damping: float = 0.85,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    degrees: Int64 | None = None,
    hub_damping: float = 0.0,
    deadline: Deadline | None = None,
) -> PageRank:
    """Returns the PageRank of a walk over some edges; see ``prepare_walk`` and ``rank``."""
    prepared = prepare_walk(
        head, tail, node_count=node_count, walk=walk, degrees=degrees, hub_damping=hub_damping
    )
    return rank(
        prepared,
        start_entities,
        damping=damping,
        tolerance=tolerance,
        max_iterations=max_iterations,
        deadline=deadline,
    )


def rank(
    walk: AlongWalk | BothWalk,
    start_entities: Int32,
    /,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    deadline: Deadline | None = None,
) -> PageRank:
    """Returns the PageRank of a walk that restarts evenly at the start entities.

    Along edges the walk is taken step by step from the restart distribution, until the L1 norm of
    a step's change is under ``tolerance`` itself (networkx: n times as much). Both ways the mass
    is solved for by conjugate gradients, until a step of the walk would change it by less than
    that. Parallel edges weigh together; the mass of a node without a way out goes back to the
    restart.

    Args:
        walk: From ``prepare_walk``.
        start_entities: Where the walk restarts, without repeats.
        damping: Chance of a further step rather than a restart.
        tolerance: L1 change under which it stops.
        max_iterations: Steps at most.
        deadline: Raises ``DeadlineError`` when past.

    Raises:
        InputError: There are no start entities.
        DeadlineError: The time allowed ran out.
    """
    if not len(start_entities):
        raise InputError("PageRank needs at least one entity to restart at", argument="entity_ids")
    restart = np.zeros(walk.node_count)
    restart[walk.position[start_entities]] = 1.0 / len(start_entities)
    deadline = deadline or Deadline.none()
    if isinstance(walk, AlongWalk):
        result = _along(walk, restart, damping, tolerance, max_iterations, deadline)
    else:
        result = _both(walk, restart, damping, tolerance, max_iterations, deadline)
    return replace(result, mass=result.mass[walk.position])


def _along(
    walk: AlongWalk,
    restart: Float64,
    damping: float,
    tolerance: float,
    max_iterations: int,
    deadline: Deadline,
) -> PageRank:
    """Takes the steps of the middle alone; the other nodes follow from it.

    With ``level`` the factor of the restart in a step, a source has ``level * restart`` and an
    end what the step before had passed on.
    """
    middle, sources = walk.middle, walk.sources
    share = damping * walk.share[:middle]
    at_middle, at_source, at_end = restart[:middle], restart[middle:sources], restart[sources:]
    from_sources = walk.outer.sums(damping * walk.share[middle:] * at_source)
    at_sources = float(at_source.sum())
    # Levels of the last three steps, the newest first; the walk begins at the restart itself.
    mass, levels = at_middle.copy(), [1.0, 0.0, 0.0]
    sent = before_sent = np.zeros(middle)
    iteration, change = 0, float("inf")
    while iteration < max_iterations:
        iteration += 1
        deadline.check("ranking the region")
        before_sent, sent = sent, share * mass
        level = 1.0 - damping * (float(mass.sum()) + levels[0] * at_sources)
        following = walk.inner.sums(sent)
        following += level * at_middle
        following += levels[0] * from_sources[:middle]
        levels = [level, *levels[:2]]
        change = float(np.abs(following - mass).sum()) + abs(level - levels[1]) * at_sources
        mass = following
        if change >= tolerance and iteration < max_iterations:
            continue
        end_change = (level - levels[1]) * at_end + (levels[1] - levels[2]) * from_sources[middle:]
        end_change += walk.last.sums(sent - before_sent)
        change += float(np.abs(end_change).sum())
        if change < tolerance:
            break
    masses = np.empty(walk.node_count)
    masses[:middle] = mass
    masses[middle:sources] = levels[0] * at_source
    masses[sources:] = levels[0] * at_end + levels[1] * from_sources[middle:] + walk.last.sums(sent)
    return PageRank(masses, iteration, change)


def _both(
    walk: BothWalk,
    restart: Float64,
    damping: float,
    tolerance: float,
    max_iterations: int,
    deadline: Deadline,
) -> PageRank:
    """Solves ``(1 - damping * P) x = restart``; the mass is x over its sum.

    That holds with dead ends too: those are nodes without edges, whose mass only adds to the
    restart. What the equation is off by is known at each step, and bounds what a step changes.
    """
    iterated, linked = walk.iterated, walk.linked
    scale, rest_scale = walk.scale[:iterated], damping * walk.scale[iterated:]
    root, rest_root = walk.root[:iterated], walk.root[iterated:]
    at_rest = restart[iterated:linked] / rest_root
    joined = np.zeros(linked)
    off = restart[:iterated] / root
    if at_rest.any():
        joined[iterated:] = walk.scale[iterated:] * at_rest
        off += damping * scale * walk.to_iterated.sums(joined)
    solution = np.zeros(iterated)
    direction = off.copy()
    square = _dot(off, off)
    rest_factor = rest_scale * walk.scale[iterated:]
    damped = damping * scale
    iteration = 0
    alone = float(restart[linked:].sum())
    enough = tolerance * (alone + (1.0 - alone) / (1.0 - damping))
    left = _left(off, root)
    # Nothing at all is no solution, however loose the tolerance.
    while iteration < max_iterations and (left >= enough or (left > 0.0 and not iteration)):
        iteration += 1
        deadline.check("ranking the region")
        np.multiply(scale, direction, out=joined[:iterated])
        np.multiply(rest_factor, walk.to_rest.sums(joined), out=joined[iterated:])
        image = direction - damped * walk.to_iterated.sums(joined)
        length = square / _dot(direction, image)
        solution += length * direction
        off -= length * image
        before, square = square, _dot(off, off)
        direction *= square / before
        direction += off
        left = _left(off, root)
    masses = restart.copy()
    masses[:iterated] = root * solution
    np.multiply(scale, solution, out=joined[:iterated])
    masses[iterated:linked] = rest_root * (at_rest + rest_scale * walk.to_rest.sums(joined))
    total = float(masses.sum())
    return PageRank(masses / total, iteration, left / total)


def _left(off: Float64, root: Float64) -> float:
    """Returns what a step of the walk changes in L1, at most: it keeps the sum of all mass."""
    return _dot(np.abs(off), root) + abs(_dot(off, root))


def _dot(left: Float64, right: Float64) -> float:
    """Returns the inner product without BLAS, whose threads cost more than they save here."""
    return float(np.einsum("i,i->", left, right))


def prune(
    region: Region, mass: Float64, /, *, min_mass: float = 1e-5, max_nodes: int | None = None
) -> Region:
    """Returns the region on its nodes of most mass; start entities always stay.

    Args:
        region: The region.
        mass: PageRank, float64 [n].
        min_mass: Nodes of less go.
        max_nodes: Most nodes that stay; ties of mass (to 12 digits) go by key.
    """
    selected = mass >= min_mass
    selected[region.start_entities] = True
    cuts: list[Cut] = []
    count = int(selected.sum())
    if count < region.node_count:
        cuts.append(Cut("nodes", CutReason.MASS, min_mass, count, region.node_count))
    if max_nodes is not None and count > max_nodes:
        is_start = np.zeros(region.node_count, dtype=bool)
        is_start[region.start_entities] = True
        order = np.lexsort((region.node_keys, -np.round(mass, 12), ~is_start, ~selected))
        selected[:] = False
        selected[order[: max(max_nodes, int(is_start.sum()))]] = True
        cuts.append(Cut("nodes", CutReason.LIMIT, max_nodes, int(selected.sum()), count))
    if not cuts:
        return region
    return induced(region, selected, cuts=cuts)
