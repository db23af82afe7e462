"""Preset ``okgqa``: similarities and prizes as that paper's code has them (rows O4 to O7)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Float64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
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
from graph_service.retrieve.preset import PrizePreset
from graph_service.retrieve.prizes.paths import LocalPath, best_first_paths
from graph_service.retrieve.prizes.triplets import best_triplets, triple_totals
from graph_service.retrieve.similarity import SIMILARITY_DIGITS, cosines, rank_prizes


def by_prizes(
    call: RetrievalContext[PrizePreset], question: str, eligible: npt.NDArray[np.bool_]
) -> Selection:
    """Returns what rows O4 to O7 pick, as the paper's code does where its text is open."""
    region, preset = call.region, call.preset
    node_texts = call.labels.nodes(region.nodes)
    relations, which = np.unique(region.rel, return_inverse=True)
    relation_texts = call.labels.relations(relations)
    call.clock.stage("labels")
    allowed, cuts = _affordable(
        region, node_texts, relation_texts, preset.max_embedded, call.deadline
    )
    distinct = sorted(
        {text for text, is_allowed in zip(node_texts, allowed, strict=True) if is_allowed}
    )
    texts = sorted({*distinct, *relation_texts})
    call.encode.read_ahead([question], texts)
    question_vector, vectors = call.encode.question(question), call.encode(texts)
    call.deadline.check("embedding the region")
    by_text = dict(zip(texts, cosines(question_vector, vectors).tolist(), strict=True))
    call.clock.stage("embedding")
    node_like = np.array([by_text.get(text, -1.0) for text in node_texts], dtype=np.float64)
    edge_like = np.array([by_text[text] for text in relation_texts], dtype=np.float64)[which]
    node_prizes = rank_prizes(
        node_like, preset.top_nodes, keys=region.node_keys, eligible=eligible & allowed
    )
    edge_prizes = rank_prizes(edge_like, preset.top_edges, keys=region.edge_keys)
    call.clock.stage("prizes")
    match call.strategy:
        case Strategy.TRIPLETS:
            chosen = best_triplets(
                region, node_similarity=node_like, edge_similarity=edge_like, limit=preset.limit
            )
            triples, cut = pick_edges(call, chosen, node_like, edge_like)
            count = region.edge_count
            cuts = (*cuts, *limited(call, count, total=count), *cut)
            selection = Selection(NO_STATS, NO_STATS, triples=triples, cuts=cuts)
        case Strategy.PATHS:
            paths, left = _paths(call, node_prizes, edge_prizes)
            selected, cut = over(call, paths)
            selection = Selection(NO_STATS, NO_STATS, paths=selected, cuts=(*cuts, *left, *cut))
        case Strategy.SUBGRAPH:
            like = triple_totals(region, nodes=node_like, edges=edge_like)
            like = np.round(like, SIMILARITY_DIGITS)
            selection = pick_subgraph(call, node_prizes, edge_prizes, like, None, cuts)
    call.clock.stage(call.strategy.value)
    return selection


def _paths(
    call: RetrievalContext[PrizePreset], node_prizes: Float64, edge_prizes: Float64
) -> tuple[list[SelectedPath], tuple[Cut, ...]]:
    """Returns the paths of at least one statement among those taken off the queue, best first."""
    region, preset = call.region, call.preset
    search = best_first_paths(
        region,
        np.flatnonzero(node_prizes > 0),
        node_prizes=node_prizes,
        edge_prizes=edge_prizes,
        edge_cost=preset.edge_cost,
        max_length=preset.max_path_length,
        count=max(preset.limit, preset.taken_paths),
        deadline=call.deadline,
    )
    scored = sorted((path for path in search.paths if path.edges), key=lambda path: -path.score)
    best = scored[: preset.limit]
    cuts: tuple[Cut, ...] = ()
    if search.more or len(best) < len(scored):
        cuts = (Cut("items", CutReason.LIMIT, preset.limit, len(best)),)
    selected = [
        SelectedPath(
            tuple(int(region.edges[edge]) for edge in path.edges),
            (False,) * len(path.edges),
            path.score,
            _parts(path, edge_prizes, preset.edge_cost),
        )
        for path in best
    ]
    return selected, cuts


def _parts(path: LocalPath, edge_prizes: Float64, edge_cost: float) -> tuple[ScorePart, ...]:
    edges = float(edge_prizes[list(path.edges)].sum())
    cost = -edge_cost * len(path.edges)
    parts = {"nodes": path.score - edges - cost, "edges": edges, "cost": cost}
    return tuple(ScorePart(name, round(amount, 9)) for name, amount in parts.items())


def _affordable(
    region: Region,
    node_texts: list[str],
    relation_texts: list[str],
    max_embedded: int,
    deadline: Deadline,
) -> tuple[npt.NDArray[np.bool_], tuple[Cut, ...]]:
    """Returns which nodes' texts may be embedded: the nearest, then those of highest degree."""
    allowed = np.ones(region.node_count, dtype=bool)
    room = max(max_embedded - len(set(relation_texts)), 1)
    total = len(set(node_texts))
    if total <= room:
        return allowed, ()
    embedded: set[str] = set()
    allowed[:] = False
    for node in np.lexsort((region.node_keys, -region.degrees, region.hops)).tolist():
        deadline.check("choosing what is embedded")
        if len(embedded) < room or node_texts[node] in embedded:
            embedded.add(node_texts[node])
            allowed[node] = True
    return allowed, (Cut("embedded", CutReason.LIMIT, max_embedded, len(embedded), total),)
