"""The cross-encoder against its formula in plain numpy, and its file."""

from __future__ import annotations

import shutil
import zipfile
from io import BytesIO
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest
from error_texts import raises
from made_encoders import ENCODERS, HEADS, LAYERS, WIDE, WIDTH, make_encoder

from graph_service.embed.cross_encoder import (
    QUESTION_TOKENS,
    TEXT_TOKENS,
    CrossEncoder,
    CrossWeights,
    decode_cross_weights,
    encode_cross_weights,
)
from graph_service.embed.exact import Float64
from graph_service.embed.folder import open_folder, read_tensors
from graph_service.embed.low_rank import LayerUpdate, LowRank
from graph_service.embed.rounded import RoundedWeights
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.errors import InputError

RANK = 3
ROUNDED = 0.05
"""What rounded weights may change in a score, here of some ten."""
PARTS = {
    "query": ("attention.self.query", WIDTH, WIDTH),
    "key": ("attention.self.key", WIDTH, WIDTH),
    "value": ("attention.self.value", WIDTH, WIDTH),
    "merge": ("attention.output.dense", WIDTH, WIDTH),
    "widen": ("intermediate.dense", WIDTH, WIDE),
    "narrow": ("output.dense", WIDE, WIDTH),
}
QUESTION = "Who is the mother of the director?"
TEXTS = ["place of birth", "mother", "", "who is the director of the place", "birth place", "is"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoder"), ENCODERS["bert"])


@pytest.fixture(scope="module")
def embedder(folder: Path) -> TransformerEmbedder:
    encoder = open_folder(folder)
    assert isinstance(encoder, TransformerEmbedder)
    return encoder


def weights_for(embedder: TransformerEmbedder, *, size: float = 0.5) -> CrossWeights:
    """Updates large enough that each of them shows in the scores."""
    rng = np.random.default_rng(7)

    def low_rank(width: int, out: int) -> LowRank:
        # As the file holds them, in half precision.
        down, up = rng.normal(size=(width, RANK)), size * rng.normal(size=(RANK, out))
        return LowRank(*(part.astype(np.float16).astype(np.float64) for part in (down, up)))

    layers = tuple(
        LayerUpdate(**{part: low_rank(width, out) for part, (_, width, out) in PARTS.items()})
        for _ in range(LAYERS)
    )
    weight = rng.normal(size=WIDTH).astype(np.float32).astype(np.float64)
    return CrossWeights(layers, weight, embedder.name, "data", {"epochs": 1})


def reference(folder: Path, weights: CrossWeights, question: list[int], text: list[int]) -> float:
    """The score of one text by the formula: both in one sequence, and what a token may not see
    masked.
    """
    tensors = {
        name: tensor.astype(np.float64)
        for name, tensor in read_tensors(folder / "model.safetensors").items()
    }

    def normalised(state: Float64, name: str) -> Float64:
        mean, variance = state.mean(-1, keepdims=True), state.var(-1, keepdims=True)
        return np.asarray(
            (state - mean) / np.sqrt(variance + 1e-12) * tensors[f"{name}.weight"]
            + tensors[f"{name}.bias"]
        )

    tokens = [*question, *text]
    count, first = len(tokens), len(question)
    is_text = np.arange(count) >= first
    state = tensors["embeddings.word_embeddings.weight"][tokens]
    state = state + tensors["embeddings.position_embeddings.weight"][:count]
    state = state + tensors["embeddings.token_type_embeddings.weight"][is_text.astype(int)]
    state = normalised(state, "embeddings.LayerNorm")
    hidden = ~is_text[:, None] & is_text[None]
    for i, update in enumerate(weights.layers):

        def product(part: str, x: Float64, i: int = i, update: LayerUpdate = update) -> Float64:
            name = f"encoder.layer.{i}.{PARTS[part][0]}"
            added: LowRank = getattr(update, part)
            weight = tensors[f"{name}.weight"].T + added.down @ added.up
            return np.asarray(x @ weight + tensors[f"{name}.bias"])

        query, key, value = (
            product(part, state).reshape(count, HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        shares = query @ key.transpose(0, 2, 1) / sqrt(WIDTH // HEADS)
        shares = np.where(hidden, -np.inf, shares)
        shares = np.exp(shares - shares.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        context = (shares @ value).transpose(1, 0, 2).reshape(count, WIDTH)
        name = f"encoder.layer.{i}"
        state = normalised(state + product("merge", context), f"{name}.attention.output.LayerNorm")
        wide = product("widen", state)
        wide = wide * (1.0 + np.vectorize(erf)(wide / sqrt(2.0))) / 2.0
        state = normalised(state + product("narrow", wide), f"{name}.output.LayerNorm")
    return float(state[first:].mean(axis=0) @ weights.weight)


def test_scores_are_those_of_the_formula(embedder: TransformerEmbedder, folder: Path) -> None:
    weights = weights_for(embedder)
    scores = CrossEncoder(embedder, weights).scores(QUESTION, TEXTS)
    expected = [
        reference(folder, weights, embedder.token_ids(QUESTION), embedder.token_ids(text))
        for text in TEXTS
    ]
    assert np.abs(scores - expected).max() < ROUNDED
    assert len(set(scores.tolist())) == len(TEXTS)


@pytest.mark.parametrize("part", PARTS)
def test_each_update_is_added(embedder: TransformerEmbedder, folder: Path, part: str) -> None:
    """One part alone, in the first layer alone: the formula still holds, and the score differs."""
    weights = weights_for(embedder)
    none = weights_for(embedder, size=0.0)
    first = LayerUpdate(
        **{name: getattr((weights if name == part else none).layers[0], name) for name in PARTS}
    )
    single = CrossWeights((first, *none.layers[1:]), none.weight, embedder.name, "data")
    score = CrossEncoder(embedder, single).scores(QUESTION, [TEXTS[0]])[0]
    without = CrossEncoder(embedder, none).scores(QUESTION, [TEXTS[0]])[0]
    ids = embedder.token_ids
    assert abs(score - reference(folder, single, ids(QUESTION), ids(TEXTS[0]))) < ROUNDED
    assert abs(score - without) > 3 * ROUNDED


def test_scores_do_not_depend_on_company(embedder: TransformerEmbedder) -> None:
    """Order, number and length of the other texts change no bit of a score."""
    encoder = CrossEncoder(embedder, weights_for(embedder))
    texts = [*TEXTS, *(f"the {'mother of ' * n}director" for n in range(60))]
    scores = encoder.scores(QUESTION, texts)
    assert encoder.scores(QUESTION, texts[::-1])[::-1].tolist() == scores.tolist()
    assert [encoder.scores(QUESTION, [text])[0] for text in texts] == scores.tolist()


def test_long_texts_count_by_their_beginning(embedder: TransformerEmbedder) -> None:
    encoder = CrossEncoder(embedder, weights_for(embedder))
    # Two tokens are the marks.
    read, more = "the " * (TEXT_TOKENS - 2), "the " * TEXT_TOKENS + "mother"
    assert encoder.scores(QUESTION, [read]) == encoder.scores(QUESTION, [more])
    assert encoder.scores(QUESTION, [read]) != encoder.scores(QUESTION, ["the " * 20])
    read, more = "who " * (QUESTION_TOKENS - 2), "who " * QUESTION_TOKENS + "mother"
    assert encoder.scores(read, TEXTS).tolist() == encoder.scores(more, TEXTS).tolist()


def test_no_texts_and_a_lone_surrogate(embedder: TransformerEmbedder) -> None:
    encoder = CrossEncoder(embedder, weights_for(embedder))
    assert encoder.scores(QUESTION, []).shape == (0,)
    with pytest.raises(InputError, match="surrogate"):
        encoder.scores("\ud800", TEXTS)


def test_another_embedder_is_refused(embedder: TransformerEmbedder) -> None:
    weights = weights_for(embedder)
    other = CrossWeights(weights.layers, weights.weight, "another@1", "data")
    with pytest.raises(InputError, match="another@1"):
        CrossEncoder(embedder, other)


def test_the_file_gives_the_weights_back(embedder: TransformerEmbedder) -> None:
    weights = weights_for(embedder)
    data = encode_cross_weights(weights)
    assert data == encode_cross_weights(weights)
    again = decode_cross_weights(data)
    assert (again.embedder, again.data, again.notes) == (embedder.name, "data", {"epochs": 1})
    scores = CrossEncoder(embedder, weights).scores(QUESTION, TEXTS)
    assert CrossEncoder(embedder, again).scores(QUESTION, TEXTS).tolist() == scores.tolist()


def changed(data: bytes, name: str, content: bytes | None) -> bytes:
    """The file with a member's bytes exchanged, or without it."""
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(written, "w") as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
            elif content is not None:
                new.writestr(member, content)
    return written.getvalue()


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[1]", b'{"form": "x", "version": 1}'])
def test_another_description_is_refused(
    embedder: TransformerEmbedder, content: bytes | None
) -> None:
    data = encode_cross_weights(weights_for(embedder))
    with raises(InputError):
        decode_cross_weights(changed(data, "meta.json", content))


def test_damaged_and_missing_arrays_are_refused(embedder: TransformerEmbedder) -> None:
    data = encode_cross_weights(weights_for(embedder))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        array = archive.read("weight.npy")
    flipped = array[:-1] + bytes([array[-1] ^ 1])
    for bad in (
        b"",
        data[: len(data) // 2],
        changed(data, "weight.npy", flipped),
        changed(data, "0_query_up.npy", None),
    ):
        with raises(InputError):
            decode_cross_weights(bad)


def test_lines_are_read_once(
    embedder: TransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that is asked again is read beside new lines alone, and has the same scores."""
    encoder = CrossEncoder(embedder, weights_for(embedder))
    scores = encoder.scores(QUESTION, TEXTS)
    read: list[str] = []
    token_ids = embedder.token_ids

    def noted(text: str) -> list[int]:
        read.append(text)
        return token_ids(text)

    monkeypatch.setattr(embedder, "token_ids", noted)
    again = encoder.scores(QUESTION, [*TEXTS[::-1], "of the place"])
    assert again[:-1].tolist() == scores[::-1].tolist()
    assert read == ["of the place", QUESTION]


def test_processes_hold_its_weights_once(folder: Path, tmp_path: Path) -> None:
    """Where those of the embedder are shared: two encoders read the same files."""
    shared = tmp_path / "weights"
    shared.mkdir()

    def encoder() -> CrossEncoder:
        embedder = open_folder(folder)
        assert isinstance(embedder, TransformerEmbedder)
        embedder.share(shared)
        return CrossEncoder(embedder, weights_for(embedder))

    encoders = [encoder(), encoder()]
    assert len(list(shared.glob("weights-*-updated-*.npy"))) == 4 * LAYERS
    large = [layer.widen.numbers for each in encoders for layer in each._layers]
    assert not any(array.flags.owndata or array.flags.writeable for array in large)
    scores = [each.scores(QUESTION, TEXTS).tolist() for each in encoders]
    assert scores[0] == scores[1]


def test_it_keeps_weights_that_it_cannot_share(folder: Path, tmp_path: Path) -> None:
    embedder = open_folder(folder)
    assert isinstance(embedder, TransformerEmbedder)
    shared = tmp_path / "weights"
    shared.mkdir()
    embedder.share(shared)
    shutil.rmtree(shared)
    scores = CrossEncoder(embedder, weights_for(embedder)).scores(QUESTION, TEXTS)
    assert np.isfinite(scores).all()


def test_every_sum_is_exact(embedder: TransformerEmbedder) -> None:
    """Weights are whole numbers, in columns whose products float32 holds."""
    for layer in CrossEncoder(embedder, weights_for(embedder))._layers:
        for weights in (layer.attend, layer.merge, layer.widen, layer.narrow):
            assert isinstance(weights, RoundedWeights)
            assert np.array_equal(weights.numbers, np.rint(weights.numbers))
            assert (weights.numbers.astype(np.float64) ** 2).sum(axis=1).max() < 2.0**24
