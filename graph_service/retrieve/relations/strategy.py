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
    PickedEdge,
    PickedPath,
    RetrievalContext,
    Selection,
    limited,
    over,
)
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.preset import RelationPreset

SCORE_DIGITS = 5


@dataclass(frozen=True, slots=True)
class _Found:
    """A statement that was kept.

    Attributes:
        edge: Local edge.
        reverse: Whether its relation leads from values to the entity.
        rank: Of its relation among the entity's, from 1.
        origin: The entity it was kept for, a global node.
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
    statement's score is one over that rank, all of it the relation's. One that is kept for two
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
    drawn: list[list[tuple[bool, Int64]]] = []
    for edges, name in zip(around, names, strict=True):
        call.deadline.check("ranking relations")
        place = {relations[signed].key: signed for signed in edges}
        order = ranker.rank(question, [relations[signed] for signed in edges], entity=name)
        kept = [place[item.relation.key] for item in order[: preset.relations_per_entity]]
        drawn.append([(signed[1], _drawn(region, edges[signed], preset)) for signed in kept])
    call.clock.stage("relations")
    found: dict[int, _Found] = {}
    for rank in range(max(map(len, drawn), default=0)):
        call.deadline.check("collecting statements")
        for origin, of_entity in zip(
            region.nodes[region.start_entities].tolist(), drawn, strict=True
        ):
            if rank < len(of_entity):
                reverse, edges_kept = of_entity[rank]
                for edge in edges_kept.tolist():
                    found.setdefault(edge, _Found(edge, reverse, rank + 1, origin))
    return _picked(call, list(found.values()), cuts)


def _signed_edges(region: Region, start: int) -> dict[tuple[int, bool], Int64]:
    """Returns the local edges of an entity by relation and direction, both in ascending order.

    A statement of an entity about itself stands under both directions.
    """
    found: dict[tuple[int, bool], Int64] = {}
    for reverse, ends in ((False, region.head), (True, region.tail)):
        edges = np.flatnonzero(ends == start)
        order = edges[np.argsort(region.rel[edges], kind="stable")]
        rels, counts = np.unique(region.rel[order], return_counts=True)
        last = np.cumsum(counts)
        for rel, begin, end in zip(
            rels.tolist(), (last - counts).tolist(), last.tolist(), strict=True
        ):
            found[rel, reverse] = order[begin:end]
    return found


def _signed_relations(
    labels: Labels, around: Sequence[Mapping[tuple[int, bool], Int64]]
) -> dict[tuple[int, bool], SignedRelation]:
    signed = {one for edges in around for one in edges}
    rels = np.array(sorted({rel for rel, _ in signed}), dtype=np.int64)
    ids = dict(zip(rels.tolist(), labels.relation_ids(rels), strict=True))
    texts = dict(zip(rels.tolist(), labels.relations(rels), strict=True))
    return {one: SignedRelation(ids[one[0]], texts[one[0]], one[1]) for one in signed}


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
        counts.update({one: len(part) for one, part in edges.items()})
    order = sorted(
        relations, key=lambda one: (-counts[one], relations[one].id, relations[one].reverse)
    )
    kept = set(order[:max_embedded])
    cut = Cut("embedded", CutReason.LIMIT, max_embedded, len(kept), len(relations))
    return [{one: part for one, part in edges.items() if one in kept} for edges in around], (cut,)


def _drawn(region: Region, edges: Int64, preset: RelationPreset) -> Int64:
    """Returns some of an entity's statements of one relation, in the order of their keys."""
    if len(edges) <= preset.triples_per_relation:
        return edges
    secret = digest((str(preset.draw_seed),), person=b"relations")
    hashes = keyed_hashes(region.edge_keys[edges], secret)
    return np.sort(edges[np.argsort(hashes)[: preset.triples_per_relation]])


def _picked(
    call: RetrievalContext[RelationPreset], found: Sequence[_Found], cuts: tuple[Cut, ...]
) -> Selection:
    region, limit = call.region, call.preset.limit
    cuts = (*cuts, *limited(call, len(found), total=len(found)))
    if call.strategy is Strategy.PATHS:
        paths = [
            PickedPath(
                (int(region.edges[one.edge]),),
                (one.reverse,),
                one.score,
                (ScorePart("relation", one.score),),
                one.origin,
            )
            for one in found[:limit]
        ]
        kept_paths, cut = over(call, paths)
        selection = Selection(NO_STATS, NO_STATS, paths=kept_paths, cuts=(*cuts, *cut))
    else:
        edges = [
            PickedEdge(int(region.edges[one.edge]), one.score, 0.0, one.score, 0.0, one.origin)
            for one in found[:limit]
        ]
        kept, cut = over(call, edges)
        selection = Selection(NO_STATS, NO_STATS, triples=kept, cuts=(*cuts, *cut))
    call.clock.stage(call.strategy.value)
    return selection
