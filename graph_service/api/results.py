"""Results of retrievals as GraphQL types."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
import strawberry
from strawberry.scalars import JSON

from graph_service.api.items import (
    ChangeType,
    Context,
    ItemType,
    StatementType,
    base_statement_id,
    ref_item,
    statement_type,
)
from graph_service.api.loading import OperationContext
from graph_service.model.answer import AnswerKind, ConstraintKind, ReadConstraint
from graph_service.model.render import TextFormat, result_columns, result_text
from graph_service.model.result import (
    Answer,
    LinkedEntity,
    PathsResult,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Strategy,
    SubgraphResult,
    TripletsResult,
)
from graph_service.model.serialise import to_plain
from graph_service.service import Comparison

strawberry.enum(AnswerKind, description="What an answer tells.")
strawberry.enum(ConstraintKind, description="What a constraint asks for.")


@strawberry.type(
    name="ReadConstraint", description="What a question says beside its relations, as it was read."
)
class ReadConstraintType:
    """A constraint that was read."""

    text: str = strawberry.field(description="As the question says it.")
    kind: ConstraintKind
    met: bool = strawberry.field(
        description="Of a result, whether anything found meets it; of an item, whether this one."
    )


@strawberry.type(name="BasisStatement", description="A statement that an answer rests on.")
class BasisStatementType:
    """A statement that an answer rests on."""

    statement: StatementType
    subject: ItemType
    change: ChangeType


@strawberry.type(name="Answer", description="What the statements found say in answer.")
class AnswerType:
    """What the statements say in answer."""

    kind: AnswerKind
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


@strawberry.type(name="ScoredStatement", description="A statement with its score and its parts.")
class ScoredStatementType:
    """A statement with its score."""

    statement: StatementType
    subject: ItemType
    score: float
    prizes: list[float] = strawberry.field(description="Of subject, edge and value.")
    change: ChangeType
    origin_id: strawberry.ID = strawberry.field(
        description="The question's item that it is fewest steps from; empty without a question."
    )
    constraints: list[ReadConstraintType] = strawberry.field(
        description="Those that were read, and whether the path it is of meets each."
    )


@strawberry.type(name="Step", description="One edge of a path.")
class StepType:
    """One edge of a path."""

    statement: StatementType
    subject: ItemType
    reversed: bool = strawberry.field(description="Whether it was walked from value to subject.")
    change: ChangeType


@strawberry.type(name="Path", description="A path from an item of the question.")
class PathType:
    """A path."""

    steps: list[StepType]
    score: float
    parts: JSON = strawberry.field(
        description="The parts of the score, which add up to it: likeness, hops, inverse, "
        "extra_hops, unsupported_step, shared; relevance, below_best, unmet; of low confidence "
        "relations, statements; preset okgqa nodes, edges, cost; ltgen relation."
    )
    origin_id: strawberry.ID = strawberry.field(
        description="The question's item that it begins at, or is fewest steps from."
    )
    constraints: list[ReadConstraintType] = strawberry.field(
        description="Those that were read, and whether it meets each."
    )


@strawberry.type(name="LinkedItem", description="An item that the question was taken to name.")
class LinkedItemType:
    """An item that the question names."""

    item: ItemType
    mention: str
    start: int = strawberry.field(description="Characters into the question; -1 where given.")
    end: int
    score: float
    alternatives: list[ItemType]
    swapped_for: ItemType | None = strawberry.field(
        description="The irrelevant item that was started from instead, where that was asked for."
    )


@strawberry.type(name="Cut", description="Something that a limit left out.")
class CutType:
    """Something that a limit left out."""

    what: str
    reason: str
    limit: float
    kept: int
    total: int | None


@strawberry.type(name="Tokens", description="Size of the result's text.")
class TokensType:
    """Size of the result's text."""

    count: int
    tokenizer: str


@strawberry.type(name="Provenance", description="Where a result came from (S8).")
class ProvenanceType:
    """Where a result came from."""

    graph: str
    edition: str
    edges_fingerprint: str
    content_fingerprint: str
    view_id: strawberry.ID | None
    view_spec: JSON | None
    strategy: Strategy
    preset: str
    parameters: JSON
    embedder: str
    solver: str | None
    version: str


@strawberry.type(
    name="Columns", description="A result as parallel lists; numbers point into the node lists."
)
class ColumnsType:
    """A result as parallel lists."""

    node_ids: list[strawberry.ID]
    node_labels: list[str]
    property_ids: list[strawberry.ID]
    property_labels: list[str]
    statement_ids: list[strawberry.ID]
    subject: list[int]
    property: list[int]
    value: list[int]
    score: list[float]
    reversed: list[bool]
    path_offsets: list[int]


