"""The nearest kinds, found by products of fewer digits, against exact ones."""

from __future__ import annotations

import numpy as np
import pytest

from graph_service.model.graph import Float64
from graph_service.retrieve.kinds import KINDS, nearest_kinds
from graph_service.retrieve.similarity import SIMILARITY_DIGITS


@pytest.mark.parametrize("random_seed", range(30))
def test_the_nearest_kind_is_that_of_exact_cosines(random_seed: int) -> None:
    """Kinds that are as like as others to the last digits are among them, and no vector at all."""
    generator = np.random.Generator(np.random.PCG64(random_seed))
    vectors = _unit(generator.normal(size=(12, 6)))
    kinds = _unit(generator.normal(size=(len(KINDS), 6)))
    kinds[1::3] = kinds[: len(kinds) - 1 : 3]
    kinds[2::3] = _unit(kinds[2::3] + generator.normal(scale=1e-5, size=(len(kinds) // 3, 6)))
    kinds[generator.permutation(len(kinds))] = kinds.copy()
    vectors[0], vectors[1] = 0.0, -vectors[2]
    shared = generator.integers(0, 3, size=(12, 12)) * (generator.random((12, 12)) < 0.4)
    shared[3] = 0
    shared[4], shared[5] = 0, 0
    # A sum that is nearly nothing, and one of nothing.
    shared[4, 1], shared[4, 2], shared[5, 0] = 7, 7, 7
    held = np.maximum(shared.max(axis=1), 1)
    left, right = vectors.astype(np.float32), kinds.astype(np.float32)
    profiles = shared / held[:, None] @ left.astype(np.float64)
    sizes = np.linalg.norm(profiles, axis=1, keepdims=True)
    sizes[sizes == 0.0] = np.inf
    exact = np.round(profiles / sizes @ right.astype(np.float64).T, SIMILARITY_DIGITS)
    found = nearest_kinds(held, shared, left, right)
    assert found.tolist() == exact.argmax(axis=1).tolist()


def _unit(rows: Float64) -> Float64:
    lengths: Float64 = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths
