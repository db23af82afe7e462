"""Ranking without training: how like the question a relation sequence's words are.

That is what preset ``default-6`` does where no weights fit the vectors of the embedder, or where the
caller gives the question's vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64
from graph_service.retrieve.learned.network import LITERAL_WEIGHT, SCORE_DIGITS
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader


@dataclass(frozen=True, slots=True)
class SimilarityRanker:
    """Ranks by the cosine of the question and a sequence's words, less the costs of its steps."""

    @property
    def name(self) -> str:
        """Says that nothing that was learned takes part."""
        return "similarity alone"

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the candidates whose own words are most like the question, and their scores."""
        promise = reader.promises()
        order = np.lexsort((np.arange(len(promise)), -promise))
        numbers = np.sort(order[: reader.preset.max_embedded])
        own = reader.own_text_scores(numbers) - reader.doubts(numbers)
        numbers = np.sort(numbers[np.lexsort((numbers, -own))[:most]])
        score = LITERAL_WEIGHT * (reader.text_scores(numbers) - reader.doubts(numbers))
        reader.note_stage("sequences")
        return Finalists(numbers), np.round(score, SCORE_DIGITS)
