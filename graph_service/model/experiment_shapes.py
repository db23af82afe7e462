"""The shapes of experiments and their figures; see ``contract``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_service.model.contract import (
    Shape,
    at,
    shape,
)
from graph_service.model.experiment import (
    Condition,
    ConditionRow,
    CurvePoint,
    Difference,
    Experiment,
    GraphOfExperiment,
    Mean,
    PartRow,
    ScoreCurve,
)

EXPERIMENT_SHAPES: Mapping[Any, Shape] = {
    Mean: shape(
        "ExperimentMean",
        "A mean with its interval.",
        value="The mean.",
        low="Lower end of the 95 % interval; null for fewer than two questions.",
        high="Upper end of it.",
    ),
    Difference: shape(
        "ExperimentDifference",
        "How far a mean is from that of the same questions elsewhere.",
        mean="The mean difference.",
        p="Two-sided; questions and random seeds are both random.",
        adjusted_p="The same after Holm, over all views' conditions of a graph and score.",
        effect="Cohen's d_z: mean over standard deviation of the questions' differences.",
    ),
    Condition: shape(
        "ExperimentCondition",
        "What a figure is of: one way of asking, its random seeds together.",
        graph="The name of the graph.",
        method="What changed the graph, as the plan names it; base, or no-knowledge.",
        level="Share of the edges that change.",
        count="Number of edges that change.",
        strategy="What was retrieved; null without knowledge.",
        preset="Of the retrieval; empty without knowledge.",
        answerer="Who answered.",
    ),
    ConditionRow: shape(
        "ExperimentRow",
        "One score of one condition.",
        score="The name of the score.",
        condition="What it is of.",
        mean="Of all its answers.",
        questions="Questions that have a value.",
        missing="Answers that have none.",
        failed="Answers that failed.",
        to_base="How far it is from the base; null on the base.",
        to_nothing="How far it is from answers without knowledge; null where there are none.",
    ),
    CurvePoint: shape(
        "ExperimentPoint",
        "A score at one level.",
        level="Share of the edges that change; 0 is the base.",
        mean="The score there.",
    ),
    ScoreCurve: shape(
        "ExperimentCurve",
        "One score of one method over its levels.",
        score="The name of the score.",
        condition="What it is of; level and count are null.",
        points="From level 0 up.",
        area="Area under the curve, over the range of its levels.",
        crossing="Level at which it falls under answers without knowledge; null for never.",
    ),
    PartRow: shape(
        "ExperimentPart",
        "One score of one condition over a part of its answers.",
        score="The name of the score.",
        condition="What it is of.",
        by=(
            "By what answers are parted: fate (what the view left of the question's gold "
            "statements) or kind (type of question)."
        ),
        part="Which of these.",
        mean="Of the answers of the part.",
        questions="Questions that have a value.",
        answers="Answers of the part.",
        to_base="How far it is from the base, over the same questions; null on the base.",
    ),
    GraphOfExperiment: shape(
        "ExperimentGraph",
        "A graph that an experiment asks.",
        name="Its name then; it need not be in this store.",
        edges_fingerprint="Of its statements then; compare it with Graph.edgesFingerprint.",
    ),
    Experiment: shape(
        "Experiment",
        "An experiment that was run, as its files have it.",
        name="The name of its folder.",
        title="What its plan calls it; empty where that can't be read.",
        state="How far it is.",
        problem="What is wrong with its files; null where nothing is.",
        updated_at="When a file of it was last written.",
        graphs="The graphs that it asks.",
        questions="Names of its files of questions.",
        answerers="Who answers.",
        answers="How many answers are written.",
        tool_version=at("Version of graph-service that began it.", path="version"),
        plan="The plan as JSON; empty where it can't be read.",
        scores="Names of the scores that the report has.",
        rows="Every score of every condition, in the order of the plan.",
        curves="Every score over the levels of every method.",
        parts="Every score over parts of the answers.",
    ),
}
"""By the dataclass that is shown."""
