"""Passages as GraphQL types."""

from __future__ import annotations

import strawberry

from graph_service.api.global_ids import Frame, IdKind, global_id
from graph_service.api.items import ItemType, item_type
from graph_service.api.loading import OperationContext
from graph_service.api.named_values import NamedValue, named_values
from graph_service.api.result_notes import CutType, StageTiming, cut_types, timing_types
from graph_service.api.scalars import DateTime
from graph_service.api.source_names import source_name, with_source_names
from graph_service.model.passage import PassageRanking, PassagesResult, ScoredPassage
from graph_service.model.result import Status
from graph_service.store.passages import PassageSet


@strawberry.type(name="Passage", description="A piece of a document, of at most some 100 words.")
class PassageType:
    """A piece of a document."""

    id: strawberry.ID = strawberry.field(
        description="A global id, opaque: of the edition, the languages and the passageId."
    )
    passage_id: strawberry.ID = strawberry.field(
        description="Hash of title, source and text: the same in every store."
    )
    title: str = strawberry.field(description="The title of the document; may be empty.")
    source: str = strawberry.field(description="A URL, or the name of a file.")
    text: str = strawberry.field(description="The text.")
    item: ItemType | None = strawberry.field(description="What the document is about.")


@strawberry.type(name="ScoredPassage", description="A passage that was found.")
class ScoredPassageType:
    """A passage that was found."""

    passage: PassageType = strawberry.field(description="The passage.")
    score: float = strawberry.field(description="What it is ranked by, at most 1.")
    word_score: float | None = strawberry.field(
        description="BM25 as a share of the most that a passage could have."
    )
    vector_score: float | None = strawberry.field(description="Cosine with the query.")


@strawberry.type(name="PassagesResult", description="Passages for a query, best first.")
class PassagesResultType:
    """Passages for a query."""

    id: strawberry.ID = strawberry.field(
        description="A global id, opaque: of the edition and the resultId."
    )
    result_id: strawberry.ID = strawberry.field(
        description="Hash of what was asked and what was found."
    )
    query: str = strawberry.field(description="What was asked.")
    status: Status = strawberry.field(description="NOTHING_RELEVANT where no passage was found.")
    graph: str = strawberry.field(description="The name of the graph.")
    by: PassageRanking = strawberry.field(description="By what passages were found.")
    k: int = strawberry.field(description="How many were asked for.")
    min_score: float | None = strawberry.field(description="What scores less was left out.")
    items: list[ScoredPassageType] = strawberry.field(description="The passages, best first.")
    searched: int = strawberry.field(description="Passages there were.")
    fingerprint: str = strawberry.field(description="Of all passages searched.")
    embedder: str | None = strawberry.field(description="What made vectors, where they were used.")
    version: str = strawberry.field(description="The version of graph-service.")
    truncated: list[CutType] = strawberry.field(description="What limits left out.")
    timings: list[StageTiming] = strawberry.field(description="How long each stage took.")


@strawberry.type(name="PassageSet", description="What one load of one source brought.")
class PassageSetType:
    """What one load of one source brought."""

    source: str = strawberry.field(description="What was loaded, without its folder.")
    published: bool = strawberry.field(description="Whether readers see it.")
    passages: int = strawberry.field(description="How many passages.")
    words: int = strawberry.field(description="Words in all.")
    linked: int = strawberry.field(description="Passages that have an item.")
    fingerprint: str = strawberry.field(description="Sum of hashes of the passages.")
    options: list[NamedValue] = strawberry.field(description="The options of the load.")
    report: list[NamedValue] = strawberry.field(description="What the load came to.")
    started_at: DateTime = strawberry.field(description="When the load began.")
    published_at: DateTime | None = strawberry.field(
        description="When readers first saw it; null until they do."
    )


def passages_type(
    context: OperationContext, frame: Frame, result: PassagesResult, /
) -> PassagesResultType:
    """Returns a result for output."""
    return PassagesResultType(
        id=strawberry.ID(global_id(IdKind.RESULT, frame.edition, result.id)),
        result_id=strawberry.ID(result.id),
        query=result.query,
        status=Status.OK if result.items else Status.NOTHING_RELEVANT,
        graph=result.graph,
        by=result.by,
        k=result.k,
        min_score=result.min_score,
        items=[_scored(context, frame, item) for item in result.items],
        searched=result.searched,
        fingerprint=result.fingerprint,
        embedder=result.embedder,
        version=result.version,
        truncated=cut_types(result.truncated),
        timings=timing_types(result.timings_ms),
    )


def _scored(context: OperationContext, frame: Frame, found: ScoredPassage) -> ScoredPassageType:
    passage = found.passage
    return ScoredPassageType(
        passage=PassageType(
            id=strawberry.ID(global_id(IdKind.PASSAGE, frame.edition, passage.id, frame.languages)),
            passage_id=strawberry.ID(passage.id),
            title=passage.title,
            source=source_name(passage.source),
            text=passage.text,
            item=None
            if passage.entity is None
            else item_type(context, frame, passage.entity, found.entity_label),
        ),
        score=found.score,
        word_score=found.word_score,
        vector_score=found.vector_score,
    )


def passage_set_type(one: PassageSet, /) -> PassageSetType:
    """Returns a set for output."""
    return PassageSetType(
        source=source_name(one.source),
        published=one.published,
        passages=one.passages,
        words=one.words,
        linked=one.linked,
        fingerprint=one.fingerprint,
        options=named_values(with_source_names(one.options)),
        report=named_values(with_source_names(one.report)),
        started_at=DateTime(one.started_at),
        published_at=DateTime(one.published_at) if one.published_at else None,
    )
