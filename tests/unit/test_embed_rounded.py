"""Products of rounded weights: near the true ones, and the same whatever sums them."""

from __future__ import annotations

import numpy as np
import pytest

from graph_service.embed.rounded import RoundedWeights


@pytest.mark.parametrize("width", [32, 384, 1536, 4096])
def test_products_are_near_those_of_the_weights(width: int) -> None:
    rng = np.random.default_rng(width)
    rows, weights = rng.normal(size=(20, width)), rng.normal(size=(width, 30))
    lengths = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(weights, axis=0)
    error = np.abs(rows @ RoundedWeights.of(weights) - rows @ weights) / lengths
    assert error.max() < 4e-4


@pytest.mark.parametrize("width", [384, 4096])
def test_every_sum_is_exact(width: int) -> None:
    """Where a row and a column point one way, and where one number is large: the worst of both."""
    direction = np.random.default_rng(1).normal(size=width)
    spike = np.where(np.arange(width) == 0, 1e6, 0.3)
    rows = np.stack([direction, -direction, spike, np.ones(width)])
    rounded = RoundedWeights.of(rows.T)
    for block in rounded.numbers:
        numbers = block.astype(np.int64)
        assert (np.abs(numbers.T) @ np.abs(numbers)).max() < 2**24
        order = np.random.default_rng(2).permutation(len(block))
        shuffled = np.ascontiguousarray(block[order])
        assert np.array_equal(shuffled.T @ shuffled, numbers.T @ numbers)
    alone = [row[None] @ rounded for row in rows]
    assert np.array_equal(np.concatenate(alone), rows @ rounded)


def test_rows_and_columns_of_zeros() -> None:
    weights = RoundedWeights.of(np.array([[0.0, 1.0], [0.0, -2.0]]))
    product = np.array([[0.0, 0.0], [1.0, 1.0]]) @ weights
    assert product.tolist() == [[0.0, 0.0], [0.0, pytest.approx(-1.0, abs=1e-3)]]
