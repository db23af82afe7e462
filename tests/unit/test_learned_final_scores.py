"""The final scores: words are looked at of those candidates that may be read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import pytest

from graph_service.model.graph import Float64, Int64
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.retrieve.learned.features import FINAL_NAMES
from graph_service.retrieve.learned.network import (
    LITERAL_FROM,
    CandidateScorer,
    Networks,
    shipped_scorer,
)
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.retrieve.preset import LEARNED, LearnedPreset
from graph_service.service import Service


def first_input_alone(inputs: int) -> Networks:
    """Networks whose score is the first input."""
    return Networks(
        np.zeros(inputs),
        np.ones(inputs),
        np.zeros((1, inputs, 1)),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
        np.eye(1, inputs),
    )


@dataclass
class Candidates:
    """Stands in for a reader of four candidates, whose first inputs are their scores."""

    scores: Float64
    most: Float64
    literal: Float64
    preset: LearnedPreset = LEARNED
    worded: list[int] = field(default_factory=list)

    @property
    def described(self) -> Float64:
        described = np.zeros((len(self.scores), len(FINAL_NAMES) - 1))
        described[:, 0] = self.scores
        return described

    def final_inputs(self, numbers: Int64, literal_scores: Float64, /) -> Float64:
        return np.column_stack((self.described[numbers], literal_scores))

    def most_literal(self, numbers: Int64, /) -> Float64:
        return self.most[numbers]

    def literal_scores(self, numbers: Int64, /) -> Float64:
        self.worded += numbers.tolist()
        return self.literal[numbers]

    def prior_fit(self, numbers: Int64, /) -> Finalists:
        return cast("Finalists", type("Fit", (), {"mean": np.zeros(len(numbers))}))


@pytest.mark.parametrize(("max_read", "worded"), [(2, [0, 1, 2]), (4, [0, 1, 2, 3])])
def test_words_are_looked_at_of_what_may_be_read(max_read: int, worded: list[int]) -> None:
    """Of what may come near the best, and of the best few at all: where nothing fits, these are
    read.
    """
    gap = LEARNED.read_gap
    reader = Candidates(
        # The best; one near it; one that its words may bring near; one that they can't.
        scores=np.array([10.0, 9.0 - gap / 2, 10.0 - gap - 5.0, 10.0 - gap - 6.5]),
        most=np.array([0.0, 0.0, 0.8, 0.8]),
        literal=np.array([0.0, 0.0, 0.7, 0.7]),
        preset=replace(LEARNED, max_read=max_read),
    )
    scorer = CandidateScorer(
        first_input_alone(len(FINAL_NAMES) - 1), first_input_alone(len(FINAL_NAMES)), "", ""
    )
    _, scores = NetworkRanker(scorer).rank(cast("QuestionReader", reader), 40)
    assert reader.worded == worded
    literal = np.where(
        np.isin(range(4), worded), np.maximum(reader.literal - LITERAL_FROM, 0.0), 0.0
    )
    expected = reader.scores + 30.0 * literal
    assert np.abs(scores - expected).max() < 1e-4


def test_literal_scores_are_text_scores_or_nothing(demo_service: Service) -> None:
    """And what the words of labels tell bounds them."""
    readers: list[QuestionReader] = []

    class Recorder:
        name = "recorder of readers"

        def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
            readers.append(reader)
            return NetworkRanker(shipped_scorer()).rank(reader, most)

    question = "Who is the mother of Maria Shriver's husband?"
    with demo_service.ranking_by(Recorder()):
        demo_service.retrieve(RetrieveRequest(question, Strategy.PATHS, graph="demo"))
    (reader,) = readers
    numbers = np.arange(len(reader.candidates))
    scores, texts = reader.literal_scores(numbers), reader.text_scores(numbers)
    assert (scores > 0.0).any()
    assert np.array_equal(scores[scores != 0.0], texts[scores != 0.0].round(5))
    assert (texts[scores == 0.0] <= LITERAL_FROM).all()
    assert (scores <= reader.most_literal(numbers)).all()
