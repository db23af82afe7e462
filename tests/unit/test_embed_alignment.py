"""Maps between the vectors of two encoders: learned, kept in files, and bit for bit (row B12)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from error_texts import raises

from graph_service.embed.alignment import Alignment, decode_alignment, encode_alignment, fitted
from graph_service.embed.exact import WEIGHT_BITS, to_grid
from graph_service.embed.minilm import NAME
from graph_service.embed.multilingual import E5_NAME, shipped_alignment
from graph_service.errors import InputError


def random(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.fixture(scope="module")
def alignment() -> Alignment:
    matrix = random(1, 6, 4)
    to_grid(matrix, WEIGHT_BITS)
    return Alignment(matrix, random(2, 4), 0.4, "source@1", "target@2", "ab" * 16, {"texts": 3})


def test_a_linear_map_is_recovered() -> None:
    source, matrix, bias = random(3, 200, 6), random(4, 6, 4), random(5, 4)
    target = source @ matrix + bias
    learned, added = fitted(source.astype(np.float32), target.astype(np.float32), ridge=1e-9)
    assert np.allclose(learned, matrix, atol=1e-4)
    assert np.allclose(added, bias, atol=1e-4)


def test_the_ridge_is_that_of_least_squares_with_further_rows() -> None:
    # Ridge regression is least squares with root(ridge) times the identity below the rows.
    source, target = random(6, 30, 6), random(7, 30, 4)
    learned, added = fitted(source.astype(np.float32), target.astype(np.float32), ridge=2.0)
    mean, goal = source.mean(axis=0), target.mean(axis=0)
    rows = np.concatenate([source - mean, np.sqrt(2.0) * np.eye(6)])
    expected = np.linalg.lstsq(rows, np.concatenate([target - goal, np.zeros((6, 4))]))[0]
    assert np.allclose(learned, expected, atol=1e-5)
    assert np.allclose(added, goal - mean @ expected, atol=1e-5)


def test_mapped_vectors_are_of_length_one_and_the_same_bits_in_any_company(
    alignment: Alignment,
) -> None:
    vectors = random(8, 50, 6).astype(np.float32)
    mapped = alignment.mapped(vectors)
    assert np.allclose(np.linalg.norm(mapped, axis=1), 1.0, atol=1e-6)
    plain = vectors @ alignment.matrix + alignment.bias
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    assert np.allclose(mapped, plain, atol=1e-5)
    alone = np.concatenate([alignment.mapped(vectors[row : row + 1]) for row in range(50)])
    assert np.array_equal(mapped, alone)
    assert np.array_equal(mapped[::-1], alignment.mapped(vectors[::-1]))


def test_a_file_holds_it(alignment: Alignment) -> None:
    data = encode_alignment(alignment)
    assert data == encode_alignment(alignment)
    held = decode_alignment(data)
    # The matrix is kept in half precision.
    assert np.allclose(held.matrix, alignment.matrix, atol=2e-3)
    assert np.allclose(held.bias, alignment.bias, atol=1e-6)
    for name in ("least_agreement", "source", "target", "data", "notes"):
        assert getattr(held, name) == getattr(alignment, name)


def test_damaged_files_are_refused(alignment: Alignment) -> None:
    wrong = (
        b"no file",
        encode_alignment(replace(alignment, bias=np.zeros(3))),
        encode_alignment(replace(alignment, bias=np.full(4, np.nan))),
    )
    for data in wrong:
        with raises(InputError):
            decode_alignment(data)


def test_the_shipped_one_leads_from_e5_to_minilm() -> None:
    alignment = shipped_alignment()
    assert (alignment.source, alignment.target) == (E5_NAME, NAME)
    assert alignment.matrix.shape == (384, 384)
    assert 0.2 < alignment.least_agreement < 0.6
    assert alignment.notes["texts"] > 1_000
