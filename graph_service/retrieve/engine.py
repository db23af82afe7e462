"""One retrieval from the question's text and entities to picked statements.

Everything here is a function of its arguments: no store, and no clock but for the timings and the
deadline, which raises an error and never changes what is found. What is picked, and how, is
``by_prizes`` (preset ``okgqa``), ``by_sequences`` (the default presets) or ``by_relations``
(preset ``ltgen``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from graph_service.model.graph import Int32, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.ranking import RelationRanker
from graph_service.model.region import Region
from graph_service.model.result import Strategy
from graph_service.retrieve.context import Clock, Encode, Encoder, RetrievalContext, Selection
from graph_service.retrieve.kinds import HeadRelations, question_words, relations_in
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.languages import deduplicate_languages, with_same_entities
from graph_service.retrieve.origin import with_origins
from graph_service.retrieve.preset import Preset
from graph_service.retrieve.prizes.strategy import by_prizes
from graph_service.retrieve.region.class_filter import IsInstance, of_types
from graph_service.retrieve.region.cut import extract_region, prizeable
from graph_service.retrieve.region.pagerank import personalised_pagerank, prune
from graph_service.retrieve.region.simple_graph import last_of_parallel
from graph_service.retrieve.region.stats import region_stats
from graph_service.retrieve.relations.strategy import by_relations
from graph_service.retrieve.sequences.strategy import by_sequences, without_mentions

_STATS_WEDGES = 50_000
"""Bound of counting triangles under the default presets; ``okgqa`` reports clustering always (O3)."""


def question_texts(
    question: str,
    mentions: Sequence[tuple[int, int]],
    preset: Preset,
    /,
    *,
    has_vector: bool = False,
) -> list[str]:
    """Returns the texts of a question that ``run`` asks the vectors of, as far as it alone tells.

    ``has_vector`` says that the question's own is given.
    """
    if preset.scoring != "sequences":
        return [] if has_vector else [question]
    asked = without_mentions(question, mentions)
    words = [] if preset.kind_similarity is None else question_words(asked)
    return words if has_vector else [asked, *words]


def run(
    strategy: Strategy,
    question: str,
    /,
    *,
    graph: KnowledgeGraph,
    start_entities: Int32,
    preset: Preset,
    encode: Encode,
    mentions: Sequence[tuple[int, int]] = (),
    overlay: Overlay | None = None,
    languages: Sequence[str] = ("en",),
    relation_filter: tuple[Int32 | None, Int32 | None] | None = None,
    ranks: Sequence[int] = (0, 1),
    min_score: float | None = None,
    prove: bool = False,
    deadline: Deadline | None = None,
    region: Region | None = None,
    ranker: RelationRanker | None = None,
    head_relations: HeadRelations | None = None,
    is_instance: IsInstance | None = None,
    question_vector: npt.NDArray[np.float32] | None = None,
) -> Selection:
    """Returns what a question retrieves from a graph or a view of it.

    Args:
        strategy: Triplets, paths or subgraph.
        question: Its text.
        graph: The base.
        start_entities: The question's entities, global numbers.
        preset: All parameters.
        encode: Texts to unit vectors, float32 [len(texts), d]; may keep what it computed.
        mentions: Where the question names entities, in characters: ``(start, end)``.
        overlay: The view, where one is asked for.
        languages: Of labels, best first.
        relation_filter: Relations to keep and to leave out, int32.
        ranks: ``RANK_CODES`` of the statements that are edges.
        min_score: Items of a lower score are left out.
        prove: Whether to work longer, some two seconds, for a proven subgraph.
        deadline: Raises ``DeadlineError`` when past.
        region: Used as it is, where the store made it; else cut out of ``graph``.
        ranker: Orders relations, where the preset ranks them (L4).
        head_relations: Reads the relations of entities beyond ``graph``, where that is only the
            part of the base that the store made ``region`` of.
        is_instance: Which entities are of the types asked for; others go, but for
            the start entities.
        question_vector: Stands for the question's text wherever that is compared with others',
            float32 [d], of length 1; its words still say which names and kinds it holds.

    Raises:
        InputError: The question is empty, there are no start entities, or the preset
            lacks the strategy.
        DeadlineError: The time allowed ran out.
    """
    if not question.strip():
        raise InputError("the question is empty", argument="question")
    preset.require(strategy)
    deadline = deadline or Deadline.none()
    clock = Clock()
    if region is None:
        region = extract_region(
            graph,
            with_same_entities(graph, start_entities),
            hops=preset.hops,
            hub_degree=preset.hub_degree,
            max_edges=preset.max_edges,
            overlay=overlay,
            ranks=ranks,
            relation_filter=relation_filter,
            deadline=deadline,
        )
    if is_instance is not None:
        region = of_types(region, is_instance)
    once = deduplicate_languages(region, graph, overlay, languages, deadline=deadline)
    region = once.region if preset.scoring != "prizes" else last_of_parallel(once.region)
    clock.stage("region")
    after = _ranked(region, preset, deadline)
    clock.stage("pagerank")
    wedges = None if preset.scoring == "prizes" else _STATS_WEDGES
    before_stats = after_stats = region_stats(region, max_wedges=wedges, deadline=deadline)
    if after is not region:
        after_stats = region_stats(after, max_wedges=wedges, deadline=deadline)
    clock.stage("statistics")
    labels = Labels(graph, overlay, languages, deadline)
    call = RetrievalContext(
        strategy,
        preset,
        after,
        labels,
        head_relations or relations_in(graph),
        Encoder(encode, question_vector=question_vector),
        min_score,
        prove,
        deadline,
        clock,
    )
    if preset.scoring == "prizes":
        eligible = prizeable(graph, overlay, after)
        selection = by_prizes(call, question, eligible)
    elif preset.relations is not None:
        assert ranker is not None, "a preset that ranks relations needs a ranker"
        selection = by_relations(call, question, preset.relations, ranker)
    else:
        selection = by_sequences(call, question, mentions)
    return replace(
        # Where relations are ranked, each item says which entity it was kept for.
        selection if preset.relations is not None else with_origins(selection, region),
        region_before=before_stats,
        region_after=after_stats,
        cuts=(*after.cuts, *selection.cuts),
        timings_ms=dict(clock.stages),
        stands_for=once.stands_for,
    )


def _ranked(region: Region, preset: Preset, deadline: Deadline) -> Region:
    """Returns the region that PageRank keeps."""
    if preset.min_mass <= 0.0 and region.node_count <= (preset.max_nodes or region.node_count):
        return region  # Nothing could be cut.
    ranked = personalised_pagerank(
        region.head,
        region.tail,
        node_count=region.node_count,
        start_entities=region.start_entities,
        walk=preset.walk,
        damping=preset.damping,
        tolerance=preset.tolerance,
        max_iterations=preset.max_iterations,
        degrees=region.degrees,
        hub_damping=preset.hub_damping,
        deadline=deadline,
    )
    return prune(region, ranked.mass, min_mass=preset.min_mass, max_nodes=preset.max_nodes)
