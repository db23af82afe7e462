"""Preset ``ltgen``: the relations of each of the question's entities, ranked (row L4).

The third of LTGen's steps. The entities are tagged and their statements fetched before; here the
relations of each are ranked by the whole question or dialogue, some are kept of each entity, and
of each of these some statements, drawn by a keyed hash of the random seed and the statement's key:
a larger draw holds a smaller one, and no order decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Int64
from graph_service.model.hashing import keyed_hashes
from graph_service.model.identity import digest
from graph_service.model.limits import Cut, CutReason
from graph_service.model.ranking import RelationRanker, SignedRelation
from graph_service.model.region import Region
from graph_service.model.result import ScorePart, Strategy
from graph_service.retrieve.context import (
    NO_STATS,
    RetrievalContext,
    SelectedEdge,
    SelectedPath,
    Selection,
    limited,
    over,
)
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.preset import RelationPreset

SCORE_DIGITS = 5


@dataclass(frozen=True, slots=True)
class _RankedEdge:
    """A selected statement, with the rank of its relation.

    Attributes:
        edge: Local edge.
        reverse: Whether its relation leads from values to the entity.
        rank: Of its relation among the entity's, from 1.
        origin: The entity that it was selected for, a global node.
    """

    edge: int
    reverse: bool
    rank: int
    origin: int

    @property
    def score(self) -> float:
        return round(1 / self.rank, SCORE_DIGITS)


def by_relations(
    call: RetrievalContext[RelationPreset], question: str, ranker: RelationRanker
) -> Selection:
    """Returns the statements of each entity's best relations.

    They come by the rank of their relation, entities taking turns in the order of the question; a
    statement's score is one over that rank, all of it the relation's. One that is selected for two
    entities counts for the one where its relation ranks higher.

    Args:
        call: The retrieval; every edge of its region has a start entity at one end.
        question: The question, or a whole dialogue.
        ranker: Orders the relations.
    """
    region, preset = call.region, call.preset
    around = []
    for start in region.start_entities.tolist():
        call.deadline.check("collecting relations")
        around.append(_signed_edges(region, start))
    relations = _signed_relations(call.labels, around)
    call.clock.stage("labels")
    around, cuts = _affordable(around, relations, preset.max_embedded)
    names = call.labels.nodes(region.nodes[region.start_entities])
    sampled: list[list[tuple[bool, Int64]]] = []
    for edges, name in zip(around, names, strict=True):
        call.deadline.check("ranking relations")
        relation_of_key = {relations[signed].key: signed for signed in edges}
        order = ranker.rank(question, [relations[signed] for signed in edges], entity=name)
        best = [relation_of_key[item.relation.key] for item in order[: preset.relations_per_entity]]
        sampled.append([(signed[1], _sampled(region, edges[signed], preset)) for signed in best])
    call.clock.stage("relations")
    by_edge: dict[int, _RankedEdge] = {}
    for rank in range(max(map(len, sampled), default=0)):
        call.deadline.check("collecting statements")
        for origin, of_entity in zip(
            region.nodes[region.start_entities].tolist(), sampled, strict=True
        ):
            if rank < len(of_entity):
                reverse, sampled_edges = of_entity[rank]
                for edge in sampled_edges.tolist():
                    by_edge.setdefault(edge, _RankedEdge(edge, reverse, rank + 1, origin))
    return _selection(call, list(by_edge.values()), cuts)


def _signed_edges(region: Region, start: int) -> dict[tuple[int, bool], Int64]:
    """Returns the local edges of an entity by relation and direction, both in ascending order.

    A statement of an entity about itself stands under both directions.
    """
    by_relation: dict[tuple[int, bool], Int64] = {}
    for reverse, endpoints in ((False, region.head), (True, region.tail)):
        edges = np.flatnonzero(endpoints == start)
        order = edges[np.argsort(region.rel[edges], kind="stable")]
        rels, counts = np.unique(region.rel[order], return_counts=True)
        last = np.cumsum(counts)
        for rel, begin, end in zip(
            rels.tolist(), (last - counts).tolist(), last.tolist(), strict=True
        ):
            by_relation[rel, reverse] = order[begin:end]
    return by_relation


def _signed_relations(
    labels: Labels, around: Sequence[Mapping[tuple[int, bool], Int64]]
) -> dict[tuple[int, bool], SignedRelation]:
    signed = {each for edges in around for each in edges}
    rels = np.array(sorted({rel for rel, _ in signed}), dtype=np.int64)
    ids = dict(zip(rels.tolist(), labels.relation_ids(rels), strict=True))
    texts = dict(zip(rels.tolist(), labels.relations(rels), strict=True))
    return {each: SignedRelation(ids[each[0]], texts[each[0]], each[1]) for each in signed}


def _affordable(
    around: list[dict[tuple[int, bool], Int64]],
    relations: Mapping[tuple[int, bool], SignedRelation],
    max_embedded: int,
) -> tuple[list[dict[tuple[int, bool], Int64]], tuple[Cut, ...]]:
    """Returns the relations that are ranked: all, or those of the most statements; ties by id."""
    if len(relations) <= max_embedded:
        return around, ()
    counts = Counter[tuple[int, bool]]()
    for edges in around:
        counts.update({each: len(part) for each, part in edges.items()})
    order = sorted(
        relations, key=lambda each: (-counts[each], relations[each].id, relations[each].reverse)
    )
    affordable = set(order[:max_embedded])
    cut = Cut("embedded", CutReason.LIMIT, max_embedded, len(affordable), len(relations))
    return [
        {each: part for each, part in edges.items() if each in affordable} for edges in around
    ], (cut,)


def _sampled(region: Region, edges: Int64, preset: RelationPreset) -> Int64:
    """Returns some of an entity's statements of one relation, in the order of their keys."""
    if len(edges) <= preset.triples_per_relation:
        return edges
    secret = digest((str(preset.draw_seed),), person=b"relations")
    hashes = keyed_hashes(region.edge_keys[edges], secret)
    return np.sort(edges[np.argsort(hashes)[: preset.triples_per_relation]])


def _selection(
    call: RetrievalContext[RelationPreset],
    ranked_edges: Sequence[_RankedEdge],
    cuts: tuple[Cut, ...],
) -> Selection:
    region, limit = call.region, call.preset.limit
    cuts = (*cuts, *limited(call, len(ranked_edges), total=len(ranked_edges)))
    if call.strategy is Strategy.PATHS:
        paths = [
            SelectedPath(
                (int(region.edges[ranked.edge]),),
                (ranked.reverse,),
                ranked.score,
                (ScorePart("relation", ranked.score),),
                ranked.origin,
            )
            for ranked in ranked_edges[:limit]
        ]
        selected_paths, cut = over(call, paths)
        selection = Selection(NO_STATS, NO_STATS, paths=selected_paths, cuts=(*cuts, *cut))
    else:
        edges = [
            SelectedEdge(
                int(region.edges[ranked.edge]), ranked.score, 0.0, ranked.score, 0.0, ranked.origin
            )
            for ranked in ranked_edges[:limit]
        ]
        selected_edges, cut = over(call, edges)
        selection = Selection(NO_STATS, NO_STATS, triples=selected_edges, cuts=(*cuts, *cut))
    call.clock.stage(call.strategy.value)
    return selection
