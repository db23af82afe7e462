"""The statements nearest to a question that speaks of no relation of the graph.

"How has X shaped Y?" names entities and asks for no relation, so no relation sequence is like it.
What bears on it shows in the statements themselves: in what stands at their other end. Their own
texts, names and all, are compared with the whole question; of walks of two steps those come first
that join two of its entities. This is open questions' way, and it claims less: the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import Cut, CutReason
from graph_service.model.region import Region
from graph_service.retrieve.preset import SequencePreset
from graph_service.retrieve.sequences.walks import Walk
from graph_service.retrieve.similarity import SIMILARITY_DIGITS


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """Some steps out of nodes: local edges and nodes, int64 [s], and the way they are walked."""

    edge: Int64
    source: Int64
    target: Int64
    backward: Bool

    def chosen(self, places: Int64 | Bool, /) -> _Steps:
        return _Steps(
            self.edge[places], self.source[places], self.target[places], self.backward[places]
        )


def nearest_walks(
    region: Region,
    preset: SequencePreset,
    /,
    *,
    likeness: Callable[[Int64], Float64],
    promise: Callable[[Int64, Int64], Float64],
    max_length: int,
    max_walks: int,
) -> tuple[tuple[Walk, ...], bool, tuple[Cut, ...]]:
    """Returns walks of one step and of two, those nearest to the question first, whether there are
    more, and what was cut.

    Args:
        region: The region; walks begin at its start entities and visit no node twice.
        preset: How many statements are compared, and what a second step and another of the
            question's entities count.
        likeness: Cosines of some edges' own texts with the whole question, float64 [e].
        promise: How promising some steps look before they are compared, by edge and by the node
            they reach, float64 [s]; decides only which ones are compared where not all can be.
        max_length: Most steps; beyond two none is tried.
        max_walks: Walks returned at most.
    """
    start_entities = np.unique(region.start_entities).astype(np.int64)
    is_start = np.zeros(region.node_count, dtype=bool)
    is_start[start_entities] = True
    first = _steps(region, is_start)
    joins = _joins(first, region, is_start)
    ahead = joins.astype(np.float64) * 100.0
    first, first_like, left_out = _compared(
        first, ahead, likeness, promise, preset.max_compared_first
    )
    scores = [_scored(first_like, is_start[first.target], 0.0, preset.shared_bonus)]
    edges = [first.edge[:, None]]
    nodes = [np.stack((first.source, first.target), axis=1)]
    backward = [first.backward[:, None]]
    if max_length > 1 and len(first.edge):
        second, second_like, also_left = _second_steps(
            region, first, first_like, is_start, likeness, promise, preset
        )
        left_out += also_left
        before, after = _pairs(first, second)
        mean = (first_like[before] + second_like[after]) / 2
        meets = is_start[second.target[after]]
        scores.append(_scored(mean, meets, preset.hop_cost, preset.shared_bonus))
        edges.append(np.stack((first.edge[before], second.edge[after]), axis=1))
        nodes.append(
            np.stack((first.source[before], first.target[before], second.target[after]), axis=1)
        )
        backward.append(np.stack((first.backward[before], second.backward[after]), axis=1))
    walks: list[Walk] = []
    for depth, score in enumerate(scores):
        best = np.lexsort((*edges[depth].T[::-1], -score))[: 2 * max_walks]
        walks.extend(
            Walk(
                tuple(nodes[depth][row].tolist()),
                tuple(edges[depth][row].tolist()),
                tuple(backward[depth][row].tolist()),
                -1,
                float(score[row]),
            )
            for row in best.tolist()
        )
    walks.sort(key=lambda walk: (-walk.score, len(walk.edges), walk.edges))
    compared = len(np.unique(np.concatenate([found.ravel() for found in edges])))
    cuts = (
        (Cut("statements", CutReason.LIMIT, preset.max_compared, compared, compared + left_out),)
        if left_out
        else ()
    )
    distinct = _distinct(walks)
    more = len(distinct) > max_walks or sum(map(len, scores)) > len(walks)
    return distinct[:max_walks], more, cuts


def _distinct(walks: list[Walk]) -> tuple[Walk, ...]:
    """Returns the walks without those that are another read from its end."""
    seen: dict[tuple[int, ...], Walk] = {}
    for walk in walks:
        seen.setdefault(min(walk.edges, walk.edges[::-1]), walk)
    return tuple(seen.values())


def _steps(region: Region, start: Bool) -> _Steps:
    """Returns the steps out of some nodes, both ways, ordered by edge."""
    ahead = np.flatnonzero(start[region.head])
    back = np.flatnonzero(start[region.tail])
    edge = np.concatenate((ahead, back))
    head, tail = region.head.astype(np.int64), region.tail.astype(np.int64)
    steps = _Steps(
        edge,
        np.concatenate((head[ahead], tail[back])),
        np.concatenate((tail[ahead], head[back])),
        np.repeat([False, True], (len(ahead), len(back))),
    )
    order = np.lexsort((steps.backward, edge))
    steps = steps.chosen(order)
    return steps.chosen(steps.source != steps.target)


def _joins(steps: _Steps, region: Region, is_start: Bool) -> Bool:
    """Returns which steps reach another start entity, or an entity that two start entities reach."""
    pairs = np.unique(steps.target * np.int64(region.node_count) + steps.source)
    reached = np.bincount(pairs // region.node_count, minlength=region.node_count)
    joins: Bool = is_start[steps.target] | ((reached > 1) & ~region.literal)[steps.target]
    return joins


def _compared(
    steps: _Steps,
    ahead: Float64,
    likeness: Callable[[Int64], Float64],
    promise: Callable[[Int64, Int64], Float64],
    room: int,
) -> tuple[_Steps, Float64, int]:
    """Returns the steps that are compared, how like the question each is, and the number left."""
    distinct = np.unique(steps.edge)
    left_out = 0
    if len(distinct) > room:
        value = ahead + promise(steps.edge, steps.target)
        order = np.lexsort((steps.edge, -value))
        kept = np.array(list(dict.fromkeys(steps.edge[order].tolist()))[:room], dtype=np.int64)
        steps = steps.chosen(np.isin(steps.edge, kept))
        left_out = len(distinct) - len(kept)
        distinct = np.sort(kept)
    like = likeness(distinct)
    return steps, like[np.searchsorted(distinct, steps.edge)], left_out


def _second_steps(
    region: Region,
    first: _Steps,
    first_like: Float64,
    is_start: Bool,
    likeness: Callable[[Int64], Float64],
    promise: Callable[[Int64, Int64], Float64],
    preset: SequencePreset,
) -> tuple[_Steps, Float64, int]:
    """Returns second steps: back to another start entity, and on from the nearest first ones."""
    walkable = ~region.literal[first.target] & ~is_start[first.target]
    best = np.flatnonzero(walkable)
    best = best[np.lexsort((first.edge[best], -first_like[best]))][: preset.walked_on]
    from_nodes = np.zeros(region.node_count, dtype=bool)
    from_nodes[first.target[best]] = True
    onward = _steps(region, from_nodes)
    known = np.isin(onward.edge, first.edge)
    back = _Steps(first.edge, first.target, first.source, ~first.backward).chosen(walkable)
    back_like = first_like[walkable]
    room = max(preset.max_compared - len(first.edge), 0)
    fresh, fresh_like, left_out = _compared(
        onward.chosen(~known), np.zeros(int((~known).sum())), likeness, promise, room
    )
    second = _Steps(
        np.concatenate((back.edge, fresh.edge)),
        np.concatenate((back.source, fresh.source)),
        np.concatenate((back.target, fresh.target)),
        np.concatenate((back.backward, fresh.backward)),
    )
    return second, np.concatenate((back_like, fresh_like)), left_out


def _pairs(first: _Steps, second: _Steps) -> tuple[Int64, Int64]:
    """Returns which first step goes on with which second one, no node twice."""
    order = np.argsort(second.source, kind="stable")
    sources = second.source[order]
    begin = np.searchsorted(sources, first.target, side="left")
    count = np.searchsorted(sources, first.target, side="right") - begin
    before = np.repeat(np.arange(len(first.edge)), count)
    offset = np.arange(len(before)) - np.repeat(np.cumsum(count) - count, count)
    after = order[np.repeat(begin, count) + offset]
    simple = second.target[after] != first.source[before]
    return before[simple], after[simple]


def _scored(like: Float64, meets: Bool, cost: float, bonus: float) -> Float64:
    score: Float64 = np.round(like - cost + np.where(meets, bonus, 0.0), SIMILARITY_DIGITS) + 0.0
    return score
