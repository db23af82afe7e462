"""all-MiniLM-L6-v2 in plain numpy: no torch, ready in a tenth of a second.

The model is BERT of 6 layers, 12 heads and width 384 (Wang et al. 2020, MiniLM), with the mean of
the last layer's states as the vector of a text, brought to length 1 (Reimers and Gurevych 2019).

Texts are packed, not padded: the dense layers run on the words of many texts at once, and only
attention, which must not look from one text into another, goes by groups of texts of one length.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import ThreadpoolController

from graph_service.embed.protocol import Float32
from graph_service.embed.weights import WEIGHTS, ModelFolder, find_model
from graph_service.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIMENSION = 384
MAX_TOKENS = 256
_HEADS = 12
_HEAD_WIDTH = DIMENSION // _HEADS
_LAYERS = 6
_EPSILON = np.float32(1e-12)
# Words a pass: wide enough for full speed, and the widest array (1,536 a word) stays in cache.
_PACK_TOKENS = 768
# Under this many words a pack is not worth a thread.
_LEAST_PACK = 128
_CORES = os.cpu_count() or 1
_GELU_BLOCK = 8192


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """Weights of one layer, as ``x @ weight + bias`` reads them: weight [in, out], bias [out]."""

    attend: Float32
    attend_bias: Float32
    merge: Float32
    merge_bias: Float32
    merge_scale: Float32
    merge_shift: Float32
    widen: Float32
    widen_bias: Float32
    narrow: Float32
    narrow_bias: Float32
    narrow_scale: Float32
    narrow_shift: Float32


class _OneThread:
    """Keeps matrix products to the calling thread while it is held.

    The products here are small: a library that splits each over all cores spends more time
    waiting for the others than it wins, several times over where the cores are busy. Whole packs
    go to threads instead.
    """

    def __init__(self) -> None:
        self._controller = ThreadpoolController()
        self._lock = Lock()
        self._holders = 0
        self._limit: AbstractContextManager[object] | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            self._holders += 1
            if self._limit is None:
                self._limit = self._controller.limit(limits=1, user_api="blas")
                self._limit.__enter__()
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders and self._limit is not None:
                    self._limit.__exit__(None, None, None)
                    self._limit = None


def _packs(lengths: Sequence[int], /) -> list[list[int]]:
    """Texts of similar length in packs of at most ``_PACK_TOKENS`` words, enough for all cores."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    room = min(_PACK_TOKENS, max(_LEAST_PACK, -(-sum(lengths) // _CORES)))
    packs: list[list[int]] = []
    tokens = room
    for i in order:
        if tokens + lengths[i] > room:
            packs.append([])
            tokens = 0
        packs[-1].append(i)
        tokens += lengths[i]
    return packs


