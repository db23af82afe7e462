"""The entities that a question starts from: given, linked, tagged for sure, or swapped (K2, K7, L4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.errors import InputError, StoreUnavailableError
from graph_service.link import link, surest_entities
from graph_service.link.joint import JointMention
from graph_service.link.spans import Certainty
from graph_service.link.starts import StartCandidate, start_candidates
from graph_service.model.graph import Int32, KnowledgeGraph, require_node
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Cut
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import EntityRef, LinkedEntity
from graph_service.retrieve.preset import LearnedPreset, Preset, RelationPreset
from graph_service.service.linking_noise import add_linking_noise
from graph_service.service.lookup import read_id
from graph_service.service.triples import TripleRenderer
from graph_service.store.protocol import Store
from graph_service.store.recall import do_without


@dataclass(frozen=True, slots=True, eq=False)
class OpenGraph:
    """A published graph and its arrays."""

    info: GraphInfo
    arrays: KnowledgeGraph


@dataclass(frozen=True, slots=True, eq=False)
class Linking:
    """What a question was found to name.

    Attributes:
        entities: As the result shows them.
        start_entities: The entities that retrieval starts from, int32, without repeats.
        mentions: Where the question names entities, in characters: ``(start, end)``.
        cuts: Entities that were not sure enough, or too many, where the preset asks for that.
        candidates: What is known of each start entity, where retrieval decides which of them are meant.
        are_from_caller: Whether the caller gave the start entities.
    """

    entities: tuple[LinkedEntity, ...]
    start_entities: Int32
    mentions: tuple[tuple[int, int], ...]
    cuts: tuple[Cut, ...] = ()
    candidates: tuple[StartCandidate, ...] = ()
    are_from_caller: bool = False

    @property
    def named_spans(self) -> tuple[tuple[int, int] | None, ...]:
        """Where the question names its candidates, each place once; None for those of the caller
        that it does not name.
        """
        return tuple(dict.fromkeys(start.span for start in self.candidates))

    @property
    def sure_names(self) -> list[tuple[int, int]]:
        """Where the question surely names an entity, of what retrieval decides about."""
        return [
            (start.start, start.end)
            for start in self.candidates
            if start.linked and start.certainty > Certainty.COMMON
        ]


class QuestionLinker:
    """Finds the entities of questions.

    Args:
        store: Where entities are read.
    """

    def __init__(self, store: Store, /) -> None:
        self._store = store

    def link(self, base: OpenGraph, request: RetrieveRequest, preset: Preset, /) -> Linking:
        """Returns the entities of a question: those given, else those it names.

        Some of them are swapped for irrelevant ones, where the request asks for that (K7).

        Args:
            base: The graph.
            request: What is asked.
            preset: How many mentions are linked; under ``ltgen`` also which entities are sure
                enough, and how many.
        """
        if request.linking_accuracy is None and isinstance(preset, LearnedPreset):
            return self._candidates(base, request, preset)
        linking = self._linked(base, request, preset)
        if request.linking_accuracy is None:
            return linking
        arrays = base.arrays
        shown = [
            ref for entity in linking.entities for ref in (entity.entity, *entity.alternatives)
        ]
        named = [arrays.find_node(ref.id) for ref in shown]
        swapped = add_linking_noise(
            arrays,
            request.question,
            linking.start_entities.tolist(),
            accuracy=request.linking_accuracy,
            random_seed=request.linking_seed,
            named=[node for node in named if node is not None],
        )
        renderer = TripleRenderer(arrays, None, request.languages)
        refs = self.described(base, request.languages, renderer.entities(list(swapped.values())))
        by_id = dict(zip(arrays.node_ids.take(list(swapped)), refs, strict=True))
        nodes = np.array(
            [swapped.get(node, node) for node in linking.start_entities.tolist()], dtype=np.int32
        )
        return replace(
            linking,
            entities=tuple(
                replace(entity, swapped_for=by_id.get(entity.entity.id))
                for entity in linking.entities
            ),
            start_entities=nodes,
            candidates=_candidates_of_caller(base, request, nodes, preset),
            are_from_caller=True,
        )

    def meant(
        self,
        base: OpenGraph,
        request: RetrieveRequest,
        linking: Linking,
        mentions: Sequence[JointMention],
        /,
    ) -> tuple[LinkedEntity, ...]:
        """Returns what the question names, once retrieval has told which entities are meant.

        Args:
            base: The graph.
            request: What was asked.
            linking: With its ``candidates``.
            mentions: As retrieval chose them among those.
        """
        if linking.are_from_caller or not (linking.candidates or mentions):
            return linking.entities
        return self._shown(base, request, mentions)

    def _candidates(
        self, base: OpenGraph, request: RetrieveRequest, preset: LearnedPreset
    ) -> Linking:
        """Returns all that a question may name: retrieval decides what it means."""
        if not request.entity_ids:
            candidates = start_candidates(
                request.question,
                base.arrays,
                languages=request.languages,
                limit=preset.max_mentions,
            )
            nodes = np.array([start.node for start in candidates], dtype=np.int32)
            return Linking((), nodes, (), candidates=candidates)
        linking = self._of_caller(base, request, ())
        candidates = _candidates_of_caller(base, request, linking.start_entities, preset)
        return replace(linking, candidates=candidates, are_from_caller=True)

    def _linked(self, base: OpenGraph, request: RetrieveRequest, preset: Preset) -> Linking:
        cuts: tuple[Cut, ...] = ()
        mentions = link(
            request.question,
            base.arrays,
            languages=request.languages,
            limit=preset.max_mentions,
        )
        if isinstance(preset, RelationPreset) and not request.entity_ids:
            mentions, cuts = surest_entities(
                mentions, min_score=preset.min_link_score, most=preset.max_entities
            )
        spans = tuple((mention.start, mention.end) for mention in mentions)
        if request.entity_ids:
            return self._of_caller(base, request, spans)
        linked = self._shown(
            base,
            request,
            [
                JointMention(
                    mention.start,
                    mention.end,
                    mention.candidates[0].score,
                    tuple(candidate.node for candidate in mention.candidates),
                )
                for mention in mentions
            ],
        )
        start_entities = list(dict.fromkeys(mention.candidates[0].node for mention in mentions))
        return Linking(linked, np.array(start_entities, dtype=np.int32), spans, cuts)

    def _of_caller(
        self, base: OpenGraph, request: RetrieveRequest, mentions: tuple[tuple[int, int], ...]
    ) -> Linking:
        """Returns the entities that the caller gave, beside what the question names."""
        renderer = TripleRenderer(base.arrays, None, request.languages)
        nodes_of_ids = (
            self.node(base, id_, argument="entity_ids") for id_ in dict.fromkeys(request.entity_ids)
        )
        nodes = list(dict.fromkeys(nodes_of_ids))
        refs = self.described(base, request.languages, renderer.entities(nodes))
        entities = tuple(LinkedEntity(ref, "", -1, -1, 1.0) for ref in refs)
        return Linking(entities, np.array(nodes, dtype=np.int32), mentions)

    def _shown(
        self, base: OpenGraph, request: RetrieveRequest, mentions: Sequence[JointMention]
    ) -> tuple[LinkedEntity, ...]:
        renderer = TripleRenderer(base.arrays, None, request.languages)
        nodes = [node for mention in mentions for node in mention.nodes]
        refs = iter(self.described(base, request.languages, renderer.entities(nodes)))
        linked = []
        for mention in mentions:
            first, *others = [next(refs) for _ in mention.nodes]
            linked.append(
                LinkedEntity(
                    entity=first,
                    mention=request.question[mention.start : mention.end],
                    start=mention.start,
                    end=mention.end,
                    score=mention.score,
                    alternatives=tuple(others),
                )
            )
        return tuple(linked)

    def described(
        self, base: OpenGraph, languages: tuple[str, ...], refs: list[EntityRef], /
    ) -> list[EntityRef]:
        """Returns entities with a description, by which namesakes are told apart.

        A result from memory goes without.
        """
        if not refs:
            return []
        try:
            entities = self._store.entities(base.info.edition, [ref.id for ref in refs]).entities
        except StoreUnavailableError as error:
            do_without(error)
            return refs
        described = []
        for ref in refs:
            texts = entities[ref.id].descriptions if ref.id in entities else {}
            codes = [code for code in (*languages, "en", "mul", *sorted(texts)) if code in texts]
            described.append(replace(ref, description=texts[codes[0]] if codes else None))
        return described

    def node(self, base: OpenGraph, raw: str, /, *, argument: str) -> int:
        """Returns the node of an entity, redirects followed.

        Raises:
            InputError: The graph lacks it; names the argument.
        """
        id_ = read_id(raw, argument=argument)
        node = base.arrays.find_node(id_)
        if node is not None:
            return node
        lookup = self._store.entities(base.info.edition, [id_])
        if lookup.missing:
            raise unknown_entity(base.info, raw, argument=argument)
        return require_node(base.arrays, lookup.entities[id_].id)


def _candidates_of_caller(
    base: OpenGraph, request: RetrieveRequest, nodes: Int32, preset: Preset, /
) -> tuple[StartCandidate, ...]:
    """Returns what is known of entities of the caller: by which words the question names them."""
    named = start_candidates(
        request.question,
        base.arrays,
        languages=request.languages,
        limit=len(nodes) + preset.max_mentions,
    )
    known = {start.node: start for start in named}
    return tuple(known.get(start.node, start) for start in without_words(base.arrays, nodes))


def without_words(graph: KnowledgeGraph, nodes: Int32, /) -> tuple[StartCandidate, ...]:
    """Returns entities that no words of the question are known to name."""
    return tuple(
        StartCandidate(
            node, start=-1, end=-1, certainty=Certainty.NO, words=0, score=1.0, degree=degree
        )
        for node, degree in zip(nodes.tolist(), graph.degrees_of(nodes).tolist(), strict=True)
    )


def unknown_entity(info: GraphInfo, raw: str, /, *, argument: str) -> InputError:
    """Returns the error for an id that a graph lacks."""
    return InputError(
        f"graph {info.name!r} has no entity {raw!r}",
        argument=argument,
        hint=f"Look for it by name: graph-service search NAME --graph {info.name}",
    )
