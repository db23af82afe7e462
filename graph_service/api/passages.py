"""Passages as GraphQL types: what names items or has a global id."""

from __future__ import annotations

import strawberry

from graph_service.api.derive import output
from graph_service.api.global_ids import Frame, IdKind, global_id
from graph_service.api.items import ItemType, item_type
from graph_service.api.loading import OperationContext
from graph_service.model.passage import Passage, PassagesResult, ScoredPassage
from graph_service.model.result import Status


@output(Passage)
class PassageType:
    """A piece of a document."""

    model: strawberry.Private[Passage]
    frame: strawberry.Private[Frame]
    item: ItemType | None

    def id(self) -> strawberry.ID:
        """Returns the global id, made of the edition and the id of the passage or result."""
        frame = self.frame
        return strawberry.ID(
            global_id(IdKind.PASSAGE, frame.edition, self.model.id, frame.languages)
        )


@output(ScoredPassage)
class ScoredPassageType:
    """A passage that was found."""

    model: strawberry.Private[ScoredPassage]
    passage: PassageType


@output(PassagesResult)
class PassagesResultType:
    """The passages that answer a query best."""

    model: strawberry.Private[PassagesResult]
    frame: strawberry.Private[Frame]
    items: list[ScoredPassageType]

    def id(self) -> strawberry.ID:
        """Returns the global id, made of the edition and the id of the passage or result."""
        return strawberry.ID(global_id(IdKind.RESULT, self.frame.edition, self.model.id))

    def status(self) -> Status:
        """Returns whether a passage was found."""
        return Status.OK if self.model.items else Status.NOTHING_RELEVANT


def passages_type(
    context: OperationContext, frame: Frame, result: PassagesResult, /
) -> PassagesResultType:
    """Returns a result for output."""
    return PassagesResultType(
        model=result, frame=frame, items=[_scored(context, frame, item) for item in result.items]
    )


def _scored(context: OperationContext, frame: Frame, scored: ScoredPassage) -> ScoredPassageType:
    passage = scored.passage
    item = None
    if passage.entity is not None:
        item = item_type(context, frame, passage.entity, scored.entity_label)
    return ScoredPassageType(
        model=scored, passage=PassageType(model=passage, frame=frame, item=item)
    )
