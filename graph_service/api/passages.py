"""Passages as GraphQL types."""

from __future__ import annotations

import strawberry
from strawberry.scalars import JSON

from graph_service.api.items import ItemType, item_type
from graph_service.api.loading import OperationContext
from graph_service.api.results import CutType
from graph_service.model.passage import PassageRanking, PassagesResult, ScoredPassage
from graph_service.model.serialise import to_plain
from graph_service.store.passages import PassageSet

strawberry.enum(PassageRanking, description="By what passages are found.")


@strawberry.type(name="Passage", description="A piece of a document, of at most some 100 words.")
class PassageType:
    """A piece of a document."""

    id: strawberry.ID = strawberry.field(description="Made of title, source and text.")
    title: str
    source: str = strawberry.field(description="A URL, or the name of a file.")
    text: str
    item: ItemType | None = strawberry.field(description="What the document is about.")


@strawberry.type(name="ScoredPassage", description="A passage that was found.")
class ScoredPassageType:
    """A passage that was found."""

    passage: PassageType
    score: float
    word_score: float | None = strawberry.field(
        description="BM25 as a share of the most that a passage could have."
    )
    vector_score: float | None = strawberry.field(description="Cosine with the query.")


@strawberry.type(name="PassagesResult", description="Passages for a query, best first (L6).")
class PassagesResultType:
    """Passages for a query."""

    id: strawberry.ID
    query: str
    graph: strawberry.ID
    by: PassageRanking
    k: int
    min_score: float | None
    items: list[ScoredPassageType]
    searched: int = strawberry.field(description="Passages there were.")
    fingerprint: str = strawberry.field(description="Of all passages searched.")
    embedder: str | None
    version: str
    truncated: list[CutType]
    timings: JSON


@strawberry.type(name="PassageSet", description="What one load of one source brought.")
class PassageSetType:
    """What one load of one source brought."""

    source: str
    published: bool
    passages: int
    words: int
    linked: int = strawberry.field(description="Passages that have an item.")
    fingerprint: str
    options: JSON
    report: JSON
    started_at: str
    published_at: str | None


def passages_type(
    context: OperationContext, edition: str, result: PassagesResult, /
) -> PassagesResultType:
    """Returns a result for output."""
    return PassagesResultType(
        id=strawberry.ID(result.id),
        query=result.query,
        graph=strawberry.ID(result.graph),
        by=result.by,
        k=result.k,
        min_score=result.min_score,
        items=[_scored(context, edition, item) for item in result.items],
        searched=result.searched,
        fingerprint=result.fingerprint,
        embedder=result.embedder,
        version=result.version,
        truncated=[
            CutType(
                what=cut.what,
                reason=cut.reason.value,
                limit=cut.limit,
                kept=cut.kept,
                total=cut.total,
            )
            for cut in result.truncated
        ],
        timings=to_plain(result.timings_ms),
    )


def _scored(context: OperationContext, edition: str, found: ScoredPassage) -> ScoredPassageType:
    passage = found.passage
    return ScoredPassageType(
        passage=PassageType(
            id=strawberry.ID(passage.id),
            title=passage.title,
            source=passage.source,
            text=passage.text,
            item=None
            if passage.entity is None
            else item_type(context, edition, passage.entity, found.entity_label),
        ),
        score=found.score,
        word_score=found.word_score,
        vector_score=found.vector_score,
    )


def passage_set_type(one: PassageSet, /) -> PassageSetType:
    """Returns a set for output."""
    return PassageSetType(
        source=one.source,
        published=one.published,
        passages=one.passages,
        words=one.words,
        linked=one.linked,
        fingerprint=one.fingerprint,
        options=to_plain(one.options),
        report=to_plain(one.report),
        started_at=one.started_at,
        published_at=one.published_at or None,
    )
