"""What is returned of the walks of the best relation sequences: triplets, paths or a subgraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Float64, Int64
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
from graph_service.retrieve.similarity import cosines


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


class TripleTexts:
    """Cosines of triples' own texts with a question, each text once.

    Args:
        call: Whose region and labels.
        question: Unit vector of the question, float32 [d].
        relation_texts: Words of each relation of the region.
    """

    def __init__(
        self,
        call: RetrievalContext[LearnedPreset],
        question: npt.NDArray[np.float32],
        relation_texts: Mapping[int, str],
    ) -> None:
        self._call = call
        self._question = question
        self._relations = relation_texts
        self._known: dict[str, float] = {}

    def similarity(self, edges: Int64, /) -> Float64:
        """Returns the cosine of each local edge's text."""
        region, labels = self._call.region, self._call.labels
        heads = labels.nodes(region.nodes[region.head[edges]])
        tails = labels.nodes(region.nodes[region.tail[edges]])
        names = [self._relations[rel] for rel in region.rel[edges].tolist()]
        triples = [" ".join(parts) for parts in zip(heads, names, tails, strict=True)]
        new = sorted(set(triples) - self._known.keys())
        if new:
            like = cosines(self._question, self._call.encode(new))
            self._known.update(zip(new, like.tolist(), strict=True))
        return np.array([self._known[text] for text in triples])

    def order(self, edges: Int64, /) -> Float64:
        """Returns the cosines of a few edges; where there are many, key alone decides: zeros."""
        many = len(edges) > self._call.preset.max_tied
        return np.zeros(len(edges)) if many else self.similarity(edges)
