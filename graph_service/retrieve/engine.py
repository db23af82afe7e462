"""One retrieval from the question's text and entities to picked statements.

Everything here is a function of its arguments: no store, and no clock but for the timings and the
deadline, which raises an error and never changes what is found. The preset's type says what is
picked, and how: ``by_prizes`` (``okgqa``), ``by_learning`` (``default``) or ``by_relations``
(``ltgen``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from graph_service.math_threads import one_math_thread
from graph_service.model.graph import Float64, Int32, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.ranking import RelationRanker
from graph_service.model.region import Region
from graph_service.model.result import Strategy
from graph_service.retrieve.context import Clock, Encode, Encoder, RetrievalContext, Selection
from graph_service.retrieve.kinds import HeadRelations, relations_in, relations_of_things
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.languages import deduplicate_languages
from graph_service.retrieve.learned.entity_question import compared_words, text_without
from graph_service.retrieve.learned.strategy import Asking, by_learning
from graph_service.retrieve.origin import with_origins
from graph_service.retrieve.preset import (
    AnyPreset,
    LearnedPreset,
    Preset,
    PrizePreset,
    RankedPreset,
    RelationPreset,
)
from graph_service.retrieve.prizes.strategy import by_prizes
from graph_service.retrieve.region.cut import IsInstance, extract_region, prizeable
from graph_service.retrieve.region.pagerank import personalised_pagerank, prune
from graph_service.retrieve.region.simple_graph import last_of_parallel
from graph_service.retrieve.region.stats import region_stats
from graph_service.retrieve.relations.strategy import by_relations

PresetT = TypeVar("PresetT", bound=Preset)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResolvedRequest:
    """All that one retrieval depends on.

    Attributes:
        strategy: Triplets, paths or subgraph.
        question: Its text.
        graph: The base.
        start_entities: The question's entities, global numbers.
        preset: All parameters; its type says what is picked, and how.
        encode: Texts to unit vectors, float32 [len(texts), d]; may keep what it computed.
        encode_queries: The same of the question, where the embedder reads it in another way.
        overlay: The view, where one is asked for.
        languages: Of labels, best first.
        relation_filter: Relations to keep and to leave out, int32.
        ranks: ``RANK_CODES`` of the statements that are edges.
        min_score: Items of a lower score are left out.
        prove: Whether to work longer, some two seconds, for a proven subgraph.
        deadline: Raises ``DeadlineError`` when past.
        region: Used as it is, where the store made it; else cut out of ``graph``.
        ranker: Orders relations, where the preset ranks them (L4).
        asking: What a preset needs that ranks by learning.
        head_relations: Reads the relations of entities beyond ``graph``, where that is only the
            part of the base that the store made ``region`` of.
        is_instance: Which entities are of the types asked for; no others are reached, but for
            the start entities. A ``region`` that the store made holds no others already.
        question_vector: Stands for the question's text wherever that is compared with others',
            float32 [d], of length 1; its words still say which names and kinds it holds.
    """

    strategy: Strategy
    question: str
    graph: KnowledgeGraph
    start_entities: Int32
    preset: AnyPreset
    encode: Encode
    overlay: Overlay | None = None
    languages: Sequence[str] = ("en",)
    relation_filter: tuple[Int32 | None, Int32 | None] | None = None
    ranks: Sequence[int] = (0, 1)
    min_score: float | None = None
    prove: bool = False
    deadline: Deadline = field(default_factory=Deadline.none)
    region: Region | None = None
    ranker: RelationRanker | None = None
    asking: Asking | None = None
    head_relations: HeadRelations | None = None
    is_instance: IsInstance | None = None
    question_vector: npt.NDArray[np.float32] | None = None
    encode_queries: Encode | None = None


@dataclass(frozen=True, slots=True)
class QuestionTexts:
    """Texts of a question whose vectors are needed.

    Attributes:
        questions: What is embedded as a question.
        words: What is compared with others as any text.
    """

    questions: tuple[str, ...]
    words: tuple[str, ...] = ()


def question_texts(
    question: str,
    mentions: Sequence[tuple[int, int] | None],
    preset: AnyPreset,
    /,
    *,
    has_vector: bool,
) -> QuestionTexts:
    """Returns the texts of a question that ``run`` asks the vectors of, as far as linking tells.

    Args:
        question: As written.
        mentions: Where it names what a preset that learned begins at, each place once; None for
            what it does not name.
        preset: Of the request.
        has_vector: Whether the question's own is given.
    """
    if not isinstance(preset, LearnedPreset):
        return QuestionTexts(() if has_vector else (question,))
    texts = [] if has_vector else [text_without(question, span) for span in mentions]
    words = [word for span in mentions for word in compared_words(question, span)]
    return QuestionTexts(tuple(dict.fromkeys(texts)), tuple(dict.fromkeys(words)))


def run(request: ResolvedRequest, /) -> Selection:
    """Returns what a question retrieves from a graph or a view of it.

    Raises:
        InputError: The question is empty, there are no start entities, or the preset
            lacks the strategy.
        DeadlineError: The time allowed ran out.
    """
    if not request.question.strip():
        raise InputError("the question is empty", argument="question")
    request.preset.require(request.strategy)
    with one_math_thread():
        return _select(request)


def _select(request: ResolvedRequest) -> Selection:
    preset = request.preset
    clock = Clock()
    graph, overlay, deadline = request.graph, request.overlay, request.deadline
    once = deduplicate_languages(
        _region(request), graph, overlay, request.languages, deadline=deadline
    )
    prizes = isinstance(preset, PrizePreset)
    region = last_of_parallel(once.region) if prizes else once.region
    clock.stage("region")
    after = _ranked(region, preset, deadline)
    clock.stage("pagerank")
    before_stats = after_stats = region_stats(
        region, max_wedges=preset.max_wedges, deadline=deadline
    )
    if after is not region:
        after_stats = region_stats(after, max_wedges=preset.max_wedges, deadline=deadline)
    clock.stage("statistics")
    labels = Labels(graph, overlay, request.languages, deadline)

    def context(of: PresetT) -> RetrievalContext[PresetT]:
        return RetrievalContext(
            request.strategy,
            of,
            after,
            region,
            labels,
            relations_of_things(request.head_relations or relations_in(graph), graph.equal),
            Encoder(
                request.encode,
                question_vector=request.question_vector,
                encode_queries=request.encode_queries,
            ),
            request.min_score,
            request.prove,
            deadline,
            clock,
        )

    match preset:
        case PrizePreset():
            eligible = prizeable(graph, overlay, after)
            selection = by_prizes(context(preset), request.question, eligible)
        case LearnedPreset():
            assert request.asking is not None, "a preset that learned needs what it asks"
            selection = by_learning(context(preset), request.question, request.asking)
        case RelationPreset():
            assert request.ranker is not None, "a preset that ranks relations needs a ranker"
            selection = by_relations(context(preset), request.question, request.ranker)
    if not isinstance(preset, RelationPreset):
        # Where relations are ranked, each item says which entity it was kept for.
        selection = with_origins(selection, region)
    return replace(
        selection,
        region_before=before_stats,
        region_after=after_stats,
        cuts=(*after.cuts, *selection.cuts),
        timings_ms=dict(clock.stages),
        stands_for=once.stands_for,
    )


def _region(request: ResolvedRequest) -> Region:
    """Returns the region around the question's entities, of the types asked for."""
    if request.region is not None:
        return request.region
    preset = request.preset
    return extract_region(
        request.graph,
        request.start_entities,
        hops=preset.hops,
        hub_degree=preset.hub_degree,
        max_edges=preset.max_edges,
        overlay=request.overlay,
        ranks=request.ranks,
        relation_filter=request.relation_filter,
        is_instance=request.is_instance,
        equal=request.graph.equal,
        deadline=request.deadline,
    )


def _ranked(region: Region, preset: AnyPreset, deadline: Deadline) -> Region:
    """Returns the region that PageRank keeps: all of it where nothing could be cut."""
    match preset:
        case PrizePreset() if preset.min_mass > 0.0:
            mass = _mass(region, preset, deadline, walk="along")
            return prune(region, mass, min_mass=preset.min_mass)
        case LearnedPreset() if region.node_count > preset.max_nodes:
            mass = _mass(region, preset, deadline, walk="both", hub_damping=preset.hub_damping)
            return prune(region, mass, min_mass=0.0, max_nodes=preset.max_nodes)
    return region


def _mass(
    region: Region,
    preset: RankedPreset,
    deadline: Deadline,
    *,
    walk: str,
    hub_damping: float = 0.0,
) -> Float64:
    return personalised_pagerank(
        region.head,
        region.tail,
        node_count=region.node_count,
        start_entities=region.start_entities,
        walk=walk,
        damping=preset.damping,
        tolerance=preset.tolerance,
        max_iterations=preset.max_iterations,
        degrees=region.degrees,
        hub_damping=hub_damping,
        deadline=deadline,
    ).mass