class MiniLM:
    """The default embedder. Safe to use from several threads.

    >>> MiniLM.open().encode(["capital of France"]).shape
    (1, 384)
    """

    def __init__(self, tensors: dict[str, Float32], tokenizer: Tokenizer, /) -> None:
        self._tokenizer = tokenizer
        self._words = tensors["embeddings.word_embeddings.weight"]
        # Every text is of type 0, so its vector goes into the positions' once.
        self._positions: Float32 = (
            tensors["embeddings.position_embeddings.weight"][:MAX_TOKENS]
            + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        self._scale = tensors["embeddings.LayerNorm.weight"]
        self._shift = tensors["embeddings.LayerNorm.bias"]
        self._layers = tuple(_layer(tensors, number) for number in range(_LAYERS))
        self._one_thread = _OneThread()

    @classmethod
    def open(cls, folder: Path | None = None, /) -> MiniLM:
        """Returns the embedder from files on this machine, checked.

        Args:
            folder: Where they are; else they are looked for, see ``weights``.

        Raises:
            ModelFileError: They are missing or not the official ones.
        """
        return cls.load(find_model(folder))

    @classmethod
    def load(cls, folder: ModelFolder, /) -> MiniLM:
        """Returns the embedder from files that were checked."""
        from safetensors import safe_open
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        # The file asks for 128 words, padded; the model is run with 256, and packed.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        with safe_open(str(folder.weights), framework="numpy") as file:
            tensors = {
                name: file.get_tensor(name)
                for name in file.keys()  # noqa: SIM118 (no mapping: it has only keys())
                if not name.startswith("pooler") and not name.endswith("position_ids")
            }
        return cls(tensors, tokenizer)

    @property
    def name(self) -> str:
        """Model and the first digits of its weights' SHA-256."""
        return f"all-MiniLM-L6-v2@{WEIGHTS.sha256[:8]}"

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), 384].

        A text past 256 tokens (two of them special) is embedded by its beginning, as the model's
        authors do. The last bits depend on which texts are computed together.

        Raises:
            InputError: A text holds a lone surrogate.
        """
        ids = [self._truncated(text) for text in texts]
        vectors = np.empty((len(ids), DIMENSION), dtype=np.float32)

        def fill(pack: list[int]) -> None:
            vectors[pack] = self._encode_pack([ids[i] for i in pack])

        packs = _packs([len(item) for item in ids])
        with self._one_thread.held():
            if len(packs) == 1:
                fill(packs[0])
            elif packs:
                with ThreadPoolExecutor(min(_CORES, len(packs))) as pool:
                    list(pool.map(fill, packs))
        return vectors

    def count_tokens(self, text: str, /) -> int:
        """Returns the number of tokens of a text, without special ones and without a limit."""
        return len(self._ids(text, special=False))

    def _truncated(self, text: str) -> list[int]:
        ids = self._ids(text, special=True)
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]

    def _ids(self, text: str, *, special: bool) -> list[int]:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"a text to embed holds a lone surrogate: {text[:80]!r}") from error
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=special).ids
        return found

    def _encode_pack(self, ids: list[list[int]]) -> Float32:
        """Returns the vectors of texts in order of their length, [texts, 384]."""
        lengths = np.array([len(item) for item in ids], dtype=np.int64)
        ends = np.cumsum(lengths)
        starts = ends - lengths
        places = np.arange(ends[-1], dtype=np.int64) - np.repeat(starts, lengths)
        words = np.fromiter((i for item in ids for i in item), dtype=np.int64, count=int(ends[-1]))
        state: Float32 = self._words[words]
        state += self._positions[places]
        _normalise(state, self._scale, self._shift)

        distinct, first = np.unique(lengths, return_index=True)
        bounds = [*first.tolist(), len(ids)]
        groups = [
            (int(starts[bounds[i]]), bounds[i + 1] - bounds[i], length)
            for i, length in enumerate(distinct.tolist())
        ]
        for layer in self._layers:
            state = _apply(layer, state, groups)

        vectors: Float32 = np.add.reduceat(state, starts, axis=0)
        # The mean only scales the sum, which the unit length undoes.
        vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
        return vectors


def _layer(tensors: dict[str, Float32], number: int) -> _Layer:
    def part(name: str) -> Float32:
        return tensors[f"encoder.layer.{number}.{name}"]

    mine = "attention.self."
    # Scores are divided by the root of a head's width: done once, in the queries' weights.
    scale = np.float32(1.0 / np.sqrt(_HEAD_WIDTH))
    attend = np.concatenate(
        [
            part(mine + "query.weight") * scale,
            part(mine + "key.weight"),
            part(mine + "value.weight"),
        ]
    )
    attend_bias = np.concatenate(
        [part(mine + "query.bias") * scale, part(mine + "key.bias"), part(mine + "value.bias")]
    )
    return _Layer(
        attend=np.ascontiguousarray(attend.T),
        attend_bias=attend_bias,
        merge=np.ascontiguousarray(part("attention.output.dense.weight").T),
        merge_bias=part("attention.output.dense.bias"),
        merge_scale=part("attention.output.LayerNorm.weight"),
        merge_shift=part("attention.output.LayerNorm.bias"),
        widen=np.ascontiguousarray(part("intermediate.dense.weight").T),
        widen_bias=part("intermediate.dense.bias"),
        narrow=np.ascontiguousarray(part("output.dense.weight").T),
        narrow_bias=part("output.dense.bias"),
        narrow_scale=part("output.LayerNorm.weight"),
        narrow_shift=part("output.LayerNorm.bias"),
    )


def _apply(layer: _Layer, state: Float32, groups: list[tuple[int, int, int]]) -> Float32:
    """Returns the states after one layer; ``groups`` are (first row, texts, words each)."""
    mixed: Float32 = state @ layer.attend
    mixed += layer.attend_bias
    context = np.empty_like(state)
    for start, texts, length in groups:
        rows = slice(start, start + texts * length)
        # [3, texts, heads, words, width]
        split = mixed[rows].reshape(texts, length, 3, _HEADS, _HEAD_WIDTH).transpose(2, 0, 3, 1, 4)
        query, key, value = np.ascontiguousarray(split)
        weights = query @ key.swapaxes(-1, -2)
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        context[rows] = (weights @ value).swapaxes(1, 2).reshape(texts * length, DIMENSION)
    merged: Float32 = context @ layer.merge
    merged += layer.merge_bias
    merged += state
    _normalise(merged, layer.merge_scale, layer.merge_shift)
    wide: Float32 = merged @ layer.widen
    wide += layer.widen_bias
    _gelu(wide)
    result: Float32 = wide @ layer.narrow
    result += layer.narrow_bias
    result += merged
    _normalise(result, layer.narrow_scale, layer.narrow_shift)
    return result


def _normalise(state: Float32, scale: Float32, shift: Float32) -> None:
    """Brings each row to mean 0 and variance 1, then scales and shifts it, in place."""
    state -= state.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", state, state) / np.float32(state.shape[1])
    state /= np.sqrt(variance + _EPSILON)[:, None]
    state *= scale
    state += shift


# erfc(z) = t (a1 + t (a2 + ...)) exp(-z^2), t = 1 / (1 + p z), z >= 0, to 1.5e-7
# (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26).
_ERFC_P = np.float32(0.3275911 / np.sqrt(2.0))
_ERFC_A = tuple(
    np.float32(0.5 * a) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
)


def _gelu(values: Float32) -> None:
    """Replaces x by x times the normal distribution function at x, in place.

    As max(x, 0) - |x| erfc(|x| / sqrt 2) / 2, in blocks that stay in the nearest cache.
    """
    flat = values.reshape(-1)
    for start in range(0, len(flat), _GELU_BLOCK):
        block = flat[start : start + _GELU_BLOCK]
        size = np.abs(block)
        t = size * _ERFC_P
        t += np.float32(1.0)
        np.divide(np.float32(1.0), t, out=t)
        tail = t * _ERFC_A[0]
        for a in _ERFC_A[1:]:
            tail += a
            tail *= t
        np.multiply(size, size, out=t)
        t *= np.float32(-0.5)
        np.exp(t, out=t)
        tail *= t
        tail *= size
        np.maximum(block, np.float32(0.0), out=block)
        block -= tail
