"""Experiments as GraphQL types."""

from __future__ import annotations

from typing import Annotated

import strawberry

from graph_service.api.scalars import DateTime
from graph_service.model.experiment import (
    Condition,
    ConditionRow,
    CurvePoint,
    Difference,
    Experiment,
    ExperimentState,
    Mean,
    PartRow,
    ScoreCurve,
)
from graph_service.model.result import Strategy

OfScore = Annotated[
    str | None, strawberry.argument(description="Only of this score; null for all scores.")
]


@strawberry.type(name="ExperimentMean", description="A mean with its interval.")
class MeanType:
    """A mean with its interval."""

    value: float = strawberry.field(description="The mean.")
    low: float | None = strawberry.field(
        description="Lower end of the 95 % interval; null for fewer than two questions."
    )
    high: float | None = strawberry.field(description="Upper end of it.")


@strawberry.type(
    name="ExperimentDifference",
    description="How far a mean is from that of the same questions elsewhere.",
)
class DifferenceType:
    """How far a mean is from another."""

    mean: MeanType = strawberry.field(description="The mean difference.")
    p: float | None = strawberry.field(
        description="Of a two-sided sign-flip permutation test over questions."
    )
    adjusted_p: float | None = strawberry.field(
        description="The same after Holm, over all views' conditions of a graph and score."
    )
    effect: float | None = strawberry.field(
        description="Cohen's d_z: mean over standard deviation of the questions' differences."
    )


@strawberry.type(
    name="ExperimentCondition",
    description="What a figure is of: one way of asking, its random seeds together.",
)
class ConditionType:
    """What a figure is of."""

    graph: str = strawberry.field(description="The name of the graph.")
    method: str = strawberry.field(
        description="What changed the graph, as the plan names it; base, or no-knowledge."
    )
    level: float | None = strawberry.field(description="Share of the edges that change.")
    count: int | None = strawberry.field(description="Number of edges that change.")
    strategy: Strategy | None = strawberry.field(
        description="What was retrieved; null without knowledge."
    )
    preset: str = strawberry.field(description="Of the retrieval; empty without knowledge.")
    answerer: str = strawberry.field(description="Who answered.")


@strawberry.type(name="ExperimentRow", description="One score of one condition.")
class RowType:
    """One score of one condition."""

    score: str = strawberry.field(description="The name of the score.")
    condition: ConditionType = strawberry.field(description="What it is of.")
    mean: MeanType = strawberry.field(description="Of all its answers.")
    questions: int = strawberry.field(description="Questions that have a value.")
    missing: int = strawberry.field(description="Answers that have none.")
    failed: int = strawberry.field(description="Answers that failed.")
    to_base: DifferenceType | None = strawberry.field(
        description="How far it is from the base; null on the base."
    )
    to_nothing: DifferenceType | None = strawberry.field(
        description="How far it is from answers without knowledge; null where there are none."
    )


@strawberry.type(name="ExperimentPoint", description="A score at one level.")
class PointType:
    """A score at one level."""

    level: float = strawberry.field(description="Share of the edges that change; 0 is the base.")
    mean: MeanType = strawberry.field(description="The score there.")


@strawberry.type(name="ExperimentCurve", description="One score of one method over its levels.")
class CurveType:
    """One score over levels."""

    score: str = strawberry.field(description="The name of the score.")
    condition: ConditionType = strawberry.field(
        description="What it is of; level and count are null."
    )
    points: list[PointType] = strawberry.field(description="From level 0 up.")
    area: MeanType = strawberry.field(
        description="Area under the curve, over the range of its levels."
    )
    crossing: float | None = strawberry.field(
        description="Level at which it falls under answers without knowledge; null for never."
    )


@strawberry.type(
    name="ExperimentPart", description="One score of one condition over a part of its answers."
)
class PartType:
    """One score over a part of the answers."""

    score: str = strawberry.field(description="The name of the score.")
    condition: ConditionType = strawberry.field(description="What it is of.")
    by: str = strawberry.field(
        description="By what answers are parted: fate (what the view left of the question's gold "
        "statements) or kind (type of question)."
    )
    part: str = strawberry.field(description="Which of these.")
    mean: MeanType = strawberry.field(description="Of the answers of the part.")
    questions: int = strawberry.field(description="Questions that have a value.")
    answers: int = strawberry.field(description="Answers of the part.")
    to_base: DifferenceType | None = strawberry.field(
        description="How far it is from the base, over the same questions; null on the base."
    )


