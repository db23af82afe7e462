"""What the folder of an experiment says: its plan, and the figures of its report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graph_service.model.result import Strategy


class ExperimentState(StrEnum):
    """How far an experiment is, by the files of its folder."""

    RUNNING = "running"
    REPORTED = "reported"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval.

    Attributes:
        low, high: Ends of the 95 % interval; None where there is none.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a mean is from that of the same questions elsewhere.

    Attributes:
        p: Two-sided, with questions and random seeds both random; ``adjusted_p`` the same after Holm.
        effect: Cohen's d_z.
    """

    mean: Mean
    p: float | None
    adjusted_p: float | None
    effect: float | None


@dataclass(frozen=True, slots=True)
class Condition:
    """What a figure is of: the same way of asking, its random seeds together.

    Attributes:
        method: Name of the perturbation in the plan, ``base`` or ``no-knowledge``.
        level, count: How much of the graph changes; None where it does not say so.
        strategy, preset: Of the retrieval; None and "" without knowledge.
        answerer: Who answers.
    """

    graph: str
    method: str
    level: float | None
    count: int | None
    strategy: Strategy | None
    preset: str
    answerer: str


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One score of one condition.

    Attributes:
        questions: That have a value.
        missing: Answers without one, and ``failed`` those that failed.
        to_base, to_nothing: Differences to the base and to no knowledge.
    """

    score: str
    condition: Condition
    mean: Mean
    questions: int
    missing: int
    failed: int
    to_base: Difference | None
    to_nothing: Difference | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A score at one level; level 0 is the base."""

    level: float
    mean: Mean


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """One score of one method over its levels.

    Attributes:
        condition: Without level and count.
        area: Under the curve, over the range of the levels.
        crossing: Level at which it falls under no knowledge; None for never.
    """

    score: str
    condition: Condition
    points: tuple[CurvePoint, ...]
    area: Mean
    crossing: float | None


@dataclass(frozen=True, slots=True)
class PartRow:
    """One score of one condition over a part of its answers.

    Attributes:
        by: ``fate`` (what the view left of the gold), ``kind`` (type of question) or ``known``
            (whether no knowledge answers right).
        part: Which of these.
    """

    score: str
    condition: Condition
    by: str
    part: str
    mean: Mean
    questions: int
    answers: int
    to_base: Difference | None


@dataclass(frozen=True, slots=True)
class GraphOfExperiment:
    """A graph that an experiment asks, by its fingerprint of edges."""

    name: str
    edges_fingerprint: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the folder of an experiment says.

    Attributes:
        name: Of the folder.
        title: That the plan gives it; "" where it can't be read.
        problem: What is wrong with its files; None where nothing is.
        updated_at: When a file of it was last written, ISO 8601, UTC.
        questions: Names of its files of questions.
        answers: How many answers are written.
        version: Of graph-service that began it.
        plan: As JSON; "" where it can't be read.
        scores: Names of those that the report has, in its order.
    """

    name: str
    state: ExperimentState
    problem: str | None = None
    title: str = ""
    updated_at: str = ""
    graphs: tuple[GraphOfExperiment, ...] = ()
    questions: tuple[str, ...] = ()
    answerers: tuple[str, ...] = ()
    answers: int = 0
    version: str = ""
    plan: str = ""
    scores: tuple[str, ...] = ()
    rows: tuple[ConditionRow, ...] = ()
    curves: tuple[ScoreCurve, ...] = ()
    parts: tuple[PartRow, ...] = ()
