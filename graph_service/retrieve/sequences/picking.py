"""What is returned of the walks of the best relation sequences: triplets, paths or a subgraph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.limits import Cut, CutReason
from graph_service.model.result import ScorePart, Strategy
from graph_service.retrieve.context import (
    NO_STATS,
    RetrievalContext,
    SelectedPath,
    Selection,
    limited,
    over,
    pick_edges,
    pick_subgraph,
)
from graph_service.retrieve.preset import LearnedPreset


@dataclass(frozen=True, slots=True)
class Walk:
    """A trail from an entity of the question, in local numbers.

    Attributes:
        sequence: Number of its sequence.
        score: The sequence's, less what the walk lacks.
        parts: Of the score.
        met: Places of the constraints that it meets.
    """

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    reversed: tuple[bool, ...]
    sequence: int
    score: float
    parts: tuple[ScorePart, ...] = ()
    met: tuple[int, ...] = ()


def most_walks(preset: LearnedPreset, /) -> int:
    """Returns how many walks are read at most."""
    return max(preset.limit * preset.walks_per_item, preset.min_walks)


def pick_walks(
    call: RetrievalContext[LearnedPreset],
    walks: Sequence[Walk],
    cuts: tuple[Cut, ...],
    /,
    *,
    more: bool,
) -> Selection:
    """Returns what the strategy takes of some walks, best first.

    Args:
        call: The retrieval.
        walks: Best first.
        cuts: What was left out before.
        more: Whether there are walks that were not read. They may hold further statements.
    """
    region, preset = call.region, call.preset
    if call.strategy is Strategy.PATHS:
        paths = [
            SelectedPath(
                tuple(int(region.edges[edge]) for edge in walk.edges),
                walk.reversed,
                walk.score,
                walk.parts,
            )
            for walk in walks[: preset.limit]
        ]
        selected, cut = over(call, paths)
        cuts = (*cuts, *limited(call, len(walks)), *cut)
        selection = Selection(NO_STATS, NO_STATS, paths=selected, cuts=cuts)
    else:
        emitted: dict[int, float] = {}
        for walk in walks:
            for edge in walk.edges:
                emitted.setdefault(edge, max(walk.score, 0.0))
        edges = np.array(list(emitted), dtype=np.int64)
        if more and len(edges) <= preset.limit:
            cuts = (*cuts, Cut("paths", CutReason.LIMIT, most_walks(preset), len(walks)))
        edge_prizes = np.zeros(region.edge_count)
        edge_prizes[edges] = list(emitted.values())
        node_prizes = np.zeros(region.node_count)
        if call.strategy is Strategy.TRIPLETS:
            chosen = edges[: preset.limit]
            triples, cut = pick_edges(call, chosen, node_prizes, edge_prizes)
            cuts = (*cuts, *limited(call, len(edges)), *cut)
            selection = Selection(NO_STATS, NO_STATS, triples=triples, cuts=cuts)
        else:
            priority = np.full(region.edge_count, np.iinfo(np.int64).max)
            priority[edges] = np.arange(len(edges))
            like = np.zeros(region.edge_count)
            selection = pick_subgraph(call, node_prizes, edge_prizes, like, priority, cuts)
    call.clock.stage(call.strategy.value)
    return selection
