"""The inputs of the confidence in the first answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from graph_service.link.starts import StartCandidate
from graph_service.model.graph import Float64
from graph_service.retrieve.constraints.coverage import is_kin
from graph_service.retrieve.constraints.judging import RankedCandidate
from graph_service.retrieve.learned.confidence import (
    LEAST_GAP,
    AnswerConfidence,
    margin_of,
)
from graph_service.retrieve.learned.question_reader import Finalists, PriorFit, QuestionReader
from graph_service.retrieve.preset import LearnedPreset
from graph_service.text.fold import words


class AnswerJudge:
    """What is told of the first answer, for its confidence.

    Args:
        reader: Of the question.
        starts: What is known of the start entities, in the region's order.
        finalists: The candidates that are in words.
        preset: All parameters.
    """

    def __init__(
        self,
        reader: QuestionReader,
        starts: Sequence[StartCandidate],
        finalists: Finalists,
        preset: LearnedPreset,
        /,
    ) -> None:
        self._reader = reader
        self._starts = starts
        self._finalists = finalists
        self._preset = preset

    @cached_property
    def _prior(self) -> PriorFit:
        return self._reader.prior_fit(self._finalists.numbers)

    def further_fit(self) -> float:
        """Returns how well the best candidate of several steps fits by the prior, the least of its
        steps; minus infinity for none.
        """
        steps = self._reader.candidates.steps[self._finalists.numbers]
        fit = self._prior.least[steps.sum(axis=1) > 1]
        return float(fit.max(initial=-np.inf))

    def further_labels(self, start: int, best: int, /) -> frozenset[str]:
        """Returns the labels of relations that one entity, reached by one statement of a start,
        has, and those of the best candidate after its first: but for kin, whose relations are not
        those of the start.

        Args:
            start: Which of the start entities.
            best: The best candidate.
        """
        candidates, texts = self._reader.candidates, self._reader.texts
        numbers = self._finalists.numbers
        is_near = (candidates.start[numbers] == start) & (candidates.length[numbers] == 2)
        is_near &= ~candidates.backward[numbers, 0] & (candidates.walks[numbers] == 1)
        near = [best, *numbers[is_near].tolist()]
        return frozenset(
            texts[relation]
            for (first, _), *others in map(candidates.sequence, near)
            for relation, _ in others
            if not any(is_kin(word) for word in words(texts[first]))
        )

    def is_sure(
        self, calibration: AnswerConfidence | None, ranking: Sequence[RankedCandidate], /
    ) -> bool:
        """Returns whether the first of a ranking is right probably enough; without weights, no."""
        if calibration is None:
            return False
        return calibration.probability(self.inputs(ranking)) >= self._preset.min_confidence

    def inputs(self, ranking: Sequence[RankedCandidate], /) -> Float64:
        """Returns ``confidence.INPUT_NAMES`` of the first of some candidates, best first."""
        rows = {number: row for row, number in enumerate(self._finalists.numbers.tolist())}
        known = [one for one in ranking if one.number in rows]
        row = rows[known[0].number]
        start = self._starts[int(self._reader.candidates.start[known[0].number])]
        prior = self._prior
        gap = float(prior.least[row] - prior.common[row])
        read = self._finalists.read_scores
        found = (
            margin_of(np.array([one.score for one in known])),
            float(self._finalists.text_scores[row]),
            float(start.certainty),
            min(max(gap, LEAST_GAP), 0.0),
            0.0 if read is None else float(read[row]),
            float(start.in_other_name),
        )
        return np.array(found)
