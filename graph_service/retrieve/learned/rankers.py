"""What orders the candidates of a question: its protocol, and the trained networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.learned.confidence import (
    AnswerConfidence,
    shipped_confidence,
)
from graph_service.retrieve.learned.network import SCORE_DIGITS, CandidateScorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader


class CandidateRanker(Protocol):
    """Orders the candidates of a question."""

    @property
    def name(self) -> str:
        """Says which it is, in provenance."""
        ...

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns at most ``most`` candidates and their scores, float64 [n], higher is better."""
        ...


@runtime_checkable
class CalibratedRanker(CandidateRanker, Protocol):
    """A ranker whose scores tell how probably the first answer is right."""

    @property
    def calibration(self) -> AnswerConfidence:
        """The weights that make a probability of the scores."""
        ...


NoteRanking = Callable[[QuestionReader, Finalists, Float64], None]
"""Is handed a question's reader, its best candidates and their scores."""


@dataclass(frozen=True, slots=True, eq=False)
class NotedRanker:
    """Ranks as another ranker does, and hands on what came of it.

    Attributes:
        ranker: Ranks.
        note: Is called after each ranking.
    """

    ranker: CalibratedRanker
    note: NoteRanking

    @property
    def calibration(self) -> AnswerConfidence:
        """The weights of the other ranker."""
        return self.ranker.calibration

    @property
    def name(self) -> str:
        """The name of the other ranker: results are the same."""
        return self.ranker.name

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the best candidates and their scores."""
        finalists, score = self.ranker.rank(reader, most)
        self.note(reader, finalists, score)
        return finalists, score


@dataclass(frozen=True, slots=True, eq=False)
class NetworkRanker:
    """Ranks by a trained scorer: all candidates by its first networks, the best by its final ones.

    Attributes:
        scorer: The networks.
        graph: The graph that it was trained on; empty for the one that is shipped.
    """

    scorer: CandidateScorer
    graph: str = ""

    @property
    def calibration(self) -> AnswerConfidence:
        """The weights that ship: they fit a graph's own networks as far as these score alike.

        Gaps of sets are the graph's own where it has any.
        """
        shipped = shipped_confidence()
        return replace(shipped, gaps=self.scorer.gaps) if self.scorer.gaps else shipped

    @property
    def name(self) -> str:
        """The hash of what it was trained on, its embedder's name and its graph, if any."""
        of_graph = f" for graph {self.graph}" if self.graph else ""
        return f"trained {self.scorer.data[:8]} on {self.scorer.embedder}{of_graph}"

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the best candidates and their scores."""
        first = self.scorer.first.score(reader.described)
        best = np.lexsort((np.arange(len(first)), -first))[:most]
        numbers = np.sort(best)
        return Finalists(numbers), self._final_scores(reader, numbers)

    def _final_scores(self, reader: QuestionReader, numbers: Int64) -> Float64:
        """Returns the scores of the best candidates, float64 [n].

        Words are looked at of those alone that may then be read.
        """
        preset = reader.preset
        prior = preset.prior_weight and preset.prior_weight * reader.prior_fit(numbers).mean

        def total(literal_scores: Float64) -> Float64:
            score = self.scorer.score(reader.final_inputs(numbers, literal_scores)) + prior
            return np.round(score, SCORE_DIGITS)

        literal_scores = np.zeros(len(numbers))
        least, most = total(literal_scores), total(reader.most_literal(numbers))
        last_read = np.sort(least)[-preset.max_read :].min()
        near = np.flatnonzero(most >= min(last_read, least.max() - preset.read_gap))
        literal_scores[near] = reader.literal_scores(numbers[near])
        return total(literal_scores)
