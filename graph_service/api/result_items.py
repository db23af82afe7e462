"""What a result holds as GraphQL types: statements and paths with scores, items linked, answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import strawberry

from graph_service.api.enums import ScorePartName
from graph_service.api.global_ids import Frame, IdKind, global_id
from graph_service.api.items import (
    ChangeType,
    ItemType,
    StatementType,
    base_statement_id,
    ref_item,
    statement_type,
)
from graph_service.api.loading import OperationContext
from graph_service.model.answer import AnswerKind, ConstraintKind, ReadConstraint
from graph_service.model.identity import digest
from graph_service.model.render import TextFormat, item_text
from graph_service.model.result import Answer, LinkedEntity, ScoredPath, ScoredTriple

Format = Annotated[
    TextFormat | None,
    strawberry.argument(
        description="How it is written; null for arrows of paths, and for statements one a line."
    ),
]


_STANDS_FOR = (
    "The statementIds of statements left out for this one, which says the same: in another "
    "language, or of another edition of the item."
)


@strawberry.type(
    name="ReadConstraint", description="What a question says beside its relations, as it was read."
)
class ReadConstraintType:
    """A constraint that was read."""

    text: str = strawberry.field(description="As the question says it.")
    kind: ConstraintKind = strawberry.field(description="What it asks for.")
    met: bool = strawberry.field(
        description="Of a result, whether anything found meets it; of an item, whether this one."
    )


@strawberry.type(name="BasisStatement", description="A statement that an answer rests on.")
class BasisStatementType:
    """A statement that an answer rests on."""

    statement: StatementType = strawberry.field(description="The statement.")
    subject: ItemType = strawberry.field(description="What it is said of.")
    change: ChangeType = strawberry.field(description="How it differs from the base.")
    stands_for: list[strawberry.ID] = strawberry.field(description=_STANDS_FOR)


@strawberry.type(name="Answer", description="What the statements found say in answer.")
class AnswerType:
    """What the statements say in answer."""

    kind: AnswerKind = strawberry.field(description="What it tells.")
    value: str = strawberry.field(
        description="A number in decimal digits; yes or no; else the labels of what is meant."
    )
    items: list[ItemType] = strawberry.field(
        description="What is meant, for entities and superlatives."
    )
    basis: list[BasisStatementType] = strawberry.field(
        description="The first twenty statements that it rests on."
    )
    statements: int = strawberry.field(description="How many those are in all.")
    truncated: bool = strawberry.field(
        description="Whether limits left out statements that may count."
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands in a result: what its global id is made of."""

    frame: Frame
    result_id: str
    number: int

    def id(self) -> strawberry.ID:
        """Returns the global id."""
        local = f"{self.result_id}/{self.number}"
        return strawberry.ID(global_id(IdKind.RESULT_ITEM, self.frame.edition, local))


@strawberry.type(name="ScoredStatement", description="A statement with its score and its parts.")
class ScoredStatementType:
    """A statement with its score."""

    item: strawberry.Private[ScoredTriple]
    place: strawberry.Private[Place]
    statement: StatementType = strawberry.field(description="The statement.")
    subject: ItemType = strawberry.field(description="What it is said of.")
    score: float = strawberry.field(description="What it is ranked by.")
    prizes: list[float] = strawberry.field(description="Of subject, edge and value.")
    change: ChangeType = strawberry.field(description="How it differs from the base.")
    origin_id: strawberry.ID = strawberry.field(
        description="The itemId of the question's item that it is fewest steps from; empty without "
        "a question."
    )
    constraints: list[ReadConstraintType] = strawberry.field(
        description="Those that were read, and whether the path it is of meets each."
    )
    stands_for: list[strawberry.ID] = strawberry.field(description=_STANDS_FOR)

    @strawberry.field(description="A global id of this item of this result, opaque.")
    def id(self) -> strawberry.ID:
        """The global id."""
        return self.place.id()

    @strawberry.field(description="The item as text for a prompt.")
    def text(self, format: Format = None) -> str:
        """The item as text."""
        return item_text(self.item, text_format=format or TextFormat.TRIPLES)

    @strawberry.field(description="The item as a citation: [Q1, property: value].")
    def citation(self) -> str:
        """The item as a citation."""
        return item_text(self.item, text_format=TextFormat.CITATIONS)


@strawberry.type(name="Step", description="One edge of a path.")
class StepType:
    """One edge of a path."""

    statement: StatementType = strawberry.field(description="The statement.")
    subject: ItemType = strawberry.field(description="What it is said of.")
    reversed: bool = strawberry.field(description="Whether it was walked from value to subject.")
    change: ChangeType = strawberry.field(description="How the statement differs from the base.")
    stands_for: list[strawberry.ID] = strawberry.field(description=_STANDS_FOR)


@strawberry.type(name="ScorePart", description="A part of a score.")
class ScorePartType:
    """A part of a score."""

    name: ScorePartName = strawberry.field(description="What it stands for.")
    amount: float = strawberry.field(description="What it adds to the score.")


