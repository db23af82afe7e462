"""Preset ``ltgen`` as a retriever: relations ranked by the API, or here on what it returned (L4, L7).

The API tags entities, fetches their statements and draws from them; it ranks relations by embedding
or by a trained ranker of its store. A ranker that it has not, such as one that asks a language
model, ranks here: the API is asked for every relation of each tagged entity, and then for the
statements of those that were ranked first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, Unpack

from graph_service.client import calls
from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.limits import Cut
from graph_service.model.ranking import RankedRelation, RelationRanker, SignedRelation
from graph_service.model.request import RetrieveOptions
from graph_service.model.result import (
    LinkedEntity,
    Prizes,
    RetrievalResult,
    ScoredTriple,
    Status,
    Strategy,
    Tokens,
    Triple,
    TripletsResult,
    triples_of,
)
from graph_service.model.values import EntityValue
from queries.generate.prompt import plain_knowledge
from queries.llm import estimate_tokens

PRESET = "ltgen"
MAX_ENTITIES, RELATIONS_AN_ENTITY, STATEMENTS_A_RELATION = 5, 5, 10
"""Entities, relations of each and statements of each of these; as the preset has it."""
_OF_EACH_STEP = (
    "graph", "view", "entity_ids", "preset", "languages", "relation_ids", "exclude_relation_ids",
    "type_ids", "ranks",
)  # fmt: skip
"""Options that mean the same in each call of the steps; others would cut what is ranked."""
_MOST = 1000
"""Items of one call, and relations of an entity."""


class Graph(Protocol):
    """What is asked of the API; ``graph_service.client.Client`` is one."""

    def retrieve(
        self,
        strategy: Strategy,
        question: str,
        /,
        **options: Unpack[RetrieveOptions],
    ) -> RetrievalResult:
        """Returns what the preset finds."""


@dataclass(frozen=True, slots=True)
class StepLimits:
    """How much each step keeps; the preset's where None.

    Attributes:
        min_link_score: Of a tagged entity at least.
        max_entities: Tagged at most.
        relations_per_entity: Kept of each entity.
        triples_per_relation: Kept of each entity and relation.
        draw_seed: Random seed of the draw of statements.
    """

    min_link_score: float | None = None
    max_entities: int | None = None
    relations_per_entity: int | None = None
    triples_per_relation: int | None = None
    draw_seed: int | None = None

    def __post_init__(self) -> None:
        # The others are the API's to check; these are not passed on where relations are ranked here.
        for name in ("relations_per_entity", "triples_per_relation"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, got {value}", argument=name)

    def explicit(self) -> dict[str, Any]:
        """Returns those that are not the preset's."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class EntityRelations:
    """A tagged entity and its relations, all of them, best first."""

    entity: LinkedEntity
    ranked: tuple[RankedRelation, ...]


