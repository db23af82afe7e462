"""The file of a scorer: what is written is read, and nothing else is."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.retrieve.learned.features import FINAL_NAMES, NAMES
from graph_service.retrieve.learned.network import (
    CandidateScorer,
    Networks,
    decode_candidate_scorer,
    encode_candidate_scorer,
    read_candidate_scorer,
    shipped_scorer,
)


def networks(inputs: int, *, count: int = 2, width: int = 3, seed: int = 0) -> Networks:
    draw = np.random.default_rng(seed)

    def some(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return draw.normal(size=shape).astype(np.float32).astype(np.float64)

    return Networks(
        some(inputs),
        np.abs(some(inputs)) + 1.0,
        some(count, inputs, width),
        some(count, width),
        some(count, width),
        some(count, inputs),
    )


def scorer() -> CandidateScorer:
    return CandidateScorer(
        networks(len(NAMES)),
        networks(len(FINAL_NAMES), seed=1),
        "model-1",
        "0" * 32,
        {"families": ["a", "b"]},
    )


def test_score_is_the_mean_of_the_networks() -> None:
    nets = networks(4)
    inputs = np.random.default_rng(3).normal(size=(5, 4))
    expected = []
    for row in (inputs - nets.mean) / nets.scale:
        total = 0.0
        for k in range(2):
            hidden = [
                max(float(row @ nets.inner[k, :, j] + nets.bias[k, j]), 0.0) for j in range(3)
            ]
            total += float(np.dot(hidden, nets.outer[k])) + float(row @ nets.direct[k])
        expected.append(round(total / 2, 5))
    assert nets.score(inputs).tolist() == pytest.approx(expected, abs=1e-5)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = scorer()
    data = encode_candidate_scorer(written)
    assert data == encode_candidate_scorer(written)
    path = tmp_path / "scorer.npz"
    path.write_bytes(data)
    read = read_candidate_scorer(path)
    assert (read.embedder, read.data, read.notes) == ("model-1", "0" * 32, {"families": ["a", "b"]})
    inputs = np.random.default_rng(5).normal(size=(7, len(NAMES)))
    assert read.first.score(inputs).tolist() == written.first.score(inputs).tolist()


def _meta(data: bytes, change: Callable[[dict[str, object]], object]) -> bytes:
    """The file with its description changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "meta.json":
                meta = json.loads(content)
                change(meta)
                content = json.dumps(meta).encode()
            new.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda meta: meta.update(form="another"),
        lambda meta: meta.update(version=1),
        lambda meta: meta.update(literal_weight=-1.0),
        lambda meta: meta.update(content="00"),
        lambda meta: meta["inputs"]["first"].reverse(),
        lambda meta: meta.pop("embedder"),
    ],
)
def test_a_file_that_says_something_else_is_refused(
    change: Callable[[dict[str, object]], object],
) -> None:
    with raises(InputError):
        decode_candidate_scorer(_meta(encode_candidate_scorer(scorer()), change))


@pytest.mark.parametrize(
    "broken",
    [
        replace(scorer(), first=replace(networks(len(NAMES)), bias=np.zeros((2, 4)))),
        replace(scorer(), first=replace(networks(len(NAMES)), mean=np.full(len(NAMES), np.nan))),
        replace(
            scorer(), final=replace(networks(len(FINAL_NAMES)), scale=np.zeros(len(FINAL_NAMES)))
        ),
    ],
    ids=["shape", "not finite", "scale of 0"],
)
def test_weights_that_cannot_score_are_refused(broken: CandidateScorer) -> None:
    with pytest.raises(InputError, match="no scorer"):
        decode_candidate_scorer(encode_candidate_scorer(broken))


@pytest.mark.parametrize("data", [b"", b"PK", b"nothing of the kind", b"\x93NUMPY"])
def test_bytes_that_are_no_file_of_a_scorer_are_refused(data: bytes) -> None:
    with raises(InputError):
        decode_candidate_scorer(data)


def test_a_pickle_is_not_run(tmp_path: Path) -> None:
    class Bad:
        def __reduce__(self) -> tuple[object, tuple[str, ...]]:
            return (Path.touch, (tmp_path / "ran",))  # type: ignore[return-value]

    out = io.BytesIO()
    np.savez(out, mean=np.array([Bad()], dtype=object))
    with pytest.raises(InputError):
        decode_candidate_scorer(out.getvalue())
    assert not (tmp_path / "ran").exists()


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't read"):
        read_candidate_scorer(tmp_path / "nowhere.npz")


def test_words_nearly_those_of_the_question_add_to_the_networks_score() -> None:
    one = scorer()
    inputs = np.zeros((3, len(FINAL_NAMES)))
    inputs[:, FINAL_NAMES.index("text_score")] = (0.5, 0.7, 0.9)
    assert one.score(inputs) - one.final.score(inputs) == pytest.approx([0.0, 3.0, 9.0], abs=1e-4)
    less = replace(one, literal_weight=10.0)
    assert less.score(inputs) - one.final.score(inputs) == pytest.approx([0.0, 1.0, 3.0], abs=1e-4)
    assert decode_candidate_scorer(encode_candidate_scorer(less)).literal_weight == 10.0


def test_the_shipped_scorer_fits_these_inputs_and_says_what_it_saw() -> None:
    shipped = shipped_scorer()
    assert shipped.embedder.startswith("all-MiniLM-L6-v2@")
    assert set(shipped.notes["families"]) == {
        "metaqa", "qald-lcquad", "simplequestions", "walks", "webquestions",
    }  # fmt: skip


def test_vectors_of_another_embedder_are_refused() -> None:
    with raises(InputError):
        scorer().require("model-2")
