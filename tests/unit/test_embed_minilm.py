"""MiniLM in numpy: against vectors recorded from sentence-transformers, and its own rules."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from graph_service.embed import open_embedder
from graph_service.embed.minilm import MiniLM, _gelu
from graph_service.errors import InputError

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM.open()


def golden() -> tuple[list[str], np.ndarray]:
    texts = json.loads((GOLDEN / "minilm_vectors.json").read_text(encoding="utf-8"))
    vectors = np.load(GOLDEN / "minilm_vectors.npy")
    assert len(texts) == len(vectors)
    return texts, vectors


def test_vectors_agree_with_sentence_transformers(minilm: MiniLM) -> None:
    """Recorded by tests/models/record_minilm_vectors.py; trap 14 found .9999998 over 2,004 texts."""
    texts, vectors = golden()
    mine = minilm.encode(texts).astype(np.float64)
    assert np.einsum("ij,ij->i", mine, vectors.astype(np.float64)).min() > 0.999999
    assert np.abs(np.linalg.norm(mine, axis=1) - 1.0).max() < 1e-6


def test_vectors_do_not_depend_on_company(minilm: MiniLM) -> None:
    """Alone, in a batch, in another order, or beside much longer texts: one vector a text."""
    texts = [*golden()[0][:30], "word " * 100]
    together = minilm.encode(texts)
    backwards = minilm.encode(texts[::-1])[::-1]
    assert np.abs(together - backwards).max() < 2e-6
    for number in (0, 5, len(texts) - 1):
        assert np.abs(minilm.encode([texts[number]])[0] - together[number]).max() < 2e-6


def test_many_texts_span_several_passes(minilm: MiniLM) -> None:
    texts = [f"entity number {i} of a list" for i in range(150)]
    all_at_once = minilm.encode(texts)
    assert all_at_once.shape == (150, 384)
    assert all_at_once.dtype == np.float32
    assert np.abs(all_at_once[120:] - minilm.encode(texts[120:])).max() < 2e-6


def test_text_past_256_tokens_counts_by_its_beginning(minilm: MiniLM) -> None:
    head = "word " * 254
    vectors = minilm.encode([head, head + "quite another end", "word " * 253])
    assert np.abs(vectors[0] - vectors[1]).max() < 2e-6
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-5


def test_nothing_and_no_texts(minilm: MiniLM) -> None:
    assert minilm.encode([]).shape == (0, 384)
    vectors = minilm.encode(["", "   "])
    assert np.isfinite(vectors).all()
    assert np.abs(vectors[0] - vectors[1]).max() < 2e-6


def test_count_tokens(minilm: MiniLM) -> None:
    """Without special tokens and without the limit of 256 (trap 17)."""
    assert minilm.count_tokens("") == 0
    assert minilm.count_tokens("place of birth") == 3
    assert minilm.count_tokens("embeddings") == 4  # em ##bed ##ding ##s
    assert minilm.count_tokens("word " * 1000) == 1000


def test_lone_surrogate_is_refused(minilm: MiniLM) -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        minilm.encode(["fine", "bad \ud800"])


def test_name_and_dimension(minilm: MiniLM) -> None:
    assert minilm.name == "all-MiniLM-L6-v2@53aa5117"
    assert minilm.dimension == 384
    assert open_embedder("sentence-transformers/all-MiniLM-L6-v2").name == minilm.name


def test_threads_share_one_embedder(minilm: MiniLM) -> None:
    texts = golden()[0][:12]
    expected = minilm.encode(texts)
    results: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: results.append(minilm.encode(texts))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3
    assert all(np.abs(result - expected).max() < 2e-6 for result in results)


def test_gelu_against_the_error_function() -> None:
    from math import erf, sqrt

    values = np.linspace(-12, 12, 20_001, dtype=np.float32)
    exact = np.array([x * 0.5 * (1 + erf(x / sqrt(2))) for x in values.astype(np.float64).tolist()])
    found = values.copy()
    _gelu(found)
    assert np.abs(found - exact).max() < 2e-6