@strawberry.type(name="Path", description="A path from an item of the question.")
class PathType:
    """A path."""

    item: strawberry.Private[ScoredPath]
    place: strawberry.Private[Place]
    steps: list[StepType] = strawberry.field(description="Its edges, in order.")
    score: float = strawberry.field(description="What it is ranked by.")
    origin_id: strawberry.ID = strawberry.field(
        description="The itemId of the question's item that it begins at, or is fewest steps from."
    )
    constraints: list[ReadConstraintType] = strawberry.field(
        description="Those that were read, and whether it meets each."
    )

    @strawberry.field(description="A global id of this item of this result, opaque.")
    def id(self) -> strawberry.ID:
        """The global id."""
        return self.place.id()

    @strawberry.field(description="Hash of its statements: the same path in every result has it.")
    def path_id(self) -> strawberry.ID:
        """The path's id."""
        parts = [
            f"{'<' if step.reversed else '>'}{step.triple.statement_id}" for step in self.item.steps
        ]
        return strawberry.ID(digest(parts, person=b"path").hex())

    @strawberry.field(description="The parts of the score, which add up to it.")
    def parts(self) -> list[ScorePartType]:
        """The parts of the score."""
        return [
            ScorePartType(name=ScorePartName(part.name), amount=part.amount)
            for part in self.item.parts
        ]

    @strawberry.field(description="The item as text for a prompt.")
    def text(self, format: Format = None) -> str:
        """The item as text."""
        return item_text(self.item, text_format=format or TextFormat.PATHS)

    @strawberry.field(description="The item as citations, one a step: [Q1, property: value].")
    def citation(self) -> str:
        """The item as citations."""
        return item_text(self.item, text_format=TextFormat.CITATIONS)


@strawberry.type(name="LinkedItem", description="An item that the question was taken to name.")
class LinkedItemType:
    """An item that the question names."""

    item: ItemType = strawberry.field(description="The item.")
    mention: str = strawberry.field(description="The words of the question; empty where given.")
    start: int = strawberry.field(description="Characters into the question; -1 where given.")
    end: int = strawberry.field(description="Characters into the question; -1 where given.")
    score: float = strawberry.field(description="How sure it is, at most 1.")
    alternatives: list[ItemType] = strawberry.field(
        description="Other items that the same words may mean, best first."
    )
    swapped_for: ItemType | None = strawberry.field(
        description="The irrelevant item that was started from instead, where that was asked for."
    )


def linked_item(context: OperationContext, frame: Frame, item: LinkedEntity, /) -> LinkedItemType:
    """Returns what a question was taken to name, for output."""
    return LinkedItemType(
        item=ref_item(context, frame, item.entity),
        mention=item.mention,
        start=item.start,
        end=item.end,
        score=item.score,
        alternatives=[ref_item(context, frame, ref) for ref in item.alternatives],
        swapped_for=ref_item(context, frame, item.swapped_for) if item.swapped_for else None,
    )


def read_constraints(read: Sequence[ReadConstraint], /) -> list[ReadConstraintType]:
    """Returns the constraints that were read, for output."""
    return [ReadConstraintType(text=one.text, kind=one.kind, met=one.met) for one in read]


def answer_type(context: OperationContext, frame: Frame, answer: Answer, /) -> AnswerType:
    """Returns an answer for output."""
    return AnswerType(
        kind=answer.kind,
        value=answer.value,
        items=[ref_item(context, frame, ref) for ref in answer.entities],
        basis=[
            BasisStatementType(
                statement=statement_type(
                    context, frame, one.triple, base_id=base_statement_id(one.triple, one.change)
                ),
                subject=ref_item(context, frame, one.triple.head),
                change=ChangeType(frame=frame, change=one.change),
                stands_for=list(map(strawberry.ID, one.triple.stands_for)),
            )
            for one in answer.basis
        ],
        statements=answer.statements,
        truncated=answer.truncated,
    )


def scored_statements(
    context: OperationContext, frame: Frame, result_id: str, items: Sequence[ScoredTriple], /
) -> list[ScoredStatementType]:
    """Returns the statements of a result for output, in their order."""
    return [
        ScoredStatementType(
            item=item,
            place=Place(frame, result_id, number),
            statement=statement_type(
                context, frame, item.triple, base_id=base_statement_id(item.triple, item.change)
            ),
            subject=ref_item(context, frame, item.triple.head),
            score=item.score,
            prizes=[item.prizes.head, item.prizes.edge, item.prizes.tail],
            change=ChangeType(frame=frame, change=item.change),
            origin_id=strawberry.ID(item.origin_id),
            constraints=read_constraints(item.constraints),
            stands_for=list(map(strawberry.ID, item.triple.stands_for)),
        )
        for number, item in enumerate(items)
    ]


def path_type(context: OperationContext, path: ScoredPath, place: Place, /) -> PathType:
    """Returns a path for output."""
    frame = place.frame
    return PathType(
        item=path,
        place=place,
        steps=[
            StepType(
                statement=statement_type(
                    context,
                    frame,
                    step.triple,
                    base_id=base_statement_id(step.triple, step.change),
                ),
                subject=ref_item(context, frame, step.triple.head),
                reversed=step.reversed,
                change=ChangeType(frame=frame, change=step.change),
                stands_for=list(map(strawberry.ID, step.triple.stands_for)),
            )
            for step in path.steps
        ],
        score=path.score,
        origin_id=strawberry.ID(path.origin_id),
        constraints=read_constraints(path.constraints),
    )
