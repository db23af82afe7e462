"""The relation sequences that a ranker puts first, as a benchmark counts them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graph_service.model.graph import Float64
from graph_service.quality.chains import twin_of
from graph_service.quality.question_sets import Step
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader

RIGHT_AMONG = (5, 40)
Sequence = tuple[str, tuple[Step, ...]]
"""Where a sequence begins, and its relations under their first names."""


class FinalistRecorder:
    """Keeps the best sequences of a question, by the ranker's own score: before constraints.

    Attributes:
        sequences: Of the last question, the best first.
    """

    def __init__(self) -> None:
        self.sequences: list[Sequence] = []

    def note(self, reader: QuestionReader, finalists: Finalists, score: Float64, /) -> None:
        """Keeps what was ranked; of a text with several questions the last."""
        ids, start_ids = reader.relation_ids(), reader.start_ids()
        best = np.lexsort((finalists.numbers, -score))[: max(RIGHT_AMONG)]
        self.sequences = [
            (
                start_ids[reader.candidates.start[each]],
                tuple(twin_of((ids[rel], back)) for rel, back in reader.candidates.sequence(each)),
            )
            for each in finalists.numbers[best].tolist()
        ]

    def figures(self, is_right: Callable[[Sequence], bool], /) -> dict[str, float]:
        """Returns by name whether a right one is among the first few; empty if nothing was ranked."""
        rank = next((i for i, each in enumerate(self.sequences) if is_right(each)), None)
        if not self.sequences:
            return {}
        return {
            f"right among {most}": float(rank is not None and rank < most) for most in RIGHT_AMONG
        }
