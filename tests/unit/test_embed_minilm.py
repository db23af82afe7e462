"""MiniLM in numpy: against vectors recorded from sentence-transformers, and its own rules."""

from __future__ import annotations

import hashlib
import importlib
import json
import platform
import threading
from pathlib import Path

import numpy as np
import pytest
from cli_runs import process

from graph_service.embed import open_embedder
from graph_service.embed.exact import STATE_BITS, exp, gelu
from graph_service.embed.layers import Grids
from graph_service.embed.minilm import MiniLM
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
    """Recorded by tests/models/record_minilm_vectors.py; over 2,004 texts it was .9999998."""
    texts, vectors = golden()
    mine = minilm.encode(texts).astype(np.float64)
    assert np.einsum("ij,ij->i", mine, vectors.astype(np.float64)).min() > 0.999999
    assert np.abs(np.linalg.norm(mine, axis=1) - 1.0).max() < 1e-6


def test_processes_hold_its_weights_once(minilm: MiniLM, tmp_path: Path) -> None:
    texts = golden()[0][:20]
    shared = [MiniLM.open(), MiniLM.open()]
    for one in shared:
        one.share(tmp_path)
        assert (one.encode(texts) == minilm.encode(texts)).all()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".npy"] * 25
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    for path in tmp_path.iterdir():
        # Both read the same file: no further copy is in memory.
        assert sum(str(path) in line for line in mapped.splitlines()) == 2
    layer = shared[0]._layers[5]
    large: list[np.ndarray] = [layer.attend, layer.merge, layer.widen, layer.narrow]
    words = shared[0]._words
    assert isinstance(words, np.ndarray)
    large.append(words)
    assert not any(array.flags.owndata or array.flags.writeable for array in large)


def test_vectors_are_the_same_bytes_ever_after(minilm: MiniLM) -> None:
    """Kept vectors and trained rankers hold for these: another hash needs another ``arithmetic``."""
    vectors = minilm.encode(golden()[0]).astype("<f4")
    assert hashlib.sha256(vectors.tobytes()).hexdigest() == (
        "3f1a8b8d716c2d9063c204b31be7e8e50e61a85fdba3089888201e7f4eec87b1"
    )


def test_vectors_do_not_depend_on_company(minilm: MiniLM) -> None:
    """Alone, in a batch, in another order, or beside much longer texts: one vector a text."""
    texts = [*golden()[0][:30], "word " * 100]
    together = minilm.encode(texts)
    assert np.array_equal(together, minilm.encode(texts[::-1])[::-1])
    for number in (0, 5, len(texts) - 1):
        assert np.array_equal(minilm.encode([texts[number]])[0], together[number])


