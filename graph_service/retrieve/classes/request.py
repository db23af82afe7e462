"""What a question about a class is answered from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.result import Strategy
from graph_service.retrieve.context import (
    Encode,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassRequest:
    """What a question about a class is answered from.

    Attributes:
        question: As asked.
        graph: The base.
        overlay: The view, if any.
        ranks: ``RANK_CODES`` of the statements that count.
        languages: Of labels, best first.
        encode: Texts to unit vectors.
        strategy: What is picked.
        limit: Items at most.
        min_confidence: From which on an answer is sure.
        deadline: Raises ``DeadlineError`` when past.
        is_cut: Whether the graph is a part of which limits left something out.
        has_all_classes: Whether it has all classes, so that *who* may mean the people of one.
    """

    question: str
    graph: KnowledgeGraph
    overlay: Overlay | None
    ranks: Sequence[int]
    languages: Sequence[str]
    encode: Encode
    strategy: Strategy
    limit: int
    min_confidence: float
    deadline: Deadline
    is_cut: bool = False
    has_all_classes: bool = True

    def cosines(self, texts: Sequence[str], others: Sequence[str]) -> Float64:
        """Returns the cosine of each text with each of some others, float64 [texts, others]."""
        vectors = self.encode([*texts, *others]).astype(np.float64)
        cosines: Float64 = np.round(vectors[: len(texts)] @ vectors[len(texts) :].T, 5)
        return cosines
