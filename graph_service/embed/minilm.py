"""all-MiniLM-L6-v2 in plain numpy: no torch, ready in a tenth of a second.

The model is BERT of 6 layers, 12 heads and width 384 (Wang et al. 2020, MiniLM), with the mean of
the last layer's states as the vector of a text, brought to length 1 (Reimers and Gurevych 2019).

Texts are packed, not padded: the dense layers run on the words of many texts at once, and only
attention, which must not look from one text into another, goes by groups of texts of one length.

A text has one vector, to the last bit: whatever it is computed together with, on how many threads
and by which kernel of the linear algebra library. Libraries sum a matrix product in an order of
their own, and rounded sums depend on the order. So both factors are brought to a grid, multiples
of a power of 2, so coarse that every product and every partial sum is a whole number of quanta
under 2^53: float64 holds each exactly, and the order changes nothing. What is left is taken
element by element, which IEEE 754 rounds alike everywhere, or summed in an order fixed here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import factorial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from graph_service.embed.protocol import Float32
from graph_service.embed.weights import WEIGHTS, ModelFolder, find_model
from graph_service.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Float64 = npt.NDArray[np.float64]

DIMENSION = 384
MAX_TOKENS = 256
_HEADS = 12
_HEAD_WIDTH = DIMENSION // _HEADS
_LAYERS = 6
_EPSILON = 1e-12
# Words a pass: wide enough for full speed, and the widest array (1,536 a word) stays in cache.
_PACK_TOKENS = 768
# Under this many words a pack is not worth a thread.
_LEAST_PACK = 128
_CORES = os.cpu_count() or 1
_GELU_BLOCK = 8192

# Binary digits after the point, of a grid. With them the sums that a matrix product makes are
# under 2^53 quanta for any text, which a test works out from the weights: a state has root 384
# times its scale as greatest length, and what is bounded so bounds all that follows.
_STATE_BITS = 20
_WEIGHT_BITS = 22
_HEAD_BITS = 19
_WIDE_BITS = 19
_SHARE_BITS = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """Weights of one layer, as ``x @ weight + bias`` reads them: weight [in, out], bias [out].

    float64; the four weights of matrix products are on the grid of ``_WEIGHT_BITS``.
    """

    attend: Float64
    attend_bias: Float64
    merge: Float64
    merge_bias: Float64
    merge_scale: Float64
    merge_shift: Float64
    widen: Float64
    widen_bias: Float64
    narrow: Float64
    narrow_bias: Float64
    narrow_scale: Float64
    narrow_shift: Float64


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
        self._scale = tensors["embeddings.LayerNorm.weight"].astype(np.float64)
        self._shift = tensors["embeddings.LayerNorm.bias"].astype(np.float64)
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
    def arithmetic(self) -> str:
        """How products are summed: exactly. Vectors kept before were rounded as they came."""
        return "exact-1"

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), 384].

        A text past 256 tokens (two of them special) is embedded by its beginning, as the model's
        authors do. The same text has the same bits in any company and on any machine.

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
        state: Float64 = self._words[words].astype(np.float64)
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

        # Exact, as states are on their grid. The mean only scales it, which the length undoes.
        sums: Float64 = np.add.reduceat(state, starts, axis=0)
        sums /= np.sqrt(_row_sums(sums * sums))[:, None]
        return sums.astype(np.float32)


def _layer(tensors: dict[str, Float32], number: int) -> _Layer:
    def part(name: str) -> Float64:
        return tensors[f"encoder.layer.{number}.{name}"].astype(np.float64)

    def weights(matrix: Float64) -> Float64:
        columns: Float64 = np.ascontiguousarray(matrix.T)
        _to_grid(columns, _WEIGHT_BITS)
        return columns

    mine = "attention.self."
    # Scores are divided by the root of a head's width: done once, in the queries' weights.
    scale = 1.0 / np.sqrt(_HEAD_WIDTH)
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
        attend=weights(attend),
        attend_bias=attend_bias,
        merge=weights(part("attention.output.dense.weight")),
        merge_bias=part("attention.output.dense.bias"),
        merge_scale=part("attention.output.LayerNorm.weight"),
        merge_shift=part("attention.output.LayerNorm.bias"),
        widen=weights(part("intermediate.dense.weight")),
        widen_bias=part("intermediate.dense.bias"),
        narrow=weights(part("output.dense.weight")),
        narrow_bias=part("output.dense.bias"),
        narrow_scale=part("output.LayerNorm.weight"),
        narrow_shift=part("output.LayerNorm.bias"),
    )


def _apply(layer: _Layer, state: Float64, groups: list[tuple[int, int, int]]) -> Float64:
    """Returns the states after one layer; ``groups`` are (first row, texts, words each)."""
    mixed: Float64 = state @ layer.attend
    mixed += layer.attend_bias
    _to_grid(mixed, _HEAD_BITS)
    context = np.empty_like(state)
    for start, texts, length in groups:
        rows = slice(start, start + texts * length)
        # [3, texts, heads, words, width]
        split = mixed[rows].reshape(texts, length, 3, _HEADS, _HEAD_WIDTH).transpose(2, 0, 3, 1, 4)
        query, key, value = np.ascontiguousarray(split)
        shares = query @ key.swapaxes(-1, -2)
        shares -= shares.max(axis=-1, keepdims=True)
        _exp(shares)
        _to_grid(shares, _SHARE_BITS)
        seen = shares @ value
        seen /= shares.sum(axis=-1, keepdims=True)
        context[rows] = seen.swapaxes(1, 2).reshape(texts * length, DIMENSION)
    _to_grid(context, _STATE_BITS)
    merged: Float64 = context @ layer.merge
    merged += layer.merge_bias
    merged += state
    _normalise(merged, layer.merge_scale, layer.merge_shift)
    wide: Float64 = merged @ layer.widen
    wide += layer.widen_bias
    _gelu(wide)
    result: Float64 = wide @ layer.narrow
    result += layer.narrow_bias
    result += merged
    _normalise(result, layer.narrow_scale, layer.narrow_shift)
    return result


def _to_grid(values: Float64, bits: int) -> None:
    """Rounds to multiples of 2^-bits, in place; for values under 2^(51 - bits).

    Beside so large a number float64 has no finer digits, and rounds to the nearest.
    """
    large = 1.5 * 2.0 ** (52 - bits)
    values += large
    values -= large


def _row_sums(values: Float64) -> Float64:
    """Returns the sum of each row of ``DIMENSION`` values, in an order fixed here, [rows]."""
    width = DIMENSION
    while width % 2 == 0:
        width //= 2
        values = values[:, :width] + values[:, width:]
    total: Float64 = values[:, 0] + values[:, 1] + values[:, 2]
    return total


def _normalise(state: Float64, scale: Float64, shift: Float64) -> None:
    """Brings each row to mean 0 and variance 1, scales and shifts it, to the grid, in place."""
    state -= (_row_sums(state) / DIMENSION)[:, None]
    variance = _row_sums(state * state) / DIMENSION
    state /= np.sqrt(variance + _EPSILON)[:, None]
    state *= scale
    state += shift
    _to_grid(state, _STATE_BITS)


# exp(x) = (1 + y + y^2 / 2! + ...)^64, y = x / 64: to 1e-7 from -16 on.
_EXP_SQUARINGS = 6
_EXP_TERMS = tuple(1.0 / factorial(power) for power in range(6, -1, -1))
# Under this a share is less than half of its grid's quantum.
_EXP_LEAST = -16.0


def _exp(values: Float64) -> None:
    """Replaces x, at most 0, by exp(x), in place; libraries' own differ in their last bits."""
    np.maximum(values, _EXP_LEAST, out=values)
    values *= 2.0**-_EXP_SQUARINGS
    found = values * _EXP_TERMS[0]
    for term in _EXP_TERMS[1:-1]:
        found += term
        found *= values
    found += _EXP_TERMS[-1]
    for _ in range(_EXP_SQUARINGS):
        found *= found
    values[...] = found


