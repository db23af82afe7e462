"""Results of retrievals as GraphQL types."""

from __future__ import annotations

import strawberry

from graph_service.api.enums import ErrorCode
from graph_service.api.global_ids import Frame, IdKind, global_id, view_frame
from graph_service.api.items import Context
from graph_service.api.result_items import (
    AnswerType,
    Format,
    LinkedItemType,
    PathType,
    Place,
    ReadConstraintType,
    ScoredStatementType,
    answer_type,
    linked_item,
    path_type,
    read_constraints,
    scored_statements,
)
from graph_service.api.result_notes import (
    CutType,
    ProvenanceType,
    RegionReportType,
    StageTiming,
    TokensType,
    cut_types,
    provenance_type,
    region_report,
    timing_types,
)
from graph_service.api.views import ViewSpecType, spec_type
from graph_service.model.render import result_columns, result_text
from graph_service.model.result import (
    STATUS_TEXTS,
    PathsResult,
    RetrievalResult,
    Status,
    SubgraphResult,
    TripletsResult,
)
from graph_service.service import Comparison


@strawberry.type(
    name="Columns", description="A result as parallel lists; numbers point into the node lists."
)
class ColumnsType:
    """A result as parallel lists."""

    node_ids: list[strawberry.ID] = strawberry.field(
        description="The itemId of each node; empty for a literal."
    )
    node_labels: list[str] = strawberry.field(description="The label of each node.")
    property_ids: list[strawberry.ID] = strawberry.field(description="Each propertyId once.")
    property_labels: list[str] = strawberry.field(description="The label of each property.")
    statement_ids: list[strawberry.ID] = strawberry.field(
        description="The statementId of each row."
    )
    subject: list[int] = strawberry.field(description="The node of each row's subject.")
    property: list[int] = strawberry.field(description="The property of each row.")
    value: list[int] = strawberry.field(description="The node of each row's value.")
    score: list[float] = strawberry.field(description="The score of each row's item.")
    reversed: list[bool] = strawberry.field(
        description="Whether each row was walked from value to subject."
    )
    path_offsets: list[int] = strawberry.field(
        description="The row at which each path begins, and the end of the last."
    )


