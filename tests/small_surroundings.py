"""What retrievers that are measured beside ours are tried on: five nodes, and vectors of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.retrievers.protocol import Float64, Surroundings

WORDS = ("a", "b", "c", "d", "e", "knows", "likes")


def embed(texts: Sequence[str], /) -> Float64:
    """Returns a unit vector for each text: how often each word stands in it."""
    counts = np.array([[text.split().count(word) for word in WORDS] for text in texts], float)
    vectors: Float64 = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-12)
    return vectors


def sentences(around: Surroundings, ids: Iterable[str], /) -> list[str]:
    """Returns the statements of some ids as sentences."""
    by_id = {id_: around.sentence(index) for index, id_ in enumerate(around.statement_ids)}
    return [by_id[id_] for id_ in ids]
