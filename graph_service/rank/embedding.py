"""Relations ranked by the cosine of their text with the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.model.ranking import (
    RankedRelation,
    SignedRelation,
    TextEncoder,
    encode_queries,
    in_order,
)


class EmbeddingRanker:
    """Ranks by an embedder alone; nothing is trained.

    Args:
        encoder: Any embedder.
    """

    def __init__(self, encoder: TextEncoder, /) -> None:
        self._encoder = encoder
        self.name = f"embedding {encoder.name}"

    def rank(
        self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
    ) -> tuple[RankedRelation, ...]:
        """Returns all relations by the cosine of their text with the question's."""
        del entity
        if not relations:
            return ()
        query = encode_queries(self._encoder, [question])[0].astype(np.float64)
        vectors = self._encoder.encode([relation.text for relation in relations])
        return in_order(relations, vectors.astype(np.float64) @ query)