# erfc(z) = (1 + a1 z + ... + a6 z^6)^-16, z >= 0, to 3e-7
# (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.28), for z = x / sqrt 2.
_ERFC_A = tuple(
    np.float32(a / 2.0 ** (power / 2))
    for power, a in (
        (6, 0.0000430638),
        (5, 0.0002765672),
        (4, 0.0001520143),
        (3, 0.0092705272),
        (2, 0.0422820123),
        (1, 0.0705230784),
        (0, 1.0),
    )
)
# From here on the tail is nothing, and its power would pass float32's greatest number.
_ERFC_MOST = np.float32(10.0)


def _gelu(values: Float64) -> None:
    """Replaces x by x times the normal distribution function at x, to the grid, in place.

    As max(x, 0) - |x| erfc(|x| / sqrt 2) / 2, in float32 and in blocks that stay in the nearest
    cache.
    """
    flat = values.reshape(-1)
    for start in range(0, len(flat), _GELU_BLOCK):
        part = flat[start : start + _GELU_BLOCK]
        block = part.astype(np.float32)
        size = np.abs(block)
        near = np.minimum(size, _ERFC_MOST)
        power = near * _ERFC_A[0]
        for a in _ERFC_A[1:-1]:
            power += a
            power *= near
        power += _ERFC_A[-1]
        for _ in range(4):
            power *= power
        size *= np.float32(0.5)
        size /= power
        np.maximum(block, np.float32(0.0), out=block)
        block -= size
        part[...] = block
        _to_grid(part, _WIDE_BITS)
