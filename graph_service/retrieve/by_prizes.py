"""Preset ``okgqa``: prizes by label, as the paper and its code have them (rows O4 to O7)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Float64
from graph_service.model.limits import Cut, CutReason
from graph_service.model.region import Region
from graph_service.model.result import ScorePart, Strategy
from graph_service.retrieve.paths import FoundPath, best_paths
from graph_service.retrieve.picking import (
    NO_STATS,
    Call,
    PickedPath,
    Selection,
    over,
    pick_edges,
    pick_subgraph,
)
from graph_service.retrieve.prizes import cosines, rank_prizes
from graph_service.retrieve.triplets import best_triplets


def by_prizes(call: Call, question: str, eligible: npt.NDArray[np.bool_]) -> Selection:
    """Rows O4 to O7 as the paper and its code have them."""
    region, preset = call.region, call.preset
    node_texts = call.labels.nodes(region.nodes)
    relations, which = np.unique(region.rel, return_inverse=True)
    relation_texts = call.labels.relations(relations)
    call.clock.stage("labels")
    allowed, cuts = _affordable(region, node_texts, relation_texts, preset.max_embedded)
    distinct = sorted({text for text, kept in zip(node_texts, allowed, strict=True) if kept})
    texts = sorted({*distinct, *relation_texts})
    wanted, vectors = call.encode.both(question, texts)
    call.deadline.check("embedding the region")
    by_text = dict(zip(texts, cosines(wanted, vectors).tolist(), strict=True))
    call.clock.stage("embedding")
    node_like = np.array([by_text.get(text, -1.0) for text in node_texts], dtype=np.float64)
    edge_like = np.array([by_text[text] for text in relation_texts], dtype=np.float64)[which]
    node_prizes = rank_prizes(
        node_like, preset.top_nodes, keys=region.node_keys, eligible=eligible & allowed
    )
    edge_texts = [relation_texts[place] for place in which.tolist()]
    edge_prizes = rank_prizes(edge_like, preset.top_edges, keys=region.edge_keys, texts=edge_texts)
    call.clock.stage("prizes")
    like = np.round(node_like[region.head] + edge_like + node_like[region.tail], 5)
    match call.strategy:
        case Strategy.TRIPLETS:
            chosen = best_triplets(
                region,
                node_prizes=node_prizes,
                edge_prizes=edge_prizes,
                limit=preset.limit,
                similarity=like,
            )
            picked, cut = pick_edges(call, chosen, node_prizes, edge_prizes)
            found = Selection(NO_STATS, NO_STATS, triples=picked, cuts=(*cuts, *cut))
        case Strategy.PATHS:
            prized = np.flatnonzero(node_prizes > 0)
            starts = prized[np.lexsort((region.node_keys[prized], -node_prizes[prized]))]
            search = best_paths(
                region,
                starts,
                node_prizes=node_prizes,
                edge_prizes=edge_prizes,
                edge_cost=preset.edge_cost,
                max_length=preset.max_path_length,
                limit=preset.limit,
                maximal=preset.maximal_paths,
                work_budget=preset.work_budget,
                deadline=call.deadline,
            )
            paths = [
                PickedPath(
                    tuple(int(region.edges[edge]) for edge in path.edges),
                    path.reversed,
                    path.score,
                    _parts(path, edge_prizes, preset.edge_cost),
                )
                for path in search.paths
            ]
            kept, cut = over(call, paths)
            found = Selection(NO_STATS, NO_STATS, paths=kept, cuts=(*cuts, *search.cuts, *cut))
        case Strategy.SUBGRAPH:
            found = pick_subgraph(call, node_prizes, edge_prizes, like, None, cuts)
    call.clock.stage(call.strategy.value)
    return found


def _parts(path: FoundPath, edge_prizes: Float64, edge_cost: float) -> tuple[ScorePart, ...]:
    edges = float(edge_prizes[list(path.edges)].sum())
    cost = -edge_cost * len(path.edges)
    parts = {"nodes": path.score - edges - cost, "edges": edges, "cost": cost}
    return tuple(ScorePart(name, round(amount, 9)) for name, amount in parts.items())


def _affordable(
    region: Region, node_texts: list[str], relation_texts: list[str], max_embedded: int
) -> tuple[npt.NDArray[np.bool_], tuple[Cut, ...]]:
    """Returns which nodes' texts may be embedded: the nearest, then those of highest degree."""
    allowed = np.ones(region.node_count, dtype=bool)
    room = max(max_embedded - len(set(relation_texts)), 1)
    total = len(set(node_texts))
    if total <= room:
        return allowed, ()
    kept: set[str] = set()
    allowed[:] = False
    for node in np.lexsort((region.node_keys, -region.degrees, region.hops)).tolist():
        if len(kept) < room or node_texts[node] in kept:
            kept.add(node_texts[node])
            allowed[node] = True
    return allowed, (Cut("embedded", CutReason.LIMIT, max_embedded, len(kept), total),)