@strawberry.interface(name="Result", description="What all retrievals have in common.")
class ResultType:
    """What all retrievals have in common."""

    result: strawberry.Private[RetrievalResult]

    @property
    def _frame(self) -> Frame:
        source = self.result.provenance
        languages = tuple(source.parameters["languages"])
        return view_frame(source.edition, languages, source.view_spec, source.view_id)

    @strawberry.field(description="A global id, opaque: of the edition and the resultId.")
    def id(self) -> strawberry.ID:
        """The global id."""
        edition = self.result.provenance.edition
        return strawberry.ID(global_id(IdKind.RESULT, edition, self.result.id))

    @strawberry.field(
        description="Hash of what was asked and what was found: same request, same answer, same "
        "resultId."
    )
    def result_id(self) -> strawberry.ID:
        """The result's id."""
        return strawberry.ID(self.result.id)

    @strawberry.field(description="The question as asked; empty where none was.")
    def question(self) -> str:
        """The question as asked."""
        return self.result.question

    @strawberry.field(description="How the retrieval ended.")
    def status(self) -> Status:
        """How the retrieval ended."""
        return self.result.status

    @strawberry.field(description="The status in words, to be shown where nothing was found.")
    def status_text(self) -> str:
        """The status in words."""
        return STATUS_TEXTS[self.result.status]

    @strawberry.field(description="The items that the question was taken to name.")
    def linked(self, info: Context) -> list[LinkedItemType]:
        """What the question was taken to name."""
        frame = self._frame
        return [linked_item(info.context, frame, item) for item in self.result.linked]

    @strawberry.field(description="The result as parallel lists, for programs.")
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

    @strawberry.field(description="The result as text for a prompt, one item a line.")
    def text(self, format: Format = None) -> str:
        """The result as text for a prompt."""
        return result_text(self.result, text_format=format)

    @strawberry.field(description="What limits left out.")
    def truncated(self) -> list[CutType]:
        """What limits left out."""
        return cut_types(self.result.truncated)

    @strawberry.field(description="Size of the text.")
    def tokens(self) -> TokensType:
        """Size of the result's text."""
        return TokensType(count=self.result.tokens.count, tokenizer=self.result.tokens.tokenizer)

    @strawberry.field(
        description="Figures of the region before and after PageRank cut it; null where it was not."
    )
    def region(self) -> RegionReportType | None:
        """Figures of the region."""
        region = self.result.region
        return None if region is None else region_report(region)

    @strawberry.field(description="Where the result came from.")
    def provenance(self) -> ProvenanceType:
        """Where the result came from."""
        return provenance_type(self.result)

    @strawberry.field(
        description="How much the best properties found are like the question, at most 1."
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
        return read_constraints(self.result.constraints)

    @strawberry.field(
        description="What the statements say in answer, where the question asks for more than "
        "items and it is sure."
    )
    def answer(self, info: Context) -> AnswerType | None:
        """The answer."""
        answer = self.result.answer
        return None if answer is None else answer_type(info.context, self._frame, answer)

    @strawberry.field(description="How long each stage took.")
    def timings(self, info: Context) -> list[StageTiming]:
        """Milliseconds by stage."""
        info.context.lasts = False
        return timing_types(self.result.timings_ms)


@strawberry.type(name="TripletsResult", description="The triples of highest total prize.")
class TripletsResultType(ResultType):
    """The best triples."""

    @strawberry.field(description="The statements, best first.")
    def items(self, info: Context) -> list[ScoredStatementType]:
        """The triples, best first."""
        assert isinstance(self.result, TripletsResult)
        return scored_statements(info.context, self._frame, self.result.id, self.result.items)


@strawberry.type(name="PathsResult", description="The best paths from the question's items.")
class PathsResultType(ResultType):
    """The best paths."""

    @strawberry.field(description="The paths, best first.")
    def items(self, info: Context) -> list[PathType]:
        """The paths, best first."""
        assert isinstance(self.result, PathsResult)
        frame = self._frame
        return [
            path_type(info.context, path, Place(frame, self.result.id, number))
            for number, path in enumerate(self.result.items)
        ]


@strawberry.type(name="SubgraphResult", description="One connected subgraph.")
class SubgraphResultType(ResultType):
    """One connected subgraph."""

    @strawberry.field(description="The statements of the subgraph, best first.")
    def items(self, info: Context) -> list[ScoredStatementType]:
        """The statements of the subgraph."""
        assert isinstance(self.result, SubgraphResult)
        return scored_statements(info.context, self._frame, self.result.id, self.result.items)

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


@strawberry.type(name="QuestionError", description="Why one question of many has no result.")
class QuestionErrorType:
    """Why a question has no result."""

    code: ErrorCode = strawberry.field(description="As in the extensions of an error.")
    message: str = strawberry.field(description="What was expected, and what came.")
    argument: str | None = strawberry.field(description="The argument at fault, if one is.")
    hint: str | None = strawberry.field(description="What would work, where that is known.")
    retryable: bool = strawberry.field(description="Whether the same may work later.")


@strawberry.type(
    name="Outcome", description="What became of one question of many: a result, or an error."
)
class OutcomeType:
    """What became of one question."""

    result: ResultType | None = strawberry.field(description="The result; null for an error.")
    error: QuestionErrorType | None = strawberry.field(
        description="Why there is no result; null where there is one."
    )


@strawberry.type(name="Comparison", description="One view's result beside the base's.")
class ComparisonType:
    """One view's result beside the base's."""

    view_id: strawberry.ID | None = strawberry.field(
        description="The viewId of the view; null for the base."
    )
    view_spec: ViewSpecType | None = strawberry.field(
        description="The specification of the view; null for the base."
    )
    result: ResultType = strawberry.field(description="What the view gives.")
    lost: list[strawberry.ID] = strawberry.field(
        description="The statementIds of the base's result that this one lacks."
    )
    gained: list[strawberry.ID] = strawberry.field(
        description="The statementIds of this result that the base's lacks."
    )
    changed: list[strawberry.ID] = strawberry.field(
        description="The statementIds of this result that the view made."
    )


def comparison_type(comparison: Comparison, /) -> ComparisonType:
    """Returns a comparison for output."""
    return ComparisonType(
        view_id=strawberry.ID(comparison.view_id) if comparison.view_id else None,
        view_spec=spec_type(comparison.view_spec),
        result=result_type(comparison.result),
        lost=[strawberry.ID(id_) for id_ in comparison.lost],
        gained=[strawberry.ID(id_) for id_ in comparison.gained],
        changed=[strawberry.ID(id_) for id_ in comparison.changed],
    )
