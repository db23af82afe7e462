"""Rankers of relations that need no language model: by embedding, and trained (L5).

What is learnt is made in ``queries.rank``; here it is read and used, so that a retrieval can rank
by it. Pure: texts are embedded by what a ranker is given.
"""

from graph_service.rank.embedding import EmbeddingRanker
from graph_service.rank.file import (
    decode_ranker,
    encode_ranker,
    fingerprint_of,
    read_ranker,
    write_ranker,
)
from graph_service.rank.trained import RankerWeights, RelationSides, TrainedRanker

__all__ = [
    "EmbeddingRanker",
    "RankerWeights",
    "RelationSides",
    "TrainedRanker",
    "decode_ranker",
    "encode_ranker",
    "fingerprint_of",
    "read_ranker",
    "write_ranker",
]
