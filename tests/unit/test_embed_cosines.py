"""Cosines: exact, rounded, and independent of how the rows are laid out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graph_service.embed import cosine


def test_known_angles() -> None:
    matrix = np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert cosine(matrix, np.array([5.0, 0.0])).tolist() == [1.0, 0.0, -1.0, 0.70711, 0.0]
    assert cosine(matrix, np.zeros(2)).tolist() == [0.0] * 5
    assert cosine(np.zeros((0, 2)), np.ones(2)).shape == (0,)


def test_last_bits_of_float32_do_not_show() -> None:
    """The same vectors moved by one unit in the last place have the same cosines, nearly always;
    a cosine that is not next to a rounding edge has it always."""
    random = np.random.default_rng(7)
    rows = random.normal(size=(500, 384)).astype(np.float32)
    vector = random.normal(size=384).astype(np.float32)
    exact = (rows.astype(np.float64) @ vector.astype(np.float64)) / (
        np.linalg.norm(rows.astype(np.float64), axis=1) * np.linalg.norm(vector.astype(np.float64))
    )
    safe = np.abs((exact * 1e5) % 1.0 - 0.5) > 0.05
    moved = np.nextafter(rows, np.float32(np.inf))
    assert safe.sum() > 300
    assert (cosine(rows, vector)[safe] == cosine(moved, vector)[safe]).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 9))
def test_rows_do_not_depend_on_each_other(seed: int, rows: int, width: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(rows, width)).astype(np.float32)
    vector = random.normal(size=width).astype(np.float32)
    together = cosine(matrix, vector)
    assert together.dtype == np.float64
    assert together.tolist() == [float(cosine(matrix[i : i + 1], vector)[0]) for i in range(rows)]
    assert (np.round(together, 5) == together).all()


def test_blocks_join() -> None:
    matrix = np.random.default_rng(1).normal(size=(20_000, 3))
    vector = np.array([1.0, 2.0, 3.0])
    expected = matrix @ vector / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector))
    assert np.abs(cosine(matrix, vector) - expected).max() <= 0.5e-5 + 1e-12