@strawberry.interface(name="Result", description="What all retrievals have in common.")
class ResultType:
    """What all retrievals have in common."""

    result: strawberry.Private[RetrievalResult]

    @property
    def _edition(self) -> str:
        return self.result.provenance.edition

    @strawberry.field(
        description="Hash of what was asked and what was found: same request, same answer, same id."
    )
    def id(self) -> strawberry.ID:
        """The result's id."""
        return strawberry.ID(self.result.id)

    @strawberry.field
    def question(self) -> str:
        """The question as asked."""
        return self.result.question

    @strawberry.field
    def status(self) -> Status:
        """How the retrieval ended."""
        return self.result.status

    @strawberry.field
    def linked(self, info: Context) -> list[LinkedItemType]:
        """What the question was taken to name."""
        return [_linked(info.context, self._edition, item) for item in self.result.linked]

    @strawberry.field
    def columns(self) -> ColumnsType:
        """The result as parallel lists."""
        columns = result_columns(self.result)
        return ColumnsType(
            node_ids=[strawberry.ID(id_) for id_ in columns.node_ids],
            node_labels=list(columns.node_labels),
            property_ids=[strawberry.ID(id_) for id_ in columns.relation_ids],
            property_labels=list(columns.relation_labels),
            statement_ids=[strawberry.ID(id_) for id_ in columns.statement_ids],
            subject=list(columns.head),
            property=list(columns.relation),
            value=list(columns.value),
            score=list(columns.score),
            reversed=list(columns.reversed),
            path_offsets=list(columns.path_offsets),
        )

    @strawberry.field
    def text(self, format: TextFormat | None = None) -> str:
        """The result as text for a prompt."""
        return result_text(self.result, text_format=format)

    @strawberry.field
    def truncated(self) -> list[CutType]:
        """What limits left out."""
        return [
            CutType(
                what=cut.what,
                reason=cut.reason.value,
                limit=cut.limit,
                kept=cut.kept,
                total=cut.total,
            )
            for cut in self.result.truncated
        ]

    @strawberry.field
    def tokens(self) -> TokensType:
        """Size of the result's text."""
        return TokensType(count=self.result.tokens.count, tokenizer=self.result.tokens.tokenizer)

    @strawberry.field(description="Figures of the region before and after PageRank cut it (O3).")
    def region(self) -> JSON | None:
        """Figures of the region."""
        plain: JSON | None = to_plain(self.result.region)
        return plain

    @strawberry.field
    def provenance(self) -> ProvenanceType:
        """Where the result came from."""
        source = self.result.provenance
        return ProvenanceType(
            graph=source.graph,
            edition=source.edition,
            edges_fingerprint=source.fingerprints.edges,
            content_fingerprint=source.fingerprints.content,
            view_id=strawberry.ID(source.view_id) if source.view_id else None,
            view_spec=orjson.loads(source.view_spec) if source.view_spec else None,
            strategy=source.strategy,
            preset=source.preset,
            parameters=to_plain(source.parameters),
            embedder=source.embedder,
            solver=source.solver,
            version=source.version,
        )

    @strawberry.field(
        description="How much the best relations found are like the question, at most 1."
    )
    def relevance(self) -> float | None:
        """The relevance."""
        return self.result.relevance

    @strawberry.field(
        description="What the question was read to state beside its relations; the items that "
        "meet it come first."
    )
    def constraints(self) -> list[ReadConstraintType]:
        """The constraints."""
        return _constraints(self.result.constraints)

    @strawberry.field(
        description="What the statements say in answer, where the question asks for more than "
        "items and it is sure."
    )
    def answer(self, info: Context) -> AnswerType | None:
        """The answer."""
        answer = self.result.answer
        return None if answer is None else _answer(info.context, self._edition, answer)

    @strawberry.field(description="Milliseconds by stage.")
    def timings(self) -> JSON:
        """Milliseconds by stage."""
        return JSON({name: round(ms, 3) for name, ms in self.result.timings_ms.items()})


@strawberry.type(name="TripletsResult", description="The triples of highest total prize.")
class TripletsResultType(ResultType):
    """The best triples."""

    @strawberry.field
    def items(self, info: Context) -> list[ScoredStatementType]:
        """The triples, best first."""
        assert isinstance(self.result, TripletsResult)
        return _scored(info.context, self._edition, self.result.items)


@strawberry.type(name="PathsResult", description="The best paths from the question's items.")
class PathsResultType(ResultType):
    """The best paths."""

    @strawberry.field
    def items(self, info: Context) -> list[PathType]:
        """The paths, best first."""
        assert isinstance(self.result, PathsResult)
        return [_path(info.context, self._edition, path) for path in self.result.items]


