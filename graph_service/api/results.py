"""Results of retrievals as GraphQL types: the fields that have logic. ``model.shapes`` has all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import strawberry

from graph_service.api.derive import build, output
from graph_service.api.global_ids import Frame, IdKind, global_id, view_frame
from graph_service.api.items import Context
from graph_service.model.browsing import QuestionOutcome
from graph_service.model.conversions import TIMINGS
from graph_service.model.identity import digest
from graph_service.model.render import (
    Columns,
    TextFormat,
    item_text,
    result_columns,
    result_text,
)
from graph_service.model.result import (
    ClientComparison,
    PathsResult,
    Retrieval,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    StageTiming,
    SubgraphResult,
    TripletsResult,
)
from graph_service.service import Comparison

Format = Annotated[
    TextFormat | None,
    strawberry.argument(
        description="How it is written; null for arrows of paths, and for statements one a line."
    ),
]


@dataclass(frozen=True, slots=True)
class ResultPosition:
    """Where an item stands in a result: what its global id is made of."""

    frame: Frame
    result_id: str
    index: int

    def id(self) -> strawberry.ID:
        """Returns the global id, made of the edition and the result's id."""
        local = f"{self.result_id}/{self.index}"
        return strawberry.ID(global_id(IdKind.RESULT_ITEM, self.frame.edition, local))


@output(ScoredTriple)
class ScoredStatementType:
    """A statement with its score."""

    model: strawberry.Private[ScoredTriple]
    position: strawberry.Private[ResultPosition]

    def id(self) -> strawberry.ID:
        """Returns the global id, made of the edition and the result's id."""
        return self.position.id()

    def text(self, format: Format = None) -> str:
        """Returns the item as text."""
        return item_text(self.model, text_format=format or TextFormat.TRIPLES)

    def citation(self) -> str:
        """Returns the item as a citation."""
        return item_text(self.model, text_format=TextFormat.CITATIONS)


@output(ScoredPath)
class PathType:
    """A path of a result, with its text and its citations."""

    model: strawberry.Private[ScoredPath]
    position: strawberry.Private[ResultPosition]

    def id(self) -> strawberry.ID:
        """Returns the global id, made of the edition and the result's id."""
        return self.position.id()

    def path_id(self) -> strawberry.ID:
        """Returns the hash of the path's statements."""
        parts = [
            f"{'<' if step.reversed else '>'}{step.triple.statement_id}"
            for step in self.model.steps
        ]
        return strawberry.ID(digest(parts, person=b"path").hex())

    def text(self, format: Format = None) -> str:
        """Returns the item as text."""
        return item_text(self.model, text_format=format or TextFormat.PATHS)

    def citation(self) -> str:
        """Returns the item as citations."""
        return item_text(self.model, text_format=TextFormat.CITATIONS)


@output(Retrieval, decorate=strawberry.interface)
class ResultType:
    """What all retrievals have in common."""

    model: strawberry.Private[RetrievalResult]

    @property
    def _frame(self) -> Frame:
        provenance = self.model.provenance
        languages = tuple(provenance.parameters["languages"])
        return view_frame(provenance.edition, languages, provenance.view_spec, provenance.view_id)

    def id(self) -> strawberry.ID:
        """Returns the global id, made of the edition and the result's id."""
        edition = self.model.provenance.edition
        return strawberry.ID(global_id(IdKind.RESULT, edition, self.model.id))

    def columns(self) -> Columns:
        """Returns the result as parallel lists."""
        return result_columns(self.model)

    def text(self, format: Format = None) -> str:
        """Returns the result as text for a prompt."""
        return result_text(self.model, text_format=format)

    def timings(self, info: Context) -> tuple[StageTiming, ...]:
        """Returns milliseconds by stage; they are others each time."""
        info.context.lasts = False
        timings: tuple[StageTiming, ...] = TIMINGS.show(self.model.timings_ms)
        return timings

    def _items(self, info: Context) -> list[Any]:
        frame, result_id = self._frame, self.model.id
        return [
            build(info.context, frame, item, position=ResultPosition(frame, result_id, index))
            for index, item in enumerate(self.model.items)
        ]


@output(TripletsResult)
class TripletsResultType(ResultType):
    """The triples of highest prize, as a result."""

    def items(self, info: Context) -> list[ScoredStatementType]:
        """Returns the triples, best first."""
        return self._items(info)


@output(PathsResult)
class PathsResultType(ResultType):
    """The best paths, as a result."""

    def items(self, info: Context) -> list[PathType]:
        """Returns the paths, best first."""
        return self._items(info)


@output(SubgraphResult)
class SubgraphResultType(ResultType):
    """One connected subgraph, as a result."""

    def items(self, info: Context) -> list[ScoredStatementType]:
        """Returns the statements of the subgraph."""
        return self._items(info)


_TYPES: dict[type[RetrievalResult], type[ResultType]] = {
    TripletsResult: TripletsResultType,
    PathsResult: PathsResultType,
    SubgraphResult: SubgraphResultType,
}


def result_type(result: RetrievalResult, /) -> ResultType:
    """Returns a result for output."""
    return _TYPES[type(result)](model=result)


@output(QuestionOutcome)
class OutcomeType:
    """A question's result or its error."""

    model: strawberry.Private[QuestionOutcome]

    def result(self) -> ResultType | None:
        """Returns the result; None for an error."""
        return result_type(self.model.result) if self.model.result is not None else None


@output(ClientComparison)
class ComparisonType:
    """One view's result beside the base's."""

    model: strawberry.Private[Comparison]
    result: ResultType


def comparison_type(comparison: Comparison, /) -> ComparisonType:
    """Returns a comparison for output."""
    return ComparisonType(model=comparison, result=result_type(comparison.result))