@strawberry.type(name="ExperimentGraph", description="A graph that an experiment asks.")
class ExperimentGraphType:
    """A graph that an experiment asks."""

    name: str = strawberry.field(description="Its name then; it need not be in this store.")
    edges_fingerprint: str = strawberry.field(
        description="Of its statements then; compare it with Graph.edgesFingerprint."
    )


@strawberry.type(
    name="Experiment",
    description="An experiment that was run, as its files have it.",
)
class ExperimentType:
    """An experiment."""

    found: strawberry.Private[Experiment]

    @strawberry.field(description="The name of its folder.")
    def name(self) -> str:
        """The name."""
        return self.found.name

    @strawberry.field(description="What its plan calls it; empty where that can't be read.")
    def title(self) -> str:
        """The title."""
        return self.found.title

    @strawberry.field(description="How far it is.")
    def state(self) -> ExperimentState:
        """How far it is."""
        return self.found.state

    @strawberry.field(description="What is wrong with its files; null where nothing is.")
    def problem(self) -> str | None:
        """What is wrong."""
        return self.found.problem

    @strawberry.field(description="When a file of it was last written.")
    def updated_at(self) -> DateTime:
        """When it was last written."""
        return DateTime(self.found.updated_at)

    @strawberry.field(description="The graphs that it asks.")
    def graphs(self) -> list[ExperimentGraphType]:
        """The graphs."""
        return [
            ExperimentGraphType(name=one.name, edges_fingerprint=one.edges_fingerprint)
            for one in self.found.graphs
        ]

    @strawberry.field(description="Names of its files of questions.")
    def questions(self) -> list[str]:
        """The files of questions."""
        return list(self.found.questions)

    @strawberry.field(description="Who answers.")
    def answerers(self) -> list[str]:
        """Who answers."""
        return list(self.found.answerers)

    @strawberry.field(description="How many answers are written.")
    def answers(self) -> int:
        """How many answers there are."""
        return self.found.answers

    @strawberry.field(description="Version of graph-service that began it.")
    def tool_version(self) -> str:
        """The version."""
        return self.found.version

    @strawberry.field(description="The plan as JSON; empty where it can't be read.")
    def plan(self) -> str:
        """The plan."""
        return self.found.plan

    @strawberry.field(description="Names of the scores that the report has.")
    def scores(self) -> list[str]:
        """The scores."""
        return list(self.found.scores)

    @strawberry.field(description="Every score of every condition, in the order of the plan.")
    def rows(self, score: OfScore = None) -> list[RowType]:
        """The rows."""
        return [_row(one) for one in self.found.rows if score in (None, one.score)]

    @strawberry.field(description="Every score over the levels of every method.")
    def curves(self, score: OfScore = None) -> list[CurveType]:
        """The curves."""
        return [_curve(one) for one in self.found.curves if score in (None, one.score)]

    @strawberry.field(description="Every score over parts of the answers.")
    def parts(self, score: OfScore = None) -> list[PartType]:
        """The parts."""
        return [_part(one) for one in self.found.parts if score in (None, one.score)]


def _mean(one: Mean) -> MeanType:
    return MeanType(value=one.value, low=one.low, high=one.high)


def _difference(one: Difference | None) -> DifferenceType | None:
    if one is None:
        return None
    return DifferenceType(
        mean=_mean(one.mean), p=one.p, adjusted_p=one.adjusted_p, effect=one.effect
    )


def _condition(one: Condition) -> ConditionType:
    return ConditionType(
        graph=one.graph,
        method=one.method,
        level=one.level,
        count=one.count,
        strategy=one.strategy,
        preset=one.preset,
        answerer=one.answerer,
    )


def _row(one: ConditionRow) -> RowType:
    return RowType(
        score=one.score,
        condition=_condition(one.condition),
        mean=_mean(one.mean),
        questions=one.questions,
        missing=one.missing,
        failed=one.failed,
        to_base=_difference(one.to_base),
        to_nothing=_difference(one.to_nothing),
    )


def _point(one: CurvePoint) -> PointType:
    return PointType(level=one.level, mean=_mean(one.mean))


def _curve(one: ScoreCurve) -> CurveType:
    return CurveType(
        score=one.score,
        condition=_condition(one.condition),
        points=[_point(point) for point in one.points],
        area=_mean(one.area),
        crossing=one.crossing,
    )


def _part(one: PartRow) -> PartType:
    return PartType(
        score=one.score,
        condition=_condition(one.condition),
        by=one.by,
        part=one.part,
        mean=_mean(one.mean),
        questions=one.questions,
        answers=one.answers,
        to_base=_difference(one.to_base),
    )