@strawberry.type(name="SubgraphResult", description="One connected subgraph.")
class SubgraphResultType(ResultType):
    """One connected subgraph."""

    @strawberry.field
    def items(self, info: Context) -> list[ScoredStatementType]:
        """The statements of the subgraph."""
        assert isinstance(self.result, SubgraphResult)
        return _scored(info.context, self._edition, self.result.items)

    @strawberry.field(description="Node prizes and (edge prize - cost), summed.")
    def objective(self) -> float | None:
        """The objective."""
        assert isinstance(self.result, SubgraphResult)
        return self.result.objective

    @strawberry.field(description="Share by which the optimum can at most be better.")
    def gap(self) -> float | None:
        """The gap."""
        assert isinstance(self.result, SubgraphResult)
        return self.result.gap


def result_type(result: RetrievalResult, /) -> ResultType:
    """Returns a result for output."""
    match result:
        case TripletsResult():
            return TripletsResultType(result=result)
        case PathsResult():
            return PathsResultType(result=result)
        case SubgraphResult():
            return SubgraphResultType(result=result)


def _linked(context: OperationContext, edition: str, item: LinkedEntity) -> LinkedItemType:
    return LinkedItemType(
        item=ref_item(context, edition, item.entity),
        mention=item.mention,
        start=item.start,
        end=item.end,
        score=item.score,
        alternatives=[ref_item(context, edition, ref) for ref in item.alternatives],
        swapped_for=ref_item(context, edition, item.swapped_for) if item.swapped_for else None,
    )


def _constraints(read: Sequence[ReadConstraint]) -> list[ReadConstraintType]:
    return [ReadConstraintType(text=one.text, kind=one.kind, met=one.met) for one in read]


def _answer(context: OperationContext, edition: str, answer: Answer) -> AnswerType:
    return AnswerType(
        kind=answer.kind,
        value=answer.value,
        items=[ref_item(context, edition, ref) for ref in answer.entities],
        basis=[
            BasisStatementType(
                statement=statement_type(
                    context, edition, one.triple, base_id=base_statement_id(one.triple, one.change)
                ),
                subject=ref_item(context, edition, one.triple.head),
                change=ChangeType(edition=edition, change=one.change),
            )
            for one in answer.basis
        ],
        statements=answer.statements,
        truncated=answer.truncated,
    )


def _scored(
    context: OperationContext, edition: str, items: Sequence[ScoredTriple]
) -> list[ScoredStatementType]:
    return [
        ScoredStatementType(
            statement=statement_type(
                context, edition, item.triple, base_id=base_statement_id(item.triple, item.change)
            ),
            subject=ref_item(context, edition, item.triple.head),
            score=item.score,
            prizes=[item.prizes.head, item.prizes.edge, item.prizes.tail],
            change=ChangeType(edition=edition, change=item.change),
            origin_id=strawberry.ID(item.origin_id),
            constraints=_constraints(item.constraints),
        )
        for item in items
    ]


def _path(context: OperationContext, edition: str, path: ScoredPath) -> PathType:
    return PathType(
        steps=[
            StepType(
                statement=statement_type(
                    context,
                    edition,
                    step.triple,
                    base_id=base_statement_id(step.triple, step.change),
                ),
                subject=ref_item(context, edition, step.triple.head),
                reversed=step.reversed,
                change=ChangeType(edition=edition, change=step.change),
            )
            for step in path.steps
        ],
        score=path.score,
        parts=JSON({part.name: part.amount for part in path.parts}),
        origin_id=strawberry.ID(path.origin_id),
        constraints=_constraints(path.constraints),
    )


@strawberry.type(name="QuestionError", description="Why one question of many has no result.")
class QuestionErrorType:
    """Why a question has no result."""

    code: str = strawberry.field(description="As in the extensions of an error.")
    message: str
    argument: str | None
    hint: str | None
    retryable: bool


@strawberry.type(
    name="Outcome", description="What became of one question of many: a result, or an error."
)
class OutcomeType:
    """What became of one question."""

    result: ResultType | None
    error: QuestionErrorType | None


@strawberry.type(name="Comparison", description="One view's result beside the base's.")
class ComparisonType:
    """One view's result beside the base's."""

    view_id: strawberry.ID | None
    view_spec: JSON | None
    result: ResultType
    lost: list[strawberry.ID]
    gained: list[strawberry.ID]
    changed: list[strawberry.ID]


def comparison_type(comparison: Comparison, /) -> ComparisonType:
    """Returns a comparison for output."""
    return ComparisonType(
        view_id=strawberry.ID(comparison.view_id) if comparison.view_id else None,
        view_spec=orjson.loads(comparison.view_spec) if comparison.view_spec else None,
        result=result_type(comparison.result),
        lost=[strawberry.ID(id_) for id_ in comparison.lost],
        gained=[strawberry.ID(id_) for id_ in comparison.gained],
        changed=[strawberry.ID(id_) for id_ in comparison.changed],
    )
