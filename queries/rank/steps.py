"""Retrieval in LTGen's three steps, relations ranked by any ranker (L4).

1. Entities are tagged: those of the linker that are sure enough, five at most; or they are given
   (the oracle). 2. All their statements are fetched, in both directions. 3. Their relations are
ranked by the whole dialogue; some are kept of each entity, and of each entity and relation some
statements, drawn by a keyed hash.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Protocol

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.limits import Cut
from graph_service.model.ranking import RankedRelation, RelationRanker, SignedRelation
from graph_service.model.request import ViewRef
from graph_service.model.result import (
    LinkedEntity,
    Prizes,
    RetrievalResult,
    ScoredTriple,
    Status,
    Strategy,
    SubgraphResult,
    Tokens,
    Triple,
    TripletsResult,
)
from graph_service.model.values import EntityValue
from queries.generate.prompt import plain_knowledge
from queries.llm import estimate_tokens

MOST_STATEMENTS = 1000
"""Of one entity; what is left out is said in the result."""

# What links the words is a retrieval: of one edge, which is not used.
_TAG: Mapping[str, int] = {"limit": 1, "max_hops": 1, "max_edges": 1}


class Surroundings(Protocol):
    """What the steps ask of a graph; ``graph_service.client.Client`` is one."""

    def triplets(
        self,
        question: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        entity_ids: tuple[str, ...] = (),
        preset: str = "default",
        limit: int | None = None,
        max_hops: int | None = None,
        max_edges: int | None = None,
    ) -> TripletsResult:
        """Returns triplets; the steps take the entities from it."""

    def neighbourhood(
        self,
        id_: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        hops: int = 1,
        limit: int = 100,
    ) -> SubgraphResult:
        """Returns the statements within some hops of an entity, nearest first."""


@dataclass(frozen=True, slots=True)
class StepLimits:
    """How much each step keeps.

    Attributes:
        confidence: Tagged entities under this are left out (TAGME's scale in the paper).
        entities: Tagged at most.
        relations: Kept of each entity.
        statements: Kept of each entity and relation.
        random_seed: Of the draw of statements.
    """

    confidence: float = 0.22
    entities: int = 5
    relations: int = 5
    statements: int = 10
    random_seed: int = 0

    def __post_init__(self) -> None:
        for name in ("entities", "relations", "statements"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name} must be at least 1, got {getattr(self, name)}", argument=name
                )
        if not 0 <= self.confidence <= 1:
            raise InputError(
                f"the confidence must be 0 to 1, got {self.confidence}", argument="confidence"
            )


@dataclass(frozen=True, slots=True)
class EntityRelations:
    """The relations of one tagged entity, best first, and the statements of each.

    Attributes:
        entity: The entity.
        ranked: All its relations, best first.
        statements: By signed relation, in the graph's order.
        truncated: What the graph left out.
    """

    entity: LinkedEntity
    ranked: tuple[RankedRelation, ...]
    statements: Mapping[str, tuple[Triple, ...]]
    truncated: tuple[Cut, ...] = ()


class RelationRetriever:
    """A retriever that ranks relations; stands wherever a client does.

    Args:
        graph: Mostly a ``graph_service.client.Client``.
        ranker: Who ranks.
        limits: How much is kept.
    """

    def __init__(
        self, graph: Surroundings, ranker: RelationRanker, /, *, limits: StepLimits | None = None
    ) -> None:
        self._graph = graph
        self._ranker = ranker
        self.limits = limits or StepLimits()

    def parameters(self) -> dict[str, Any]:
        """Returns what decides the result beside the question."""
        limits = self.limits
        return {
            "relation_ranker": self._ranker.name,
            "tag_confidence": limits.confidence,
            "tag_entities": limits.entities,
            "relations": limits.relations,
            "relation_statements": limits.statements,
            "draw_seed": limits.random_seed,
        }

    def queries_of(
        self,
        result: RetrievalResult,
        /,
        *,
        graph: str | None,
        view: ViewRef | None,
        entity_ids: tuple[str, ...],
        preset: str,
    ) -> dict[str, Any]:
        """Returns the query that tagged, and under ``around`` those for its entities."""
        # Not at the start: the client brings the whole API with it.
        from graph_service.client import calls

        tag = calls.retrieve(
            Strategy.TRIPLETS,
            result.question,
            {
                "graph": graph,
                "view": view,
                "entity_ids": entity_ids,
                "preset": preset,
                "limit": _TAG["limit"],
                "max_hops": _TAG["max_hops"],
                "max_edges": _TAG["max_edges"],
            },
        )
        around = [
            calls.neighbourhood(
                item.entity.id,
                graph=graph,
                view=view,
                hops=1,
                limit=MOST_STATEMENTS,
                languages=("en",),
            )
            for item in result.linked
        ]
        return {
            "document": tag.document,
            "variables": dict(tag.variables),
            "around": [
                {"document": call.document, "variables": dict(call.variables)} for call in around
            ],
        }

    def rank(
        self,
        question: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        entity_ids: tuple[str, ...] = (),
        preset: str = "default",
    ) -> tuple[RetrievalResult, tuple[EntityRelations, ...]]:
        """Returns the retrieval that tagged, and each tagged entity with its ranked relations.

        Raises:
            ReplyError: A prompted ranker got no usable reply.
        """
        tagged = self._graph.triplets(
            question, graph=graph, view=view, entity_ids=entity_ids, preset=preset, **_TAG
        )
        found: list[EntityRelations] = []
        for entity in self._kept(tagged.linked):
            around = self._graph.neighbourhood(
                entity.entity.id, graph=graph, view=view, hops=1, limit=MOST_STATEMENTS
            )
            statements, relations = by_relation(
                entity.entity.id, [item.triple for item in around.items]
            )
            ranked = self._ranker.rank(question, relations, entity=entity.entity.label)
            found.append(EntityRelations(entity, ranked, statements, around.truncated))
        return tagged, tuple(found)

    def retrieve(
        self,
        strategy: Strategy,
        question: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        entity_ids: tuple[str, ...] = (),
        preset: str = "default",
        limit: int | None = None,
    ) -> RetrievalResult:
        """Returns the statements of the best relations, as triplets.

        They come by the rank of their relation, entities taking turns; a triple's score is one
        over that rank. ``limit`` is the number of triples.

        Raises:
            InputError: The strategy is not ``triplets``.
            ReplyError: A prompted ranker got no usable reply.
        """
        if strategy is not Strategy.TRIPLETS:
            raise InputError(
                f"relations are ranked for triplets, not for {strategy.value}",
                argument="strategy",
                hint="Give --strategy triplets.",
            )
        started = time.perf_counter()
        tagged, found = self.rank(
            question, graph=graph, view=view, entity_ids=entity_ids, preset=preset
        )
        items = self._items(found)[:limit]
        linked = tuple(each.entity for each in found)
        status = Status.OK if items else Status.NOTHING_RELEVANT
        if not linked:
            status = Status.NO_ENTITY_LINKED
        provenance = replace(
            tagged.provenance,
            strategy=Strategy.TRIPLETS,
            parameters={**tagged.provenance.parameters, **self.parameters()},
        )
        ids = [item.triple.statement_id for item in items]
        shown = (str(provenance.parameters), status.value, *ids)
        return TripletsResult(
            id=digest((tagged.id, *shown), person=b"steps").hex(),
            question=question,
            status=status,
            linked=linked,
            truncated=tuple(cut for each in found for cut in each.truncated),
            tokens=Tokens(
                estimate_tokens(plain_knowledge([item.triple for item in items])),
                "estimate, a third of the bytes",
            ),
            region=None,
            provenance=provenance,
            timings_ms={"steps": (time.perf_counter() - started) * 1000},
            items=items,
        )

    def _kept(self, linked: Sequence[LinkedEntity]) -> tuple[LinkedEntity, ...]:
        sure = [item for item in linked if not item.mention or item.score >= self.limits.confidence]
        distinct = {item.entity.id: item for item in reversed(sure)}
        best = sorted(distinct.values(), key=lambda item: (-item.score, item.entity.id))
        kept = {item.entity.id for item in best[: self.limits.entities]}
        return tuple(item for item in dict.fromkeys(sure) if item.entity.id in kept)

    def _items(self, found: Sequence[EntityRelations]) -> tuple[ScoredTriple, ...]:
        items: dict[str, ScoredTriple] = {}
        for rank in range(self.limits.relations):
            for each in found:
                if rank >= len(each.ranked):
                    continue
                statements = each.statements[each.ranked[rank].relation.key]
                for triple in self._drawn(statements):
                    score = round(1 / (rank + 1), 5)
                    items.setdefault(
                        triple.statement_id,
                        ScoredTriple(triple, score, Prizes(0.0, score, 0.0)),
                    )
        return tuple(items.values())

    def _drawn(self, statements: Sequence[Triple]) -> list[Triple]:
        key = str(self.limits.random_seed).encode()
        drawn = sorted(
            statements,
            key=lambda triple: (
                blake2b(triple.statement_id.encode(), digest_size=8, key=key).digest(),
                triple.statement_id,
            ),
        )
        kept = {triple.statement_id for triple in drawn[: self.limits.statements]}
        return [triple for triple in statements if triple.statement_id in kept]


def by_relation(
    id_: str, triples: Sequence[Triple], /
) -> tuple[dict[str, tuple[Triple, ...]], tuple[SignedRelation, ...]]:
    """Returns an entity's statements by signed relation, and these relations, by id.

    A statement of an entity about itself stands under both directions.
    """
    found: dict[str, list[Triple]] = {}
    relations: dict[str, SignedRelation] = {}
    for triple in triples:
        is_value = isinstance(triple.value, EntityValue) and triple.value.id == id_
        for reverse, holds in ((False, triple.head.id == id_), (True, is_value)):
            if holds:
                relation = SignedRelation(triple.relation.id, triple.relation.label, reverse)
                found.setdefault(relation.key, []).append(triple)
                relations[relation.key] = relation
    keys = sorted(relations)
    return {key: tuple(found[key]) for key in keys}, tuple(relations[key] for key in keys)