# Kernels of another width; with none of numpy's own either; and more threads than texts.
ELSEWHERE = [
    {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "4"},
    {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"},
]
PRINT_HASH = """\
import hashlib, json, sys
from graph_service.embed.minilm import MiniLM
vectors = MiniLM.open().encode(json.loads(sys.argv[1]))
print(hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest())
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="kernels of x86-64")
@pytest.mark.parametrize("environment", ELSEWHERE, ids=lambda one: one["OPENBLAS_CORETYPE"])
def test_vectors_do_not_depend_on_kernels_and_threads(
    minilm: MiniLM, environment: dict[str, str]
) -> None:
    """Byte for byte those of this process, in another order and other batches."""
    if environment["OPENBLAS_CORETYPE"] == "Haswell" and not has_avx2():
        pytest.skip("this processor has no AVX2")
    texts = [*golden()[0][2:10], "word " * 20]
    here = hashlib.sha256(minilm.encode(texts).astype("<f4").tobytes()).hexdigest()
    done = process("-W", "ignore", "-c", PRINT_HASH, json.dumps(texts), **environment)
    assert done.stdout.strip() == here, done.stderr


def has_avx2() -> bool:
    umath = importlib.import_module("numpy._core._multiarray_umath")
    return bool(umath.__cpu_features__.get("AVX2"))


def test_every_sum_of_a_product_is_exact(minilm: MiniLM) -> None:
    """What makes that so: for any text, no sum passes 2^53 quanta of its grid.

    A normalised state is scale * u + shift with u of length root 384, and each step is bounded by
    the step before it.
    """
    scale, shift = minilm._scale, minilm._shift

    def of_state(weights: np.ndarray) -> np.ndarray:
        spread = np.sqrt(((scale[:, None] * weights) ** 2).sum(axis=0))
        most = np.sqrt(384) * spread + (np.abs(shift)[:, None] * np.abs(weights)).sum(axis=0)
        return np.asarray(most)

    def fits(sums: np.ndarray, *bits: int) -> bool:
        # A tenth for what rounding to the grids adds.
        return bool(1.1 * sums.max() * 2.0 ** sum(bits) < 2.0**53)

    grids = Grids()
    for layer in minilm._layers:
        assert layer.grids == grids
        for weights in (layer.attend, layer.merge, layer.widen, layer.narrow):
            quanta = weights * 2.0**grids.attend
            assert np.array_equal(quanta, np.rint(quanta))
        mixed = of_state(layer.attend)
        assert fits(mixed, STATE_BITS, grids.attend)
        query, key, value = (mixed + np.abs(layer.attend_bias)).reshape(3, 12, 32)
        assert fits((query * key).sum(axis=1), grids.head, grids.head)
        assert fits(256 * value, grids.share, grids.head)
        merged = (value.reshape(-1)[:, None] * np.abs(layer.merge)).sum(axis=0)
        assert fits(merged, STATE_BITS, grids.attend)
        scale, shift = layer.merge_scale, layer.merge_shift
        wide = of_state(layer.widen)
        assert fits(wide, STATE_BITS, grids.attend)
        wide += np.abs(layer.widen_bias)
        narrow = (wide[:, None] * np.abs(layer.narrow)).sum(axis=0)
        assert fits(narrow, grids.wide, grids.narrow)
        scale, shift = layer.narrow_scale, layer.narrow_shift


def test_many_texts_span_several_passes(minilm: MiniLM) -> None:
    texts = [f"entity number {i} of a list" for i in range(150)]
    all_at_once = minilm.encode(texts)
    assert all_at_once.shape == (150, 384)
    assert all_at_once.dtype == np.float32
    assert np.array_equal(all_at_once[120:], minilm.encode(texts[120:]))


def test_text_past_256_tokens_counts_by_its_beginning(minilm: MiniLM) -> None:
    head = "word " * 254
    vectors = minilm.encode([head, head + "quite another end", "word " * 253])
    assert np.array_equal(vectors[0], vectors[1])
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-5


def test_nothing_and_no_texts(minilm: MiniLM) -> None:
    assert minilm.encode([]).shape == (0, 384)
    vectors = minilm.encode(["", "   "])
    assert np.isfinite(vectors).all()
    assert np.array_equal(vectors[0], vectors[1])


def test_count_tokens(minilm: MiniLM) -> None:
    """Without special tokens and without the limit of 256."""
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
    assert all(np.array_equal(result, expected) for result in results)


def test_gelu_against_the_error_function() -> None:
    from math import erf, sqrt

    values = np.linspace(-12, 12, 20_001)
    exact = np.array([x * 0.5 * (1 + erf(x / sqrt(2))) for x in values.tolist()])
    found = values.copy()
    gelu(found)
    assert np.abs(found - exact).max() < 2e-6


def test_exp_of_scores_against_the_library() -> None:
    values = np.concatenate([np.linspace(-40, 0, 20_001), [-1e4]])
    found = values.copy()
    exp(found)
    # Under -16 every share is nothing on its grid, half of whose quantum is 4.8e-7.
    assert np.abs(found - np.exp(values)).max() < 2e-7
    assert found[20_000] == 1.0