class RelationRetriever:
    """A retriever by preset ``ltgen``; stands wherever a client does.

    Args:
        graph: Mostly a ``graph_service.client.Client``.
        ranker: A name that the API knows (``embedding``, ``trained:...``), or a ranker of one's own.
        limits: How much is kept.
    """

    def __init__(
        self,
        graph: Graph,
        ranker: RelationRanker | str = "embedding",
        /,
        *,
        limits: StepLimits | None = None,
    ) -> None:
        self._graph = graph
        self._ranker = ranker
        self.limits = limits or StepLimits()

    def parameters(self) -> dict[str, Any]:
        """Returns what decides the result beside the question and the preset; what is None is the
        preset's.
        """
        return {"ranker": self._name, **asdict(self.limits)}

    def queries_of(
        self, result: RetrievalResult, /, **options: Unpack[RetrieveOptions]
    ) -> dict[str, Any]:
        """Returns the query that was sent, and under ``around`` those for each entity after it."""
        if isinstance(self._ranker, str):
            first, around = self._all_steps(options), []
        else:
            common = self._common(options)
            first = self._tagging(common)
            around = [
                self._around(common, id_, _ids(keys))
                for id_, keys in result.provenance.parameters["ranked"].items()
                if keys
            ]
        sent = [
            calls.retrieve(result.provenance.strategy, result.question, **each)
            for each in (first, *around)
        ]
        shown = [{"document": each.document, "variables": dict(each.variables)} for each in sent]
        return {**shown[0], "around": shown[1:]} if around else shown[0]

    def rank(
        self,
        question: str,
        /,
        **options: Unpack[RetrieveOptions],
    ) -> tuple[RetrievalResult, tuple[EntityRelations, ...]]:
        """Returns the retrieval that tagged, and each tagged entity with its ranked relations.

        Raises:
            InputError: The ranker is one of the API's, or an option is the API's alone.
            ReplyError: A prompted ranker got no usable reply.
        """
        if isinstance(self._ranker, str):
            raise InputError(
                f"relations are ranked here by a ranker that is at hand, not by {self._ranker!r}",
                argument="ranker",
            )
        common = self._common(options)
        tagged = self._graph.retrieve(Strategy.TRIPLETS, question, **self._tagging(common))
        triples = triples_of(tagged)
        by_entity: list[EntityRelations] = []
        for entity in tagged.linked:
            _, relations = by_relation(entity.entity.id, triples)
            ranked = self._ranker.rank(question, relations, entity=entity.entity.label)
            by_entity.append(EntityRelations(entity, ranked))
        return tagged, tuple(by_entity)

    def retrieve(
        self,
        strategy: Strategy,
        question: str,
        /,
        **options: Unpack[RetrieveOptions],
    ) -> RetrievalResult:
        """Returns the statements of the best relations, as the preset does.

        Raises:
            InputError: The strategy is none of the preset's; or with a ranker of one's own it is not
                ``triplets``, or an option is the API's alone.
            ReplyError: A prompted ranker got no usable reply.
        """
        if isinstance(self._ranker, str):
            return self._graph.retrieve(strategy, question, **self._all_steps(options))
        if strategy is not Strategy.TRIPLETS:
            raise InputError(
                f"ranker {self._ranker.name} ranks relations for triplets, not for "
                f"{strategy.value}",
                argument="strategy",
                hint="Give --strategy triplets.",
            )
        started = time.perf_counter()
        tagged, steps = self.rank(question, **options)
        items, cuts = self._items(question, self._common(options), steps)
        limit = options.get("limit")
        selected = items[:limit]
        provenance = replace(
            tagged.provenance,
            parameters={
                **tagged.provenance.parameters,
                "ranker": self._name,
                "relations_per_entity": self._relations_each,
                "triples_per_relation": self._statements_each,
                "limit": limit,
                "ranked": {
                    each.entity.entity.id: [
                        item.relation.key for item in each.ranked[: self._relations_each]
                    ]
                    for each in steps
                },
            },
        )
        status = Status.OK if selected else Status.NOTHING_RELEVANT
        if not tagged.linked:
            status = Status.NO_ENTITY_LINKED
        ids = [item.triple.statement_id for item in selected]
        shown = (str(provenance.parameters), status.value, *ids)
        return TripletsResult(
            id=digest((tagged.id, *shown), person=b"steps").hex(),
            question=question,
            status=status,
            linked=tagged.linked,
            truncated=(*tagged.truncated, *cuts),
            tokens=Tokens(
                estimate_tokens(plain_knowledge([item.triple for item in selected])),
                "estimate, a third of the bytes",
            ),
            region=tagged.region,
            provenance=provenance,
            timings_ms={"steps": (time.perf_counter() - started) * 1000},
            items=selected,
        )

    @property
    def _name(self) -> str:
        return self._ranker if isinstance(self._ranker, str) else self._ranker.name

    @property
    def _relations_each(self) -> int:
        return self.limits.relations_per_entity or RELATIONS_AN_ENTITY

    @property
    def _statements_each(self) -> int:
        return self.limits.triples_per_relation or STATEMENTS_A_RELATION

    def _all_steps(self, options: RetrieveOptions) -> RetrieveOptions:
        """What the API is asked that ranks relations itself."""
        return {"preset": PRESET, **options, **self.parameters()}  # type: ignore[typeddict-item]

    def _common(self, options: RetrieveOptions) -> RetrieveOptions:
        """What of the options all calls have where relations are ranked here."""
        set_options = {name: value for name, value in options.items() if value is not None}
        others = [name for name in set_options if name not in (*_OF_EACH_STEP, "limit")]
        if others:
            raise InputError(
                f"{', '.join(others)}: ranker {self._name}, which ranks outside the service, cannot take this",
                argument=others[0],
                hint="Give --ranker embedding or trained, by which the service ranks them.",
            )
        set_options.pop("limit", None)
        return {"preset": PRESET, **set_options}  # type: ignore[typeddict-item]

    def _tagging(self, common: RetrieveOptions) -> RetrieveOptions:
        """One statement of each relation of each tagged entity."""
        limits = {
            **self.limits.explicit(),
            "relations_per_entity": _MOST,
            "triples_per_relation": 1,
        }
        return {**common, **limits, "limit": _MOST}  # type: ignore[typeddict-item]

    def _around(
        self, common: RetrieveOptions, id_: str, relation_ids: tuple[str, ...]
    ) -> RetrieveOptions:
        """The statements of some of an entity's relations, as many as are kept of each."""
        limits = {**self.limits.explicit(), "relations_per_entity": _MOST, "entity_ids": (id_,)}
        return {**common, **limits, "limit": _MOST, "relation_ids": relation_ids}  # type: ignore[typeddict-item]

    def _items(
        self, question: str, common: RetrieveOptions, entities: Sequence[EntityRelations]
    ) -> tuple[tuple[ScoredTriple, ...], tuple[Cut, ...]]:
        """Returns the statements of the best relations, entities taking turns, and what was cut."""
        ranked = [each.ranked[: self._relations_each] for each in entities]
        statements: list[Mapping[str, tuple[Triple, ...]]] = []
        cuts: list[Cut] = []
        for each, best in zip(entities, ranked, strict=True):
            if not best:
                statements.append({})
                continue
            id_ = each.entity.entity.id
            ids = _ids([item.relation.key for item in best])
            around = self._graph.retrieve(
                Strategy.TRIPLETS, question, **self._around(common, id_, ids)
            )
            cuts.extend(around.truncated)
            statements.append(by_relation(id_, triples_of(around))[0])
        items: dict[str, ScoredTriple] = {}
        for rank in range(self._relations_each):
            for each, best, held in zip(entities, ranked, statements, strict=True):
                if rank >= len(best):
                    continue
                score = round(1 / (rank + 1), 5)
                for triple in held.get(best[rank].relation.key, ()):
                    items.setdefault(
                        triple.statement_id,
                        ScoredTriple(
                            triple,
                            score,
                            Prizes(0.0, score, 0.0),
                            origin_id=each.entity.entity.id,
                        ),
                    )
        return tuple(items.values()), tuple(dict.fromkeys(cuts))


def _ids(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({key.removeprefix("-") for key in keys}))


def by_relation(
    id_: str, triples: Sequence[Triple], /
) -> tuple[dict[str, tuple[Triple, ...]], tuple[SignedRelation, ...]]:
    """Returns an entity's statements by signed relation, and these relations, by id.

    A statement of an entity about itself stands under both directions.
    """
    grouped: dict[str, list[Triple]] = {}
    relations: dict[str, SignedRelation] = {}
    for triple in triples:
        is_value = isinstance(triple.value, EntityValue) and triple.value.id == id_
        for reverse, holds in ((False, triple.head.id == id_), (True, is_value)):
            if holds:
                relation = SignedRelation(triple.relation.id, triple.relation.label, reverse)
                grouped.setdefault(relation.key, []).append(triple)
                relations[relation.key] = relation
    keys = sorted(relations)
    return {key: tuple(grouped[key]) for key in keys}, tuple(relations[key] for key in keys)
